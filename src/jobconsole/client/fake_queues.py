"""Owns the queues of the fake service: items in memory, claims with leases, acts. For tests of screens and twins.

Follows the meaning of claims and acts that the real service has (`tests/client/test_conformance.py` compares them);
never decides anything for a real one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

from jobconsole.client import fake_scores
from jobconsole.client.fake_records import ASK, DISPUTES, HAND_OVER, PAYOUTS, REJECT, RESOLVE, SET_ASIDE, UNCERTAIN
from jobcontract.errors import ErrorCode, Refusal
from jobcontract.items import (
    ActOrder,
    ActRecord,
    Amount,
    ClaimRecord,
    InputValue,
    Item,
    ItemDetail,
    Payee,
    PlanRef,
    TurnRecord,
)
from jobcontract.money import exponent
from jobcontract.queues import Queue, UseCase
from jobcontract.session import Person
from jobcontract.states import ClaimEnding, ClaimMode, ItemState, ItemView, OutcomeKind

OPEN = (ItemState.OPEN, ItemState.EVIDENCE_ASKED)


def _in(state: ItemState, view: ItemView) -> bool:
    if view is ItemView.WAITING:
        return state in OPEN
    return state is ItemState.SET_ASIDE if view is ItemView.SET_ASIDE else state.closed


@dataclass(slots=True, kw_only=True)
class FakeItem:
    """One item and everything that happened to it; the fields are those of `Item`."""

    id: str
    queue: Queue
    key: str | None
    title: str
    created: datetime
    pushed_at: datetime
    changed_at: datetime
    amount: Amount | None
    payee: Payee | None
    inputs: Mapping[str, InputValue | None] = field(default_factory=dict)
    state: ItemState = ItemState.OPEN
    until: datetime | None = None
    money_version: int = 1
    row_version: int = 1
    claims: list[ClaimRecord] = field(default_factory=list)
    acts: list[ActRecord] = field(default_factory=list)
    holder: Person | None = None
    taken_at: datetime | None = None
    expires_at: datetime | None = None
    fence: int = 0
    pushed_by: str = "i.feed"
    changed_by: str | None = None
    """Who last changed amount, payee or account."""
    plan: PlanRef | None = None
    about: str | None = None
    turns: list[TurnRecord] = field(default_factory=list)


class FakeQueues:
    """Three queues: payouts (claim required, money), disputes (optional), uncertain payouts. `now` is the only clock."""

    def __init__(self, now: Callable[[], datetime], *, cap: timedelta, most_claims: int) -> None:
        self.now = now
        self.queues: tuple[Queue, ...] = (DISPUTES, PAYOUTS)
        """Those that are listed. That of uncertain payouts comes with its first item, so that tests of other work meet no
        empty queue; the real service lists it always."""
        self.items: dict[str, FakeItem] = {}
        self.cap = cap
        self.most_claims = most_claims
        self.on_change: Callable[[FakeItem], None] = lambda _item: None
        self.on_lapse: Callable[[FakeItem], None] = lambda _item: None

    def add(
        self,
        queue: str,
        title: str,
        *,
        days_old: int = 1,
        minor: int | None = None,
        currency: str = "GBP",
        account: str | None = None,
        pushed_by: str = "i.feed",
    ) -> str:
        """Put an item in; its id. Money queues take `minor` units of `currency`; payees of one account are one payee."""
        if queue == UNCERTAIN.id and UNCERTAIN not in self.queues:
            self.queues += (UNCERTAIN,)
        count = len(self.items) + 1
        now = self.now()
        amount = Amount(minor=minor, currency=currency, exponent=exponent(currency)) if minor is not None else None
        row = FakeItem(
            id=str(UUID(int=count)),
            queue=self.queue(queue),
            key=f"K-{count}",
            title=title,
            created=now - timedelta(days=days_old),
            pushed_at=now,
            changed_at=now,
            amount=amount,
            payee=Payee(id=f"s-{account or count}", name=title, account_last4=account or f"{count:04d}")
            if amount
            else None,
            inputs={name: f"{name}-{count}" for name in self.queue(queue).inputs},
            pushed_by=pushed_by,
        )
        self.items[row.id] = row
        self.on_change(row)
        return row.id

    def queue(self, identifier: str) -> Queue:
        """The queue; Refusal NOT_FOUND."""
        for known in (*self.queues, UNCERTAIN):
            if known.id == identifier:
                return known
        raise Refusal(ErrorCode.NOT_FOUND, f"There is no queue {identifier}.")

    def find(self, identifier: str) -> FakeItem:
        """The item; Refusal NOT_FOUND."""
        if identifier not in self.items:
            raise Refusal(ErrorCode.NOT_FOUND, f"There is no item {identifier}.")
        return self.items[identifier]

    def holder(self, row: FakeItem) -> Person | None:
        """Who holds it now; None once the lease passed."""
        return row.holder if row.expires_at is not None and row.expires_at > self.now() else None

    def state(self, row: FakeItem) -> ItemState:
        """Its state now, set-aside included."""
        waits = row.until is not None and row.until > self.now() and not row.state.closed
        return ItemState.SET_ASIDE if waits else row.state

    def shown(self, row: FakeItem) -> Item:
        """The row as the wire has it."""
        holder = self.holder(row)
        state = self.state(row)
        score = fake_scores.score(row, self.now())
        return Item(
            id=row.id,
            queue=row.queue.id,
            key=row.key,
            title=row.title,
            created=row.created,
            state=state,
            set_aside_until=row.until if state is ItemState.SET_ASIDE else None,
            amount=row.amount,
            payee=row.payee,
            inputs=row.inputs,
            score=score,
            rank=fake_scores.rank(score),
            money_version=row.money_version,
            holder=holder,
            expires_at=row.expires_at if holder else None,
            fence=row.fence,
            plan=self.plan(row),
            about=row.about,
        )

    def plan(self, row: FakeItem) -> PlanRef | None:
        """The plan that has it now; None once the plan's claim passed."""
        return row.plan if self.holder(row) is not None else None

    def not_in_plan(self, row: FakeItem, *, held_only: bool = False) -> None:
        """Refusal IN_PLAN where a plan has it; `held_only`: where a confirmed one has."""
        plan = self.plan(row)
        if plan is None or (held_only and not plan.held):
            return
        if plan.held:
            raise Refusal(ErrorCode.IN_PLAN, f"It is in the confirmed plan {plan.name}.", plan=plan.name)
        sentence = f"It is in your plan {plan.name}: take it out there or drop the plan."
        raise Refusal(ErrorCode.IN_PLAN, sentence, plan=plan.name)

    def listed(self, queue: str, view: ItemView) -> list[Item]:
        """The rows of a view in their queue's order."""
        self.queue(queue)
        rows = [self.shown(row) for row in self.items.values() if row.queue.id == queue]
        return sorted((row for row in rows if _in(row.state, view)), key=lambda row: (row.rank, row.created, row.id))

    def detail(self, row: FakeItem) -> ItemDetail:
        """The item with its history."""
        return ItemDetail(
            item=self.shown(row),
            payload={"source": "fake"},
            pushed_by=Person(id=row.pushed_by, name="Feed"),
            pushed_at=row.pushed_at,
            changed_at=row.changed_at,
            capped_at=self.capped_at(row),
            claims=tuple(reversed(row.claims))[:50],
            acts=tuple(reversed(row.acts))[:50],
            turns=tuple(reversed(row.turns))[:50],
            as_of=self.now(),
        )

    def capped_at(self, row: FakeItem) -> datetime | None:
        """When the present claim ends even if renewed."""
        return row.taken_at + self.cap if self.holder(row) is not None and row.taken_at else None

    def claim(self, row: FakeItem, person: Person) -> None:
        """Claim for `person`, ending a lapsed claim first."""
        holder = self.holder(row)
        if row.queue.claim is ClaimMode.DISABLED:
            raise Refusal(ErrorCode.CLAIMS_DISABLED, f"{row.queue.title} has no claims.")
        if self.state(row).closed:
            raise Refusal(ErrorCode.ITEM_CLOSED, f"The item is {row.state}.")
        self.not_in_plan(row, held_only=True)
        if holder == person:
            raise Refusal(ErrorCode.CLAIM_HELD, "You hold it already. Renew the claim instead.")
        if holder is not None:
            raise self.held(row, holder)
        mine = sum(self.holder(other) == person and other.plan is None for other in self.items.values())
        if mine >= self.most_claims:
            raise Refusal(ErrorCode.CLAIMS_MAX, f"You hold {mine} items; {self.most_claims} are allowed.")
        self.end_claim(row, ClaimEnding.LAPSED, None)
        self._grant(row, person)

    def renew(self, row: FakeItem, person: Person, fence: int) -> None:
        """Another lease, up to the cap."""
        self.hold(row, person, fence)
        self.not_in_plan(row)
        if row.taken_at is None or row.expires_at is None:
            return
        if row.taken_at + self.cap <= row.expires_at:
            raise Refusal(ErrorCode.CLAIM_CAPPED, "This claim cannot be kept longer.")
        later = min(self.now() + timedelta(seconds=row.queue.lease_seconds), row.taken_at + self.cap)
        later = max(later, row.expires_at)
        row.expires_at = later
        last = row.claims[-1]
        row.claims[-1] = last.model_copy(update={"expires_at": later, "renewals": last.renewals + 1})
        self.changed(row)

    def release(self, row: FakeItem, person: Person, fence: int) -> None:
        """Give it back."""
        self.hold(row, person, fence)
        self.not_in_plan(row)
        self.end_claim(row, ClaimEnding.RELEASED, person)
        self.changed(row)

    def take(self, row: FakeItem, person: Person, fence: int, reason: str) -> None:
        """Break a colleague's claim and hold it."""
        holder = self.holder(row)
        if row.queue.claim is ClaimMode.DISABLED:
            raise Refusal(ErrorCode.CLAIMS_DISABLED, f"{row.queue.title} has no claims.")
        if holder is None:
            raise Refusal(ErrorCode.CLAIM_NOT_HELD, "Nobody holds it any more. Claim it instead.")
        self.not_in_plan(row, held_only=True)
        if holder == person:
            raise Refusal(ErrorCode.CLAIM_HELD, "You hold it yourself; there is nobody to take it from.")
        if row.fence != fence:
            raise self.held(row, holder)
        self.end_claim(row, ClaimEnding.BROKEN, person, reason)
        self._grant(row, person)

    def hold(self, row: FakeItem, person: Person, fence: int) -> None:
        """Refusal unless `person` holds it under `fence`."""
        if row.queue.claim is ClaimMode.DISABLED:
            raise Refusal(ErrorCode.CLAIMS_DISABLED, f"{row.queue.title} has no claims.")
        holder = self.holder(row)
        self.not_in_plan(row, held_only=True)
        if holder is None:
            raise Refusal(ErrorCode.CLAIM_LOST, "Your claim has ended; the item is free again.")
        if holder != person or row.fence != fence:
            raise Refusal(ErrorCode.CLAIM_LOST, f"Your claim has ended; it is now held by {holder.name}.")

    def may_act(self, row: FakeItem, person: Person, order: ActOrder) -> None:
        """Refusal unless the claim mode lets `person` act."""
        if row.queue.claim is ClaimMode.DISABLED:
            return
        self.not_in_plan(row, held_only=True)
        holder = self.holder(row)
        if order.fence is not None:
            self.hold(row, person, order.fence)
        elif holder is not None and holder != person:
            raise self.held(row, holder)
        elif holder == person or row.queue.claim is ClaimMode.REQUIRED:
            raise Refusal(ErrorCode.CLAIM_REQUIRED, "In this queue only the holder acts. Claim the item first.")

    def run(
        self, row: FakeItem, person: Person, case: UseCase, order: ActOrder, fits: Callable[[str], Person | None]
    ) -> str:
        """Do it; the sentence of the outcome. `fits` names a person who may take the item."""
        inputs = {name: str(given) for name, given in order.inputs.items()}
        done = f"{case.title}: done."
        if case.id == SET_ASIDE.id:
            row.until = datetime.fromisoformat(inputs["until"].replace("Z", "+00:00"))
            self._settle(row, person)
        elif case.id in (REJECT.id, RESOLVE.id):
            row.state = ItemState.REJECTED if case.id == REJECT.id else ItemState.RESOLVED
            self._settle(row, person)
        elif case.id == ASK.id:
            row.state = ItemState.EVIDENCE_ASKED
            row.money_version += 1
        elif case.id == HAND_OVER.id:
            colleague = fits(inputs["colleague"])
            if colleague is None:
                raise Refusal(ErrorCode.COLLEAGUE_UNFIT, f"{inputs['colleague']} cannot take it.")
            self.end_claim(row, ClaimEnding.HANDED_OVER, person)
            self._grant(row, colleague)
        row.acts.append(
            ActRecord(
                at=self.now(),
                person=person,
                use_case=case.id,
                outcome=OutcomeKind.DONE,
                sentence=done,
                inputs=dict(order.inputs),
                money_version=row.money_version,
            )
        )
        self.changed(row)
        return done

    def held(self, row: FakeItem, holder: Person) -> Refusal:
        """The refusal that names who holds it."""
        until = f" until {row.expires_at:%Y-%m-%d %H:%M:%S} UTC" if row.expires_at else ""
        return Refusal(ErrorCode.CLAIM_HELD, f"It is held by {holder.name}{until}.")

    def end_claim(self, row: FakeItem, ending: ClaimEnding, by: Person | None, reason: str | None = None) -> None:
        """End the claim on the row, if there is one, and write how."""
        if row.holder is None:
            return
        if row.plan is not None:
            row.holder = row.taken_at = row.expires_at = row.plan = None
            return
        live = self.holder(row) is not None
        ended = self.now() if live else row.expires_at
        if not live:
            self.on_lapse(row)
        row.claims[-1] = row.claims[-1].model_copy(
            update={"ended_at": ended, "ending": ending, "ended_by": by, "reason": reason}
        )
        row.holder = row.taken_at = row.expires_at = None

    def close(self, row: FakeItem, state: ItemState, by: Person | None) -> None:
        """End it, and the claim on it."""
        row.state = state
        self.end_claim(row, ClaimEnding.ACTED, by)
        self.changed(row)

    def changed(self, row: FakeItem) -> None:
        """Raise the hint's version and tell who listens."""
        row.row_version += 1
        row.changed_at = self.now()
        self.on_change(row)

    def _settle(self, row: FakeItem, person: Person) -> None:
        row.money_version += 1
        self.end_claim(row, ClaimEnding.ACTED, person)

    def _grant(self, row: FakeItem, person: Person) -> None:
        now = self.now()
        expires = now + min(timedelta(seconds=row.queue.lease_seconds), self.cap)
        row.fence += 1
        row.holder, row.taken_at, row.expires_at = person, now, expires
        row.claims.append(
            ClaimRecord(
                fence=row.fence,
                holder=person,
                taken_at=now,
                expires_at=expires,
                renewals=0,
                ended_at=None,
                ending=None,
                ended_by=None,
                reason=None,
            )
        )
        self.changed(row)
