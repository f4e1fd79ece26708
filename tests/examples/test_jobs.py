"""The jobs of the example: what each selects, what becomes of it, and that nothing happens twice."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from examples.payments import application
from examples.payments.releases import PAGE, SEEN_AFTER, totals
from jobcontract.money import Money
from jobcontract.states import ItemState, MisfirePolicy, OutcomeKind, ScheduleType
from jobservice import records
from jobservice.application import JobItem, WorkItem
from jobservice.rules.schedules import Registered, Schedule, ScoresDue
from tests.examples.jobs import AT, GivenSelecting, RecordingCall, every, release, run

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
NIGHT = (
    release(1, AT - SEEN_AFTER - DAY, 100_00),
    release(2, AT - HOUR, 50_00),
    release(3, AT - 2 * HOUR, 1_234, currency="JPY"),
    release(4, AT - HOUR, -20_00, name="Acme Limited"),
    release(5, AT - HOUR, 7_00, payee="S-2", name="Bolt"),
    release(6, AT - 3 * HOUR, 7_00, payee="S-3", name="Cord"),
)
AROUND = (
    release(7, AT - SEEN_AFTER, 1_00, payee="S-9"),
    release(8, AT - SEEN_AFTER - DAY - timedelta(microseconds=1), 1_00, payee="S-9"),
)
"""One so young that a run cannot be certain to see those before it, one just before the night began."""


def schedules() -> dict[str, Schedule]:
    found, wrong = records.check(application)
    assert wrong == ()
    assert found is not None
    return dict(found.schedules)


@pytest.mark.requirement("define-misfire-recovery", "resume-driven-work-through-the-cursor")
def test_the_example_shows_each_type_of_job_and_each_misfire_policy() -> None:
    found = schedules()
    assert {each.type for each in found.values()} == set(ScheduleType)
    assert {each.misfire.policy for each in found.values() if each.misfire is not None} == set(MisfirePolicy)
    assert found["settlement.close"].cursor == "settlement.progress"
    assert [each.id for each in found.values() if each.guard is not None] == ["payments.drill"]
    due = {each.selection.queue for each in found.values() if isinstance(each.selection, ScoresDue)}
    assert due == {"payments.payouts", "payments.disputes"}
    assert all(len(each.title) <= 30 for each in found.values())


@pytest.mark.requirement("place-handlers-with-owned-behavior", "dispatch-application-behavior")
def test_selection_and_use_case_of_a_job_stand_in_the_one_module_that_owns_them() -> None:
    for schedule in schedules().values():
        if not isinstance(schedule.selection, Registered):
            continue
        selection = application.selections[schedule.selection.id]
        use_case = application.use_cases[schedule.runs]
        assert selection.__module__ == use_case.__module__, schedule.id
        assert selection.__module__.startswith("examples.payments."), schedule.id


async def test_a_statement_is_of_one_supplier_and_of_the_night_between_two_runs() -> None:
    selecting = GivenSelecting(releases=NIGHT + AROUND)
    items = await every("statements.paid-suppliers", selecting)
    assert [(item.key, item.label) for item in items] == [("S-1", "Acme Limited"), ("S-2", "Bolt"), ("S-3", "Cord")]
    assert items[0].given == {
        "night": "2026-10-25",
        "payee": "Acme Limited",
        "totals": "GBP 150.00 out in 2; −GBP 20.00 back in 1; JPY 1,234 out in 1",
    }


async def test_every_payout_of_a_night_is_in_a_statement_however_many_pages_it_has() -> None:
    many = tuple(release(number, AT - HOUR, 1, payee=f"S-{number % 3}") for number in range(2 * PAGE + 1))
    items = await every("statements.paid-suppliers", GivenSelecting(releases=many), limit=500)
    sums = ["GBP 3.34 out in 334", "GBP 3.34 out in 334", "GBP 3.33 out in 333"]
    assert [item.given["totals"] for item in items] == sums


async def test_a_run_without_one_before_it_looks_back_a_day() -> None:
    selecting = GivenSelecting(releases=NIGHT + AROUND, previous_at=None)
    assert [item.key for item in await every("statements.paid-suppliers", selecting)] == ["S-1", "S-2", "S-3"]


@pytest.mark.requirement("tolerate-duplicate-execution", "scope-command-idempotency-by-occurrence")
@pytest.mark.parametrize(
    ("use_case", "selection", "key"),
    [
        ("payments.send-statement", "statements.paid-suppliers", "statement-2026-10-25-S-1"),
        ("payments.settle", "settlement.unsettled", f"settlement-{NIGHT[0].item}"),
        ("payments.tally", "releases.by-currency", "tally-2026-10-25T01:29Z-GBP"),
    ],
)
async def test_a_job_that_runs_again_leaves_one_note_for_each_item(use_case: str, selection: str, key: str) -> None:
    call = RecordingCall()
    items = await every(selection, GivenSelecting(releases=NIGHT))
    first = await run(use_case, items, call)
    again = await run(use_case, items, replace(call, attempt=2))
    assert {outcome.kind for outcome in first} == {OutcomeKind.DONE}
    assert again == first
    assert len(call.pushed) == len(items)
    assert ("payments.notes", key) in call.pushed
    assert all(note.payload["run"] == call.scope and note.payment is None for note in call.pushed.values())


async def test_two_nights_of_one_supplier_are_two_statements() -> None:
    call = RecordingCall()
    for day in (0, 1):
        later = AT + day * DAY
        night = GivenSelecting(releases=[release(1, later - HOUR, 5_00)], scheduled_at=later, previous_at=later - DAY)
        await run("payments.send-statement", await every("statements.paid-suppliers", night), call)
    assert [note.title for note in call.pushed.values()] == [
        "Statement of 2026-10-25, Acme Ltd",
        "Statement of 2026-10-26, Acme Ltd",
    ]


@pytest.mark.requirement("resume-driven-work-through-the-cursor")
async def test_settlement_goes_on_behind_its_cursor_and_leaves_nothing_out() -> None:
    selecting = GivenSelecting(releases=NIGHT + AROUND, previous_at=None)
    function = application.selections["settlement.unsettled"]
    first = await function(selecting, None, 3)
    rest = await function(selecting, first[-1].key, 100)
    assert [item.given["item"][-1:] for item in (*first, *rest)] == ["8", "1", "6", "3", "2", "4", "5"]  # type: ignore[index]  # texts
    assert await function(selecting, rest[-1].key, 100) == []
    later = replace(selecting, scheduled_at=AT + HOUR)
    assert [item.given["item"] for item in await function(later, rest[-1].key, 100)] == [AROUND[0].item]


async def test_the_longest_name_still_fits_a_label_and_a_title() -> None:
    long = release(1, AT - HOUR, 100_00, name="N" * 200)
    for selection, use_case in (
        ("settlement.unsettled", "payments.settle"),
        ("statements.paid-suppliers", "payments.send-statement"),
    ):
        call = RecordingCall()
        (item,) = await every(selection, GivenSelecting(releases=[long]))
        await run(use_case, [item], call)
        assert [len(item.label), *(len(note.title) for note in call.pushed.values())] == [200, 200]


@pytest.mark.requirement("define-misfire-recovery")
async def test_an_hour_that_is_made_up_for_has_its_own_amounts_and_key() -> None:
    call = RecordingCall(now=AT + 5 * HOUR)
    for hours in (0, 1):
        at = AT - hours * HOUR + SEEN_AFTER
        selecting = GivenSelecting(releases=NIGHT, scheduled_at=at, previous_at=at - HOUR)
        await run("payments.tally", await every("releases.by-currency", selecting), call)
    assert {key: note.payload["totals"] for (_, key), note in call.pushed.items()} == {
        "tally-2026-10-26T00:30Z-GBP": "GBP 57.00 out in 2; −GBP 20.00 back in 1",
        "tally-2026-10-25T23:30Z-JPY": "JPY 1,234 out in 1",
    }


def question(number: int, created: datetime, queue: str = "payments.uncertain") -> WorkItem:
    return WorkItem(
        id=str(number),
        queue=queue,
        key=f"k{number}",
        title=f"Was {number} paid?",
        created=created,
        state=ItemState.OPEN,
        payment=None,
        inputs={},
        money_version=1,
    )


async def test_a_reminder_is_of_what_was_there_at_its_instant_and_one_a_day() -> None:
    old = [question(number, AT - DAY) for number in (4, 5)]
    new = [question(number, AT) for number in (1, 2, 3)]
    selecting = GivenSelecting(items=[*old, *new, question(6, AT - DAY, "payments.payouts")])
    items = await every("uncertain.unanswered", selecting, limit=2)
    assert [item.key for item in items] == ["4", "5"]
    call = RecordingCall()
    await run("payments.remind", items, call)
    await run("payments.remind", items, replace(call, scheduled_at=AT + DAY))
    assert [(key, note.title) for (_, key), note in call.pushed.items()] == [
        ("reminder-2026-10-26-4", "Still unanswered: Was 4 paid?"),
        ("reminder-2026-10-26-5", "Still unanswered: Was 5 paid?"),
        ("reminder-2026-10-27-4", "Still unanswered: Was 4 paid?"),
        ("reminder-2026-10-27-5", "Still unanswered: Was 5 paid?"),
    ]


async def test_a_drill_is_one_note_a_run() -> None:
    call = RecordingCall(scheduled_at=datetime(2026, 3, 10, 9, 0, 0, 250_000, tzinfo=UTC))
    item = JobItem(key="itself", label="payments.drill")
    await run("payments.begin-drill", [item, item], call)
    assert list(call.pushed) == [("payments.notes", "drill-2026-03-10T09:00:00.250000Z")]


def test_what_comes_back_is_never_taken_from_what_goes_out() -> None:
    amounts = [Money(minor=minor, currency=currency) for minor, currency in ((5, "GBP"), (-5, "GBP"), (7, "EUR"))]
    assert totals(amounts) == "EUR 0.07 out in 1; GBP 0.05 out in 1; −GBP 0.05 back in 1"
    assert totals([]) == ""
