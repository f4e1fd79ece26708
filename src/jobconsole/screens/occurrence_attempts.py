"""Owns the lease timeline of one occurrence as rows: who holds it, who held it and how that ended, late writes that were
refused, and the replays that part one course from the next. Newest first."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from jobconsole.present.attempts import (
    attempt_cells,
    attempt_lines,
    holder_cells,
    holder_lines,
    refused_cells,
    refused_lines,
    replay_cells,
    replay_text,
    replayed_lines,
)
from jobconsole.present.columns import Line, Piece, Tone, width_of
from jobconsole.screens.told_rows import ToldRows
from jobconsole.widgets.rows import Row
from jobcontract.occurrences import Attempt, Lease, RefusedCompletion, Replay

if TYPE_CHECKING:
    from datetime import datetime

    from jobconsole.present.schedules import At
    from jobcontract.occurrences import Occurrence, OccurrenceDetail

Tried = Attempt | Lease | RefusedCompletion | Replay
"""A line of the timeline: an attempt that ended, the one that runs, a late write that was refused, a replay."""


class TriedRows(ToldRows[Tried]):
    """The timeline as a table reads it: who had it run again and why stands under the line of a replay."""

    flat = False

    def __init__(self, occurrence: Callable[[], Occurrence | None], at: Callable[[], At]) -> None:
        super().__init__(_key, lambda each, _: _cells(each, occurrence(), at()))

    @property
    def late(self) -> int:
        """How many late writes were refused."""
        return sum(isinstance(each, RefusedCompletion) for each in self.rows)

    @property
    def attempts(self) -> int:
        """How many attempts there were, of all courses."""
        return sum(isinstance(each, Attempt | Lease) for each in self.rows)

    @property
    def lines(self) -> int:
        """Lines that they take, as far as no reason is very long."""
        return len(self.rows) + sum(isinstance(each, Replay) for each in self.rows)

    def under(self, index: int, widths: Mapping[str, int]) -> int:  # noqa: ARG002  the protocol's
        """Cells of what stands under the row."""
        found = self.rows[index]
        return width_of(replay_text(found)) if isinstance(found, Replay) else 0

    def row(self, index: int, widths: Mapping[str, int]) -> Row:
        """The text of a row."""
        found, row = self.rows[index], super().row(index, widths)
        if not isinstance(found, Replay):
            return row
        return Row(cells=row.cells, under=(Piece(replay_text(found), Tone.MINE),))


def tried_lines(tried: Tried, at: At) -> Sequence[Line]:
    """One line of the timeline in full."""
    if isinstance(tried, Attempt):
        return attempt_lines(tried, at)
    if isinstance(tried, RefusedCompletion):
        return refused_lines(tried, at)
    if isinstance(tried, Replay):
        return replayed_lines(tried, at)
    return holder_lines(tried, at)


def in_order(detail: OccurrenceDetail) -> Sequence[Tried]:
    """The attempt that runs, then everything else, newest first."""
    lease = detail.occurrence.lease
    past: list[Attempt | RefusedCompletion | Replay] = [*detail.attempts, *detail.refused, *detail.replays]
    past.sort(key=_when, reverse=True)
    return [*([lease] if lease is not None else []), *past]


def _when(tried: Attempt | RefusedCompletion | Replay) -> datetime:
    return tried.ended_at if isinstance(tried, Attempt) else tried.at


def _key(tried: Tried) -> str:
    """An attempt has its fence, also once it ended: the cursor stays on it."""
    if isinstance(tried, RefusedCompletion):
        return f"late {tried.at.isoformat()} {tried.fence} {tried.worker}"
    return f"replay {tried.replay}" if isinstance(tried, Replay) else f"fence {tried.fence}"


def _cells(tried: Tried, occurrence: Occurrence | None, at: At) -> Mapping[str, Piece]:
    if isinstance(tried, Attempt):
        return attempt_cells(tried)
    if isinstance(tried, RefusedCompletion):
        return refused_cells(tried)
    if isinstance(tried, Replay):
        return replay_cells(tried)
    return holder_cells(occurrence.attempts if occurrence is not None else 0, tried, at)
