"""Owns what a source of background jobs is (this service's own account, or another engine's views), and merging pages of
several into one. Never acts on a job, and never lets one source delay or fail the others.

Each source keeps its own order and its own place; a merged page takes the latest requested of what stands first in each.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

import structlog

from jobcontract.errors import Refusal
from jobcontract.job_filters import JobFilter
from jobcontract.job_states import JobView
from jobcontract.jobs import Job, JobEvents, JobSource, JobSummary
from jobservice.store.items import Reach

SOURCE_SECONDS = 2.0
"""How long a page waits for a source that is not this service's own."""
Position = str
"""Where a source's order goes on, as that source writes it (`12/abc`): behind the job that it names."""
START: Position = ""
"""Before the first job of a source."""
END: Position = "-"
"""A source had nothing more."""

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedOfSource:
    """Which jobs a source is asked for: of a tenant, within the reach of a person, in a view, that a filter matches at an
    instant. The filter's `tenant` and `source` are judged already."""

    tenant: str
    person: str
    reach: Reach
    view: JobView
    filter: JobFilter
    now: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRow:
    """One job of a source, and its place there: a page that goes on there begins behind it."""

    job: JobSummary
    position: Position


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcePage:
    """Jobs of a source in its own order, the latest first. `beyond`: where it goes on, and up to when it looked, where it
    stopped for another reason than having enough rows; None: the rows are all, or more than were asked for."""

    rows: tuple[SourceRow, ...]
    beyond: tuple[Position, datetime] | None = None


class ForeignSource(Protocol):
    """Jobs that somebody else carries: only read here. Every method may raise whatever it likes; the page goes on."""

    @property
    def name(self) -> str:
        """As the settings name it: a slug, not `here`."""

    @property
    def engine(self) -> str:
        """`procrastinate`, `dbos` ..."""

    @property
    def application(self) -> str:
        """Whose jobs they are."""

    async def page(self, asked: AskedOfSource, behind: Position, most: int) -> SourcePage:
        """Up to `most` + 1 jobs behind a place (START: the first)."""

    async def count(self, asked: AskedOfSource, most: int) -> int | None:
        """How many jobs there are, counting to `most` + 1 at the most; None: not known."""

    async def job(self, asked: AskedOfSource, job: str) -> Job | None:
        """One job; None where there is none in reach. View and filter do not matter."""

    async def events(self, asked: AskedOfSource, job: str, before: int | None, most: int) -> JobEvents | None:
        """Lines of its history before a sequence, newest first, `next` None; None where there is no such job in reach."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What reading one source came to. `page` None: it could not be read, and `source` says why."""

    source: JobSource
    page: SourcePage | None
    behind: Position


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """One page of several sources. `positions`: where each goes on, by its name; all END: nothing follows."""

    jobs: tuple[JobSummary, ...]
    positions: dict[str, Position]
    looked_to: datetime | None

    @property
    def more(self) -> bool:
        """Whether anything may follow."""
        return any(position != END for position in self.positions.values())


async def read_foreign(
    sources: Sequence[ForeignSource],
    asked: AskedOfSource,
    behind: dict[str, Position],
    most: int,
    seconds: float = SOURCE_SECONDS,
) -> list[Reading]:
    """A page of each source at the same time, within `seconds`. One that fails or takes longer is left behind."""
    waiting = [source for source in sources if behind.get(source.name, START) != END]
    tasks = {
        source.name: asyncio.ensure_future(source.page(asked, behind.get(source.name, START), most))
        for source in waiting
    }
    if tasks:
        await asyncio.wait(tasks.values(), timeout=seconds)
    found = []
    for source in sources:
        task = tasks.get(source.name)
        place = behind.get(source.name, START)
        if task is None:
            found.append(Reading(source=_said(source, None), page=SourcePage(rows=()), behind=place))
        else:
            page, sentence = _outcome(source, task, seconds)
            found.append(Reading(source=_said(source, sentence), page=page, behind=place))
    return found


async def count_foreign(
    sources: Sequence[ForeignSource], asked: AskedOfSource, most: int, seconds: float = SOURCE_SECONDS
) -> list[int | None]:
    """How many jobs each source has, counting to `most` + 1, at the same time and within `seconds`; None: not known."""
    tasks = [asyncio.ensure_future(source.count(asked, most)) for source in sources]
    if tasks:
        await asyncio.wait(tasks, timeout=seconds)
    found: list[int | None] = []
    for task in tasks:
        if not task.done():
            task.add_done_callback(_forgotten)
            task.cancel()
        counted = task.done() and not task.cancelled() and task.exception() is None
        found.append(task.result() if counted else None)
    return found


def _outcome(
    source: ForeignSource, task: asyncio.Future[SourcePage], seconds: float
) -> tuple[SourcePage | None, str | None]:
    if not task.done():
        task.add_done_callback(_forgotten)
        task.cancel()
        return None, f"{source.name} did not answer within {seconds:g} s. Its jobs are not on this page."
    if task.cancelled():
        return None, f"{source.name} could not be read. Its jobs are not on this page."
    error = task.exception()
    if error is None:
        return task.result(), None
    if isinstance(error, Refusal):
        return None, f"{source.name}: {error.detail}"
    _log.warning("job-source-failed", source=source.name, engine=source.engine, error=type(error).__name__)
    return None, f"{source.name} could not be read. Its jobs are not on this page."


def _forgotten(task: asyncio.Future[Any]) -> None:
    """Nobody waits for it any more: what became of it is looked at, so that nothing is said of an error unseen."""
    if not task.cancelled():
        task.exception()


def _said(source: ForeignSource, sentence: str | None) -> JobSource:
    return JobSource(
        name=source.name,
        engine=source.engine,
        application=source.application,
        reached=sentence is None,
        sentence=sentence,
    )


@dataclass(slots=True)
class _Head:
    """How far the merge came in one source."""

    name: str
    page: SourcePage
    place: Position
    at: int = 0

    @property
    def row(self) -> SourceRow | None:
        return self.page.rows[self.at] if self.at < len(self.page.rows) else None

    @property
    def stands(self) -> datetime | None:
        """The instant of what is next here: a job, or how far it looked; None: nothing follows."""
        row = self.row
        if row is not None:
            return row.job.requested_at
        return None if self.page.beyond is None else self.page.beyond[1]

    def position(self) -> Position:
        """Where it goes on."""
        if self.row is not None:
            return self.place
        return END if self.page.beyond is None else self.page.beyond[0]


def _latest(heads: Sequence[_Head]) -> _Head | None:
    """The one whose next stands latest, of equal ones the first; None where nothing follows in any."""
    latest, stood = None, None
    for head in heads:
        stands = head.stands
        if stands is not None and (stood is None or stands > stood):
            latest, stood = head, stands
    return latest


def merge(readings: Sequence[Reading], most: int) -> Merged:
    """Up to `most` jobs of all sources that were read, the latest requested first, each source in its own order.

    Where the next would be what a source did not look at yet, the page ends, and says how far it looked.
    """
    heads = [
        _Head(name=each.source.name, page=each.page, place=each.behind) for each in readings if each.page is not None
    ]
    jobs: list[JobSummary] = []
    looked_to = None
    while len(jobs) < most:
        head = _latest(heads)
        if head is None:
            break
        row = head.row
        if row is None:
            looked_to = head.stands
            break
        jobs.append(row.job)
        head.place = row.position
        head.at += 1
    positions = {each.source.name: each.behind for each in readings if each.page is None}
    positions |= {head.name: head.position() for head in heads}
    return Merged(jobs=tuple(jobs), positions=positions, looked_to=looked_to)
