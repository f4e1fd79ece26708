"""What a selection may look at: released payouts and waiting items of its own tenant, and nothing to write; and what no
run can work with."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest

from jobcontract.money import Money
from jobcontract.states import AttemptEnding, OccurrenceState
from jobservice.application import JobCall, JobItem, NewPayment, Outcome, Selecting, refused, release_key
from jobservice.worker import selecting as selecting_module
from jobservice.worker.run_ending import Counts
from tests.usecases.desk import NOTES, PAYOUTS
from tests.worker.runs_stage import AT, JOB, RunStage, keys, push_note, selection_of

DAY = timedelta(days=1)
SECRET = "password=hunter2 select * from jobs.items"


def item(runs: RunStage, number: int, *, tenant: str = "acme", queue: str = PAYOUTS, **more: Any) -> str:
    """An item by SQL; its id is that number."""
    identifier = str(UUID(int=number))
    columns = {"closed_at": None, "state": "open", "set_aside_until": None, "amount_minor": 500, **more}
    names = ", ".join(columns)
    marks = ", ".join(["%s"] * len(columns))
    runs.people.connection.execute(
        f"insert into jobs.items (id, tenant, queue, business_key, title, created, pushed_by, changed_by, words,"  # names of the tests
        f" currency, payee_id, payee_name, account, {names})"
        f" values (%s, %s, %s, %s, %s, %s, 'p', 'p', 'w', 'GBP', 'P-1', 'Pat', 'GB00TEST0001', {marks})",
        (identifier, tenant, queue, f"K-{number}", f"Item {number}", AT, *columns.values()),
    )
    return identifier


def release(runs: RunStage, number: int, at: datetime, **more: Any) -> str:
    """A payout that went out."""
    tenant = more.get("tenant", "acme")
    identifier = item(runs, number, state="released", closed_at=at, **more)
    runs.people.connection.execute("set session_replication_role = replica")  # the plan that it went out by is left out
    runs.people.connection.execute(
        "insert into jobs.releases (item, tenant, plan, at, person, amount_minor, currency, payee_id, account, outward_key)"
        " values (%s, %s, %s, %s, 'm.ito', %s, 'GBP', 'P-1', 'GB00TEST0001', 'k')",
        (identifier, tenant, UUID(int=1), at, 100 * number),
    )
    runs.people.connection.execute("set session_replication_role = origin")
    return identifier


async def asked(runs: RunStage, question: Any) -> Any:
    """What `question(selecting)` gives in a selection of a run."""
    answers: list[Any] = []

    async def selection(selecting: Selecting, after: str | None, limit: int) -> list[JobItem]:
        answers.append(await question(selecting))
        return []

    async def nothing(*_: Any) -> Outcome:
        raise AssertionError("nothing was selected")

    runs.selection, runs.function, runs.schedule = selection, nothing, JOB
    ending = await runs.attempt(runs.due())
    if not answers:
        return ending
    assert ending.counts == Counts()
    return answers[0]


@pytest.mark.requirement("scope-occurrences-and-leases-by-tenant")
async def test_released_payouts_of_a_stretch_come_in_the_order_of_their_time_and_id(runs: RunStage) -> None:
    instants = {
        5: AT,
        2: AT + timedelta(microseconds=1),
        4: AT + timedelta(hours=1),
        1: AT + timedelta(hours=1),
        6: AT + DAY,
    }
    for number, at in instants.items():
        release(runs, number, at)
    release(runs, 3, AT + timedelta(hours=2), tenant="globex")
    release(runs, 7, AT - timedelta(microseconds=1))
    item(runs, 8)

    async def question(selecting: Selecting) -> Any:
        return await selecting.released(since=AT, until=AT + DAY, after=None, limit=10)

    found = await asked(runs, question)
    assert [UUID(each.item).int for each in found] == [5, 2, 1, 4]
    first = found[0]
    assert (first.queue, first.at, first.money, first.payee_id, first.payee_name) == (
        PAYOUTS,
        AT,
        Money(minor=500, currency="GBP"),
        "P-1",
        "Pat",
    )


async def test_every_release_comes_once_whatever_the_size_of_the_look(runs: RunStage) -> None:
    """The key of a release is exact to the microsecond."""
    for number in range(1, 21):
        release(runs, number, datetime(2026, 3, 4, 1, 30, 0, 123_450 + number // 3, tzinfo=UTC))

    async def question(selecting: Selecting) -> Any:
        seen: list[int] = []
        after = None
        while found := await selecting.released(since=AT, until=AT + DAY, after=after, limit=3):
            seen += [UUID(each.item).int for each in found]
            after = release_key(found[-1])
        return seen

    assert await asked(runs, question) == list(range(1, 21))


@pytest.mark.requirement("scope-occurrences-and-leases-by-tenant")
async def test_waiting_items_come_in_the_order_of_their_ids(runs: RunStage) -> None:
    for number in (3, 1, 2, 9):
        item(runs, number)
    item(runs, 4, tenant="globex")
    item(runs, 5, queue=NOTES)
    item(runs, 6, state="rejected", closed_at=AT)
    item(runs, 7, set_aside_until=datetime(2999, 1, 1, tzinfo=UTC))
    item(runs, 8, set_aside_until=AT)

    async def question(selecting: Selecting) -> Any:
        first = await selecting.waiting(PAYOUTS, after=None, limit=2)
        return [*first, *await selecting.waiting(PAYOUTS, after=first[-1].id, limit=10)]

    found = await asked(runs, question)
    assert [UUID(each.id).int for each in found] == [1, 2, 3, 8, 9]
    assert (found[0].key, found[0].title, found[0].state) == ("K-1", "Item 1", "open")
    assert found[0].payment == NewPayment(
        money=Money(minor=500, currency="GBP"), payee_id="P-1", payee_name="Pat", account="GB00TEST0001"
    )


async def test_a_selection_knows_its_instant_and_the_one_before(runs: RunStage) -> None:
    async def question(selecting: Selecting) -> Any:
        return selecting.tenant, selecting.schedule, selecting.scheduled_at, selecting.previous_at

    assert await asked(runs, question) == ("acme", "t.job", AT, AT - timedelta(hours=1))


async def test_a_selection_writes_nothing(runs: RunStage) -> None:
    met: list[type[BaseException]] = []

    async def question(selecting: Any) -> Any:
        try:
            await selecting.transaction.connection.execute("delete from jobs.occurrence_items")
        except psycopg.Error as error:
            met.append(type(error))
            raise

    ending = await asked(runs, question)
    assert met == [psycopg.errors.ReadOnlySqlTransaction]
    assert ending.attempt is AttemptEnding.FAILED
    assert "delete" not in ending.error


async def test_a_queue_that_is_not_there_is_named(runs: RunStage) -> None:
    async def question(selecting: Selecting) -> Any:
        return await selecting.waiting("t.nowhere", after=None, limit=1)

    ending = await asked(runs, question)
    assert ending.error.startswith("The selection was refused what it asked for: There is no queue 't.nowhere'")


async def test_one_look_is_bounded(runs: RunStage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selecting_module, "LIMIT_MOST", 2)
    for number in range(1, 6):
        item(runs, number)

    async def question(selecting: Selecting) -> Any:
        return [len(await selecting.waiting(PAYOUTS, after=None, limit=limit)) for limit in (-1, 0, 1, 10**12)]

    assert await asked(runs, question) == [0, 0, 1, 2]


async def test_a_selection_that_raises_ends_the_attempt_and_what_was_selected_is_done(runs: RunStage) -> None:
    plain = selection_of(keys(7))

    async def breaks(selecting: Any, after: str | None, limit: int) -> Any:
        if after == "item-03":
            raise RuntimeError(SECRET)
        return await plain(selecting, after, limit)

    runs.selection = breaks
    occurrence = runs.due()
    ending = await runs.attempt(occurrence)
    assert (ending.attempt, ending.state, ending.retry_after) == (AttemptEnding.FAILED, OccurrenceState.SCHEDULED, 10.0)
    assert ending.error is not None
    assert ending.error.startswith("The selection went wrong. The Worker's log says more: ")
    assert "hunter2" not in ending.error
    assert (ending.counts, ending.position, ending.selected_all) == (Counts(done=3), "item-03", False)
    runs.selection = plain
    ending = await runs.attempt(occurrence)
    assert (ending.state, ending.counts) == (OccurrenceState.COMPLETED, Counts(done=7))
    assert runs.notes() == keys(7)


def given(key: Any = "a", label: Any = "A", **more: Any) -> JobItem:
    return JobItem(key=key, label=label, given=more)


UNFIT = {
    "more than asked": ([given(str(number)) for number in range(4)], "gave 4 items where at most 3"),
    "no item": (["item"], "no item of a job"),
    "no key": ([given(key="")], "whose key is not text"),
    "long key": ([given(key="k" * 201)], "whose key is not text"),
    "nul": ([given(label="a\x00b")], "whose label is not text"),
    "one twice": ([given(), given()], "gave the key 'a' twice"),
    "given a list": ([given(given=[1])], "no text, number or yes and no"),
    "given nul": ([given(given="\x00")], "no text, number or yes and no"),
}


@pytest.mark.parametrize("case", UNFIT)
async def test_a_selection_that_gives_what_no_run_can_work_with_is_told_so(runs: RunStage, case: str) -> None:
    gives, said = UNFIT[case]

    async def odd(selecting: Any, after: str | None, limit: int) -> Any:
        return gives

    runs.selection = odd
    ending = await runs.attempt(runs.due())
    assert (ending.attempt, ending.state) == (AttemptEnding.FAILED, OccurrenceState.SCHEDULED)
    assert ending.error is not None
    assert said in ending.error


async def test_a_selection_that_does_not_go_on_is_ended(runs: RunStage) -> None:
    async def stands_still(selecting: Any, after: str | None, limit: int) -> Any:
        return [given("a"), given("b")]

    runs.selection = stands_still
    ending = await runs.attempt(runs.due())
    assert ending.error is not None
    assert "gave 'b' again" in ending.error
    assert ending.counts == Counts(done=2)


@pytest.mark.parametrize("path", ["single", "batch", "cursor", "unwell"])
async def test_a_key_that_a_later_batch_gives_again_ends_the_attempt(runs: RunStage, path: str) -> None:
    """What is done stays done, once; nothing of the batch that has it again is begun, in no attempt."""
    called: list[str] = []

    async def notes(call: JobCall, item: JobItem) -> Outcome:
        called.append(item.key)
        outcome = await push_note(call, item)
        return refused("Closed.") if path == "unwell" and item.key == "item-03" else outcome

    changes: dict[str, dict[str, Any]] = {"batch": {"batch_path": True}, "cursor": {"cursor": "t.cursor"}}
    change = changes.get("batch" if path == "unwell" else path, {})
    runs.function = notes
    runs.selection = selection_of([*keys(3), "item-04", "item-02", "item-05"])
    occurrence = runs.due()
    ending = await runs.attempt(occurrence, **change)
    done = Counts(done=2, refused=1) if path == "unwell" else Counts(done=3)
    assert (ending.attempt, ending.state) == (AttemptEnding.FAILED, OccurrenceState.SCHEDULED)
    assert ending.error == "The selection gave the key 'item-02' twice."
    assert (ending.counts, ending.position, runs.notes()) == (done, "item-03", keys(done.done))
    called.clear()
    if path != "batch":  # there no row says what an earlier attempt did
        assert (await runs.attempt(occurrence, **change)).error == ending.error
        assert (called, runs.notes()) == ([], keys(done.done))


async def test_a_selection_that_goes_round_in_batches_comes_to_an_end(runs: RunStage) -> None:
    async def round_and_round(selecting: Any, after: str | None, limit: int) -> Any:
        names = {None: keys(3), "item-03": keys(3, 4)}.get(after, keys(3))
        return [given(name) for name in names]

    runs.selection = round_and_round
    ending = await asyncio.wait_for(runs.attempt(runs.due(), batch_path=True), 10)
    assert (ending.error, ending.counts) == ("The selection gave the key 'item-01' twice.", Counts(done=6))
