"""Owns measuring how fast a confirmed plan is applied where nothing outside is waited for: items a second of the Worker's
turns, beside a bare loop of the same statements on as many connections.

Plans are made by the use case and confirmed by statements: what is measured is the applying. The loop binds, locks,
compares, releases and commits as a turn does, and decides, verifies, tells and renews nothing.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import psycopg
from psycopg.rows import dict_row

from benchmarks.figures import Figure
from benchmarks.ground import TENANT, Ground, clerk
from benchmarks.seeding import Connection, settle
from examples.payments.items import PAYOUTS
from jobcontract.plans import PlanOrder
from jobservice.application import Application, Call, Outcome, WorkItem, done
from jobservice.bootstrap.dev import WORKER
from jobservice.records import RecordSet
from jobservice.rules.bulk import BulkCommand
from jobservice.rules.keys import Keys
from jobservice.store.database import Database
from jobservice.store.statements import statement
from jobservice.usecases import plans
from jobservice.usecases.idempotency import Once
from jobservice.worker.applying import Applying
from jobservice.worker.leased_work import RowLease
from jobservice.worker.plan_run import Pacing

PART = "applying"
DATABASE = "applying"
CONNECTIONS = 4
ITEMS, ROUNDS = 1_000, 5
COMMAND = "payments.release-many"
LARGE = 10**15
KEYS = Keys(seal_keys={"s": bytes(32)}, current_seal="s", sign_keys={"k": bytes(range(32))}, current_sign="k")

CONFIRM = """
update jobs.plans
set
    state = 'applying', confirmed_at = jobs.now(), apply_until = jobs.now() + interval '4 hours',
    signing_key = %(key)s, signature = %(signature)s, holder = %(holder)s, fence = 1,
    expires_at = case when %(holder)s::uuid is not null then jobs.now() + interval '1 hour' end
where id = %(plan)s
"""
HOLD = "update jobs.items set held = true, fence = fence + 1, expires_at = jobs.now() + interval '4 hours' where plan = %(plan)s"
RAISE = "update jobs.plan_items set fence = fence + 1 where plan = %(plan)s"
COUNT = """
insert into jobs.outgoings (plan, tenant, person, account, currency, gross_minor, count, at)
select plan, tenant, %(owner)s, account, currency, sum(amount_minor), count(*), jobs.now()
from jobs.plan_items
where plan = %(plan)s and amount_minor > 0
group by 1, 2, 4, 5
"""
FREE = """
select id::text from jobs.items
where tenant = %(tenant)s and queue = %(queue)s and closed_at is null and holder is null and amount_minor > 0
order by id
limit %(most)s
"""
RELEASED = "select count(*) from jobs.releases where plan = %(plan)s"
BEGIN = (
    "begin; select set_config('jobs.tenant', '{}', true), set_config('statement_timeout', '10000ms', true),"
    " set_config('plan_cache_mode', 'force_generic_plan', true), jobs.now()"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A confirmed plan, and who made it."""

    id: str
    owner: str


async def release(call: Call, item: WorkItem) -> Outcome:  # noqa: ARG001  # every use case takes a call
    """What a use case without an outside half does at least."""
    return done("Released.", reference=item.id)


async def measure(ground: Ground) -> AsyncIterator[Figure]:
    """Items a second of a plan."""
    await ground.make(DATABASE, {TENANT: ITEMS * (2 * ROUNDS + 3)})
    applied, looped = [], []
    people = iter(range(2 * ROUNDS + 2))
    with ground.superuser(DATABASE) as connection:
        database = await Database.open(ground.url(WORKER, DATABASE), name="benchmark", most=CONNECTIONS + 2)
        try:
            for number in range(ROUNDS + 1):
                looped.append(await _loop(ground, connection, await _plan(ground, connection, next(people), uuid4())))
                applied.append(
                    await _apply(ground, database, connection, await _plan(ground, connection, next(people)))
                )
                if number == 0:  # the first of each warms caches and prepares statements
                    looped.clear()
                    applied.clear()
        finally:
            await database.close()
    yield Figure(
        part=PART,
        what=f"a plan of {ITEMS:,} items without an outside half, {CONNECTIONS} turns at once, taking, verifying and"
        " closing it included",
        unit="items/s",
        rounds=tuple(applied),
        peer="a bare loop of the same statements on as many connections",
        peer_rounds=tuple(looped),
        at_least=0.7,
    )


def _records(ground: Ground) -> RecordSet:
    """The example's records with limits that no round reaches."""
    command = ground.record_set.bulk[COMMAND]
    amounts = dict.fromkeys(command.limits.item, LARGE)
    limits = replace(
        command.limits,
        item=amounts,
        plan=amounts,
        person=amounts,
        account=amounts,
        person_count=LARGE,
        account_count=LARGE,
    )
    bulk: Mapping[str, BulkCommand] = {COMMAND: replace(command, limits=limits, answer_above={})}
    return replace(ground.record_set, bulk=bulk)


