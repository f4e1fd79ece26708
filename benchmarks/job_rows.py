"""Owns the jobs that are read in the benchmark: ten million of them made by statements, in a table that becomes the family's
partition (and gets its indexes) when it is full. A kept folder has them next time, while all that reading depends on is as
the migrations make it.
"""

from __future__ import annotations

import asyncio
import hashlib
import json

import click

from benchmarks.ground import TEMPLATE, TENANT, Ground
from benchmarks.seeding import Connection
from jobcontract.states import Role
from jobservice.bootstrap.dev import OWNER
from jobservice.store.database import Database
from jobservice.usecases import people

OTHER = "york"
"""Has every tenth job."""
PERSON = "o.busy"
DAYS = 90
FILL = 250_000
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


async def ready(ground: Ground, database: str, rows: int) -> None:
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
