"""Owns listing and counting background jobs: pages of this service's account and of other engines under one filter.

Looking is not audited. Never scans: what seldom meets is looked for in a bounded stretch, and the page says how far.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

from pydantic import TypeAdapter

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.ids import PAGE_MAX
from jobcontract.job_filters import ME, NOT_GIVEN, FilterError, JobFilter, JobIs, judge_names, parse
from jobcontract.job_states import JobResolution, JobStatus, JobView
from jobcontract.jobs import HERE, JobCounts, JobSource, JobSummary
from jobcontract.permissions import Permission
from jobservice.records import RecordSet
from jobservice.rules.job_kinds import JobKind, readable
from jobservice.store import filters as filter_store
from jobservice.store import job_listing as store
from jobservice.store.database import Row, Transaction
from jobservice.store.job_listing import FIRST, Wanted
from jobservice.usecases import job_counting as counting
from jobservice.usecases.actor import Actor
from jobservice.usecases.items import reach
from jobservice.usecases.job_sources import (
    END,
    START,
    AskedOfSource,
    ForeignSource,
    Position,
    Reading,
    SourcePage,
    SourceRow,
    count_foreign,
    merge,
    read_foreign,
)
from jobservice.usecases.service import Service

PAGE_SECONDS = 5.0
"""How long one page may take."""
ENGINE = "jobservice"
"""What carries the jobs of this service, as people read it."""
_LINES = TypeAdapter(tuple[JobSummary, ...])
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_OF_RESOLUTION = {JobIs.UNRESOLVED: "none", **{JobIs(each.value): each.value for each in JobResolution}}
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
    actor.require(Permission.JOB_READ)
    limit = max(1, min(asked.limit, PAGE_MAX))
    filter_ = read_filter(asked.filter, actor, sources)
    named = _named(asked, filter_, sources)
    behind = {} if mark is None else _read(mark, named)
    foreign = [source for source in sources if source.name in named]
    readings: list[Reading] = []
    async with service.database.transaction(actor.tenant, statement_seconds=PAGE_SECONDS, by_index=True) as transaction:
        now = transaction.began_at
        if HERE in named:
            await filter_store.keep_order(transaction)
            place = behind.get(HERE, START)
            wanted = None
            if place != END:
                wanted = await wanted_of(transaction, service, actor, asked.view, filter_, judged=not sources)
            readings.append(await _own(transaction, service, wanted, place, limit))
    readings += await read_foreign(foreign, _of_source(actor, asked.view, filter_, now), behind, limit)
    merged = merge(readings, limit)
    last = None
    if merged.more and (merged.jobs or merged.looked_to is not None):
        last = tuple(part for name in sorted(merged.positions) for part in (name, merged.positions[name]))
    return ListedJobs(
        jobs=merged.jobs,
        sources=tuple(each.source for each in readings),
        last=last,
        looked_to=merged.looked_to,
        now=now,
    )


def read_filter(text: str, actor: Actor, sources: Sequence[ForeignSource] = ()) -> JobFilter:
    """The filter that a person wrote, its tenant and sources judged. Refusal FILTER_INVALID with `at` and `length`."""
    try:
        filter_ = parse(text)
        judge_names(filter_, tenant=actor.tenant, sources={HERE, *(source.name for source in sources)})
    except FilterError as wrong:
        raise _invalid(wrong) from None
    return filter_


def _invalid(wrong: FilterError) -> Refusal:
    return Refusal(ErrorCode.FILTER_INVALID, wrong.sentence, at=wrong.at, length=wrong.length)


def _named(asked: Asked, filter_: JobFilter, sources: Sequence[ForeignSource]) -> Collection[str]:
    """Which sources are listed. Refusal NOT_FOUND where the request names one that there is not."""
    known = {HERE, *(source.name for source in sources)}
    if asked.source is not None and asked.source not in known:
        raise no_such_source(asked.source, known)
    said = filter_.values("source")
    wanted = known if said is None else known & set(said)
    return wanted if asked.source is None else wanted & {asked.source}


def no_such_source(name: str, known: Iterable[str]) -> Refusal:
    """The refusal of a source that the settings do not name."""
    return Refusal(
        ErrorCode.NOT_FOUND, f"There is no source of jobs {name[:80]!r}. Sources: {', '.join(sorted(known))}."
    )


def _read(mark: Mark, named: Collection[str]) -> dict[str, Position]:
    """The place of each source. One that was added since begins at the top with the next first page."""
    words = [str(part) for part in mark]
    if len(words) % 2 or not all(
        _is_place(place) for name, place in zip(words[::2], words[1::2], strict=True) if name == HERE
    ):
        raise Refusal(ErrorCode.CURSOR_INVALID, "The place to go on from is not one that a page of this listing gave.")
    found = dict(zip(words[::2], words[1::2], strict=True))
    return {name: found.get(name, END) for name in named}


def _is_place(place: Position) -> bool:
    if place in (START, END):
        return True
    try:
        return str(UUID(place)) == place
    except ValueError:
        return False


def _of_source(actor: Actor, view: JobView, filter_: JobFilter, now: datetime) -> AskedOfSource:
    return AskedOfSource(
        tenant=actor.tenant, person=actor.person, reach=reach(actor), view=view, filter=filter_, now=now
    )


async def _own(
    transaction: Transaction, service: Service, wanted: Wanted | None, place: Position, most: int
) -> Reading:
    """A page of this service's account; `wanted` None: nothing can match."""
    page = SourcePage(rows=())
    if wanted is not None:
        found = await store.page(transaction, wanted, before=place or FIRST, most=most)
        rows = tuple(SourceRow(job=job, position=job.id) for job in summaries(service.records, found.rows))
        beyond = None if found.horizon is None else (found.horizon, _made_at(found.horizon))
        page = SourcePage(rows=rows, beyond=beyond)
    source = JobSource(name=HERE, engine=ENGINE, application=service.application.name, reached=True, sentence=None)
    return Reading(source=source, page=page, behind=place)


