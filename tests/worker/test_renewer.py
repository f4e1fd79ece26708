"""Renewing: all leases of the process in one question, never waited for longer than a lease allows; what is lost or
cancelled ends at once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID

import pytest

from jobservice.store.database import Database
from jobservice.worker.claimer import Claimer
from jobservice.worker.duties import ring, sleep
from jobservice.worker.held import Held
from jobservice.worker.leased_work import Why
from jobservice.worker.outage import Outage
from jobservice.worker.renewer import Renewer
from tests.fakes.waiting import eventually
from tests.worker.fake_work import FakeWork

HOLDER = UUID(int=1)


@asynccontextmanager
async def renewing(*works: FakeWork, database: Database, rows: int = 2) -> AsyncIterator[Renewer]:
    """Rows of each kind at work, and one renewer for all."""
    outage, helds = Outage(database=database), [Held(work=work) for work in works]
    renewer = Renewer(helds=helds, holder=HOLDER, outage=outage)
    claimers = [
        Claimer(held=held, holder=HOLDER, outage=outage, stopping=lambda: False, leaving=asyncio.Event())
        for held in helds
    ]

    async def loop() -> None:
        while True:
            woken = renewer.bell.is_set()
            renewer.bell.clear()
            await sleep(await renewer.step(woken=woken), renewer.bell)

    running = asyncio.create_task(loop())
    for work, claims in zip(works, claimers, strict=True):
        work.add(rows)
        await claims.step(woken=False)
    try:
        yield renewer
    finally:
        running.cancel()
        for held in helds:
            for lease in held.leases.values():
                if lease.task is not None:
                    lease.task.cancel()
        await asyncio.sleep(0)


async def renewed(renewer: Renewer, work: FakeWork) -> None:
    """It is time, and the leases were renewed."""
    before = len(work.renewals)
    renewer._kinds[0].due = 0.0
    renewer.bell.set()
    await eventually(lambda: len(work.renewals) > before, what="it is asked", seconds=5)


@pytest.mark.requirement("renew-only-owned-leases")
async def test_all_leases_of_a_kind_are_renewed_in_one_question_three_times_in_a_lease(
    worker_database: Database,
) -> None:
    quick, slow = FakeWork(name="quick", lease=0.3), FakeWork(name="slow", lease=60.0)
    async with renewing(quick, slow, database=worker_database, rows=3) as renewer:
        began = time.monotonic()
        await eventually(lambda: len(quick.renewals) >= 4, what="renewed four times")
        assert time.monotonic() - began < 4.0, "about a tenth of a second apart"
        assert all(set(held) == set(quick.taken) for held in quick.renewals)
        assert all(lease.live for held in renewer.helds for lease in held.leases.values())
        assert slow.renewals == []
    assert quick.cancelled_for == dict.fromkeys(quick.taken), "nobody of the machinery cancelled any"


@pytest.mark.requirement("renew-only-owned-leases")
async def test_what_another_worker_has_by_now_is_cancelled_at_once_and_the_others_go_on(
    worker_database: Database,
) -> None:
    """By the answer alone: its time is far from over."""
    work = FakeWork(lease=30.0)
    async with renewing(work, database=worker_database) as renewer:
        lost, kept = work.taken
        work.lost.add(lost)
        await renewed(renewer, work)
        await eventually(lambda: work.cancelled_for == {lost: Why.LOST}, what="its work was cancelled", seconds=5)
        await renewed(renewer, work)
        assert [set(held) for held in work.renewals] == [{lost, kept}, {kept}]


@pytest.mark.requirement("renew-only-owned-leases", "treat-unavailable-schedule-stores-as-outages")
@pytest.mark.parametrize("how", ["refused", "never answered"])
async def test_what_could_not_be_renewed_in_time_is_lost_by_the_processs_own_clock(
    worker_database: Database, how: str
) -> None:
    work = FakeWork(lease=0.5)
    async with renewing(work, database=worker_database) as renewer:
        taken_at = time.monotonic()
        if how == "refused":
            work.is_away = True
        else:
            work.answers.clear()
        await eventually(lambda: set(work.cancelled_for.values()) == {Why.LOST}, what="cancelled", seconds=5)
        assert 0.3 < time.monotonic() - taken_at < 2.0
        assert len(work.cancelled_for) == 2
        assert renewer.outage.away == (how == "refused")


async def test_one_kind_that_is_not_answered_does_not_hold_up_the_other(worker_database: Database) -> None:
    stuck, sound = FakeWork(name="stuck", lease=6.0), FakeWork(name="sound", lease=0.6)
    stuck.answers.clear()
    async with renewing(stuck, sound, database=worker_database) as renewer:
        for kind in renewer._kinds:
            kind.due = 0.0
        renewer.bell.set()
        await eventually(lambda: stuck.renewals != [], what="both were asked")
        await eventually(lambda: len(sound.renewals) >= 3, what="the other is renewed", seconds=5)
        assert all(lease.live for lease in renewer.helds[1].leases.values())


@pytest.mark.requirement("observe-job-cancellation")
async def test_a_persons_cancel_is_asked_for_when_it_is_notified_and_cancels_once(worker_database: Database) -> None:
    work = FakeWork(lease=300.0)
    async with renewing(work, database=worker_database) as renewer:
        wanted, other = work.taken
        work.to_cancel.add(wanted)
        asked = time.monotonic()
        ring((renewer,), "cancel")
        await eventually(lambda: work.cancelled_for == {wanted: Why.CANCELLED}, what="cancelled", seconds=5)
        assert time.monotonic() - asked < 1.0
        ring((renewer,), "cancel")
        await eventually(lambda: not renewer.bell.is_set(), what="it was asked again")
        assert other not in work.cancelled_for


@pytest.mark.requirement("observe-job-cancellation")
async def test_a_cancel_that_no_notification_told_of_comes_with_the_next_renewal(worker_database: Database) -> None:
    work = FakeWork(lease=0.6)
    async with renewing(work, database=worker_database):
        work.to_cancel.add(work.taken[0])
        await eventually(lambda: work.cancelled_for == {work.taken[0]: Why.CANCELLED}, what="cancelled", seconds=5)
