"""The fake service means what the real one means: every test here runs against both."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest

from jobconsole.client import queues as client
from jobconsole.client.audit import all_audit, audit
from jobconsole.client.errors import ServiceRefused
from jobconsole.client.service import Service
from jobconsole.client.session import colleagues, me
from jobcontract.items import ActOrder, Item
from jobcontract.permissions import GRANTS
from jobcontract.states import ClaimEnding, ClaimMode, ItemState, ItemView, Moves, OutcomeKind, Role
from tests.client.stage import AUDITOR, FIRST, OPERATOR, PUSHER, SECOND, Stage

PAYOUTS, DISPUTES = "payments.payouts", "payments.disputes"
key = client.new_key


async def three(stage: Stage) -> list[str]:
    """Three payouts, oldest first."""
    return [
        await stage.add(PAYOUTS, "Oldest", minor=300, days_old=9),
        await stage.add(PAYOUTS, "Middle", minor=-120, days_old=5),
        await stage.add(PAYOUTS, "Newest", minor=500, days_old=2, currency="JPY"),
    ]


async def claimed(service: Service, item: str) -> Item:
    """The item, claimed."""
    answer = (await client.claim(service, item, key())).item
    assert answer is not None
    return answer


def order(item: Item, **inputs: str) -> ActOrder:
    """An act on the item as it was seen, under its claim where it was held."""
    fence = item.fence if item.holder is not None else None
    return ActOrder(money_version=item.money_version, fence=fence, inputs=inputs)


def free(item: Item, **inputs: str) -> ActOrder:
    """An act on the item as it was seen, carrying no claim."""
    return ActOrder(money_version=item.money_version, inputs=inputs)


async def walked(service: Service, **asked: Any) -> tuple[list[str], list[str]]:
    """Ids of every row on the way through `next`, and of those that the catch-up gave."""
    rows: list[str] = []
    moved: list[str] = []
    cursor = None
    while True:
        page = await client.items(service, PAYOUTS, cursor=cursor, **asked)
        (moved if page.catch_up else rows).extend(row.id for row in page.items)
        if page.next is None:
            return rows, moved
        cursor = page.next


async def refused(call: object) -> str:
    """The code with which the call is refused."""
    with pytest.raises(ServiceRefused) as caught:
        await call  # type: ignore[misc]  # any of the client's calls
    assert caught.value.sentence
    assert caught.value.reference
    return caught.value.code


async def test_session_and_colleagues(stage: Stage) -> None:
    service = stage.sign_in(FIRST)
    session = await me(service)
    assert session.person.id == "m.ito"
    assert [tenant.role for tenant in session.tenants] == [Role.FINANCE]
    assert set(session.tenants[0].permissions) == GRANTS[Role.FINANCE]
    assert session.token_expires_at > session.now
    named = (await colleagues(service)).colleagues
    assert {"m.ito", "k.rao"} <= {row.id for row in named}
    assert [row.name for row in named] == sorted(row.name for row in named)


async def test_queues_are_those_of_the_records(stage: Stage) -> None:
    known = {queue.id: queue for queue in (await client.queues(stage.sign_in(FIRST))).queues}
    assert (known[PAYOUTS].claim, known[DISPUTES].claim) == (ClaimMode.REQUIRED, ClaimMode.OPTIONAL)
    verbs = [case.id.rpartition(".")[2] for case in known[PAYOUTS].use_cases]
    assert verbs == ["release", "set-aside", "reject", "note", "hand-over"]
    assert known[PAYOUTS].use_cases[0].moves is Moves.MONEY
    assert [case.id for case in known[DISPUTES].use_cases][:2] == ["payments.resolve", "payments.ask-evidence"]
    assert (known[PAYOUTS].title, known[PAYOUTS].money, known[PAYOUTS].inputs) == (
        "Supplier payouts",
        True,
        ("invoice",),
    )
    assert known[PAYOUTS].lease_seconds == 3_600
    inputs = {
        case.id: [(row.name, row.type.value, row.required) for row in case.inputs] for case in known[PAYOUTS].use_cases
    }
    assert inputs["payments.set-aside"] == [("until", "instant", True), ("reason", "text", True)]
    assert inputs["payments.hand-over"] == [("colleague", "person", True), ("reason", "text", True)]
    states = {case.id: set(case.states) for case in known[PAYOUTS].use_cases}
    assert states["payments.reject"] == {ItemState.OPEN, ItemState.SET_ASIDE}
    assert states["payments.release"] == {ItemState.OPEN}


async def test_listing_is_oldest_first_in_pages(stage: Stage) -> None:
    ids = await three(stage)
    service = stage.sign_in(AUDITOR)
    page = await client.items(service, PAYOUTS, limit=2)
    assert [row.id for row in page.items] == ids[:2]
    assert await walked(service, limit=2) == (ids, [])
    assert [row.id async for row in client.all_items(service, PAYOUTS)] == ids
    first = page.items[0]
    assert first.amount is not None
    assert first.payee is not None
    assert (first.amount.minor, first.amount.exponent, len(first.payee.account_last4)) == (300, 2, 4)
    assert await refused(client.items(service, PAYOUTS, cursor="nonsense")) == "cursor-invalid"
    assert await refused(client.items(service, "payments.none")) == "not-found"


@pytest.mark.requirement("order-queue-items-by-score")
async def test_a_listing_begins_where_it_is_told_and_goes_both_ways(stage: Stage) -> None:
    ids = [
        await stage.add(PAYOUTS, f"Row {number}", minor=minor, days_old=number)
        for number, minor in ((1, 100), (2, 200), (3, 300), (4, 900_000_000), (5, 500))
    ]
    service = stage.sign_in(AUDITOR)
    whole = await client.items(service, PAYOUTS)
    order = [row.id for row in whole.items]
    assert (order, whole.previous, whole.next) == ([ids[3], ids[4], ids[2], ids[1], ids[0]], None, None)
    assert [row.rank for row in whole.items] == [-(row.score.value or 0) if row.score else 0 for row in whole.items]
    last = await client.items(service, PAYOUTS, start="last", limit=2)
    assert ([row.id for row in last.items], last.next) == (order[3:], None)
    before = await client.items(service, PAYOUTS, cursor=last.previous, limit=2)
    assert [row.id for row in before.items] == order[1:3]
    front = await client.items(service, PAYOUTS, cursor=before.previous, limit=2)
    assert ([row.id for row in front.items], front.previous) == (order[:1], None)
    for start in (f"item:{order[2]}", f"item:{whole.items[2].key}", f"score:{-whole.items[2].rank}"):
        page = await client.items(service, PAYOUTS, start=start, limit=2)
        assert [row.id for row in page.items] == order[2:4], start
        above = await client.items(service, PAYOUTS, cursor=page.previous, limit=2)
        assert [row.id for row in above.items] == order[:2], start
    below = await client.items(service, PAYOUTS, start="score:-5000", limit=2)
    assert (below.items, below.next) == ((), None)
    end = await client.items(service, PAYOUTS, cursor=below.previous, limit=2)
    assert [row.id for row in end.items] == order[3:]


async def test_starts_that_lead_nowhere_are_refused_in_words(stage: Stage) -> None:
    ids = await three(stage)
    service = stage.sign_in(FIRST)
    page = await client.items(service, PAYOUTS, limit=1)
    both = client.items(service, PAYOUTS, start="last", cursor=page.next, limit=1)
    assert await refused(both) == "invalid-request"
    for start in ("middle", "score:", "score:1.5", "item:"):
        assert await refused(client.items(service, PAYOUTS, start=start)) == "invalid-request", start
    assert await refused(client.items(service, PAYOUTS, start="item:none")) == "not-found"
    by_amount = client.items(service, PAYOUTS, start="score:5", filter="sort:amount currency:GBP")
    assert await refused(by_amount) == "invalid-request"
    places = {}
    asking: dict[str, dict[str, Any]] = {
        "view": {"view": ItemView.CLOSED},
        "filter": {"filter": "newest"},
        "queue": {"queue": DISPUTES},
    }
    for name, asked in asking.items():
        with pytest.raises(ServiceRefused) as caught:
            await client.items(service, **({"queue": PAYOUTS, "start": f"item:{ids[0]}"} | asked))
        assert caught.value.code == "not-found"
        places[name] = caught.value.extra["where"]
    assert places == {"view": "waiting", "filter": "filtered", "queue": PAYOUTS}


async def test_what_moved_during_a_walk_is_caught_up(stage: Stage) -> None:
    ids = await three(stage)
    service = stage.sign_in(FIRST)
    page = await client.items(service, PAYOUTS, limit=1)
    newcomer = await stage.add(PAYOUTS, "In front of the reader", minor=1, days_old=99)
    held = await claimed(service, ids[2])
    await client.act(service, ids[2], "payments.reject", order(held, reason="paid"), key())
    seen: list[tuple[str, bool]] = []
    while page.next is not None:
        page = await client.items(service, PAYOUTS, cursor=page.next, limit=1)
        seen += [(row.id, page.catch_up) for row in page.items]
    assert seen == [(ids[1], False), (newcomer, True)]
    assert sorted([row.id async for row in client.all_items(service, PAYOUTS)]) == sorted([*ids[:2], newcomer])


async def test_claim_next_obeys_the_filter_that_is_shown(stage: Stage) -> None:
    ids = await three(stage)
    service = stage.sign_in(FIRST)
    once = key()
    assert (await client.claim_next(service, PAYOUTS, once, filter="currency:EUR")).item is None
    yen = (await client.claim_next(service, PAYOUTS, once, filter="currency:JPY")).item
    assert (yen and yen.id) == ids[2]
    reused = client.claim_next(service, PAYOUTS, once, filter="currency:GBP")
    assert await refused(reused) == "idempotency-key-reused"
    assert await refused(client.claim_next(service, PAYOUTS, key(), filter="amount>1")) == "filter-invalid"


async def test_totals_keep_what_goes_out_and_comes_back_apart(stage: Stage) -> None:
    ids = await three(stage)
    service = stage.sign_in(FIRST)
    await claimed(service, ids[0])
    totals = await client.totals(service, PAYOUTS)
    assert (totals.waiting, totals.mine, totals.unclaimed, totals.set_aside) == (3, 1, 2, 0)
    rows = [
        (row.currency, row.exponent, row.out_minor, row.out_count, row.back_minor, row.back_count)
        for row in totals.totals
    ]
    assert rows == [("GBP", 2, 300, 1, 120, 1), ("JPY", 0, 500, 1, 0, 0)]


async def test_a_claim_keeps_colleagues_out_until_it_lapses(stage: Stage) -> None:
    ids = await three(stage)
    mine, theirs = stage.sign_in(FIRST), stage.sign_in(SECOND)
    held = await claimed(mine, ids[0])
    assert held.holder is not None
    assert (held.holder.id, held.fence) == ("m.ito", 1)
    assert await refused(client.claim(theirs, ids[0], key())) == "claim-held"
    assert await refused(client.claim(mine, ids[0], key())) == "claim-held"
    assert await refused(client.act(theirs, ids[0], "payments.note", free(held, text="x"), key())) == "claim-held"
    stage.advance(3_601)
    assert (await client.item(theirs, ids[0])).item.holder is None
    assert await refused(client.act(mine, ids[0], "payments.note", order(held, text="x"), key())) == "claim-lost"
    taken = await claimed(theirs, ids[0])
    assert taken.fence == 2
    late = client.act(mine, ids[0], "payments.reject", order(held, reason="x"), key())
    assert await refused(late) == "claim-lost"
    history = (await client.item(theirs, ids[0])).claims
    assert [(row.fence, row.ending) for row in history] == [(2, None), (1, ClaimEnding.LAPSED)]
    entries = [entry async for entry in all_audit(stage.sign_in(AUDITOR))]
    assert [entry.subject for entry in entries if (entry.person, entry.action) == (None, "claim-lapsed")] == [ids[0]]


async def test_renew_release_break_hand_over(stage: Stage) -> None:
    ids = await three(stage)
    mine, theirs = stage.sign_in(FIRST), stage.sign_in(SECOND)
    held = await claimed(mine, ids[0])
    stage.advance(60)
    renewed = await client.renew_claim(mine, ids[0], held.fence, key())
    assert renewed.item is not None
    assert renewed.item.expires_at is not None
    assert held.expires_at is not None
    assert renewed.item.expires_at >= held.expires_at + timedelta(seconds=59)
    assert renewed.capped_at is not None
    assert await refused(client.renew_claim(theirs, ids[0], held.fence, key())) == "claim-lost"
    assert await refused(client.break_claim(theirs, ids[0], held.fence + 5, "x", key())) == "claim-held"
    broken = (await client.break_claim(theirs, ids[0], held.fence, "urgent", key())).item
    assert broken is not None
    assert (broken.fence, broken.holder and broken.holder.id) == (2, "k.rao")
    assert await refused(client.release_claim(mine, ids[0], held.fence, key())) == "claim-lost"
    given = await client.act(
        theirs, ids[0], "payments.hand-over", order(broken, colleague="m.ito", reason="hers"), key()
    )
    assert given.item.holder is not None
    assert (given.item.holder.id, given.item.fence, given.item.money_version) == ("m.ito", 3, broken.money_version)
    freed = (await client.release_claim(mine, ids[0], 3, key())).item
    assert freed is not None
    assert (freed.holder, freed.fence) == (None, 3)
    assert await refused(client.break_claim(theirs, ids[0], 3, "x", key())) == "claim-not-held"
    endings = [row.ending for row in (await client.item(mine, ids[0])).claims]
    assert endings == [ClaimEnding.RELEASED, ClaimEnding.HANDED_OVER, ClaimEnding.BROKEN]
    unfit = await claimed(mine, ids[1])
    stranger = client.act(mine, ids[1], "payments.hand-over", order(unfit, colleague="o.lind", reason="x"), key())
    assert await refused(stranger) == "colleague-unfit"


async def test_claim_next_takes_the_oldest_free_one(stage: Stage) -> None:
    ids = await three(stage)
    mine, theirs = stage.sign_in(FIRST), stage.sign_in(SECOND)
    taken = [(await client.claim_next(service, PAYOUTS, key())).item for service in (mine, theirs, mine)]
    assert [row and row.id for row in taken] == ids
    again = key()
    assert (await client.claim_next(theirs, PAYOUTS, again)).item is None
    await client.release_claim(mine, ids[0], 1, key())
    found = (await client.claim_next(theirs, PAYOUTS, again)).item
    assert found is not None, "a key is not spent on finding none"


async def test_an_act_once_per_key(stage: Stage) -> None:
    ids = await three(stage)
    service = stage.sign_in(FIRST)
    held = await claimed(service, ids[0])
    once = key()
    done = await client.act(service, ids[0], "payments.reject", order(held, reason="paid twice"), once)
    assert (done.outcome, done.item.state, done.item.holder) == (OutcomeKind.DONE, ItemState.REJECTED, None)
    again = await client.act(service, ids[0], "payments.reject", order(held, reason="paid twice"), once)
    assert again == done
    other = client.act(service, ids[0], "payments.reject", order(held, reason="another"), once)
    assert await refused(other) == "idempotency-key-reused"
    detail = await client.item(service, ids[0])
    assert [(row.use_case, row.outcome) for row in detail.acts] == [("payments.reject", OutcomeKind.DONE)]
    assert detail.claims[0].ending is ClaimEnding.ACTED
    fresh = client.act(service, ids[0], "payments.note", free(detail.item, text="x"), key())
    assert await refused(fresh) in ("claim-required", "item-closed")


async def test_set_aside_leaves_the_waiting_list_and_comes_back_by_itself(stage: Stage) -> None:
    ids = await three(stage)
    service = stage.sign_in(FIRST)
    held = await claimed(service, ids[0])
    until = (await me(service)).now + timedelta(hours=2)
    inputs = {"until": until.isoformat(), "reason": "asked"}
    done = await client.act(service, ids[0], "payments.set-aside", order(held, **inputs), key())
    assert (done.item.state, done.item.money_version) == (ItemState.SET_ASIDE, held.money_version + 1)
    assert [row.id for row in (await client.items(service, PAYOUTS)).items] == ids[1:]
    aside = await client.items(service, PAYOUTS, view=ItemView.SET_ASIDE)
    assert [row.id for row in aside.items] == [ids[0]]
    stage.advance(2 * 3_600 + 1)
    assert [row.id for row in (await client.items(service, PAYOUTS)).items] == ids


async def test_refusals_of_acts(stage: Stage) -> None:
    ids = await three(stage)
    service = stage.sign_in(FIRST)
    seen = (await client.item(service, ids[0])).item
    note = "payments.note"
    assert await refused(client.act(service, ids[0], note, free(seen, text="x"), key())) == "claim-required"
    held = await claimed(service, ids[0])
    assert await refused(client.act(service, ids[0], "payments.release", order(held), key())) == "needs-plan"
    assert await refused(client.act(service, ids[0], note, order(held), key())) == "invalid-request"
    assert await refused(client.act(service, ids[0], note, order(held, text="x", more="y"), key())) == "invalid-request"
    assert await refused(client.act(service, ids[0], "payments.resolve", order(held, reason="x"), key())) == "not-found"
    stale = order(held, text="x").model_copy(update={"money_version": held.money_version + 1})
    assert await refused(client.act(service, ids[0], note, stale, key())) == "version-changed"
    assert await refused(client.item(service, "00000000-0000-0000-0000-00000000ffff")) == "not-found"


async def test_optional_claims_let_anyone_act_on_a_free_item(stage: Stage) -> None:
    item = await stage.add(DISPUTES, "Old bill", minor=100, days_old=1)
    mine, theirs = stage.sign_in(FIRST), stage.sign_in(SECOND)
    seen = (await client.item(mine, item)).item
    asked = await client.act(mine, item, "payments.ask-evidence", free(seen, question="which?"), key())
    assert (asked.item.state, asked.item.money_version) == (ItemState.EVIDENCE_ASKED, seen.money_version + 1)
    await claimed(theirs, item)
    assert await refused(client.act(mine, item, "payments.note", free(asked.item, text="x"), key())) == "claim-held"


@pytest.mark.parametrize(
    ("part", "call", "allowed"),
    [
        (OPERATOR, "items", True),
        (OPERATOR, "claim", False),
        (AUDITOR, "audit", True),
        (AUDITOR, "claim", False),
        (FIRST, "audit", False),
        (PUSHER, "items", False),
        (PUSHER, "item", False),
    ],
)
async def test_roles(stage: Stage, part: str, call: str, allowed: bool) -> None:
    ids = await three(stage)
    service = stage.sign_in(part)
    calls: dict[str, Callable[[], Awaitable[object]]] = {
        "items": lambda: client.items(service, PAYOUTS),
        "item": lambda: client.item(service, ids[0]),
        "claim": lambda: client.claim(service, ids[0], key()),
        "audit": lambda: audit(service),
    }
    if allowed:
        await calls[call]()
    else:
        assert await refused(calls[call]()) == "permission-missing"


async def test_the_trail_has_what_was_done_and_what_was_refused(stage: Stage) -> None:
    ids = await three(stage)
    mine, theirs = stage.sign_in(FIRST), stage.sign_in(SECOND)
    held = await claimed(mine, ids[0])
    await refused(client.claim(theirs, ids[0], key()))
    await client.act(mine, ids[0], "payments.note", order(held, text="seen"), key())
    following = (await client.claim_next(theirs, PAYOUTS, key())).item
    assert following is not None
    await refused(client.claim_next(theirs, "payments.notes-and-none", key()))
    entries = [entry async for entry in all_audit(stage.sign_in(AUDITOR))]
    steps = [(entry.person and entry.person.id, entry.action, entry.subject, entry.outcome) for entry in entries]
    assert ("k.rao", "claim", following.id, "done") in steps
    assert ("k.rao", "claim-next", "payments.notes-and-none", "refused") in steps
    about = [
        (entry.person and entry.person.id, entry.action, entry.outcome) for entry in entries if entry.subject == ids[0]
    ]
    wanted = [("m.ito", "payments.note", "done"), ("k.rao", "claim", "refused"), ("m.ito", "claim", "done")]
    assert [row for row in about if row[1] != "push-item"] == wanted
    assert [entry.id for entry in entries] == sorted((entry.id for entry in entries), reverse=True)
    page = await audit(stage.sign_in(AUDITOR), limit=1)
    assert (len(page.entries), bool(page.next)) == (1, True)
