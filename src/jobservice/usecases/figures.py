"""Owns reading what Workers counted over all tenants: parked schedules, late occurrences, dead letters. Counts nothing."""

from __future__ import annotations

from collections.abc import Mapping

from jobservice.store import planning
from jobservice.store.database import Database


async def counted_figures(database: Database, *, seconds: float) -> Mapping[str, int]:
    """The figures by name, as a Worker counted them last; empty where none did. Refusal DATABASE_AWAY."""
    async with database.transaction(None, statement_seconds=seconds) as transaction:
        return await planning.figures(transaction)