def _made_at(job: str) -> datetime:
    """When a job was made, to the millisecond, by its id (RFC 9562, version 7)."""
    return _EPOCH + timedelta(milliseconds=UUID(job).int >> 80)


async def wanted_of(
    transaction: Transaction, service: Service, actor: Actor, view: JobView, filter_: JobFilter, *, judged: bool
) -> Wanted | None:
    """What a filter wants of this service's account, within the actor's reach; None where nothing can match.

    `judged`: a kind that nobody knows is refused. Refusal FILTER_INVALID with `at` and `length`.
    """
    try:
        await _judge_kinds(transaction, service, filter_, judged=judged)
        causes = await _causes(transaction, filter_)
    except FilterError as wrong:
        raise _invalid(wrong) from None
    requesters = filter_.values("requester")
    is_ = filter_.values("is")
    now = transaction.began_at
    wanted = Wanted(
        reach=reach(actor),
        kinds=_kinds(filter_),
        statuses=filter_.values("status"),
        resolutions=None
        if is_ is None
        else tuple(_OF_RESOLUTION[JobIs(each)] for each in is_ if each != JobIs.CANCELLING),
        cancelling=is_ is not None and JobIs.CANCELLING in is_,
        requesters=None
        if requesters is None
        else tuple(dict.fromkeys({ME: actor.person, NOT_GIVEN: ""}.get(each, each) for each in requesters)),
        scopes=filter_.values("scope"),
        causes=causes,
        words=tuple(_word(each) for each in filter_.words) or None,
        older_than=None if filter_.older is None else now - filter_.older,
        younger_than=None if filter_.younger is None else now - filter_.younger,
    )
    return _in_view(wanted, view)


def _word(word: str) -> str:
    """A word as it is looked up: ids are written small."""
    try:
        return str(UUID(word)) if len(word) == 36 else word
    except ValueError:
        return word


def _in_view(wanted: Wanted, view: JobView) -> Wanted | None:
    """The same within a view; None where nothing can be in it."""
    if wanted.causes == ():
        return None
    resolutions = wanted.resolutions
    if view is JobView.UNRESOLVED:
        if resolutions is not None and "none" not in resolutions:
            return None
        if wanted.statuses is not None and JobStatus.FAILED not in wanted.statuses:
            return None
        return replace(wanted, statuses=None, resolutions=("none",), cancelling=False)
    if resolutions == () and wanted.cancelling:
        resolutions = None
    return replace(wanted, resolutions=resolutions)


