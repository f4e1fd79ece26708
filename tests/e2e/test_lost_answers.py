"""HTTP-03 and HTTP-01 through real sockets: answers that get lost, and a stream that breaks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import timedelta

import pytest

from jobconsole.client import queues as client
from jobconsole.client.errors import OutcomeUnknown
from jobconsole.client.feed import Changed, Feed, FeedTimes, Live, News, Reload, Stale
from jobconsole.client.service import Service
from jobconsole.client.session import me
from jobconsole.demo_service import DemoService
from jobcontract.items import ActOrder, Item
from jobcontract.routes import KEY_HEADER
from tests.fakes.proxy import Fault, Proxy

pytestmark = [pytest.mark.xdist_group("e2e"), pytest.mark.timeout(300)]
QUEUE = "payments.payouts"


def once(word: bytes, fault: Fault) -> Callable[[bytes], Fault | None]:
    """The fault at the first request whose path has `word`."""
    left = [fault]
    return lambda head: left.pop() if left and word in head.partition(b"\r\n")[0] else None


async def claimed(service: Service) -> Item:
    """The next free payout, claimed."""
    item = (await client.claim_next(service, QUEUE, client.new_key())).item
    assert item is not None
    return item


def keys(proxy: Proxy, word: bytes) -> list[bytes]:
    """The idempotency keys of the requests with `word` in their path."""
    name = KEY_HEADER.lower().encode()
    return [
        line.partition(b":")[2].strip()
        for head in proxy.seen(word)
        for line in head.split(b"\r\n")
        if line.lower().startswith(name)
    ]


@pytest.mark.requirement("HTTP-03")
@pytest.mark.parametrize("fault", list(Fault), ids=lambda fault: fault.name)
async def test_one_claim_and_one_act_whatever_happens_to_the_first_answer(
    demo: DemoService, sign_in: Callable[..., Service], fault: Fault
) -> None:
    async with Proxy(demo.url) as proxy:
        service = sign_in("m.ito", url=proxy.url, read=1.0)
        checking: list[str] = []
        service.on_checking = checking.append
        before = (await client.totals(service, QUEUE)).mine
        proxy.plan = once(b"/claim-next ", fault)
        item = await claimed(service)
        assert (await client.totals(service, QUEUE)).mine == before + 1
        proxy.plan = once(b"/acts/payments.reject ", fault)
        order = ActOrder(money_version=item.money_version, fence=item.fence, inputs={"reason": "paid twice"})
        acted = await client.act(service, item.id, "payments.reject", order, client.new_key())
        assert acted.outcome == "done"
        detail = await client.item(service, item.id)
        assert [act.use_case for act in detail.acts] == ["payments.reject"]
        assert [claim.fence for claim in detail.claims] == [item.fence]
        for word in (b"/claim-next ", b"/acts/payments.reject "):
            sent = keys(proxy, word)
            assert len(sent) == 2
            assert len(set(sent)) == 1
        assert len(checking) == 2


@pytest.mark.requirement("HTTP-03")
async def test_an_outcome_that_stays_unknown_is_found_out_later_with_the_same_key(
    demo: DemoService, sign_in: Callable[..., Service]
) -> None:
    async with Proxy(demo.url) as proxy:
        service = sign_in("m.ito", url=proxy.url, read=1.0, deadline=2.0)
        before = (await client.totals(service, QUEUE)).mine
        proxy.plan = lambda head: Fault.RESET_AFTER if b"/claim-next " in head else None
        with pytest.raises(OutcomeUnknown) as caught:
            await claimed(service)
        proxy.plan = lambda _head: None
        item = (await client.claim_next(service, QUEUE, caught.value.key)).item
        assert item is not None
        assert (await client.totals(service, QUEUE)).mine == before + 1
        await client.release_claim(service, item.id, item.fence, client.new_key())


async def until(news: AsyncIterator[News], enough: Callable[[list[News]], bool]) -> list[News]:
    """News until there is enough of it."""
    seen: list[News] = []
    async with asyncio.timeout(60):
        while not enough(seen):
            seen.append(await anext(news))
    return seen


def changed(seen: list[News]) -> set[str]:
    """The items that hints told of."""
    return {hint.id for piece in seen if isinstance(piece, Changed) for hint in piece.hints}


@pytest.mark.requirement("HTTP-01")
async def test_what_happens_while_the_stream_is_down_is_heard_of_afterwards(
    demo: DemoService, sign_in: Callable[..., Service]
) -> None:
    direct = sign_in("k.rao")
    async with Proxy(demo.url) as proxy:
        news = Feed(sign_in("m.ito", url=proxy.url), times=FeedTimes(first_pause=0.2)).news()
        first = await claimed(direct)
        await until(news, lambda seen: any(isinstance(piece, Live) for piece in seen))
        await client.release_claim(direct, first.id, first.fence, client.new_key())
        await until(news, lambda seen: first.id in changed(seen))
        proxy.plan = lambda head: Fault.RESET_BEFORE if b"/events" in head else None
        proxy.cut()
        await until(news, lambda seen: any(isinstance(piece, Stale) for piece in seen))
        five = [await claimed(direct) for _ in range(5)]
        for item in five:
            await client.release_claim(direct, item.id, item.fence, client.new_key())
        proxy.plan = lambda _head: None
        seen = await until(news, lambda seen: {item.id for item in five} <= changed(seen))
        assert not any(isinstance(piece, Reload) for piece in seen)
        resumed = [b"last-event-id" in head.lower() for head in proxy.seen(b"/events")]
        assert resumed[0] is False
        assert all(resumed[1:])
        assert len(resumed) > 1
        await news.aclose()  # type: ignore[attr-defined]  # a generator, typed as its iterator


async def test_the_servers_clock_is_known_to_within_its_round_trip(sign_in: Callable[..., Service]) -> None:
    service = sign_in("m.ito")
    told = (await me(service)).now
    now = service.clock.server_now()
    assert now is not None
    assert timedelta(0) <= now - told < timedelta(seconds=30)
