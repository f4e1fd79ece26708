"""Bulk work and the money switch headless: plans by name, totals to the cent, codes that are never an argument."""

from __future__ import annotations

import re

import pytest

from jobconsole import cli_bulk_steering, cli_codes
from jobconsole.client import fake_plan, fake_plan_pages
from jobconsole.client.service import Service
from jobconsole.client.wiring import Times
from jobcontract.plans import ExclusionPage, Money, Plan, PlanItemPage, Plans, Settled, WarningPage
from jobcontract.states import PlanState, Turn, Warned
from tests.cli.twins import Typed

PAYOUTS, UNCERTAIN = "payments.payouts", "payments.uncertain"
CONFIRMING = pytest.mark.requirement("confirm-bulk-money-actions-out-of-band")
PREVIEW = pytest.mark.requirement("show-a-preview-before-bulk-money-actions")


def made(typed: Typed) -> Plan:
    """A plan of all three payouts."""
    return Plan.model_validate(typed.json("bulk", "plan", PAYOUTS, "--filter", ""))


def confirmed(typed: Typed) -> Plan:
    """The plan, confirmed by its owner."""
    name = made(typed).name
    return Plan.model_validate(typed.json("bulk", "confirm", name, "--code", "-", stdin="123456\n"))


def ids(typed: Typed) -> list[str]:
    """The ids of the payouts, in their order on the screen."""
    return [row["id"] for row in typed.json("queues", "items", PAYOUTS)["items"]]


@PREVIEW
def test_a_plan_prints_its_name_its_totals_and_what_is_odd(typed: Typed) -> None:
    typed.fake.queues.add(PAYOUTS, "My own", minor=100, pushed_by="m.ito")
    text = typed("bulk", "plan", PAYOUTS, "--filter", "").stdout
    assert "lark-42" in text
    assert re.search(r"currency +out +items +back +items +net", text)
    assert re.search(r"GBP +95,742\.78 +2 +1,545\.22 +1 +94,197\.56", text)
    assert "largest   GBP 90,126.13 …0001 Aspire Care Ltd" in text
    assert "excluded  1: 1 pushed-by-owner" in text
    assert re.search(r"GBP 1\.00 +…0005 +My own +pushed-by-owner +You pushed it yourself\.", text)
    assert re.search(r"−GBP 1,545\.22 +…0003 +Plant Hire +3 +negative", text)


@PREVIEW
def test_json_is_the_answer_of_the_wire(typed: Typed) -> None:
    plan = made(typed)
    assert Plan.model_validate(typed.json("bulk", "show", plan.name)) == Plan.model_validate(
        typed.json("bulk", "show", plan.id)
    )
    rows = PlanItemPage.model_validate(typed.json("bulk", "show", plan.name, "--items"))
    assert ([row.number for row in rows.items], rows.next) == ([1, 2, 3], None)
    ExclusionPage.model_validate(typed.json("bulk", "show", plan.name, "--exclusions"))
    assert len(WarningPage.model_validate(typed.json("bulk", "show", plan.name, "--warnings")).warnings) == 3
    Money.model_validate(typed.json("money", "status"))
    assert [each.name for each in Plans.model_validate(typed.json("bulk")).plans] == [plan.name]
    assert typed.json("bulk", "list", "--live", "--mine", person="k.rao")["plans"] == []


@PREVIEW
def test_rows_have_amount_and_account_before_the_name_and_the_file_comes_as_it_is(typed: Typed) -> None:
    plan = made(typed)
    name = plan.name
    lines = typed("bulk", "show", name, "--items").stdout.splitlines()
    assert re.search(r"1 +GBP 90,126\.13 +…0001 +Aspire Care Ltd", lines[1])
    assert re.search(r"3 +−GBP 1,545\.22 +…0003 +Plant Hire", lines[3])
    file = typed("bulk", "show", name, "--csv").stdout_bytes
    assert file.splitlines()[3].startswith(b"lark-42,3,")
    assert b",Plant Hire,-1545.22,GBP," in file
    assert (file.count(b"\r\n"), file.count(b"\n")) == (4, 4)
    assert file == fake_plan_pages.export(typed.fake.bulk.plans.all[plan.id])


