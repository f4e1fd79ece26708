"""Owns the one connection that listens for notifications. Never reads a row: a notification only says where to look."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from psycopg import AsyncConnection

from jobservice.store.database import Database
from jobservice.store.statements import statement


class Listening:
    """A connection that listens on `jobs_hints`."""

    def __init__(self, connection: AsyncConnection[Any]) -> None:
        self._connection = connection

    async def tenants(self, seconds: float) -> AsyncIterator[str]:
        """Tenants that were notified of, as they come, for `seconds`; then makes sure that the connection lives.

        psycopg.OperationalError where it broke.
        """
        async for notification in self._connection.notifies(timeout=seconds):
            yield notification.payload
        await self._connection.execute(statement("hints/alive"))


@asynccontextmanager
async def listening(database: Database) -> AsyncIterator[Listening]:
    """Listen for the length of the block; psycopg.OperationalError where the database is away."""
    connection = await database.connect()
    try:
        await connection.execute(statement("hints/listen"))
        yield Listening(connection)
    finally:
        await connection.close()
