"""Owns every decision about one item's turn in a confirmed plan: whether it may begin, and how it ended (MONEY.md 4, 18).

Pure: what was frozen and what is there now go in, a decision comes out. The statement that begins a turn compares the
same once more; this says why it did not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from jobcontract.ids import storable
from jobcontract.money import Money, show
from jobcontract.states import OutcomeKind, PlanState, Turn
from jobservice.application import Outcome
from jobservice.rules.items import Content, Payment, Version, changes

SENTENCE_MOST = 4_000
REFERENCE_MOST = 200
RETRY_LEAST, RETRY_MOST = 1.0, 86_400.0
"""Seconds between two attempts at one item, whatever the use case says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frozen:
    """One item as its plan froze it: what was confirmed. `fence` is that of the plan's hold."""

    item: str
    number: int
    key: str | None
    content: Content
    money_version: int
    fence: int
    account_mark: str

    @property
    def payment(self) -> Payment:
        """What goes out, or comes back; every item of a plan has it."""
        if self.content.payment is None:
            raise ValueError(f"item {self.item} of a plan carries no money")
        return self.content.payment

    @property
    def outward_key(self) -> str:
        """The key that the outside world knows it by: the item's own, equal in every plan and every retry."""
        return outward_key(self.item)


def outward_key(item: str) -> str:
    """The idempotency key of an item towards the outside world."""
    return f"jc-{item}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What the locked rows say when a turn is to begin. `plan_ours`: the plan's lease is this Worker's."""

    plan_state: PlanState
    plan_ours: bool
    window_open: bool
    stopped: str | None
    """Why the tenant's money is stopped."""
    owner: str
    frozen: Frozen
    """The plan's row as it is in the database now."""
    turn: Turn
    version: Version
    closed: bool
    held: bool
    """Whether the plan's hold stands on the item, under the fence that the plan knows."""
    pushed_by: str
    payment_changed_by: str | None
    elsewhere: str | None = None
    """What another plan did about it, where that may have paid it."""
    held_still: str | None = None
    """Why its command, or all work of the tenant, is stopped."""


class Why(Enum):
    """Why a turn did not begin."""

    LOST = "lost"
    """The lease is another Worker's: what happens to the item is its business."""
    HALTED = "halted"
    """The plan or the money is stopped, or its time is over: no further item begins."""
    PASSED = "passed"
    """The item had its turn already."""
    FORGED = "forged"
    """The plan's row is not what was confirmed: somebody wrote past the service."""
    REFUSED = "refused"
    """The item is not what was confirmed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotBegun:
    """Why a turn did not begin, and the sentence for people."""

    why: Why
    sentence: str


def not_begun(confirmed: Frozen, found: Found, *, largest: int | None) -> NotBegun:
    """Why the turn of `confirmed` did not begin; `largest` is the limit of a single item of its currency."""
    if not found.plan_ours:
        return NotBegun(why=Why.LOST, sentence="Another Worker applies the plan by now.")
    if halt := _halt(found):
        return NotBegun(why=Why.HALTED, sentence=halt)
    if found.turn not in (Turn.NOT_STARTED, Turn.WAITING):
        return NotBegun(why=Why.PASSED, sentence=f"The item is {found.turn} already.")
    if found.frozen != confirmed:
        sentence = f"Row {confirmed.number} of the plan is not what was confirmed any more."
        return NotBegun(why=Why.FORGED, sentence=sentence)
    return NotBegun(why=Why.REFUSED, sentence=_refusal(confirmed, found, largest))


def _halt(found: Found) -> str | None:
    if found.plan_state is not PlanState.APPLYING:
        return f"The plan is {found.plan_state}."
    if not found.window_open:
        return "The plan's time to apply is over."
    if found.stopped is not None:
        return f"Money is stopped: {found.stopped}"
    if found.held_still is not None:
        return f"A stop is in force: {found.held_still}"
    return None


def _refusal(confirmed: Frozen, found: Found, largest: int | None) -> str:
    payment = confirmed.payment
    if found.closed:
        return f"Not released: the item is {found.version.state} by now."
    if changed := _changed(confirmed, found.version):
        return f"Not released, it changed since it was confirmed: {changed}."
    if found.elsewhere is not None:
        return f"Not released: {found.elsewhere}."
    if not found.held:
        return "Not released: the plan does not hold the item any more."
    if found.owner in (found.pushed_by, found.payment_changed_by):
        return "Not released: the owner of the plan pushed it, or was the last to change its payment."
    if largest is None:
        return f"Not released: {payment.currency} has no limits."
    if payment.minor > largest:
        most = show(Money(minor=largest, currency=payment.currency))
        return f"Not released: {_amount(payment)} is more than the {most} that one item may be."
    return "Not released: the item is not what was confirmed."


def _changed(confirmed: Frozen, version: Version) -> str:
    before = Version(
        number=confirmed.money_version,
        state=version.state,
        set_aside_until=version.set_aside_until,
        content=confirmed.content,
    )
    told = "; ".join(f"{each.field} {each.before} → {each.after}" for each in changes(before, version))
    if told or version.number == confirmed.money_version:
        return told
    return f"version {confirmed.money_version} → {version.number}"


def _amount(payment: Payment) -> str:
    return show(Money(minor=payment.minor, currency=payment.currency))


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a turn ended, or that it is tried again: `after_seconds` of a waiting one alone."""

    turn: Turn
    sentence: str
    reference: str | None = None
    after_seconds: float | None = None


