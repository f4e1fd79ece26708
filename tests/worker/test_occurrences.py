"""Occurrences as leased work: which are claimed, that each is run and its end written, what becomes of lost Workers."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from structlog.testing import capture_logs

from jobcontract.errors import ErrorCode, Refusal
from jobservice.store import occurrence_leases, occurrence_stuck
from jobservice.store.database import Database
from jobservice.store.occurrence_leases import TakenOccurrence
from jobservice.worker import occurrence_lanes, occurrences
from jobservice.worker.leased_work import RowLease, Why
from jobservice.worker.occurrences import runnable_of
from jobservice.worker.run_ending import Ending, RunLost
from tests.conftest import Clock, People
from tests.occurrence_rows import OccurrenceRows
from tests.worker.occurrences_stage import SMALL, Stage
from tests.worker.runs_stage import JOB


@pytest.fixture
async def stage(people: People, worker_database: Database, clock: Clock) -> AsyncIterator[Stage]:
    """The stage."""
    stage = Stage(worker_database, OccurrenceRows(people.connection), clock)
    yield stage
    await stage.close()


async def test_a_claimed_occurrence_is_run_and_its_end_written(stage: Stage) -> None:
    occurrence, work, holder = stage.rows.add(), stage.work(), stage.rows.worker()
    (lease,) = await stage.take(work, holder)
    await work.carry(lease)
    row, (attempt,) = stage.rows.one(occurrence), stage.rows.attempts(occurrence)
    assert (row["state"], row["done"], lease.over) == ("completed", 1, True)
    assert row["started_at"] == attempt["started_at"] == stage.rows.reached()["last_started_at"]
    assert attempt["taken_at"] <= attempt["started_at"] <= attempt["ended_at"]
    assert await stage.take(work, holder) == []


@pytest.mark.requirement("RETRY-01", "bound-job-retries")
async def test_one_that_kills_its_worker_starts_as_often_as_it_has_attempts(stage: Stage) -> None:
    """Each start is a Worker that dies: nobody ever carries the lease on. Ten others wait behind it."""
    killer = stage.rows.add("s.one", due=-60)
    others = [stage.rows.add("s.two", lock=f"lock {number}") for number in range(10)]
    for number in range(3):
        work, holder = stage.work(slots=1), stage.rows.worker(f"host-{number}")
        assert [lease.grant.id for lease in await stage.take(work, holder)] == [killer]
        stage.clock.advance(31)
    work, holder = stage.work(), stage.rows.worker()
    taken = await stage.take(work, holder)
    taken += await stage.take(work, holder)
    assert {lease.grant.id for lease in taken} == set(others), "no fourth start"
    await asyncio.gather(*(work.carry(lease) for lease in taken))
    assert {stage.rows.one(each)["state"] for each in others} == {"completed"}
    row = stage.rows.one(killer)
    assert (row["state"], row["cause"], row["attempts"], row["fence"]) == ("dead-letter", "worker-lost", 3, 3)
    assert row["error"].startswith("Worker was lost 3 times, at last on host-2: ")
    assert [each["ending"] for each in stage.rows.attempts(killer)] == ["lost"] * 3


@pytest.mark.requirement("RETRY-01")
async def test_one_cancelled_after_its_worker_died_does_not_start_again(stage: Stage) -> None:
    killer = stage.rows.add()
    assert await stage.take(stage.work(), stage.rows.worker())
    stage.rows.cancel(killer)
    stage.clock.advance(31)
    assert await stage.take(stage.work(), stage.rows.worker()) == []
    row = stage.rows.one(killer)
    assert (row["state"], row["cause"], row["error"]) == (
        "dead-letter",
        "cancelled",
        "Cancelled before its next attempt.",
    )
    assert [each["ending"] for each in stage.rows.attempts(killer)] == ["lost"]


@pytest.mark.requirement("LEASE-01", "renew-only-owned-leases")
async def test_work_that_outlasts_its_lease_is_started_once(stage: Stage) -> None:
    occurrence, first, second = stage.rows.add(), stage.work(), stage.work()
    holder, other = stage.rows.worker("w-1"), stage.rows.worker("w-2")
    (lease,) = await stage.take(first, holder)
    for _ in range(5):
        stage.clock.advance(20)
        renewed = await first.renew(holder, {occurrence: 1})
        assert renewed.kept == {occurrence}
        assert await stage.take(second, other) == []
    await first.carry(lease)
    row = stage.rows.one(occurrence)
    assert (stage.runner.starts["s.one"], row["state"], row["attempts"], row["fence"]) == (1, "completed", 1, 1)
    assert [(each["ending"], each["renewals"]) for each in stage.rows.attempts(occurrence)] == [("completed", 5)]


@pytest.mark.requirement("LEASE-01", "restrict-completion-by-fencing-value")
async def test_a_worker_that_wakes_behind_its_lease_is_refused(stage: Stage) -> None:
    occurrence, frozen, waking = stage.rows.add(), stage.work(), stage.work()
    holder, other = stage.rows.worker("w-1"), stage.rows.worker("w-2")
    (old,) = await stage.take(frozen, holder)
    stage.clock.advance(31)
    (new,) = await stage.take(waking, other)
    assert new.grant.fence > old.grant.fence
    assert (await frozen.renew(holder, {occurrence: old.grant.fence})).kept == frozenset()
    await frozen.carry(old)
    assert stage.rows.one(occurrence)["state"] == "processing", "its completion changed nothing"
    await waking.carry(new)
    assert stage.rows.refused() == [(occurrence, 1, "completion")]
    assert [each["ending"] for each in stage.rows.attempts(occurrence)] == ["lost", "completed"]


@pytest.mark.requirement("treat-unavailable-schedule-stores-as-outages")
async def test_after_an_outage_leases_that_ran_out_are_nobodys_fault(stage: Stage) -> None:
    occurrence, work, holder = stage.rows.add(), stage.work(), stage.rows.worker()
    (lease,) = await stage.take(work, holder)
    stage.clock.advance(31)
    stage.settled = False
    assert await stage.take(stage.work(), stage.rows.worker()) == []
    assert await work.give_back(lease), "its holder gives it back, uncounted"
    assert stage.rows.one(occurrence)["attempts"] == 0
    stage.settled = True
    (lease,) = await stage.take(work, holder)
    stage.clock.advance(31)
    assert not await work.give_back(lease), "a holder that was frozen does not get off uncounted"
    assert len(await stage.take(stage.work(), stage.rows.worker())) == 1
    assert stage.rows.one(occurrence)["attempts"] == 2


@pytest.mark.requirement("scope-occurrences-and-leases-by-tenant")
async def test_one_tenants_storm_of_slow_jobs_delays_nobody_else(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(occurrence_lanes, "REMEMBER", 0.0)  # each look is at what is there
    for number in range(40):
        stage.rows.add("s.one", lock=f"lock {number}", due=-60)
    work, holder = stage.work(slots=8), stage.rows.worker()
    storm = await stage.take(work, holder)
    assert Counter(lease.grant.tenant for lease in storm) == {"acme": 6}
    assert await stage.take(work, holder, 2) == [], "the last quarter is for others"
    stage.rows.add("s.one", tenant="globex")
    (lease,) = await stage.take(work, holder, 2)
    assert lease.grant.tenant == "globex"
    await asyncio.gather(work.carry(lease), *(work.carry(each) for each in storm[:3]))
    stage.rows.add("s.two", tenant="globex"), stage.rows.add("s.three", tenant="globex")
    assert Counter(each.grant.tenant for each in await stage.take(work, holder, 5)) == {"globex": 2, "acme": 1}


async def test_small_ones_take_no_slot_and_are_claimed_together(stage: Stage) -> None:
    large = replace(JOB, id="s.one", lock="s.one")
    for number in range(150):
        stage.rows.add("s.small", lock=f"lock {number}")
    stage.rows.add("s.one")
    work, holder = stage.work(large, SMALL, slots=1), stage.rows.worker()
    leases = await stage.take(work, holder)
    assert Counter(lease.grant.content.schedule for lease in leases) == {"s.small": 150, "s.one": 1}  # type: ignore[attr-defined]  # what take read


@pytest.mark.parametrize(
    ("due", "soon"),
    [([], None), ([100.0], 100.0), ([0.0, 0.0, 0.0], 0.0)],
    ids=["nothing", "one to come", "more than was claimed"],
)
async def test_it_says_when_to_look_again(stage: Stage, due: list[float], soon: float | None) -> None:
    for number, seconds in enumerate(due):
        stage.rows.add(due=seconds, lock=f"lock {number}")
    work, holder = stage.work(slots=1 if len(due) < 3 else 4), stage.rows.worker()
    taken = await work.take(holder, work.most, {})
    assert taken.next_in == (None if soon is None else pytest.approx(soon, abs=2))


async def test_what_breaks_the_runner_ends_the_attempt_and_counts(stage: Stage) -> None:
    occurrence, work, holder = stage.rows.add(), stage.work(jitter=lambda: 0.0), stage.rows.worker()

    async def broken(_lease: RowLease, _taken: TakenOccurrence) -> Ending:
        raise RuntimeError("a secret")

    stage.runner.behaves = broken
    for attempt in range(1, 4):
        (lease,) = await stage.take(work, holder)
        with capture_logs() as logs:
            await work.carry(lease)
        assert [line["event"] for line in logs] == ["run-failed"]
        row = stage.rows.one(occurrence)
        assert (row["attempts"], row["state"]) == (attempt, "scheduled" if attempt < 3 else "dead-letter")
        stage.clock.advance(100)
    assert (row["cause"], "secret" in row["error"]) == ("failed", False)


@pytest.mark.parametrize(
    "error", [RunLost("lost"), Refusal(ErrorCode.DATABASE_AWAY, "Away."), asyncio.CancelledError()]
)
async def test_what_is_nobodys_fault_is_not_settled(stage: Stage, error: BaseException) -> None:
    occurrence, work, holder = stage.rows.add(), stage.work(), stage.rows.worker()

    async def ended(_lease: RowLease, _taken: TakenOccurrence) -> Ending:
        raise error

    stage.runner.behaves = ended
    (lease,) = await stage.take(work, holder)
    lease.why = Why.STOPPING
    task = asyncio.create_task(work.carry(lease))
    await asyncio.wait((task,))
    assert not lease.over
    assert (task.cancelled() or task.exception()) if not isinstance(error, RunLost) else task.exception() is None
    assert await work.give_back(lease)
    row, (attempt,) = stage.rows.one(occurrence), stage.rows.attempts(occurrence)
    assert (row["state"], row["attempts"], attempt["ending"]) == ("scheduled", 0, "handed-back")
    assert attempt["error"] == "Handed back: its Worker stopped."


@pytest.mark.requirement("bound-job-retries")
async def test_what_loses_its_connection_again_and_again_comes_to_an_end(stage: Stage) -> None:
    """An outage is nobody's fault; what is broken off each time it is begun breaks itself off."""
    occurrence, work, holder = stage.rows.add(), stage.work(jitter=lambda: 0.0), stage.rows.worker()

    async def away(_lease: RowLease, _taken: TakenOccurrence) -> Ending:
        raise Refusal(ErrorCode.DATABASE_AWAY, "Away.")

    stage.runner.behaves = away
    for _ in range(occurrences.BROKEN_OFF_MOST):
        (lease,) = await stage.take(work, holder)
        with pytest.raises(Refusal):
            await work.carry(lease)
        assert await work.give_back(lease)
    assert stage.rows.one(occurrence)["attempts"] == 0
    for attempt in (1, 2, 3):
        (lease,) = await stage.take(work, holder)
        await work.carry(lease)
        assert stage.rows.one(occurrence)["attempts"] == attempt
        stage.clock.advance(100)
    row = stage.rows.one(occurrence)
    assert (row["state"], row["cause"]) == ("dead-letter", "failed")
    assert "connection to the database was lost" in row["error"]
    stage.rows.connection.execute(
        "update jobs.occurrences set state = 'scheduled', ended_at = null, cause = null, attempts = 0, replays = 1,"
        " fence_base = fence"
    )
    (lease,) = await stage.take(work, holder)
    with pytest.raises(Refusal):  # a replay is handed back uncounted as often again
        await work.carry(lease)


