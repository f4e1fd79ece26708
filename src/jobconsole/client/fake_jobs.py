"""Owns the background jobs of the fake service: adding them, moving the Worker by hand, listing, counting and reading them
within reach. What people do to them: `fake_job_acts`. A believable set of them: `fake_job_examples.furnish`.

    job = fake.account.add("payments.export", subject="February")
    fake.account.begin(job); fake.account.report(job, 40); fake.account.finish(job)
    fake.account.fail(job, "The archive is full.", "E-1F2A")
    fake.account.work()                      # every job goes on a little; asked-for cancellations end
    fake.account.reach["s.bell"] = FakeReach(customers=frozenset({"C-1007"}))
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from jobconsole.client.fake_asked import PEOPLE, TENANT, Asked, Handler
from jobconsole.client.fake_job import EVENTS_FIRST, FakeJob, waiting
from jobconsole.client.fake_job_acts import FakeJobActs
from jobconsole.client.fake_job_filters import matching
from jobconsole.client.fake_job_kinds import FOREIGN, KINDS, FakeKind
from jobcontract.errors import ErrorCode, Refusal
from jobcontract.events import Topic
from jobcontract.ids import PAGE_MAX
from jobcontract.job_states import JobEventKind, JobStatus, JobView
from jobcontract.jobs import (
    HERE,
    Job,
    JobCount,
    JobCounts,
    JobEvents,
    JobInput,
    JobKinds,
    JobRelative,
    Jobs,
    JobSource,
    JobSummary,
)
from jobcontract.session import Person

WORKER = "4a1f0c52-7c3e-4b0e-9a55-2f6f0c1d7e10"


@dataclass(frozen=True, slots=True, kw_only=True)
class FakeReach:
    """Which customers and workspaces a person's rights are narrowed to; None: not narrowed."""

    customers: frozenset[str] | None = None
    workspaces: frozenset[str] | None = None

    def holds(self, job: JobSummary) -> bool:
        """Whether the job is within it."""
        return (self.customers is None or job.customer in self.customers) and (
            self.workspaces is None or job.workspace in self.workspaces
        )


