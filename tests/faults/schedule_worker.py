"""Owns the Worker processes of the fault suite: `python -m tests.faults.schedule_worker` imports everything once and then
forks a Worker for each line on its standard input (an `Order` as JSON), so that Workers can be killed by the hundred.

Says on standard output what happens: `nursery` (with its clock), `forked`, `ready` (incarnation and clock of a Worker),
`frozen`, `ended`. When its input closes it kills its Workers and ends. A Worker that replaces itself begins as a Worker.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import sys
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import structlog

from jobservice.bootstrap.stopping import stop_signals
from jobservice.store.database import Database
from jobservice.store.occurrence_leases import TakenOccurrence
from jobservice.worker import run as run_module
from jobservice.worker.leased_work import RowLease
from jobservice.worker.occurrences import Occurrences
from jobservice.worker.outage import Outage
from jobservice.worker.planner import Planner
from jobservice.worker.process import Pace, Worker
from jobservice.worker.recovering import Recovering
from jobservice.worker.run_ending import Ending
from jobservice.worker.run_scope import Room
from jobservice.worker.running import Runner
from jobservice.worker.watchdog import Watchdog, replace_process
from tests.faults.schedule_jobs import SCENARIOS, Jobs, fate, first, freeze, records

ORDER = "FAULTS_ORDER"
"""The environment variable that a Worker which replaces itself finds its order in."""
SLOTS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What a Worker is to be. `lease` is seconds."""

    url: str
    folder: str
    scenario: str
    seed: int = 0
    lease: float = 1.5
    plans: bool = True
    """Whether it plans, too."""
    freezes_before_settling: float = 0.0
    """Which part of the runs freezes the Worker when they are over and their completion is not written yet."""
    freezes_once: bool = False
    """Whether only one of all Workers does that, and only once."""
    dies_before_settling: bool = False
    """Whether it is killed at that place."""
    idle_margin: float | None = None
    """How much longer than its bound the transaction of a run may stand idle; None = as the service says."""


def tell(event: str, **members: object) -> None:
    """One line in one write: several processes share the pipe."""
    clock = {"time": time.time(), "now": datetime.now(UTC).timestamp()}
    os.write(1, json.dumps({"event": event, "pid": os.getpid(), **clock, **members}).encode() + b"\n")


@dataclass(slots=True, kw_only=True)
class FaultyRunner:
    """The Runner, with faults between the end of a run and the writing of its completion."""

    runner: Runner
    order: Order

    async def run(self, lease: RowLease, taken: TakenOccurrence) -> Ending:
        """One attempt."""
        ending = await self.runner.run(lease, taken)
        if self.order.dies_before_settling:
            os.kill(os.getpid(), signal.SIGKILL)
        if self._freezes(taken):
            freeze()
        return ending

    def _freezes(self, taken: TakenOccurrence) -> bool:
        if taken.attempts > 1 or fate(self.order.seed, f"settling {taken.id}") >= self.order.freezes_before_settling:
            return False
        return not self.order.freezes_once or first(Path(self.order.folder), "froze")


async def work(order: Order) -> None:
    """One Worker, until SIGTERM."""
    if order.idle_margin is not None:
        run_module._IDLE_MARGIN = order.idle_margin
    schedules = SCENARIOS[order.scenario]
    folder = Path(order.folder)
    jobs = Jobs(folder=folder, seed=order.seed, slow_seconds=order.lease * 1.4)
    known = records(schedules)
    database = await Database.open(order.url, name="faults worker", most=SLOTS + 14, wait_seconds=2.0)
    outage, incarnation = Outage(database=database), uuid4()
    runner = Runner(database=database, records=known, application=jobs.application(schedules), room=Room())
    occurrences = Occurrences(
        database=database,
        schedules=known.schedules,
        deployment="faults",
        runner=FaultyRunner(runner=runner, order=order),
        settled=outage.settled,
        slots=SLOTS,
        lease=order.lease,
        every=0.5,
    )
    planner = Planner(schedules=known.schedules, deployment="faults", lease=3.0)
    recovering = Recovering(records=known, deployment="faults", proof=None, every=0.5, lease=3.0)
    worker = Worker(
        database=database,
        duties=(planner, recovering) if order.plans else (),
        leased=(occurrences,),
        stop=stop_signals(until_stdin_closes=False).begun,
        grace=1.0,
        slots=SLOTS,
        pace=Pace(beat=1.0, first_pause=0.1, longest_pause=0.5),
        incarnation=incarnation,
        outage=outage,
        # A machine that is busy with other tests is no block: runs that block are over their bound long before.
        watchdog=Watchdog(url=order.url, holder=incarnation, replace=replace_process, limit=5.0),
    )
    tell("ready", incarnation=str(incarnation))
    await worker.run()
    await occurrences.close()
    await database.close()


def live(order: Order) -> None:
    """Be a Worker to the end."""
    log = (Path(order.folder) / "workers.log").open("a", encoding="utf-8", buffering=1)
    logging.basicConfig(stream=log)  # what the driver says of dead connections is no news here
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(default=str),
        ],
        logger_factory=structlog.WriteLoggerFactory(file=log),
    )
    asyncio.run(work(order))


def _fork(line: str) -> int:
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.environ[ORDER] = line
        live(Order(**json.loads(line)))
        code = 0
    except BaseException as error:  # whatever it is, this process never becomes a second nursery
        os.write(2, f"{type(error).__name__}: {error}\n".encode())
    os._exit(code)


def nurse() -> None:
    """Fork a Worker for each line; say which of them ended; kill the others at the end."""
    children: set[int] = set()

    def reap(*_: object) -> None:
        with suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                children.discard(ended[0])
                tell("ended", worker=ended[0], status=os.waitstatus_to_exitcode(ended[1]))

    signal.signal(signal.SIGCHLD, reap)
    tell("nursery")
    for line in sys.stdin:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
        child = _fork(line)
        children.add(child)
        tell("forked", worker=child)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
    for child in tuple(children):
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)


def text_of(order: Order) -> str:
    """As a nursery takes it."""
    return json.dumps(asdict(order))


if __name__ == "__main__":
    if ORDER in os.environ:
        live(Order(**json.loads(os.environ[ORDER])))
    else:
        nurse()
