"""Owns what comparing this database with the outside world finds, item by item (MONEY.md 22). Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from jobcontract.money import Money, show
from jobcontract.states import OutcomeKind, Turn
from jobservice.application import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Payout:
    """A payout as this database knows it; `turn`: of the last time that it was sent."""

    item: str
    queue: str
    title: str
    key: str | None
    minor: int
    currency: str
    last4: str
    released: bool
    turn: Turn | None

    def told(self) -> str:
        """Amount, last four, name: in this order, so that a cut takes the name first (MONEY.md 27)."""
        name = self.title if self.key is None else f"{self.title} ({self.key})"
        return f"{show(Money(minor=self.minor, currency=self.currency))} to …{self.last4}, {name}"


class Verdict(Enum):
    """What the comparison of one payout says."""

    AGREES = "agrees"
    """Both know of it the same, or the difference is one that a Worker or a person is at already."""
    BOOKED_THERE = "booked-there"
    """The outside world has it as paid, and this database would pay it again."""
    RELEASED_HERE = "released-here"
    """This database has it as released, and the outside world does not."""
    UNANSWERED = "unanswered"
    """Nobody answered the question."""


def compare(payout: Payout, answer: Outcome | None, *, answered: bool) -> Verdict:
    """What an answer says beside what is known here."""
    if not answered:
        return Verdict.UNANSWERED
    paid = answer is not None and answer.kind is OutcomeKind.DONE
    if payout.released:
        return Verdict.AGREES if paid else Verdict.RELEASED_HERE
    if not paid or payout.turn in (Turn.RUNNING, Turn.UNCERTAIN):
        return Verdict.AGREES
    return Verdict.BOOKED_THERE
