"""Owns what a person reads of Worker processes. Looking is not audited. Draining one: `usecases/draining.py`."""

from __future__ import annotations

from datetime import datetime

from jobcontract.permissions import Permission
from jobcontract.session import Person
from jobcontract.workers import Worker, Workers
from jobservice.rules.standing import worker_standing
from jobservice.store import workers as store
from jobservice.store.database import Row, Transaction
from jobservice.usecases.actor import Actor
from jobservice.usecases.service import Service

KEEP_SECONDS = 86_400.0
"""How long one that stopped, or fell silent, is told of."""
MOST = 200


async def list_workers(service: Service, actor: Actor) -> Workers:
    """The Workers of the service, which work for every tenant; what each holds is counted in the actor's.

    Refusal PERMISSION_MISSING without schedule.read.
    """
    actor.require(Permission.SCHEDULE_READ)
    async with service.database.transaction(actor.tenant) as transaction:
        rows = await store.listed(transaction, keep_seconds=KEEP_SECONDS, most=MOST)
        now = transaction.began_at
    return Workers(workers=tuple(_worker(row, now) for row in rows), now=now)


async def one_worker(transaction: Transaction, incarnation: str) -> tuple[Worker, datetime]:
    """One Worker that this transaction has locked, and the database's clock."""
    row = await store.one(transaction, incarnation)
    if row is None:
        raise RuntimeError("a locked Worker is there")
    return _worker(row, row["now"]), row["now"]


def _worker(row: Row, now: datetime) -> Worker:
    asked_by = row["drain_asked_by"]
    return Worker(
        incarnation=row["incarnation"],
        host=row["host"],
        version=row["version"],
        started_at=row["started_at"],
        beat_at=row["beat_at"],
        draining_at=row["draining_at"],
        stopped_at=row["stopped_at"],
        standing=worker_standing(
            now, beat_at=row["beat_at"], draining_at=row["draining_at"], stopped_at=row["stopped_at"]
        ),
        slots=row["slots"],
        processing=row["processing"],
        drain_asked_at=row["drain_asked_at"],
        drain_asked_by=None if asked_by is None else Person(id=asked_by, name=row["drain_asked_by_name"]),
        drain_reason=row["drain_reason"],
    )
