"""Owns how a transaction begins and ends on a connection: bound to its tenant, its longest statement and its way of planning in
one trip; committed, or rolled back on any exception. Never opens a connection, and never says to anybody what went wrong.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from functools import lru_cache

import psycopg
from psycopg import AsyncConnection, sql
from psycopg.rows import DictRow

from jobservice.store.patience import PatientConnection

ANSWER_SECONDS = 5.0
"""How much longer than a statement may take its answer may take: then the connection is dead, whatever its socket says.
The whole of that for what is no statement: a beginning, a rollback."""

_BEGIN = (
    "begin; select set_config('jobs.tenant', {tenant}, true), set_config('statement_timeout', {longest}, true) as longest,"
    " set_config('plan_cache_mode', {plans}, true) as plans"
)
_NOW = ", jobs.now() as now"
_IDLE = ", set_config('idle_in_transaction_session_timeout', {idle}, true) as idle"
_BY_INDEX = ", set_config('enable_seqscan', 'off', true) as by_index"


@lru_cache(maxsize=4_096)
def beginning(
    tenant: str | None, statement_seconds: float, idle_seconds: float | None, *, planned_once: bool, by_index: bool
) -> bytes:
    """Begin, and bind the transaction to its tenant, its longest statement and its way of planning, in one trip. Several
    statements in one text take no parameters: the values stand in it as literals."""
    text = _BEGIN + ("" if tenant is None else _NOW) + ("" if idle_seconds is None else _IDLE)
    text += _BY_INDEX if by_index else ""
    composed = sql.SQL(text).format(
        tenant=sql.Literal(tenant or ""),
        longest=sql.Literal(f"{int(statement_seconds * 1000)}ms"),
        plans=sql.Literal("force_generic_plan" if planned_once else "force_custom_plan"),
        idle=sql.Literal(f"{int((idle_seconds or 0) * 1000)}ms"),
    )
    return composed.as_bytes()


async def begin(connection: AsyncConnection[DictRow], text: bytes) -> datetime | None:
    """Run the beginning; the clock, where the transaction has a tenant."""
    cursor = await connection.execute(text, prepare=False)
    cursor.nextset()
    row = await cursor.fetchone()
    return None if row is None else row.get("now")


@asynccontextmanager
async def ending(connection: PatientConnection) -> AsyncIterator[None]:
    """Commit at the end, roll back on any exception; a connection that broke has nothing left to roll back."""
    try:
        yield
    except BaseException:  # whatever ends the block, a cancellation too
        connection.patience = ANSWER_SECONDS
        with suppress(psycopg.OperationalError):
            await connection.rollback()
        raise
    await connection.commit()
