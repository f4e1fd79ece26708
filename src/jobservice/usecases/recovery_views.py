"""Owns how a recovery goes over the wire, and locking one for an act. Looking is not audited.

Whoever may read schedules sees all recoveries of their tenant: runs are not narrowed to customers or workspaces.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.operating import LeftOut
from jobcontract.recoveries import Recovery, RecoveryChanged, RecoveryOrder
from jobcontract.states import ConfirmMethod, Moves, Turn
from jobservice.rules import recoveries as rules
from jobservice.store import items as item_store
from jobservice.store import recoveries as store
from jobservice.store.database import Row, Transaction
from jobservice.store.recoveries import LockedRecovery
from jobservice.usecases.service import Service

_TURNS = tuple(turn.value for turn in Turn)
_REASONS = {reason.value: place for place, reason in enumerate(LeftOut)}


def not_found(recovery: str) -> Refusal:
    """The one answer for unknown and foreign recoveries."""
    return Refusal(ErrorCode.NOT_FOUND, f"There is no recovery {recovery[:80]!r}.")


async def locked(transaction: Transaction, recovery: str) -> tuple[LockedRecovery, datetime]:
    """Lock a recovery, then read the clock. Refusal NOT_FOUND."""
    found = await store.lock(transaction, recovery)
    if found is None:
        raise not_found(recovery)
    return found, await item_store.now(transaction)


def wrong_state(found: LockedRecovery, now: datetime, sentence: str | None = None) -> Refusal:
    """PLAN_STATE: what the recovery is, and that this is no state for what was asked."""
    state = found.standing(now)
    said = sentence or rules.state_sentence(found.name, state)
    return Refusal(ErrorCode.PLAN_STATE, said, plan=found.id, name=found.name, state=state.value)


async def row_of(transaction: Transaction, recovery: str) -> Row:
    """The row that people see. Refusal NOT_FOUND."""
    rows = await store.shown(transaction, [recovery])
    if not rows:
        raise not_found(recovery)
    return rows[0]


async def changed(transaction: Transaction, service: Service, recovery: str) -> dict[str, Any]:
    """A recovery after an order, as JSON (`jobcontract.recoveries.RecoveryChanged`). Refusal NOT_FOUND."""
    row = await row_of(transaction, recovery)
    return RecoveryChanged(recovery=wire(service, row), now=row["now"]).model_dump(mode="json")


def wire(service: Service, row: Row) -> Recovery:
    """A row of `store.recoveries.shown` as it goes over the wire."""
    order = RecoveryOrder.model_validate(row["asked"])
    known = service.records.schedules
    return Recovery.model_validate(
        {
            **row,
            "words": rules.order_words(order),
            "command": rules.order_command(order),
            "owner": _person(row["owner"], row["owner_name"]),
            "ended_by": _person(row["ended_by"], row["ended_by_name"]),
            "confirm_by": ConfirmMethod.TOTP if row["moves"] == Moves.MONEY else None,
            "schedules": [
                {**each, "title": known[each["schedule"]].title if each["schedule"] in known else each["schedule"]}
                for each in row["schedules"]
            ],
            "left_out": sorted(row["left_out"], key=lambda each: _REASONS[each["reason"]]),
            "account": [{"turn": turn, "count": row["account"][turn]} for turn in _TURNS if row["account"].get(turn)],
        }
    )


def _person(identifier: str | None, name: str | None) -> Mapping[str, object] | None:
    return None if identifier is None else {"id": identifier, "name": name or identifier}
