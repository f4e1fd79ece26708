"""Owns measuring the Worker's duty of rescoring: rows a second, beside one update of the same rows."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from uuid import uuid4

from benchmarks.figures import Figure
from benchmarks.ground import TENANT, Ground
from benchmarks.seeding import Connection, settle
from jobservice.bootstrap.dev import WORKER
from jobservice.store import duties as duty_rows
from jobservice.usecases.service import Service
from jobservice.worker.fenced import give_back, take
from jobservice.worker.rescoring import Rescoring

PART = "rescoring"
DATABASE = "rescoring"
DUTY = "rescoring"
ROWS, ROUNDS = 20_000, 5
SOON = 8.0
"""Seconds until the rows are due: the duty's look after its start comes before that."""

DUE = """
update jobs.items
set rescore_at = jobs.now() + make_interval(secs => %(soon)s)
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
    """Rows a second of the duty."""
    await ground.make(DATABASE, {TENANT: ROWS})
    scored, updated = [], []
    with ground.superuser(DATABASE) as connection:
        async with ground.service(DATABASE, role=WORKER, most=5) as service:
            async with service.database.transaction(None) as transaction:
                await duty_rows.add_duty(transaction, DUTY)
            for _ in range(ROUNDS):
                updated.append(_one_update(connection))
                scored.append(await _rescored(connection, service))
    yield Figure(
        part=PART,
        what=f"the Worker's duty over {ROWS:,} due rows",
        unit="rows/s",
        rounds=tuple(scored),
        peer="one UPDATE ... FROM of the same rows",
        peer_rounds=tuple(updated),
        at_least=0.5,
    )


async def _rescored(connection: Connection, service: Service) -> float:
    """Rows a second; RuntimeError where the duty did not score every row in the run that is measured."""
    duty = Rescoring(scorer=service.scorer, queues=service.records.queues, every=0.0)
    _make_due(connection)
    due = time.perf_counter() + SOON
    await _run(service, duty)  # after its start it looks through everything, once, and remembers when scores are due
    await asyncio.sleep(max(0.0, due + 0.5 - time.perf_counter()))
    began = time.perf_counter()
    done = await _run(service, duty)
    if done != ROWS:
        raise RuntimeError(f"the duty scored {done:,} of {ROWS:,} rows")
    return ROWS / (time.perf_counter() - began)


async def _run(service: Service, duty: Rescoring) -> int:
    lease = await take(service.database, duty, uuid4())
    if lease is None:
        raise RuntimeError("the duty was not free")
    done = await duty.run_once(lease)
    await give_back(lease, whole=True)
    return done.get("scored", 0)


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
    """What the rounds before left behind is cleared away; then every row is due soon."""
    settle(connection)
    connection.execute(DUE, {"tenant": TENANT, "soon": SOON})
