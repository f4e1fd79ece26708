"""Owns measuring the engine of background jobs: jobs of one step a second beside the library alone with the same statements,
submissions a second, how soon a job starts, and five hundred jobs that say how far they are ten times a second each.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from benchmarks.bare_engine import bare_engine
from benchmarks.figures import Figure, percentile
from benchmarks.ground import TENANT, Ground
from benchmarks.seeding import Connection
from examples.payments import application
from jobcontract.states import Moves
from jobservice.application import Outcome, Patience, done
from jobservice.application_jobs import RegisteredStep, StepCall
from jobservice.bootstrap.dev import API, OWNER, WORKER
from jobservice.engine.carriage import Carriage
from jobservice.engine.writing import CONNECTIONS
from jobservice.records import RecordSet
from jobservice.rules.job_kinds import JobKind, StepDefinition
from jobservice.store.database import Database
from jobservice.usecases.job_submission import Submission, submit_in
from jobservice.usecases.scoring import Scorer
from jobservice.worker.carrying import RemovingWorkflows, TakingOver
from jobservice.worker.outage import Outage
from jobservice.worker.process import Worker

PART, DATABASE = "engine", "engine"
JOBS, ROUNDS, AT_ONCE = 1_500, 3, 100
SINGLES = 200
DECLARING, DECLARING_SECONDS = 500, 10.0
PLAIN, LONG = "benchmark.plain", "benchmark.long"
OPEN = "select count(*) from jobs.jobs where settled_at is null"
QUEUED = "select count(*) from jobs_engine.workflow_status where status in ('ENQUEUED', 'PENDING')"
STARTED = "select extract(epoch from started_at - requested_at) * 1000 from jobs.jobs where id = any(%s::uuid[])"
CLEAN = """
set session_replication_role = replica;
delete from jobs.job_events; delete from jobs.job_steps; delete from jobs.jobs; delete from jobs.job_tally_changes;
delete from jobs.hints; delete from jobs_engine.workflow_status; delete from jobs_engine.workflow_input;
delete from jobs_engine.workflow_output; delete from jobs_engine.operation_outputs; delete from jobs_engine.queues;
reset session_replication_role
"""
DECLARED = "select count(*) from jobs.job_events where kind = 'progress'"


def _kind(identifier: str, use_case: str) -> JobKind:
    step = StepDefinition(step="work", label="Work", use_case=use_case, moves=Moves.NOTHING)
    return JobKind(
        id=identifier,
        label="Benchmark",
        application="payments",
        family="payments",
        moves=Moves.NOTHING,
        retryable=True,
        failure_effect=None,
        no_effect="Nothing depends on it.",
        inputs=(),
        versions={1: (step,)},
    )


async def _nothing(call: StepCall) -> Outcome:  # noqa: ARG001  # the protocol's
    return done("Done.")


@dataclass(slots=True)
class _Declarations:
    """How often progress was declared."""

    count: int = 0

    async def work(self, call: StepCall) -> Outcome:
        """Say how far it is, ten times a second."""
        began = time.monotonic()
        while (passed := time.monotonic() - began) < DECLARING_SECONDS:
            await call.progress(int(passed / DECLARING_SECONDS * 100), f"{passed:.1f} s of {DECLARING_SECONDS:g} s.")
            self.count += 1
            await call.wait(0.1)
        return done("Worked.")


@dataclass(slots=True, kw_only=True)
class _Stage:
    """What every measurement needs."""

    ground: Ground
    records: RecordSet
    api: Database
    worker: Database
    connection: Connection
    declarations: _Declarations
    submitted: int = 0

    async def submit(self, kind: str) -> str:
        """One job, as over the API."""
        self.submitted += 1
        submission = Submission(kind=kind, submission_identity=f"b-{self.submitted}", inputs={})
        async with self.api.transaction(TENANT, planned_once=True) as transaction:
            return (await submit_in(transaction, self.records, submission)).id

    async def fill(self, many: int) -> float:
        """So many jobs, eight at once; submissions a second."""
        began = time.perf_counter()

        async def line(share: int) -> None:
            for _ in range(share):
                await self.submit(PLAIN)

        await asyncio.gather(*(line(many // 8) for _ in range(8)))
        return many // 8 * 8 / (time.perf_counter() - began)

    def count(self, query: str) -> int:
        """The number that a query counts."""
        row = self.connection.execute(query.encode()).fetchone()
        assert row is not None  # noqa: S101  # a count has a row
        return int(row[0])

    async def emptied(self) -> None:
        """Wait until every job is settled and every workflow has ended."""
        while self.count(OPEN) or self.count(QUEUED):  # noqa: ASYNC110  # what is waited for is in the database
            await asyncio.sleep(0.02)

    async def rate(self) -> float:
        """Jobs a second, from the first ones that are settled to the last: how an engine starts is not measured."""
        whole = self.count(OPEN)
        while (left := self.count(OPEN)) == whole:  # noqa: ASYNC110  # likewise
            await asyncio.sleep(0.005)
        began = time.perf_counter()
        await self.emptied()
        return left / (time.perf_counter() - began)

    @asynccontextmanager
    async def carrying(self, at_once: int = AT_ONCE) -> AsyncIterator[None]:
        """A Worker that carries jobs."""
        steps = {
            PLAIN: RegisteredStep(use_case=PLAIN, function=_nothing, patience=Patience()),
            LONG: RegisteredStep(use_case=LONG, function=self.declarations.work, patience=Patience()),
        }
        stop, outage = asyncio.Event(), Outage(database=self.worker)
        worker = Worker(database=self.worker, duties=(), stop=stop, outage=outage)
        carriage = Carriage.of(
            self.worker,
            self.ground.url(WORKER, DATABASE),
            str(worker.incarnation),
            records=self.records,
            scorer=Scorer.of(self.records, application),
            steps=steps,
            proof=None,
            at_once=at_once,
        )
        worker.carriage = carriage
        worker.duties = (
            TakingOver(carriage=carriage, settled=outage.settled),
            RemovingWorkflows(carriage=carriage),
        )
        running = asyncio.create_task(worker.run())
        try:
            yield
        finally:
            stop.set()
            await running

    def clean(self) -> None:
        """Nothing of jobs is left, and the server knows it."""
        self.connection.execute(CLEAN)
        self.connection.execute("vacuum analyze")


async def measure(ground: Ground) -> AsyncIterator[Figure]:
    """The figures of the engine."""
    await ground.empty(DATABASE, (TENANT,))
    with ground.superuser(DATABASE) as connection:
        connection.execute("set role jobs_owner; select jobs.ensure_family('payments'); reset role")
        records = replace(ground.record_set, job_kinds={name: _kind(name, name) for name in (PLAIN, LONG)})
        api = await Database.open(ground.url(API, DATABASE), name="benchmark", most=10)
        worker = await Database.open(ground.url(WORKER, DATABASE), name="benchmark", most=CONNECTIONS + 6)
        stage = _Stage(
            ground=ground, records=records, api=api, worker=worker, connection=connection, declarations=_Declarations()
        )
        try:
            async for figure in _throughput(stage):
                yield figure
            async for figure in _starting(stage):
                yield figure
            async for figure in _declaring(stage):
                yield figure
        finally:
            await api.close()
            await worker.close()


async def _throughput(stage: _Stage) -> AsyncIterator[Figure]:
    own: list[float] = []
    bare: list[float] = []
    submissions: list[float] = []
    for number in range(ROUNDS + 1):
        for rates, at_work in ((own, _own), (bare, _bare)):
            stage.clean()
            submissions.append(await stage.fill(JOBS))
            rates.append(await at_work(stage))
        if number == 0:  # the first of each warms caches
            own, bare = [], []
    yield Figure(
        part=PART,
        what=f"{JOBS:,} jobs of one step that does nothing, {AT_ONCE} at once",
        unit="jobs/s",
        rounds=tuple(own),
        peer="DBOS alone, the same statements in a transaction step",
        peer_rounds=tuple(bare),
        at_least=0.9,
    )
    yield Figure(
        part=PART,
        what="submissions in transactions of their own, eight at once, each handed over to the engine",
        unit="submissions/s",
        rounds=tuple(submissions),
    )


async def _own(stage: _Stage) -> float:
    async with stage.carrying():
        return await stage.rate()


async def _bare(stage: _Stage) -> float:
    url, owner = stage.ground.url(WORKER, DATABASE), stage.ground.url(OWNER, DATABASE)
    async with bare_engine(url, owner, at_once=AT_ONCE):
        return await stage.rate()


async def _starting(stage: _Stage) -> AsyncIterator[Figure]:
    stage.clean()
    async with stage.carrying():
        jobs = []
        for _ in range(SINGLES):
            jobs.append(await stage.submit(PLAIN))
            await asyncio.sleep(0.02)
        await stage.emptied()
        waits = [float(row[0]) for row in stage.connection.execute(STARTED, (jobs,)).fetchall()]
    for name, hundredth in (("middle", 50), ("99th percentile", 99)):
        yield Figure(
            part=PART,
            what=f"from a submission to the beginning of the first step, on a Worker that has nothing to do: {name}",
            unit="ms",
            rounds=(percentile(waits, hundredth),),
        )


async def _declaring(stage: _Stage) -> AsyncIterator[Figure]:
    stage.clean()
    async with stage.carrying(at_once=DECLARING):
        await asyncio.gather(*(stage.submit(LONG) for _ in range(DECLARING)))
        began, used = time.perf_counter(), time.process_time()
        await stage.emptied()
        seconds = time.perf_counter() - began
        share = (time.process_time() - used) / seconds * 100
    written = stage.count(DECLARED)
    yield Figure(
        part=PART,
        what=f"progress of {DECLARING} jobs that declare ten times a second each: lines of history a job and second",
        unit="lines/job/s",
        rounds=(written / DECLARING / DECLARING_SECONDS,),
        at_least=0.5,
        at_most=1.2,
        note=f"{stage.declarations.count:,} declarations in {seconds:.1f} s, {share:.0f} % of a core",
    )
