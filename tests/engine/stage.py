"""Owns a stage for tests of the engine: kinds whose steps are functions of the test, a whole Worker that carries them in this
process, submitting, and what the account says.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID, uuid4

import psycopg

from jobcontract.states import InputType, Moves
from jobservice.application import Outcome, Patience, done
from jobservice.application_jobs import OutwardStep, RegisteredStep, StepCall, StepFunction
from jobservice.engine.carriage import Carriage
from jobservice.engine.interpreter import Proof
from jobservice.records import RecordSet
from jobservice.rules.job_kinds import JobKind, KindInput, StepDefinition
from jobservice.store.database import Database
from jobservice.usecases import job_acts
from jobservice.usecases.job_acts import JobOrder
from jobservice.usecases.job_submission import Submission, submit_in
from jobservice.usecases.scoring import Scorer
from jobservice.worker.carrying import RemovingWorkflows, TakingOver
from jobservice.worker.outage import Outage
from jobservice.worker.process import Pace, Worker
from tests.usecases.desk import RECORDS, application

QUICK = Pace(beat=0.2, first_pause=0.05, longest_pause=0.4)
FAMILY = "payments"
FAST = Patience(attempts=3, first_wait=0.0, longest_wait=0.0, bound=20.0)


def kind_of(identifier: str, *steps: str, moves: Moves = Moves.NOTHING, version: int = 1) -> JobKind:
    """A kind with these steps; each is the use case `t.<step>`."""
    return JobKind(
        id=identifier,
        label=identifier.rpartition(".")[2].title(),
        application="payments",
        family=FAMILY,
        moves=moves,
        retryable=True,
        failure_effect=None,
        no_effect="Nothing depends on it.",
        inputs=(KindInput(name="month", label="Month", type=InputType.TEXT, required=False, most=100),),
        versions={
            version: tuple(
                StepDefinition(step=each, label=each.title(), use_case=f"t.{each}", moves=moves) for each in steps
            )
        },
    )


async def until(condition: Callable[[], Any], seconds: float = 15.0) -> Any:
    """Wait until that holds; what it said."""
    async with asyncio.timeout(seconds):
        while not (found := condition()):  # noqa: ASYNC110  # what is waited for is in the database
            await asyncio.sleep(0.01)
    return found


@dataclass(slots=True, eq=False)
class EngineStage:
    """One database, the kinds and steps of a test. `superuser` looks past the walls."""

    database: Database
    worker_database: Database
    superuser: psycopg.Connection[Any]
    url: str
    records: RecordSet = field(default_factory=lambda: replace(RECORDS, job_kinds={}))
    steps: dict[str, RegisteredStep] = field(default_factory=dict)
    proof: Proof | None = None
    silent: float = 2.0
    carriage: Carriage | None = None
    outage: Outage | None = None
    _numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    def kind(self, identifier: str, **steps: StepFunction | OutwardStep) -> JobKind:
        """A kind of these steps, in their order, each tried three times at once."""
        kind = kind_of(identifier, *steps)
        self.records = replace(self.records, job_kinds={**self.records.job_kinds, identifier: kind})
        for name, function in steps.items():
            self.step(name, function)
        return kind

    def step(self, name: str, function: StepFunction | OutwardStep, patience: Patience = FAST) -> None:
        """What the step does."""
        self.steps[f"t.{name}"] = RegisteredStep(use_case=f"t.{name}", function=function, patience=patience)

    async def submit(self, kind: str, **inputs: Any) -> str:
        """Submit a job as acme, as the API does; its id."""
        submission = Submission(kind=kind, submission_identity=f"n-{next(self._numbers)}", inputs=inputs)
        async with self.database.transaction("acme") as transaction:
            return (await submit_in(transaction, self.records, submission)).id

    async def cancel(self, job: str) -> Any:
        """Ask to cancel it, as the API does."""
        async with self.database.transaction("acme") as transaction:
            return await job_acts.cancel_in(transaction, JobOrder(job=job, person="o.lind", reason="Not wanted"))

    async def retry(self, job: str) -> str:
        """Retry it, as the API does; the new job."""
        async with self.database.transaction("acme") as transaction:
            order = JobOrder(job=job, person="o.lind", reason="Once more")
            retried = await job_acts.retry_in(transaction, self.records, order)
        assert isinstance(retried, job_acts.Retried), retried
        return retried.job

    def stop(self, kind: str | None = None) -> None:
        """Stop jobs of a kind, or (None) all of the tenant's work, as a person does."""
        self.superuser.execute(
            "insert into jobs.stops (tenant, scope, name, by, reason) values ('acme', %s, %s, 'o.lind', 'Audit')",
            ("tenant" if kind is None else "job-kind", kind or "acme"),
        )

    def start(self) -> None:
        """Lift every stop."""
        self.superuser.execute("delete from jobs.stops")

    def row(self, job: str) -> Mapping[str, Any]:
        """The job's row."""
        row: Mapping[str, Any] = self.rows("select * from jobs.jobs where id = %s", job)[0]
        return row

    def step_row(self, job: str, position: int = 1) -> Mapping[str, Any]:
        """A step's row."""
        rows = self.rows("select * from jobs.job_steps where job = %s and position = %s", job, position)
        row: Mapping[str, Any] = rows[0]
        return row

    def events(self, job: str) -> list[str]:
        """The kinds of the lines of its history."""
        lines = self.rows("select kind from jobs.job_events where job = %s order by sequence", job)
        return [each["kind"] for each in lines]

    def rows(self, query: str, *values: Any) -> list[Any]:
        """Rows of a query, by name."""
        with self.superuser.cursor(row_factory=psycopg.rows.dict_row) as cursor:
            return cursor.execute(query.encode(), values).fetchall()

    async def settled(self, job: str, seconds: float = 15.0) -> str:
        """Wait until it is settled; its status."""
        await until(lambda: self.row(job)["settled_at"], seconds)
        status: str = self.row(job)["status"]
        return status

    def worker(
        self, stop: asyncio.Event, *, at_once: int = 20, grace: float = 5.0, holder: UUID | None = None
    ) -> Worker:
        """A Worker that carries jobs and does nothing else."""
        incarnation = holder or uuid4()
        outage = self.outage = Outage(database=self.worker_database)
        carriage = self.carriage = Carriage.of(
            self.worker_database,
            self.url,
            str(incarnation),
            records=self.records,
            scorer=Scorer.of(self.records, application),
            steps=self.steps,
            proof=self.proof,
            at_once=at_once,
        )
        over = TakingOver(carriage=carriage, settled=outage.settled, silent=self.silent, every=0.3)
        return Worker(
            database=self.worker_database,
            duties=(over, RemovingWorkflows(carriage=carriage, every=0.3)),
            stop=stop,
            grace=grace,
            pace=QUICK,
            incarnation=incarnation,
            outage=outage,
            carriage=carriage,
        )

    @asynccontextmanager
    async def working(self, *, at_once: int = 20, grace: float = 5.0) -> AsyncIterator[Worker]:
        """A Worker that runs while the block does."""
        stop = asyncio.Event()
        worker = self.worker(stop, at_once=at_once, grace=grace)
        running = asyncio.create_task(worker.run())
        try:
            yield worker
        finally:
            stop.set()
            await running


async def nothing(call: StepCall) -> Outcome:  # the protocol's
    """A step that is done at once."""
    return done("Done.")
