"""What a person reads of occurrences, and asking that one be cancelled."""

from __future__ import annotations

import asyncio
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from jobcontract.errors import ErrorCode
from jobcontract.occurrence_names import occurrence_name
from jobcontract.occurrences import CancelOrder, OccurrenceChanged
from jobcontract.states import AttemptEnding, DeadCause, OccurrenceState, OutcomeKind
from jobservice.store.occurrences import Place
from jobservice.usecases.audit import list_audit
from jobservice.usecases.idempotency import Answered, Once
from jobservice.usecases.occurrences import Asked, cancel, list_items, list_occurrences, read_occurrence
from tests.usecases.desk import once, refused_with
from tests.usecases.schedule_desk import MINUTELY, NIGHTLY, ScheduleDesk, schedule_desk

START = datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
DONE, REFUSED, FAILED, UNCERTAIN = OutcomeKind.DONE, OutcomeKind.REFUSED, OutcomeKind.FAILED, OutcomeKind.UNCERTAIN
STATES = pytest.mark.requirement("persist-occurrence-state")
POINTS = pytest.mark.requirement("persist-occurrence-recovery-points")
WALL = pytest.mark.requirement("scope-occurrences-and-leases-by-tenant")
CANCELLING = pytest.mark.requirement("observe-job-cancellation")


@pytest.fixture
def jobs(database: Any, people: Any) -> ScheduleDesk:
    """Schedules of acme, one of globex, one of another deployment."""
    return schedule_desk(database, people)


async def walked(jobs: ScheduleDesk, *, person: str = "o.lind", limit: int = 3, **asked: Any) -> list[str]:
    """Names of every occurrence of a listing, through its pages."""
    question = Asked(**({"schedule": None, "states": (), "since": None, "until": None, "limit": limit} | asked))
    seen: list[str] = []
    behind: Place | None = None
    while True:
        page = await list_occurrences(jobs.service, jobs.desk.actor(person), question, behind)
        assert len(page.occurrences) <= limit
        seen += [each.name for each in page.occurrences]
        behind = page.last
        if behind is None:
            return seen


async def cancelled(
    jobs: ScheduleDesk, named: str, *, person: str = "o.lind", reason: str = "wrong file", request: Once | None = None
) -> Answered:
    """The answer to asking that it be cancelled."""
    order = CancelOrder(reason=reason)
    return await cancel(jobs.service, jobs.desk.actor(person), named, order, request or once(f"/{named}"))


@STATES
async def test_occurrences_are_listed_newest_first_of_all_schedules_or_one_by_state_and_range(
    jobs: ScheduleDesk,
) -> None:
    cycle = ("scheduled", "processing", "completed", "dead-letter")
    names: dict[str, list[str]] = {state: [] for state in cycle}
    for number in range(8):
        for schedule in (MINUTELY, NIGHTLY):
            state = cycle[number % 4]
            lock = f"{schedule}-{number}"  # those of one lock never run at once
            jobs.occurrence(schedule, START + number * MINUTE, state, lock=lock)
            names[state].append(occurrence_name(schedule, START + number * MINUTE))
    jobs.occurrence(NIGHTLY, START + MINUTE, "dead-letter", tenant="globex")
    every = await walked(jobs)
    assert sorted(every) == sorted(name for each in names.values() for name in each)
    instants = [name.rpartition("@")[2] for name in every]
    assert instants == sorted(instants, reverse=True)
    assert await walked(jobs, schedule=NIGHTLY) == [name for name in every if name.startswith(NIGHTLY)]
    for states in (("dead-letter",), ("scheduled", "processing"), ("completed", "dead-letter"), cycle):
        wanted = {name for state in states for name in names[state]}
        given = [OccurrenceState(state) for state in states]
        assert await walked(jobs, states=given) == [name for name in every if name in wanted]
        assert await walked(jobs, states=given, schedule=MINUTELY) == [
            name for name in every if name in wanted and name.startswith(MINUTELY)
        ]
    since, until = START + 2 * MINUTE, START + 4 * MINUTE
    stretch = [name for name in every if "00:32" in name or "00:33" in name]
    assert await walked(jobs, since=since, until=until) == stretch
    assert await walked(jobs, since=since, until=until, schedule=NIGHTLY) == [
        name for name in stretch if name.startswith(NIGHTLY)
    ]
    assert await walked(jobs, schedule="t.never") == []


