"""Owns the statements of plans: locking one, reading it, ending it. What is in one: `plan_rows.py`. Decides nothing.

The digest and the salt of a plan stay on this floor and the ones above it: no answer carries them (MONEY.md 9).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from jobcontract.states import PlanState
from jobservice.store.database import Row, Transaction
from jobservice.store.items import EXPONENTS_JSON, readable


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedPlan:
    """A plan's row, locked until the transaction ends. Its columns: migration 0003."""

    id: str
    name: str
    command: str
    queue: str
    use_case: str
    use_case_version: int
    parameters: Mapping[str, Any]
    filter: str | None
    owner: str
    approved_by: str | None
    state: PlanState
    """As it is written: see `standing`."""
    edition: int
    salt: bytes
    digest: bytes
    totals: Sequence[Mapping[str, Any]]
    """One a currency, by its code: as `jobcontract.plans.PlanTotal`."""
    count: int
    frozen_at: datetime
    valid_until: datetime
    confirmed_at: datetime | None
    armed_until: datetime | None
    apply_until: datetime | None
    started_at: datetime | None
    version: int

    def standing(self, now: datetime) -> PlanState:
        """Where it stands at `now`: an open plan has expired at its very end, whoever has written so or not."""
        if self.state is PlanState.OPEN and self.valid_until <= now:
            return PlanState.EXPIRED
        return self.state


async def lock(transaction: Transaction, plan: str, *, owner: str | None = None) -> LockedPlan | None:
    """Lock a plan of the transaction's tenant, waiting for whoever has it; None where there is none.

    `owner`: of that person alone, for somebody who sees no others.
    """
    if not readable(plan):
        return None
    row = await transaction.row("plans/lock", plan=plan, owner=owner)
    if row is None:
        return None
    return LockedPlan(
        **{**row, "state": PlanState(row["state"]), "salt": bytes(row["salt"]), "digest": bytes(row["digest"])}
    )


async def shown(transaction: Transaction, plans: Sequence[str], *, owner: str | None = None) -> list[Row]:
    """Plans as they go over the wire, in that order; those that there are not, or not of `owner`, are left out."""
    ids = [plan for plan in plans if readable(plan)]
    return list(await transaction.rows("plans/shown", plans=ids, owner=owner, exponents=EXPONENTS_JSON))


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPlan:
    """A plan to add. Its rows, and with them everything that is frozen, follow in the same transaction."""

    command: str
    queue: str
    use_case: str
    use_case_version: int
    filter: str | None
    owner: str
    salt: bytes


async def lock_owner(transaction: Transaction, owner: str) -> None:
    """Wait until no other transaction counts this person's open plans in this tenant."""
    await transaction.row("plans/lock_owner", owner=owner)


async def open_names(transaction: Transaction, owner: str) -> list[str]:
    """The names of a person's open plans, newest first; expired ones are none."""
    return [row["name"] for row in await transaction.rows("plans/open_names", owner=owner)]


async def add(transaction: Transaction, new: NewPlan, name: str) -> str | None:
    """Add a plan under that name; its id, or None where the name was taken."""
    row = await transaction.row("plans/add", name=name, **asdict(new))
    return None if row is None else str(row["id"])


async def recent(transaction: Transaction, *, owner: str | None, live: bool, most: int) -> list[str]:
    """Ids of at most so many plans, live ones first, newest first; of `owner` alone, live ones alone."""
    return [row["id"] for row in await transaction.rows("plans/recent", owner=owner, live=live, most=most)]


async def end(
    transaction: Transaction, plan: LockedPlan, state: PlanState, *, by: str | None, reason: str
) -> int | None:
    """Write how an open plan ended; its version, or None where it is not open any more."""
    row = await transaction.row("plans/end", plan=plan.id, state=state.value, by=by, reason=reason)
    return None if row is None else int(row["version"])


async def touch(transaction: Transaction, plan: str) -> int:
    """Count a change of a plan that is none of its rows; its version."""
    row = await transaction.row("plans/touch", plan=plan)
    return 0 if row is None else int(row["version"])


async def keep_in(transaction: Transaction, plan: str, warning: str, *, reason: str) -> Row | None:
    """Keep the answer to a warning: its `item` and `kind`; None where the plan has no such warning."""
    if not readable(warning):
        return None
    return await transaction.row("plans/keep_in", plan=plan, warning=warning, reason=reason)