async def test_what_waits_and_was_cancelled_ends_unstarted(stage: Stage) -> None:
    occurrence, later = stage.rows.add(), stage.rows.add("s.two", due=500)
    stage.rows.cancel(occurrence)
    stage.rows.cancel(later)
    assert await stage.take(stage.work(), stage.rows.worker()) == []
    for each in (occurrence, later):
        row = stage.rows.one(each)
        assert (row["state"], row["cause"], row["attempts"]) == ("dead-letter", "cancelled", 0)
        assert row["error"] == "Cancelled before it started."
    assert stage.runner.starts == {}


async def test_what_waits_and_was_cancelled_ends_also_where_every_slot_is_taken(stage: Stage) -> None:
    stage.rows.add(due=-10)
    waits, work, holder = stage.rows.add("s.two"), stage.work(slots=1), stage.rows.worker()
    (lease,) = await stage.take(work, holder)
    stage.rows.cancel(waits)
    assert await work.cancelled(holder, {lease.grant.id: lease.grant.fence}) == frozenset()
    assert (stage.rows.one(waits)["state"], stage.rows.one(waits)["cause"]) == ("dead-letter", "cancelled")


@pytest.mark.requirement("treat-unavailable-schedule-stores-as-outages")
@pytest.mark.parametrize("breaks", ["unknown_waiting", "cancelled_waiting", "lapsed"])
async def test_what_was_claimed_is_begun_although_the_rest_of_a_look_breaks_off(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, breaks: str
) -> None:
    """Else nobody would run it, its lease would run out, and its slot stay taken."""

    async def away(*_given: Any, **_options: Any) -> Any:
        raise Refusal(ErrorCode.DATABASE_AWAY, "Away.")

    stage.rows.add("s.two")
    await stage.take(stage.work(), stage.rows.worker())
    stage.clock.advance(31)
    occurrence, cancelled = stage.rows.add("s.one"), stage.rows.add("s.three", due=50)
    stage.rows.cancel(cancelled)
    work, holder = stage.work(), stage.rows.worker()
    with monkeypatch.context() as patch:
        patch.setattr(occurrence_stuck if breaks.endswith("waiting") else occurrence_leases, breaks, away)
        assert occurrence in {lease.grant.id for lease in await stage.take(work, holder)}
        patch.setattr(occurrence_leases, "look", away)
        with pytest.raises(Refusal):
            await stage.take(work, holder)


