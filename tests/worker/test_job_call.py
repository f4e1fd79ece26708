"""What the use case of a job may do: push work for people, never money; wait; and nothing once it returned."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Any

import psycopg
import pytest
from structlog.testing import capture_logs

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.money import Money
from jobcontract.states import AttemptEnding, OccurrenceState, OutcomeKind
from jobservice.application import JobCall, JobItem, NewPayment, NewWorkItem, Outcome, done, failed, refused, retry
from jobservice.rules.schedules import Schedule
from jobservice.store import items
from jobservice.store.database import Transaction
from jobservice.worker.run_ending import Counts
from tests.usecases.desk import NOTES, PAYOUTS
from tests.worker.runs_stage import AT, HOUR, ITSELF, JOB, RunStage, keys, push_note, selection_of

PAYMENT = NewPayment(money=Money(minor=100, currency="GBP"), payee_id="P-1", payee_name="Pat", account="GB00TEST0001")


@pytest.fixture
def runs(runs: RunStage) -> RunStage:
    """One item a run."""
    runs.schedule = ITSELF
    return runs


async def outcome_of(runs: RunStage, work: Any) -> Any:
    """How the one item ended in which `work(call)` was done."""

    async def function(call: JobCall, item: JobItem) -> Outcome:
        await work(call)
        return done("yes")

    runs.function = function
    return await runs.attempt(runs.due(), attempts=1)


async def test_a_pushed_item_is_the_schedules_with_version_trail_and_hint(runs: RunStage) -> None:
    ending = await outcome_of(runs, lambda call: call.push(NOTES, NewWorkItem(key="N-1", title="Look", inputs={})))
    assert ending.counts == Counts(done=1)
    assert runs.rows("select tenant, queue, title, pushed_by, state from jobs.items") == [
        ("acme", NOTES, "Look", "schedule:t.job", "open")
    ]
    assert runs.rows("select count(*) from jobs.item_versions") == [(1,)]
    assert runs.rows("select person, action, outcome from jobs.audit") == [("schedule:t.job", "push-item", "done")]
    assert runs.rows("select topic from jobs.hints where topic = 'item'") == [("item",)]


@pytest.mark.requirement("scope-command-idempotency-by-occurrence", "tolerate-duplicate-execution")
async def test_a_duplicate_push_is_answered_with_the_first_item(runs: RunStage) -> None:
    ids: list[str] = []

    async def twice(call: JobCall) -> None:
        for _ in range(2):
            ids.append(await call.push(NOTES, NewWorkItem(key="N-1", title="Look")))

    assert (await outcome_of(runs, twice)).counts == Counts(done=1)
    runs.function = push_note
    await runs.attempt(runs.due(at=AT + HOUR))

    async def again(call: JobCall, item: JobItem) -> Outcome:
        ids.append(await call.push(NOTES, NewWorkItem(key="N-1", title="Another")))
        return done("yes")

    runs.function = again
    await runs.attempt(runs.due(at=AT + 2 * HOUR))
    assert len(set(ids)) == 1
    assert runs.rows("select title from jobs.items where business_key = 'N-1'") == [("Look",)]


@pytest.mark.requirement("MONEY-1")
async def test_a_run_pushes_no_money(runs: RunStage) -> None:
    ending = await outcome_of(
        runs, lambda call: call.push(PAYOUTS, NewWorkItem(key="M-1", title="Pay", payment=PAYMENT))
    )
    assert ending.state is OccurrenceState.DEAD_LETTER
    assert ending.error == (
        "'M-1' carries money, and a run pushes none: money moves through a plan that a person confirmed."
    )
    assert runs.rows("select count(*) from jobs.items") == [(0,)]


@pytest.mark.requirement("MONEY-1")
async def test_the_database_refuses_money_of_the_workers_role_too(runs: RunStage) -> None:
    insert = (
        "insert into jobs.items (tenant, queue, business_key, title, created, pushed_by, changed_by, words{0})"
        " values ('acme', 't.payouts', %s, 't', jobs.now(), 'x', 'x', 'x'{1})"
    )
    money = (", amount_minor, currency, payee_id, payee_name, account", ", 100, 'GBP', 'P', 'P', 'GB00TEST0001'")
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="worker_adds"):
        async with runs.database.transaction("acme") as transaction:
            await transaction.connection.execute(insert.format(*money).encode(), ("M-1",))
    async with runs.database.transaction("acme") as transaction:
        await transaction.connection.execute(insert.format("", "").encode(), ("M-2",))
    assert runs.rows("select business_key from jobs.items") == [("M-2",)], "without money the same row is taken"


@pytest.mark.parametrize(
    ("queue", "new", "said"),
    [
        ("t.nowhere", NewWorkItem(key="N-1", title="t"), "There is no queue 't.nowhere'"),
        (NOTES, NewWorkItem(key="", title="t"), "`key`"),
        (NOTES, NewWorkItem(key="N-1", title="t", inputs={"odd": 1}), "odd"),
    ],
)
async def test_what_a_queue_does_not_take_fails_the_item_with_the_queues_own_sentence(
    runs: RunStage, queue: str, new: NewWorkItem, said: str
) -> None:
    ending = await outcome_of(runs, lambda call: call.push(queue, new))
    assert ending.state is OccurrenceState.DEAD_LETTER
    assert said in ending.error
    assert runs.logs == [], "a refusal is no fault of the application's to look up"


async def test_a_refusal_can_be_caught_and_the_rest_stays(runs: RunStage) -> None:
    async def goes_on(call: JobCall) -> None:
        await call.push(NOTES, NewWorkItem(key="N-1", title="t"))
        with pytest.raises(Refusal) as caught:
            await call.push("t.nowhere", NewWorkItem(key="N-2", title="t"))
        assert caught.value.kind is ErrorCode.NOT_FOUND
        await call.push(NOTES, NewWorkItem(key="N-3", title="t"))

    assert (await outcome_of(runs, goes_on)).counts == Counts(done=1)
    assert runs.notes() == ["N-1", "N-3"]


@pytest.mark.parametrize("outcome", [refused("No."), failed("No.")])
async def test_effects_of_what_is_not_done_are_undone_and_its_outcome_stays(runs: RunStage, outcome: Outcome) -> None:
    async def changes_its_mind(call: JobCall, item: JobItem) -> Outcome:
        await push_note(call, item)
        return outcome

    runs.function = changes_its_mind
    await runs.attempt(runs.due(), attempts=1)
    assert runs.notes() == []
    assert runs.rows("select outcome, sentence from jobs.occurrence_items") == [(outcome.kind.value, "No.")]


async def test_a_function_that_goes_on_after_the_database_refused_it_is_not_done(runs: RunStage) -> None:
    async def swallows(call: Any) -> None:
        await call.push(NOTES, NewWorkItem(key="N-1", title="t"))
        with pytest.raises(psycopg.errors.DivisionByZero):
            await call.transaction.connection.execute("select 1 / 0")

    ending = await outcome_of(runs, swallows)
    assert ending.error == "Do it went on after the database had refused what it did; nothing of it was done."
    assert runs.notes() == []


async def test_pushes_at_the_same_time_go_one_after_the_other(runs: RunStage) -> None:
    async def at_once(call: JobCall) -> None:
        await asyncio.gather(*(call.push(NOTES, NewWorkItem(key=f"N-{n}", title="t")) for n in range(5)))

    assert (await outcome_of(runs, at_once)).counts == Counts(done=1)
    assert runs.notes() == [f"N-{n}" for n in range(5)]


@pytest.mark.requirement("use-execution-scopes")
async def test_a_call_that_was_kept_pushes_nothing_after_its_item(runs: RunStage) -> None:
    kept: list[JobCall] = []

    async def keeps(call: JobCall) -> None:
        kept.append(call)
        await call.push(NOTES, NewWorkItem(key="N-1", title="t"))

    await outcome_of(runs, keeps)
    with pytest.raises(RuntimeError, match="returned"):
        await kept[0].push(NOTES, NewWorkItem(key="N-2", title="t"))
    assert runs.notes() == ["N-1"]


async def test_what_a_call_says_of_itself(runs: RunStage) -> None:
    said: list[tuple[Any, ...]] = []

    async def says(call: JobCall, item: JobItem) -> Outcome:
        said.append((call.tenant, call.schedule, call.scheduled_at, call.attempt, call.scope, item.key, item.given))
        now = runs.rows("select jobs.now()")[0][0]
        assert abs((now - call.now).total_seconds()) < 5
        await call.wait(-1)
        return failed("again") if call.attempt == 1 else done("yes")

    runs.function = says
    occurrence = runs.due()
    await runs.attempt(occurrence)
    await runs.attempt(occurrence)
    scope = "acme t.job@2026-03-04T01:30:00.000000Z itself"
    assert said == [("acme", "t.job", AT, attempt, scope, "itself", {}) for attempt in (1, 2)]


async def test_what_a_selection_gave_comes_to_the_use_case_in_a_later_attempt_too(runs: RunStage) -> None:
    given: list[Any] = []

    async def selection(selecting: Any, after: str | None, limit: int) -> Any:
        return [] if after else [JobItem(key="a", label="A", given={"text": "é", "number": 3, "yes": True})]

    async def says(call: JobCall, item: JobItem) -> Outcome:
        given.append((item.label, dict(item.given)))
        return failed("again")

    runs.schedule, runs.selection, runs.function = JOB, selection, says
    occurrence = runs.due()
    await runs.attempt(occurrence)
    await runs.attempt(occurrence)
    assert given == [("A", {"text": "é", "number": 3, "yes": True})] * 2


@pytest.mark.requirement("use-execution-scopes")
@pytest.mark.parametrize("schedule", [ITSELF, JOB], ids=["itself", "single"])
async def test_an_effect_that_was_left_under_way_is_undone_with_the_others(
    runs: RunStage, schedule: Schedule, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And none of it comes into whatever its connection does next."""
    left: list[asyncio.Task[str]] = []
    under_way, returned, now = asyncio.Event(), asyncio.Event(), items.now

    async def half_way(transaction: Transaction) -> datetime:
        under_way.set()
        await returned.wait()
        for _ in range(20):  # turns of the loop in which the run would go on
            await asyncio.sleep(0)
        return await now(transaction)

    async def leaves(call: JobCall, item: JobItem) -> Outcome:
        left.append(asyncio.create_task(call.push(NOTES, NewWorkItem(key=call.scope, title="Late"))))
        await under_way.wait()
        returned.set()
        return refused("no")

    monkeypatch.setattr(items, "now", half_way)
    runs.schedule, runs.function, runs.selection = schedule, leaves, selection_of(keys(1))
    ending = await runs.attempt(runs.due())
    assert (ending.state, ending.counts) == (OccurrenceState.COMPLETED, Counts(refused=1))
    assert await left[0], "it had its answer, and then was undone"
    assert runs.notes() == []


