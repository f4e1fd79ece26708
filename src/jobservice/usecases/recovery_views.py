"""Owns how a recovery goes over the wire, who sees which, and locking one for an act. Looking is not audited.

Whoever may read schedules sees all recoveries of runs and schedules in their tenant: these are not narrowed to customers or
workspaces. Jobs are: whoever is narrowed sees of the recoveries of jobs their own alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.operating import LeftOut, RecoveryAct, RecoveryState
from jobcontract.permissions import GRANTS, Permission
from jobcontract.recoveries import Recovery, RecoveryChanged, RecoveryOrder
from jobcontract.states import ConfirmMethod, Moves, Turn
from jobservice.rules import recoveries as rules
from jobservice.rules.recovery_jobs import JOB_ACTS, drift_sentence
from jobservice.store import items as item_store
from jobservice.store import recoveries as store
from jobservice.store.database import Row, Transaction
from jobservice.store.recoveries import LockedRecovery, Sight
from jobservice.usecases.actor import Actor
from jobservice.usecases.service import Service

_TURNS = tuple(turn.value for turn in Turn)
_REASONS = {reason.value: place for place, reason in enumerate(LeftOut)}


def not_found(recovery: str) -> Refusal:
    """The one answer for unknown and foreign recoveries."""
    return Refusal(ErrorCode.NOT_FOUND, f"There is no recovery {recovery[:80]!r}.")


def sight(actor: Actor) -> Sight:
    """Which recoveries of their tenant the actor sees."""
    may = GRANTS[actor.role]
    narrowed = actor.customers is not None or actor.workspaces is not None
    return Sight(
        person=actor.person,
        runs=Permission.SCHEDULE_READ in may,
        jobs=Permission.JOB_READ in may,
        own_jobs_only=narrowed,
    )


async def locked(transaction: Transaction, actor: Actor, recovery: str) -> tuple[LockedRecovery, datetime]:
    """Lock a recovery that the actor sees, then read the clock. Refusal NOT_FOUND."""
    found = await store.lock(transaction, recovery)
    if found is None or not sight(actor).sees(found.act, found.owner):
        raise not_found(recovery)
    return found, await item_store.now(transaction)


def wrong_state(found: LockedRecovery, now: datetime, sentence: str | None = None) -> Refusal:
    """PLAN_STATE: what the recovery is, and that this is no state for what was asked."""
    state = found.standing(now)
    said = sentence or rules.state_sentence(found.name, state)
    return Refusal(ErrorCode.PLAN_STATE, said, plan=found.id, name=found.name, state=state.value)


async def row_of(transaction: Transaction, recovery: str, seen: Sight | None = None) -> Row:
    """The row that people see; `seen`: those of one actor. Refusal NOT_FOUND."""
    rows = await store.shown(transaction, [recovery])
    if not rows or (seen is not None and not seen.sees(rows[0]["act"], rows[0]["owner"])):
        raise not_found(recovery)
    return rows[0]


async def changed(transaction: Transaction, service: Service, recovery: str) -> dict[str, Any]:
    """A recovery after an order, as JSON (`jobcontract.recoveries.RecoveryChanged`). Refusal NOT_FOUND."""
    row = await row_of(transaction, recovery)
    return RecoveryChanged(recovery=wire(service, row), now=row["now"]).model_dump(mode="json")


def wire(service: Service, row: Row) -> Recovery:
    """A row of `store.recoveries.shown` as it goes over the wire."""
    order = _asked(row["asked"])
    titles = _titles(service, order.act)
    return Recovery.model_validate(
        {
            **row,
            "words": rules.order_words(order),
            "command": rules.order_command(order),
            "owner": _person(row["owner"], row["owner_name"]),
            "why": _why(row),
            "ended_by": _person(row["ended_by"], row["ended_by_name"]),
            "confirm_by": ConfirmMethod.TOTP if row["moves"] == Moves.MONEY else None,
            "schedules": [
                {**each, "title": titles.get(each["schedule"], each["schedule"])} for each in row["schedules"]
            ],
            "left_out": sorted(row["left_out"], key=lambda each: _REASONS[each["reason"]]),
            "account": [{"turn": turn, "count": row["account"][turn]} for turn in _TURNS if row["account"].get(turn)],
        }
    )


def _asked(kept: Mapping[str, Any]) -> RecoveryOrder:
    """What was asked for, as it is kept: what a reason has to be may have been less when it was made."""
    order = RecoveryOrder.model_validate({**kept, "reason": "as it is kept"})
    return order.model_copy(update={"reason": kept["reason"]})


def _titles(service: Service, act: RecoveryAct) -> Mapping[str, str]:
    """What its rows are called: kinds of jobs, or schedules."""
    if act in JOB_ACTS:
        return {each.id: each.label for each in service.records.job_kinds.values()}
    return {each.id: each.title for each in service.records.schedules.values()}


def _why(row: Row) -> str | None:
    """Why it was paused or ended; and how many jobs were not as they had been frozen, which a done one has said itself."""
    said = drift_sentence(row["drifted"], row["count"])
    why: str | None = row["why"]
    if said is None or row["state"] == RecoveryState.DONE:
        return why
    return said if why is None else f"{why.rstrip('.')}. {said}"


def _person(identifier: str | None, name: str | None) -> Mapping[str, object] | None:
    return None if identifier is None else {"id": identifier, "name": name or identifier}
