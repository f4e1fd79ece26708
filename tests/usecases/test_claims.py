"""Claims as people meet them: taking, keeping, giving back, taking over, breaking, claim next."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from jobcontract.errors import ErrorCode
from jobcontract.items import Claimed, ClaimNextOrder
from jobcontract.states import Role
from jobservice.store.claims import FREED_MOST
from jobservice.usecases import claims
from jobservice.usecases.actor import Actor
from jobservice.usecases.idempotency import Once
from jobservice.usecases.listings import Asked, list_items
from tests.usecases.desk import DISPUTES, NOTES, PAYOUTS, SCORED, TOTAL, Desk, in_days, once, payout, refused_with


async def test_a_claim_names_its_holder_expiry_fence_and_cap(desk: Desk) -> None:
    item = await desk.push()
    claimed = Claimed.model_validate((await desk.claim("m.ito", item["id"])).body)
    assert claimed.item is not None
    assert claimed.item.holder is not None
    assert (claimed.item.holder.id, claimed.item.holder.name, claimed.item.fence) == ("m.ito", "Mina Ito", 1)
    assert claimed.item.money_version == 1, "a claim is no change that matters to a payment"
    assert claimed.item.expires_at is not None
    assert claimed.capped_at is not None
    assert (claimed.item.expires_at - claimed.as_of).total_seconds() == pytest.approx(60, abs=5)
    assert (claimed.capped_at - claimed.item.expires_at).total_seconds() == pytest.approx(TOTAL - 60)


@pytest.mark.requirement("state-the-claim-mode")
async def test_a_held_item_is_refused_to_a_colleague_naming_the_holder(desk: Desk) -> None:
    item = await desk.push()
    await desk.claim("m.ito", item["id"])
    refusal = await refused_with(ErrorCode.CLAIM_HELD, desk.claim("k.rao", item["id"]))
    assert "Mina Ito" in refusal.detail
    assert desk.audited()[-1] == ("k.rao", "claim", "refused")


async def test_ones_own_claim_is_not_taken_twice(desk: Desk) -> None:
    item = await desk.push()
    await desk.claim("m.ito", item["id"])
    refusal = await refused_with(ErrorCode.CLAIM_HELD, desk.claim("m.ito", item["id"]))
    assert "You hold it already" in refusal.detail


@pytest.mark.requirement("release-claims-past-their-lease")
async def test_a_lapsed_claim_is_claimable_at_once_and_history_says_so(desk: Desk, clock: Any) -> None:
    item = await desk.push()
    await desk.claim("m.ito", item["id"])
    clock.advance(61)
    assert (await desk.detail(item["id"])).item.holder is None, "a lapsed claim shows as free before anyone swept"
    taken = await desk.claim("k.rao", item["id"])
    assert taken.body["item"]["fence"] == 2
    newer, older = (await desk.detail(item["id"])).claims
    assert (newer.holder.id, newer.ending) == ("k.rao", None)
    assert (older.holder.id, older.ending, older.ended_at) == ("m.ito", "lapsed", older.expires_at)
    assert (None, "claim-lapsed", "done") in desk.audited()


@pytest.mark.requirement("release-claims-past-their-lease")
async def test_the_former_holder_is_refused_and_told_who_holds_it_now(desk: Desk, clock: Any) -> None:
    item = (await desk.claim("m.ito", (await desk.push())["id"])).body["item"]
    clock.advance(61)
    free = await refused_with(ErrorCode.CLAIM_LOST, desk.act("m.ito", item, "note", text="late"))
    assert "free again" in free.detail
    await desk.claim("k.rao", item["id"])
    taken = await refused_with(ErrorCode.CLAIM_LOST, desk.act("m.ito", item, "note", text="late"))
    assert "Kiran Rao" in taken.detail
    for late in (desk.renew("m.ito", item["id"], 1), desk.release("m.ito", item["id"], 1)):
        assert "Kiran Rao" in (await refused_with(ErrorCode.CLAIM_LOST, late)).detail


async def test_renewing_counts_from_now_and_never_past_the_cap(desk: Desk, clock: Any) -> None:
    item = await desk.push()
    first = Claimed.model_validate((await desk.claim("m.ito", item["id"])).body)
    for _ in range(2):
        clock.advance(50)
        last = Claimed.model_validate((await desk.renew("m.ito", item["id"], 1)).body)
    assert last.item is not None
    assert last.item.expires_at == last.capped_at == first.capped_at
    refusal = await refused_with(ErrorCode.CLAIM_CAPPED, desk.renew("m.ito", item["id"], 1))
    assert "150 s" in refusal.detail
    assert (await desk.detail(item["id"])).claims[0].renewals == 2


async def test_releasing_frees_the_item_and_keeps_who_held_it(desk: Desk) -> None:
    item = await desk.push()
    await desk.claim("m.ito", item["id"])
    await refused_with(ErrorCode.CLAIM_LOST, desk.release("k.rao", item["id"], 1))
    released = Claimed.model_validate((await desk.release("m.ito", item["id"], 1)).body)
    assert released.item is not None
    assert (released.item.holder, released.capped_at) == (None, None)
    (record,) = (await desk.detail(item["id"])).claims
    assert (record.ending, record.ended_by.id) == ("released", "m.ito")
    assert (await desk.claim("k.rao", item["id"])).body["item"]["fence"] == 2


async def test_breaking_a_claim_needs_its_fence_and_leaves_who_and_why(desk: Desk) -> None:
    item = await desk.push()
    await refused_with(ErrorCode.CLAIM_NOT_HELD, desk.take_from("k.rao", item["id"], 1))
    await desk.claim("m.ito", item["id"])
    await refused_with(ErrorCode.CLAIM_HELD, desk.take_from("m.ito", item["id"], 1))
    assert "has ended" in (await refused_with(ErrorCode.CLAIM_HELD, desk.take_from("k.rao", item["id"], 7))).detail
    taken = await desk.take_from("k.rao", item["id"], 1, reason="On leave")
    assert (taken.body["item"]["holder"]["id"], taken.body["item"]["fence"]) == ("k.rao", 2)
    for person in ("m.ito", "k.rao"):
        broken = (await desk.detail(item["id"], person)).claims[1]
        assert (broken.ending, broken.ended_by.name, broken.reason) == ("broken", "Kiran Rao", "On leave")
    row = desk.people.connection.execute(
        "select detail from jobs.audit where action = 'break-claim' and outcome = 'done'"
    ).fetchone()
    assert (row[0]["held_by"], row[0]["reason"]) == ("m.ito", "On leave")


async def test_breaking_needs_its_own_permission(desk: Desk) -> None:
    item = await desk.push()
    await desk.claim("m.ito", item["id"])
    refusal = await refused_with(ErrorCode.PERMISSION_MISSING, desk.take_from("o.lind", item["id"], 1))
    assert "queue.claim.break" in refusal.detail
    assert "administrator of acme" in refusal.detail
    assert desk.audited()[-1] == ("o.lind", "break-claim", "refused")


async def test_a_queue_without_claims_refuses_every_claim_order(desk: Desk) -> None:
    item = await desk.push(NOTES)
    for order in (
        desk.claim("m.ito", item["id"]),
        desk.renew("m.ito", item["id"], 1),
        desk.release("m.ito", item["id"], 1),
        desk.take_from("m.ito", item["id"], 1),
        desk.next("m.ito", NOTES),
    ):
        await refused_with(ErrorCode.CLAIMS_DISABLED, order)


async def test_foreign_unknown_and_unreachable_items_answer_alike(desk: Desk) -> None:
    item = await desk.push()
    foreign = await refused_with(ErrorCode.NOT_FOUND, desk.claim("g.fin", item["id"]))
    unknown = await refused_with(ErrorCode.NOT_FOUND, desk.claim("m.ito", "00000000-0000-7000-8000-000000000000"))
    odd = await refused_with(ErrorCode.NOT_FOUND, desk.claim("m.ito", "no-id\x00"))
    assert foreign.detail.replace(item["id"], "") == unknown.detail.replace("00000000-0000-7000-8000-000000000000", "")
    assert "There is no item" in odd.detail
    assert (await desk.detail(item["id"])).item.holder is None


async def test_a_person_holds_at_most_claims_max_also_when_they_ask_all_at_once(desk: Desk, clock: Any) -> None:
    pushed = [await desk.push() for _ in range(8)]
    orders = [desk.claim("m.ito", each["id"]) for each in pushed[:4]] + [desk.next("m.ito") for _ in range(4)]
    answers = await asyncio.gather(*orders, return_exceptions=True)
    assert sum(not isinstance(each, BaseException) for each in answers) == 3
    held = desk.people.connection.execute("select count(*) from jobs.items where holder = 'm.ito'").fetchone()
    assert held == (3,)
    await refused_with(ErrorCode.CLAIMS_MAX, desk.next("m.ito"))
    clock.advance(61)
    assert (await desk.next("m.ito")).body["item"] is not None, "lapsed claims do not count"


@pytest.mark.requirement("state-the-claim-mode")
async def test_fifty_callers_at_once_get_fifty_different_items(desk: Desk) -> None:
    for number in range(50):
        desk.people.add(f"clerk-{number}", "acme", "finance")
    pushed = [await desk.push() for _ in range(60)]

    answers = await asyncio.gather(*(desk.next(f"clerk-{number}") for number in range(50)))
    got = [each.body["item"]["id"] for each in answers]
    assert len(set(got)) == 50
    assert set(got) == {each["id"] for each in pushed[:50]}, "the oldest fifty"
    rows = desk.people.connection.execute("select count(*), count(distinct item) from jobs.claims").fetchone()
    assert rows == (50, 50)


@pytest.mark.requirement("order-unscored-queues-by-age")
async def test_claim_next_takes_the_oldest_free_one_and_skips_set_aside_and_held(desk: Desk, clock: Any) -> None:
    pushed = [await desk.push() for _ in range(4)]
    held = (await desk.claim("m.ito", pushed[0]["id"])).body["item"]
    now = (await desk.detail(held["id"])).as_of
    await desk.act("m.ito", held, "set-aside", until=in_days(1, now), reason="later")
    await desk.claim("m.ito", pushed[1]["id"])
    assert (await desk.next("k.rao")).body["item"]["id"] == pushed[2]["id"]
    clock.advance(61)
    assert (await desk.next("k.rao")).body["item"]["id"] == pushed[1]["id"], "lapsed: free again, and the oldest"
    lapsed = desk.people.connection.execute(
        "select item::text, ended_at = expires_at from jobs.claims where ending = 'lapsed' order by fence, item"
    ).fetchall()
    assert sorted(lapsed) == sorted([(pushed[1]["id"], True), (pushed[2]["id"], True)])
    clock.advance(86_400)
    assert (await desk.next("k.rao")).body["item"]["id"] == pushed[0]["id"], "its time has come"


@pytest.mark.requirement("order-queue-items-by-score")
async def test_claim_next_takes_the_highest_score_of_what_matches_and_of_what_the_clerk_may_see(desk: Desk) -> None:
    for key, minor, currency, customer in (
        ("small", 5, "GBP", "north"),
        ("large", 200_000, "GBP", "south"),
        ("larger", 300_000, "GBP", "south"),
        ("yen", 250_000, "JPY", "north"),
    ):
        await desk.push(SCORED, payout(key, minor, currency, customer=customer))

    async def taken(filter_text: str, request: Once | None = None, **narrowed: Any) -> str | None:
        actor = desk.actor("m.ito", **narrowed)
        order = ClaimNextOrder(filter=filter_text)
        answered = await claims.claim_next(desk.service, actor, SCORED, order, request or once())
        item: dict[str, Any] | None = answered.body["item"]
        return None if item is None else item["key"]

    assert await taken("currency:EUR") is None
    assert await taken("currency:GBP", customers=("north",)) == "small"
    assert await taken("sort:amount currency:GBP") == "larger"
    assert await taken("score<50") is None, "what matches is held"
    assert await taken("") == "large"
    refused = await refused_with(ErrorCode.FILTER_INVALID, taken("surprise:1"))
    assert refused.extra["length"] == len("surprise")
    narrowed = claims.claim_next(desk.service, desk.actor("s.audit"), SCORED, ClaimNextOrder(), once())
    await refused_with(ErrorCode.PERMISSION_MISSING, narrowed)


@pytest.mark.requirement("order-queue-items-by-score")
async def test_twenty_callers_at_once_get_the_twenty_highest_that_match(desk: Desk) -> None:
    for number in range(20):
        desk.people.add(f"clerk-{number}", "acme", "finance")
    for number in range(50):
        await desk.push(SCORED, payout(f"K-{number}", 200_000 + number if number % 2 else 5))
    page = await list_items(desk.service, desk.actor("m.ito"), Asked(queue=SCORED, filter="amount>1 currency:GBP"))
    wanted = [each["id"] for each in json.loads(page.json)][:20]
    order = ClaimNextOrder(filter="amount>1 currency:GBP")
    answers = await asyncio.gather(
        *(claims.claim_next(desk.service, desk.actor(f"clerk-{number}"), SCORED, order, once()) for number in range(20))
    )
    got = [each.body["item"]["id"] for each in answers]
    assert sorted(got) == sorted(wanted)
    rows = desk.people.connection.execute("select count(*), count(distinct item) from jobs.claims").fetchone()
    assert rows == (20, 20)


@pytest.mark.requirement("order-queue-items-by-score")
async def test_claim_next_takes_the_highest_of_more_lapsed_ones_than_it_writes_off(desk: Desk, clock: Any) -> None:
    # A team went to lunch: every claim lapsed, and the best item is the one that lapsed last.
    for number in range(FREED_MOST + 2):
        await desk.push(SCORED, payout(f"K-{number}", 200_000 if number == 0 else 5))
    desk.people.connection.execute(
        "update jobs.items set holder = 'k.rao', taken_at = jobs.now() - interval '2 h',"
        " expires_at = jobs.now() - case when score >= 50 then interval '1 s' else interval '1 h' end"
    )
    assert (await desk.next("m.ito", SCORED)).body["item"]["key"] == "K-0"


@pytest.mark.requirement("order-queue-items-by-score")
async def test_claim_next_never_says_that_none_is_free_for_lapsed_claims_that_do_not_match(desk: Desk) -> None:
    for number in range(FREED_MOST + 2):
        await desk.push(SCORED, payout(f"K-{number}", 200_000))
    await desk.push(SCORED, payout("wanted", 5))
    desk.people.connection.execute(
        "update jobs.items set holder = 'k.rao', taken_at = jobs.now() - interval '2 h',"
        " expires_at = jobs.now() - interval '1 h'"
    )
    order = ClaimNextOrder(filter="wanted")
    answered = await claims.claim_next(desk.service, desk.actor("m.ito"), SCORED, order, once())
    assert answered.body["item"]["key"] == "wanted"


async def test_claim_next_on_an_empty_queue_answers_null_and_spends_no_key(desk: Desk) -> None:
    request = once("/next")
    empty = await desk.next("m.ito", request=request)
    assert Claimed.model_validate(empty.body).item is None
    item = await desk.push()
    again = await desk.next("m.ito", request=request)
    assert (again.body["item"]["id"], again.replayed) == (item["id"], False)


async def test_a_narrowed_clerk_claims_only_within_reach(desk: Desk) -> None:
    await desk.push(PAYOUTS, payout("A", customer="north"))
    south = await desk.push(PAYOUTS, payout("B", customer="south"))
    narrowed = desk.actor("m.ito", customers=("south",))
    got = await claims.claim_next(desk.service, narrowed, PAYOUTS, ClaimNextOrder(), once())
    assert got.body["item"]["id"] == south["id"]
    none = await claims.claim_next(desk.service, narrowed, PAYOUTS, ClaimNextOrder(), once())
    assert none.body["item"] is None


@pytest.mark.requirement("release-claims-past-their-lease", "MONEY-23")
async def test_lapsed_items_out_of_reach_do_not_hide_the_lapsed_one_within(desk: Desk, clock: Any) -> None:
    many = desk.with_settings(claims_max=1_000)
    for number in range(FREED_MOST + 2):
        north = await many.push(PAYOUTS, payout(f"N-{number}", customer="north", workspace="first"))
        await many.claim("k.rao", north["id"])
    south = await many.push(PAYOUTS, payout("S", customer="south", workspace="second"))
    await many.claim("k.rao", south["id"])
    clerk = Actor(person="m.ito", tenant="acme", role=Role.FINANCE)
    for narrowed in (replace(clerk, customers=("south",)), replace(clerk, workspaces=("second",))):
        clock.advance(61)
        got = await claims.claim_next(many.service, narrowed, PAYOUTS, ClaimNextOrder(), once())
        assert got.body["item"]["id"] == south["id"]


@pytest.mark.requirement("HTTP-03")
async def test_the_same_claim_sent_twice_is_one_claim(desk: Desk) -> None:
    item = await desk.push(DISPUTES)
    request = once(f"/v1/items/{item['id']}/claim")
    first = await desk.claim("m.ito", item["id"], request)
    again = await desk.claim("m.ito", item["id"], request)
    assert again.replayed
    assert again.body == first.body
    assert len((await desk.detail(item["id"])).claims) == 1
    assert desk.audited().count(("m.ito", "claim", "done")) == 1
