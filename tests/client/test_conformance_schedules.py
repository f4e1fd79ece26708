"""Schedules, occurrences and Workers of the fake service mean what those of the real one mean: both run every test."""

from __future__ import annotations

from collections.abc import Awaitable
from datetime import timedelta

import pytest

from jobconsole.client import occurrences, schedules
from jobconsole.client.audit import audit
from jobconsole.client.errors import ServiceRefused
from jobconsole.client.queues import new_key
from jobconsole.client.service import Service
from jobconsole.client.workers import workers
from jobcontract.occurrence_names import occurrence_name
from jobcontract.states import (
    AttemptEnding,
    DeadCause,
    OccurrenceState,
    OutcomeKind,
    ScheduleStanding,
    ScheduleType,
    WorkerStanding,
)
from tests.client.schedule_stage import (
    BY_HAND,
    HOURLY,
    MINUTELY,
    FakeScheduleStage,
    ScheduleStage,
    real_schedule_stage,
)
from tests.client.stage import AUDITOR, FIRST, OPERATOR, PUSHER

SCHEDULED, PROCESSING = OccurrenceState.SCHEDULED, OccurrenceState.PROCESSING
COMPLETED, DEAD = OccurrenceState.COMPLETED, OccurrenceState.DEAD_LETTER
DONE, REFUSED, FAILED, UNCERTAIN = OutcomeKind.DONE, OutcomeKind.REFUSED, OutcomeKind.FAILED, OutcomeKind.UNCERTAIN
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
NOWHERE = "00000000-0000-4000-8000-000000000000"
CANCELLING = pytest.mark.requirement("observe-job-cancellation")


@pytest.fixture(params=["fake", "real"])
def stage(request: pytest.FixtureRequest) -> ScheduleStage:
    """The service under comparison; the real one only where it is asked for, it needs a database."""
    if request.param == "fake":
        return FakeScheduleStage()
    return real_schedule_stage(request.getfixturevalue("database"), request.getfixturevalue("people"))


async def refused(call: Awaitable[object]) -> ServiceRefused:
    """With what the call is refused."""
    with pytest.raises(ServiceRefused) as caught:
        await call
    assert caught.value.sentence
    return caught.value


async def names(service: Service, limit: int = 2, **asked: object) -> list[str]:
    """Names of a whole listing, through its pages."""
    rows = occurrences.every_occurrence(service, limit=limit, **asked)  # type: ignore[arg-type]  # as they are written
    return [row.name async for row in rows]


async def test_schedules_come_by_id_in_pages_each_with_how_it_is_doing(stage: ScheduleStage) -> None:
    now, service = stage.now, stage.sign_in(OPERATOR)
    quiet = {each.id: each async for each in schedules.every_schedule(service)}
    assert list(quiet) == sorted((BY_HAND, HOURLY, MINUTELY))
    assert [each.standing for each in quiet.values()] == [
        ScheduleStanding.MANUAL,
        ScheduleStanding.ON_TIME,
        ScheduleStanding.ON_TIME,
    ]
    done = stage.plan(MINUTELY, now - 5 * MINUTE, COMPLETED)
    stage.plan(MINUTELY, now - 4 * MINUTE, DEAD)
    stage.plan(MINUTELY, now - 3 * MINUTE)
    last = stage.plan(MINUTELY, now - 2 * MINUTE)
    stage.plan(MINUTELY, now + 5 * MINUTE)
    stage.plan(HOURLY, now - HOUR, attempts=1)
    first = await schedules.schedules(service, limit=2)
    rest = await schedules.schedules(service, cursor=first.next, limit=2)
    assert (len(first.schedules), rest.next, first.total, first.late, first.parked) == (2, None, 3, 1, 0)
    by_hand, hourly, minutely = (*first.schedules, *rest.schedules)
    assert (minutely.standing, minutely.waiting, minutely.dead) == (ScheduleStanding.LATE, 2, 1)
    recent = [(each.id, each.state) for each in minutely.recent]
    assert (recent[0], recent[-1], len(recent)) == ((done, COMPLETED), (last, SCHEDULED), 4)
    assert hourly.standing is ScheduleStanding.RETRYING
    assert (by_hand.type, by_hand.rhythm, by_hand.next_at) == (ScheduleType.MANUAL, None, None)
    assert all(each.standing_words.endswith(".") for each in (by_hand, hourly, minutely))
    assert (await refused(schedules.schedules(service, cursor="nonsense"))).code == "cursor-invalid"
    stage.plan(HOURLY, now, PROCESSING)
    detail = await schedules.schedule(service, HOURLY)
    assert (detail.schedule.standing, len(detail.next)) == (ScheduleStanding.RETRYING, 5)
    assert detail.next[0].at == detail.schedule.next_at
    assert (await refused(schedules.schedule(service, "t.never"))).code == "not-found"


