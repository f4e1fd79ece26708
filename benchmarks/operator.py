"""Owns measuring what an operator's screens take of the server with a month of history: 30 days at 100,000 occurrences a
day over two tenants, each screen's first request over HTTP in this process.

History is made by statements, with the indexes of occurrences dropped meanwhile; a kept folder has it next time. One
schedule runs every two seconds, and has most of it; the others run every 21 minutes.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from urllib.parse import urlencode

import click
import httpx
import structlog

from benchmarks import history, jobs
from benchmarks.figures import Figure, p95, percentile
from benchmarks.ground import Ground, digest
from benchmarks.seeding import Connection
from jobcontract.routes import TENANT_HEADER
from jobcontract.states import Role
from jobservice.api.app import create_app
from jobservice.bootstrap.dev import OWNER
from jobservice.rules.rhythms import Every
from jobservice.rules.schedules import Schedule
from jobservice.store.database import Database
from jobservice.store.revisions import code_version
from jobservice.usecases import people

PART = "operator"
DATABASE = "operator"
TENANTS = ("leeds", "york")
DAYS = 30
QUICK, SLOW = 2, 1_260
"""Seconds between the instants of the one schedule that has most of history, and of each other."""
SCHEDULES = 100
ITEMS = 50_000
"""Open items of the queue of payouts."""
LIMIT_MS = 50.0
ROUNDS, CALLS = 5, 40
AUDITOR = "b.audit"
SIGNING_KEY = bytes(range(32))

PAST = """
insert into jobs.occurrences (
    id, tenant, schedule, scheduled_at, tzdata, lock, due_at, state, attempts, fence, started_at, ended_at, selected_all,
    done, cause, error
)
select
    gen_random_uuid(), %(tenant)s, %(schedule)s, g.at, 'benchmark', %(schedule)s, g.at,
    case when g.number %% 2000 = 7 then 'dead-letter' else 'completed' end, 1, 1, g.at, g.at + interval '0.3 s', true, 1,
    case when g.number %% 2000 = 7 then 'failed' end, case when g.number %% 2000 = 7 then 'The bank refused.' end
from (
    select date_trunc('second', jobs.now()) - make_interval(secs => n * %(seconds)s + 60) as at, n as number
    from generate_series(%(first)s::bigint, %(last)s::bigint) as n
) as g
"""
ATTEMPTS = """
insert into jobs.occurrence_attempts (
    occurrence, fence, tenant, attempt, worker, taken_at, started_at, expires_at, renewals, ended_at, ending
)
select
    id, 1, tenant, 1, gen_random_uuid(), started_at, started_at, ended_at, 0, ended_at,
    case when state = 'completed' then 'completed' else 'failed' end
from jobs.occurrences
where state in ('completed', 'dead-letter')
order by ended_at
"""
PRESENT = """
insert into jobs.workers (incarnation, version, host, slots)
select gen_random_uuid(), 'benchmark', 'h' || n, 16 from generate_series(1, 4) as n;
insert into jobs.schedules (tenant, schedule, definition, planned_until, next_at, last_scheduled_at)
select t.id, s, '', jobs.now() + interval '90 s', jobs.now() + interval '20 s', jobs.now()
from jobs.tenants as t cross join unnest(%(schedules)s::text[]) as s
where t.id = any(%(tenants)s);
update jobs.schedules set parked_at = jobs.now(), parked_reason = 'no such zone' where schedule like '%%.s07';
update jobs.schedules set disabled_at = jobs.now(), disabled_by = 'c.000', disabled_reason = 'bank down'
where schedule like '%%.s11';
insert into jobs.occurrences (tenant, schedule, scheduled_at, tzdata, lock, due_at)
select s.tenant, s.schedule, jobs.now() + make_interval(secs => n * 2), 'benchmark', s.schedule,
    jobs.now() + make_interval(secs => n * 2)
from jobs.schedules as s cross join generate_series(-15, 45) as n
where s.schedule like '%%.quick';
insert into jobs.occurrences (tenant, schedule, scheduled_at, tzdata, lock, due_at)
select s.tenant, s.schedule, date_trunc('second', jobs.now()) - interval '20 s', 'benchmark', s.schedule, jobs.now() - interval '20 s'
from jobs.schedules as s
where s.schedule like '%%.s_1';
insert into jobs.occurrences (
    tenant, schedule, scheduled_at, tzdata, lock, due_at, state, attempts, fence, holder, taken_at, expires_at, started_at
)
select s.tenant, s.schedule, date_trunc('second', jobs.now()) - interval '30 s', 'benchmark', s.schedule, jobs.now(), 'processing', 1, 1,
    (select w.incarnation from jobs.workers as w limit 1), jobs.now(), jobs.now() + interval '1 day', jobs.now()
