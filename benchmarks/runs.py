"""Owns measuring how many items a second runs work through where the use case does nothing: the single path beside a
bare loop of the same statements, the batch path beside the single one, and occurrences beside other queues.

The loop binds, locks, writes and commits as a turn does, on as many connections as a run has, and decides nothing.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

import click
import psycopg
from psycopg.types.json import Jsonb

from benchmarks import bare_queue, jobs
from benchmarks.figures import Figure
from benchmarks.ground import TENANT, Ground
from benchmarks.occurrences import CONNECTIONS, clear, drain, put, worker_of
from benchmarks.queue_peers import environment
from benchmarks.queue_peers.environment import PEERS, PeerRun
from benchmarks.seeding import Connection
from jobservice.application import Application
from jobservice.bootstrap.dev import WORKER
from jobservice.records import RecordSet
from jobservice.store.database import Database
from jobservice.store.statements import statement
from jobservice.worker.leased_work import RowLease
from jobservice.worker.occurrences import Occurrences
from jobservice.worker.run_items import AT_ONCE

PART = "runs"
DATABASE, PEER_DATABASE = "runs", "queue_peer"
ITEMS, BATCH_ITEMS, ROUNDS = 5_000, 50_000, 5
JOBS, PEER_ROUNDS = 5_000, 3
SLOTS = 16
"""As `worker.slots` of the example."""
SINGLE, BATCH, LARGE, SMALL = "benchmark.single", "benchmark.batch", "benchmark.large", "benchmark.small"
BARE = ((1, 1), (8, 1), (1, 100))
"""Connections and rows at once of the bare queues."""
HELD = """
update jobs.occurrences
set
    state = 'processing', holder = %(holder)s, taken_at = jobs.now(), expires_at = jobs.now() + interval '1 hour',
    attempts = 1, fence = 1
where schedule = %(schedule)s and state = 'scheduled'
returning id
"""
ENDED = "update jobs.occurrences set state = 'completed', ended_at = jobs.now(), holder = null, taken_at = null, expires_at = null where id = %s"
DONE = "select count(*) from jobs.occurrence_items where outcome = 'done'"
BEGIN = (
    f"begin; select set_config('jobs.tenant', '{TENANT}', true), set_config('statement_timeout', '10000ms', true),"
    " set_config('plan_cache_mode', 'force_generic_plan', true), jobs.now(),"
    " set_config('idle_in_transaction_session_timeout', '610000ms', true)"
)


async def measure(ground: Ground) -> AsyncIterator[Figure]:
    """Items and occurrences a second."""
    await ground.empty(DATABASE, (TENANT,))
    records = jobs.records_with(
        ground.record_set,
        jobs.over_items(SINGLE),
        jobs.over_items(BATCH, batch=True),
        jobs.schedule(LARGE),
        jobs.schedule(SMALL, batch=True),
    )
    database = await Database.open(ground.url(WORKER, DATABASE), name="benchmark", most=CONNECTIONS + SLOTS)
    try:
        with ground.superuser(DATABASE) as connection:
            stage = _Stage(ground=ground, database=database, records=records, connection=connection)
            async for figure in _paths(stage):
                yield figure
            async for figure in _queues(stage):
                yield figure
    finally:
        await database.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stage:
    """What every measurement needs."""

    ground: Ground
    database: Database
    records: RecordSet
    connection: Connection

    def work(self, application: Application) -> Occurrences:
        """A Worker's occurrences."""
        return worker_of(self.database, self.records, application, slots=SLOTS)


async def _paths(stage: _Stage) -> AsyncIterator[Figure]:
    """One run over many items, on either path."""
    looped, single, batch = [], [], []
    for number in range(ROUNDS + 1):
        looped.append(await _loop(stage))
        single.append(await _run(stage, SINGLE, ITEMS))
        batch.append(await _run(stage, BATCH, BATCH_ITEMS))
        if number == 0:  # the first of each warms caches and prepares statements
            looped, single, batch = [], [], []
    yield Figure(
        part=PART,
        what=f"a run over {ITEMS:,} items, each in a transaction of its own, {AT_ONCE} at once; claim and completion"
        " included",
        unit="items/s",
        rounds=tuple(single),
        peer="a bare loop of the same statements on as many connections",
        peer_rounds=tuple(looped),
        at_least=0.7,
    )
    yield Figure(
        part=PART,
        what=f"a run over {BATCH_ITEMS:,} items on the batch path, {jobs.BATCH_SIZE} in a transaction",
        unit="items/s",
        rounds=tuple(batch),
        peer="the single path",
        peer_rounds=tuple(single),
        at_least=3,
    )


async def _run(stage: _Stage, schedule: str, items: int) -> float:
    """Items a second of one run, from taking the occurrence to its completion."""
    clear(stage.connection)
    put(stage.connection, schedule, 1)
    work, holder = stage.work(jobs.application_over(items)), uuid4()
    began = time.perf_counter()
    taken = await work.take(holder, 1, {})
    for grant in taken.grants:
        await work.carry(RowLease(grant=grant, holder=holder, deadline=time.monotonic() + 3_600))
    seconds = time.perf_counter() - began
    await work.close()
    row = stage.connection.execute("select state, done from jobs.occurrences").fetchone()
    if row != ("completed", items):
        raise RuntimeError(f"the run ended as {row!r}")
    return items / seconds