@POINTS
@STATES
async def test_an_occurrence_is_read_by_id_and_by_name_with_lease_attempts_and_refused_completions(
    jobs: ScheduleDesk,
) -> None:
    lost, holder = jobs.worker("a7"), jobs.worker("b2")
    now = jobs.now
    found = jobs.occurrence(
        NIGHTLY,
        START,
        "processing",
        holder=holder,
        fence=2,
        attempts=2,
        renewals=4,
        done=3,
        failed=1,
        error="The bank said no.",
        local_time="2026-10-25 01:30",
        zone="Europe/London",
        clock="first",
        clock_policy="run-at-gap-end, first",
    )
    jobs.attempt(found, 1, lost, "lost", error="Worker was lost.", taken_at=now - MINUTE)
    jobs.refused(found, 1, lost)
    jobs.items(found, DONE)
    shown = await read_occurrence(jobs.service, jobs.desk.actor("s.audit"), found)
    for name in (f"{NIGHTLY}@2026-10-25T00:30:00Z", f"{NIGHTLY}@2026-10-25T01:30+01:00"):
        again = await read_occurrence(jobs.service, jobs.desk.actor("s.audit"), name)
        assert again.occurrence == shown.occurrence, name
    occurrence = shown.occurrence
    assert occurrence.name == f"{NIGHTLY}@2026-10-25T00:30:00Z"
    assert (occurrence.state, occurrence.attempts, occurrence.attempts_most) == (OccurrenceState.PROCESSING, 2, 3)
    assert (occurrence.zone, occurrence.clock, occurrence.tzdata) == ("Europe/London", "first", "2026f")
    assert occurrence.clock_policy == "run-at-gap-end, first"
    assert str(occurrence.local) == "2026-10-25 01:30:00"
    assert occurrence.lease is not None
    lease = occurrence.lease
    assert (lease.worker, lease.host, lease.fence, lease.renewals) == (str(holder), "b2", 2, 4)
    assert lease.taken_at >= now
    assert (occurrence.items.done, occurrence.items.failed, occurrence.error) == (3, 1, "The bank said no.")
    (attempt,) = shown.attempts
    assert (attempt.fence, attempt.host, attempt.ending, attempt.error) == (
        1,
        "a7",
        AttemptEnding.LOST,
        "Worker was lost.",
    )
    (refusal,) = shown.refused
    assert (refusal.worker, refusal.host, refusal.fence, refusal.what) == (str(lost), "a7", 1, "completion")
    assert [each.label for each in shown.items.items] == ["Item 1"]


@pytest.mark.parametrize(
    ("kept", "outcomes", "told"),
    [
        pytest.param(
            (0, 0, 0, 7), (DONE, REFUSED, FAILED, UNCERTAIN, DONE, None, None), (2, 1, 2, 2), id="single-path"
        ),
        pytest.param((40, 0, 0, 3), (DONE, FAILED, None), (41, 0, 1, 1), id="rows-of-what-fell-out-of-batches"),
        pytest.param((40, 0, 0, 0), (), (40, 0, 0, 0), id="batches-alone"),
        pytest.param((0, 0, 0, 1), (), (0, 0, 0, 1), id="no-row-yet"),
    ],
)
@pytest.mark.parametrize("state", ["processing", "scheduled", "dead-letter"])
async def test_an_occurrence_that_nobody_settled_yet_counts_its_items_while_the_list_says_what_was_written(
    jobs: ScheduleDesk,
    state: str,
    kept: tuple[int, ...],
    outcomes: tuple[OutcomeKind | None, ...],
    told: tuple[int, ...],
) -> None:
    columns: dict[str, Any] = dict(zip(("done", "refused", "failed", "unfinished"), kept, strict=True))
    found = jobs.occurrence(NIGHTLY, START, state, **columns)
    jobs.items(found, *outcomes)
    actor = jobs.desk.actor("o.lind")
    shown = (await read_occurrence(jobs.service, actor, found)).occurrence.items
    assert (shown.done, shown.refused, shown.failed, shown.unfinished) == told
    everything = Asked(schedule=None, states=(), since=None, until=None, limit=5)
    (listed,) = (await list_occurrences(jobs.service, actor, everything, None)).occurrences
    assert (listed.items.done, listed.items.refused, listed.items.failed, listed.items.unfinished) == kept


