"""Owns what a calculation rule receives and gives: its inputs, the score with its parts, and a rule as it is registered.

Part of the seam: an application imports it from `jobservice.application`. Computes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from jobcontract.money import Money

ScoreValue = Money | datetime | str | int | bool | None
"""What an input of a rule may be: an amount, the item's own date (UTC, for an age), or a declared input."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreInputs:
    """What a rule decides by: its declared inputs by name, and the amounts to compare with in the item's currency."""

    values: Mapping[str, ScoreValue]
    thresholds: Mapping[str, Money] = field(default_factory=dict)
    """By name, in the currency of the item; empty where the rule has none or the item carries no money."""

    def money(self, name: str) -> Money:
        """The input of type money; CannotScore where the item has none."""
        value = self.values[name]
        if not isinstance(value, Money):
            raise CannotScore(f"{name} is missing")
        return value

    def since(self, name: str) -> datetime:
        """The input of type age: the instant that it is counted from, UTC."""
        value = self.values[name]
        if not isinstance(value, datetime):
            raise CannotScore(f"{name} is missing")
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What one input gives to a score: its value as a row shows it, whole points, and why in a few words."""

    input: str
    shown: str
    points: int
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """A score: whole points, and one part for each declared input of the rule; the parts add up to it."""

    value: int
    parts: tuple[Part, ...]


def score_of(*parts: Part) -> Score:
    """The score that these parts add up to."""
    return Score(value=sum(part.points for part in parts), parts=parts)


class CannotScore(Exception):
    """Raised by a rule that has no score for these inputs; the text is shown to people."""


ScoreFunction = Callable[[ScoreInputs, datetime], Score]
"""`def release_score(inputs: ScoreInputs, now: datetime) -> Score`: pure; `now` is the database's clock, UTC."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredRule:
    """A rule's function and the version of its record that it follows."""

    version: int
    function: ScoreFunction
