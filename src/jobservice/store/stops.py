"""Owns the statements of stops: what of a tenant is held still, by whom, since when and why. Decides nothing.

A row is made and deleted, never changed. Making one waits for whatever has read that there is none (migration 0005).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from jobcontract.operating import StopScope
from jobservice.rules.stops import InForce
from jobservice.store.database import Transaction


async def listed(transaction: Transaction) -> tuple[InForce, ...]:
    """Every stop of the tenant, the latest first."""
    return tuple(read(row) for row in await transaction.rows("stops/listed"))


async def in_force(
    transaction: Transaction, *, queue: str | None = None, command: str | None = None
) -> tuple[InForce | None, datetime]:
    """The widest stop that holds the queue, the bulk command or all work still, and the database's clock."""
    row = await transaction.row("stops/in_force", queue=queue, command=command)
    assert row is not None  # noqa: S101  # it selects from one row
    return (None if row["stop"] is None else read(row["stop"])), row["now"]


async def find(transaction: Transaction, scope: StopScope, name: str) -> InForce | None:
    """One stop; None where it is not in force."""
    row = await transaction.row("stops/find", scope=scope.value, name=name)
    return None if row is None else read(row)


async def add(transaction: Transaction, scope: StopScope, name: str, *, by: str, reason: str) -> bool:
    """Hold something still; False where it is already. Whoever works on it now is waited for."""
    return await transaction.run("stops/add", scope=scope.value, name=name, by=by, reason=reason) > 0


async def lift(transaction: Transaction, found: InForce) -> bool:
    """Let it go on; False where that stop is not in force any more."""
    written = await transaction.run("stops/lift", scope=found.scope.value, name=found.name, by=found.by, at=found.at)
    return written > 0


def read(row: Mapping[str, Any]) -> InForce:
    """A stop from a row, or from its JSON."""
    at = row["at"]
    return InForce(
        scope=StopScope(row["scope"]),
        name=row["name"],
        at=datetime.fromisoformat(at) if isinstance(at, str) else at,
        by=row["by"],
        by_name=row["by_name"],
        reason=row["reason"],
        version=row["version"],
    )
