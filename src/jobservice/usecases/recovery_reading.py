"""Owns reading recoveries: the list, one with the first of its rows, pages of its rows and of what is left out of it.

Who may read is recovery.read; which, `recovery_views.sight`. Looking is not audited.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from jobcontract.occurrences import ItemCounts
from jobcontract.permissions import Permission
from jobcontract.recoveries import Recovery, RecoveryLeftOut, RecoveryRow
from jobcontract.states import Turn
from jobservice.store import recoveries as store
from jobservice.store import recovery_rows as rows
from jobservice.store.database import Row
from jobservice.store.recoveries import Place
from jobservice.usecases.actor import Actor
from jobservice.usecases.recovery_views import row_of, sight, wire
from jobservice.usecases.service import Service


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedRecoveries:
    """A page, the latest first; `last` is where the next begins, None where there is none."""

    recoveries: tuple[Recovery, ...]
    last: Place | None
    now: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadRows:
    """A page of rows by number, with the recovery as it is; `last` is the number behind which the next begins."""

    recovery: Recovery
    rows: tuple[RecoveryRow, ...]
    last: int | None
    now: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadLeftOut:
    """A page of what is left out; `last` is the number behind which the next begins."""

    left_out: tuple[RecoveryLeftOut, ...]
    last: int | None
    now: datetime


async def list_recoveries(
    service: Service, actor: Actor, *, live: bool, behind: Place | None, limit: int
) -> ListedRecoveries:
    """Recoveries of the tenant, the latest first; `live`: those that have not ended. Refusal PERMISSION_MISSING."""
    actor.require(Permission.RECOVERY_READ)
    async with service.database.transaction(actor.tenant) as transaction:
        found = await store.recent(transaction, sight(actor), live=live, behind=behind, most=limit)
        page = found[:limit]
        shown = await store.shown(transaction, [row["id"] for row in page])
        now = transaction.began_at
    last = (page[-1]["made_at"], page[-1]["id"]) if len(found) > len(page) else None
    return ListedRecoveries(recoveries=tuple(wire(service, row) for row in shown), last=last, now=now)


async def read_rows(
    service: Service, actor: Actor, recovery: str, *, turn: Turn | None = None, after: int = 0, limit: int
) -> ReadRows:
    """A recovery with a page of its rows behind a number. Refusal PERMISSION_MISSING, NOT_FOUND."""
    actor.require(Permission.RECOVERY_READ)
    async with service.database.transaction(actor.tenant) as transaction:
        # The head first: frozen anew in between, rows come under the older edition, and the reader's next page says so.
        head = await row_of(transaction, recovery, sight(actor))
        found = await rows.page(transaction, head["id"], turn=turn, after=after, most=limit)
    page = found[:limit]
    return ReadRows(
        recovery=wire(service, head),
        rows=tuple(map(_row, page)),
        last=page[-1]["number"] if len(found) > len(page) else None,
        now=head["now"],
    )


async def read_left_out(service: Service, actor: Actor, recovery: str, *, after: int = 0, limit: int) -> ReadLeftOut:
    """A page of what is left out behind a number. Refusal PERMISSION_MISSING, NOT_FOUND."""
    actor.require(Permission.RECOVERY_READ)
    async with service.database.transaction(actor.tenant) as transaction:
        head = await row_of(transaction, recovery, sight(actor))
        found = await rows.left_out(transaction, head["id"], after=after, most=limit)
    page = found[:limit]
    return ReadLeftOut(
        left_out=tuple(RecoveryLeftOut.model_validate(row) for row in page),
        last=page[-1]["number"] if len(found) > len(page) else None,
        now=head["now"],
    )


def _row(row: Row) -> RecoveryRow:
    items = None
    if row["selected_all"] is not None:
        items = ItemCounts(
            done=row["done"],
            refused=row["refused"],
            failed=row["failed"],
            unfinished=row["unfinished"],
            selected_all=row["selected_all"],
        )
    return RecoveryRow.model_validate({**row, "items": items})
