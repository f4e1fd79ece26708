"""Owns what a bulk command is, and its limits, as values that records build and decisions read. Decides nothing here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from jobcontract.states import ConfirmMethod

Amounts = Mapping[str, int]
"""Minor units by currency code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a bulk money command may send out, in minor units by currency: the same currencies in each (MONEY.md 10).

    Person and account: over a rolling 24 hours, plans and singles together; a plan counts until 24 hours after it
    ended. What comes back counts nowhere.
    """

    item: Amounts
    """The largest single item."""
    plan: Amounts
    person: Amounts
    account: Amounts
    person_count: int
    account_count: int

    @property
    def currencies(self) -> frozenset[str]:
        """The currencies that have limits: no other can be in a plan."""
        return frozenset(self.item)


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkCommand:
    """A bulk command record: what is run on many items of a queue at once, how it is confirmed, what bounds it."""

    id: str
    title: str
    queue: str
    use_case: str
    confirm_by: ConfirmMethod | None
    """None only where the use case moves nothing."""
    limits: Limits
    uncertain: str
    """Id of the queue whose review items ask a person whether a payout went out (MONEY.md 5)."""
    armed_above: Amounts = field(default_factory=dict)
    """From this gross of one currency on, a confirmed plan waits before it starts; empty = never."""
    armed_seconds: float = 0.0
    answer_above: Amounts = field(default_factory=dict)
    """From this amount of an item on, its warnings must be answered; empty = never."""
    free_count: int = 0
    """Single releases a person may make in 24 hours without a code (MONEY.md 2); ships as zero."""
    free_gross: Amounts = field(default_factory=dict)
    submits: str | None = None
    """Id of the kind of job that a confirmed plan submits when it has ended with at least one item done."""