async def test_the_next_instants_are_those_of_the_rhythm(stage: ScheduleStage) -> None:
    service = stage.sign_in(AUDITOR)
    after = stage.now.replace(second=30)
    found = await schedules.next_instants(service, MINUTELY, after, 3)
    start = after.replace(second=0)
    assert [each.at for each in found.instants] == [start + (number + 1) * MINUTE for number in range(3)]
    assert {(each.local, each.runs, each.words) for each in found.instants} == {(None, True, "")}
    assert (found.after, found.zone, found.words) == (after, "UTC", "")
    exactly = await schedules.next_instants(service, MINUTELY, start, 1)
    assert exactly.instants[0].at == start + MINUTE, "strictly later"
    assert len((await schedules.next_instants(service, HOURLY)).instants) == 5
    by_hand = await schedules.next_instants(service, BY_HAND)
    assert by_hand.instants == ()
    assert by_hand.words.endswith(".")
    for count in (0, 101):
        call = schedules.next_instants(service, MINUTELY, None, count)
        assert (await refused(call)).code == "invalid-request", count
    far = schedules.next_instants(service, MINUTELY, after.replace(year=2900))
    assert (await refused(far)).code == "invalid-request"
    assert (await refused(schedules.next_instants(service, "t.never"))).code == "not-found"


async def test_occurrences_are_listed_newest_first_by_schedule_state_and_range(stage: ScheduleStage) -> None:
    now, service = stage.now, stage.sign_in(FIRST)
    cycle = (SCHEDULED, PROCESSING, COMPLETED, DEAD)
    for number in range(4):
        for schedule in (MINUTELY, HOURLY):
            stage.plan(schedule, now - number * HOUR, cycle[number])
    every = await names(service)
    assert len(every) == 8
    instants = [name.rpartition("@")[2] for name in every]
    assert instants == sorted(instants, reverse=True)
    assert await names(service, schedule=HOURLY) == [occurrence_name(HOURLY, now - at * HOUR) for at in range(4)]
    assert await names(service, schedule=HOURLY, states=(DEAD, PROCESSING)) == [
        occurrence_name(HOURLY, now - at * HOUR) for at in (1, 3)
    ]
    between = await names(service, schedule=MINUTELY, since=now - 2 * HOUR, until=now)
    assert between == [occurrence_name(MINUTELY, now - at * HOUR) for at in (1, 2)]
    assert len(await names(service, states=(COMPLETED,))) == 2
    assert await names(service, schedule="t.never") == []
    page = await occurrences.occurrences(service, limit=3)
    other = occurrences.occurrences(service, schedule=HOURLY, cursor=page.next, limit=3)
    assert (await refused(other)).code == "cursor-invalid"


async def test_an_occurrence_is_found_by_id_and_by_name(stage: ScheduleStage) -> None:
    now, service = stage.now, stage.sign_in(AUDITOR)
    identifier = stage.plan(MINUTELY, now - MINUTE, PROCESSING)
    stage.past(identifier)
    found = await occurrences.occurrence(service, identifier)
    name = occurrence_name(MINUTELY, now - MINUTE)
    for text in (name, name.replace("Z", "+00:00")):
        assert (await occurrences.occurrence(service, text)).occurrence.id == identifier, text
    row = found.occurrence
    assert (row.name, row.state, row.attempts, row.attempts_most) == (name, PROCESSING, 1, 3)
    assert row.lease is not None
    assert (row.lease.fence, row.cause, row.cancel_asked_at) == (1, None, None)
    assert [(each.fence, each.ending, each.host) for each in found.attempts] == [
        (2, AttemptEnding.RETRY, "a7"),
        (1, AttemptEnding.LOST, "a7"),
    ]
    assert [(each.fence, each.what) for each in found.refused] == [(1, "completion")]
    for text in (NOWHERE, occurrence_name(HOURLY, now - MINUTE), "t.minutely@yesterday"):
        assert (await refused(occurrences.occurrence(service, text))).code == "not-found", text


async def test_items_come_failed_ones_first_in_pages(stage: ScheduleStage) -> None:
    now, service = stage.now, stage.sign_in(OPERATOR)
    identifier, other = stage.plan(MINUTELY, now, DEAD), stage.plan(HOURLY, now, DEAD)
    stage.items(identifier, *[DONE, FAILED, None, UNCERTAIN, REFUSED] * 12)
    stage.items(other, FAILED, FAILED)
    found = await occurrences.occurrence(service, identifier)
    rows, cursor = list(found.items), found.items_next
    assert len(rows) == 50
    while cursor is not None:
        page = await occurrences.occurrence_items(service, identifier, cursor, 7)
        rows += page.items
        cursor = page.next
    kinds = [{FAILED: 0, UNCERTAIN: 0, None: 1}.get(each.outcome, 2) for each in rows]
    assert (len(rows), kinds) == (60, sorted(kinds))
    for kind in range(3):
        numbers = [each.number for each, found_kind in zip(rows, kinds, strict=True) if found_kind == kind]
        assert numbers == sorted(numbers)
    for wrong in (
        occurrences.occurrence_items(service, other, found.items_next),
        occurrences.occurrence_items(service, other, "x"),
    ):
        assert (await refused(wrong)).code == "cursor-invalid"


