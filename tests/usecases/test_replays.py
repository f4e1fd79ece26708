"""Running an ended occurrence again, and putting a dead letter away: who may, what is refused, what stays of it."""

from __future__ import annotations

import asyncio
import uuid
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from jobcontract.acts import DiscardOrder, ReplayOrder
from jobcontract.errors import ErrorCode
from jobcontract.occurrences import Occurrence, OccurrenceChanged
from jobcontract.states import DeadCause, OccurrenceState, OutcomeKind
from jobservice.rules.schedules import Confirmed
from jobservice.store import replaying as store
from jobservice.usecases.audit import list_audit
from jobservice.usecases.idempotency import Answered, Once
from jobservice.usecases.occurrences import read_occurrence
from jobservice.usecases.replays import discard, replay
from tests.usecases.desk import once, refused_with
from tests.usecases.schedule_desk import NIGHTLY, SCHEDULE_RECORDS, ScheduleDesk, schedule_desk

START = datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
NAME = f"{NIGHTLY}@2026-10-25T00:30:00Z"
DONE, REFUSED, FAILED, UNCERTAIN = OutcomeKind.DONE, OutcomeKind.REFUSED, OutcomeKind.FAILED, OutcomeKind.UNCERTAIN
REPLAYS = pytest.mark.requirement("audit-manual-replay")
PROCEDURES = pytest.mark.requirement("provide-operational-recovery-procedures")
MONEY = pytest.mark.requirement("MONEY-1")


@pytest.fixture
def jobs(database: Any, people: Any) -> ScheduleDesk:
    """Schedules of acme, each with its row."""
    desk = schedule_desk(database, people)
    desk.planned(NIGHTLY)
    return desk


async def replayed(
    jobs: ScheduleDesk, named: str, *, person: str = "o.lind", version: int | None = None, request: Once | None = None
) -> Answered:
    """The answer to having it run again."""
    order = ReplayOrder(reason="the bank was down", version=version)
    return await replay(jobs.service, jobs.desk.actor(person), named, order, request or once(f"/{named}"))


async def discarded(
    jobs: ScheduleDesk, named: str, *, person: str = "o.lind", version: int | None = None, request: Once | None = None
) -> Answered:
    """The answer to putting it away."""
    order = DiscardOrder(reason="sent by hand", version=version)
    return await discard(jobs.service, jobs.desk.actor(person), named, order, request or once(f"/{named}"))


def shown(answer: Answered) -> Occurrence:
    """The occurrence of an answer."""
    return OccurrenceChanged.model_validate(answer.body).occurrence


@REPLAYS
async def test_a_replay_begins_a_course_of_its_own_and_keeps_what_is_done_and_how_it_had_ended(
    jobs: ScheduleDesk,
) -> None:
    found = jobs.occurrence(
        NIGHTLY,
        START,
        "dead-letter",
        fence=4,
        attempts=3,
        done=2,
        refused=1,
        failed=2,
        unfinished=1,
        selected_all=True,
        position="k-6",
        error="The bank said no.",
    )
    jobs.items(found, DONE, REFUSED, FAILED, DONE, UNCERTAIN, None)
    jobs.connection.execute("update jobs.occurrence_items set attempts = 2, sentence = 'before'")
    jobs.connection.execute("listen jobs_work")
    row = shown(await replayed(jobs, NAME))
    (notice,) = jobs.connection.notifies(timeout=2, stop_after=1)
    assert notice.payload == "occurrences", "the Workers hear of it at once"
    jobs.connection.execute("unlisten *")
    assert (row.id, row.state, row.attempts, row.replays, row.version) == (found, OccurrenceState.SCHEDULED, 0, 1, 2)
    assert (row.cause, row.error, row.ended_at, row.started_at, row.lease) == (None, None, None, None, None)
    assert (row.items.done, row.items.refused, row.items.failed, row.items.unfinished) == (2, 0, 0, 4)
    assert not row.items.selected_all
    kept = jobs.connection.execute(
        "select fence, fence_base, position, miss_at, due_at <= (select at from jobs.occurrence_replays),"
        " recovery, selected_all, done, unfinished from jobs.occurrences"
    ).fetchone()
    assert kept == (4, 4, "k-6", None, True, None, False, 2, 4)
    items = jobs.connection.execute(
        "select number, outcome, attempts, sentence from jobs.occurrence_items order by number"
    ).fetchall()
    assert items == [
        (number, "done" if number in (1, 4) else None, 2 if number in (1, 4) else 0, "before") for number in range(1, 7)
    ]
    detail = await read_occurrence(jobs.service, jobs.desk.actor("s.audit"), found)
    (told,) = detail.replays
    assert (told.replay, told.person.name, told.reason, told.recovery) == (1, "Olle Lind", "the bank was down", None)
    assert (told.state_before, told.cause_before, told.attempts_before, told.not_done) == (
        OccurrenceState.DEAD_LETTER,
        DeadCause.FAILED,
        3,
        4,
    )
    assert told.ended_before == START + timedelta(seconds=9)
    entry = (await list_audit(jobs.service, jobs.desk.actor("s.audit"), None, 1)).entries[0]
    assert (entry.action, entry.subject, entry.outcome) == ("replay-occurrence", found, "done")
    assert (entry.person and entry.person.id, entry.detail["occurrence"]) == ("o.lind", NAME)
    assert (entry.detail["schedule"], entry.detail["reason"], entry.detail["not_done"]) == (
        NIGHTLY,
        "the bank was down",
        4,
    )
    before, after = entry.detail["before"], entry.detail["after"]
    assert isinstance(before, dict)
    assert isinstance(after, dict)
    assert (before["state"], before["cause"], before["version"]) == ("dead-letter", "failed", 1)
    assert (after["state"], after["replays"], after["version"]) == ("scheduled", 1, 2)
    hint = jobs.connection.execute("select tenant, topic, queue, ref from jobs.hints").fetchone()
    assert hint == ("acme", "schedule", NIGHTLY, NIGHTLY)


