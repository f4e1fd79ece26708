"""Owns measuring a run that scores a queue anew: rows a second, beside one update of the same rows."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from uuid import uuid4

from psycopg.rows import dict_row

from benchmarks.figures import Figure
from benchmarks.ground import TENANT, Ground
from benchmarks.seeding import Connection, settle
from jobservice.bootstrap.dev import WORKER
from jobservice.store.occurrence_leases import TakenOccurrence
from jobservice.usecases.service import Service
from jobservice.worker.leased_work import Grant, RowLease
from jobservice.worker.run_scope import Room
from jobservice.worker.running import Runner

PART = "rescoring"
DATABASE = "rescoring"
SCHEDULE = "payouts.rescore"
ROWS, ROUNDS = 20_000, 5
LEASE = 600.0

OCCURRENCE = """
insert into jobs.occurrences (
    tenant, schedule, scheduled_at, tzdata, lock, due_at, state, holder, taken_at, expires_at, attempts, fence
)
values (
    %(tenant)s, %(schedule)s, jobs.now(), 'benchmark', %(lock)s, jobs.now(), 'processing', %(holder)s, jobs.now(),
    jobs.now() + make_interval(secs => %(lease)s), 1, 1
)
returning id, tenant, schedule, scheduled_at, attempts, taken_at, fence, fence_base, position, selected_all, done, refused, failed
"""
DUE = """
update jobs.items
set rescore_at = jobs.now()
where tenant = %(tenant)s
"""
PREPARE = """
create temporary table new_scores as
select
    id, rank, score, score_rule, score_version, score_inputs, score_parts, score_failure, jobs.now() as scored_at,
    jobs.now() + interval '1 day' as rescore_at
from jobs.items
where tenant = %(tenant)s
"""
UPDATE = """
update jobs.items as i
set
    rank = n.rank,
    score = n.score,
    score_rule = n.score_rule,
    score_version = n.score_version,
    score_inputs = n.score_inputs,
    score_parts = n.score_parts,
    score_failure = n.score_failure,
    scored_at = n.scored_at,
    rescore_at = n.rescore_at
from new_scores as n
where i.id = n.id
"""


async def measure(ground: Ground) -> AsyncIterator[Figure]:
    """Rows a second of a run of the schedule."""
    await ground.make(DATABASE, {TENANT: ROWS})
    scored, updated = [], []
    with ground.superuser(DATABASE) as connection:
        async with ground.service(DATABASE, role=WORKER, most=5) as service:
            for _ in range(ROUNDS):
                updated.append(_one_update(connection))
                scored.append(await _rescored(connection, service))
    yield Figure(
        part=PART,
        what=f"a run over {ROWS:,} due rows",
        unit="rows/s",
        rounds=tuple(scored),
        peer="one UPDATE ... FROM of the same rows",
        peer_rounds=tuple(updated),
        at_least=0.5,
    )


async def _rescored(connection: Connection, service: Service) -> float:
    """Rows a second; RuntimeError where the run did not score every row."""
    runner = Runner(database=service.database, records=service.records, application=service.application, room=Room())
    _make_due(connection)
    lease, taken = _claimed(connection)
    began = time.perf_counter()
    ending = await runner.run(lease, taken)
    if ending.counts.done != ROWS:
        raise RuntimeError(f"the run scored {ending.counts.done:,} of {ROWS:,} rows: {ending.error}")
    return ROWS / (time.perf_counter() - began)


def _claimed(connection: Connection) -> tuple[RowLease, TakenOccurrence]:
    """An occurrence of the schedule that this process holds."""
    holder = uuid4()
    values = {"tenant": TENANT, "schedule": SCHEDULE, "lock": str(holder), "holder": holder, "lease": LEASE}
    with connection.cursor(row_factory=dict_row) as cursor:
        row = cursor.execute(OCCURRENCE, values).fetchone()
    if row is None:
        raise RuntimeError("no occurrence was made")
    taken = TakenOccurrence(**row)
    grant = Grant(id=taken.id, tenant=taken.tenant, fence=taken.fence, content=taken)
    return RowLease(grant=grant, holder=holder, deadline=time.monotonic() + LEASE), taken


def _one_update(connection: Connection) -> float:
    _make_due(connection)
    connection.execute("drop table if exists new_scores")
    connection.execute(PREPARE, {"tenant": TENANT})
    connection.execute("analyze new_scores")
    began = time.perf_counter()
    done = connection.execute(UPDATE)
    if done.rowcount != ROWS:
        raise RuntimeError(f"the update wrote {done.rowcount:,} of {ROWS:,} rows")
    return ROWS / (time.perf_counter() - began)


def _make_due(connection: Connection) -> None:
    """What the rounds before left behind is cleared away; then every row is due."""
    settle(connection)
    connection.execute(DUE, {"tenant": TENANT})
