"""Counts under a filter: exact while that is cheap, else counted once a minute for everybody, with their age."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.states import ItemView, Role
from jobservice.store.items import Reach
from jobservice.store.totals import Counting, Counts
from jobservice.usecases import totals as totals_module
from jobservice.usecases.actor import Actor
from jobservice.usecases.counting import KeptCounts
from jobservice.usecases.queues import queue_totals, queue_vocabulary
from tests.usecases.desk import DISPUTES, NOTES, PAYOUTS, Desk, in_days, payout, refused_with

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
COUNTING = Counting(
    queue="q", view=ItemView.WAITING, condition={"free": "true"}, reach=Reach(customers=None, workspaces=None)
)


def counted(matching: int, at: datetime = NOW) -> Counts:
    """A count that found so many."""
    return Counts(
        looked=matching,
        matching=matching,
        waiting=matching,
        set_aside=0,
        unclaimed=0,
        oldest_created=None,
        totals=(),
        as_of=at,
    )


async def test_figures_are_of_what_matches_and_totals_of_the_view(desk: Desk) -> None:
    north = await desk.push(new=payout("N-1", 500, "GBP", customer="north"))
    await desk.push(new=payout("N-2", 700, "GBP", customer="north"))
    await desk.push(new=payout("S-1", -300, "GBP", customer="south"))
    await desk.push(new=payout("J-1", 9_000, "JPY", customer="south"))
    await desk.claim("m.ito", north["id"])
    aside = await desk.push(new=payout("N-3", 900, "GBP"))
    held = (await desk.claim("k.rao", aside["id"])).body["item"]
    now = (await desk.detail(held["id"])).as_of
    await desk.act("k.rao", held, "set-aside", until=in_days(1, now), reason="later")

    async def told(text: str, person: str = "m.ito", view: ItemView = ItemView.WAITING, **reach: Any) -> Any:
        found = await queue_totals(desk.service, desk.actor(person, **reach), PAYOUTS, view=view, text=text)
        sums = {each.currency: (each.out_minor, each.back_minor) for each in found.totals}
        return (found.matching, found.waiting, found.mine, found.set_aside, found.unclaimed), sums

    assert await told("") == ((4, 4, 1, 1, 3), {"GBP": (1_200, 300), "JPY": (9_000, 0)})
    assert await told("currency:GBP") == ((3, 3, 1, 1, 2), {"GBP": (1_200, 300)})
    assert await told("currency:GBP", view=ItemView.SET_ASIDE) == ((1, 3, 1, 1, 2), {"GBP": (900, 0)})
    assert await told("holder:me") == ((1, 1, 1, 0, 0), {"GBP": (500, 0)})
    assert await told("holder:me", "k.rao") == ((0, 0, 0, 0, 0), {})
    assert await told("s-1", customers=("south",)) == ((1, 1, 0, 0, 1), {"GBP": (0, 300)})
    rejected = await desk.claim("m.ito", (await desk.push(new=payout("R", 5, "GBP")))["id"])
    await desk.act("m.ito", rejected.body["item"], "reject", reason="no")
    assert await told("state:rejected", view=ItemView.CLOSED) == ((1, 0, 0, 0, 0), {"GBP": (5, 0)})
    refusal = await refused_with(ErrorCode.FILTER_INVALID, told("amount>5"))
    assert refusal.extra["choices"] == ["GBP", "JPY"]


async def test_past_ten_thousand_a_count_is_kept_for_a_minute_and_says_its_age(
    desk: Desk, clock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (totals_module.COUNTED_MOST, totals_module.FILTERED_MOST) == (10_000, 50_000)
    monkeypatch.setattr(totals_module, "COUNTED_MOST", 4)
    monkeypatch.setattr(totals_module, "FILTERED_MOST", 5)
    kept = KeptCounts()

    async def told(text: str = "") -> Any:
        return await queue_totals(desk.service, desk.actor("m.ito"), PAYOUTS, text=text, kept=kept)

    for _ in range(4):
        await desk.push()
    assert ((await told()).exact, len(kept)) == (True, 0)
    await desk.push()
    first = await told()
    assert (first.matching, first.unclaimed, first.exact, len(kept)) == (5, 5, False, 1)
    assert first.totals[0].out_count == 5
    assert ((await told("holder:free")).exact, len(kept)) == (True, 1)
    await desk.next("m.ito")
    again = await told()
    assert (again.as_of, again.unclaimed, again.mine) == (first.as_of, 5, 1), "of before, but one's own claims"
    await desk.push()
    filtered = await told("holder:free")
    assert (filtered.matching, filtered.exact, len(kept)) == (5, False, 2)
    clock.advance(50)
    assert (await told()).as_of == first.as_of
    clock.advance(11)
    later = await told()
    assert later.as_of > first.as_of + timedelta(seconds=60)
    assert (later.matching, later.unclaimed, later.mine) == (6, 6, 0), "the claim lapsed"
    clock.advance(-120)
    assert (await told()).as_of < first.as_of, "a clock that went back makes no count of the future"


async def test_what_is_being_counted_is_counted_once_for_all_who_ask() -> None:
    kept, begun, go = KeptCounts(), 0, asyncio.Event()

    async def count() -> Counts:
        nonlocal begun
        begun += 1
        await go.wait()
        return counted(7)

    asking = [asyncio.create_task(kept.count("acme", COUNTING, count)) for _ in range(3)]
    other = asyncio.create_task(kept.count("globex", COUNTING, count))
    await asyncio.sleep(0)
    asking[0].cancel()
    go.set()
    assert [each.matching for each in await asyncio.gather(*asking[1:], other)] == [7, 7, 7]
    assert begun == 2, "once a tenant, though the first who asked went away"
    assert kept.kept("acme", COUNTING, NOW) == counted(7)
    assert kept.kept("acme", COUNTING, NOW + timedelta(seconds=60)) is None
    for another in (
        replace(COUNTING, queue="p"),
        replace(COUNTING, view=ItemView.CLOSED),
        replace(COUNTING, condition=None),
        replace(COUNTING, reach=Reach(customers=("north",), workspaces=None)),
        replace(COUNTING, reach=Reach(customers=None, workspaces=("north",))),
    ):
        assert kept.kept("acme", another, NOW) is None


async def test_a_count_that_failed_is_told_to_all_who_waited_and_tried_again() -> None:
    kept = KeptCounts()

    async def fails() -> Counts:
        raise Refusal(ErrorCode.TIMED_OUT, "too long")

    async def counts() -> Counts:
        return counted(1)

    both = await asyncio.gather(*(kept.count("acme", COUNTING, fails) for _ in range(2)), return_exceptions=True)
    assert [isinstance(each, Refusal) for each in both] == [True, True]
    assert (await kept.count("acme", COUNTING, counts)).matching == 1


async def test_so_many_counts_are_kept_and_the_oldest_goes_first() -> None:
    kept = KeptCounts(most=2)

    async def counts() -> Counts:
        return counted(1)

    for queue in ("a", "b", "c"):
        await kept.count("acme", replace(COUNTING, queue=queue), counts)
    assert len(kept) == 2
    assert kept.kept("acme", replace(COUNTING, queue="a"), NOW) is None


async def test_the_vocabulary_is_within_tenant_and_reach(desk: Desk) -> None:
    for number, (invoice, customer, currency) in enumerate(
        [
            ("missing", "north", "GBP"),
            ("on file", "south", "JPY"),
            ("missing", "north", "GBP"),
            ("x" * 40, "south", "KWD"),
        ]
    ):
        new = payout(f"K-{number}", 5, currency, customer=customer, inputs={"invoice": invoice})
        await desk.push(new=new)
    await desk.push(by="g.push")

    async def told(queue: str = PAYOUTS, **reach: Any) -> dict[str, tuple[str, ...]]:
        found = await queue_vocabulary(desk.service, desk.actor("m.ito", **reach), queue)
        assert found.currencies == next((each.values for each in found.fields if each.name == "currency"), ())
        return {each.name: each.values for each in found.fields}

    whole = await told()
    assert whole["input.invoice"] == ("missing", "on file", "x" * 40, "none")
    assert whole["currency"] == ("GBP", "JPY", "KWD")
    assert whole["holder"][:2] == ("me", "free")
    assert "k.rao" in whole["holder"]
    assert "g.push" not in whole["holder"]
    assert whole["sort"] == ("amount",)
    south = await told(customers=("south",))
    assert (south["input.invoice"], south["currency"]) == (("on file", "x" * 40, "none"), ("JPY", "KWD"))
    assert set(await told(NOTES)) == {"age", "state"}, "no money, no claims, no rule"
    assert set(await told(DISPUTES)) >= {"amount", "currency", "holder", "sort"}
    unread = Actor(person="x", tenant="acme", role=Role.PUSHER)
    await refused_with(ErrorCode.PERMISSION_MISSING, queue_vocabulary(desk.service, unread, PAYOUTS))
    await refused_with(ErrorCode.NOT_FOUND, queue_vocabulary(desk.service, desk.actor("m.ito"), "t.none"))
