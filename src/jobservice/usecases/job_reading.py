"""Owns reading one background job with steps, history, notices, lineage and what may be done with it; and the kinds there
are. Looking is not audited. Never gives out an input's value, the engine's handle or a row's version (INV-12).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

import structlog

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.ids import PAGE_MAX
from jobcontract.job_filters import JobFilter
from jobcontract.job_states import JobView
from jobcontract.jobs import (
    HERE,
    Cancellation,
    DeclaredField,
    Job,
    JobActs,
    JobEvent,
    JobKind,
    JobKinds,
    JobNotice,
    JobRelative,
    JobStep,
    Resolution,
)
from jobcontract.permissions import GRANTS, Permission, missing
from jobcontract.session import Person
from jobservice.rules import job_kinds, jobs
from jobservice.rules.claims import Denied
from jobservice.store import job_reading as store
from jobservice.store import jobs as job_store
from jobservice.store.database import Row, Transaction
from jobservice.store.jobs import LockedJob
from jobservice.usecases.actor import Actor
from jobservice.usecases.items import reach
from jobservice.usecases.job_acts import inputs_of
from jobservice.usecases.job_listing import no_such_source, summary
from jobservice.usecases.job_sources import SOURCE_SECONDS, AskedOfSource, ForeignSource
from jobservice.usecases.service import Service

EVENTS = 50
"""Lines of history that a job shows with itself."""
_INTERNAL = frozenset({"handle", "execution_handle", "version", "row_version", "fence"})
"""What a line of history never shows of its detail, whoever wrote it (INV-12)."""
_Answer = TypeVar("_Answer")

_log = structlog.get_logger(__name__)


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
    """One job. Refusal PERMISSION_MISSING without job.read, NOT_FOUND (also out of reach; no such source), TIMED_OUT
    (another engine's, which did not answer)."""
    actor.require(Permission.JOB_READ)
    if source != HERE:
        engine = _source(source, sources)
        asked = await _asked(service, actor)
        found = await _answered(engine, engine.job(asked, job))
        if found is None:
            raise _unknown(job)
        last = found.events[-1].sequence if found.events and len(found.events) >= EVENTS else None
        return ReadJob(job=found.model_copy(update={"events_next": None}), last=last)
    async with service.database.transaction(actor.tenant) as transaction:
        family = await _family(transaction, actor, job)
        here = await store.read(transaction, family, job, events=EVENTS)
        standing = await job_store.read(transaction, family, job)
        now = transaction.began_at
    if here is None or standing is None:  # retention came past it just now
        raise _unknown(job)
    return _read(service, actor, here, standing, now)


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
    actor.require(Permission.JOB_READ)
    limit = max(1, min(limit, PAGE_MAX))
    if source != HERE:
        engine = _source(source, sources)
        asked = await _asked(service, actor)
        found = await _answered(engine, engine.events(asked, job, before, limit + 1))
        if found is None:
            raise _unknown(job)
        shown = found.events[:limit]
        more = len(found.events) > limit
        return ListedEvents(events=shown, last=shown[-1].sequence if more else None, now=found.now)
    async with service.database.transaction(actor.tenant) as transaction:
        family = await _family(transaction, actor, job)
        rows = await store.events(transaction, family, job, before=store.LAST if before is None else before, most=limit)
        now = transaction.began_at
    page = rows[:limit]
    return ListedEvents(
        events=tuple(map(_event, page)), last=page[-1]["sequence"] if len(rows) > limit else None, now=now
    )


def _source(name: str, sources: Sequence[ForeignSource]) -> ForeignSource:
    for each in sources:
        if each.name == name:
            return each
    raise no_such_source(name, {HERE, *(each.name for each in sources)})


async def _asked(service: Service, actor: Actor) -> AskedOfSource:
    async with service.database.transaction(actor.tenant) as transaction:
        now = transaction.began_at
    return AskedOfSource(
        tenant=actor.tenant,
        person=actor.person,
        reach=reach(actor),
        view=JobView.ALL,
        filter=JobFilter(),
        now=now,
    )


async def _answered(source: ForeignSource, asking: Awaitable[_Answer]) -> _Answer:
    """What a source answers. Refusal TIMED_OUT where it does not, or cannot be read."""
    try:
        async with asyncio.timeout(SOURCE_SECONDS):
            return await asking
    except TimeoutError:
        raise Refusal(
            ErrorCode.TIMED_OUT, f"{source.name} did not answer within {SOURCE_SECONDS:g} s. Try again later."
        ) from None
    except Refusal:
        raise
    except Exception as error:  # whatever another engine's database does: it is no fault of this service
        _log.warning("job-source-failed", source=source.name, engine=source.engine, error=type(error).__name__)
        raise Refusal(ErrorCode.TIMED_OUT, f"{source.name} could not be read. Try again later.") from None


def _unknown(job: str) -> Refusal:
    """The one answer for unknown, foreign and unreachable jobs."""
    return Refusal(ErrorCode.NOT_FOUND, f"There is no job {job[:80]!r}.")


async def _family(transaction: Transaction, actor: Actor, job: str) -> str:
    found = await job_store.find(transaction, job, reach(actor))
    if found is None:
        raise _unknown(job)
    return str(found["family"])


def _read(service: Service, actor: Actor, found: store.Found, standing: LockedJob, now: datetime) -> ReadJob:
    head = found.head
    kind = service.records.job_kinds.get(head["kind"])
    events = found.events[:EVENTS]
    job = Job(
        summary=summary(service.records, head),
        definition_version=head["kind_version"],
        carrier=head["carrier"],
        plan=head["plan_name"],
        retryable=kind is not None and kind.retryable,
        failure_effect=_effect(service, kind, head["failure_effect"]),
        failure_effect_state=head["failure_effect_state"],
        steps=tuple(_step(service, row) for row in found.steps),
        events=tuple(map(_event, events)),
        events_next=None,
        notices=tuple(map(_notice, found.notices)),
        inputs=inputs_of(kind, standing.inputs, masked=True),
        cancellation=_cancellation(head),
        resolved=_resolution(head),
        lineage=tuple(map(_relative, found.lineage)),
        acts=_acts(actor, standing, kind),
        worker=head["worker"],
        changes=head["changes"],
        now=now,
    )
    return ReadJob(job=job, last=events[-1]["sequence"] if len(found.events) > EVENTS else None)


def _effect(service: Service, kind: job_kinds.JobKind | None, declared: str | None) -> str | None:
    """In words, what a failure does: as this job's kind declared it when the job was submitted."""
    if declared is not None:
        known = service.records.step_use_cases.get(declared)
        return job_kinds.readable(declared) if known is None else known.title
    return None if kind is None else kind.no_effect


def _person(identifier: str | None, name: str | None) -> Person | None:
    return None if identifier is None else Person(id=identifier, name=name or identifier)


def _step(service: Service, row: Row) -> JobStep:
    registered = service.application.steps.get(row["use_case"])
    return JobStep(attempts_most=None if registered is None else registered.patience.attempts, **row)


def _event(row: Row) -> JobEvent:
    return JobEvent(
        sequence=row["sequence"],
        at=row["at"],
        kind=row["kind"],
        step=row["step"],
        status=row["status"],
        progress=row["progress"],
        sentence=row["sentence"],
        person=_person(row["person"], row["person_name"]),
        detail={name: value for name, value in row["detail"].items() if name not in _INTERNAL},
    )


def _notice(row: Row) -> JobNotice:
    more = {name: value for name, value in row.items() if name not in ("person", "person_name")}
    return JobNotice(person=Person(id=row["person"], name=row["person_name"] or row["person"]), **more)


def _relative(row: Row) -> JobRelative:
    return JobRelative(
        id=row["id"],
        retry_of=row["retry_of"],
        status=row["status"],
        requested_at=row["requested_at"],
        requester=_person(row["requester"], row["requester_name"]),
        reason=row["retry_reason"],
    )


def _cancellation(head: Row) -> Cancellation | None:
    if head["cancel_asked_at"] is None:
        return None
    return Cancellation(
        at=head["cancel_asked_at"],
        person=_person(head["cancel_asked_by"], head["cancel_asked_by_name"]),
        reason=head["cancel_reason"],
    )


def _resolution(head: Row) -> Resolution | None:
    if head["resolution"] is None:
        return None
    return Resolution(
        resolution=head["resolution"],
        at=head["resolved_at"],
        person=_person(head["resolved_by"], head["resolved_by_name"]),
        reason=head["resolution_reason"],
        ticket=head["ticket"],
        job=head["resolved_job"],
    )


def _acts(actor: Actor, job: LockedJob, kind: job_kinds.JobKind | None) -> JobActs:
    """What the actor may do: what they may not do at all comes before what cannot be done now."""
    cancel = jobs.decide_cancel(job.state)
    retry = jobs.decide_retry(job.state, kind, reason="asked", allow_money=False)
    resolve = jobs.decide_resolve(job.state)
    said = cancel.sentence if isinstance(cancel, Denied | jobs.CancelledBefore) else None
    return JobActs(
        cancel=_missing(actor, Permission.JOB_CANCEL) or said,
        retry=_missing(actor, Permission.JOB_RETRY) or _why_not(retry),
        resolve=_missing(actor, Permission.JOB_RESOLVE) or _why_not(resolve),
        reveal=_missing(actor, Permission.JOB_REVEAL) or (None if job.inputs else "The job has no inputs."),
    )


def _missing(actor: Actor, permission: Permission) -> str | None:
    return None if permission in GRANTS[actor.role] else missing(permission, actor.tenant)


def _why_not(decided: object) -> str | None:
    return decided.sentence if isinstance(decided, Denied) else None


async def list_kinds(service: Service, actor: Actor) -> JobKinds:
    """All kinds that the application registered, by id. Refusal PERMISSION_MISSING without job.read or job.submit."""
    if Permission.JOB_SUBMIT not in GRANTS[actor.role]:
        actor.require(Permission.JOB_READ)
    async with service.database.transaction(actor.tenant) as transaction:
        now = transaction.began_at
    kinds = sorted(service.records.job_kinds.values(), key=lambda each: each.id)
    return JobKinds(kinds=tuple(_kind(service, each) for each in kinds), now=now)


def _kind(service: Service, kind: job_kinds.JobKind) -> JobKind:
    return JobKind(
        id=kind.id,
        label=kind.label,
        application=kind.application,
        moves=kind.moves,
        retryable=kind.retryable,
        failure_effect=_effect(service, kind, kind.failure_effect) or "",
        inputs=tuple(
            DeclaredField(name=each.name, label=each.label, type=each.type.value, required=each.required)
            for each in kind.inputs
        ),
        steps=tuple(each.label for each in kind.steps),
    )
