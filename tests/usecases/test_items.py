"""Items as people and pushers meet them: pushing, changing, listing, reading."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import TypeAdapter

from jobcontract.errors import ErrorCode
from jobcontract.items import ChangedItem, Item, NewAmount, NewItem, NewPayee
from jobcontract.states import ItemView
from jobservice.usecases import items
from jobservice.usecases.listings import Asked, Mark, list_items
from tests.usecases.desk import DISPUTES, NOTES, PAYOUTS, Desk, in_days, once, payout, refused_with

ROWS = TypeAdapter(tuple[Item, ...])


async def listed(desk: Desk, *, queue: str = PAYOUTS, view: ItemView = ItemView.WAITING, **more: Any) -> list[Item]:
    """Every row of a view."""
    page = await list_items(desk.service, desk.actor("m.ito", **more), Asked(queue=queue, view=view))
    assert page.next is None
    return list(ROWS.validate_json(page.json))


def changed(version: int, minor: int = 1_234, **more: Any) -> ChangedItem:
    values: dict[str, Any] = {
        "money_version": version,
        "title": "Payout C-1",
        "amount": NewAmount(minor=minor, currency="GBP"),
        "payee": NewPayee(id="sup-1", name="A Supplier Ltd", account="GB29NWBK60161331926819"),
        "inputs": {"invoice": "INV-1"},
    }
    return ChangedItem(**(values | more))


async def test_a_pushed_item_is_listed_as_the_contract_says(desk: Desk) -> None:
    created = datetime(2026, 1, 2, 3, 4, 5, 678_901, tzinfo=UTC)
    pushed = await desk.push(PAYOUTS, payout("P-1", created=created, payload={"line": "café"}))
    (row,) = await listed(desk)
    assert row == Item.model_validate(pushed) == (await desk.detail(row.id)).item
    assert row.created == created
    assert row.payee is not None
    assert row.amount is not None
    assert (row.key, row.payee.account_last4, row.inputs) == ("P-1", "6819", {"invoice": "INV-1"})
    assert (row.amount.minor, row.amount.currency, row.amount.exponent) == (1_234, "GBP", 2)
    detail = await desk.detail(row.id)
    assert (detail.payload, detail.pushed_by.name) == ({"line": "café"}, "Pay Feed")
    assert "NWBK" not in detail.model_dump_json()


@pytest.mark.requirement("MONEY-01")
@pytest.mark.parametrize(("currency", "exponent"), [("JPY", 0), ("GBP", 2), ("KWD", 3), ("CLF", 4)])
async def test_an_amount_carries_its_currencys_own_exponent(desk: Desk, currency: str, exponent: int) -> None:
    pushed = await desk.push(PAYOUTS, payout("P-1", 1_234, currency))
    assert pushed["amount"] == {"minor": 1_234, "currency": currency, "exponent": exponent}


async def test_a_credit_is_legal_and_stays_negative(desk: Desk) -> None:
    assert (await desk.push(PAYOUTS, payout("P-1", -500)))["amount"]["minor"] == -500


@pytest.mark.parametrize(
    ("queue", "new", "why"),
    [
        (PAYOUTS, payout("P", 0), "zero"),
        (PAYOUTS, payout("P", 1, "ZZZ"), "not a currency of ISO 4217"),
        (PAYOUTS, payout("P", inputs={}), "`invoice` (Invoice) is required"),
        (PAYOUTS, payout("P", inputs={"invoice": "x" * 41}), "at most 40"),
        (PAYOUTS, payout("P", inputs={"invoice": 7}), "`invoice` is text"),
        (PAYOUTS, payout("P", inputs={"invoice": "a", "colour": "red"}), "`colour` is not an input"),
        (PAYOUTS, payout("P", created=datetime(9999, 12, 31, tzinfo=UTC)), "`created`"),
        (PAYOUTS, payout("P", payload={"deep": json.loads("[" * 40 + "]" * 40)}), "32 levels"),
        (PAYOUTS, payout("P", payload={"a": ["b\x00"]}), "NUL"),
        (PAYOUTS, payout("P", payload={"a": {"\ud800": 1}}), "surrogates"),
        (PAYOUTS, NewItem(key="P", title="no money", inputs={"invoice": "a"}), "needs `amount` and `payee`"),
        (NOTES, payout("P", inputs={}), "carries no money"),
        (
            PAYOUTS,
            NewItem(key="P", title="half", amount=NewAmount(minor=1, currency="GBP"), inputs={"invoice": "a"}),
            "come together",
        ),
    ],
)
async def test_wrong_content_is_refused_and_says_why(desk: Desk, queue: str, new: NewItem, why: str) -> None:
    refusal = await refused_with(ErrorCode.INVALID_REQUEST, desk.push(queue, new))
    assert why in refusal.detail
    assert desk.people.connection.execute("select count(*) from jobs.items").fetchone() == (0,)
    assert desk.audited() == [("p.push", "push-item", "refused")]


@pytest.mark.requirement("MONEY-8")
async def test_a_key_is_taken_for_ever_and_the_refusal_names_its_item(desk: Desk) -> None:
    first = await desk.push(NOTES, NewItem(key="K", title="one"))
    await desk.act("m.ito", first, "reject", reason="closed ones count too")
    refusal = await refused_with(ErrorCode.KEY_TAKEN, desk.push(PAYOUTS, payout("K")))
    assert refusal.extra["item"] == first["id"]
    assert first["id"] in refusal.detail
    await desk.push(PAYOUTS, payout("K"), by="g.push")
    released = await desk.push(PAYOUTS, payout("R"))
    desk.people.connection.execute(
        "update jobs.items set state = 'released', closed_at = jobs.now() where id = %s", (released["id"],)
    )
    refusal = await refused_with(ErrorCode.KEY_TAKEN, desk.push(PAYOUTS, payout("R")))
    assert refusal.extra["item"] == released["id"], "what was paid is never paid again under another id"


async def test_only_a_pusher_pushes(desk: Desk) -> None:
    refusal = await refused_with(ErrorCode.PERMISSION_MISSING, desk.push(by="m.ito"))
    assert "item.push (pusher)" in refusal.detail


@pytest.mark.requirement("PG-01")
@pytest.mark.parametrize(
    "text", ["x" * 7_900, "x" * 8_100, "x" * 200_000, "é" * 4_100], ids=["7900", "8100", "200000", "é"]
)
async def test_a_large_payload_is_accepted_and_its_hint_stays_small(desk: Desk, text: str) -> None:
    pushed = await desk.push(PAYOUTS, payout("P-1", payload={"text": text}))
    assert (await desk.detail(pushed["id"])).payload == {"text": text}
    hint = desk.people.connection.execute("select length(h::text) from jobs.hints as h").fetchone()
    assert hint[0] < 200


@pytest.mark.requirement("PG-01")
async def test_a_payload_past_the_stated_limit_names_it(desk: Desk) -> None:
    small = desk.with_settings(payload_most=1_024)
    refusal = await refused_with(ErrorCode.BODY_TOO_LARGE, small.push(PAYOUTS, payout("P", payload={"t": "x" * 1_024})))
    assert "1,024 (payload.most)" in refusal.detail


@pytest.mark.requirement("MONEY-7")
async def test_a_change_raises_the_version_and_keeps_the_claim(desk: Desk) -> None:
    pushed = await desk.push(PAYOUTS, payout("C-1"))
    await desk.claim("m.ito", pushed["id"])
    pusher = desk.actor("p.push")
    after = (await items.change_item(desk.service, pusher, PAYOUTS, "C-1", changed(1, 99))).item
    assert after.amount is not None
    assert after.holder is not None
    assert (after.money_version, after.amount.minor, after.holder.id, after.fence) == (2, 99, "m.ito", 1)
    versions = desk.people.connection.execute(
        "select money_version, amount_minor, changed_by from jobs.item_versions order by 1"
    ).fetchall()
    assert versions == [(1, 1_234, "p.push"), (2, 99, "p.push")]


@pytest.mark.requirement("MONEY-7")
async def test_the_same_content_again_is_no_new_version(desk: Desk) -> None:
    await desk.push(PAYOUTS, payout("C-1"))
    pusher = desk.actor("p.push")
    for version in (1, 1, 7):
        after = await items.change_item(desk.service, pusher, PAYOUTS, "C-1", changed(version))
        assert after.item.money_version == 1
    assert [each for each in desk.audited() if each[1] == "change-item"] == []
    new_payload = changed(1, payload={"seen": True})
    after = await items.change_item(desk.service, pusher, PAYOUTS, "C-1", new_payload)
    assert after.item.money_version == 1, "a payload matters to no payment"
    assert (await desk.detail(after.item.id)).payload == {"seen": True}


async def test_a_change_under_a_stale_version_or_of_a_closed_item_is_refused(desk: Desk) -> None:
    pushed = await desk.push(PAYOUTS, payout("C-1"))
    pusher = desk.actor("p.push")
    await items.change_item(desk.service, pusher, PAYOUTS, "C-1", changed(1, 99))
    stale = await refused_with(
        ErrorCode.VERSION_CHANGED, items.change_item(desk.service, pusher, PAYOUTS, "C-1", changed(1, 98))
    )
    assert stale.extra["changes"] == [{"field": "amount", "before": "GBP 12.34", "after": "GBP 0.99"}]
    held = (await desk.claim("m.ito", pushed["id"])).body["item"]
    await desk.act("m.ito", held, "reject", reason="no")
    await refused_with(ErrorCode.ITEM_CLOSED, items.change_item(desk.service, pusher, PAYOUTS, "C-1", changed(3, 97)))
    await refused_with(ErrorCode.NOT_FOUND, items.change_item(desk.service, pusher, DISPUTES, "C-1", changed(3, 97)))
    assert desk.audited()[-1] == ("p.push", "change-item", "refused")


@pytest.mark.requirement("order-unscored-queues-by-age")
async def test_a_queue_without_scores_lists_the_oldest_first_and_each_row_once(desk: Desk) -> None:
    newest = datetime(2026, 5, 1, tzinfo=UTC)
    for number in (3, 1, 4, 0, 2):
        await desk.push(PAYOUTS, payout(f"P-{number}", created=newest - timedelta(days=number)))
    for number in (5, 6):
        await desk.push(PAYOUTS, payout(f"P-{number}", created=newest))
    rows = await listed(desk)
    assert [each.key for each in rows[:4]] == ["P-4", "P-3", "P-2", "P-1"]
    assert {each.key for each in rows[4:]} == {"P-0", "P-5", "P-6"}
    assert [(each.created, each.id) for each in rows] == sorted((each.created, each.id) for each in rows)


async def test_views_part_what_waits_from_what_is_set_aside_or_closed(desk: Desk, clock: Any) -> None:
    waiting, aside, closed = [await desk.push(NOTES) for _ in range(3)]
    now = (await desk.detail(waiting["id"])).as_of
    await desk.act("m.ito", aside, "set-aside", until=in_days(1, now), reason="later")
    await desk.act("m.ito", closed, "reject", reason="no")

    async def view(which: ItemView) -> list[str]:
        return [each.id for each in await listed(desk, queue=NOTES, view=which)]

    assert await view(ItemView.WAITING) == [waiting["id"]]
    assert await view(ItemView.SET_ASIDE) == [aside["id"]]
    assert await view(ItemView.CLOSED) == [closed["id"]]
    clock.advance(86_401)
    assert await view(ItemView.WAITING) == [waiting["id"], aside["id"]]
    assert await view(ItemView.SET_ASIDE) == []


async def test_reach_and_tenant_narrow_what_is_seen(desk: Desk) -> None:
    north = await desk.push(PAYOUTS, payout("N", customer="north"))
    await desk.push(PAYOUTS, payout("S", customer="south"))
    await desk.push(PAYOUTS, payout("none"))
    assert [each.key for each in await listed(desk, customers=("north",))] == ["N"]
    await refused_with(
        ErrorCode.NOT_FOUND,
        items.read_item(desk.service, desk.actor("m.ito", customers=("south",)), north["id"]),
    )
    foreign = await list_items(desk.service, desk.actor("g.fin"), Asked(queue=PAYOUTS))
    assert json.loads(foreign.json) == []
    await refused_with(ErrorCode.NOT_FOUND, items.read_item(desk.service, desk.actor("g.fin"), north["id"]))


async def test_looking_needs_the_permission_a_queue_and_a_place_and_is_not_audited(desk: Desk) -> None:
    async def page(person: str, queue: str, mark: Mark | None = None) -> object:
        return await list_items(desk.service, desk.actor(person), Asked(queue=queue), mark=mark)

    await refused_with(ErrorCode.PERMISSION_MISSING, page("p.push", PAYOUTS))
    assert "t.disputes, t.notes, t.payouts" in (await refused_with(ErrorCode.NOT_FOUND, page("m.ito", "t.none"))).detail
    await refused_with(ErrorCode.CURSOR_INVALID, page("m.ito", PAYOUTS, ("next", 0, "yesterday", "x")))
    await page("m.ito", PAYOUTS)
    assert desk.audited() == []


@pytest.mark.requirement("HTTP-03")
async def test_the_same_push_sent_twice_is_one_item(desk: Desk) -> None:
    request = once("/v1/queues/t.payouts/items")
    pusher = desk.actor("p.push")
    first = await items.push_item(desk.service, pusher, PAYOUTS, payout("K"), request)
    again = await items.push_item(desk.service, pusher, PAYOUTS, payout("K"), request)
    assert (first.status, again.status, again.replayed, again.body) == (201, 201, True, first.body)
