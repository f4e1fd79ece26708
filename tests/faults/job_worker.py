"""A Worker process for the fault suite of jobs: `python -m tests.faults.job_worker URL FOLDER`, with the kinds below, until
SIGTERM. What it delivers it writes into FOLDER/letters, one id a line."""

from __future__ import annotations

import asyncio
import os
import sys
import uuid
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path

from jobservice.application import NewWorkItem, Outcome, Patience, done, failed, retry
from jobservice.application_jobs import FailedJob, RegisteredStep, StepCall
from jobservice.bootstrap.stopping import stop_signals
from jobservice.delivery import Letter
from jobservice.engine.carriage import Carriage
from jobservice.store.database import Database
from jobservice.usecases.scoring import Scorer
from jobservice.worker.carrying import RemovingWorkflows, TakingOver
from jobservice.worker.failure_effects import FailureEffects
from jobservice.worker.job_notices import JobNotices
from jobservice.worker.job_tallies import JobTallies
from jobservice.worker.outage import Outage
from jobservice.worker.process import Worker
from jobservice.worker.reconciling_jobs import ReconcilingJobs
from jobservice.worker.watchdog import Watchdog, replace_process
from tests.engine.stage import QUICK, kind_of
from tests.usecases.desk import NOTES, RECORDS, application

EFFECT = "t.noted"
PLAIN, THREE, FAILS, CHILD = "t.plain", "t.three", "t.fails", "t.child"
KINDS = {
    each.id: each
    for each in (
        kind_of(PLAIN, "plain"),
        kind_of(THREE, "first", "middle", "last"),
        replace(kind_of(FAILS, "before", "never"), failure_effect=EFFECT, no_effect=None),
        kind_of(CHILD, "child"),
    )
}
PATIENT = Patience(attempts=60, first_wait=0.0, longest_wait=0.5, bound=30.0)
"""More attempts than Workers are killed: what is lost with one counts."""


async def pushes(call: StepCall) -> Outcome:
    """One item an attempt: an effect that was done twice is two items."""
    await call.wait(0.002)
    call.push(NOTES, NewWorkItem(key=f"step:{call.job}:{call.step}:{call.attempt}:{uuid.uuid4()}", title="Step"))
    return done("Pushed.")


async def middle(call: StepCall) -> Outcome:
    """Now and then is tried again, and what it asked for then is not done."""
    outcome = await pushes(call)
    await call.progress(50, "Half of it.")
    return retry("Not yet.", after_seconds=0.05) if call.attempt == 1 and int(call.job[-1], 16) < 4 else outcome


async def last(call: StepCall) -> Outcome:
    """Submits a job, with its report."""
    call.submit(CHILD, f"child-{call.job}", {})
    return await pushes(call)


async def never(call: StepCall) -> Outcome:
    """Fails, and nothing of it stays."""
    await pushes(call)
    return failed("It cannot be.")


STEPS = {
    f"t.{name}": RegisteredStep(use_case=f"t.{name}", function=function, patience=PATIENT)
    for name, function in (
        ("plain", pushes),
        ("first", pushes),
        ("middle", middle),
        ("last", last),
        ("before", pushes),
        ("child", pushes),
    )
} | {"t.never": RegisteredStep(use_case="t.never", function=never, patience=replace(PATIENT, attempts=2))}


async def noted(job: FailedJob) -> Outcome:
    """One item each time that it is done."""
    await job.push(NOTES, NewWorkItem(key=f"effect:{job.job}:{uuid.uuid4()}", title="Failed"))
    return done("Noted.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Postbox:
    """Writes the id of what it was given into a file, and takes a moment."""

    file: Path

    async def deliver(self, letter: Letter) -> None:
        """One line."""
        await asyncio.sleep(0.01)
        line = os.open(self.file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(line, f"{letter.id}\n".encode())
        os.close(line)


async def work(url: str, folder: Path) -> bool:
    """Everything about jobs until SIGTERM; whether all of it ended."""
    stopping = stop_signals(until_stdin_closes=True)
    records = replace(RECORDS, job_kinds=KINDS)
    of_it = copy(application)
    of_it.failure_effects = {EFFECT: noted}
    database = await Database.open(url, name="faults jobs", most=30, wait_seconds=2.0)
    outage = Outage(database=database)
    worker = Worker(database=database, duties=(), stop=stopping.begun, grace=5.0, pace=QUICK, outage=outage)
    worker.watchdog = Watchdog(url=url, holder=worker.incarnation, replace=replace_process)
    carriage = worker.carriage = Carriage.of(
        database,
        url,
        str(worker.incarnation),
        records=records,
        scorer=Scorer.of(records, of_it),
        steps=STEPS,
        proof=None,
        at_once=20,
    )
    worker.duties = (
        TakingOver(carriage=carriage, settled=outage.settled, silent=2.0, every=0.3),
        RemovingWorkflows(carriage=carriage, every=0.5),
        ReconcilingJobs(every=1.0, lease=3.0),
        FailureEffects(records=records, application=of_it, every=0.5, lease=3.0, first_pause=0.5, longest_pause=2.0),
        JobNotices(delivery=Postbox(file=folder / "letters"), every=0.5, lease=5.0, claim=5.0, first_pause=0.5),
        JobTallies(),
    )
    await worker.run()
    await database.close()
    return not worker.abandoned


if __name__ == "__main__":
    ended = asyncio.run(work(sys.argv[1], Path(sys.argv[2])))
    os._exit(0 if ended else 3)
