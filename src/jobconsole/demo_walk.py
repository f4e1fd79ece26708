"""Owns the headless walk: the main job of the console done step by step by made-up people, each outcome compared with
what it must be. Uses the functions of `client/` that screens and twins use; starts and stops nothing.

The walk's claims last two seconds, so that one lapses by itself while it looks on; where this machine is too slow to
act within them, the walk claims again, as a person would.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta

from jobconsole.client import queues as client
from jobconsole.client import scores
from jobconsole.client.audit import all_audit
from jobconsole.client.errors import ClientError, ServiceRefused
from jobconsole.client.service import Service
from jobconsole.client.session import me
from jobconsole.demo_desk import (
    AUDITOR,
    FIRST,
    PUSHER,
    QUEUE,
    SECOND,
    SERVICE,
    Desk,
    Differs,
    act_held,
    held,
    keep,
    live,
    must,
    patiently,
    refused,
    take_next,
)
from jobconsole.demo_jobs import STEPS as JOB_STEPS
from jobconsole.demo_money import STEPS as MONEY_STEPS
from jobconsole.demo_money import Till
from jobconsole.demo_operating import STEPS as OPERATING_STEPS
from jobconsole.demo_schedules import STEPS as SCHEDULE_STEPS
from jobconsole.present.amounts import total_text
from jobconsole.present.text import line
from jobcontract.errors import ErrorCode
from jobcontract.items import ActOrder
from jobcontract.money import Money, totals
from jobcontract.states import ItemState, ItemView

FILTER = "currency:EUR amount>0"
"""What the walk filters the payouts by."""
PATIENCE = 30.0
"""Seconds that something may take which must happen by itself."""

Step = tuple[str, Callable[[Desk], Awaitable[str]]]


async def walk(people: Mapping[str, Service], say: Callable[[str], None], till: Till | None = None) -> bool:
    """Do every step, saying each with its outcome; False at the first whose outcome differs from what it must be.

    Without `till` the acts about money, schedules and their operator are left out.
    """
    desk = Desk(people=people, till=till)
    steps = steps_of(money=till is not None)
    width = max(len(title) for title, _ in steps)
    for number, (title, run) in enumerate(steps, start=1):
        head = f"{number:>2}  {title.ljust(width)}"
        try:
            outcome = await run(desk)
        except (Differs, ClientError) as error:
            say(f"{head}  FAILED  {line(error)}")
            return False
        first, *more = outcome.split("\n")
        say(f"{head}  ok  {line(first)}")
        for text in more:
            say(f"{' ' * len(head)}      {line(text)}")
    return True


async def sign_in(desk: Desk) -> str:
    """Everybody signs in with their own token."""
    for part, service in desk.people.items():
        desk.sessions[part] = await me(service)
    session = desk.sessions[FIRST]
    role = next((row.role for row in session.tenants if row.tenant == desk.people[FIRST].tenant), None)
    must(role == "finance", f"{session.person.id} is {role}, not finance")
    return f"{session.person.name}, {role} of {desk.people[FIRST].tenant} at {session.deployment}"


async def list_payouts(desk: Desk) -> str:
    """The list is highest score first, then oldest, and its totals are those of its rows."""
    service = desk.people[FIRST]
    rows = [row async for row in client.all_items(service, QUEUE)]
    must(len(rows) > 3, f"only {len(rows)} payouts wait")
    must(all(row.score is not None for row in rows), "some have no score")
    order = [(row.rank, row.created, row.id) for row in rows]
    must(order == sorted(order), "they are not highest score first, then oldest")
    told = await client.totals(service, QUEUE)
    must(told.waiting == len(rows), f"{told.waiting} are counted and {len(rows)} are listed")
    own = totals(Money(minor=row.amount.minor, currency=row.amount.currency) for row in rows if row.amount)
    mine = [(sum_.currency, sum_.out_minor, sum_.out_count, sum_.back_minor, sum_.back_count) for sum_ in own]
    theirs = [(sum_.currency, sum_.out_minor, sum_.out_count, sum_.back_minor, sum_.back_count) for sum_ in told.totals]
    must(mine == theirs, "the totals are not those of the rows")
    return "\n".join((f"{len(rows):,} wait, highest score first", *(total_text(sum_) for sum_ in told.totals)))


async def explain_first(desk: Desk) -> str:
    """The first one says why it is first: its parts add up, nothing stands before it, the next has no higher score."""
    service = desk.people[FIRST]
    first = (await client.items(service, QUEUE, limit=1)).items[0]
    told = await scores.explanation(service, first.id)
    score, place = told.item.score, told.placement
    must(score is not None and score.value is not None, "it has no score")
    must(told.rule is not None and place is not None, "no rule or no place is told")
    assert score is not None  # noqa: S101  # said above
    assert place is not None  # noqa: S101  # likewise
    must(sum(part.points for part in score.parts) == score.value, "its parts do not add up to its score")
    must(place.ahead.count == 0 and place.above is None, f"{place.ahead.count} stand before the first")
    must(place.below is None or place.below.rank >= told.item.rank, "the one below it has a higher score")
    parts = "\n".join(f"{part.points:+d}  {part.shown}: {part.words}" for part in score.parts)
    return f"score {score.value} by {score.rule} v{score.version}\n{parts}"


async def filter_payouts(desk: Desk) -> str:
    """A filter shows what it says and nothing else, and counts it."""
    service = desk.people[FIRST]
    rows = [row async for row in client.all_items(service, QUEUE, filter=FILTER)]
    must(bool(rows), f"nothing matches {FILTER}")
    must(all(row.amount is not None and row.amount.currency == "EUR" for row in rows), "not all of it is in EUR")
    told = await client.totals(service, QUEUE, filter=FILTER)
    must(told.matching == len(rows), f"{told.matching} are counted and {len(rows)} are listed")
    return f"{FILTER}: {len(rows)} match"


async def claim_next(desk: Desk) -> str:
    """The first clerk gets the free payout of the highest score."""
    listed = (await client.items(desk.people[FIRST], QUEUE, limit=1)).items
    taken = held(await client.claim_next(desk.people[FIRST], QUEUE, client.new_key()), desk.name(FIRST))
    must(taken.id == listed[0].id, "it is not the first one")
    desk.item = taken
    desk.note(FIRST, "claim", taken)
    return f"{taken.title}, held by {desk.name(FIRST)} under fence {taken.fence}"


async def second_is_refused(desk: Desk) -> str:
    """The second clerk cannot claim it, and hears who holds it."""

    async def once() -> str | None:
        item = await keep(desk, FIRST)
        call = client.claim(desk.people[SECOND], item.id, client.new_key())
        try:
            sentence = await refused(call, ErrorCode.CLAIM_HELD, naming=desk.sessions[FIRST])
        except Differs:
            detail = await client.item(desk.people[SECOND], item.id)
            if (
                detail.claims
                and detail.claims[0].holder.id == desk.name(SECOND)
                and detail.claims[0].fence > item.fence
            ):
                await client.release_claim(desk.people[SECOND], item.id, detail.claims[0].fence, client.new_key())
                return None  # the two seconds were over before the second clerk asked
            raise
        desk.note(SECOND, "claim", item, "refused")
        return sentence

    return await patiently(once)


async def lapses(desk: Desk) -> str:
    """The claim lapses by itself, with no act of anybody, and the second clerk gets the payout."""
    item = desk.met()
    loop = asyncio.get_running_loop()
    end = loop.time() + PATIENCE
    while (await client.item(desk.people[SECOND], item.id)).item.holder is not None:
        must(loop.time() < end, f"it is still held {PATIENCE:g} s later")
        await asyncio.sleep(0.1)
    taken = held(await client.claim(desk.people[SECOND], item.id, client.new_key()), desk.name(SECOND))
    must(taken.fence > item.fence, f"the fence did not rise: {item.fence}, then {taken.fence}")
    desk.note(SECOND, "claim", taken)
    desk.done.append((SERVICE, "claim-lapsed", item.id, "done"))
    history = (await client.item(desk.people[SECOND], item.id)).claims
    ended = next((row.ending for row in history if row.fence == item.fence), None)
    must(ended == "lapsed", f"the history says that the first claim ended as {ended}")
    return f"held by {desk.name(SECOND)} under fence {taken.fence}; the first claim lapsed"


async def late_act(desk: Desk) -> str:
    """The first clerk, who still believes in their claim, is told who holds the payout now."""
    old = desk.met()

    async def once() -> str | None:
        now = await keep(desk, SECOND, remember=False)
        order = ActOrder(money_version=old.money_version, fence=old.fence, inputs={"reason": "too late"})
        call = client.act(desk.people[FIRST], old.id, "payments.reject", order, client.new_key())
        try:
            sentence = await refused(call, ErrorCode.CLAIM_LOST, naming=desk.sessions[SECOND])
        except Differs:
            if (await client.item(desk.people[SECOND], old.id)).item.fence == now.fence and not await live(desk, now):
                return None  # the second clerk's two seconds were over as well
            raise
        desk.note(FIRST, "payments.reject", old, "refused")
        return sentence

    return await patiently(once)


async def set_aside(desk: Desk) -> str:
    """The second clerk sets it aside until tomorrow."""
    now = desk.people[SECOND].clock.server_now() or desk.sessions[SECOND].now
    until = (now + timedelta(days=1)).replace(microsecond=0)
    acted, _, _ = await act_held(desk, "set-aside", {"until": until.isoformat(), "reason": "asked the supplier"})
    must(acted.item.state is ItemState.SET_ASIDE, f"it is {acted.item.state}")
    must(acted.item.set_aside_until == until, f"it is set aside until {acted.item.set_aside_until}")
    must(acted.item.holder is None, "the claim did not end")
    return "set aside until tomorrow; the claim ended"


async def not_waiting(desk: Desk) -> str:
    """It is gone from the waiting list, and stands in the other."""
    service = desk.people[FIRST]
    waiting = {row.id async for row in client.all_items(service, QUEUE)}
    aside = {row.id async for row in client.all_items(service, QUEUE, view=ItemView.SET_ASIDE)}
    must(desk.met().id not in waiting, "it still waits")
    must(desk.met().id in aside, "it is not among those set aside")
    return f"{len(waiting):,} wait, {len(aside):,} set aside"


async def reject(desk: Desk) -> str:
    """The second clerk takes the next payout and rejects it."""
    await take_next(desk)
    acted, order, key = await act_held(desk, "reject", {"reason": "paid twice"})
    must(acted.item.state is ItemState.REJECTED, f"it is {acted.item.state}")
    desk.rejected = (desk.met(), order, key, acted)
    return f"{acted.item.title}: {acted.sentence}"


async def replay(desk: Desk) -> str:
    """The same request under the same key gives the first answer and does nothing."""
    if desk.rejected is None:
        raise Differs("nothing was rejected")
    item, order, key, first = desk.rejected
    again = await client.act(desk.people[SECOND], item.id, "payments.reject", order, key)
    must(again == first, "the answer is another one")
    acts = (await client.item(desk.people[SECOND], item.id)).acts
    must(len(acts) == 1, f"the history has {len(acts)} acts")
    return "the first answer again; one act in the history"


async def without_claim(desk: Desk) -> str:
    """Nobody acts on a payout that they do not hold."""
    free = [row for row in (await client.items(desk.people[FIRST], QUEUE)).items if row.holder is None]
    order = ActOrder(money_version=free[0].money_version, inputs={"reason": "no claim"})
    call = client.act(desk.people[FIRST], free[0].id, "payments.reject", order, client.new_key())
    sentence = await refused(call, ErrorCode.CLAIM_REQUIRED)
    desk.note(FIRST, "payments.reject", free[0], "refused")
    return sentence


async def release_payout(desk: Desk) -> str:
    """Money moves only through a confirmed plan."""
    await take_next(desk)

    async def once() -> str | None:
        item = await keep(desk, SECOND)
        order = ActOrder(money_version=item.money_version, fence=item.fence)
        call = client.act(desk.people[SECOND], item.id, "payments.release", order, client.new_key())
        try:
            sentence = await refused(call, ErrorCode.NEEDS_PLAN)
        except Differs:
            if not await live(desk, item):
                return None
            raise
        desk.note(SECOND, "payments.release", item, "refused")
        return sentence

    return await patiently(once)


async def add_note(desk: Desk) -> str:
    """A note leaves the payout as it is, and stands in its history."""
    acted, order, _ = await act_held(desk, "note", {"text": "supplier called back"})
    must(acted.item.money_version == order.money_version, "the version rose")
    acts = (await client.item(desk.people[SECOND], acted.item.id)).acts
    must(bool(acts) and acts[0].use_case == "payments.note", "the history does not have it")
    return acted.sentence


async def give_back(desk: Desk) -> str:
    """The second clerk gives the claim back; the payout is free."""

    async def once() -> str | None:
        item = await keep(desk, SECOND)
        try:
            freed = await client.release_claim(desk.people[SECOND], item.id, item.fence, client.new_key())
        except ServiceRefused as refusal:
            if refusal.kind is ErrorCode.CLAIM_LOST:
                return None
            raise
        must(freed.item is not None and freed.item.holder is None, "it is still held")
        desk.note(SECOND, "release-claim", item)
        return "free again"

    return await patiently(once)


async def trail(desk: Desk) -> str:
    """The auditor finds every step, done and refused."""
    found = {
        (entry.person.id if entry.person else SERVICE, entry.action, entry.subject, entry.outcome)
        async for entry in all_audit(desk.people[AUDITOR])
    }
    lost = [step for step in desk.done if step not in found]
    must(not lost, f"missing: {', '.join(' '.join(step) for step in lost)}")
    return f"{desk.name(AUDITOR)} finds all {len(desk.done)} of them, {sum(step[3] == 'refused' for step in desk.done)} refusals"


async def pusher_may_not(desk: Desk) -> str:
    """Who may push may not read."""
    return await refused(client.items(desk.people[PUSHER], QUEUE), ErrorCode.PERMISSION_MISSING)


STEPS: tuple[Step, ...] = (
    ("sign in", sign_in),
    ("list payouts", list_payouts),
    ("explain the first", explain_first),
    ("filter them", filter_payouts),
    ("claim next", claim_next),
    ("a second clerk is refused", second_is_refused),
    ("the claim lapses, the second gets it", lapses),
    ("the first clerk's late act is refused", late_act),
    ("set aside until tomorrow", set_aside),
    ("it leaves the waiting list", not_waiting),
    ("claim another, reject it", reject),
    ("repeat that under its key", replay),
    ("act without a claim", without_claim),
    ("release a payout without a plan", release_payout),
    ("write a note", add_note),
    ("give the claim back", give_back),
)
"""The walk, in order."""
LAST_STEPS: tuple[Step, ...] = (
    ("the auditor reads the trail", trail),
    ("the pusher may not read", pusher_may_not),
)
"""What ends it."""


def steps_of(*, money: bool) -> tuple[Step, ...]:
    """The whole walk, with or without the acts about money, schedules, their operator and jobs, which need the Worker and the bank."""
    return (*STEPS, *((*MONEY_STEPS, *SCHEDULE_STEPS, *OPERATING_STEPS, *JOB_STEPS) if money else ()), *LAST_STEPS)
