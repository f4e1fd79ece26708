"""Customers and workspaces narrow what a person reaches in their tenant (MONEY.md 23): what lies outside is not there,
whoever holds it, and no answer says more of it than of an item that never was."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.items import ActOrder, BreakClaim, ChangedItem, ClaimNextOrder, ClaimOrder, HeldClaim
from jobcontract.states import ItemView, Role
from jobservice.usecases import acts, claims, items, queues
from jobservice.usecases.actor import Actor
from jobservice.usecases.listings import Asked, list_items
from jobservice.usecases.service import Service
from tests.usecases.desk import PAYOUTS, Desk, once, payout, refused_with

pytestmark = pytest.mark.requirement("MONEY-23")

Attempt = Callable[[Service, Actor, Mapping[str, Any]], Awaitable[object]]
"""What somebody does with one item, given as it is shown."""

NOWHERE = str(UUID(int=1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrowing:
    """How a person is narrowed, by an item's field; where `south` is theirs, and an item lies `outside` of it."""

    field: str
    outside: str | None

    def actor(self, role: Role = Role.FINANCE, place: str = "south") -> Actor:
        """Mina, who reaches one customer or workspace."""
        return Actor(person="m.ito", tenant="acme", role=role, **{f"{self.field}s": (place,)})  # type: ignore[arg-type]  # the field is one of the two

    async def push(self, desk: Desk, key: str, place: str | None) -> dict[str, Any]:
        """An item that lies there, by somebody who is not narrowed."""
        return await desk.push(PAYOUTS, payout(key).model_copy(update={self.field: place}))


NARROWINGS = [
    pytest.param(Narrowing(field=field, outside=outside), id=f"{field} {outside}")
    for field in ("customer", "workspace")
    for outside in ("north", None)
]


@pytest.fixture(params=NARROWINGS)
def narrowing(request: pytest.FixtureRequest) -> Narrowing:
    """One way to be narrowed."""
    found: Narrowing = request.param
    return found


@pytest.fixture(params=[False, True], ids=["free", "held by a colleague"])
async def outside(request: pytest.FixtureRequest, desk: Desk, narrowing: Narrowing) -> Mapping[str, Any]:
    """The one item, out of reach."""
    item = await narrowing.push(desk, "OUT", narrowing.outside)
    if request.param:
        item = (await desk.claim("k.rao", item["id"])).body["item"]
    return item


async def read(service: Service, actor: Actor, item: Mapping[str, Any]) -> object:
    return await items.read_item(service, actor, item["id"])


async def claim(service: Service, actor: Actor, item: Mapping[str, Any]) -> object:
    return await claims.claim(service, actor, item["id"], ClaimOrder(), once())


async def renew(service: Service, actor: Actor, item: Mapping[str, Any]) -> object:
    return await claims.renew_claim(service, actor, item["id"], HeldClaim(fence=1), once())


async def release(service: Service, actor: Actor, item: Mapping[str, Any]) -> object:
    return await claims.release_claim(service, actor, item["id"], HeldClaim(fence=1), once())


async def take_from(service: Service, actor: Actor, item: Mapping[str, Any]) -> object:
    order = BreakClaim(fence=1, reason="Ill")
    return await claims.break_claim(service, actor, item["id"], order, once())


async def act(service: Service, actor: Actor, item: Mapping[str, Any]) -> object:
    order = ActOrder(money_version=item["money_version"], fence=None, inputs={"text": "x"})
    return await acts.act(service, actor, item["id"], "t.note", order, once())


async def code_of(attempt: Awaitable[object]) -> ErrorCode | None:
    """What it is refused with; None where it is not."""
    try:
        await attempt
    except Refusal as refusal:
        return refusal.kind
    return None


