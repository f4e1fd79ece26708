"""Owns reading one background job with steps, history, notices, lineage and what may be done with it; and the kinds there
are. Looking is not audited. Never gives out an input's value, the engine's handle or a row's version (INV-12).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from jobcontract.jobs import HERE, Job, JobEvent, JobKinds
from jobservice.usecases.actor import Actor
from jobservice.usecases.job_sources import ForeignSource
from jobservice.usecases.service import Service

EVENTS = 50
"""Lines of history that a job shows with itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedEvents:
    """A page of history, newest first; `last` is the sequence behind which the next goes on, None where it ends."""

    events: tuple[JobEvent, ...]
    last: int | None
    now: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadJob:
    """A job; its `events_next` is None, and `last` is what `list_events` goes on behind: the API signs it."""

    job: Job
    last: int | None


async def read_job(
    service: Service, actor: Actor, job: str, *, source: str = HERE, sources: Sequence[ForeignSource] = ()
) -> ReadJob:
    """One job. Refusal PERMISSION_MISSING without job.read, NOT_FOUND (also out of reach; no such source)."""
    raise NotImplementedError


async def list_events(
    service: Service,
    actor: Actor,
    job: str,
    *,
    before: int | None,
    limit: int,
    source: str = HERE,
    sources: Sequence[ForeignSource] = (),
) -> ListedEvents:
    """A page of a job's history before a sequence (None: the newest). Refusals as of `read_job`."""
    raise NotImplementedError


async def list_kinds(service: Service, actor: Actor) -> JobKinds:
    """All kinds that the application registered, by id. Refusal PERMISSION_MISSING without job.read or job.submit."""
    raise NotImplementedError
