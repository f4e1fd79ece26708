"""The values of leased work, and applying plans as one of its kinds."""

from __future__ import annotations

import asyncio
import time
from uuid import UUID, uuid4

import pytest

from jobservice.worker.applying import Applying
from jobservice.worker.leased_work import Grant, LeasedWork, RowLease, Why
from tests.worker.fake_work import FakeWork
from tests.worker.plans_stage import Stage


def lease(**members: object) -> RowLease:
    """A lease that runs for a minute, but for what the test says."""
    given: dict[str, object] = {"deadline": time.monotonic() + 60, "holder": UUID(int=1), **members}
    return RowLease(grant=Grant(id=uuid4(), tenant="acme", fence=1), **given)  # type: ignore[arg-type]  # by name


def test_under_which_lease_something_may_begin() -> None:
    assert lease().live
    assert not lease(lost=True).live
    assert not lease(deadline=time.monotonic() - 0.001).live
    assert lease(stopping=lambda: True).live
    assert not lease(stopping=lambda: True).working


def test_both_kinds_are_of_one_shape(stage: Stage) -> None:
    kinds: tuple[LeasedWork, ...] = (stage.applying(), FakeWork())
    assert {kind.name for kind in kinds} == {"applying", "fake"}
    assert all(kind.lease / 3 > 1 and kind.every > 0 for kind in kinds)


@pytest.mark.requirement("renew-only-owned-leases")
@pytest.mark.parametrize("why", [Why.LOST, Why.STOPPING])
async def test_a_plan_whose_lease_is_lost_is_heard_to_its_end_and_one_that_is_to_stop_is_not(
    stage: Stage, why: Why
) -> None:
    """What was sent under a lost lease is answered still: the answer is evidence. Nothing more is sent."""
    sent, answer = asyncio.Event(), asyncio.Event()

    async def slow(order: object) -> None:
        sent.set()
        await answer.wait()

    applying = stage.applying()
    held = lease()

    class Heard(Applying):
        async def _apply(self, lease: RowLease) -> None:
            await slow(lease)
            heard.append(lease.live)

    heard: list[bool] = []
    plan = Heard(
        database=applying.database,
        records=applying.records,
        application=applying.application,
        keys=applying.keys,
    )
    carrying = asyncio.create_task(plan.carry(held))
    await sent.wait()
    held.lost, held.why = why is Why.LOST, why
    carrying.cancel()
    await asyncio.sleep(0)
    if why is Why.LOST:
        assert not carrying.done()
        answer.set()
    with pytest.raises(asyncio.CancelledError):
        await carrying
    assert heard == ([False] if why is Why.LOST else [])