async def test_items_that_failed_come_first_then_those_without_an_outcome(jobs: ScheduleDesk) -> None:
    found = jobs.occurrence(NIGHTLY, START, "dead-letter")
    other = jobs.occurrence(NIGHTLY, START + MINUTE, "dead-letter")
    jobs.items(found, DONE, FAILED, None, REFUSED, UNCERTAIN, None, DONE, FAILED)
    jobs.items(other, FAILED, FAILED)
    for limit in (1, 2, 3, 8, 50):
        seen: list[int] = []
        behind = None
        while True:
            page = await list_items(jobs.service, jobs.desk.actor("o.lind"), found, behind, limit)
            assert len(page.items) <= limit
            seen += [each.number for each in page.items]
            behind = page.last
            if behind is None:
                break
        assert seen == [2, 5, 8, 3, 6, 1, 4, 7], limit
    mark = (other, 0, 1)
    await refused_with(ErrorCode.CURSOR_INVALID, list_items(jobs.service, jobs.desk.actor("o.lind"), found, mark, 5))


@CANCELLING
@pytest.mark.parametrize("state", ["scheduled", "processing"])
async def test_cancelling_asks_says_who_and_why_and_changes_nothing_else(jobs: ScheduleDesk, state: str) -> None:
    found = jobs.occurrence(NIGHTLY, START, state)
    jobs.connection.execute("listen jobs_work")
    before = (await read_occurrence(jobs.service, jobs.desk.actor("o.lind"), found)).occurrence
    answer = OccurrenceChanged.model_validate((await cancelled(jobs, f"{NIGHTLY}@2026-10-25T00:30Z")).body)
    after = answer.occurrence
    assert (after.cancelled_by and after.cancelled_by.name, after.cancel_reason) == ("Olle Lind", "wrong file")
    assert after.cancel_asked_at is not None
    asked = {"cancel_asked_at", "cancelled_by", "cancel_reason", "version"}
    assert after.model_dump(exclude=asked) == before.model_dump(exclude=asked)
    assert after.version == before.version + 1
    (notice,) = jobs.connection.notifies(timeout=2, stop_after=1)
    assert notice.payload == "cancel", "the Workers hear of it at once"
    jobs.connection.execute("unlisten *")
    entry = (await list_audit(jobs.service, jobs.desk.actor("s.audit"), None, 1)).entries[0]
    assert (entry.action, entry.subject, entry.outcome) == ("cancel-occurrence", found, "done")
    assert entry.detail == {"occurrence": after.name, "schedule": NIGHTLY, "state": state, "reason": "wrong file"}
    hint = jobs.connection.execute("select tenant, topic, queue, ref from jobs.hints").fetchone()
    assert hint == ("acme", "schedule", NIGHTLY, NIGHTLY)


@CANCELLING
async def test_a_second_cancel_says_who_asked_first_and_a_repeated_key_gets_the_first_answer(
    jobs: ScheduleDesk,
) -> None:
    found = jobs.occurrence(NIGHTLY, START)
    request = once(f"/{found}")
    first = await cancelled(jobs, found, request=request)
    assert (await cancelled(jobs, found, request=request)).replayed
    order = CancelOrder(reason="me too")
    second = await cancel(jobs.service, jobs.operator("o.two"), found, order, once(f"/{found}"))
    assert second.body["occurrence"] == first.body["occurrence"], "nothing changed, and it says who asked first"
    assert second.body["occurrence"]["cancelled_by"] == {"id": "o.lind", "name": "Olle Lind"}
    assert [each for each in jobs.desk.audited() if each[1] == "cancel-occurrence"] == [
        ("o.lind", "cancel-occurrence", "done")
    ]