async def test_what_nobody_here_runs_ends_after_a_while(stage: Stage) -> None:
    old, young = stage.rows.add("s.gone"), stage.rows.add("s.gone", due=600)
    stage.clock.advance(700)
    lapsed = stage.rows.add("s.one")
    await stage.take(stage.work(), stage.rows.worker())
    stage.clock.advance(100)
    await stage.take(stage.work(replace(JOB, id="s.two")), stage.rows.worker())
    states = [stage.rows.one(each)["state"] for each in (old, young, lapsed)]
    assert states == ["dead-letter", "scheduled", "processing"], "a newer Worker may know them"
    assert stage.rows.one(old)["cause"] == "unrunnable"
    assert "s.gone" in stage.rows.one(old)["error"]
    stage.clock.advance(700)
    await stage.take(stage.work(replace(JOB, id="s.two")), stage.rows.worker())
    assert [stage.rows.one(each)["cause"] for each in (young, lapsed)] == ["unrunnable"] * 2
    assert [each["ending"] for each in stage.rows.attempts(lapsed)] == ["lost"]


async def test_what_was_made_up_long_past_its_instant_waits_for_a_newer_worker_like_any(stage: Stage) -> None:
    """It is due at its instant, and can be known only since it was made."""
    made_up = stage.rows.add("s.gone", due=-90_000)
    await stage.take(stage.work(), stage.rows.worker())
    assert stage.rows.one(made_up)["state"] == "scheduled"
    stage.clock.advance(610)
    await stage.take(stage.work(), stage.rows.worker())
    row = stage.rows.one(made_up)
    assert (row["state"], row["cause"]) == ("dead-letter", "unrunnable")
    assert row["error"].endswith("nobody took it for 10 minutes.")


