"""Owns what becomes of every row of the files: which payouts are taken, and a tally that adds up for each file.

Pure: files in, payouts and tallies out. Nothing is lost without a count, nothing unreadable without its line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from examples.payments.payouts import Payout, PayoutFile
from examples.payments.table import Unreadable


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A file for a tenant; `capped` = it counts towards the most payouts that are taken."""

    tenant: str
    file: PayoutFile
    capped: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """A payout to push: its tenant and its date after the move."""

    tenant: str
    payout: Payout
    created: date


@dataclass(frozen=True, slots=True, kw_only=True)
class FileTally:
    """What became of the rows of one file, and by how many days its dates were moved."""

    tenant: str
    name: str
    encoding: str
    rows: int
    taken: int
    empty: int
    duplicates: int
    left_out: int
    unreadable: tuple[Unreadable, ...]
    moved: timedelta

    def __post_init__(self) -> None:
        counted = self.taken + self.empty + self.duplicates + self.left_out + len(self.unreadable)
        if counted != self.rows:
            raise ValueError(f"{self.name}: {counted:,} rows accounted for, {self.rows:,} read")

    def __str__(self) -> str:
        parts = [f"{self.taken:,} payouts", f"{self.empty:,} empty", f"{self.duplicates:,} duplicate"]
        parts += [f"{len(self.unreadable):,} unreadable", *([f"{self.left_out:,} left out"] if self.left_out else [])]
        moved = f"dates moved by {self.moved.days:,} days so that the newest is yesterday"
        return f"{self.tenant}: {self.name} ({self.encoding}): {self.rows:,} rows = {' + '.join(parts)}; {moved}."


def take(
    sources: Sequence[Source], yesterday: date, most: int | None
) -> tuple[tuple[Taken, ...], tuple[FileTally, ...]]:
    """The payouts to push, and one tally a file. Of the capped files together only the newest `most` are taken.

    A business key that an earlier row of the same tenant had is a duplicate. The newest date of each file becomes
    `yesterday`; its other dates move by as many days.
    """
    seen: set[tuple[str, str]] = set()
    fresh: list[list[Taken]] = []
    moves: list[timedelta] = []
    for source in sources:
        payouts = source.file.payouts
        moved = yesterday - max((payout.paid for payout in payouts), default=yesterday)
        new: list[Taken] = []
        for payout in payouts:
            if (source.tenant, payout.key) not in seen:
                seen.add((source.tenant, payout.key))
                new.append(Taken(tenant=source.tenant, payout=payout, created=payout.paid + moved))
        fresh.append(new)
        moves.append(moved)
    kept = [
        _kept(source, new, limit)
        for source, new, limit in zip(sources, fresh, _limits(sources, fresh, most), strict=True)
    ]
    tallies = [
        _tally(source, len(new), len(keep), moved)
        for source, new, keep, moved in zip(sources, fresh, kept, moves, strict=True)
    ]
    return tuple(taken for keep in kept for taken in keep), tuple(tallies)


def _limits(sources: Sequence[Source], fresh: Sequence[Sequence[Taken]], most: int | None) -> list[set[str] | None]:
    """For each source the keys that the cap lets through; None = all."""
    if most is None:
        return [None] * len(sources)
    capped = [taken for source, new in zip(sources, fresh, strict=True) if source.capped for taken in new]
    capped.sort(key=lambda taken: (taken.created, taken.payout.key), reverse=True)
    through = {taken.payout.key for taken in capped[:most]}
    return [through if source.capped else None for source in sources]


def _kept(source: Source, new: Sequence[Taken], limit: set[str] | None) -> list[Taken]:
    return [taken for taken in new if limit is None or not source.capped or taken.payout.key in limit]


def _tally(source: Source, fresh: int, kept: int, moved: timedelta) -> FileTally:
    file = source.file
    return FileTally(
        tenant=source.tenant,
        name=file.name,
        encoding=file.encoding,
        rows=file.rows,
        taken=kept,
        empty=file.empty,
        duplicates=len(file.payouts) - fresh,
        left_out=fresh - kept,
        unreadable=file.unreadable,
        moved=moved,
    )