from jobs.schedules as s
where s.schedule like '%%.s_2' or s.schedule like '%%.quick';
insert into jobs.occurrence_items (occurrence, key, tenant, number, label, outcome, ended_at)
select o.id, n::text, o.tenant, n, 'Item ' || n, case when n %% 40 = 3 then 'failed' else 'done' end, jobs.now()
from jobs.occurrences as o cross join generate_series(1, 2000) as n
where o.state = 'processing' and o.tenant = %(tenant)s;
insert into jobs.skipped_instants (tenant, schedule, first_at, last_at, count, policy, cause, zone, tzdata, decided_at)
select s.tenant, s.schedule, jobs.now() - make_interval(hours => n), jobs.now() - make_interval(hours => n), 1,
    'misfire-skip', 'Not started in time.', 'UTC', 'benchmark', jobs.now() - make_interval(hours => n)
from jobs.schedules as s cross join generate_series(1, 100) as n;
insert into jobs.audit (tenant, person, action, subject, reference, outcome, detail)
select %(tenant)s, 'c.000', 'cancel-occurrence', n::text, 'benchmark', 'done', '{"reason": "a reason"}'
from generate_series(1, 200000) as n;
insert into jobs.hourly_tallies (tenant, hour, completed, dead, missed)
select t.id, date_trunc('hour', jobs.now()) - make_interval(hours => n), 2000, 1, 0
from jobs.tenants as t cross join generate_series(0, 700) as n
where t.id = any(%(tenants)s);
insert into jobs.alarms (tenant, kind, subject, sentence)
select %(tenant)s, 'late', 'benchmark.s' || lpad(n::text, 2, '0'), 'It is late.' from generate_series(1, 60) as n;
insert into jobs.alarms (tenant, kind, subject, sentence, cleared_at)
select %(tenant)s, 'late', 'x' || n, 'It was late.', jobs.now() from generate_series(1, 20000) as n
"""


def schedules() -> tuple[Schedule, ...]:
    """One that runs every two seconds, and many that run every 21 minutes; a list of 100."""
    quick = replace(jobs.schedule("benchmark.quick"), rhythm=Every(seconds=QUICK, anchor=jobs.ANCHOR))
    slow = (
        replace(jobs.schedule(f"benchmark.s{number:02d}"), rhythm=Every(seconds=SLOW, anchor=jobs.ANCHOR))
        for number in range(1, SCHEDULES)
    )
    return (quick, *slow)


async def measure(ground: Ground) -> AsyncIterator[Figure]:
    """Each screen's first request."""
    await _ready(ground)
    with _quiet():
        async with _client(ground) as client:
            paths = await _paths(client)
            found: dict[str, list[float]] = {name: [] for name, _ in paths}
            middles: dict[str, list[float]] = {name: [] for name, _ in paths}
            for number in range(ROUNDS + 1):
                for name, path in paths:
                    took = await _calls(client, path, CALLS if number else 5)
                    if number:  # the first round warms caches and prepares statements
                        found[name].append(p95(took))
                        middles[name].append(percentile(took, 50))
    for name, path in paths:
        yield Figure(
            part=PART,
            what=f"{name}, p95 of {CALLS}: the first request of its screen, {_rows():,} occurrences",
            unit="ms",
            rounds=tuple(found[name]),
            at_most=LIMIT_MS,
            note=f"middle {percentile(middles[name], 50):.1f} ms, {path.partition('?')[0].rpartition('/v1')[2]}",
        )


@contextmanager
def _quiet() -> Iterator[None]:
    """The service's lines, one a request, are made as ever and thrown away: there are thousands."""
    before = structlog.get_config()
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        structlog.configure(logger_factory=structlog.PrintLoggerFactory(nowhere))
        try:
            yield
        finally:
            structlog.configure(**before)


async def _calls(client: httpx.AsyncClient, path: str, number: int) -> list[float]:
    """Milliseconds of so many requests, one after the other."""
    took = []
    for _ in range(number):
        began = time.perf_counter()
        answer = await client.get(path)
        took.append((time.perf_counter() - began) * 1_000)
        if answer.status_code != 200:
            raise RuntimeError(f"{path}: {answer.status_code} {answer.text[:300]}")
    return took


