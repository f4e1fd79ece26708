"""Owns how a plan goes over the wire, and who may see it. Looking is not audited.

Whoever may read plans sees all of their tenant; a person narrowed to customers or workspaces only their own, for
another's would show items out of their reach (MONEY.md 23).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.plans import Plan
from jobcontract.states import ConfirmMethod, Exclusion, Moves, Turn
from jobservice.store import items as item_store
from jobservice.store import plans as store
from jobservice.store.database import Row, Transaction
from jobservice.store.plans import LockedPlan
from jobservice.usecases.actor import Actor
from jobservice.usecases.service import Service

_TURNS = {turn.value: place for place, turn in enumerate(Turn)}
_EXCLUSIONS = {reason.value: place for place, reason in enumerate(Exclusion)}


def own_alone(actor: Actor) -> str | None:
    """Of whom alone the actor sees plans; None = of everybody in the tenant."""
    return None if actor.customers is None and actor.workspaces is None else actor.person


def not_found(plan: str) -> Refusal:
    """The one answer for unknown and foreign plans, and those that the person may not see."""
    return Refusal(ErrorCode.NOT_FOUND, f"There is no plan {plan[:80]!r} that you may see.")


async def locked(transaction: Transaction, actor: Actor, plan: str) -> tuple[LockedPlan, datetime]:
    """Lock a plan that the actor may see, then read the clock. Refusal NOT_FOUND."""
    found = await store.lock(transaction, plan, owner=own_alone(actor))
    if found is None:
        raise not_found(plan)
    return found, await item_store.now(transaction)


async def shown(transaction: Transaction, service: Service, actor: Actor, plan: str) -> dict[str, Any]:
    """A plan as JSON (`jobcontract.plans.Plan`). Refusal NOT_FOUND."""
    rows = await store.shown(transaction, [plan], owner=own_alone(actor))
    if not rows:
        raise not_found(plan)
    return wire(service, rows[0]).model_dump(mode="json")


def wire(service: Service, row: Row) -> Plan:
    """A row of `store.plans.shown` as it goes over the wire."""
    return Plan.model_validate(
        {
            **_recorded(service, row),
            **row,
            "owner": _person(row["owner"], row["owner_name"]),
            "approved_by": _person(row["approved_by"], row["approved_by_name"]),
            "ended_by": _person(row["ended_by"], row["ended_by_name"]),
            "excluded": sorted(row["excluded"], key=lambda each: _EXCLUSIONS[each["reason"]]),
            "account": sorted(row["account"], key=lambda each: _TURNS[each["turn"]]),
        }
    )


def _recorded(service: Service, row: Row) -> Mapping[str, object]:
    """What the records say of the plan's command; of one that is no record any more, the strictest that may be."""
    command = service.records.bulk.get(row["command"])
    use_case = service.records.use_cases.get(row["use_case"])
    return {
        "title": row["command"] if command is None else command.title,
        "use_case_title": row["use_case"] if use_case is None else use_case.title,
        "moves": Moves.MONEY if use_case is None else use_case.moves,
        "confirm_by": ConfirmMethod.TOTP if command is None else command.confirm_by,
    }


def _person(identifier: str | None, name: str | None) -> Mapping[str, object] | None:
    return None if identifier is None else {"id": identifier, "name": name or identifier}