@REPLAYS
@pytest.mark.parametrize(
    ("columns", "not_done"),
    [({"failed": 1, "unfinished": 2, "done": 40}, 3), ({"done": 1}, 0)],
    ids=["batches-alone", "all-done"],
)
async def test_items_without_rows_are_counted_by_the_run(
    jobs: ScheduleDesk, columns: dict[str, Any], not_done: int
) -> None:
    jobs.occurrence(NIGHTLY, START, "dead-letter" if not_done else "completed", **columns)
    row = shown(await replayed(jobs, NAME))
    assert (row.items.done, row.items.unfinished) == (columns["done"], not_done)
    assert jobs.one("select not_done from jobs.occurrence_replays") == not_done


@REPLAYS
async def test_what_was_cancelled_before_its_time_waits_for_it_again(jobs: ScheduleDesk) -> None:
    coming = jobs.now + timedelta(hours=3)
    found = jobs.occurrence(
        NIGHTLY,
        coming,
        "dead-letter",
        fence=0,
        attempts=0,
        cause="cancelled",
        cancel_asked_at=jobs.now,
        cancelled_by="o.lind",
        cancel_reason="x",
        ended_at=jobs.now,
    )
    row = shown(await replayed(jobs, found))
    assert (row.due_at, row.cancel_asked_at, row.cancelled_by, row.cancel_reason) == (coming, None, None, None)


@REPLAYS
async def test_a_repeated_key_is_the_same_replay_and_two_at_once_are_one(jobs: ScheduleDesk) -> None:
    found = jobs.occurrence(NIGHTLY, START, "dead-letter")
    request = once(f"/{found}")
    first = await replayed(jobs, found, request=request)
    again = await replayed(jobs, found, request=request)
    assert again.replayed
    assert again.body == first.body
    await refused_with(ErrorCode.OCCURRENCE_NOT_ENDED, replayed(jobs, found))
    jobs.occurrence(NIGHTLY, START + timedelta(days=1), "dead-letter")
    other = f"{NIGHTLY}@2026-10-26T00:30:00Z"
    both = await asyncio.gather(*(replayed(jobs, other) for _ in range(2)), return_exceptions=True)
    assert sorted(isinstance(each, Answered) for each in both) == [False, True]
    assert jobs.one("select count(*) from jobs.occurrence_replays") == 2


