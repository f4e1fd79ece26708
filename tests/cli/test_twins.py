"""The headless twins: what they print, what they refuse, and the exit codes that scripts rely on."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import click
import pytest

from jobconsole import cli_connection
from jobconsole.cli_twins import TWINS
from jobconsole.client.service import Service
from jobconsole.client.session import me
from jobcontract.items import Acted, Claimed, ItemDetail, ItemPage
from jobcontract.permissions import IN_NO_TENANT, Permission
from jobcontract.queues import Queues, QueueTotals
from jobcontract.session import Session
from tests.cli.twins import Typed

PAYOUTS = "payments.payouts"


def first(typed: Typed) -> str:
    """The id of the oldest payout."""
    return str(typed.json("queues", "items", PAYOUTS)["items"][0]["id"])


def test_json_is_the_answer_of_the_wire(typed: Typed) -> None:
    Session.model_validate(typed.json("whoami"))
    Queues.model_validate(typed.json("queues", "list"))
    QueueTotals.model_validate(typed.json("queues", "totals", PAYOUTS))
    page = ItemPage.model_validate(typed.json("queues", "items", PAYOUTS))
    assert [row.title for row in page.items] == ["Aspire Care Ltd", "Booker Food", "Plant Hire"]
    ItemDetail.model_validate(typed.json("queues", "show", page.items[0].id))
    Claimed.model_validate(typed.json("queues", "claim-next", PAYOUTS))
    Acted.model_validate(typed.json("queues", "note", page.items[0].id, "--text", "seen"))


def test_a_group_alone_is_its_list_and_its_options_count_for_what_follows(typed: Typed) -> None:
    assert typed.json("queues") == typed.json("queues", "list")
    assert typed("queues", "--json", "items", PAYOUTS).stdout == typed("queues", "items", PAYOUTS, "--json").stdout
    assert typed("queues", "--tenant", "york", "list").exit_code == 1
    assert typed.json("audit", person="a.nagy") == typed.json("audit", "list", person="a.nagy")


def test_plain_text_has_amount_and_account_before_the_name(typed: Typed) -> None:
    lines = typed("queues", "items", PAYOUTS).stdout.splitlines()
    assert re.search(r"GBP 90,126\.13 +…0001 +Aspire Care Ltd", lines[1])
    assert re.search(r" −GBP 1,545\.22 +…0003 +Plant Hire", lines[3])
    assert lines[2].index("GBP") == lines[1].index("GBP") + 1, "amounts are aligned to the right"
    assert "GBP out 95,742.78 back 1,545.22" in typed("queues", "totals", PAYOUTS).stdout


def test_totals_of_what_matches_a_filter(typed: Typed) -> None:
    text = typed("queues", "totals", PAYOUTS, "--filter", "currency:GBP amount<0").stdout
    rows = [row.split() for row in text.splitlines()]
    assert ["filter", "currency:GBP", "amount<0"] in rows
    assert ["waiting", "1"] in rows
    assert "95,742.78" not in text
    wrong = typed("queues", "totals", PAYOUTS, "--filter", "curency:GBP")
    assert (wrong.exit_code, "Did you mean currency?" in wrong.stderr) == (1, True)


def test_sums_past_what_one_amount_can_be_break_no_twin(typed: Typed) -> None:
    for name in ("first", "second"):
        typed.fake.queues.add(PAYOUTS, name, minor=2**63 - 1)
    result = typed("queues", "totals", PAYOUTS)
    assert result.exit_code == 0, result.output
    assert "GBP out 184,467,440,737,191,258.92 back 1,545.22" in result.stdout


def test_hostile_text_reaches_a_terminal_as_signs_alone(typed: Typed) -> None:
    hostile = "\x1b]0;owned\x07\x1b[2J\u202etxt\x9b31m\x7f\nsecond line"
    item = typed.fake.queues.add(PAYOUTS, hostile, minor=1)
    for words in (("queues", "items", PAYOUTS), ("queues", "show", item), ("queues", "claim", item)):
        for out in (typed(*words).stdout, typed(*words, "--json").stdout):
            assert re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", out) is None
    assert typed.json("queues", "show", item)["item"]["title"] == hostile


def test_work_by_verbs(typed: Typed) -> None:
    item = first(typed)
    assert typed("queues", "claim", item).exit_code == 0
    assert "until" in typed("queues", "show", item).stdout
    assert typed("queues", "renew-claim", item).exit_code == 0
    aside = typed("queues", "set-aside", item, "--until", "+2d", "--reason", "asked the supplier")
    assert aside.exit_code == 0, aside.output
    assert item not in typed("queues", "items", PAYOUTS).stdout
    assert item in typed("queues", "items", PAYOUTS, "--view", "set-aside").stdout
    second = typed.json("queues", "claim-next", PAYOUTS)["item"]["id"]
    assert typed("queues", "reject", second, "--reason", "paid twice").exit_code == 0
    assert "rejected" in typed("queues", "items", PAYOUTS, "--view", "closed").stdout
    third = typed.json("queues", "claim-next", PAYOUTS)["item"]["id"]
    assert typed("queues", "hand-over", third, "--colleague", "k.rao", "--reason", "hers").exit_code == 0
    assert typed("queues", "release-claim", third, person="k.rao").exit_code == 0
    assert typed("queues", "claim-next", PAYOUTS).exit_code == 0
    assert typed("queues", "break-claim", third, "--reason", "urgent", person="k.rao").exit_code == 0
    dispute = typed.json("queues", "items", "payments.disputes")["items"][0]["id"]
    assert typed("queues", "ask-evidence", dispute, "--question", "which bill?").exit_code == 0
    assert typed("queues", "act", dispute, "payments.resolve", "--input", "reason=a=b").exit_code == 0
    assert "a=b" in str(typed.json("queues", "show", dispute)["acts"])
    trail = typed("audit", "list", person="a.nagy").stdout
    for action in ("payments.set-aside", "payments.reject", "payments.hand-over", "break-claim", "payments.resolve"):
        assert action in trail


@pytest.mark.parametrize(
    ("words", "person", "code", "says"),
    [
        (("queues", "items", "payments.none"), "m.ito", 1, "not-found"),
        (("queues", "claim", "ITEM"), "o.lind", 1, str(Permission.QUEUE_CLAIM)),
        (("queues", "items", PAYOUTS), "i.feed", 1, "permission-missing"),
        (("queues", "reject", "ITEM", "--reason", "x"), "m.ito", 1, "claim-required"),
        (("queues", "renew-claim", "ITEM"), "m.ito", 1, "claim-lost"),
        (("queues", "act", "ITEM", "release"), "m.ito", 1, "needs-plan"),
        (("queues", "note", "ITEM", "--text", "x", "--version", "7"), "m.ito", 1, "claim-required"),
        (("queues", "act", "ITEM", "explode"), "m.ito", 2, "payments.reject"),
        (("queues", "act", "ITEM", "reject", "--input", "why=x"), "m.ito", 2, "reason"),
        (("queues", "act", "ITEM", "reject", "--input", "reason"), "m.ito", 2, "NAME=VALUE"),
        (("queues", "set-aside", "ITEM", "--until", "yesterday", "--reason", "x"), "m.ito", 2, "until"),
        (("queues", "set-aside", "ITEM", "--until", "2020-01-01", "--reason", "x"), "m.ito", 2, "past"),
        (("queues", "reject", "ITEM"), "m.ito", 2, "--reason"),
        (("queues", "items", PAYOUTS, "--limit", "0"), "m.ito", 2, "--limit"),
        (("queues", "items", PAYOUTS, "--tenant", "york"), "m.ito", 1, "tenant-unknown"),
        (("queues", "items", PAYOUTS, "--tenant", "Not A Tenant"), "m.ito", 2, "leeds"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_a_refusal_is_a_sentence_and_its_exit_code(
    typed: Typed, words: tuple[str, ...], person: str, code: int, says: str
) -> None:
    item = first(typed)
    if "release" in words:
        typed("queues", "claim", item)
    result = typed(*(item if word == "ITEM" else word for word in words), person=person)
    assert result.exit_code == code, result.output
    assert says in result.stderr
    assert result.stdout == ""
    assert "Traceback" not in result.output


@pytest.mark.parametrize("text", ["x" * 100_000, "", "a\nb", "a\x1b[31m", "\udcff"])
@pytest.mark.parametrize(
    "words",
    [
        ("queues", "show", "TEXT"),
        ("queues", "items", "TEXT"),
        ("queues", "claim", "TEXT"),
        ("queues", "claim-next", PAYOUTS, "--key", "TEXT"),
        ("queues", "note", "TEXT", "--text", "x"),
        ("queues", "note", "i", "--text", "x", "--key", "TEXT"),
        ("queues", "items", PAYOUTS, "--cursor", "TEXT"),
        ("audit", "list", "--cursor", "TEXT"),
    ],
    ids=" ".join,
)
def test_an_argument_that_nothing_can_be_called_is_wrong_usage(typed: Typed, words: tuple[str, ...], text: str) -> None:
    result = typed(*(text if word == "TEXT" else word for word in words))
    assert result.exit_code == 2, result.output
    assert "it has" in result.stderr or "it holds" in result.stderr
    assert "\x1b" not in result.output


ON_FAKE = """
import atexit, sys
from pathlib import Path
import click
from jobconsole import cli_connection
from jobconsole.cli_twins import TWINS
from jobconsole.client.fake import FakeService
from jobconsole.crash import excepthook
from jobconsole.settings import load

