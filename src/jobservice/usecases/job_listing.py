"""Owns listing and counting background jobs: pages of this service's account and of other engines under one filter.

Looking is not audited. Never scans: what seldom meets is looked for in a bounded stretch, and the page says how far.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from jobcontract.ids import PAGE_MAX
from jobcontract.job_states import JobView
from jobcontract.jobs import JobCounts, JobSource, JobSummary
from jobservice.usecases.actor import Actor
from jobservice.usecases.job_sources import ForeignSource
from jobservice.usecases.service import Service

Mark = tuple[str | int, ...]
"""Where to go on, as a page gives it and takes it back: name and place of each source."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is asked for: a view, what matches a filter (as a person writes it), one source alone (None: all), rows."""

    view: JobView = JobView.UNRESOLVED
    filter: str = ""
    source: str | None = None
    limit: int = PAGE_MAX


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedJobs:
    """One page, the latest requested first. `last`: where the next goes on, None where nothing follows. `looked_to`: the
    page is not full, and nothing older was looked at yet."""

    jobs: tuple[JobSummary, ...]
    sources: tuple[JobSource, ...]
    last: Mark | None
    looked_to: datetime | None
    now: datetime


async def list_jobs(
    service: Service, actor: Actor, asked: Asked, mark: Mark | None = None, *, sources: Sequence[ForeignSource] = ()
) -> ListedJobs:
    """One page, at most `PAGE_MAX` rows, where `mark` of another page leads. `sources`: other engines, read beside.

    Refusal PERMISSION_MISSING without job.read, FILTER_INVALID with `at` and `length`, NOT_FOUND (no such source),
    CURSOR_INVALID (`mark` is not what a page gave).
    """
    raise NotImplementedError


async def count_jobs(
    service: Service, actor: Actor, asked: Asked, *, sources: Sequence[ForeignSource] = ()
) -> JobCounts:
    """How many jobs a filter finds, and how many of each status are in reach; refusals as of `list_jobs`."""
    raise NotImplementedError