def test_items_are_named_or_matched_and_the_command_is_found(typed: Typed) -> None:
    one, two, _ = ids(typed)
    assert typed.json("bulk", "plan", PAYOUTS, one, two, "--command", "payments.release-many")["count"] == 2
    for words, says in (
        ((PAYOUTS,), "either items or --filter"),
        ((PAYOUTS, one, "--filter", ""), "either items or --filter"),
        ((PAYOUTS, one, "--command", "payments.none"), "it has: payments.release-many"),
        (("payments.disputes", one), "has no bulk command"),
        (("payments.none", one), "there is: payments.disputes"),
        ((PAYOUTS, "K/1"), "is a key"),
    ):
        refused = typed("bulk", "plan", *words)
        assert (refused.exit_code, refused.stdout) == (2, ""), words
        assert says in refused.stderr
    unknown = typed("bulk", "show", "wren-7")
    assert (unknown.exit_code, "There is no plan wren-7" in unknown.stderr) == (2, True)
    several = typed("bulk", "show", "lark-42", "--items", "--csv")
    assert (several.exit_code, "at a time" in several.stderr) == (2, True)


@PREVIEW
def test_taking_out_keeping_in_and_dropping(typed: Typed) -> None:
    plan = made(typed)
    left = typed.json("bulk", "take-out", plan.name, ids(typed)[0])
    assert (left["name"], left["count"], left["edition"]) == (plan.name, 2, 2)
    item = ids(typed)[1]
    warning = typed.fake.bulk.warn(
        typed.fake.bulk.plans.all[plan.id], item, Warned.ACCOUNT_CHANGED, "Changed an hour ago.", must_answer=True
    )
    early = typed("bulk", "confirm", plan.name, "--code", "-", stdin="123456")
    assert (early.exit_code, "1 warning waits for an answer" in early.stderr) == (1, True)
    assert "to be answered" in typed("bulk", "show", plan.name, "--warnings").stdout
    kept = typed.json("bulk", "keep-in", plan.name, warning.id, "--reason", "we called them")
    assert kept["to_answer"] == 0
    assert "kept: we called them" in typed("bulk", "show", plan.name, "--warnings").stdout
    assert typed.json("bulk", "drop", plan.name)["state"] == "dropped"


@CONFIRMING
def test_confirming_shows_every_sum_and_takes_a_code_from_standard_input(typed: Typed) -> None:
    name = made(typed).name
    wrong = typed("bulk", "confirm", name, "--code", "-", stdin="000000\n")
    assert (wrong.exit_code, wrong.stdout) == (1, "")
    assert "That code is not right. 4 tries left." in wrong.stderr
    done = typed("bulk", "confirm", name, "--code", "-", stdin="123 456\n")
    assert done.exit_code == 0, done.output
    assert re.search(r"GBP +95,742\.78 +2 +1,545\.22 +1 +94,197\.56", done.stderr)
    assert "3 of 3 rows read." in done.stderr
    assert "applying" in done.stdout
    again = typed("bulk", "confirm", name, "--code", "-", stdin="234567\n")
    assert (again.exit_code, "only an open plan is confirmed" in again.stderr) == (1, True)
    assert "456" not in done.output.replace("lark-42", "")


@CONFIRMING
@pytest.mark.parametrize(
    "words",
    [
        ("bulk", "confirm", "lark-42", "123456"),
        ("bulk", "confirm", "lark-42", "--code", "123456"),
        ("bulk", "confirm", "lark-42", "--code=123456"),
        ("bulk", "resume", "lark-42", "--code", "123456"),
        ("bulk", "was-not-paid", "x", "--reason", "r", "123456"),
        ("money", "start", "--reason", "fine", "--code", "123456"),
    ],
    ids=" ".join,
)
def test_a_code_is_never_an_argument_and_is_not_repeated(typed: Typed, words: tuple[str, ...]) -> None:
    made(typed)
    refused = typed(*words)
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "never an argument" in refused.stderr
    assert "123456" not in refused.output
    assert not typed.fake.bulk.codes.phone("m.ito").used


