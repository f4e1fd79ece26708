"""Owns measuring what background jobs take of the server to be read: every filter's first page and a later one, counts, one
job, finding, with ten million jobs and with a hundred thousand.

Jobs are made by statements, in a table that becomes the family's partition (and gets its indexes) when it is full; a kept
folder has them next time, while all that reading depends on is as the migrations make it.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import click

from benchmarks.figures import Figure, p95, percentile
from benchmarks.ground import TEMPLATE, TENANT, Ground
from benchmarks.seeding import Connection
from jobcontract.job_states import JobView
from jobcontract.states import Role
from jobservice.bootstrap.dev import OWNER
from jobservice.store.database import Database
from jobservice.usecases import people
from jobservice.usecases.actor import Actor
from jobservice.usecases.finding import find
from jobservice.usecases.job_listing import Asked, count_jobs, list_jobs
from jobservice.usecases.job_reading import read_job
from jobservice.usecases.service import Service

PART = "jobs"
MUCH, LITTLE = "jobs_much", "jobs_little"
ROWS, FEW = 10_000_000, 100_000
OTHER = "york"
"""Has every tenth job."""
PERSON = "o.busy"
LIMIT_MS, RATIO = 50.0, 2.0
ROUNDS, CALLS = 5, 20
DAYS = 90
FILL = 250_000
LATER = 5
"""Pages before the later page."""
NEW = """
alter table jobs.jobs detach partition jobs.payments_jobs;
drop table jobs.payments_jobs cascade;
create table jobs.payments_jobs (like jobs.jobs including defaults including constraints) with (fillfactor = 85);
alter table jobs.payments_jobs owner to jobs_owner
"""
READY = """
alter table jobs.jobs attach partition jobs.payments_jobs for values in ('payments');
alter table jobs.payments_jobs enable row level security;
alter table jobs.payments_jobs force row level security;
create policy owner on jobs.payments_jobs to jobs_owner using (true) with check (true)
"""
CAUSES = """
insert into jobs.job_causes (tenant, kind, step, text)
select %(tenant)s, 'k.' || n %% 20, 'send', case when n = 7 then 'Account closed at the bank.' else 'Failure ' || n || '.' end
from generate_series(1, 200) as n
"""
PUT = """
with c as materialized (
    select array_agg(id order by id) as causes from jobs.job_causes where tenant = %(tenant)s
)
insert into jobs.payments_jobs (
    family, id, tenant, kind, kind_version, status, progress, moves, submission_identity, inputs, inputs_digest,
    requester, subject, customer, workspace, requested_at, activity_at, started_at, settled_at, last_step,
    last_step_status, failure_summary, failure_reference, cause, cancel_asked_at, cancel_asked_by, cancel_reason,
    resolution, resolved_at, lineage, event_sequence
)
select
    'payments', g.id, g.tenant, g.kind, 1, g.status, case when g.status = 'succeeded' then 100 else 0 end, 'nothing',
    'identity-' || g.n, '{"month": "2026-11"}', decode(repeat('00', 32), 'hex'), g.requester, 'Subject ' || g.n,
    g.customer, 'W-' || g.n %% 300, g.at, g.at + interval '3 s',
    case when g.status <> 'pending' then g.at + interval '1 s' end,
    case when g.status not in ('pending', 'running') then g.at + interval '3 s' end, 'send',
    case when g.status = 'failed' then 'failed' else 'succeeded' end,
    case when g.status = 'failed' then 'Send: the bank refused.' end,
    case when g.status = 'failed' then 'f-' || g.n end,
    case when g.status = 'failed' then c.causes[1 + g.n %% 200] end,
    case when g.status = 'cancelled' or g.status = 'running' and g.n %% 10 = 0 then g.at end,
    case when g.status = 'cancelled' or g.status = 'running' and g.n %% 10 = 0 then %(person)s end,
    case when g.status = 'cancelled' or g.status = 'running' and g.n %% 10 = 0 then 'Not wanted.' end,
    case when g.status = 'failed' then g.resolution end,
    case when g.status = 'failed' and g.resolution is not null then g.at + interval '1 h' end, g.id, 4
