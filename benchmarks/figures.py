"""Owns what a measurement is: its rounds, the rounds of its peer, its limit, and whether the limit is met. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median


def percentile(values: Iterable[float], hundredth: float) -> float:
    """The smallest value that `hundredth` percent of the values do not exceed; ValueError without values."""
    ordered = sorted(values)
    if not ordered:
        raise ValueError("no values, so no percentile")
    return ordered[min(len(ordered) - 1, max(0, -(-len(ordered) * hundredth // 100).__int__() - 1))]


def p95(values: Iterable[float]) -> float:
    """The 95th percentile."""
    return percentile(values, 95)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """The median of some rounds, their least and their most."""

    middle: float
    least: float
    most: float

    @classmethod
    def of(cls, rounds: Sequence[float]) -> Spread:
        """The spread of at least one round."""
        return cls(middle=median(rounds), least=min(rounds), most=max(rounds))


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One line of the table. With a peer the limit is on the ratio of each round, without one on the value.

    Without a round nothing was measured, and `said` says why: then it is neither compared nor met nor missed.
    """

    part: str
    what: str
    unit: str
    rounds: tuple[float, ...] = ()
    said: str = ""
    """In place of a measurement."""
    peer: str | None = None
    peer_rounds: tuple[float, ...] = ()
    """Round by round beside `rounds`: each pair was measured one after the other."""
    above: bool = False
    """The limit is on how much more than the peer it is, and not on the ratio."""
    at_most: float | None = None
    at_least: float | None = None
    worst: bool = False
    """Judged by its worst round instead of its middle one."""
    note: str = ""

    @property
    def value(self) -> Spread | None:
        """What was measured; None where nothing was."""
        return Spread.of(self.rounds) if self.rounds else None

    @property
    def beside(self) -> Spread | None:
        """What the peer did."""
        return Spread.of(self.peer_rounds) if self.peer_rounds else None

    @property
    def compared(self) -> Spread | None:
        """How the two compare, round by round; None without a peer."""
        pairs = list(zip(self.rounds, self.peer_rounds, strict=bool(self.peer_rounds)))
        if not pairs:
            return None
        return Spread.of([own - other if self.above else own / other for own, other in pairs])

    @property
    def met(self) -> bool | None:
        """Whether the limit is met; None where there is none."""
        spread = self.compared or self.value
        if spread is None:
            return None
        judged = spread.middle
        if self.at_most is not None:
            return (spread.most if self.worst else judged) <= self.at_most
        if self.at_least is not None:
            return (spread.least if self.worst else judged) >= self.at_least
        return None
