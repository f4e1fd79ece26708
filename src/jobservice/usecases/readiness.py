"""Owns whether a process can serve just now: the database answers, and its schema is the one that the code needs."""

from __future__ import annotations

from jobcontract.errors import ErrorCode, Refusal
from jobservice.store import deployment
from jobservice.store.database import Database


async def check_ready(database: Database, needed: str, *, seconds: float) -> None:
    """Return where all is well; Refusal DATABASE_AWAY says what is not. `needed` is the code's own schema version."""
    async with database.transaction(None, statement_seconds=seconds) as transaction:
        reached = await deployment.version(transaction)
    if reached != needed:
        raise Refusal(
            ErrorCode.DATABASE_AWAY,
            f"The database's schema is {reached or 'empty'}, this service needs {needed}. Run `jobservice migrate`.",
        )