_ENDED: Mapping[OutcomeKind, Turn] = {
    OutcomeKind.DONE: Turn.DONE,
    OutcomeKind.REFUSED: Turn.REFUSED,
    OutcomeKind.FAILED: Turn.FAILED,
    OutcomeKind.UNCERTAIN: Turn.UNCERTAIN,
}


def ending(outcome: Outcome, *, attempts: int, most: int) -> Ending:
    """What an outcome makes of the turn, after so many attempts of at most `most`."""
    sentence, reference = _safe(outcome.sentence), _reference(outcome.reference)
    if outcome.kind is not OutcomeKind.RETRY:
        return Ending(turn=_ENDED[outcome.kind], sentence=sentence, reference=reference)
    if attempts >= most:
        return Ending(turn=Turn.FAILED, sentence=f"Given up after {attempts} attempts: {sentence}")
    seconds = outcome.after_seconds if outcome.after_seconds is not None else RETRY_LEAST
    return Ending(turn=Turn.WAITING, sentence=sentence, after_seconds=min(max(float(seconds), RETRY_LEAST), RETRY_MOST))


def asked(answer: Outcome | None, why: str) -> Outcome:
    """What the answer to a question by the outward key makes of a call whose own answer is missing (MONEY.md 3).

    Only *done* and *refused* settle it. None, never heard of it, does not: the call may still be on its way.
    """
    if answer is not None and answer.kind in (OutcomeKind.DONE, OutcomeKind.REFUSED):
        return answer
    return Outcome(kind=OutcomeKind.UNCERTAIN, sentence=f"Nobody knows whether it was paid: {why}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """How many items of one currency are in one turn, and what they amount to: out and back, in minor units."""

    turn: Turn
    currency: str
    items: int
    out_minor: int
    back_minor: int


def account_text(counts: tuple[Count, ...]) -> str:
    """The account of a plan as lines of text: what was planned, then each turn, per currency; nothing is netted."""
    lines = [f"Planned: {_sums(counts)}"]
    for turn in (Turn.DONE, Turn.REFUSED, Turn.FAILED, Turn.UNCERTAIN, Turn.WAITING, Turn.RUNNING, Turn.NOT_STARTED):
        of_turn = tuple(each for each in counts if each.turn is turn)
        if of_turn:
            lines.append(f"{turn.value.replace('-', ' ').capitalize()}: {_sums(of_turn)}")
    return "\n".join(lines)


def _sums(counts: tuple[Count, ...]) -> str:
    items = sum(each.items for each in counts)
    parts = ["1 item" if items == 1 else f"{items:,} items"]
    for currency in sorted({each.currency for each in counts}):
        out = sum(each.out_minor for each in counts if each.currency == currency)
        back = sum(each.back_minor for each in counts if each.currency == currency)
        parts.append(show(Money(minor=out, currency=currency)) + " out")
        if back:
            parts.append(show(Money(minor=back, currency=currency)) + " back")
    return ", ".join(parts)


def seconds_until(instant: datetime | None, now: datetime) -> float:
    """Seconds from `now` to an instant; 0 where there is none or it has passed."""
    return 0.0 if instant is None else max(0.0, (instant - now).total_seconds())


def _safe(sentence: str) -> str:
    kept = sentence[:SENTENCE_MOST]
    return kept if storable(kept) else "The application's sentence cannot be shown."


def _reference(reference: str | None) -> str | None:
    if reference is None:
        return None
    kept = reference[:REFERENCE_MOST]
    return kept if kept and storable(kept) else None
