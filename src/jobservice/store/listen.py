"""Owns the one connection that listens for notifications. Never reads a row of the tables: a notification only says
where to look."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from psycopg import AsyncConnection
from psycopg.rows import DictRow

from jobservice.store.database import Database
from jobservice.store.statements import statement


class Listening:
    """A connection that listens on `jobs_hints`; `identity` says of which database."""

    def __init__(self, connection: AsyncConnection[DictRow], identity: str) -> None:
        self._connection = connection
        self.identity = identity

    async def tenants(self, seconds: float) -> AsyncIterator[str]:
        """Tenants that were notified of, as they come, for `seconds`; then makes sure that the connection lives.

        psycopg.OperationalError where it broke.
        """
        async for notification in self._connection.notifies(timeout=seconds):
            yield notification.payload
        await self._connection.execute(statement("hints/alive"))


@asynccontextmanager
async def listening(database: Database) -> AsyncIterator[Listening]:
    """Listen for the length of the block; psycopg.Error where the database is away."""
    connection = await database.connect()
    try:
        await connection.execute(statement("hints/listen"))
        found = await (await connection.execute(statement("hints/database_identity"))).fetchone()
        yield Listening(connection, "" if found is None else str(found["identity"]))
    finally:
        await connection.close()