@CONFIRMING
def test_a_code_is_asked_for_at_a_terminal_alone(typed: Typed) -> None:
    name = made(typed).name
    piped = typed("bulk", "confirm", name, stdin="123456")
    assert (piped.exit_code, "--code -" in piped.stderr) == (2, True)
    nothing = typed("bulk", "confirm", name, "--code", "-", stdin="")
    assert (nothing.exit_code, "nothing was sent" in nothing.stderr) == (2, True)
    asked: list[str] = []

    def phone(prompt: str) -> str:
        asked.append(prompt)
        return "123456"

    typed.patch.setattr(cli_codes, "at_a_terminal", lambda: True)
    typed.patch.setattr(cli_codes, "ask", phone)
    assert typed.json("bulk", "confirm", name)["state"] == "applying"
    assert "Release payouts: lark-42" in asked[0]


@CONFIRMING
def test_hostile_text_of_a_plan_reaches_a_terminal_as_signs_alone(typed: Typed) -> None:
    hostile = "\x1b]0;owned\x07\x1b[2J"
    item = typed.fake.queues.add(PAYOUTS, hostile, minor=5)
    plan = Plan.model_validate(typed.json("bulk", "plan", PAYOUTS, item))
    kept = typed.fake.bulk.plans.all[plan.id]
    kept.name = kept.name + hostile
    typed.fake.bulk.warn(kept, item, Warned.LOOK_ALIKE, hostile)
    asked: list[str] = []

    def phone(prompt: str) -> str:
        asked.append(prompt)
        return "123456"

    typed.patch.setattr(cli_codes, "at_a_terminal", lambda: True)
    typed.patch.setattr(cli_codes, "ask", phone)
    shown = [typed("bulk", "show", plan.id, *part) for part in ([], ["--items"], ["--warnings"], ["--exclusions"])]
    shown += [typed("bulk", "confirm", plan.id), typed("bulk", "list")]
    typed.fake.bulk.run_out(kept, {item: Turn.REFUSED})
    shown.append(typed("bulk", "watch", plan.id))
    assert not [each for each in shown if "\x1b" in each.output or "\x07" in each.output]
    assert len(asked) == 1
    assert "\x1b" not in asked[0]


@CONFIRMING
def test_a_colleagues_plan_a_changed_one_and_a_lock_are_refused_in_words(typed: Typed) -> None:
    plan = made(typed)
    other = typed("bulk", "confirm", plan.name, "--code", "-", stdin="123456", person="k.rao")
    assert (other.exit_code, "only its owner" in other.stderr) == (1, True)
    typed.fake.queues.items[ids(typed)[1]].money_version += 1
    changed = typed("bulk", "confirm", plan.name, "--code", "-", stdin="123456")
    assert (changed.exit_code, "row 2 Booker Food, version: 1 -> 2" in changed.stderr) == (1, True)
    typed.fake.bulk.codes.phone("m.ito").locked_for_good = True
    locked = typed("bulk", "confirm", plan.name, "--code", "-", stdin="234567")
    assert (locked.exit_code, "jobservice totp unlock" in locked.stderr) == (1, True)


@pytest.mark.requirement("BULK-04", "HTTP-03")
def test_a_confirmation_without_an_answer_is_looked_up(typed: Typed) -> None:
    name = made(typed).name
    plain_service = typed.fake.service

    def hasty(person: str, *, tenant: str | None = "leeds") -> Service:
        service = plain_service(person, tenant=tenant)
        service.times = Times(deadline=0.0, first_pause=60.0)
        return service

    typed.patch.setattr(typed.fake, "service", hasty)
    typed.fake.lost = 1
    done = typed("bulk", "confirm", name, "--code", "-", stdin="123456")
    assert done.exit_code == 0, done.output
    assert "applying" in done.stdout
    assert len([each for each in typed.fake.requests if each.url.path.endswith("/confirm")]) == 1


