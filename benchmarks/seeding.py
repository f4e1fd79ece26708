"""Owns filling a database for measuring: the example's own items, scored as any push is, multiplied by one statement.

What is multiplied keeps the order of the original, so that a thousand and more items have equal scores. The number of
an item stands first in its payee's name: whoever reads a screen can tell which one it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from queue import Empty, Queue
from typing import Any

import psycopg

from examples.payments.items import PAYOUTS
from examples.payments.seeding import SAMPLE, Seeding
from jobservice.application import NewJob, NewWorkItem
from jobservice.store.database import Database
from jobservice.usecases.seeding import push_examples
from jobservice.usecases.service import Service

SAMPLES = "samples"
"""The tenant of the originals."""
PUSHER = "p.feed"
BATCH = 25_000
Connection = psycopg.Connection[tuple[Any, ...]]
Connect = Callable[[], Connection]

MULTIPLY = """
insert into jobs.items (
    tenant, queue, business_key, title, created, amount_minor, currency, payee_id, payee_name, account, inputs, payload,
    pushed_by, changed_by, words, rank, score, score_rule, score_version, score_inputs, score_parts, score_failure,
    scored_at, rescore_at
)
select
    %(tenant)s, i.queue, i.business_key || '/' || n, i.title, i.created + make_interval(secs => n / 1e6),
    i.amount_minor, i.currency, i.payee_id, lpad(n::text, 7, '0') || ' ' || i.payee_name, i.account, i.inputs,
    i.payload, i.pushed_by, i.changed_by, ' ' || lpad(n::text, 7, '0') || i.words, i.rank, i.score, i.score_rule,
    i.score_version, i.score_inputs, i.score_parts, i.score_failure, i.scored_at, i.rescore_at
from generate_series(%(start)s::bigint, %(end)s::bigint - 1) as n
inner join (
    select row_number() over (order by id) - 1 as number, count(*) over () as many, *
    from jobs.items
    where tenant = 'samples'
) as i on i.number = n %% i.many
"""

INDEXES = """
select format('drop index %I.%I', i.schemaname, i.indexname), i.indexdef
from pg_indexes as i
where
    i.schemaname = 'jobs'
    and i.tablename = 'items'
    and not exists (select from pg_constraint as c where c.conname = i.indexname)
"""

HOLD = """
with head as (
    select id, row_number() over (order by rank, created, id) as number
    from jobs.items
    where tenant = %(tenant)s
    order by rank, created, id
    limit %(many)s
)

update jobs.items as i
set
    holder = 'h.' || lpad((h.number %% %(people)s)::text, 3, '0'),
    taken_at = jobs.now(),
    expires_at = jobs.now() + interval '1 hour',
    fence = 1
from head as h
where i.id = h.id
"""


async def push_samples(service: Service, now: datetime) -> int:
    """Push the payouts of the example's sample into the tenant of the originals; how many there are."""
    collected: list[NewWorkItem] = []

    async def collect(_tenant: str, queue: str, items: Sequence[NewWorkItem]) -> int:
        collected.extend(items if queue == PAYOUTS else ())
        return len(items)

    async def without_jobs(_tenant: str, _jobs: Sequence[NewJob]) -> int:
        return 0

    await Seeding(SAMPLE, published=Path("no-such-folder"))(now, collect, without_jobs)
    return await push_examples(
        service.database, service.records, service.application, SAMPLES, PAYOUTS, collected, pusher=PUSHER
    )


def multiply(connect: Connect, tenant: str, rows: int, said: Callable[[int], None]) -> None:
    """Add `rows` payouts to a tenant, as the superuser, on two connections; `said` hears how many more there are."""
    starts = Queue[int]()
    for start in range(0, rows, BATCH):
        starts.put(start)

    def work() -> None:
        with connect() as connection:
            connection.execute("set session_replication_role = replica")  # the tenant and the person are there
            connection.execute("set synchronous_commit = off")
            while True:
                try:
                    start = starts.get_nowait()
                except Empty:
                    return
                end = min(rows, start + BATCH)
                connection.execute(MULTIPLY, {"tenant": tenant, "start": start, "end": end})
                said(end - start)

    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(work) for _ in range(2)]:
            done.result()


@contextmanager
def without_indexes(connection: Connection) -> Iterator[None]:
    """Within it the items have no index but those of their constraints: a million rows take half the time."""
    found = connection.execute(INDEXES).fetchall()
    for drop, _ in found:
        connection.execute(str(drop).encode())
    yield
    connection.execute("set maintenance_work_mem = '256MB'")
    for _, create in found:
        connection.execute(str(create).encode())


def hold_head(connection: Connection, tenant: str, many: int, *, people: int) -> None:
    """Let `people` others hold the first `many` items of a tenant's queue."""
    connection.execute(HOLD, {"tenant": tenant, "many": many, "people": people})


def settle(connection: Connection) -> None:
    """Bring statistics and the visibility map up to date, and write everything out: what a server at rest has done."""
    connection.execute("vacuum (analyze) jobs.items")
    connection.execute("checkpoint")


async def api_clock(database: Database, tenant: str) -> datetime:
    """The database's clock, as the API's role sees it."""
    async with database.transaction(tenant) as transaction:
        return transaction.began_at