def test_what_a_worker_runs_is_said_by_its_records() -> None:
    schedules = (
        replace(JOB, id="all"),
        replace(JOB, id="some", tenants=frozenset({"acme", "globex"})),
        replace(JOB, id="elsewhere", runs_where=frozenset({"other"})),
        replace(JOB, id="here", runs_where=frozenset({"test"}), tenants=frozenset({"acme"})),
    )
    runnable = runnable_of({each.id: each for each in schedules}, "test")
    assert runnable.everywhere == ("all",)
    assert runnable.somewhere == (("acme", "some"), ("globex", "some"), ("acme", "here"))


async def test_an_attempt_over_its_bound_is_written_from_the_watchdogs_side(stage: Stage) -> None:
    occurrence, work, holder = stage.rows.add(), stage.work(jitter=lambda: 0.0), stage.rows.worker()
    (lease,) = await stage.take(work, holder)
    await work.overrun(stage.database, lease, "It blocked its process.")
    row, (attempt,) = stage.rows.one(occurrence), stage.rows.attempts(occurrence)
    assert (row["state"], row["error"], lease.over) == ("scheduled", "It blocked its process.", True)
    assert (attempt["ending"], attempt["error"]) == ("over-bound", "It blocked its process.")
    assert stage.hints()[0] == ("acme", "schedule", "s.one")


async def test_a_few_schedules_are_told_one_by_one_and_many_at_once(stage: Stage) -> None:
    ids = [f"s.{number}" for number in range(5)]
    for each in ids:
        stage.rows.add(each)
    stage.rows.add("s.1", tenant="globex"), stage.rows.add("s.2", tenant="globex")
    work, holder = stage.work(*(replace(JOB, id=each, lock=each) for each in ids)), stage.rows.worker()
    await stage.take(work, holder)
    await stage.close()
    assert stage.hints() == [
        ("acme", "schedules", "schedules"),
        ("globex", "schedule", "s.1"),
        ("globex", "schedule", "s.2"),
    ]


async def test_the_next_of_a_lock_starts_when_the_one_before_it_ended(stage: Stage) -> None:
    """Although it had been due long before what a quick look sees."""
    stage.rows.add("s.one", due=-300, lock="shared"), stage.rows.add("s.two", due=-200, lock="shared")
    work, holder = stage.work(), stage.rows.worker()
    (one,) = await stage.take(work, holder)
    assert await stage.take(work, holder) == []
    await work.carry(one)
    (two,) = await stage.take(work, holder)
    assert two.grant.content.schedule == "s.two"  # type: ignore[attr-defined]  # what take read