async def _plan(ground: Ground, connection: Connection, number: int, holder: UUID | None = None) -> Planned:
    """A plan of so many items that a clerk of its own confirmed; leased to `holder` where one is given."""
    owner = clerk(number)
    settle(connection)
    found = connection.execute(FREE.encode(), {"tenant": TENANT, "queue": PAYOUTS, "most": ITEMS}).fetchall()
    order = PlanOrder(command=COMMAND, items=tuple(row[0] for row in found))
    once = Once(method="POST", path="/benchmark", key=uuid4().hex, digest=bytes(32))
    async with ground.service(DATABASE, most=2) as service:
        answered = await plans.make(
            replace(service, records=_records(ground)), ground.actor(owner), PAYOUTS, order, once
        )
    plan = str(answered.body["id"])
    row = connection.execute("select digest from jobs.plans where id = %s", (plan,)).fetchone()
    signed = KEYS.sign(plan, bytes(row[0]) if row is not None else b"")
    values = {"plan": plan, "owner": owner, "key": signed.key_id, "signature": signed.signature, "holder": holder}
    for text in (CONFIRM, HOLD, RAISE, COUNT):
        connection.execute(text.encode(), values)
    settle(connection)
    return Planned(id=plan, owner=owner)


async def _apply(ground: Ground, database: Database, connection: Connection, plan: Planned) -> float:
    """Items a second of the Worker, from taking the plan to its closed account."""
    application = Application("benchmark", Path(__file__).parent)
    application.use_cases.update({"payments.release": release})
    applying = Applying(
        database=database,
        records=_records(ground),
        application=application,
        keys=KEYS.public,
        lease=3_600.0,  # renewing is another task's, and takes one statement a third of a lease
        pacing=Pacing(at_once=CONNECTIONS),
    )
    holder, began = uuid4(), time.perf_counter()
    for grant in (await applying.take(holder, 1, {})).grants:
        await applying.carry(RowLease(grant=grant, holder=holder, deadline=time.monotonic() + 3_600))
    seconds = time.perf_counter() - began
    return _released(connection, plan, seconds)


async def _loop(ground: Ground, connection: Connection, plan: Planned) -> float:
    """Items a second of the bare loop."""
    rows = await _rows(ground, plan)
    held = connection.execute("select holder, fence from jobs.plans where id = %s", (plan.id,)).fetchone()
    if held is None:
        raise RuntimeError("the plan is gone")
    lease = {"tenant": TENANT, "plan": plan.id, "holder": held[0], "plan_fence": held[1]}
    loops = [
        await psycopg.AsyncConnection.connect(
            ground.url(WORKER, DATABASE), autocommit=True, prepare_threshold=3, options="-c timezone=UTC"
        )
        for _ in range(CONNECTIONS)
    ]
    try:
        began = time.perf_counter()
        await asyncio.gather(
            *(_connection(each, lease, rows[number::CONNECTIONS]) for number, each in enumerate(loops))
        )
        seconds = time.perf_counter() - began
    finally:
        for each in loops:
            await each.close()
    connection.execute("update jobs.plans set state = 'aborted', accounted_at = jobs.now() where id = %s", (plan.id,))
    return _released(connection, plan, seconds)


async def _rows(ground: Ground, plan: Planned) -> Sequence[Mapping[str, Any]]:
    async with await psycopg.AsyncConnection.connect(ground.url("postgres", DATABASE), row_factory=dict_row) as reading:
        values = {"tenant": TENANT, "plan": plan.id, "after": 0, "most": ITEMS}
        return await (await reading.execute(statement("turns/rows"), values)).fetchall()


async def _connection(
    connection: psycopg.AsyncConnection[Any], lease: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]
) -> None:
    """One connection of the loop: its share of the rows, one transaction each."""
    begin = BEGIN.format(TENANT).encode()
    told = {"was": "running", "action": "payments.release", "said_by": None, "sentence": "Released."}
    for row in rows:
        values = {**lease, **row, **told, "largest": LARGE, "turn_fence": lease["plan_fence"]}
        values |= {"reference": row["item"], "outward_key": f"jc-{row['item']}"}
        await connection.execute(begin, prepare=False)
        await (await connection.execute(statement("turns/lock"), values)).fetchone()
        await (await connection.execute(statement("turns/start"), values)).fetchone()
        await connection.execute("savepoint one")
        await connection.execute("release one")
        await connection.execute(statement("turns/release"), values)
        await connection.execute("commit")


def _released(connection: Connection, plan: Planned, seconds: float) -> float:
    """Items a second; RuntimeError where not every one was released."""
    row = connection.execute(RELEASED.encode(), {"plan": plan.id}).fetchone()
    if row is None or row[0] != ITEMS:
        raise RuntimeError(f"{0 if row is None else row[0]:,} of {ITEMS:,} items were released")
    return ITEMS / seconds