async def _paths(client: httpx.AsyncClient) -> list[tuple[str, str]]:
    """The first request of each screen."""
    runs = (await client.get("/v1/occurrences?state=processing&limit=1")).json()["occurrences"][0]["id"]
    now = datetime.fromisoformat((await client.get("/v1/workers")).json()["now"])
    hour = urlencode({"since": (now - timedelta(hours=1)).isoformat(), "until": now.isoformat()})
    waits = (await client.get("/v1/occurrences?state=scheduled&schedule=benchmark.s01&limit=1")).json()["occurrences"][
        0
    ]
    return [
        ("schedules, 100 of them", "/v1/schedules?limit=100"),
        ("one schedule of 1.3 million runs", "/v1/schedules/benchmark.quick"),
        ("one schedule", "/v1/schedules/benchmark.s21"),
        ("occurrences of all schedules and states", "/v1/occurrences?limit=50"),
        ("dead letters", "/v1/occurrences?state=dead-letter&limit=50"),
        ("occurrences of one schedule", "/v1/occurrences?schedule=benchmark.quick&limit=50"),
        ("one occurrence with 2,000 items", f"/v1/occurrences/{runs}"),
        ("why an occurrence is not running", f"/v1/occurrences/{waits['id']}/why"),
        ("why a schedule is not running", "/v1/schedules/benchmark.quick/why"),
        ("overview", "/v1/overview"),
        ("alarms", "/v1/alarms"),
        ("recoveries", "/v1/recoveries"),
        ("runbooks of a schedule", "/v1/schedules/benchmark.s21/runbooks"),
        ("timeline of the last hour", f"/v1/timeline?{hour}"),
        ("audit trail", "/v1/audit?limit=100"),
        ("Workers", "/v1/workers"),
        ("stops", "/v1/stops"),
        ("queues", "/v1/queues"),
        ("plans", "/v1/plans"),
    ]


@asynccontextmanager
async def _client(ground: Ground) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the API in this process, signed in as an auditor of the tenant with the most."""
    token = await ground.token(DATABASE, AUDITOR)
    records = replace(
        ground.record_set,
        schedules={each.id: each for each in schedules()},
        job_use_cases=jobs.records_with(ground.record_set).job_use_cases,
    )
    async with ground.service(DATABASE) as service:
        app = create_app(replace(service, records=records), signing_key=SIGNING_KEY, schema_version=code_version())
        headers = {"Authorization": f"Bearer {token}", TENANT_HEADER: TENANTS[0]}
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(app=app), base_url="http://benchmark", headers=headers
        ) as client:
            yield client


def _rows() -> int:
    """Occurrences of history, over both tenants."""
    return len(TENANTS) * sum(_each(seconds) for _, seconds in _rhythms())


def _each(seconds: int) -> int:
    return DAYS * 86_400 // seconds


def _rhythms() -> Sequence[tuple[str, int]]:
    return [(each.id, QUICK if each.id.endswith("quick") else SLOW) for each in schedules()]


async def _ready(ground: Ground) -> None:
    """The database with its history: made now unless a kept folder has it as it has to be, and as new as to be of now."""
    file = ground.folder / f"{DATABASE}.json"
    own = hashlib.sha256(f"{PAST}{ATTEMPTS}{PRESENT}{digest()}".encode()).hexdigest()
    kept = json.loads(file.read_text("utf-8")) if file.exists() else {}
    if kept.get("sources") == own and time.time() - kept["made"] < timedelta(hours=12).total_seconds():
        return
    file.unlink(missing_ok=True)
    await ground.make(DATABASE, {TENANTS[0]: ITEMS, TENANTS[1]: 1_000})
    owner = await Database.open(ground.url(OWNER, DATABASE), name="benchmark", most=1)
    try:
        await people.add_person(owner, person=AUDITOR, name="Auditor", contact="audit@example.org")
        await people.grant(owner, people.Grant(person=AUDITOR, tenant=TENANTS[0], role=Role.AUDITOR))
    finally:
        await owner.close()
    with ground.superuser(DATABASE) as connection:
        await asyncio.to_thread(_fill, connection)
    file.write_text(json.dumps({"sources": own, "made": time.time()}), "utf-8")


def _fill(connection: Connection) -> None:
    """A month of history, and what waits and runs now."""
    connection.execute("set session_replication_role = replica")
    connection.execute("set synchronous_commit = off")
    connection.execute("set maintenance_work_mem = '512MB'")
    found = [*connection.execute(history.INDEXES).fetchall(), *connection.execute(history.CONSTRAINTS).fetchall()]
    for drop, _ in found:
        connection.execute(str(drop).encode())
    for schedule, seconds in _rhythms():
        for tenant in TENANTS:
            values = {"tenant": tenant, "schedule": schedule, "seconds": seconds, "first": 1, "last": _each(seconds)}
            connection.execute(PAST, values)
    for _, create in found:
        connection.execute(str(create).encode())
    click.echo(f"  {_rows():,} occurrences of {DAYS} days", err=True)
    connection.execute(ATTEMPTS)
    values = {"schedules": [each for each, _ in _rhythms()], "tenants": list(TENANTS), "tenant": TENANTS[0]}
    for text in PRESENT.split(";\n"):
        connection.execute(text.encode(), values)
    connection.execute("set session_replication_role = origin")
    connection.execute("vacuum (analyze)")
    connection.execute("checkpoint")