@PROCEDURES
@REPLAYS
@pytest.mark.parametrize(
    ("state", "columns", "code", "words"),
    [
        ("scheduled", {}, ErrorCode.OCCURRENCE_NOT_ENDED, "waits for its turn"),
        ("processing", {}, ErrorCode.OCCURRENCE_NOT_ENDED, "runs: only what has ended"),
        ("completed", {"version": 8}, ErrorCode.VERSION_CHANGED, "changed since you looked: it is completed"),
    ],
    ids=["waits", "runs", "changed"],
)
async def test_what_has_not_ended_or_changed_since_it_was_seen_is_not_replayed(
    jobs: ScheduleDesk, state: str, columns: dict[str, Any], code: ErrorCode, words: str
) -> None:
    found = jobs.occurrence(NIGHTLY, START, state, **columns)
    before = jobs.one("select to_jsonb(o) from jobs.occurrences as o")
    refusal = await refused_with(code, replayed(jobs, found, version=7))
    assert words in refusal.detail
    assert jobs.one("select to_jsonb(o) from jobs.occurrences as o") == before
    assert jobs.one("select count(*) from jobs.occurrence_replays") == 0
    assert jobs.desk.audited()[-1] == ("o.lind", "replay-occurrence", "refused")


@REPLAYS
async def test_what_retention_came_past_is_removed_whether_its_row_is_there_or_not(jobs: ScheduleDesk) -> None:
    found = jobs.occurrence(NIGHTLY, START, "dead-letter")
    jobs.connection.execute("update jobs.schedules set floor_at = %s", [START])
    earlier = f"{NIGHTLY}@2026-10-24T00:30:00Z"
    for named in (found, NAME, earlier):
        for act in (replayed(jobs, named), discarded(jobs, named)):
            refusal = await refused_with(ErrorCode.OCCURRENCE_REMOVED, act)
            assert "retention" in refusal.detail
    for named in (f"{NIGHTLY}@2026-10-26T00:30:00Z", "t.never@2026-10-24T00:30:00Z", str(uuid.uuid4())):
        await refused_with(ErrorCode.NOT_FOUND, replayed(jobs, named))
    assert jobs.one("select version from jobs.occurrences") == 1


@PROCEDURES
async def test_a_disabled_schedule_replays_nothing_until_its_time_is_over(jobs: ScheduleDesk) -> None:
    found = jobs.occurrence(NIGHTLY, START, "dead-letter")
    off = "update jobs.schedules set disabled_at = jobs.now(), disabled_by = 'o.lind', disabled_reason = 'bank',"
    jobs.connection.execute(f"{off} disabled_until = jobs.now() + interval '1 hour'".encode())
    refusal = await refused_with(ErrorCode.SCHEDULE_DISABLED, replayed(jobs, found))
    assert refusal.detail.startswith(f"{NIGHTLY} is disabled by Olle Lind until ")
    assert refusal.detail.endswith(": bank. Enable it first.")
    jobs.connection.execute("update jobs.schedules set disabled_until = jobs.now()")
    await replayed(jobs, found)


@REPLAYS
@pytest.mark.parametrize("schedule", ["t.gone", "t.elsewhere", "t.abroad"])
async def test_what_nothing_here_would_run_is_not_replayed(jobs: ScheduleDesk, schedule: str) -> None:
    found = jobs.occurrence(schedule, START, "dead-letter")
    refusal = await refused_with(ErrorCode.SCHEDULE_UNFIT, replayed(jobs, found))
    assert schedule in refusal.detail


@MONEY
async def test_what_moves_money_is_replayed_by_a_recovery_alone(jobs: ScheduleDesk) -> None:
    money = replace(SCHEDULE_RECORDS.schedules[NIGHTLY], selection=Confirmed(command="t.release-many"))
    jobs.desk.service = replace(
        jobs.service, records=replace(SCHEDULE_RECORDS, schedules={**SCHEDULE_RECORDS.schedules, NIGHTLY: money})
    )
    found = jobs.occurrence(NIGHTLY, START, "dead-letter")
    for person in ("o.lind",):
        refusal = await refused_with(ErrorCode.NEEDS_PLAN, replayed(jobs, found, person=person))
        assert "payout.release" in refusal.detail
    assert jobs.one("select (state, replays)::text from jobs.occurrences") == "(dead-letter,0)"
    await discarded(jobs, found)  # putting it away moves nothing