sys.excepthook = excepthook
fake = FakeService()
item = fake.queues.add("payments.disputes", "Old bill", minor=100)
settings = load(file=Path("/nonexistent/none.toml"), environ={})
cli_connection.connect = lambda typed: (fake.service("m.ito", tenant=None), settings)
atexit.register(lambda: print("acts:", len(fake.queues.items[item].acts), file=sys.stderr))
words = [item if word == "ITEM" else word for word in sys.argv[1:]]
if words[0] == "crash":
    cli_connection.me = None
click.Group("jobconsole", commands={command.name: command for command in TWINS})(words[words[0] == "crash":])
"""


def redirected(words: Sequence[str], redirection: str) -> subprocess.CompletedProcess[str]:
    """Run a twin on a fake service in a process of its own, as a shell redirects it."""
    command = f"exec {shlex.join([sys.executable, '-c', ON_FAKE, *words])} {redirection}"
    return subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize(
    ("words", "redirection", "says"),
    [
        (
            ("queues", "note", "ITEM", "--text", "x"),
            ">/dev/full",
            "It was done; the answer could not be written: No space",
        ),
        (
            ("queues", "note", "ITEM", "--text", "x"),
            ">&-",
            "It was done; the answer could not be written: standard output is",
        ),
        (("queues", "claim", "ITEM"), ">/dev/full", "It was done; the answer could not"),
        (("queues", "list"), ">/dev/full", "The answer could not be written: No space"),
        (("queues", "show", "ITEM", "--json"), ">&-", "The answer could not be written: standard output is closed"),
    ],
)
def test_an_answer_that_cannot_be_written_has_a_code_of_its_own(
    words: tuple[str, ...], redirection: str, says: str
) -> None:
    done = redirected(words, redirection)
    assert done.returncode == 5, done.stderr
    assert says in done.stderr
    assert f"acts: {int('note' in words)}" in done.stderr
    assert "Traceback" not in done.stderr
    assert "stopped because of an error" not in done.stderr


def test_a_crash_of_a_twin_is_no_refusal() -> None:
    done = redirected(("crash", "whoami"), "")
    assert done.returncode == 70
    assert "jobconsole stopped because of an error in itself: TypeError" in done.stderr


def test_a_changed_item_says_what_changed(typed: Typed) -> None:
    item = first(typed)
    typed("queues", "claim", item)
    result = typed("queues", "reject", item, "--reason", "x", "--version", "7")
    assert result.exit_code == 1
    assert "version: 7 -> 1" in result.stderr


@pytest.mark.requirement("HTTP-03")
def test_a_lost_answer_is_unknown_then_found(typed: Typed) -> None:
    typed.fake.lost = 1
    result = typed("queues", "claim-next", PAYOUTS)
    assert result.exit_code == 0
    assert "unknown, checking" in result.stderr
    assert sum(row.holder is not None for row in typed.fake.queues.items.values()) == 1


def test_away_and_signed_out_have_codes_of_their_own(typed: Typed) -> None:
    typed.fake.signed_out.add("m.ito")
    assert typed("whoami").exit_code == 4
    typed.fake.away = True
    away = typed("whoami")
    assert (away.exit_code, away.stdout) == (3, "")
    assert "cannot be reached" in away.stderr


def test_a_person_in_no_tenant_is_told_whom_to_ask(typed: Typed) -> None:
    async def nowhere(service: Service) -> Session:
        return (await me(service)).model_copy(update={"tenants": ()})

    typed.patch.setattr(cli_connection, "me", nowhere)
    refused = typed("queues", "list")
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert f"m.ito {IN_NO_TENANT}" in refused.stderr


def test_every_page_with_all(typed: Typed) -> None:
    for count in range(450):
        typed.fake.queues.add(PAYOUTS, f"Supplier {count}", minor=count + 1)
    page = typed.json("queues", "items", PAYOUTS)
    assert (len(page["items"]), bool(page["next"])) == (100, True)
    assert "--cursor" in typed("queues", "items", PAYOUTS).stdout
    rest = typed.json("queues", "items", PAYOUTS, "--cursor", page["next"])
    assert page["items"][-1]["id"] != rest["items"][0]["id"]
    whole = typed.json("queues", "items", PAYOUTS, "--all")
    assert (len({row["id"] for row in whole["items"]}), whole["next"]) == (453, None)


@pytest.mark.requirement("order-queue-items-by-score")
def test_a_page_may_be_filtered_begin_anywhere_and_says_how_to_go_on(typed: Typed) -> None:
    for count in range(4):
        typed.fake.queues.add(PAYOUTS, f"Supplier {count}", minor=100, currency="JPY", days_old=count)
    yen = ("queues", "items", PAYOUTS, "--filter", "currency:JPY")
    assert [row["title"] for row in typed.json(*yen)["items"]] == [f"Supplier {count}" for count in (3, 2, 1, 0)]
    last = typed.json(*yen, "--start", "last", "--limit", "1")
    assert ([row["title"] for row in last["items"]], last["next"], last["catch_up"]) == (["Supplier 0"], None, False)
    before = typed.json(*yen, "--limit", "1", "--cursor", last["previous"])
    assert [row["title"] for row in before["items"]] == ["Supplier 1"]
    assert "Before these: --cursor" in typed(*yen, "--start", "last", "--limit", "1").stdout
    front = typed.json(*yen, "--limit", "3")
    typed.fake.queues.add(PAYOUTS, "In front", minor=100, currency="JPY", days_old=99)
    rest = typed.json(*yen, "--limit", "3", "--cursor", front["next"])
    moved = typed(*yen, "--limit", "3", "--cursor", rest["next"])
    assert "placed anew since the first page" in moved.stdout
    assert "In front" in moved.stdout
    whole = typed.json(*yen, "--all")
    assert [row["title"] for row in whole["items"]] == ["In front", *(f"Supplier {count}" for count in (3, 2, 1, 0))]
    amounts = typed.json("queues", "items", PAYOUTS, "--all", "--filter", "sort:amount currency:GBP")["items"]
    assert [row["title"] for row in amounts] == ["Aspire Care Ltd", "Booker Food", "Plant Hire"]
    assert typed.json("queues", "claim-next", PAYOUTS, "--filter", "currency:JPY")["item"]["title"] == "In front"
    for words, says in (
        (("--all", "--start", "last"), "leave --start and --cursor away"),
        (("--filter", "x" * 501), "501"),
        (("--start", "x" * 301), "301"),
    ):
        refused = typed("queues", "items", PAYOUTS, *words)
        assert (refused.exit_code, refused.stdout) == (2, "")
        assert says in refused.stderr
    for words, says in (
        (("--start", "middle"), "first, last, score:80"),
        (("--start", "item:none"), "no item 'none'"),
        (("--filter", "surprise:1"), "filter-invalid"),
    ):
        refused = typed("queues", "items", PAYOUTS, *words)
        assert (refused.exit_code, refused.stdout) == (1, ""), refused.output
        assert says in refused.stderr


def test_repeating_with_a_key_is_the_first_answer(typed: Typed) -> None:
    one = typed.json("queues", "claim-next", PAYOUTS, "--key", "k-1")
    two = typed.json("queues", "claim-next", PAYOUTS, "--key", "k-1")
    assert one == two


def every(command: click.Command, path: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], click.Command]]:
    """Every command below `command` with its words."""
    here = (*path, command.name or "")
    if isinstance(command, click.Group):
        return [found for child in command.commands.values() for found in every(child, here)]
    return [(here, command)]


COMMANDS = [found for command in TWINS for found in every(command)]


@pytest.mark.parametrize(("path", "command"), COMMANDS, ids=[" ".join(path) for path, _ in COMMANDS])
def test_every_twin_has_json_help_and_no_token_argument(path: tuple[str, ...], command: click.Command) -> None:
    options = {name for parameter in command.params for name in parameter.opts}
    asks = set() if "filters" in path else {"--url", "--tenant"}  # saved filters are in a file of this machine
    assert {"--json", "--profile", *asks} <= options
    assert not any("token" in name for name in options)
    assert command.help
    assert "Exit codes" in (command.epilog or "")


def run_program(*words: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """The real program in a process of its own, without a terminal."""
    around = {name: value for name, value in os.environ.items() if not name.startswith("JOBCONSOLE_")}
    code = "from jobconsole.cli_twins import TWINS; import click;"
    code += "click.Group('jobconsole', commands={c.name: c for c in TWINS}).main()"
    return subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, env={**around, **environ}, timeout=60
    )


@pytest.mark.parametrize(
    ("environ", "code", "says"),
    [
        ({"JOBCONSOLE_TOKEN": "jc_x", "JOBCONSOLE_URL": "http://jobs.example"}, 2, "plain http"),
        ({"JOBCONSOLE_TOKEN": "jc secret", "JOBCONSOLE_URL": "https://jobs.example"}, 2, "characters"),
        ({"JOBCONSOLE_TOKEN": "jc_x", "JOBCONSOLE_URL": "http://127.0.0.1:1"}, 3, "cannot be reached"),
        ({"JOBCONSOLE_TOKEN": "jc_x", "JOBCONSOLE_PROFILE": "Nowhere!"}, 2, "profile"),
        (
            {"JOBCONSOLE_URL": "http://127.0.0.1:1", "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring"},
            4,
            "TOKEN",
        ),
    ],
    ids=["plain-http", "bad-token", "away", "profile", "no-token"],
)
def test_the_program_by_itself(environ: dict[str, str], code: int, says: str) -> None:
    result = run_program("whoami", **environ)
    assert (result.returncode, result.stdout) == (code, ""), result.stderr
    assert says in result.stderr
    assert "Traceback" not in result.stderr
    assert "secret" not in result.stderr


def test_a_reader_that_goes_away_is_no_error() -> None:
    code = "import sys; from jobconsole.cli_connection import write; sys.stdin.readline(); write('x' * 100_000, 0)"
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", code], stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdout is not None
        process.stdout.close()
        process.stdout = None
        _, said = process.communicate("now\n", timeout=60)
    assert (process.returncode, said) == (0, "")
