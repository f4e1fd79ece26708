"""Owns the rows of the list of jobs as a table reads them: on a narrow screen, what happened stands under the row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from jobconsole.present.columns import width_of
from jobconsole.present.jobs import aside_piece, jobs_cells, under_pieces
from jobconsole.present.schedules import At
from jobconsole.screens.told_rows import ToldRows
from jobconsole.widgets.rows import Row

if TYPE_CHECKING:
    from jobcontract.jobs import JobSummary

SEPARATOR = 3
"""Cells between two pieces under a row."""


class JobRows(ToldRows["JobSummary"]):
    """Jobs by source and id."""

    def __init__(self, at: Callable[[], At], wide: Callable[[], bool]) -> None:
        """`wide`: whether what happened has a column."""
        super().__init__(key_of, lambda each, _: jobs_cells(each, at()))
        self._wide = wide

    @property
    def flat(self) -> bool:  # type: ignore[override]  # here it depends on the width
        """Whether every row is one line."""
        return self._wide()

    def under(self, index: int, widths: Mapping[str, int]) -> int:  # noqa: ARG002  the protocol's
        """Cells of what stands whole under a row."""
        told = under_pieces(self.rows[index])
        return sum(width_of(piece.text) + SEPARATOR for piece in told)

    def row(self, index: int, widths: Mapping[str, int]) -> Row:
        """The text of a row."""
        row, job = super().row(index, widths), self.rows[index]
        return row if self.flat else Row(cells=row.cells, under=tuple(under_pieces(job)), aside=aside_piece(job))


def key_of(job: JobSummary) -> str:
    """A row's key: ids are unique within a source."""
    return f"{job.source} {job.id}"