@PROCEDURES
async def test_a_discarded_dead_letter_stays_to_be_read_and_asks_for_nothing(jobs: ScheduleDesk) -> None:
    found = jobs.occurrence(NIGHTLY, START, "dead-letter", error="The bank said no.")
    jobs.occurrence(NIGHTLY, START + timedelta(days=1), "dead-letter")
    row = shown(await discarded(jobs, NAME, version=1))
    assert (row.state, row.cause, row.error) == (OccurrenceState.DEAD_LETTER, DeadCause.FAILED, "The bank said no.")
    assert (row.discarded_by and row.discarded_by.name, row.discard_reason) == ("Olle Lind", "sent by hand")
    assert row.discarded_at is not None
    entry = (await list_audit(jobs.service, jobs.desk.actor("s.audit"), None, 1)).entries[0]
    assert (entry.action, entry.subject, entry.detail["reason"]) == ("discard-occurrence", found, "sent by hand")
    refusal = await refused_with(ErrorCode.NOT_DEAD_LETTER, discarded(jobs, found))
    assert "was discarded by Olle Lind at" in refusal.detail
    again = shown(await replayed(jobs, found))
    assert (again.discarded_at, again.discarded_by, again.discard_reason) == (None, None, None)
    for state in ("scheduled", "processing", "completed"):
        at = START + timedelta(days=2)
        other = jobs.occurrence(NIGHTLY, at, state)
        refusal = await refused_with(ErrorCode.NOT_DEAD_LETTER, discarded(jobs, other))
        assert f"is {state}: only a dead letter" in refusal.detail
        jobs.connection.execute("delete from jobs.occurrences where id = %s", [other])
    waiting = f"{NIGHTLY}@2026-10-26T00:30:00Z"
    refusal = await refused_with(ErrorCode.VERSION_CHANGED, discarded(jobs, waiting, version=9))


@REPLAYS
async def test_replaying_and_discarding_need_their_permissions(jobs: ScheduleDesk) -> None:
    found = jobs.occurrence(NIGHTLY, START, "dead-letter")
    for person in ("m.ito", "s.audit", "p.push"):
        for act in (replayed, discarded):
            await refused_with(ErrorCode.PERMISSION_MISSING, act(jobs, found, person=person))
    theirs = jobs.occurrence(NIGHTLY, START, "dead-letter", tenant="globex")
    for act in (replayed, discarded):
        await refused_with(ErrorCode.NOT_FOUND, act(jobs, theirs))
    assert jobs.one("select max(version) from jobs.occurrences") == 1


@REPLAYS
async def test_a_replay_compares_after_it_has_the_lock(jobs: ScheduleDesk, owner_database: Any) -> None:
    found = jobs.occurrence(NIGHTLY, START, "dead-letter")
    async with owner_database.transaction("acme") as transaction:
        await transaction.connection.execute(
            "update jobs.occurrences set state = 'scheduled', ended_at = null, cause = null, replays = 1"
        )
        asking = asyncio.create_task(replayed(jobs, found))
        async with asyncio.timeout(10):
            while not jobs.one("select count(*) from pg_stat_activity where wait_event_type = 'Lock'"):  # noqa: ASYNC110  # the database is what is seen
                await asyncio.sleep(0.01)
        assert not asking.done()
    await refused_with(ErrorCode.OCCURRENCE_NOT_ENDED, asking)
    assert jobs.one("select replays from jobs.occurrences") == 1


@REPLAYS
@pytest.mark.parametrize("meanwhile", ["version", "waits", "removed", "disabled"])
async def test_the_statement_that_writes_compares_everything_itself(jobs: ScheduleDesk, meanwhile: str) -> None:
    found = jobs.occurrence(NIGHTLY, START, "scheduled" if meanwhile == "waits" else "dead-letter")
    jobs.items(found, FAILED)
    if meanwhile == "removed":
        jobs.connection.execute("update jobs.schedules set floor_at = %s", [START])
    if meanwhile == "disabled":
        jobs.connection.execute(
            "update jobs.schedules set disabled_at = jobs.now(), disabled_by = 'o.lind', disabled_reason = 'x'"
        )
    before = jobs.one("select to_jsonb(o) from jobs.occurrences as o")
    version = 2 if meanwhile == "version" else 1
    async with jobs.service.database.transaction("acme") as transaction:
        wanted: dict[str, Any] = {"version": version, "person": "o.lind", "reason": "x"}
        assert await store.replay(transaction, found, **wanted, recovery=None, itself=False) is None
        if meanwhile != "disabled":
            assert await store.discard(transaction, found, **wanted) is None
    assert jobs.one("select to_jsonb(o) from jobs.occurrences as o") == before
    assert jobs.one("select outcome from jobs.occurrence_items") == "failed"
    assert jobs.one("select count(*) from jobs.occurrence_replays") == 0
