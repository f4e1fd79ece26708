"""Owns a stage for tests of background jobs: kinds, submitting, and a Worker's reports one by one, without the engine's loop.

Jobs are handed over as always (the workflow waits in the engine's table); nobody runs them but the test.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace
from typing import Any

from jobcontract.job_states import JobStatus
from jobcontract.states import InputType, Moves
from jobservice.application import Outcome, Patience, done, failed
from jobservice.records import RecordSet
from jobservice.rules.job_kinds import JobKind, KindInput, StepDefinition
from jobservice.store.database import Database, Transaction
from jobservice.usecases import job_reports as reports
from jobservice.usecases.job_reports import Begun, Ended, Run, TakenUp
from jobservice.usecases.job_submission import Submission, SubmittedJob, submit_in
from jobservice.usecases.service import Service
from tests.usecases.desk import RECORDS, application

SYNC, ONCE, MONEY, LOUD, SINGLE = "t.sync", "t.once", "t.bank-file", "t.loud", "t.single"
LOUD_TWO = "t.loud-two"
FAMILY = "payments"
WORKER = "00000000-0000-7000-8000-00000000000a"
OTHER = "00000000-0000-7000-8000-00000000000b"
PATIENCE = Patience(attempts=3, first_wait=0.0, longest_wait=60.0)
NOW = Patience(attempts=1)
"""One attempt: whatever goes wrong fails the job."""


def kind(identifier: str, *steps: str, moves: Moves = Moves.NOTHING, retryable: bool = True, **more: Any) -> JobKind:
    """A kind with these steps, which declares a month, a page count, and whether it is dry."""
    return JobKind(
        id=identifier,
        label=identifier.rpartition(".")[2].replace("-", " ").title(),
        application="payments",
        family=FAMILY,
        moves=moves,
        retryable=retryable,
        failure_effect=more.pop("failure_effect", None),
        no_effect="Nothing depends on it.",
        inputs=(
            KindInput(name="month", label="Month", type=InputType.TEXT, required=False, most=100),
            KindInput(name="pages", label="Pages", type=InputType.INTEGER, required=False),
            KindInput(name="dry", label="Dry run", type=InputType.BOOLEAN, required=False),
        ),
        versions={
            1: tuple(
                StepDefinition(step=each, label=each.title(), use_case=f"t.{each}", moves=moves, weight=place)
                for place, each in enumerate(steps, 1)
            )
        },
        **more,
    )


KINDS = {
    each.id: each
    for each in (
        kind(SYNC, "collect", "check", "write"),
        kind(SINGLE, "work"),
        kind(ONCE, "purge", retryable=False),
        kind(MONEY, "build", "submit", moves=Moves.MONEY, submitted_by="t.release-many"),
        kind(LOUD, "shout", failure_effect="t.alarm"),
        kind(LOUD_TWO, "one", "two", failure_effect="t.alarm"),
    )
}
JOB_RECORDS: RecordSet = replace(RECORDS, job_kinds={**RECORDS.job_kinds, **KINDS})


@dataclass(slots=True)
class JobStage:
    """A service over a database, its Worker's database, and the people."""

    service: Service
    worker: Database
    people: Any
    tenant: str = "acme"
    numbers: Any = field(default_factory=lambda: itertools.count(1))

    @property
    def records(self) -> RecordSet:
        """The records with the kinds of this stage."""
        return self.service.records

    async def submit(
        self, kind: str = SINGLE, identity: str | None = None, *, database: Database | None = None, **more: Any
    ) -> SubmittedJob:
        """Submit one, asked for by o.lind, through the API's role unless said otherwise."""
        submission = Submission(
            **{
                "kind": kind,
                "submission_identity": identity or f"job-{next(self.numbers)}",
                "inputs": {},
                "requester": "o.lind",
                **more,
            }
        )
        async with (database or self.service.database).transaction(self.tenant) as transaction:
            return await submit_in(transaction, self.records, submission)

    async def take_up(self, job: str, *, holder: str = WORKER) -> TakenUp:
        """Have a Worker take it up; AssertionError where it did not."""
        taken = await self.worker_takes(job, holder=holder)
        assert isinstance(taken, TakenUp), taken
        return taken

    async def worker_takes(self, job: str, *, holder: str = WORKER) -> Any:
        """What a Worker is answered that takes it up."""
        async with self.worker.transaction(self.tenant) as transaction:
            return await take_up_in(transaction, self, job, holder=holder)

    async def begin(self, run: Run, position: int = 1, *, most: int = PATIENCE.attempts) -> Any:
        """Begin a step, in a transaction of its own."""
        async with self.worker.transaction(run.tenant) as transaction:
            return await reports.begin_step(transaction, run, position, attempts_most=most)

    async def report(
        self, run: Run, position: int, outcome: Outcome, *, patience: Patience = PATIENCE, **more: Any
    ) -> Any:
        """Report an outcome, in a transaction of its own."""
        async with self.worker.transaction(run.tenant) as transaction:
            return await reports.report_outcome(transaction, run, position, outcome, patience=patience, **more)

    async def step(self, run: Run, position: int, outcome: Outcome, **more: Any) -> Any:
        """Begin a step and report how it ended."""
        begun = await self.begin(run, position)
        assert isinstance(begun, Begun), begun
        return await self.report(run, position, outcome, **more)

    async def carried(self, job: str, status: JobStatus = JobStatus.SUCCEEDED, sentence: str = "It went wrong.") -> Run:
        """Take a job up and bring it to an end (succeeded, failed), or to its first running step; the run."""
        taken = await self.take_up(job)
        if status is JobStatus.RUNNING:
            assert isinstance(await self.begin(taken.run), Begun)
        elif status is JobStatus.FAILED:
            ended = await self.step(taken.run, 1, failed(sentence), patience=NOW)
            assert isinstance(ended, Ended), ended
            assert ended.status is JobStatus.FAILED
        else:
            for each in taken.steps:
                last = await self.step(taken.run, each.position, done(f"{each.label} is done."))
            assert isinstance(last, Ended), last
            assert last.status is JobStatus.SUCCEEDED
        return taken.run

    def row(self, job: str) -> dict[str, Any]:
        """The root row, past every wall."""
        return self._one("select * from jobs.jobs where id = %s", job)

    def steps(self, job: str) -> list[dict[str, Any]]:
        """Its steps in order."""
        return self.all("select * from jobs.job_steps where job = %s order by position", job)

    def events(self, job: str) -> list[dict[str, Any]]:
        """Its history, the first line first."""
        return self.all("select * from jobs.job_events where job = %s order by sequence", job)

    def notices(self, job: str) -> list[dict[str, Any]]:
        """What its requester is told, the first made first."""
        return self.all("select * from jobs.job_notices where job = %s order by made_at", job)

    def story(self, job: str) -> list[str]:
        """The kinds of its lines of history."""
        return [each["kind"] for each in self.events(job)]

    def all(self, query: str, parameter: Any) -> list[dict[str, Any]]:
        """All rows of a query with one parameter, past every wall."""
        cursor = self.people.connection.execute(query, (parameter,))
        names = [column.name for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def _one(self, query: str, job: str) -> dict[str, Any]:
        (row,) = self.all(query, job)
        return row


async def take_up_in(transaction: Transaction, stage: JobStage, job: str, *, holder: str = WORKER) -> Any:
    """Take a job up inside a transaction, as the workflow that it was handed over to."""
    row = stage.row(job)
    handle = row["execution_handle"] or "none"
    return await reports.take_up(transaction, family=row["family"], job=job, holder=holder, handle=handle)


def job_stage(database: Database, worker_database: Database, people: Any) -> JobStage:
    """A stage over the API's database and the Worker's."""
    service = Service(database=database, records=JOB_RECORDS, application=application, deployment="test")
    return JobStage(service, worker_database, people)
