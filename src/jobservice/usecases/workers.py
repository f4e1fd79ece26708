"""Owns what a person reads of Worker processes. Looking is not audited."""

from __future__ import annotations

from jobcontract.permissions import Permission
from jobcontract.workers import Worker, Workers
from jobservice.rules.standing import worker_standing
from jobservice.store import workers as store
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
    workers = (
        Worker(
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
        )
        for row in rows
    )
    return Workers(workers=tuple(workers), now=now)
