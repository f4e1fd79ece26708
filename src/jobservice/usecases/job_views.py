"""Owns jobs of other engines, read through monitoring views with the logins that the settings name (requirement families).

Finds the views, leaves a login alone that may do more than read them, and applies the scope of whoever reads. Writes
nothing anywhere, and never shows an address.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.job_filters import NOT_GIVEN, JobFilter, JobIs
from jobcontract.job_states import FailureEffectState, JobEventKind, JobStatus, JobView, StepStatus
from jobcontract.jobs import Job, JobActs, JobEvent, JobEvents, JobStep, JobSummary
from jobcontract.session import Person
from jobcontract.states import Moves
from jobservice.rules.job_kinds import readable
from jobservice.store import job_views as store
from jobservice.store.database import Database, Row
from jobservice.usecases.job_sources import START, AskedOfSource, ForeignSource, Position, SourcePage, SourceRow

READ_SECONDS = 2.0
"""How long one statement of a source may take."""
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
"""Where a view does not say when."""
FIND_SECONDS = 30.0
"""How often a database is looked through for views anew."""
CONNECTIONS = 2
EVENTS = 50
_NEVER: Sequence[str] = ("jobs",)
"""The service's own views: its own account is read from its tables."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewSource:
    """The three views of one schema, as a source of jobs."""

    name: str
    engine: str
    application: str
    database: Database
    schema: str

    async def page(self, asked: AskedOfSource, behind: Position, most: int) -> SourcePage:
        """Up to `most` + 1 jobs behind a place, in the order of the views."""
        wanted = _wanted(asked)
        if wanted is None:
            return SourcePage(rows=())
        async with self.database.transaction(None, statement_seconds=READ_SECONDS) as transaction:
            await store.look_in(transaction, self.schema)
            rows = await store.page(transaction, asked.tenant, wanted, _place(behind), most + 1)
        found = [row for row in rows if row["matches"]]
        last = next((row for row in rows if not row["matches"]), None)
        beyond = None
        if last is not None and len(found) <= most:
            beyond = (_position(last), _instant(last["requested_at"]))
        return SourcePage(
            rows=tuple(SourceRow(job=self._summary(row), position=_position(row)) for row in found), beyond=beyond
        )

    async def count(self, asked: AskedOfSource, most: int) -> int | None:
        """How many jobs there are, to `most` + 1; None where more would have to be looked at than a page does."""
        page = await self.page(asked, START, most)
        return None if page.beyond is not None else len(page.rows)

    async def job(self, asked: AskedOfSource, job: str) -> Job | None:
        """One job with its steps and its latest history; None where there is none in reach."""
        async with self.database.transaction(None, statement_seconds=READ_SECONDS) as transaction:
            await store.look_in(transaction, self.schema)
            row = await store.job(transaction, asked.tenant, asked.reach, job)
            if row is None:
                return None
            steps = await store.steps(transaction, asked.tenant, job)
            events = await store.events(transaction, asked.tenant, job, None, EVENTS)
        return self._job(row, steps, events, asked.now)

    async def events(self, asked: AskedOfSource, job: str, before: int | None, most: int) -> JobEvents | None:
        """Lines of its history before a sequence, newest first; None where there is no such job in reach."""
        async with self.database.transaction(None, statement_seconds=READ_SECONDS) as transaction:
            await store.look_in(transaction, self.schema)
            if await store.job(transaction, asked.tenant, asked.reach, job) is None:
                return None
            rows = await store.events(transaction, asked.tenant, job, before, most)
        return JobEvents(events=tuple(map(_event, rows)), next=None, now=asked.now)

    def _summary(self, row: Row) -> JobSummary:
        requested = _instant(row["requested_at"])
        status = JobStatus(row["status"])
        step = row["last_step_status"]
        return JobSummary(
            source=self.name,
            id=row["job"],
            kind=row["kind"],
            kind_label=readable(row["kind"]),
            application=row["family"] or self.application,
            status=status,
            progress=min(100, max(0, int(row["progress"] or 0))),
            subject=row["subject"] or readable(row["kind"]),
            submission_identity=row["submission_identity"],
            requester=None if row["requester"] is None else Person(id=row["requester"], name=row["requester"]),
            customer=row["customer"],
            workspace=row["workspace"],
            requested_at=requested,
            started_at=row["started_at"],
            activity_at=_instant(row["activity_at"] or requested),
            settled_at=row["settled_at"] if status.final else None,
            last_step=row["last_step"],
            last_step_status=None if step is None else StepStatus(step),
            failure_summary=row["failure_summary"] if status is JobStatus.FAILED else None,
            failure_reference=row["failure_reference"],
            retry_of=row["retry_of"],
            retried_by=None,
            cancel_asked_at=None,
            resolution=None,
            moves=Moves.NOTHING,
        )

    def _job(self, row: Row, steps: Sequence[Row], events: Sequence[Row], now: datetime) -> Job:
        elsewhere = f"{self.engine} carries this job: it is acted on there."
        return Job(
            summary=self._summary(row),
            definition_version=None,
            carrier=None,
            plan=None,
            retryable=False,
            failure_effect=None,
            failure_effect_state=FailureEffectState.NONE,
            steps=tuple(map(_step, steps)),
            events=tuple(map(_event, events)),
            events_next=None,
            notices=(),
            inputs=(),
            cancellation=None,
            resolved=None,
            lineage=(),
            acts=JobActs(cancel=elsewhere, retry=elsewhere, resolve=elsewhere, reveal=elsewhere),
            worker=None,
            changes=len(events),
            now=now,
        )


