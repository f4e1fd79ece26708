"""Owns the wire models of scores: a score with its parts, the rule behind it, why an item stands where it stands, and
what its place would be with other inputs."""

from __future__ import annotations

from pydantic import AwareDatetime, Field

from jobcontract.states import RuleInputType
from jobcontract.wire import Answer


class ScorePart(Answer):
    """What one input gives to a score."""

    input: str
    shown: str
    """The input's value as it was when it was scored, as a row shows it (`6 days old`)."""
    points: int
    words: str
    """Why it gives so many."""


class Score(Answer):
    """A score as it is stored. The parts add up to the value; there is one for each input of the rule."""

    value: int | None
    """None: the item could not be scored, and `failure` says why; it stands before all scored ones."""
    rule: str
    version: int
    parts: tuple[ScorePart, ...]
    scored_at: AwareDatetime
    failure: str | None


class RuleInput(Answer):
    """One input of a rule. `source` is `amount`, `created` or `input.NAME`."""

    name: str
    type: RuleInputType
    title: str
    unit: str | None
    source: str


class Threshold(Answer):
    """An amount that a rule compares with, in one currency; minor units."""

    name: str
    currency: str
    minor: int
    exponent: int


class Rule(Answer):
    """A calculation rule as its record states it."""

    id: str
    title: str
    version: int
    formula: str
    """How the score comes about, in words."""
    inputs: tuple[RuleInput, ...]
    thresholds: tuple[Threshold, ...]
    refresh_seconds: int | None
    """How often scores are counted anew while only time passes; None where time decides nothing."""


class ItemCount(Answer):
    """A number of items: exact, or, where counting stopped at 10,000, that many and more."""

    count: int = Field(ge=0)
    exact: bool