@dataclass(slots=True, kw_only=True)
class _Loop:
    """What the connections of a bare loop share: the items that are written and not begun, and how many are written."""

    values: dict[str, Any]
    waiting: deque[str] = field(default_factory=deque)
    written: int = 0
    one: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def next(self, connection: psycopg.AsyncConnection[Any]) -> str | None:
        """The next item, a batch of them written first where none waits; None at the end."""
        if self.waiting:
            return self.waiting.popleft()
        async with self.one:
            if not self.waiting and self.written < ITEMS:
                await self._write(connection)
            return self.waiting.popleft() if self.waiting else None

    async def _write(self, connection: psycopg.AsyncConnection[Any]) -> None:
        numbers = range(self.written, min(self.written + jobs.BATCH_SIZE, ITEMS))
        keys = [f"{number:09}" for number in numbers]
        items = [{"key": key, "label": f"Item {key}", "given": {}, "place": place} for place, key in enumerate(keys)]
        counts = {"selected": self.written, "done": 0, "refused": 0, "failed": 0, "unfinished": self.written}
        values = {
            **self.values,
            **counts,
            "items": Jsonb(items),
            "position": keys[-1],
            "selected_all": False,
            "again": False,
        }
        await connection.execute(BEGIN.encode(), prepare=False)
        await connection.execute(statement("occurrence_items/add"), values)
        await connection.execute("commit")
        self.waiting.extend(keys)
        self.written += len(keys)


async def _loop(stage: _Stage) -> float:
    """Items a second of the bare loop."""
    clear(stage.connection)
    put(stage.connection, SINGLE, 1)
    holder = uuid4()
    row = stage.connection.execute(HELD, {"holder": holder, "schedule": SINGLE}).fetchone()
    if row is None:
        raise RuntimeError("no occurrence was made")
    loops = [
        await psycopg.AsyncConnection.connect(
            stage.ground.url(WORKER, DATABASE), autocommit=True, prepare_threshold=3, options="-c timezone=UTC"
        )
        for _ in range(AT_ONCE)
    ]
    try:
        shared = _Loop(values=_lease(row[0], holder))
        began = time.perf_counter()
        await asyncio.gather(*(_turns(each, shared) for each in loops))
        seconds = time.perf_counter() - began
    finally:
        for each in loops:
            await each.close()
    counted = stage.connection.execute(DONE).fetchone()
    stage.connection.execute(ENDED, (row[0],))
    if counted is None or counted[0] != ITEMS:
        raise RuntimeError(f"{counted!r} of {ITEMS:,} items are done")
    return ITEMS / seconds


def _lease(occurrence: UUID, holder: UUID) -> dict[str, Any]:
    return {"tenant": TENANT, "occurrence": occurrence, "holder": holder, "held_fence": 1}


async def _turns(connection: psycopg.AsyncConnection[Any], shared: _Loop) -> None:
    ending = {"outcome": "done", "sentence": "Nothing to do.", "after": None}
    begin, lock, end = BEGIN.encode(), statement("occurrence_items/lock"), statement("occurrence_items/end")
    while (key := await shared.next(connection)) is not None:
        values = {**shared.values, **ending, "key": key}
        await connection.execute(begin, prepare=False)
        await (await connection.execute(lock, values)).fetchone()
        await connection.execute(end, values)
        await connection.execute("commit")


async def _queues(stage: _Stage) -> AsyncIterator[Figure]:
    """So many jobs that do nothing, by us, by the least that could do them, and by other queues."""
    application = jobs.application_over(0)
    ours: dict[str, list[float]] = {SINGLE: [], BATCH: [], LARGE: [], SMALL: []}
    bare: dict[tuple[int, int], list[float]] = {kind: [] for kind in BARE}
    others: dict[str, list[PeerRun]] = {peer.name: [] for peer in PEERS}
    for _ in range(PEER_ROUNDS):
        for schedule in (SINGLE, BATCH):
            ours[schedule].append(await _run(stage, schedule, JOBS))
        for schedule in (LARGE, SMALL):
            clear(stage.connection)
            put(stage.connection, schedule, JOBS)
            ours[schedule].append(JOBS / await drain(stage.work(application), stage.connection, schedule, JOBS))
        for connections, batch in BARE:
            url = stage.ground.blank(PEER_DATABASE)
            rate = await bare_queue.rate(url, JOBS, connections=connections, batch=batch)
            bare[connections, batch].append(rate)
        for peer in PEERS:
            if all(run.rate is not None for run in others[peer.name]):
                url = stage.ground.blank(PEER_DATABASE)
                folder = stage.ground.folder
                others[peer.name].append(await asyncio.to_thread(environment.run, peer, folder, url, JOBS))
                click.echo(f"  {peer.name}: {others[peer.name][-1]}", err=True)
    what = {
        SINGLE: "as items of one run, single path",
        BATCH: "as items of one run, batch path",
        LARGE: "as occurrences, single path",
        SMALL: "as occurrences, batch path",
    }
    for schedule, rounds in ours.items():
        yield Figure(part=PART, what=f"{JOBS:,} no-op jobs {what[schedule]}", unit="/s", rounds=tuple(rounds))
    for (connections, batch), rounds in bare.items():
        words = f"bare claim and completion, {connections} connection{'s' if connections > 1 else ''}, {batch} at once"
        yield Figure(part=PART, what=f"{JOBS:,} no-op jobs: {words}", unit="/s", rounds=tuple(rounds))
    for name, runs in others.items():
        yield _beside(name, runs, ours[SINGLE])


def _beside(name: str, runs: list[PeerRun], ours: list[float]) -> Figure:
    """The line of another queue: beside items of one run; or why there is none."""
    what = f"{JOBS:,} no-op jobs as items of one run, single path"
    rates = tuple(run.rate for run in runs if run.rate is not None)
    if len(rates) < PEER_ROUNDS:
        return Figure(part=PART, what=f"{JOBS:,} no-op jobs by {name}", unit="/s", said=f"not run: {runs[-1].words}")
    peer = f"{name} ({runs[-1].words})"
    return Figure(part=PART, what=what, unit="/s", rounds=tuple(ours), peer=peer, peer_rounds=rates)
