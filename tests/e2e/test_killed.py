"""API and Worker killed while claims and acts go on: nothing is lost, nothing is done twice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import TypeVar

import psutil
import pytest

from jobconsole.client import queues as client
from jobconsole.client.errors import OutcomeUnknown, ServiceAway
from jobconsole.client.service import Service
from jobconsole.demo_service import DemoService
from jobcontract.items import ActOrder, Item
from jobcontract.states import ClaimEnding, ItemState, ItemView, OutcomeKind
from tests.fakes.waiting import eventually

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("e2e"), pytest.mark.timeout(300)]
QUEUE = "payments.payouts"
ROUNDS = 15
A = TypeVar("A")


async def surely(call: Callable[[], Awaitable[A]]) -> A:
    """The answer of a call, made again under its own key until there is one."""
    async with asyncio.timeout(120):
        while True:
            try:
                return await call()
            except (OutcomeUnknown, ServiceAway):
                continue


async def work(service: Service, done: list[tuple[str, int]]) -> None:
    """Claim and reject one payout after the other."""
    for _ in range(ROUNDS):
        item = (await surely(partial(client.claim_next, service, QUEUE, client.new_key()))).item
        assert item is not None
        order = ActOrder(money_version=item.money_version, fence=item.fence, inputs={"reason": "paid twice"})
        key = client.new_key()
        acted = await surely(partial(client.act, service, item.id, "payments.reject", order, key))
        assert acted.outcome is OutcomeKind.DONE
        done.append((item.id, item.fence))


def child(demo: DemoService, name: str) -> psutil.Process | None:
    """The running `jobservice NAME` of the demo."""
    assert demo.process is not None
    for process in psutil.Process(demo.process.pid).children(recursive=True):
        try:
            words = process.cmdline()
        except (psutil.NoSuchProcess, psutil.ZombieProcess):
            continue
        if words[1:4] == ["-m", "jobservice", name]:
            return process
    return None


async def kill(demo: DemoService, name: str) -> None:
    """kill -9 it, and wait until another one runs."""
    await eventually(lambda: child(demo, name) is not None, what=f"{name} runs")
    old = child(demo, name)
    assert old is not None
    old.kill()

    def again() -> bool:
        new = child(demo, name)
        return new is not None and new.pid != old.pid

    await eventually(again, what=f"{name} runs again")


@pytest.mark.requirement("HTTP-03")
async def test_killing_api_and_worker_loses_nothing_and_does_nothing_twice(
    demo: DemoService, sign_in: Callable[..., Service]
) -> None:
    clerks = [sign_in("m.ito", read=3.0), sign_in("k.rao", read=3.0), sign_in("m.ito", read=3.0)]
    before = [(await client.totals(service, QUEUE)).mine for service in clerks]
    closed = {row.id async for row in _closed(clerks[0])}
    done: list[tuple[str, int]] = []
    working = [asyncio.create_task(work(service, done)) for service in clerks]
    try:
        for count, name in ((3, "api"), (10, "worker"), (18, "api")):
            await eventually(
                lambda least=count: len(done) >= least or all(task.done() for task in working),  # type: ignore[misc]  # a lambda with a default
                what=f"{count} payouts are rejected",
                seconds=120,
            )
            await kill(demo, name)
        await asyncio.gather(*working)
    finally:
        for task in working:
            task.cancel()
    ids = [item for item, _ in done]
    assert len(ids) == len(set(ids)) == ROUNDS * len(clerks), "each payout once"
    assert {row.id async for row in _closed(clerks[0])} == closed | set(ids), "what was answered is so, and no more"
    for identifier, fence in done:
        detail = await client.item(clerks[0], identifier)
        assert detail.item.state is ItemState.REJECTED
        assert [act.use_case for act in detail.acts] == ["payments.reject"]
        assert (detail.claims[0].fence, detail.claims[0].ending) == (fence, ClaimEnding.ACTED)
    after = [(await client.totals(service, QUEUE)).mine for service in clerks]
    assert after == before, "no claim of a lost answer is left behind"


def _closed(service: Service) -> AsyncIterator[Item]:
    """Every closed payout."""
    return client.all_items(service, QUEUE, view=ItemView.CLOSED)
