"""Owns the audit trail as use cases see it: adding to it, recording refusals, reading it (MONEY.md 31).

Everything that changed is a row, and so is every acting request that its permission, its key or the use case refused.
Looking is not, nor is a request that never became one: without a token that holds, a key, or a valid body.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import structlog

from jobcontract.audit import AuditEntry
from jobcontract.errors import ErrorCode, Refusal
from jobcontract.ids import KEY_MAX, PAGE_MAX, storable
from jobcontract.permissions import Permission
from jobcontract.session import Person
from jobservice.store import audit as trail
from jobservice.store.database import Row, Transaction
from jobservice.usecases.actor import Actor
from jobservice.usecases.procedures import schedule_of
from jobservice.usecases.service import Service

CHANGED = "done"
REFUSED = "refused"
EVERYTHING = trail.Wanted()
PAGE_SECONDS = 5.0
"""How long one page may take."""
LOOKED = 10_000
"""Entries that one page looks through for those that are several things at once, which seldom meet."""
_UNRECORDED = frozenset({ErrorCode.DATABASE_AWAY, ErrorCode.INTERNAL})

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedAudit:
    """One page of the trail, newest first; `last` is where the next begins, None where the trail ends. `looked_to`: the
    page is not full, and nothing older than that was looked at yet."""

    entries: tuple[AuditEntry, ...]
    last: trail.Mark | None
    looked_to: datetime | None
    as_of: datetime


async def record(
    transaction: Transaction,
    actor: Actor,
    action: str,
    subject: str,
    detail: Mapping[str, Any],
    *,
    outcome: str = CHANGED,
) -> None:
    """Add a row to the trail, in the transaction that changed something."""
    await trail.add(
        transaction,
        trail.NewEntry(
            person=actor.person,
            action=action,
            subject=subject,
            outcome=outcome,
            detail=detail,
            reference=actor.reference,
        ),
    )


async def record_on_server(
    transaction: Transaction, action: str, subject: str, tenants: Iterable[str], detail: Mapping[str, object]
) -> None:
    """Add what a command of the server did: a row in each tenant that it touched, or one without a tenant."""
    for tenant in tuple(tenants) or (None,):
        entry = trail.NewEntry(
            person=None, action=action, subject=subject, outcome=CHANGED, detail=detail, reference=None
        )
        await trail.add(Transaction(transaction.connection, tenant), entry)


async def record_refusal(service: Service, actor: Actor, action: str, subject: str, refusal: Refusal) -> None:
    """Add a `refused` row with the code, in a transaction of its own.

    Acting use cases call it themselves; the API calls it only for an acting request that it refused before one of
    them was reached. A trail that cannot be written just then is logged and hides nothing from the person who asked.
    """
    if refusal.kind in _UNRECORDED:
        return
    try:
        async with service.database.transaction(actor.tenant) as transaction:
            detail = {"code": refusal.kind.code, "sentence": refusal.detail}
            about = await schedule_of(transaction, action, subject)
            if about is not None and about in service.records.schedules:  # else what was typed names nothing
                detail["schedule"] = about
            await record(transaction, actor, safe_subject(action), safe_subject(subject), detail, outcome=REFUSED)
    except Refusal as away:
        _log.error(
            "refusal-not-recorded",
            action=action,
            code=refusal.kind.code,
            person=actor.person,
            reference=actor.reference,
            reason=away.detail,
        )


def safe_subject(text: str) -> str:
    """What a request named, fit to be kept: at most `KEY_MAX` characters that PostgreSQL can store."""
    return text[:KEY_MAX] if storable(text) else "unreadable"


async def list_audit(
    service: Service, actor: Actor, after: trail.Mark | None, limit: int, wanted: trail.Wanted = EVERYTHING
) -> ListedAudit:
    """One page of the tenant's trail behind `after`: what `wanted` says. One that asks for several things at once looks
    through `LOOKED` entries at most, and says how far it looked. Refusal PERMISSION_MISSING without audit.read."""
    actor.require(Permission.AUDIT_READ)
    limit = max(1, min(limit, PAGE_MAX))
    looked_to: trail.Mark | None = None
    async with service.database.transaction(actor.tenant, statement_seconds=PAGE_SECONDS) as transaction:
        if wanted.several:
            rows, looked_to = await trail.search(transaction, after=after, limit=limit, wanted=wanted, looked=LOOKED)
        else:
            rows = await trail.page(transaction, after=after, limit=limit, wanted=wanted)
        now = transaction.began_at
    shown = rows[:limit]
    return ListedAudit(
        entries=tuple(map(wire, shown)),
        last=(shown[-1]["at"], shown[-1]["id"]) if len(rows) > limit else looked_to,
        looked_to=None if looked_to is None else looked_to[0],
        as_of=now,
    )


def wire(row: Row) -> AuditEntry:
    """An entry as it goes over the wire."""
    person = None if row["person"] is None else Person(id=row["person"], name=row["person_name"] or row["person"])
    return AuditEntry(
        id=row["id"],
        at=row["at"],
        person=person,
        action=row["action"],
        subject=row["subject"],
        outcome=row["outcome"],
        schedule=row["schedule"],
        detail=row["detail"],
    )
