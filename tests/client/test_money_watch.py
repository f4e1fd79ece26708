"""What the console knows of money everywhere: it follows hints, is asked for calmly, and asks nothing for who may not read."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from jobconsole.client import money, money_watch, plans
from jobconsole.client.fake import FakeService
from jobconsole.client.money_watch import MoneyWatch
from jobconsole.client.queues import new_key
from jobconsole.client.session import me
from jobcontract.events import Hint, Topic

pytestmark = pytest.mark.requirement("confirm-bulk-money-actions-out-of-band", "MONEY-20")
PAYOUTS, COMMAND = "payments.payouts", "payments.release-many"


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110  what it waits for has no event
            await asyncio.sleep(0)


def hint(topic: Topic) -> Hint:
    return Hint(topic=topic, tenant="leeds", queue="x", id="x", version=1)


async def watch(fake: FakeService, person: str) -> MoneyWatch:
    service = fake.service(person)
    return MoneyWatch(service, (await me(service)).tenants[0])


async def test_it_follows_the_switch_and_the_plans_of_the_person() -> None:
    fake = FakeService()
    item, other = (fake.queues.add(PAYOUTS, name, minor=900) for name in ("Aspire", "Booker"))
    seen = await watch(fake, "m.ito")
    assert not seen.plans
    await plans.make(fake.service("m.ito"), PAYOUTS, COMMAND, new_key(), items=[item])
    await plans.make(fake.service("k.rao"), PAYOUTS, COMMAND, new_key(), items=[other])
    seen.look()
    await until(lambda: seen.plans)
    assert ([plan.owner.id for plan in seen.plans], seen.stopped) == (["m.ito"], False)
    seen.end()
    await money.stop_money(fake.service("o.lind"), "drill", new_key())
    seen.hear([hint(Topic.MONEY)])
    await until(lambda: seen.stopped)
    assert seen.stop is not None
    assert seen.stop.reason == "drill"
    seen.end()


async def test_many_hints_are_one_round_and_what_it_knew_stays_while_the_service_is_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(money_watch, "PAUSE_SECONDS", 0)
    fake = FakeService()
    await money.stop_money(fake.service("o.lind"), "drill", new_key())
    seen = await watch(fake, "m.ito")
    before = len(fake.requests)
    for _ in range(50):
        seen.hear([hint(Topic.MONEY), hint(Topic.ITEM)])
    await until(lambda: seen.stopped)
    assert len(fake.requests) == before + 1
    fake.status = 403
    seen.look()
    await until(lambda: len(fake.requests) > before + 1)
    assert seen.stopped
    seen.end()


async def test_it_asks_nothing_for_who_may_not_read_plans() -> None:
    fake = FakeService()
    seen = await watch(fake, "i.feed")
    before = len(fake.requests)
    seen.look()
    await asyncio.sleep(0)
    assert (len(fake.requests), seen.stopped) == (before, None)
