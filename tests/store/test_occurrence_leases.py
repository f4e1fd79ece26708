"""Leases on occurrences in the database: claims, fences, renewals, completions, what comes too late, what runs out."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from datetime import timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest

from jobcontract.states import DeadCause
from jobservice.store import occurrence_leases as store
from jobservice.store import occurrence_stuck
from jobservice.store.database import Database
from jobservice.store.occurrence_leases import LockTaken, Runnable, TakenOccurrence
from tests.conftest import Clock, People
from tests.fakes.waiting import eventually
from tests.occurrence_rows import EVERYTHING, Holder, OccurrenceRows, again, completed

WAITING = b"select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"


@pytest.fixture
def rows(superuser: psycopg.Connection[Any], people: People) -> OccurrenceRows:
    """Occurrences of the test."""
    return OccurrenceRows(people.connection)


@pytest.fixture
def first(worker_database: Database) -> Holder:
    """A Worker."""
    return Holder(worker_database)


@pytest.fixture
def second(worker_database: Database) -> Holder:
    """Another Worker."""
    return Holder(worker_database)


@pytest.mark.requirement("store-execution-leases")
async def test_a_claim_writes_owner_expiry_and_fence(rows: OccurrenceRows, first: Holder) -> None:
    occurrence = rows.add(miss=60)
    (taken,) = await first.take()
    row = rows.one(occurrence)
    assert (taken.id, taken.tenant, taken.schedule, taken.attempts, taken.fence) == (occurrence, "acme", "s.one", 1, 1)
    assert (row["state"], row["holder"], row["fence"], row["attempts"]) == ("processing", first.id, 1, 1)
    assert row["expires_at"] - row["taken_at"] == timedelta(seconds=30)
    assert row["miss_at"] is None  # it started: no misfire policy decides over it any more


@pytest.mark.parametrize(
    "unfit",
    [{"due": 5.0}, {"due": -90.0, "miss": -30.0}, {"schedule": "s.unknown"}, {"cancel": True}],
    ids=["not due", "missed", "not of this Worker", "cancelled"],
)
async def test_what_is_not_to_start_is_left_alone(rows: OccurrenceRows, first: Holder, unfit: dict[str, Any]) -> None:
    cancel = unfit.pop("cancel", False)
    unfit_row = rows.add(**unfit)
    if cancel:
        rows.cancel(unfit_row)
    fit = rows.add(**{**unfit, "schedule": "s.two", "due": 0.0, "miss": None})
    assert [each.id for each in await first.take()] == [fit]


@pytest.mark.requirement("store-execution-leases")
async def test_two_schedules_of_one_lock_never_run_at_once(rows: OccurrenceRows, worker_database: Database) -> None:
    ids = [
        rows.add(schedule, due=-due, lock="shared") for due, schedule in ((1, "s.two"), (3, "s.one"), (2, "s.three"))
    ]
    elsewhere = rows.add("s.one", tenant="globex", lock="shared")
    order: list[UUID] = []
    for _ in range(3):
        takers = [Holder(worker_database) for _ in range(50)]
        found = await asyncio.gather(*(taker.take(tenant="acme") for taker in takers), return_exceptions=True)
        assert all(isinstance(each, list | LockTaken) for each in found)
        held = [
            (taker, each)
            for taker, answer in zip(takers, found, strict=True)
            if isinstance(answer, list)
            for each in answer
        ]
        assert len(held) == 1, "one of a lock, whoever asks"
        (taker, taken) = held[0]
        order.append(taken.id)
        assert await Holder(worker_database).take(tenant="acme") == [], "while it runs, the others wait"
        await taker.settle(completed(taken))
    assert order == [ids[1], ids[2], ids[0]], "the oldest first"
    assert rows.one(elsewhere)["state"] == "scheduled"  # a lock is of one tenant
    assert [each.id for each in await Holder(worker_database).take()] == [elsewhere]


@pytest.mark.requirement("store-execution-leases")
def test_the_index_is_the_lock_whoever_writes(rows: OccurrenceRows, superuser: psycopg.Connection[Any]) -> None:
    ids = [rows.add(lock="shared"), rows.add("s.two", lock="shared")]
    claim = (
        "update jobs.occurrences set state = 'processing', holder = jobs.uuid7(), taken_at = jobs.now(),"
        " expires_at = jobs.now(), fence = fence + 1 where id = %s"
    )
    superuser.execute(claim.encode(), (ids[0],))
    with pytest.raises(psycopg.errors.UniqueViolation, match=store.LOCK):
        superuser.execute(claim.encode(), (ids[1],))


async def test_a_claim_that_meets_another_under_the_lock_is_to_be_tried_again(
    rows: OccurrenceRows, first: Holder, second: Holder, superuser: psycopg.Connection[Any]
) -> None:
    rows.add(due=-1, lock="shared")
    async with first.database.transaction(None) as transaction:
        await store.claim(transaction, first.runnable, EVERYTHING, {"acme": 1}, holder=first.id, lease=30)
        rows.add("s.two", due=-9, lock="shared")  # older, and committed behind the first one's back
        meeting = asyncio.create_task(second.take())
        await eventually(lambda: superuser.execute(WAITING).fetchone() != (0,), what="the other waits for the index")
    with pytest.raises(LockTaken):
        await meeting


@pytest.mark.requirement("renew-only-owned-leases")
@pytest.mark.parametrize("lost", ["expired", "taken over", "of another"])
async def test_a_lease_that_is_not_ours_is_not_renewed(
    rows: OccurrenceRows, first: Holder, second: Holder, clock: Clock, lost: str
) -> None:
    occurrence, kept_one = rows.add(), rows.add("s.two")
    taken = {each.id: each for each in await first.take()}
    holder = second if lost == "of another" else first
    if lost != "of another":
        clock.advance(20)
        await first.renew(taken[kept_one])
        clock.advance(20)
    if lost == "taken over":
        await second.take_over()
    before = rows.one(occurrence)["expires_at"]
    kept = await holder.renew(*taken.values())
    assert [each.id for each in kept] == ([] if lost == "of another" else [kept_one])
    assert rows.one(occurrence)["expires_at"] == before


async def test_a_renewal_extends_says_who_asked_and_when_it_began(
    rows: OccurrenceRows, first: Holder, clock: Clock
) -> None:
    occurrence = rows.add()
    (taken,) = await first.take()
    rows.cancel(occurrence)
    clock.advance(10)
    (kept,) = await first.renew(taken, began_after=2.0)
    row = rows.one(occurrence)
    assert (kept.cancelled, kept.began_at) == (True, row["taken_at"] + timedelta(seconds=2))
    assert (row["started_at"], row["attempt_started_at"], row["renewals"]) == (kept.began_at, kept.began_at, 1)
    assert timedelta(seconds=39) < row["expires_at"] - row["taken_at"] < timedelta(seconds=42)
    assert [each.began_at for each in await first.renew(taken, began_after=2.0)] == [None], "told once"
    async with first.database.transaction(None) as transaction:
        held = {taken.id: taken.fence}
        assert await store.cancelled_held(transaction, held, holder=first.id) == {occurrence}


@pytest.mark.requirement("prevent-duplicate-completion", "restrict-completion-by-fencing-value", "LEASE-01")
async def test_a_stale_completion_is_refused_and_one_is_recorded(
    rows: OccurrenceRows, first: Holder, second: Holder, clock: Clock
) -> None:
    occurrence = rows.add()
    (old,) = await first.take()
    clock.advance(31)
    assert await first.settle(completed(old)) == (), "its lease ran out, and nobody has it yet"
    (new,) = await second.take_over()
    assert (new.fence, new.attempts) == (2, 2)
    assert await first.settle(completed(old)) == ()
    assert [each.id for each in await second.settle(completed(new))] == [occurrence]
    assert await first.settle(completed(old)) == ()
    assert rows.refused() == [(occurrence, 1, "completion")] * 3
    endings = [(each["fence"], each["ending"], each["worker"]) for each in rows.attempts(occurrence)]
    assert endings == [(1, "lost", first.id), (2, "completed", second.id)]
    row = rows.one(occurrence)
    assert (row["state"], row["fence"], row["holder"], row["done"]) == ("completed", 2, None, 1)


@pytest.mark.requirement("restrict-completion-by-fencing-value", "generate-monotonic-fencing-values")
async def test_a_worker_that_took_its_own_lease_over_has_only_the_new_fence(
    rows: OccurrenceRows, first: Holder, clock: Clock
) -> None:
    occurrence = rows.add()
    (old,) = await first.take()
    clock.advance(31)
    (new,) = await first.take_over()
    assert await first.settle(completed(old)) == ()
    assert await first.renew(old) == ()
    assert not await first.hand_back(old)
    assert rows.one(occurrence)["state"] == "processing"
    assert [each.fence for each in await first.settle(completed(new))] == [2]


@pytest.mark.requirement("prevent-duplicate-completion")
async def test_a_completion_whose_answer_was_lost_counts_once(rows: OccurrenceRows, first: Holder) -> None:
    occurrence, other = rows.add(), rows.add("s.two")
    taken = {each.id: each for each in await first.take()}
    await first.settle(completed(taken[occurrence]))
    written = await first.settle(completed(taken[occurrence]), completed(taken[other]))
    assert {each.id for each in written} == {occurrence, other}
    assert {each.id: each.schedule for each in written} == {occurrence: None, other: "s.two"}
    assert (len(rows.attempts(occurrence)), rows.refused()) == (1, [])


@pytest.mark.requirement("generate-monotonic-fencing-values", "prevent-duplicate-completion")
@pytest.mark.parametrize("seed", range(4))
async def test_whatever_two_workers_do_fences_rise_and_one_completion_stands(
    rows: OccurrenceRows, first: Holder, second: Holder, clock: Clock, seed: int
) -> None:
    """Random interleavings of take, lapse, settle and hand back, with the clock moved under them."""
    chance = random.Random(seed)  # noqa: S311  # a test's dice
    ids = [rows.add(schedule, due=-1) for schedule in ("s.one", "s.two", "s.three")]
    fences: dict[UUID, list[int]] = {each: [] for each in ids}
    known: list[tuple[Holder, TakenOccurrence]] = []
    stood: Counter[UUID] = Counter()
    for _ in range(60):
        holder = chance.choice((first, second))
        step = chance.choice(("take", "take", "over", "lapse", "renew", "retry", "complete", "back"))
        if step in ("take", "over"):
            for taken in await (holder.take() if step == "take" else holder.take_over()):
                fences[taken.id].append(taken.fence)
                known.append((holder, taken))
        elif step == "lapse":
            clock.advance(chance.choice((5, 31)))
        elif known:
            holder, taken = chance.choice(known)
            if step == "renew":
                await holder.renew(taken)
            elif step == "back":
                await holder.hand_back(taken, expired_too=chance.random() < 0.5)
            else:
                completion = completed(taken) if step == "complete" and chance.random() < 0.3 else again(taken)
                stands = [each for each in await holder.settle(completion) if each.schedule is not None]
                stood.update(each.id for each in stands if completion.state == "completed")
    for occurrence in ids:
        assert fences[occurrence] == list(range(1, len(fences[occurrence]) + 1)), "each claim one higher"
        row, attempts = rows.one(occurrence), rows.attempts(occurrence)
        assert row["fence"] == len(fences[occurrence])
        assert [each["fence"] for each in attempts] == fences[occurrence][: len(attempts)], "each ended once, in order"
        assert len(fences[occurrence]) - len(attempts) == (row["state"] == "processing"), "at most one is live"
        assert stood[occurrence] == (row["state"] == "completed") == sum(a["ending"] == "completed" for a in attempts)
        counted = sum(each["ending"] != "handed-back" for each in attempts) + (row["state"] == "processing")
        assert row["attempts"] == counted


@pytest.mark.requirement("LEASE-04", "store-execution-leases")
async def test_a_lease_belongs_to_the_occurrence_and_not_to_the_workers_name(
    rows: OccurrenceRows, worker_database: Database, superuser: psycopg.Connection[Any], clock: Clock
) -> None:
    occurrence = rows.add()
    dead, same_name = Holder(worker_database, rows.worker("w-1")), Holder(worker_database, rows.worker("w-1"))
    (taken,) = await dead.take()
    assert await same_name.take() == [] == await same_name.take_over(), "a live lease is nobody's but its holder's"
    assert await same_name.renew(taken) == (), "its name does not make it the holder"
    superuser.execute("delete from jobs.workers where incarnation = %s", (dead.id,))
    for fence in (2, 3):
        clock.advance(29)
        assert await same_name.take_over() == []
        clock.advance(1.5)
        superuser.execute("update jobs.workers set beat_at = jobs.now()")  # whoever has the name is alive, and idle
        (again_taken,) = await same_name.take_over()
        assert (again_taken.id, again_taken.fence, again_taken.attempts) == (occurrence, fence, fence)


@pytest.mark.requirement("persist-occurrence-recovery-points", "persist-occurrence-state")
async def test_what_was_reached_is_kept_with_the_schedule(rows: OccurrenceRows, first: Holder, clock: Clock) -> None:
    occurrence = rows.add()
    (taken,) = await first.take()
    clock.advance(5)
    await first.settle(completed(taken, began_after=2.0))
    row, schedule, (attempt,) = rows.one(occurrence), rows.reached(), rows.attempts(occurrence)
    assert schedule["last_started_at"] == row["started_at"] == attempt["started_at"]
    assert row["started_at"] == attempt["taken_at"] + timedelta(seconds=2)
    assert schedule["last_completed_at"] == row["ended_at"] == attempt["ended_at"]
    rows.add()
    (taken,) = await first.take()
    await first.settle(again(taken, after=40))
    assert rows.reached()["last_completed_at"] == row["ended_at"], "a retry completes nothing"
    assert rows.reached()["last_started_at"] > row["ended_at"] - timedelta(seconds=1)


@pytest.mark.requirement("persist-occurrence-state")
async def test_waiting_for_the_next_attempt_is_scheduled_with_its_instant(
    rows: OccurrenceRows, first: Holder, clock: Clock
) -> None:
    occurrence = rows.add()
    (taken,) = await first.take()
    await first.settle(again(taken, after=40))
    row = rows.one(occurrence)
    assert (row["state"], row["holder"], row["error"], row["attempts"]) == ("scheduled", None, "Not now.", 1)
    async with first.database.transaction(None) as transaction:
        found = await store.look(transaction, first.runnable, EVERYTHING, free=1)
    assert found.waiting == ()
    assert found.next_in == pytest.approx(40, abs=2)
    clock.advance(41)
    assert [(each.attempts, each.fence) for each in await first.take()] == [(2, 2)]


@pytest.mark.requirement("persist-occurrence-state")
@pytest.mark.parametrize(
    "change",
    [
        "state = 'skipped'",
        "state = 'dead-letter'",
        "state = 'completed'",
        "state = 'processing'",
        "holder = jobs.uuid7()",
        "state = 'dead-letter', ended_at = jobs.now()",
        "cause = 'failed'",
        "fence = -1",
        "scheduled_at = jobs.now()",
    ],
)
def test_the_store_takes_no_other_state(rows: OccurrenceRows, superuser: psycopg.Connection[Any], change: str) -> None:
    rows.add()
    with pytest.raises((psycopg.errors.CheckViolation, psycopg.errors.RestrictViolation)):
        superuser.execute(f"update jobs.occurrences set {change}".encode())


@pytest.mark.requirement("stop-jobs-during-graceful-shutdown")
async def test_a_lease_handed_back_is_not_counted(rows: OccurrenceRows, first: Holder, second: Holder) -> None:
    occurrence = rows.add()
    (taken,) = await first.take()
    assert not await second.hand_back(taken)
    assert await first.hand_back(taken)
    row, (attempt,) = rows.one(occurrence), rows.attempts(occurrence)
    assert (row["state"], row["attempts"], row["fence"], attempt["ending"]) == ("scheduled", 0, 1, "handed-back")
    assert not await first.hand_back(taken)
    assert rows.refused() == [(occurrence, 1, "hand-back")] * 2
    assert [(each.attempts, each.fence) for each in await second.take()] == [(1, 2)]


async def test_one_that_ran_out_is_handed_back_only_where_that_is_excused(
    rows: OccurrenceRows, first: Holder, clock: Clock
) -> None:
    occurrence = rows.add()
    (taken,) = await first.take()
    clock.advance(31)
    assert not await first.hand_back(taken), "a holder that was frozen does not go uncounted for ever"
    assert await first.hand_back(taken, expired_too=True), "nobody could renew while the database was away"
    assert rows.one(occurrence)["attempts"] == 0


@pytest.mark.requirement("bound-job-retries")
async def test_what_lapsed_with_no_attempt_left_ends(rows: OccurrenceRows, first: Holder, clock: Clock) -> None:
    occurrence = rows.add()
    await first.take()
    clock.advance(31)
    assert await first.take_over(causes={occurrence: DeadCause.WORKER_LOST}) == []
    row, (attempt,) = rows.one(occurrence), rows.attempts(occurrence)
    assert (row["state"], row["cause"], row["error"]) == ("dead-letter", "worker-lost", "Worker was lost.")
    assert (attempt["ending"], row["fence"], row["holder"]) == ("lost", 1, None)
    assert rows.reached()["last_started_at"] == attempt["taken_at"]


@pytest.mark.requirement("scope-occurrences-and-leases-by-tenant")
async def test_tenants_do_not_block_or_see_each_other(
    rows: OccurrenceRows, first: Holder, worker_database: Database, database: Database
) -> None:
    acme = rows.add(due=-5)
    taken = {each.tenant: each for each in await first.take()}
    globex = rows.add(tenant="globex")
    taken |= {each.tenant: each for each in await first.take()}
    assert {each.id for each in taken.values()} == {acme, globex}, "one schedule id, two tenants, two locks"
    await first.settle(completed(taken["acme"]))
    assert (rows.one(acme)["state"], rows.one(globex)["state"]) == ("completed", "processing")
    assert rows.reached(tenant="globex")["last_completed_at"] is None
    for pool in (database, worker_database):
        async with pool.transaction("globex") as transaction:
            for table in ("occurrences", "occurrence_attempts", "schedules"):
                found = await transaction.connection.execute(f"select distinct tenant from jobs.{table}".encode())
                assert {row["tenant"] for row in await found.fetchall()} <= {"globex"}, table
    with pytest.raises(psycopg.errors.InsufficientPrivilege):  # not even that it came too late
        async with worker_database.transaction("globex") as transaction:
            await store.settle(transaction, [completed(taken["acme"])], holder=first.id)
    async with worker_database.transaction("acme") as transaction:
        assert await store.renew(transaction, {globex: 1}, {}, holder=first.id, lease=30) == ()
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        async with database.transaction("acme") as transaction:
            await store.renew(transaction, {acme: 1}, {}, holder=first.id, lease=30)


@pytest.mark.requirement("scope-occurrences-and-leases-by-tenant")
async def test_a_schedule_of_some_tenants_is_claimed_in_those(rows: OccurrenceRows, worker_database: Database) -> None:
    rows.add(), rows.add(tenant="globex")
    holder = Holder(worker_database, runnable=Runnable(everywhere=(), somewhere=(("globex", "s.one"),)))
    assert [each.tenant for each in await holder.take()] == ["globex"]


async def test_what_nobody_here_runs_is_found_after_a_while(rows: OccurrenceRows, first: Holder, clock: Clock) -> None:
    old = rows.add("s.unknown")
    rows.add("s.unknown", due=200), rows.add("s.one")
    clock.advance(700)
    async with first.database.transaction(None) as transaction:
        (stuck,) = await occurrence_stuck.unknown_waiting(transaction, first.runnable, most=10, unknown_after=600)
        ended = await occurrence_stuck.end_waiting(transaction, [stuck], DeadCause.UNRUNNABLE, ["Nobody."])
    assert (stuck.id, set(ended)) == (old, {("acme", "s.unknown")})
    row = rows.one(old)
    assert (row["state"], row["cause"], row["error"], row["attempts"]) == ("dead-letter", "unrunnable", "Nobody.", 0)