MALFORMED: dict[str, Any] = {
    "no sentence": Outcome(kind=OutcomeKind.DONE, sentence=None),  # type: ignore[arg-type]  # what an application may do
    "bytes": Outcome(kind=OutcomeKind.REFUSED, sentence=b"no"),  # type: ignore[arg-type]  # as above
    "kind of text": Outcome(kind="done", sentence="yes"),  # type: ignore[arg-type]  # as above
    "unknown kind": Outcome(kind="odd", sentence="yes"),  # type: ignore[arg-type]  # as above
    "after text": retry("Later.", after_seconds="x"),  # type: ignore[arg-type]  # as above
    "after a list": retry("Later.", after_seconds=[1]),  # type: ignore[arg-type]  # as above
}


@pytest.mark.parametrize(
    ("case", "path"),
    [*((case, "single") for case in MALFORMED), *(("no sentence", path) for path in ("itself", "batch", "cursor"))],
)
async def test_a_malformed_outcome_is_the_failure_of_its_item_alone(runs: RunStage, case: str, path: str) -> None:
    async def odd(call: JobCall, item: JobItem) -> Outcome:
        outcome = await push_note(call, item)
        given: Outcome = MALFORMED[case] if path == "itself" or item.key == "item-03" else outcome
        return given

    runs.function, runs.schedule, runs.selection = odd, ITSELF if path == "itself" else JOB, selection_of(keys(4))
    changes: dict[str, dict[str, Any]] = {"batch": {"batch_path": True}, "cursor": {"cursor": "t.cursor"}}
    occurrence = runs.due()
    with capture_logs() as logs:
        ending = await runs.attempt(occurrence, attempts=1, **changes.get(path, {}))
    well = {"itself": [], "cursor": keys(2)}.get(path, ["item-01", "item-02", "item-04"])
    assert (ending.attempt, ending.counts.done, ending.counts.failed) == (AttemptEnding.FAILED, len(well), 1)
    assert runs.notes() == well, "nothing of it was done"
    assert ending.error is not None
    assert "Do it returned an outcome " in ending.error
    assert "log says more" in ending.error
    assert "job-failed" in {line["event"] for line in logs}


