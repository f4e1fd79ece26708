"""Owns the rules and scores of the fake service: simple rules of its own, computed anew whenever an item is shown.

The older item has more points, as long as no amount is large: what tests put in without a thought of scores stays in
the order of age. Follows the meaning that the real service gives to scores (`tests/client/test_conformance.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

from jobcontract.items import Amount, InputValue
from jobcontract.money import Money, show
from jobcontract.queues import Queue
from jobcontract.scores import Rule, RuleInput, Score, ScorePart, Threshold
from jobcontract.states import RuleInputType

PARKED = -(2**40)
"""Rank of an item that could not be scored: before all scored ones."""
DAYS_MOST = 8
STEPS = (("huge", 48), ("large", 24), ("notable", 12))
"""Thresholds of amounts with their points, the largest first."""
MINOR = {
    "GBP": (50_000_00, 5_000_00, 1_000_00),
    "USD": (50_000_00, 5_000_00, 1_000_00),
    "EUR": (50_000_00, 5_000_00, 1_000_00),
    "JPY": (7_500_000, 750_000, 150_000),
    "KWD": (20_000_000, 2_000_000, 400_000),
}
"""The thresholds by currency, in minor units."""
EXPONENTS = {"JPY": 0, "KWD": 3}


def _input(name: str, kind: RuleInputType, title: str, source: str) -> RuleInput:
    return RuleInput(name=name, type=kind, title=title, unit="days" if name == "age" else None, source=source)


def _rule(identifier: str, title: str, paper: str, paper_title: str) -> Rule:
    return Rule(
        id=identifier,
        title=title,
        version=3,
        formula=(
            f"4 points a day of age, at most {DAYS_MOST} days; 48, 24 or 12 where the amount reaches a threshold of its"
            f" currency; 20 without {paper}."
        ),
        inputs=(
            _input("amount", RuleInputType.MONEY, "Amount", "amount"),
            _input("age", RuleInputType.AGE, "Age", "created"),
            _input(paper, RuleInputType.TEXT, paper_title, f"input.{paper}"),
        ),
        thresholds=tuple(
            Threshold(name=name, currency=currency, minor=minor, exponent=EXPONENTS.get(currency, 2))
            for currency, steps in MINOR.items()
            for (name, _), minor in zip(STEPS, steps, strict=True)
        ),
        refresh_seconds=60,
    )


RULES: Mapping[str, Rule] = {
    "payments.payouts": _rule("payout.release-score", "Release score", "invoice", "Invoice"),
    "payments.disputes": _rule("dispute.urgency-score", "Urgency score", "evidence", "Evidence"),
}
"""The rule of each queue that has one."""


class Scorable(Protocol):
    """What of a fake item its score is computed from."""

    @property
    def queue(self) -> Queue:
        """Its queue."""

    @property
    def created(self) -> datetime:
        """Its own date."""

    @property
    def amount(self) -> Amount | None:
        """Its amount."""

    @property
    def inputs(self) -> Mapping[str, InputValue | None]:
        """Its declared inputs."""


def score(row: Scorable, now: datetime) -> Score | None:
    """The score of an item at `now`; None where its queue has no rule. Without a threshold there is a failure."""
    rule = RULES.get(row.queue.id) if row.queue.score is not None else None
    if rule is None:
        return None
    if row.amount is not None and row.amount.currency not in MINOR:
        failure = f"{rule.id} states no thresholds for {row.amount.currency}"
        return Score(value=None, rule=rule.id, version=rule.version, parts=(), scored_at=now, failure=failure)
    parts = (_amount(row.amount), _age((now - row.created).days), _paper(rule.inputs[2], row.inputs))
    value = sum(part.points for part in parts)
    return Score(value=value, rule=rule.id, version=rule.version, parts=parts, scored_at=now, failure=None)


def rank(found: Score | None) -> int:
    """The place in the order as one ascending key, before the own date and the id."""
    if found is None:
        return 0
    return PARKED if found.value is None else -found.value


def _amount(amount: Amount | None) -> ScorePart:
    if amount is None:
        return ScorePart(input="amount", shown="no amount", points=0, words="nothing to pay")
    if amount.minor < 0:
        return ScorePart(input="amount", shown="credit note", points=0, words="a credit counts nothing")
    shown = show(Money(minor=amount.minor, currency=amount.currency))
    for (name, points), minor in zip(STEPS, MINOR[amount.currency], strict=True):
        if amount.minor >= minor:
            return ScorePart(input="amount", shown=shown, points=points, words=f"{name} in {amount.currency}")
    return ScorePart(input="amount", shown=shown, points=0, words="below every threshold")


def _age(days: int) -> ScorePart:
    shown = "1 day old" if days == 1 else f"{days} days old"
    points = 4 * max(0, min(days, DAYS_MOST))
    return ScorePart(input="age", shown=shown, points=points, words=f"4 a day, at most {DAYS_MOST} days")


def _paper(declared: RuleInput, inputs: Mapping[str, InputValue | None]) -> ScorePart:
    name = declared.name
    if inputs.get(name) in (None, "", "none"):
        return ScorePart(input=name, shown=f"no {name}", points=20, words=f"no {name} on file")
    return ScorePart(input=name, shown=f"{name} on file", points=0, words=f"{name} on file")