@pytest.mark.parametrize("attempt", [read, claim, renew, release, take_from, act])
async def test_an_item_outside_is_answered_as_one_that_never_was(
    desk: Desk, narrowing: Narrowing, outside: Mapping[str, Any], attempt: Attempt
) -> None:
    before = desk.people.connection.execute("select row_version, holder from jobs.items").fetchall()
    told = await refused_with(ErrorCode.NOT_FOUND, attempt(desk.service, narrowing.actor(), outside))
    never = await refused_with(
        ErrorCode.NOT_FOUND, attempt(desk.service, narrowing.actor(), {**outside, "id": NOWHERE})
    )
    assert (told.detail.replace(outside["id"], NOWHERE), told.extra) == (never.detail, never.extra)
    assert desk.people.connection.execute("select row_version, holder from jobs.items").fetchall() == before
    if narrowing.outside is not None:
        reaching = attempt(desk.service, narrowing.actor(place=narrowing.outside), outside)
        assert await code_of(reaching) is not ErrorCode.NOT_FOUND, "who reaches it is answered about it"


@pytest.mark.parametrize("view", list(ItemView))
async def test_no_page_of_a_queue_shows_an_item_outside(
    desk: Desk, narrowing: Narrowing, outside: Mapping[str, Any], view: ItemView
) -> None:
    inside = await narrowing.push(desk, "IN", "south")
    place = {
        ItemView.WAITING: "state = 'open'",
        ItemView.SET_ASIDE: "set_aside_until = jobs.now() + interval '1 day'",
        ItemView.CLOSED: "state = 'resolved', closed_at = jobs.now(), holder = null, taken_at = null, expires_at = null",
    }[view]
    desk.people.connection.execute(f"update jobs.items set {place}".encode())
    page = await list_items(desk.service, narrowing.actor(), Asked(queue=PAYOUTS, view=view))
    assert inside["id"].encode() in page.json
    assert outside["id"].encode() not in page.json


async def test_totals_count_no_item_outside(desk: Desk, narrowing: Narrowing, outside: Mapping[str, Any]) -> None:
    assert outside["queue"] == PAYOUTS
    empty = await queues.queue_totals(desk.service, narrowing.actor(), PAYOUTS)
    assert (empty.waiting, empty.unclaimed, empty.oldest_created, empty.totals) == (0, 0, None, ())
    await narrowing.push(desk, "IN", "south")
    assert (await queues.queue_totals(desk.service, narrowing.actor(), PAYOUTS)).waiting == 1


async def test_claim_next_gives_no_item_outside(desk: Desk, narrowing: Narrowing, outside: Mapping[str, Any]) -> None:
    async def following() -> Any:
        return (await claims.claim_next(desk.service, narrowing.actor(), PAYOUTS, ClaimNextOrder(), once())).body[
            "item"
        ]

    assert outside["queue"] == PAYOUTS
    assert await following() is None
    inside = await narrowing.push(desk, "IN", "south")
    assert (await following())["id"] == inside["id"]


async def test_a_pusher_changes_no_item_outside(desk: Desk, narrowing: Narrowing, outside: Mapping[str, Any]) -> None:
    changed = ChangedItem(
        **payout("OUT", 99).model_dump(include={"title", "amount", "payee", "inputs"}),
        money_version=outside["money_version"],
    )

    def attempt(key: str, place: str = "south") -> Awaitable[object]:
        return items.change_item(desk.service, narrowing.actor(Role.PUSHER, place), PAYOUTS, key, changed)

    told = await refused_with(ErrorCode.NOT_FOUND, attempt("OUT"))
    never = await refused_with(ErrorCode.NOT_FOUND, attempt("NEVER"))
    assert told.detail.replace("OUT", "NEVER") == never.detail
    assert (await desk.detail(outside["id"])).item.money_version == 1
    if narrowing.outside is not None:
        await attempt("OUT", narrowing.outside)
        assert (await desk.detail(outside["id"])).item.money_version == 2, "held or not: who reaches it changes it"


async def test_a_key_taken_outside_names_no_item(desk: Desk, narrowing: Narrowing, outside: Mapping[str, Any]) -> None:
    async def attempt(place: str) -> Refusal:
        pusher = narrowing.actor(Role.PUSHER, place)
        new = payout("OUT").model_copy(update={narrowing.field: place})
        return await refused_with(ErrorCode.KEY_TAKEN, items.push_item(desk.service, pusher, PAYOUTS, new, once()))

    told = await attempt("south")
    assert outside["id"] not in told.detail
    assert "item" not in told.extra
    if narrowing.outside is not None:
        assert (await attempt(narrowing.outside)).extra["item"] == outside["id"]