@dataclass(slots=True, eq=False)
class ViewSources:
    """All sources of one process: opens a small pool for each database that the settings name, finds its views, and finds
    them anew now and then."""

    _databases: dict[str, Database] = field(default_factory=dict)
    _found: dict[str, tuple[ForeignSource, ...]] = field(default_factory=dict)
    _looked_at: float | None = None
    _looking: asyncio.Lock = field(default_factory=asyncio.Lock)

    @classmethod
    async def open(cls, named: Sequence[tuple[str, str]]) -> ViewSources:
        """From names and addresses; waits for no server."""
        sources = cls()
        for name, url in named:
            sources._databases[name] = await Database.open(
                url, name=f"jobservice views {name}", most=CONNECTIONS, wait_seconds=READ_SECONDS
            )
        return sources

    async def close(self) -> None:
        """Give every connection back."""
        for database in self._databases.values():
            await database.close()

    async def current(self) -> Sequence[ForeignSource]:
        """The sources there are. A database that cannot be read is a source that says why when it is asked."""
        if not self._databases:
            return ()
        async with self._looking:
            if self._looked_at is None or time.monotonic() - self._looked_at > FIND_SECONDS:
                found = await asyncio.gather(*(self._find(name) for name in self._databases))
                self._found = dict(zip(self._databases, found, strict=True))
                self._looked_at = time.monotonic()
        return tuple(source for sources in self._found.values() for source in sources)

    async def _find(self, name: str) -> tuple[ForeignSource, ...]:
        try:
            async with asyncio.timeout(READ_SECONDS):
                return await self._look(name, self._databases[name])
        except TimeoutError:
            return (_Silent(name=name, sentence=f"It did not answer within {READ_SECONDS:g} s."),)
        except Refusal as refusal:
            return (_Silent(name=name, sentence=refusal.detail),)

    async def _look(self, name: str, database: Database) -> tuple[ForeignSource, ...]:
        async with database.transaction(None, statement_seconds=READ_SECONDS) as transaction:
            more = await store.may_more(transaction)
            if more:
                sentence = (
                    f"Its login may do more than read views ({', '.join(more)}), so nothing is read with it. Name one of "
                    "the role jobs_views."
                )
                return (_Silent(name=name, sentence=sentence),)
            schemas = await store.discover(transaction, _NEVER)
            found = []
            for schema in schemas:
                await store.look_in(transaction, schema)
                owner = await store.owner(transaction) or {}
                source = name if len(schemas) == 1 else f"{name}.{_word(schema)}"
                engine = owner.get("engine") or "jobservice"
                found.append(
                    ViewSource(
                        name=source,
                        engine=engine,
                        application=owner.get("family") or engine,
                        database=database,
                        schema=schema,
                    )
                )
        return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Silent:
    """A database that cannot be read: a source that says why."""

    name: str
    sentence: str
    engine: str = "unknown"
    application: str = "unknown"

    async def page(self, *_: object) -> SourcePage:
        """Refusal DATABASE_AWAY with the reason, as every other question."""
        raise self._away()

    async def count(self, *_: object) -> int | None:
        """Nobody knows."""
        return None

    async def job(self, *_: object) -> Job | None:
        """As `page`."""
        raise self._away()

    async def events(self, *_: object) -> JobEvents | None:
        """As `page`."""
        raise self._away()

    def _away(self) -> Refusal:
        return Refusal(ErrorCode.DATABASE_AWAY, self.sentence)