from (
    select
        n, at,
        (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '7' || lpad(to_hex(n %% 4096), 3, '0')
            || 'a' || lpad(to_hex(n), 15, '0'))::uuid as id,
        case when n %% 10 = 9 then %(other)s else %(tenant)s end as tenant,
        case
            when n %% 50000 = 12 then 'k.rare'
            else 'k.' || least(a %% 20, b %% 20)
        end as kind,
        case
            when n > %(rows)s - 400 then case when n %% 2 = 0 then 'pending' else 'running' end
            when a %% 1000 < 30 then 'failed'
            when a %% 1000 < 35 then 'cancelled'
            else 'succeeded'
        end as status,
        case when b %% 10 < 3 then null when n %% 50000 = 33 then 'p.rare' else 'p.' || b %% 40 end as requester,
        case
            when n %% 50000 = 21 then 'C-rare' when b %% 10 = 4 then 'C-large' when b %% 10 < 9 then 'C-' || a %% 5000
        end as customer,
        case when b %% 10 = 0 then null when b %% 10 < 8 then 'retried' else 'acknowledged' end as resolution
    from (
        select
            n, %(now)s::timestamptz - make_interval(secs => (%(rows)s - n + 1) * %(days)s * 86400.0 / %(rows)s) as at,
            hashint8extended(n, 1) & 1073741823 as a, hashint8extended(n, 2) & 1073741823 as b
        from generate_series(%(first)s::bigint, %(last)s::bigint) as n
    ) as s
) as g
cross join c
"""
AFTER = """
insert into jobs.job_tallies (tenant, kind, status, unresolved, count)
select tenant, kind, status, status = 'failed' and resolution is null, count(*)
from jobs.jobs
group by 1, 2, 3, 4;
insert into jobs.job_steps (
    family, job, position, tenant, step, label, use_case, moves, status, attempts, started_at, settled_at, reference
)
select 'payments', id, 1, tenant, 'send', 'Send', 'benchmark.send', 'nothing', 'succeeded', 1, requested_at, requested_at,
    'FILE-' || submission_identity