class FakeAccount:
    """The account of background jobs of one tenant. `publish` hears of each change."""

    def __init__(self, now: Callable[[], datetime], publish: Callable[[Topic, str, str, int], None]) -> None:
        self.now = now
        self._publish = publish
        self.acts = FakeJobActs(self)
        self.jobs: dict[tuple[str, str], FakeJob] = {}
        """By source and id."""
        self.sources: list[JobSource] = [
            JobSource(name=HERE, engine="jobservice", application="payments", reached=True, sentence=None)
        ]
        self.reach: dict[str, FakeReach] = {}
        self.stopped: Callable[[str], bool] = lambda _kind: False
        """Whether no step of a kind is begun; the stops of the fake service set it."""
        self.exact = True
        """Whether counts are exact; else they say about how many, 4 s old."""
        self.page_most: int | None = None
        """Where set: a page looks at so many jobs at most, and says how far back it looked."""

    # Making them

    def add(
        self,
        kind: str,
        *,
        source: str = HERE,
        subject: str | None = None,
        identity: str | None = None,
        requester: str | None = "m.ito",
        ago: float = 0.0,
        plan: str | None = None,
        inputs: Mapping[str, str | int | bool] | None = None,
        identifier: str | None = None,
        **more: object,
    ) -> FakeJob:
        """A pending job, asked for `ago` seconds before now; further members of its summary in `more`."""
        known, at, number = self.kind(kind), self.now() - timedelta(seconds=ago), len(self.jobs) + 1
        person = None if requester is None else Person(id=requester, name=PEOPLE[requester][0])
        row = waiting(
            known,
            at,
            source=source,
            id=identifier or _uuid7(at, number),
            subject=subject or known.wire.label,
            submission_identity=identity or f"{kind}-{number}",
            requester=person,
        )
        job = FakeJob(summary=row.model_copy(update=more), kind=known, steps=known.queued(), plan=plan)
        job.inputs = dict(inputs or {})
        told = [step.label for step in job.steps]
        job.tell(JobEventKind.SUBMITTED, at, f"Submitted with {len(told)} steps.", person=person, version=1, steps=told)
        self.jobs[source, job.id] = job
        self.changed(job)
        return job

    def add_source(self, name: str, engine: str, application: str, sentence: str | None = None) -> None:
        """Another engine's views; `sentence`: why they are not reached."""
        self.sources.append(
            JobSource(name=name, engine=engine, application=application, reached=sentence is None, sentence=sentence)
        )

    def kind(self, identifier: str) -> FakeKind:
        """The kind with that id, registered or foreign."""
        return KINDS.get(identifier) or FOREIGN[identifier]

    # The Worker, moved by hand

    def begin(self, job: FakeJob, at: datetime | None = None) -> FakeJob:
        """A Worker takes it up."""
        job.begin(at or self.now(), WORKER)
        return self.changed(job)

    def report(self, job: FakeJob, percent: int, sentence: str | None = None) -> FakeJob:
        """Its step declares how far it is."""
        job.report(self.now(), percent, sentence)
        return self.changed(job)

    def finish(self, job: FakeJob, at: datetime | None = None) -> FakeJob:
        """It goes through every step that is left and succeeds."""
        instant = at or self.now()
        if job.summary.status is JobStatus.PENDING:
            job.begin(instant, WORKER)
        while job.current is not None:
            if job.current.attempts == 0:
                job.begin_step(instant)
            job.end_step(instant)
        self._mend(job, instant)
        return self.changed(job)

    def fail(self, job: FakeJob, summary: str, reference: str, at: datetime | None = None, *, done: int = 0) -> FakeJob:
        """It fails; after `done` more steps went well."""
        instant = at or self.now()
        if job.summary.status is JobStatus.PENDING:
            job.begin(instant, WORKER)
        for _ in range(done):
            job.end_step(instant)
            job.begin_step(instant)
        job.fail(instant, summary, reference)
        return self.changed(job)

    def work(self) -> None:
        """Everything goes on a little: what waits begins, what runs comes a tenth further, what was asked to be cancelled
        is."""
        for job in [each for each in self.jobs.values() if each.here and not each.summary.status.final]:
            if job.summary.cancel_asked_at is not None:
                job.cancel(self.now())
            elif self.stopped(job.summary.kind) or job.carrier != "engine":
                continue
            elif job.summary.status is JobStatus.PENDING:
                job.begin(self.now(), WORKER)
            elif job.current is not None and job.current.progress < 90:
                job.report(self.now(), job.current.progress + 10)
            else:
                job.end_step(self.now())
                job.begin_step(self.now())
                if job.current is None:
                    self._mend(job, self.now())
            self.changed(job)

    def _mend(self, job: FakeJob, at: datetime) -> None:
        """What a retry succeeded for asks for nothing any more."""
        before = job
        while before.summary.retry_of is not None:
            before = self.jobs[job.summary.source, before.summary.retry_of]
            if before.unresolved:
                self.acts.mended(before, by=job, at=at)
                self.changed(before)

    def changed(self, job: FakeJob) -> FakeJob:
        """Tell the streams."""
        self._publish(Topic.JOB, job.summary.kind, job.id, len(job.events))
        return job

    def changed_many(self, kind: str) -> None:
        """Tell the streams that many jobs of a kind changed at once."""
        self._publish(Topic.JOBS, kind, kind, sum(len(each.events) for each in self.jobs.values()))

    # Reading

    def handlers(self) -> Mapping[str, Handler]:
        """The routes of background jobs."""
        return {
            "jobs": self._list,
            "job-counts": self._count,
            "job-kinds": lambda _: JobKinds(kinds=tuple(KINDS[name].wire for name in sorted(KINDS)), now=self.now()),
            "job": self._detail,
            "job-events": self._events,
            **self.acts.handlers(),
        }

    def within(self, person: str) -> list[FakeJob]:
        """Every job that the person sees, the latest requested first."""
        reach = self.reach.get(person, FakeReach())
        reached = {each.name for each in self.sources if each.reached}
        seen = [each for each in self.jobs.values() if reach.holds(each.summary) and each.summary.source in reached]
        return sorted(seen, key=lambda each: (each.summary.requested_at, each.id), reverse=True)

    def find(self, asked: Asked, source: str | None = None) -> FakeJob:
        """The job that the path names; Refusal NOT_FOUND, for one beyond reach too."""
        identifier, named = asked.parts["job"], source or asked.query.get("source", HERE)
        self._judge_source(named)
        job = self.jobs.get((named, identifier))
        if job is None or not self.reach.get(asked.person.id, FakeReach()).holds(job.summary):
            raise Refusal(ErrorCode.NOT_FOUND, f"There is no job {identifier[:80]} that you may see.")
        return job

    def matching(self, asked: Asked, text: str, view: JobView, source: str | None) -> list[FakeJob]:
        """What a filter finds within reach, the latest requested first."""
        foreign = len(self.sources) > 1  # then a kind that is not known may be another engine's
        finds = matching(
            text,
            self.now(),
            tenant=TENANT,
            person=asked.person.id,
            kinds=None if foreign else KINDS,
            sources=[each.name for each in self.sources],
        )
        return [
            each
            for each in self.within(asked.person.id)
            if (source is None or each.summary.source == source)
            and (view is JobView.ALL or each.unresolved)
            and finds(each.summary)
        ]

    def _asked(self, asked: Asked) -> list[FakeJob]:
        source = asked.query.get("source")
        if source is not None:
            self._judge_source(source)
        view = JobView(asked.query.get("view", JobView.UNRESOLVED))
        return self.matching(asked, asked.query.get("filter", ""), view, source)

    def _judge_source(self, name: str) -> None:
        if name not in {each.name for each in self.sources}:
            raise Refusal(ErrorCode.NOT_FOUND, f"There is no source {name[:80]} of jobs.")

    def _list(self, asked: Asked) -> Jobs:
        start, limit = page_of(asked, PAGE_MAX)
        found, end = self._asked(asked), start + (limit if self.page_most is None else min(limit, self.page_most))
        page, more = found[start:end], end < len(found)
        short = more and self.page_most is not None and len(page) < limit
        return Jobs(
            jobs=tuple(each.summary for each in page),
            sources=tuple(each for each in self.sources if asked.query.get("source", each.name) == each.name),
            next=str(end) if more else None,
            looked_to=page[-1].summary.requested_at if short else None,
            now=self.now(),
        )

    def _count(self, asked: Asked) -> JobCounts:
        everything = [each for each in self.within(asked.person.id) if each.here]
        statuses = {status: sum(each.summary.status is status for each in everything) for status in JobStatus}
        return JobCounts(
            listed=self._counted(len(self._asked(asked)), at_least=not self._all_reached(asked)),
            unresolved=self._counted(sum(each.unresolved for each in everything)),
            statuses={status: self._counted(count) for status, count in statuses.items()},
            now=self.now(),
        )

    def _counted(self, count: int, *, at_least: bool = False) -> JobCount:
        age = timedelta() if self.exact else timedelta(seconds=4)
        exact = self.exact and not at_least
        return JobCount(count=count, exact=exact, at_least=at_least, as_of=self.now() - age)

    def _all_reached(self, asked: Asked) -> bool:
        """Whether every source that is asked for was reached: else nobody knows how many it has."""
        wanted = asked.query.get("source")
        return all(each.reached for each in self.sources if wanted in (None, each.name))

    def _detail(self, asked: Asked) -> Job:
        job = self.find(asked)
        declared = {each.name: each.label for each in job.kind.wire.inputs}
        following = len(job.events) > EVENTS_FIRST
        return Job(
            summary=job.summary,
            definition_version=1 if job.here else None,
            carrier=job.carrier if job.here else None,
            plan=job.plan,
            retryable=job.here and job.kind.wire.retryable,
            failure_effect=job.kind.wire.failure_effect if job.here else None,
            failure_effect_state=job.effect,
            steps=tuple(job.steps),
            events=tuple(job.events[::-1][:EVENTS_FIRST]),
            events_next=str(EVENTS_FIRST) if following else None,
            notices=tuple(job.notices),
            inputs=tuple(
                JobInput(name=name, label=declared.get(name, name), value=None, masked=True) for name in job.inputs
            ),
            cancellation=job.cancellation,
            resolved=job.resolved,
            lineage=self.lineage(job),
            acts=self.acts.offered(asked, job),
            worker=job.worker,
            changes=len(job.events),
            now=self.now(),
        )

    def lineage(self, job: FakeJob) -> tuple[JobRelative, ...]:
        """All jobs of its lineage, the first one first."""
        first = self.first_of(job)
        family = [each for each in self.jobs.values() if self.first_of(each) is first]
        return tuple(
            JobRelative(
                id=each.id,
                retry_of=each.summary.retry_of,
                status=each.summary.status,
                requested_at=each.summary.requested_at,
                requester=each.summary.requester,
                reason=each.reason,
            )
            for each in sorted(family, key=lambda each: (each.summary.requested_at, each.id))
        )

    def first_of(self, job: FakeJob) -> FakeJob:
        """The job with which its lineage began."""
        while job.summary.retry_of is not None:
            job = self.jobs[job.summary.source, job.summary.retry_of]
        return job

    def _events(self, asked: Asked) -> JobEvents:
        job = self.find(asked)
        start, limit = page_of(asked, PAGE_MAX)
        end = start + limit
        following = str(end) if end < len(job.events) else None
        return JobEvents(events=tuple(job.events[::-1][start:end]), next=following, now=self.now())


def page_of(asked: Asked, most: int) -> tuple[int, int]:
    """Where the page begins, and how many rows it has at most; Refusal CURSOR_INVALID, INVALID_REQUEST."""
    cursor, limit = asked.query.get("cursor", "0"), asked.limit()
    if not 1 <= limit <= most:
        raise Refusal(ErrorCode.INVALID_REQUEST, f"limit is 1 to {most:,}.")
    if not cursor.isdigit():
        raise Refusal(ErrorCode.CURSOR_INVALID, "The cursor does not belong to this listing.")
    return int(cursor), limit


def _uuid7(at: datetime, number: int) -> str:
    """An id that rises with time, as the service makes them; the same in every run."""
    spread = int.from_bytes(hashlib.sha256(str(number).encode()).digest()[:7], "big")
    instant = int(at.timestamp() * 1_000)
    return str(UUID(int=(instant << 80) | (7 << 76) | ((number & 0xFFF) << 64) | (2 << 62) | spread))