def _wanted(asked: AskedOfSource) -> store.WantedJobs | None:
    """What is asked of views, which know no resolutions: None where nothing of theirs can match."""
    filter_ = asked.filter
    statuses = filter_.values("status")
    named = filter_.values("is")
    if named is not None and JobIs.UNRESOLVED not in named:
        return None
    if named is not None or asked.view is JobView.UNRESOLVED:
        if statuses is not None and JobStatus.FAILED not in statuses:
            return None
        statuses = (JobStatus.FAILED,)
    errors = filter_.values("error")
    if errors is not None and len(errors) > 1:
        return None
    requesters, no_requester = _requesters(asked, filter_)
    return store.WantedJobs(
        reach=asked.reach,
        statuses=statuses,
        kinds=filter_.values("kind"),
        scopes=filter_.values("scope"),
        requesters=requesters,
        no_requester=no_requester,
        words=filter_.words or None,
        error=errors[0] if errors else None,
        since=None if filter_.younger is None else asked.now - filter_.younger,
        until=None if filter_.older is None else asked.now - filter_.older,
    )


def _requesters(asked: AskedOfSource, filter_: JobFilter) -> tuple[tuple[str, ...] | None, bool]:
    named = filter_.values("requester")
    if named is None:
        return None, False
    people = tuple(asked.person if each == "me" else each for each in named if each != NOT_GIVEN)
    return people, NOT_GIVEN in named


def _step(row: Row) -> JobStep:
    return JobStep(
        position=row["position"],
        step=row["step"],
        label=row["label"] or row["step"],
        use_case=row["step"],
        moves=Moves.NOTHING,
        status=StepStatus(row["status"]),
        attempts=row["attempts"] or 0,
        attempts_most=None,
        progress=100 if row["status"] == StepStatus.SUCCEEDED else 0,
        started_at=row["started_at"],
        settled_at=row["settled_at"],
        next_attempt_at=None,
        sentence=row["sentence"],
        failure_reference=None,
        reference=None,
    )


def _event(row: Row) -> JobEvent:
    known = set(JobEventKind)
    return JobEvent(
        sequence=row["sequence"],
        at=row["at"],
        kind=JobEventKind(row["kind"]) if row["kind"] in known else JobEventKind.PROGRESS,
        step=row["step"],
        status=row["status"],
        progress=row["progress"],
        sentence=row["sentence"],
        person=None,
        detail={},
    )


def _position(row: Row) -> Position:
    return f"{row['position']}/{row['job']}"


def _place(position: Position) -> tuple[int, str] | None:
    if position == START:
        return None
    number, _, job = position.partition("/")
    return int(number), job


def _instant(value: Any) -> datetime:
    return value if isinstance(value, datetime) else _LONG_AGO


def _word(schema: str) -> str:
    """A schema's name as part of a source's: without what a slug cannot have."""
    word = "-".join("".join(sign if sign.isascii() and sign.isalnum() else " " for sign in schema.lower()).split())
    return word.removesuffix("-views") or "views"