async def test_a_range_that_ends_before_it_begins_is_refused(stage: ScheduleStage) -> None:
    now, service = stage.now, stage.sign_in(OPERATOR)
    asked = occurrences.occurrences(service, since=now, until=now - MINUTE)
    refusal = await refused(asked)
    assert refusal.code == "invalid-request"
    assert refusal.sentence.startswith("since, ")
    assert "is later than until, " in refusal.sentence
    assert (await occurrences.occurrences(service, since=now, until=now)).occurrences == ()


async def test_an_occurrence_counts_the_items_of_a_run_that_goes_on(stage: ScheduleStage) -> None:
    service = stage.sign_in(OPERATOR)
    identifier = stage.plan(MINUTELY, stage.now, PROCESSING)
    stage.items(identifier, DONE, FAILED, None, UNCERTAIN, REFUSED, DONE)
    counts = (await occurrences.occurrence(service, identifier)).occurrence.items
    assert (counts.done, counts.refused, counts.failed, counts.unfinished) == (2, 1, 2, 1)
    (listed,) = (await occurrences.occurrences(service)).occurrences
    assert listed.items.done == 0  # as the row says
    told = await occurrences.cancel_occurrence(service, identifier, "wrong file", new_key())
    assert told.occurrence.items == counts


@CANCELLING
async def test_cancelling_asks_once_and_what_has_ended_is_refused(stage: ScheduleStage) -> None:
    now, service, key = stage.now, stage.sign_in(OPERATOR), new_key()
    identifier = stage.plan(MINUTELY, now, PROCESSING)
    name = occurrence_name(MINUTELY, now)
    first = (await occurrences.cancel_occurrence(service, identifier, "wrong file", key)).occurrence
    assert (first.state, first.cancel_reason) == (PROCESSING, "wrong file")
    assert (first.cancelled_by and first.cancelled_by.name) == "Olle Lind"
    assert first.cancel_asked_at is not None
    again = (await occurrences.cancel_occurrence(service, identifier, "wrong file", key)).occurrence
    second = (await occurrences.cancel_occurrence(service, name, "again", new_key())).occurrence
    assert again == second == first
    reused = occurrences.cancel_occurrence(service, identifier, "another", key)
    assert (await refused(reused)).code == "idempotency-key-reused"
    for state, cause in ((COMPLETED, None), (DEAD, DeadCause.FAILED)):
        ended = stage.plan(HOURLY, now - (HOUR if cause else MINUTE), state)
        refusal = await refused(occurrences.cancel_occurrence(service, ended, "late", new_key()))
        assert (refusal.code, refusal.extra["state"], refusal.extra["cause"]) == ("occurrence-ended", state, cause)
        assert ("dead letter" if cause else "completed") in refusal.sentence
    unknown = occurrences.cancel_occurrence(service, NOWHERE, "x", new_key())
    assert (await refused(unknown)).code == "not-found"
    for part in (FIRST, AUDITOR, PUSHER):
        call = occurrences.cancel_occurrence(stage.sign_in(part), identifier, "x", new_key())
        assert (await refused(call)).code == "permission-missing", part
    entries = (await audit(stage.sign_in(AUDITOR))).entries
    done = [each for each in entries if each.action == "cancel-occurrence" and each.outcome == "done"]
    assert {each.person and each.person.id for each in done} == {"o.lind"}


async def test_workers_are_listed_and_who_may_look(stage: ScheduleStage) -> None:
    stage.worker("a7")
    identifier = stage.plan(MINUTELY, stage.now)
    for part in (FIRST, OPERATOR, AUDITOR):
        service = stage.sign_in(part)
        (worker,) = (await workers(service)).workers
        assert (worker.host, worker.standing, worker.slots, worker.processing) == ("a7", WorkerStanding.LIVE, 16, 0)
        await occurrences.occurrence(service, identifier)
    pusher = stage.sign_in(PUSHER)
    for call in (
        workers(pusher),
        schedules.schedules(pusher),
        schedules.schedule(pusher, MINUTELY),
        schedules.next_instants(pusher, MINUTELY),
        occurrences.occurrences(pusher),
        occurrences.occurrence(pusher, identifier),
        occurrences.occurrence_items(pusher, identifier),
    ):
        assert (await refused(call)).code == "permission-missing"
