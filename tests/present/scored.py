"""Owns scored items for tests of presenters: made of given points, never by a rule."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from jobcontract.items import Explanation, Item, Placement
from jobcontract.scores import ItemCount, Rule, RuleInput, Score, ScorePart, Threshold
from jobcontract.states import RuleInputType
from tests.present.samples import NOW, amount, item

RULE = Rule(
    id="payout.release-score",
    title="Release score",
    version=3,
    formula="4 points a day, at most 8 days; 48 for a large amount; 20 without an invoice.",
    inputs=(
        RuleInput(name="amount", type=RuleInputType.MONEY, title="Amount", unit=None, source="amount"),
        RuleInput(name="age", type=RuleInputType.AGE, title="Age", unit="days", source="created"),
        RuleInput(name="invoice", type=RuleInputType.TEXT, title="Invoice", unit=None, source="input.invoice"),
    ),
    thresholds=(
        Threshold(name="large", currency="GBP", minor=5_000_000, exponent=2),
        Threshold(name="large", currency="JPY", minor=7_500_000, exponent=0),
    ),
    refresh_seconds=600,
)


def part(name: str, shown: str, points: int, words: str = "as its rule says") -> ScorePart:
    """One part of a score."""
    return ScorePart(input=name, shown=shown, points=points, words=words)


def score(*parts: ScorePart, version: int = 3, failure: str | None = None) -> Score:
    """What the parts add up to, scored 12 s before NOW; with a `failure` there is no value."""
    return Score(
        value=None if failure is not None else sum(each.points for each in parts),
        rule=RULE.id,
        version=version,
        parts=parts,
        scored_at=NOW - timedelta(seconds=12),
        failure=failure,
    )


def scored(key: str, points: tuple[int, int, int], *, days: int = 6, minor: int = 9012613, **changes: Any) -> Item:
    """An item whose amount, age and invoice count so much."""
    currency = changes.pop("currency", "GBP")
    version = changes.pop("version", 3)
    owed = amount(minor, currency)
    shown = (f"{currency} {minor:,}", f"{days} days old", "no invoice" if points[2] else "invoice on file")
    parts = (
        part(name, text, each) for name, text, each in zip(("amount", "age", "invoice"), shown, points, strict=True)
    )
    found = score(*parts, version=version)
    return item(
        id=key,
        created=NOW - timedelta(days=days),
        amount=owed,
        score=found,
        rank=-sum(points),
        **changes,
    )


def parked(key: str, **changes: Any) -> Item:
    """An item that could not be scored."""
    failure = "payout.release-score states no thresholds for XAU"
    return item(id=key, score=score(failure=failure), rank=-(2**40), **changes)


def explanation(one: Item, above: Item | None = None, below: Item | None = None, *, ahead: int = 0) -> Explanation:
    """Why `one` stands between the two."""
    placement = Placement(ahead=ItemCount(count=ahead, exact=True), above=above, below=below)
    return Explanation(item=one, rule=RULE, placement=placement, as_of=NOW)
