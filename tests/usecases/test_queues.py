"""What a person reads of queues: which there are, what waits, totals per currency."""

from __future__ import annotations

from typing import Any

import pytest

from jobcontract.errors import ErrorCode
from jobcontract.states import ClaimMode, ConfirmMethod, ItemState
from jobservice.usecases.queues import list_queues, queue_totals
from tests.usecases.desk import DISPUTES, NOTES, PAYOUTS, RELEASE_MANY, Desk, in_days, payout, refused_with


@pytest.mark.requirement("state-the-claim-mode")
async def test_every_queue_states_its_claim_mode_lease_and_use_cases(desk: Desk) -> None:
    queues = (await list_queues(desk.service, desk.actor("m.ito"))).queues
    assert [(each.title, each.claim, each.money, each.lease_seconds) for each in queues] == [
        ("Disputes", ClaimMode.OPTIONAL, True, 60),
        ("Notes", ClaimMode.DISABLED, False, 0),
        ("Payouts", ClaimMode.REQUIRED, True, 60),
        ("Scored", ClaimMode.REQUIRED, True, 60),
        ("Uncertain", ClaimMode.REQUIRED, True, 60),
    ]
    assert [each.score for each in queues] == [None, None, None, "t.urgency", None]
    bulk = [[(one.id, one.confirm_by, one.most) for one in each.bulk] for each in queues]
    assert bulk == [[], [], [(RELEASE_MANY, ConfirmMethod.TOTP, 50_000)], [], []]
    assert [each.uncertain_of for each in queues] == [(), (), (), (), (RELEASE_MANY,)]
    ask = next(each for each in queues[2].use_cases if each.id == "t.ask-evidence")
    assert (ask.states, ask.inputs[0].name, ask.inputs[0].most) == ((ItemState.OPEN,), "question", 500)
    await refused_with(ErrorCode.PERMISSION_MISSING, list_queues(desk.service, desk.actor("s.bell")))


@pytest.mark.requirement("MONEY-01")
async def test_totals_are_per_currency_with_out_and_back_apart(desk: Desk, clock: Any) -> None:
    for number in range(3):
        await desk.push(DISPUTES, payout(f"J-{number}", 1_234, "JPY"))
    for key, minor in (("G-1", 1_000), ("G-2", -250), ("G-3", 9_223_372_036_854_775_807)):
        await desk.push(DISPUTES, payout(key, minor, "GBP"))
    aside = await desk.push(DISPUTES, payout("A", 7, "USD"))
    now = (await desk.detail(aside["id"])).as_of
    await desk.act("m.ito", aside, "set-aside", until=in_days(1, now), reason="later")
    await desk.act("m.ito", await desk.push(DISPUTES, payout("R", 7, "USD")), "reject", reason="no")
    for person in ("m.ito", "k.rao"):
        await desk.next(person, DISPUTES)
    totals = await queue_totals(desk.service, desk.actor("m.ito"), DISPUTES)
    assert [
        (each.currency, each.exponent, each.out_minor, each.out_count, each.back_minor, each.back_count)
        for each in totals.totals
    ] == [("GBP", 2, 9_223_372_036_854_776_807, 2, 250, 1), ("JPY", 0, 3_702, 3, 0, 0)]
    assert (totals.waiting, totals.mine, totals.set_aside, totals.unclaimed) == (6, 1, 1, 4)
    clock.advance(61)
    after = await queue_totals(desk.service, desk.actor("m.ito"), DISPUTES)
    assert (after.mine, after.unclaimed) == (0, 6)


async def test_totals_stay_within_tenant_and_reach(desk: Desk) -> None:
    await desk.push(PAYOUTS, payout("N", 5, customer="north"))
    await desk.push(PAYOUTS, payout("S", 7, customer="south"))
    await desk.push(by="g.push")
    narrowed = await queue_totals(desk.service, desk.actor("m.ito", customers=("south",)), PAYOUTS)
    assert (narrowed.waiting, narrowed.totals[0].out_minor) == (1, 7)
    empty = await queue_totals(desk.service, desk.actor("m.ito"), NOTES)
    assert (empty.waiting, empty.oldest_created, empty.totals) == (0, None, ())
    await refused_with(ErrorCode.NOT_FOUND, queue_totals(desk.service, desk.actor("m.ito"), "t.none"))
