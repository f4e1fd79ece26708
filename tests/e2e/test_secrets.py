"""No secret and no code stays anywhere (MONEY.md 13 to 17, 19, 26, 31, 35): money is planned, confirmed and refused in
every way, then everything that the system left behind is searched; and no token of any role alone moves money.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping

import click
import pytest

from jobconsole.cli import cli
from jobconsole.demo_service import temporary_folder
from tests.e2e import traces
from tests.e2e.money_tree import QUEUE, Tree, running
from tests.e2e.money_walk import Left, walk
from tests.terminal import without_escapes

pytestmark = [
    pytest.mark.long,
    pytest.mark.xdist_group("e2e"),
    pytest.mark.timeout(300),
    pytest.mark.requirement("confirm-bulk-money-actions-out-of-band"),
]


@pytest.fixture(scope="module")
def tree() -> Iterator[Tree]:
    """One running demo for this module."""
    folder = temporary_folder()
    try:
        with running(folder) as running_tree:
            yield running_tree
    finally:
        shutil.rmtree(folder)


@pytest.fixture(scope="module")
def left(tree: Tree, tmp_path_factory: pytest.TempPathFactory) -> Left:
    """What was left behind after everything was done."""
    return walk(tree, tmp_path_factory.mktemp("console"))


# What is looked for: by class, in which places, and a copy that the same search has to find.
# --------------------------------------------------------------------------------------------


def _planted(text: bytes) -> dict[str, bytes]:
    """A place that holds it in the middle of other things."""
    return {"planted": b"level=debug said=" + text + b" of nobody"}


def _shown_by_each(wanted: Mapping[str, Iterable[bytes]]) -> None:
    """The search finds every form of everything that it looks for."""
    for name, forms in wanted.items():
        for form in forms:
            assert traces.found(_planted(form), {name: forms}), f"a planted {name} is not found"


def _phones(left: Left, _tree: Tree) -> Mapping[str, frozenset[bytes]]:
    return {name: traces.phone_forms(secret) for name, secret in left.secrets.items()}


def _keys(_left: Left, tree: Tree) -> Mapping[str, frozenset[bytes]]:
    return {file.name: traces.raw_forms(file.read_bytes()) for file in (tree.data / "keyring").iterdir()}


def _tokens(_left: Left, tree: Tree) -> Mapping[str, frozenset[bytes]]:
    return {f"token of {person}": frozenset({token.encode()}) for person, token in tree.tokens().items()}


@pytest.mark.requirement("MONEY-16", "MONEY-17", "MONEY-26", "MONEY-35")
@pytest.mark.parametrize(("wanted", "count"), [(_phones, 5), (_keys, 3), (_tokens, 9)])
def test_no_secret_is_left_anywhere(
    left: Left, tree: Tree, wanted: Callable[[Left, Tree], Mapping[str, frozenset[bytes]]], count: int
) -> None:
    secrets = wanted(left, tree)
    assert len(secrets) == count
    _shown_by_each(secrets)
    assert not traces.found(left.places, secrets)


@pytest.mark.requirement("MONEY-13", "MONEY-26")
def test_no_code_is_left_anywhere(left: Left, tree: Tree) -> None:
    assert len(tree.codes) > 40
    for code in tree.codes:
        for text in (code, f"{code[:3]} {code[3:]}"):
            assert traces.found_codes(_planted(text.encode()), tree.codes)
            assert not traces.found_codes(_planted(f"1{text}".encode()), tree.codes - {f"1{code}"[:6]})
    assert traces.found_codes({"asked": tree.recorder.asked}, tree.codes), "what was sent over HTTP holds them"
    painted = {"painted": without_escapes(left.console)}
    assert traces.found_codes(painted, tree.codes), "the field of the dialog shows what is typed"
    assert not traces.found_codes(left.places, tree.codes, left.before)


@pytest.mark.requirement("MONEY-8", "MONEY-9")
def test_no_account_leaves_the_service_and_no_digest_is_answered(left: Left, tree: Tree) -> None:
    told = tree.rows("select account from jobs.items where account is not null")
    accounts = {account: traces.account_forms(account) for (account,) in told}
    _shown_by_each(accounts)
    assert any(account[-4:].encode() in left.places["answers"] for account in accounts), "the last four are shown"
    assert not traces.found({**left.leaving(), "painted": without_escapes(left.console)}, accounts)
    digests = {name: traces.raw_forms(digest) for name, digest in left.digests.items()}
    assert len(digests) == 3
    _shown_by_each(digests)
    assert not traces.found(left.leaving(), digests)


def test_the_places_that_are_searched_hold_what_happened(left: Left) -> None:
    """An empty place proves nothing: each kind is there, and tells of the walk."""
    for place, word in (
        ("log of dev, API, Worker and bank", b'"level": "debug"'),
        ("log of the database", b"arameters: $1 = "),
        ("queries", b"jobs.plans"),
        ("table jobs.codes", b"m.ito"),
        ("table jobs.codes, bytes", b""),
        ("table jobs.idempotency_keys", b"confirm"),
        ("table pg_catalog.pg_statistic", b""),
        ("answers", b"code-unreadable"),
        ("answers", b"code-wrong"),
        ("twin output", b"code-used"),
        ("terminal of a twin", b"rows read"),
        ("terminal of an enrolment", b"is enrolled"),
        ("console, after its crash", b"cannot use"),
        ("console, after codes were sent", b"not right"),
        ("metrics", b"# TYPE"),
    ):
        assert word in left.places[place], place
    kinds = ("letter", "console file plan-", "process 0 dev", "process 1 api", "process 2 worker", "file bank")
    for kind in kinds:
        assert any(name.startswith(kind) and content for name, content in left.places.items()), kind


@pytest.mark.requirement("MONEY-26")
def test_no_process_may_write_a_core(left: Left, tree: Tree) -> None:
    limits = [left.core, *(traces.core_limit(process) for _, process in tree.processes())]
    assert len(limits) > 5, "the console, and dev with its children and PostgreSQL"
    assert set(limits) == {("0", "0")}


# A stolen token.
# ---------------


def _acting() -> Iterator[tuple[str, str, click.Command]]:
    """Every twin that takes an idempotency key; those that could move money first, those that end plans last."""
    last = ("take-out", "drop", "abort", "stop", "start")
    known = [
        (group, name, command)
        for group in ("bulk", "queues", "money")
        for name, command in cli.commands[group].commands.items()  # type: ignore[attr-defined]  # a group
        if any(parameter.name == "key" for parameter in command.params)
    ]
    yield from sorted(known, key=lambda each: last.index(each[1]) if each[1] in last else -1)


def _words(command: click.Command, given: Mapping[str, str]) -> list[str]:
    """What somebody would type: its arguments, and the options that it needs."""
    words: list[str] = []
    for parameter in command.params:
        if isinstance(parameter, click.Argument) and parameter.name != "extra":
            words += [given[str(parameter.name)]]
        elif parameter.required:
            words += [parameter.opts[0], given[str(parameter.name)]]
    return words


MOVED = """select (select count(*) from jobs.releases), (select count(*) from jobs.outgoings),
    (select count(*) from jobs.plans where confirmed_at is not null),
    (select count(*) from jobs.plans where state in ('armed', 'applying')),
    (select count(*) from jobs.plan_evidence), (select count(*) from jobs.audit where action = 'code-accepted')"""


@pytest.mark.requirement("MONEY-1", "MONEY-13")
def test_a_stolen_token_alone_moves_no_money_by_any_twin(left: Left, tree: Tree) -> None:
    commands = list(_acting())
    assert len(commands) >= 24
    item = tree.push("stolen", 50_001)
    given = {
        "item": item,
        "items": item,
        "queue": QUEUE,
        "warning": "w",
        "reason": "x",
        "reference": "B-1",
        "use_case": "payments.release",
        "question": "x",
        "colleague": "k.rao",
        "text": "x",
        "until": "+1d",
    }
    tree.script([])  # whatever would be sent now, the bank would book
    before = (tree.ledger(), tree.rows(MOVED))
    for person in ("m.ito", "o.lind", "s.bell", "a.reyes", "p.push", "d.adm"):
        for group, name, command in commands:
            takes_code = any(parameter.name == "code_from" for parameter in command.params)
            plan = left.paused if name in ("resume", "pause", "abort") else left.open
            words = [group, name, *_words(command, given | {"plan_name": plan})]
            results = [tree.twin(person, *words)]
            results += [tree.twin(person, *words, code=tree.made_up())] if takes_code else []
            for result in results:
                assert result.exit_code != 0 or not takes_code, (person, words)
    assert (tree.ledger(), tree.rows(MOVED)) == before
    assert tree.rows("select stopped from jobs.money_switches where tenant = 'leeds'") == [(True,)]