from jobs.jobs
order by id desc
limit 200000;
insert into jobs.job_events (family, job, sequence, tenant, kind, sentence)
select 'payments', j.id, n, j.tenant, 'progress', 'It goes on.'
from (select id, tenant from jobs.jobs order by id desc limit 20000) as j
cross join generate_series(1, 4) as n
"""
SHAPE = """
with tables as (
    select c.oid, c.relname, c.relkind
    from pg_class as c
    where c.relnamespace = 'jobs'::regnamespace and not c.relispartition and c.relkind in ('r', 'p', 'v')
)
select md5(string_agg(s.line, e'\\n' order by s.line))
from (
    select t.relname || ' ' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
    from tables as t
    inner join pg_attribute as a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
    union all
    select pg_get_indexdef(i.indexrelid) from tables as t inner join pg_index as i on i.indrelid = t.oid
    union all
    select t.relname || ' ' || pg_get_viewdef(t.oid) from tables as t where t.relkind = 'v'
    union all
    select pg_get_functiondef(p.oid)
    from pg_proc as p
    where p.pronamespace = 'jobs'::regnamespace and p.prokind = 'f' and p.provolatile <> 'v'
    union all
    select p.tablename || ' ' || p.policyname || ' ' || p.roles::text || ' ' || p.permissive || ' ' || p.qual
    from pg_policies as p
    inner join tables as t on t.relname = p.tablename
    where p.schemaname = 'jobs' and p.cmd in ('ALL', 'SELECT')
) as s (line)
"""
FILTERS: Mapping[str, str] = {
    "unresolved failures, as the screen opens": "is:unresolved",
    "all": "",
    "status:failed": "status:failed",
    "status:running": "status:running",
    "status:succeeded,failed": "status:succeeded,failed",
    "a common kind": "kind:k.2",
    "a rare kind": "kind:k.rare",
    "a kind's cancelled": "kind:k.2 status:cancelled",
    "error": 'error:"account closed"',
    "error of many": "error:failure",
    "of one person": "requester:p.7",
    "of one person, who seldom asks": "requester:p.rare",
    "of nobody": "requester:none",
    "of a large customer": "scope:C-large",
    "of a small customer": "scope:C-4711",
    "older than 30 days": "age>30d",
    "30 days, a kind, failed": "age>30d kind:k.2 status:failed",
    "retried": "is:retried",
    "cancelling": "is:cancelling",
    "one by its identity": "identity-{middle}",
    "one by its failure reference": "f-1",
    "person and rare kind": "requester:p.7 kind:k.rare",
    "person, customer and status": "requester:p.7 scope:C-large status:cancelled",
    "large customer's unresolved": "scope:C-large is:unresolved",
    "never together": "requester:none scope:C-large kind:k.2 status:cancelled is:unresolved",
    "never together, none of them rare": "requester:p.7 kind:k.2 age<20d scope:C-large",
    "error of a person": 'error:"account closed" requester:p.7',
}


@dataclass(slots=True)
class _Side:
    """One of the two databases."""

    service: Service
    rows: int
    found: dict[str, list[float]] = field(default_factory=dict)
    first: dict[str, float] = field(default_factory=dict)
    held: dict[str, int] = field(default_factory=dict)


Call = Callable[[_Side], Awaitable[int]]


async def measure(ground: Ground) -> AsyncIterator[Figure]:
    """Every filter, count, job and find."""
    rows = int(os.environ.get("BENCHMARK_JOBS", ROWS))
    for database, many in ((MUCH, rows), (LITTLE, FEW)):
        await _ready(ground, database, many)
    async with ground.service(MUCH, most=4) as much, ground.service(LITTLE, most=4) as little:
        sides = (_Side(service=little, rows=FEW), _Side(service=much, rows=rows))
        calls = _calls()
        for number in range(ROUNDS + 1):
            for name, call in calls.items():
                for side in sides:
                    took, held = await _timed(call, side, CALLS if number else 5)
                    side.held[name] = held
                    if number:  # the first round warms caches and prepares statements
                        side.found.setdefault(name, []).append(p95(took))
                    else:
                        side.first[name] = took[0]
        for figure in _figures(calls, *sides):
            yield figure


def _figures(calls: Mapping[str, Call], few: _Side, many: _Side) -> list[Figure]:
    figures = [
        Figure(
            part=PART,
            what=f"{name}, {many.rows:,} jobs: p95 of {CALLS}",
            unit="ms",
            rounds=tuple(many.found[name]),
            # A count goes up to its bound, and has nothing to go up to where there is little: it has the limit alone.
            peer=None if name.startswith("counts") else f"{few.rows:,} jobs",
            peer_rounds=() if name.startswith("counts") else tuple(few.found[name]),
            at_most=LIMIT_MS if name.startswith("counts") else RATIO,
            note=f"{many.held[name]} rows beside {few.held[name]}; the very first call {many.first[name]:.0f} ms",
        )
        for name in calls
    ]
    slowest = max(calls, key=lambda name: percentile(many.found[name], 50))
    figures.append(
        Figure(
            part=PART,
            what=f"the slowest of them, {slowest}: p95",
            unit="ms",
            rounds=tuple(many.found[slowest]),
            at_most=LIMIT_MS,
        )
    )
    return figures


async def _timed(call: Call, side: _Side, number: int) -> tuple[list[float], int]:
    took, held = [], 0
    for _ in range(number):
        began = time.perf_counter()
        held = await call(side)
        took.append((time.perf_counter() - began) * 1_000)
    return took, held


def _actor(**more: Any) -> Actor:
    return Actor(person=PERSON, tenant=TENANT, role=Role.OPERATOR, reference="benchmark", **more)


SUPPORT: Mapping[str, Any] = {"customers": tuple(f"C-{number}" for number in range(20))}
"""The reach of a person of support."""


def _page(text: str, *, view: JobView = JobView.ALL, pages: int = 0, **reach: Any) -> Call:
    """A page of a filter, the first or the one behind so many."""
    marks: dict[int, Any] = {}

    async def call(side: _Side) -> int:
        asked = Asked(view=view, filter=text.format(middle=side.rows // 2), limit=100)
        if side.rows not in marks:
            mark = None
            for _ in range(pages):
                mark = (await list_jobs(side.service, _actor(**reach), asked, mark)).last
            marks[side.rows] = mark
        return len((await list_jobs(side.service, _actor(**reach), asked, marks[side.rows])).jobs)

    return call


def _counted(text: str, *, view: JobView = JobView.ALL, **reach: Any) -> Call:
    async def call(side: _Side) -> int:
        return (await count_jobs(side.service, _actor(**reach), Asked(view=view, filter=text))).listed.count

    return call


def _sought(text: str) -> Call:
    async def call(side: _Side) -> int:
        return len((await find(side.service, _actor(), text.format(middle=side.rows // 2))).found)

    return call


async def _one(side: _Side) -> int:
    job = (await list_jobs(side.service, _actor(), Asked(view=JobView.ALL, limit=1))).jobs[0].id
    return len((await read_job(side.service, _actor(), job)).job.events)


def _calls() -> dict[str, Call]:
    """What is measured, by name; each says how many rows it had."""
    return {
        **{name: _page(text) for name, text in FILTERS.items()},
        "a later page of a kind": _page("kind:k.2", pages=LATER),
        "unresolved failures of 20 customers, for support": _page("", view=JobView.UNRESOLVED, **SUPPORT),
        "counts as the screen opens": _counted("", view=JobView.UNRESOLVED),
        "counts of all": _counted(""),
        "counts of a kind": _counted("kind:k.2"),
        "counts of a combination": _counted("requester:p.7 scope:C-large status:cancelled"),
        "counts for support": _counted("", view=JobView.UNRESOLVED, **SUPPORT),
        "the latest job, and all of it": _one,
        "find a submission identity": _sought("identity-{middle}"),
        "find a person": _sought("p.7"),
        "find nothing": _sought("no-such-thing"),
    }


async def _ready(ground: Ground, database: str, rows: int) -> None:
    """The database with its jobs: made now unless a kept folder has it as it has to be."""
    file = ground.folder / f"{database}.json"
    own = hashlib.sha256(f"{rows}{NEW}{CAUSES}{PUT}{READY}{AFTER}".encode()).hexdigest()
    kept = json.loads(file.read_text("utf-8")) if file.exists() else {}
    if kept.get("sources") == own and _shape(ground, database) == _shape(ground, TEMPLATE):
        return
    file.unlink(missing_ok=True)
    await ground.empty(database, (TENANT, OTHER))
    owner = await Database.open(ground.url(OWNER, database), name="benchmark", most=1)
    try:
        await people.add_person(owner, person=PERSON, name="Operator", contact="o@example.org")
        await people.grant(owner, people.Grant(person=PERSON, tenant=TENANT, role=Role.OPERATOR))
    finally:
        await owner.close()
    with ground.superuser(database) as connection:
        await asyncio.to_thread(_fill, connection, rows)
    file.write_text(json.dumps({"sources": own}), "utf-8")


def _shape(ground: Ground, database: str) -> str:
    """What reading depends on in a database: columns, indexes, views, functions and policies."""
    with ground.superuser(database) as connection:
        row = connection.execute(SHAPE).fetchone()
    assert row is not None  # noqa: S101  # it is of one row
    return str(row[0])


def _fill(connection: Connection, rows: int) -> None:
    connection.execute("set session_replication_role = replica")
    connection.execute("set synchronous_commit = off")
    connection.execute("set maintenance_work_mem = '512MB'")
    row = connection.execute("select jobs.ensure_family('payments'), jobs.now()").fetchone()
    assert row is not None  # noqa: S101  # a select without from has a row
    _each(connection, NEW)
    values = {"tenant": TENANT, "other": OTHER, "person": PERSON, "now": row[1], "days": DAYS, "rows": rows}
    connection.execute(CAUSES, values)
    for first in range(1, rows + 1, FILL):
        last = min(first + FILL - 1, rows)
        connection.execute(PUT, {**values, "first": first, "last": last})
        if last * 10 // rows != (first - 1) * 10 // rows:
            click.echo(f"  jobs: {last:,} of {rows:,}", err=True)
    _each(connection, READY)
    _each(connection, AFTER)
    connection.execute("set session_replication_role = origin")
    connection.execute("vacuum (analyze)")
    connection.execute("checkpoint")


def _each(connection: Connection, text: str) -> None:
    for statement in text.strip().split(";\n"):
        connection.execute(statement.encode())