async def test_what_nobody_knows_of_is_not_tried_again_for_its_sentence(runs: RunStage) -> None:
    async def odd(call: JobCall, item: JobItem) -> Outcome:
        return Outcome(kind=OutcomeKind.UNCERTAIN, sentence=None)  # type: ignore[arg-type]  # what an application may do

    runs.function = odd
    ending = await runs.attempt(runs.due())
    assert (ending.state, ending.counts.failed) == (OccurrenceState.DEAD_LETTER, 1)
    assert runs.rows("select outcome, sentence from jobs.occurrence_items") == [
        ("uncertain", "The application's sentence cannot be shown.")
    ]


@pytest.mark.parametrize("path", ["itself", "single"])
async def test_a_sentence_that_cannot_be_kept_costs_its_item_nothing_else(runs: RunStage, path: str) -> None:
    async def nul(call: JobCall, item: JobItem) -> Outcome:
        await push_note(call, item)
        return done("a\x00b", reference="r\x00")

    runs.function, runs.schedule, runs.selection = nul, ITSELF if path == "itself" else JOB, selection_of(keys(2))
    occurrence = runs.due()
    ending = await runs.attempt(occurrence)
    assert (ending.state, ending.counts.failed) == (OccurrenceState.COMPLETED, 0)
    said = runs.rows("select distinct sentence from jobs.occurrence_items")
    assert said == [("The application's sentence cannot be shown.",)]