@pytest.mark.parametrize(
    ("ends", "code"), [(Turn.DONE, 0), (Turn.REFUSED, 1), (Turn.UNCERTAIN, 3)], ids=["done", "refused", "uncertain"]
)
def test_watching_ends_with_the_plan_and_its_exit_code_tells_how(typed: Typed, ends: Turn, code: int) -> None:
    plan = confirmed(typed)
    kept = typed.fake.bulk.plans.all[plan.id]

    turns = iter((Turn.DONE, Turn.DONE, ends))

    async def work() -> None:
        typed.fake.bulk.step(kept, next(turns))

    typed.patch.setattr(cli_bulk_steering, "wait", work)
    result = typed("bulk", "watch", plan.name)
    assert result.exit_code == code, result.output
    assert "lark-42 applying: 0 of 3 · not-started 3" in result.stderr
    assert "lark-42 done: 3 of 3" in result.stderr
    assert "lark-42 applying: 2 of 3 · not-started 1 · done 2" in result.stderr
    assert re.search(r"done +[23] +GBP +95,742\.78", result.stdout)


def test_pausing_resuming_and_aborting(typed: Typed) -> None:
    plan = confirmed(typed)
    paused = typed("bulk", "pause", plan.name, "--reason", "odd", person="o.lind")
    assert "paused by Olle Lind: odd" in paused.stdout
    resumed = typed.json("bulk", "resume", plan.name, "--code", "-", person="k.rao", stdin="123456")
    assert resumed["state"] == "applying"
    aborted = typed.json("bulk", "abort", plan.name, "--reason", "the wrong month", person="o.lind")
    assert (aborted["state"], aborted["reason"]) == ("aborted", "the wrong month")
    assert typed("bulk", "watch", plan.name).exit_code == 1


@pytest.mark.requirement("MONEY-5")
def test_an_uncertain_payout_is_ended_by_a_person(typed: Typed) -> None:
    plan = confirmed(typed)
    kept = typed.fake.bulk.plans.all[plan.id]
    typed.fake.bulk.run_out(kept, {row.row.id: Turn.UNCERTAIN for row in kept.rows[:2]})
    assert "uncertain  2 payouts" in typed("money").stdout
    first, second = (row["id"] for row in typed.json("queues", "items", UNCERTAIN)["items"])
    typed.json("queues", "claim", first)
    paid = Settled.model_validate(
        typed.json("bulk", "was-paid", first, "--reference", "B-9", "--reason", "seen at the bank")
    )
    assert (paid.item, paid.turn) == (kept.rows[0].row.id, Turn.DONE)
    typed.json("queues", "claim", second, person="k.rao")
    not_paid = ("bulk", "was-not-paid", second, "--reason", "nothing there", "--code", "-")
    text = typed(*not_paid, person="k.rao", stdin="123456").stdout
    assert re.search(r"turn +failed", text)


@pytest.mark.requirement("MONEY-20")
def test_money_is_stopped_and_started(typed: Typed) -> None:
    confirmed(typed)
    stopped = typed("money", "stop", "--reason", "a strange account", person="o.lind").stdout
    assert "stopped by Olle Lind (o.lind)" in stopped
    assert "a strange account" in typed("money", person="a.nagy").stdout
    assert typed.json("money", "start", "--reason", "fine", "--code", "-", stdin="234567")["stopped"] is None
    assert re.search(r"m\.ito +GBP +0\.00 +0 +95,742\.78 +2", typed("money").stdout)
    assert typed("money", "stop", "--reason", "odd", person="a.nagy").exit_code == 1


@PREVIEW
def test_rows_that_do_not_add_up_are_never_confirmed(typed: Typed) -> None:
    plan = made(typed)
    kept = typed.fake.bulk.plans.all[plan.id]
    typed.patch.setattr(fake_plan, "largest", lambda _rows: ())
    refused = typed("bulk", "confirm", plan.name, "--code", "-", stdin="123456")
    assert (refused.exit_code, "must not be confirmed" in refused.stderr) == (1, True)
    assert kept.state is PlanState.OPEN
    assert not typed.fake.bulk.codes.phone("m.ito").used
