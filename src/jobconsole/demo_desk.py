"""Owns what the headless walk stands on: who plays which part, what is remembered from step to step, what must be so.

Claims of the walk last two seconds: `keep` renews or claims again, `patiently` tries again where this machine was too
slow. Starts and stops nothing.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from jobconsole.client import queues as client
from jobconsole.client.errors import ServiceRefused
from jobconsole.client.service import Service
from jobcontract.errors import ErrorCode
from jobcontract.items import Acted, ActOrder, Claimed, InputValue, Item
from jobcontract.session import Session
from jobcontract.states import OutcomeKind

QUEUE = "payments.payouts"
TRIES = 5
SERVICE = "the service"
"""Who does what nobody does: a lapse."""
FIRST, SECOND, AUDITOR, PUSHER, OPERATOR = "first clerk", "second clerk", "auditor", "pusher", "operator"
SUPPORT = "support agent"


class Differs(Exception):
    """A step whose outcome is not what it must be."""


@dataclass(slots=True, kw_only=True)
class Desk:
    """What the walk remembers from step to step."""

    people: Mapping[str, Service]
    sessions: dict[str, Session] = field(default_factory=dict)
    item: Item | None = None
    """The payout that the two clerks meet at."""
    rejected: tuple[Item, ActOrder, str, Acted] | None = None
    till: object | None = None
    """What the act about money remembers (`demo_money.Till`); None where no bank runs beside the service."""
    done: list[tuple[str, str, str, str]] = field(default_factory=list)
    """What the trail must hold: person, action, subject, outcome."""

    def name(self, part: str) -> str:
        """The id of the person who plays `part`."""
        return self.sessions[part].person.id

    def met(self) -> Item:
        """The payout that the clerks meet at."""
        if self.item is None:
            raise Differs("there is no payout to work on")
        return self.item

    def note(self, part: str, action: str, item: Item, outcome: str = "done") -> None:
        """Remember what the trail must hold."""
        self.done.append((self.name(part), action, item.id, outcome))


def must(true: bool, otherwise: str) -> None:
    """Differs with `otherwise` unless it is so."""
    if not true:
        raise Differs(otherwise)


def held(claimed: Claimed, person: str) -> Item:
    """The claimed item, held by `person`."""
    item = claimed.item
    if item is None:
        raise Differs("no payout is free")
    holder = None if item.holder is None else item.holder.id
    must(holder == person, f"it is held by {holder or 'nobody'}")
    return item


async def refused(call: Awaitable[object], kind: ErrorCode, *, naming: Session | None = None) -> str:
    """The sentence of the refusal that must come, naming a person where one is given."""
    try:
        await call
    except ServiceRefused as refusal:
        must(refusal.kind is kind, f"refused as {refusal.code}, not {kind.code}: {refusal.sentence}")
        named = naming is None or naming.person.name in refusal.sentence or naming.person.id in refusal.sentence
        must(named, f"the refusal does not name {naming.person.id if naming else ''}: {refusal.sentence}")
        return refusal.sentence
    raise Differs(f"it was done; it must be refused as {kind.code}")


async def patiently(once: Callable[[], Awaitable[str | None]]) -> str:
    """What `once` gives; again where it says None, that the two seconds of a claim were over too soon."""
    for _ in range(TRIES):
        outcome = await once()
        if outcome is not None:
            return outcome
    raise Differs(f"this machine is too slow: {TRIES} claims lapsed before they could be used")


async def live(desk: Desk, item: Item) -> bool:
    """Whether the claim that `item` shows still holds."""
    now = (await client.item(desk.people[SECOND], item.id)).item
    return now.holder is not None and now.fence == item.fence


async def keep(desk: Desk, part: str, *, remember: bool = True) -> Item:
    """The payout under a fresh lease of `part`: renewed, or claimed again where it lapsed."""
    service, item = desk.people[part], desk.met()
    for _ in range(TRIES):
        now = (await client.item(service, item.id)).item
        mine = now.holder is not None and now.holder.id == desk.name(part)
        try:
            if mine:
                kept = held(await client.renew_claim(service, item.id, now.fence, client.new_key()), desk.name(part))
            else:
                kept = held(await client.claim(service, item.id, client.new_key()), desk.name(part))
        except ServiceRefused as refusal:
            if refusal.kind is not ErrorCode.CLAIM_LOST:
                raise
            continue
        if remember:
            desk.item = kept
        return kept
    raise Differs("this machine is too slow to renew a claim of two seconds")


async def take_next(desk: Desk) -> None:
    """The second clerk claims the next payout; it is the one to work on now."""
    desk.item = held(await client.claim_next(desk.people[SECOND], QUEUE, client.new_key()), desk.name(SECOND))
    desk.note(SECOND, "claim", desk.item)


async def act_held(desk: Desk, verb: str, inputs: Mapping[str, InputValue]) -> tuple[Acted, ActOrder, str]:
    """The second clerk's act on the payout under a fresh lease: its answer, its order and its key."""
    for _ in range(TRIES):
        item, key = await keep(desk, SECOND), client.new_key()
        order = ActOrder(money_version=item.money_version, fence=item.fence, inputs=inputs)
        try:
            acted = await client.act(desk.people[SECOND], item.id, f"payments.{verb}", order, key)
        except ServiceRefused as refusal:
            if refusal.kind is not ErrorCode.CLAIM_LOST:
                raise
            continue
        must(acted.outcome is OutcomeKind.DONE, f"{acted.outcome}: {acted.sentence}")
        desk.note(SECOND, f"payments.{verb}", item)
        return acted, order, key
    raise Differs(f"this machine is too slow: {TRIES} claims lapsed before they could be used")
