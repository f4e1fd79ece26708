"""Owns joining a transaction that the application opened on its own connection: bound to a tenant for as long as it is used,
and given back as it was. Commits nothing.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from psycopg import AsyncConnection
from psycopg.pq import TransactionStatus

from jobservice.store import session
from jobservice.store.database import Transaction


@asynccontextmanager
async def joined(connection: Any, tenant: str, what: str) -> AsyncIterator[Transaction]:
    """The open transaction of `connection`, a psycopg `AsyncConnection`, as one of the tenant; `what` joins it, in a word.

    TypeError or RuntimeError where the connection is none or has no transaction to join.
    """
    transaction = Transaction(_open(connection, what), tenant)
    before = await session.set_tenant(transaction)
    try:
        yield transaction
    finally:
        # An aborted transaction takes no statement: what the application had set before ends with it.
        if before != tenant and transaction.connection.info.transaction_status is TransactionStatus.INTRANS:
            await session.set_tenant(Transaction(transaction.connection, before))


def _open(connection: Any, what: str) -> AsyncConnection[Any]:
    """The connection, where it has a transaction that can be joined."""
    if not isinstance(connection, AsyncConnection):
        raise TypeError(f"{what} wants a psycopg AsyncConnection, not {type(connection).__name__}")
    status = connection.info.transaction_status
    if status is TransactionStatus.INERROR:
        raise RuntimeError(f"the transaction has failed already; roll it back before {what}")
    if connection.autocommit and status is not TransactionStatus.INTRANS:
        raise RuntimeError(
            f"open a transaction first (async with connection.transaction()): {what} commits nothing itself"
        )
    return connection
