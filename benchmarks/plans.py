"""Owns measuring plans: making one of the most items that it can have, beside the least that any way of making it has
to write, and reading its pages.

The peer is one INSERT ... SELECT of the same rows and one UPDATE that claims them, by the superuser, past every wall.
A few rows are of a currency without limits: they are left out of both.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import AsyncIterator

from benchmarks.figures import Figure
from benchmarks.ground import TENANT, Ground, clerk
from benchmarks.seeding import Connection, settle
from examples.payments.items import PAYOUTS
from jobcontract.plans import PLAN_ITEMS_MOST, PLAN_PAGE_MOST, DropPlan, PlanOrder
from jobservice.usecases import plan_reading, plans
from jobservice.usecases.actor import Actor
from jobservice.usecases.idempotency import Once
from jobservice.usecases.plan_reading import AskedRows
from jobservice.usecases.service import Service

PART = "plans"
DATABASE = "plans"
ROUNDS = 5

PLAN = """
insert into jobs.plans (
    tenant, name, command, queue, use_case, use_case_version, owner, salt, digest, totals, count, payees, frozen_at,
    valid_until
)
values (
    %(tenant)s, %(name)s, 'c', %(queue)s, 'u', 1, %(owner)s, sha256(''), sha256(''), '[]', 1, 1, jobs.now(),
    jobs.now() + interval '15 minutes'
)
returning id
"""
INSERT = """
insert into jobs.plan_items (
    plan, item, tenant, number, money_version, fence, business_key, title, amount_minor, currency, payee_id, payee_name,
    account, account_mark, inputs
)
select
    %(plan)s, i.id, i.tenant, row_number() over (order by i.id), i.money_version, i.fence + 1, i.business_key, i.title,
    i.amount_minor, i.currency, i.payee_id, i.payee_name, i.account, '', i.inputs
from jobs.items as i
where i.tenant = %(tenant)s and i.queue = %(queue)s and i.currency = any(%(currencies)s)
"""
CLAIM = """
update jobs.items
set
    holder = %(owner)s,
    taken_at = jobs.now(),
    expires_at = jobs.now() + interval '15 minutes',
    fence = fence + 1,
    plan = %(plan)s,
    plan_name = %(name)s,
    row_version = row_version + 1
where tenant = %(tenant)s and queue = %(queue)s and currency = any(%(currencies)s)
"""
FREE = (
    "update jobs.items set holder = null, taken_at = null, expires_at = null, plan = null, plan_name = null",
    "delete from jobs.plan_warnings",
    "delete from jobs.plan_items",
    "delete from jobs.plan_exclusions",
    "vacuum (analyze) jobs.plan_items, jobs.plan_warnings, jobs.plan_exclusions",
)


async def measure(ground: Ground) -> AsyncIterator[Figure]:
    """Making a plan, and the pages of it."""
    await ground.ready(DATABASE, PLAN_ITEMS_MOST)
    made, written, pages = [], [], []
    actor = ground.actor(clerk(0))
    with ground.superuser(DATABASE) as connection:
        async with ground.service(DATABASE) as service:
            for _ in range(ROUNDS):
                _renew(connection)
                seconds, plan, count = await _made(service, actor)
                made.append(seconds)
                pages.append(await _read(service, actor, plan))
                await plans.drop(service, actor, plan, DropPlan(), _once())
                _renew(connection)
                written.append(_written(connection, service, count))
    yield Figure(
        part=PART,
        what=f"{PLAN_ITEMS_MOST:,} items from a filter: claimed, frozen, digested, warned of, answered",
        unit="s",
        rounds=tuple(made),
        peer="one INSERT ... SELECT and one UPDATE of the same rows, past every wall",
        peer_rounds=tuple(written),
        at_most=2.5,
    )
    yield Figure(
        part=PART,
        what=f"every page of it, {PLAN_PAGE_MOST:,} rows each, as whoever confirms reads them",
        unit="s",
        rounds=tuple(pages),
    )


def _renew(connection: Connection) -> None:
    """No plan has an item, and the server is at rest."""
    for statement in FREE:
        connection.execute(statement.encode())
    settle(connection)


def _written(connection: Connection, service: Service, rows: int) -> float:
    """Seconds of the peer, its commit included; RuntimeError where it did not write as many rows as the plan has."""
    (command,) = service.records.bulk_of(PAYOUTS)
    values: dict[str, object] = {
        "tenant": TENANT,
        "queue": PAYOUTS,
        "owner": clerk(0),
        "name": f"peer-{uuid.uuid4()}",
        "currencies": sorted(command.limits.currencies),
    }
    began = time.perf_counter()
    with connection.transaction():
        found = connection.execute(PLAN, values).fetchone()
        if found is None:
            raise RuntimeError("no plan was added")
        values["plan"] = found[0]
        counts = [connection.execute(statement, values).rowcount for statement in (INSERT, CLAIM)]
    seconds = time.perf_counter() - began
    if counts != [rows] * 2:
        raise RuntimeError(f"the peer wrote {counts} rows")
    connection.execute("update jobs.plans set state = 'dropped', ended_at = jobs.now()")
    return seconds


async def _made(service: Service, actor: Actor) -> tuple[float, str, int]:
    """Seconds until a plan is answered, which it is, and how many items it has; RuntimeError where one is missing."""
    (command,) = service.records.bulk_of(PAYOUTS)
    began = time.perf_counter()
    answered = await plans.make(service, actor, PAYOUTS, PlanOrder(command=command.id, filter=""), _once())
    seconds = time.perf_counter() - began
    count, excluded = answered.body["count"], answered.body["excluded"]
    if count + sum(each["count"] for each in excluded) != PLAN_ITEMS_MOST:
        raise RuntimeError(f"the plan has {count:,} items, and is without: {excluded}")
    return seconds, str(answered.body["id"]), count


async def _read(service: Service, actor: Actor, plan: str) -> float:
    """Seconds for all pages of a plan one after the other."""
    began = time.perf_counter()
    mark = None
    asked = AskedRows(limit=PLAN_PAGE_MOST)
    while True:
        page = await plan_reading.plan_items(service, actor, plan, asked, mark=mark)
        mark = page.next
        if mark is None:
            return time.perf_counter() - began


def _once() -> Once:
    return Once(method="POST", path="/plans", key=uuid.uuid4().hex, digest=b"")
