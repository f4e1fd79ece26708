"""Owns every decision about claims: whose an item is, who may act, claim, renew, release or break, until when.

Pure: plain values in, a decision out. Never reads a clock; `now` is the database's, read after the row was locked.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum

from jobcontract.errors import ErrorCode
from jobcontract.states import ClaimMode


class Standing(Enum):
    """Whose an item is at one instant; exactly one of these."""

    FREE = "free"
    MINE = "mine"
    OTHERS = "others"


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """The claim columns of an item's row: live while `now < expires_at`, kept until someone writes how it ended."""

    holder: str | None
    holder_name: str | None
    taken_at: datetime | None
    expires_at: datetime | None
    fence: int
    plan: str | None = None
    """The id of the plan whose claim this is."""
    plan_name: str | None = None
    held: bool = False
    """Whether that plan was confirmed: then nobody else can do anything to the item (MONEY.md 18)."""

    def live(self, now: datetime) -> bool:
        """Whether somebody holds the item at `now`: a claim has lapsed at its very expiry."""
        return self.holder is not None and self.expires_at is not None and now < self.expires_at

    def standing(self, actor: str, now: datetime) -> Standing:
        """Whose the item is at `now`, seen by `actor`."""
        if not self.live(now):
            return Standing.FREE
        return Standing.MINE if self.holder == actor else Standing.OTHERS

    def frozen(self, now: datetime) -> bool:
        """Whether a confirmed plan holds the item at `now` (MONEY.md 18)."""
        return self.held and self.live(now)

    def described(self) -> str:
        """Who holds it and until when, as words of a sentence."""
        until = "" if self.expires_at is None else f" until {self.expires_at:%Y-%m-%d %H:%M:%S} UTC"
        plan = "" if self.plan_name is None else f", in plan {self.plan_name}"
        return f"{self.holder_name or self.holder or 'nobody'}{until}{plan}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowed:
    """It may be done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Granted:
    """The claim is given or kept; `until` is its expiry (UTC)."""

    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Denied:
    """It is not done: the code and a sentence that says who holds the item now, or that it is free."""

    kind: ErrorCode
    sentence: str


Decision = Allowed | Denied


def lease_end(now: datetime, *, lease: float, taken_at: datetime, total: float) -> datetime:
    """When a claim renewed at `now` lapses: a lease from now, never past `total` seconds after it was taken."""
    return min(now + timedelta(seconds=lease), capped_at(taken_at, total))


def capped_at(taken_at: datetime, total: float) -> datetime:
    """When a claim ends even if renewed: `total` seconds after it was taken."""
    return taken_at + timedelta(seconds=total)


def decide_act(mode: ClaimMode, holding: Holding, *, now: datetime, actor: str, carried_fence: int | None) -> Decision:
    """Whether `actor` may act on the item (requirement state-the-claim-mode).

    disabled: always, acts race by version. optional: on a free item, or under one's own live claim. required: only
    under one's own live claim. Whoever carries the fence of a claim that has ended believes in it and is refused.
    Nobody acts on what a confirmed plan holds, whatever the mode; an open plan's claim is its owner's own.
    """
    if holding.frozen(now):
        return _frozen(holding)
    if mode is ClaimMode.DISABLED:
        return Allowed()
    standing = holding.standing(actor, now)
    if standing is Standing.OTHERS:
        return _others(holding, carried_fence)
    if standing is Standing.MINE:
        return _mine(holding, carried_fence)
    if carried_fence is not None:
        return Denied(
            kind=ErrorCode.CLAIM_LOST, sentence="Your claim has ended; the item is free again. Claim it anew."
        )
    if mode is ClaimMode.REQUIRED:
        return Denied(
            kind=ErrorCode.CLAIM_REQUIRED, sentence="In this queue only the holder acts. Claim the item first."
        )
    return Allowed()


def decide_content(holding: Holding, *, now: datetime) -> Decision:
    """Whether the content of an item may change under whatever claim stands on it: not what a confirmed plan holds."""
    return _frozen(holding) if holding.frozen(now) else Allowed()


def _frozen(holding: Holding) -> Denied:
    return Denied(
        kind=ErrorCode.IN_PLAN,
        sentence=f"It is in {holding.plan_name}, a plan that was confirmed: until its turn nobody else can do anything "
        "to it. Pause or abort the plan to keep it back.",
    )


def _own_plan(holding: Holding) -> Denied:
    return Denied(
        kind=ErrorCode.IN_PLAN,
        sentence=f"It is in your plan {holding.plan_name}: take it out there, or drop the plan.",
    )


def _others(holding: Holding, carried_fence: int | None) -> Denied:
    if carried_fence is not None and carried_fence < holding.fence:
        return Denied(
            kind=ErrorCode.CLAIM_LOST, sentence=f"Your claim has ended; it is now held by {holding.described()}."
        )
    return Denied(kind=ErrorCode.CLAIM_HELD, sentence=f"It is held by {holding.described()}.")


def _mine(holding: Holding, carried_fence: int | None) -> Decision:
    if carried_fence == holding.fence:
        return Allowed()
    if carried_fence is None:
        return Denied(
            kind=ErrorCode.CLAIM_REQUIRED,
            sentence=f"You hold it under claim {holding.fence}; say so with `fence`. Load the item again first.",
        )
    return Denied(
        kind=ErrorCode.CLAIM_LOST,
        sentence=f"Claim {carried_fence} has ended; you hold the item under claim {holding.fence}. Load it again first.",
    )


def decide_claim(
    mode: ClaimMode, holding: Holding, *, now: datetime, actor: str, lease: float, total: float
) -> Granted | Denied:
    """Whether `actor` may take a free item, and until when."""
    if mode is ClaimMode.DISABLED:
        return claims_disabled()
    if holding.frozen(now):
        return _frozen(holding)
    standing = holding.standing(actor, now)
    if standing is Standing.OTHERS:
        return Denied(kind=ErrorCode.CLAIM_HELD, sentence=f"It is held by {holding.described()}.")
    if standing is Standing.MINE and holding.plan is not None:
        return _own_plan(holding)
    if standing is Standing.MINE:
        return Denied(
            kind=ErrorCode.CLAIM_HELD, sentence=f"You hold it already: {holding.described()}. Renew the claim instead."
        )
    return Granted(until=lease_end(now, lease=lease, taken_at=now, total=total))


def decide_renewal(
    mode: ClaimMode,
    holding: Holding,
    *,
    now: datetime,
    actor: str,
    carried_fence: int,
    lease: float,
    total: float,
) -> Granted | Denied:
    """Whether the holder may keep the item longer, and until when; CLAIM_CAPPED where the cap leaves nothing to gain."""
    held = decide_release(mode, holding, now=now, actor=actor, carried_fence=carried_fence)
    if isinstance(held, Denied):
        return held
    if holding.taken_at is None or holding.expires_at is None:
        return Denied(kind=ErrorCode.CLAIM_LOST, sentence="Your claim has ended; the item is free again.")
    if capped_at(holding.taken_at, total) <= holding.expires_at:
        return Denied(
            kind=ErrorCode.CLAIM_CAPPED,
            sentence=f"A claim ends {total:g} s after it was taken, however often it is renewed: "
            f"yours at {holding.expires_at:%Y-%m-%d %H:%M:%S} UTC.",
        )
    until = lease_end(now, lease=lease, taken_at=holding.taken_at, total=total)
    return Granted(until=max(until, holding.expires_at))


def decide_release(mode: ClaimMode, holding: Holding, *, now: datetime, actor: str, carried_fence: int) -> Decision:
    """Whether `actor` holds the item under the claim that they name; a plan's claim is neither kept longer nor given
    back item by item."""
    if mode is ClaimMode.DISABLED:
        return claims_disabled()
    if holding.frozen(now):
        return _frozen(holding)
    standing = holding.standing(actor, now)
    if standing is Standing.MINE and holding.plan is not None:
        return _own_plan(holding)
    if standing is Standing.MINE:
        return _mine(holding, carried_fence)
    if standing is Standing.OTHERS:
        return _others(holding, min(carried_fence, holding.fence - 1))
    return Denied(kind=ErrorCode.CLAIM_LOST, sentence="Your claim has ended; the item is free again.")


def decide_break(
    mode: ClaimMode, holding: Holding, *, now: datetime, actor: str, carried_fence: int, lease: float, total: float
) -> Granted | Denied:
    """Whether `actor` may take the claim that a colleague holds: the very one that was on the screen. An open plan's
    claim can be taken, and confirming it then names the item; a confirmed one's cannot."""
    if mode is ClaimMode.DISABLED:
        return claims_disabled()
    if holding.frozen(now):
        return _frozen(holding)
    standing = holding.standing(actor, now)
    if standing is Standing.FREE:
        return Denied(kind=ErrorCode.CLAIM_NOT_HELD, sentence="Nobody holds it any more. Claim it instead.")
    if standing is Standing.MINE:
        return Denied(kind=ErrorCode.CLAIM_HELD, sentence="You hold it yourself; there is nobody to take it from.")
    if carried_fence != holding.fence:
        return Denied(
            kind=ErrorCode.CLAIM_HELD,
            sentence=f"The claim that you saw has ended; now it is held by {holding.described()}.",
        )
    return Granted(until=lease_end(now, lease=lease, taken_at=now, total=total))


def decide_room(live_claims: int, most: int, *, whose: str) -> Decision:
    """Whether a person with so many live claims may hold one more; `whose` begins the sentence (`You hold`)."""
    if live_claims < most:
        return Allowed()
    return Denied(
        kind=ErrorCode.CLAIMS_MAX,
        sentence=f"{whose} {live_claims} items and may hold {most} at once. One has to be finished or released first.",
    )


def claims_disabled() -> Denied:
    """The answer to any order about claims in a queue without them."""
    return Denied(
        kind=ErrorCode.CLAIMS_DISABLED, sentence="This queue has no claims: anybody acts, and the first act wins."
    )