def _kinds(filter_: JobFilter) -> tuple[str, ...] | None:
    """The kinds asked for as this service writes its own."""
    named = filter_.values("kind")
    return None if named is None else tuple(dict.fromkeys(each.lower() for each in named))


async def _judge_kinds(transaction: Transaction, service: Service, filter_: JobFilter, *, judged: bool) -> None:
    known = set(service.records.job_kinds)
    if judged and not known.issuperset(_kinds(filter_) or ()):
        known.update(await store.known_kinds(transaction))
        judge_names(filter_, tenant=transaction.tenant or "", kinds=known)


async def _causes(transaction: Transaction, filter_: JobFilter) -> tuple[str, ...] | None:
    """Ids of the causes that the filter's words are found in; None where it names none."""
    words = filter_.values("error")
    if words is None:
        return None
    found = await store.causes(transaction, words)
    if len(found) > store.CAUSES_MOST:
        condition = filter_.of("error")[0]
        sentence = f"More than {store.CAUSES_MOST} different failures say that. Write more of what the failure says."
        raise FilterError(sentence, at=condition.at, length=condition.length)
    return tuple(found)


def summary(records: RecordSet, row: Row) -> JobSummary:
    """A job as a line (`jobs.job_lines`)."""
    return summaries(records, (row,))[0]


def summaries(records: RecordSet, rows: Sequence[Row]) -> tuple[JobSummary, ...]:
    """Jobs as lines. All are validated at once: one by one a page of a hundred takes three times as long."""
    return _LINES.validate_python([_line(records, row) for row in rows])


def _line(records: RecordSet, row: Row) -> dict[str, object]:
    kind = records.job_kinds.get(row["kind"])
    label = readable(row["kind"]) if kind is None else kind.label
    requester = row["requester"]
    return {
        **row,
        "source": HERE,
        "id": str(row["id"]),
        "kind_label": label,
        "application": _application(kind, row["family"]),
        "subject": row["subject"] or row["customer"] or row["workspace"] or label,
        "requester": None if requester is None else {"id": requester, "name": row["requester_name"] or requester},
        "last_step_label": None if kind is None else kind.label_of(row["last_step"]),
        "retry_of": None if row["retry_of"] is None else str(row["retry_of"]),
        "retried_by": None if row["retried_by"] is None else str(row["retried_by"]),
    }


def _application(kind: JobKind | None, family: str) -> str:
    return family if kind is None else kind.application


async def count_jobs(
    service: Service, actor: Actor, asked: Asked, *, sources: Sequence[ForeignSource] = ()
) -> JobCounts:
    """How many jobs a filter finds, and how many of each status are in reach; refusals as of `list_jobs`.

    Exact up to `job_counting.COUNTED`. Above, about, where the tallies know it; else that many or more. Jobs of other engines are in
    the count of the filter alone.
    """
    actor.require(Permission.JOB_READ)
    filter_ = read_filter(asked.filter, actor, sources)
    named = _named(asked, filter_, sources)
    async with service.database.transaction(actor.tenant, statement_seconds=PAGE_SECONDS, by_index=True) as transaction:
        now = transaction.began_at
        await filter_store.keep_order(transaction)
        listed = counting.count_of(0, now)
        if HERE in named:
            wanted = await wanted_of(transaction, service, actor, asked.view, filter_, judged=not sources)
            listed = counting.count_of(0, now) if wanted is None else await counting.counted(transaction, wanted)
        statuses, unresolved = await counting.of_each(transaction, Wanted(reach=reach(actor)))
    foreign = [source for source in sources if source.name in named]
    if foreign:
        elsewhere = await count_foreign(foreign, _of_source(actor, asked.view, filter_, now), counting.COUNTED)
        listed = counting.with_foreign(listed, elsewhere)
    return JobCounts(listed=listed, unresolved=unresolved, statuses=statuses, now=now)