@CANCELLING
@pytest.mark.parametrize(
    ("state", "columns", "how"),
    [
        ("completed", {}, "was completed at 2026-10-25 00:30:09 UTC: there is nothing left to cancel."),
        ("dead-letter", {}, "became a dead letter at 2026-10-25 00:30:09 UTC (failed)"),
        (
            "dead-letter",
            {"cause": "cancelled", "cancel_asked_at": START, "cancelled_by": "o.lind", "cancel_reason": "x"},
            "was cancelled at 2026-10-25 00:30:09 UTC as Olle Lind asked",
        ),
    ],
    ids=["completed", "failed", "cancelled"],
)
async def test_what_has_ended_cannot_be_cancelled_and_the_refusal_says_how_it_ended(
    jobs: ScheduleDesk, state: str, columns: dict[str, Any], how: str
) -> None:
    found = jobs.occurrence(NIGHTLY, START, state, **columns)
    refusal = await refused_with(ErrorCode.OCCURRENCE_ENDED, cancelled(jobs, found))
    assert how in refusal.detail
    assert (refusal.extra["state"], refusal.extra["cause"]) == (
        state,
        None if state == "completed" else DeadCause(columns.get("cause", "failed")),
    )
    assert jobs.desk.audited()[-1] == ("o.lind", "cancel-occurrence", "refused")
    assert jobs.one("select version from jobs.occurrences") == 1


@CANCELLING
async def test_cancelling_compares_after_it_has_the_lock(jobs: ScheduleDesk, owner_database: Any) -> None:
    found = jobs.occurrence(NIGHTLY, START, "processing")
    async with owner_database.transaction("acme") as transaction:
        await transaction.connection.execute(
            "update jobs.occurrences set state = 'completed', ended_at = jobs.now(), holder = null, taken_at = null,"
            " expires_at = null"
        )
        asking = asyncio.create_task(cancelled(jobs, found))
        async with asyncio.timeout(10):
            while not jobs.one("select count(*) from pg_stat_activity where wait_event_type = 'Lock'"):  # noqa: ASYNC110  # the database is what is seen
                await asyncio.sleep(0.01)
        assert not asking.done()
    await refused_with(ErrorCode.OCCURRENCE_ENDED, asking)
    assert jobs.one("select cancel_asked_at from jobs.occurrences") is None


@WALL
async def test_a_foreign_occurrence_answers_as_an_unknown_one(jobs: ScheduleDesk) -> None:
    theirs = jobs.occurrence(NIGHTLY, START, tenant="globex")
    jobs.items(theirs, FAILED)
    actor = jobs.desk.actor("o.lind")
    for named in (
        theirs,
        f"{NIGHTLY}@2026-10-25T00:30:00Z",
        str(uuid.uuid4()),
        f"{NIGHTLY}@2026-10-25",
        theirs.upper(),
        f"{NIGHTLY}@0001-01-01T00:00:00Z",
        f"{NIGHTLY}@9999-12-31T23:59:59.999999Z",
    ):
        for asked in (
            read_occurrence(jobs.service, actor, named),
            list_items(jobs.service, actor, named, None, 5),
            list_items(jobs.service, actor, named, (theirs, 0, 0), 5),
            cancelled(jobs, named),
        ):
            refusal = await refused_with(ErrorCode.NOT_FOUND, asked)
            assert refusal.detail.startswith(f"There is no occurrence '{named}'.")
            assert ("with Z or an offset" in refusal.detail) is named.endswith("@2026-10-25")
    assert await walked(jobs) == []
    assert len(await walked(jobs, person="g.fin")) == 1
    assert jobs.one("select cancel_asked_at from jobs.occurrences") is None


async def test_reading_and_cancelling_need_their_permissions(jobs: ScheduleDesk) -> None:
    found = jobs.occurrence(NIGHTLY, START)
    for person in ("m.ito", "o.lind", "s.audit"):
        await read_occurrence(jobs.service, jobs.desk.actor(person), found)
        await list_items(jobs.service, jobs.desk.actor(person), found, None, 5)
        assert len(await walked(jobs, person=person)) == 1
    for person in ("s.bell", "p.push", "a.admin"):
        actor = jobs.desk.actor(person)
        await refused_with(ErrorCode.PERMISSION_MISSING, read_occurrence(jobs.service, actor, found))
        await refused_with(ErrorCode.PERMISSION_MISSING, list_items(jobs.service, actor, found, None, 5))
        await refused_with(ErrorCode.PERMISSION_MISSING, walked(jobs, person=person))
    for person in ("m.ito", "s.audit", "s.bell", "p.push", "a.admin"):
        await refused_with(ErrorCode.PERMISSION_MISSING, cancelled(jobs, found, person=person))
        assert jobs.desk.audited()[-1] == (person, "cancel-occurrence", "refused")
    assert jobs.one("select cancel_asked_at from jobs.occurrences") is None
