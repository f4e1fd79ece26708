"""Owns ending an uncertain payout: a person says whether it was paid, the Worker writes the outcome (MONEY.md 5).

The review item in the uncertain queue is claimed, answered once and resolved here; the payout itself is never touched.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.permissions import Permission
from jobcontract.plans import Settled, WasNotPaid, WasPaid
from jobcontract.states import ClaimEnding, ClaimMode, ItemState, OutcomeKind, Turn
from jobservice.rules.claims import Denied, decide_act
from jobservice.store import acts as act_store
from jobservice.store import claims as claim_store
from jobservice.store import confirming as store
from jobservice.store import hints
from jobservice.store import items as item_store
from jobservice.store import session as sessions
from jobservice.store.confirming import Review
from jobservice.store.database import Transaction
from jobservice.store.items import LockedItem
from jobservice.usecases.actor import Actor
from jobservice.usecases.audit import record
from jobservice.usecases.claims import end_lapsed
from jobservice.usecases.coded_acts import act_with_code
from jobservice.usecases.codes import Judged, refuse_code
from jobservice.usecases.idempotency import Answered, Deed, Once, act_once
from jobservice.usecases.items import locked
from jobservice.usecases.service import Service, refuse


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    """What a person says became of a payout."""

    verb: str
    turn: Turn
    words: str
    reason: str
    reference: str | None = None

    def inputs(self) -> Mapping[str, str]:
        """As the record of an act keeps them."""
        kept = {"reason": self.reason}
        return kept if self.reference is None else {"reference": self.reference, **kept}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """A locked review item that the actor holds, the uncertain payout that it asks about, and the clock."""

    item: LockedItem
    review: Review
    now: datetime


async def was_paid(service: Service, actor: Actor, item: str, order: WasPaid, once: Once) -> Answered:
    """End an uncertain payout as paid, with what the bank calls it (`Settled`). `item` is the review item.

    Refusal PERMISSION_MISSING without payout.release, NOT_FOUND, USE_CASE_UNFIT (no review item, or answered for),
    ITEM_CLOSED, IN_PLAN, those of a claim.
    """
    said = _Said(verb="was-paid", turn=Turn.DONE, words="it was paid", reason=order.reason, reference=order.reference)

    async def work(transaction: Transaction) -> Answered:
        return await _settle(transaction, actor, await _asked(transaction, actor, item, order.fence), said)

    deed = Deed(action="was-paid", subject=item, permission=Permission.PAYOUT_RELEASE)
    return await act_once(service, actor, deed, once, work)


async def was_not_paid(service: Service, actor: Actor, item: str, order: WasNotPaid, once: Once) -> Answered:
    """End an uncertain payout as not paid (`Settled`): it may be planned again, under the same outward key.

    Refusal as `was_paid`, PERMISSION_MISSING for the owner of the plan too, and those of a code.
    """
    said = _Said(verb="was-not-paid", turn=Turn.FAILED, words="it was not paid", reason=order.reason)

    async def may(transaction: Transaction) -> bool:
        asked = await _asked(transaction, actor, item, order.fence)
        _refuse_owner(asked.review, actor)
        return True

    async def work(transaction: Transaction, judged: Judged | None) -> Answered:
        asked = await _asked(transaction, actor, item, order.fence)
        _refuse_owner(asked.review, actor)
        if judged is None:
            raise RuntimeError("a payout was called unpaid without a code being judged")
        if not judged.right:
            raise refuse_code(judged)
        return await _settle(transaction, actor, asked, said)

    deed = Deed(action="was-not-paid", subject=item, permission=Permission.PAYOUT_RELEASE)
    return await act_with_code(service, actor, deed, once, order.code, may=may, work=work)


async def _asked(transaction: Transaction, actor: Actor, item: str, fence: int) -> _Asked:
    """The review item and what it asks about, both locked, under the actor's own live claim."""
    found, now = await locked(transaction, actor, item)
    review = await store.review(transaction, found)
    if review is None:
        raise Refusal(
            ErrorCode.USE_CASE_UNFIT, "That item asks about no payout: only an uncertain one is ended this way."
        )
    if found.closed:
        raise Refusal(ErrorCode.ITEM_CLOSED, f"It was answered before: the item is {found.version.state}.")
    decided = decide_act(ClaimMode.REQUIRED, found.holding, now=now, actor=actor.person, carried_fence=fence)
    if isinstance(decided, Denied):
        raise refuse(decided)
    if review.answered or review.turn is not Turn.UNCERTAIN:
        what = "somebody said before whether it was paid" if review.answered else f"its turn is {review.turn}"
        raise Refusal(ErrorCode.USE_CASE_UNFIT, f"The payout is not uncertain any more: {what}.")
    return _Asked(item=found, review=review, now=now)


def _refuse_owner(review: Review, actor: Actor) -> None:
    if review.owner == actor.person:
        raise Refusal(
            ErrorCode.PERMISSION_MISSING,
            f"You made plan {review.plan_name}: to say that its payout was not paid takes the code of another person "
            "in finance.",
            permission=Permission.PAYOUT_RELEASE,
        )


async def _settle(transaction: Transaction, actor: Actor, asked: _Asked, said: _Said) -> Answered:
    """Keep what was said, resolve the review item, and leave trail and hints."""
    review = asked.review
    names = {row["id"]: row["name"] for row in await sessions.colleagues(transaction)}
    sentence = f"{names.get(actor.person, actor.person)} said that {said.words}: {said.reason}"
    await store.add_evidence(
        transaction,
        review,
        person=actor.person,
        turn=said.turn,
        sentence=sentence,
        reference=said.reference,
    )
    number = await _resolve(transaction, actor, asked)
    act = act_store.NewAct(
        person=actor.person,
        use_case=said.verb,
        outcome=OutcomeKind.DONE,
        sentence=sentence,
        inputs=said.inputs(),
        money_version=number,
    )
    await act_store.add(transaction, asked.item, act)
    detail = {"payout": review.item, "plan": review.plan, "plan_name": review.plan_name, **said.inputs()}
    await record(transaction, actor, said.verb, asked.item.id, detail)
    await hints.add_plan(transaction, queue=review.queue, plan=review.plan, version=review.plan_version)
    settled = Settled(
        item=review.item,
        turn=said.turn,
        sentence=f"{sentence.rstrip('.')}. The service writes it down within moments.",
        as_of=await item_store.now(transaction),
    )
    return Answered(status=200, body=settled.model_dump(mode="json"))


async def _resolve(transaction: Transaction, actor: Actor, asked: _Asked) -> int:
    """Resolve the review item under its claim and version; the version that it has then."""
    found, now = asked.item, asked.now
    effect = act_store.Effect(
        state=ItemState.RESOLVED, set_aside_until=None, closed_at=now, raised=True, ends_claim=True
    )
    row_version = await act_store.apply(transaction, found, effect)
    if row_version is None:
        raise Refusal(ErrorCode.CLAIM_LOST, "The item is no longer as it was read. Nothing was done; load it again.")
    await end_lapsed(transaction, found, now)
    await claim_store.end(transaction, found, at=now, ending=ClaimEnding.ACTED, by=actor.person)
    await item_store.keep_version(transaction, found.id, changer=actor.person)
    await hints.add(transaction, queue=found.queue, item=found.id, version=row_version)
    return found.version.number + 1
