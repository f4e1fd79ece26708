"""The statements of claims, over two connections: lock first, compare after; fences on every write."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from jobcontract.errors import ErrorCode
from jobcontract.states import ClaimEnding
from jobservice.store import claims as store
from jobservice.store import items
from jobservice.store.idempotency import Scope
from jobservice.store.items import Reach
from tests.usecases.desk import PAYOUTS, Desk, refused_with
from tests.usecases.desk import desk as new_desk

ANYWHERE = Reach(customers=None, workspaces=None)


@pytest.fixture
def desk(database: Any, people: Any) -> Desk:
    return new_desk(database, people)


async def waits_for_a_lock(desk: Desk, count: int = 1) -> None:
    """Until so many connections of this database wait for a lock."""
    async with asyncio.timeout(20):
        while True:
            row = desk.people.connection.execute(
                "select count(*) from pg_stat_activity"
                " where datname = current_database() and wait_event_type = 'Lock' and state = 'active'"
            ).fetchone()
            if row[0] >= count:
                return
            await asyncio.sleep(0.01)


@pytest.mark.requirement("release-claims-past-their-lease", "MONEY-30")
@pytest.mark.parametrize("touched", [False, True], ids=["row only locked", "row also written"])
async def test_a_renewal_that_waited_past_the_expiry_is_refused(
    desk: Desk, clock: Any, server: Any, database_name: str, touched: bool
) -> None:
    item = await desk.push()
    await desk.claim("m.ito", item["id"])
    with server.superuser(database_name) as other:
        with other.transaction():
            other.execute("select 1 from jobs.items where id = %s for update", (item["id"],))
            if touched:
                other.execute("update jobs.items set payload = '{}' where id = %s", (item["id"],))
            renewal = asyncio.create_task(desk.renew("m.ito", item["id"], 1))
            await waits_for_a_lock(desk)
            clock.advance(61)
        refusal = await refused_with(ErrorCode.CLAIM_LOST, renewal)
    assert "free again" in refusal.detail
    assert (await desk.detail(item["id"])).claims[0].renewals == 0


async def test_of_two_who_wait_for_one_item_one_gets_it(desk: Desk, server: Any, database_name: str) -> None:
    item = await desk.push()
    with server.superuser(database_name) as other:
        with other.transaction():
            other.execute("select 1 from jobs.items where id = %s for update", (item["id"],))
            both = [asyncio.create_task(desk.claim(person, item["id"])) for person in ("m.ito", "k.rao")]
            await waits_for_a_lock(desk, 2)
        answers = await asyncio.gather(*both, return_exceptions=True)
    (lost,) = [each for each in answers if isinstance(each, BaseException)]
    assert getattr(lost, "kind", lost) is ErrorCode.CLAIM_HELD


async def test_claim_next_waits_for_nobody(desk: Desk, server: Any, database_name: str) -> None:
    first, second = await desk.push(), await desk.push()
    with server.superuser(database_name) as other, other.transaction():
        other.execute("select 1 from jobs.items where id = %s for update", (first["id"],))
        assert (await desk.next("m.ito")).body["item"]["id"] == second["id"]
        assert (await desk.next("k.rao")).body["item"] is None
    assert (await desk.next("k.rao")).body["item"]["id"] == first["id"]


async def test_writes_under_another_fence_or_holder_touch_nothing(desk: Desk) -> None:
    item = await desk.push()
    await desk.claim("m.ito", item["id"])
    async with desk.service.database.transaction("acme") as transaction:
        stale = await items.lock(transaction, item["id"], ANYWHERE)
        now = await items.now(transaction)
    assert stale is not None
    await desk.release("m.ito", item["id"], 1)
    await desk.claim("k.rao", item["id"])
    async with desk.service.database.transaction("acme") as transaction:
        until = now + timedelta(hours=1)
        assert await store.grant(transaction, stale, person="m.ito", now=now, until=until) is None
        assert await store.renew(transaction, stale, until=until) is None
        assert await store.clear(transaction, stale) is None
        assert await store.end(transaction, stale, at=now, ending=ClaimEnding.LAPSED, by=None) == 0
        content = stale.version.content
        standing = items.Standing(scored=None, rule=None, at=now)
        assert (
            await items.change(
                transaction, stale, content, {}, words="", standing=standing, raised=True, changer="m.ito"
            )
            is None
        )
    detail = await desk.detail(item["id"])
    assert (detail.item.holder.id, detail.item.money_version) == ("k.rao", 1)
    assert [(each.fence, each.ending) for each in detail.claims] == [(2, None), (1, "released")]


SCOPE = Scope(person="k.rao", method="POST", path="/v1/queues/t.payouts/claim-next", key="k")


async def test_lapsed_claims_are_written_off_a_bounded_number_at_a_time(desk: Desk, clock: Any) -> None:
    many = desk.with_settings(claims_max=1_000)
    for _ in range(store.FREED_MOST + 5):
        await many.push()
        await many.next("m.ito")
    clock.advance(61)
    async with desk.service.database.transaction("acme") as transaction:
        assert (await store.prepare_next(transaction, PAYOUTS, ANYWHERE, SCOPE)).freed == store.FREED_MOST
        assert (await store.prepare_next(transaction, PAYOUTS, ANYWHERE, SCOPE)).freed == 5
        assert (await store.prepare_next(transaction, PAYOUTS, ANYWHERE, SCOPE)).freed == 0
    rows = desk.people.connection.execute(
        "select (select count(*) from jobs.claims where ending = 'lapsed' and ended_at = expires_at),"
        " (select count(*) from jobs.audit where action = 'claim-lapsed' and person is null),"
        " (select count(*) from jobs.hints as h join jobs.items as i on i.id::text = h.ref"
        "   and i.row_version = h.version and i.holder is null)"
    ).fetchone()
    assert rows == (25, 25, 25)


async def test_the_last_places_of_a_person_are_counted_one_at_a_time(
    desk: Desk, server: Any, database_name: str
) -> None:
    for _ in range(2):
        await desk.push()
    one = desk.with_settings(claims_max=1)
    with server.superuser(database_name) as other:
        with other.transaction():
            other.execute("select pg_advisory_xact_lock(hashtextextended(jsonb_build_array('acme', 'm.ito')::text, 6))")
            both = [asyncio.create_task(one.next("m.ito")) for _ in range(2)]
            await waits_for_a_lock(desk, 2)
        answers = await asyncio.gather(*both, return_exceptions=True)
    assert sorted(isinstance(each, BaseException) for each in answers) == [False, True]
