"""A Worker process of a test: carries jobs of the kinds below until SIGTERM. `python -m tests.engine.carrier URL`."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from dataclasses import replace

from jobservice.application import Outcome, Patience, done, failed
from jobservice.application_jobs import RegisteredStep, StepCall
from jobservice.engine.carriage import Carriage
from jobservice.store.database import Database
from jobservice.usecases.scoring import Scorer
from jobservice.worker.carrying import RemovingWorkflows, TakingOver
from jobservice.worker.outage import Outage
from jobservice.worker.process import Worker
from jobservice.worker.watchdog import Watchdog
from tests.engine.stage import FAST, QUICK, kind_of
from tests.usecases.desk import RECORDS, application

KINDS = {
    each.id: each
    for each in (
        kind_of("t.kills", "kills"),
        kind_of("t.blocks", "blocks"),
        kind_of("t.plain", "plain"),
        kind_of("t.ticks", *"abc"),
    )
}


async def kills(call: StepCall) -> Outcome:
    """Has its Worker killed, each time."""
    os.kill(os.getpid(), signal.SIGKILL)
    await call.wait(60)
    return done("Lives.")


async def blocks(call: StepCall) -> Outcome:
    """Keeps the event loop from turning, the first time."""
    await call.wait(0.4)
    if call.attempt == 1:
        time.sleep(120)  # noqa: ASYNC251  # what is tested
    return done("Turns.")


async def plain(call: StepCall) -> Outcome:
    """Is done."""
    await call.wait(0.01)
    return done("Done.")


async def tick(call: StepCall) -> Outcome:
    """Takes a second."""
    await call.wait(0.7)
    call.keep(step=call.step)
    return done("Ticked.")


async def later(call: StepCall) -> Outcome:
    """Is tried again in ten minutes."""
    await call.wait(0)
    return failed("Not yet.")


LONG = Patience(attempts=5, first_wait=600.0, longest_wait=600.0)
STEPS = {
    "t.kills": RegisteredStep(use_case="t.kills", function=kills, patience=FAST),
    "t.blocks": RegisteredStep(use_case="t.blocks", function=blocks, patience=FAST),
    "t.plain": RegisteredStep(use_case="t.plain", function=plain, patience=FAST),
    "t.later": RegisteredStep(use_case="t.later", function=later, patience=LONG),
    **{f"t.{name}": RegisteredStep(use_case=f"t.{name}", function=tick, patience=FAST) for name in "abc"},
}


async def carry(url: str) -> bool:
    """Carry jobs until SIGTERM; whether all ended."""
    records = replace(RECORDS, job_kinds=KINDS)
    database = await Database.open(url, name="test carrier", most=20)
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    outage = Outage(database=database)
    worker = Worker(database=database, duties=(), stop=stop, grace=5.0, pace=QUICK, outage=outage)
    worker.watchdog = Watchdog(url=url, holder=worker.incarnation, limit=3.0)
    carriage = Carriage.of(
        database,
        url,
        str(worker.incarnation),
        records=records,
        scorer=Scorer.of(records, application),
        steps=STEPS,
        proof=None,
        at_once=5,
    )
    worker.carriage = carriage
    worker.duties = (
        TakingOver(carriage=carriage, settled=outage.settled, silent=2.0, every=0.3),
        RemovingWorkflows(carriage=carriage, every=0.5),
    )
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await worker.run()
    await database.close()
    return not worker.abandoned


if __name__ == "__main__":
    ended = asyncio.run(carry(sys.argv[1]))
    os._exit(0 if ended else 3)
