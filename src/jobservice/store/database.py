"""Owns the pool and the transaction: one tenant a transaction, set where row security reads it (MONEY.md 29).

Only `usecases/` (and the duties' units of work) open transactions here. Never decides anything.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from datetime import datetime
from typing import Any

import psycopg
import structlog
from psycopg import AsyncConnection, sql
from psycopg.rows import DictRow, dict_row
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from jobcontract.errors import ErrorCode, Refusal
from jobservice.store.statements import statement

_log = structlog.get_logger("jobservice.store")

Row = Mapping[str, Any]
"""One row by column name; the store's functions turn it into values before anyone else sees it."""

RECONNECT_SECONDS = 3.0
"""How long the pool tries by itself to make a lost connection anew, pausing longer each time; then the next request
tries at once, so that what waits for a server is not asleep when it comes back."""
CONNECT_TIMEOUT = 5.0
"""Seconds to wait for a connection before the database counts as away."""
GAVE_WAY = (
    psycopg.errors.DeadlockDetected,
    psycopg.errors.SerializationFailure,
    psycopg.errors.LockNotAvailable,
)
"""The server ended one of several transactions that wanted the same rows; a repetition may succeed at once."""

_BEGIN = (
    "begin; select set_config('jobs.tenant', {tenant}, true), set_config('statement_timeout', {longest}, true) as longest,"
    " set_config('plan_cache_mode', {plans}, true) as plans"
)
_BEGIN_TENANT = _BEGIN + ", jobs.now() as now"

OLDEST_SERVER = 150_000
"""`server_version_num` of PostgreSQL 15."""


def server_too_old(server_version: int) -> str | None:
    """A sentence where `server_version` (like 140012) is below PostgreSQL 15, else None."""
    if server_version >= OLDEST_SERVER:
        return None
    return f"This is PostgreSQL {server_version // 10_000}; the service needs 15 or newer. Name another server."


def reason(error: BaseException) -> str:
    """The first line of what PostgreSQL or the driver said; it names host, role and database, never a password."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


class Transaction:
    """One open transaction: runs named statements. `tenant` is None for bookkeeping across tenants."""

    def __init__(self, connection: AsyncConnection[Any], tenant: str | None, began_at: datetime | None = None) -> None:
        self.connection = connection
        self.tenant = tenant
        self._began_at = began_at

    @property
    def began_at(self) -> datetime:
        """The database's clock when the transaction of a tenant began, UTC: for looking, never for acting (an act reads
        the clock after it has its locks). RuntimeError where it has no tenant."""
        if self._began_at is None:
            raise RuntimeError("only the transaction of a tenant knows when it began")
        return self._began_at

    async def rows(self, name: str, /, **parameters: object) -> list[DictRow]:
        """All rows of statement `name`."""
        async with self.connection.cursor(row_factory=dict_row) as cursor:
            await cursor.execute(statement(name), {"tenant": self.tenant, **parameters})
            return await cursor.fetchall()

    async def row(self, name: str, /, **parameters: object) -> DictRow | None:
        """The first row of statement `name`, or None."""
        async with self.connection.cursor(row_factory=dict_row) as cursor:
            await cursor.execute(statement(name), {"tenant": self.tenant, **parameters})
            return await cursor.fetchone()

    async def run(self, name: str, /, **parameters: object) -> int:
        """Run statement `name`; how many rows it touched."""
        async with self.connection.cursor() as cursor:
            await cursor.execute(statement(name), {"tenant": self.tenant, **parameters})
            return cursor.rowcount


class Database:
    """A pool of connections under one role. Open with `Database.open`, close with `close`."""

    def __init__(
        self, pool: AsyncConnectionPool[AsyncConnection[DictRow]], url: str, name: str, wait_seconds: float
    ) -> None:
        self._pool = pool
        self._url = url
        self._name = name
        self._wait_seconds = wait_seconds
        self._said: tuple[str | None, str] | None = None

    @classmethod
    async def open(cls, url: str, *, name: str, most: int = 10, wait_seconds: float = CONNECT_TIMEOUT) -> Database:
        """Connect to `url` as process `name` with at most `most` connections; does not wait for the first.

        A transaction waits up to `wait_seconds` for a connection before the database counts as away.
        """
        pool: AsyncConnectionPool[AsyncConnection[DictRow]] = AsyncConnectionPool(
            url,
            min_size=1,
            max_size=most,
            timeout=wait_seconds,
            reconnect_timeout=RECONNECT_SECONDS,
            open=False,
            kwargs={"row_factory": dict_row, "autocommit": True, "prepare_threshold": 3, **_options(name)},
            name=name,
        )
        await pool.open(wait=False)
        return cls(pool, url, name, wait_seconds)

    async def close(self) -> None:
        """Give every connection back to the server."""
        await self._pool.close()

    def figures(self) -> Mapping[str, int]:
        """The pool's own figures, by psycopg's names (`pool_size`, `pool_available`, `requests_waiting` ...)."""
        return self._pool.get_stats()

    async def connect(self) -> AsyncConnection[DictRow]:
        """A connection outside the pool, in autocommit, for one who listens for long; psycopg.OperationalError."""
        return await AsyncConnection[DictRow].connect(
            self._url, row_factory=dict_row, autocommit=True, **_options(self._name)
        )

    @asynccontextmanager
    async def transaction(
        self, tenant: str | None, *, statement_seconds: float = 10.0, planned_once: bool = False
    ) -> AsyncIterator[Transaction]:
        """One READ COMMITTED transaction of `tenant`: commits at the end, rolls back on any exception.

        `planned_once`: its statements find what they want whatever their values are, so their plans are kept; planning
        costs more than running them.

        Refusal DATABASE_AWAY where the server cannot be reached or the connection broke on the way (then it is not
        known whether a commit arrived: the caller's idempotency key finds out), TIMED_OUT past `statement_seconds` or
        where it gave way to another transaction. Whatever else the server refuses (a full disk, a limit of its own)
        is raised as psycopg raised it.
        """
        connection = None
        try:
            async with AsyncExitStack() as stack:
                connection, began_at = await self._begin(
                    stack, _begin(tenant, statement_seconds, planned_once=planned_once)
                )
                self._is_there()
                yield Transaction(connection, tenant, began_at)
        except PoolTimeout as away:
            raise self._away(None, f"no connection within {self._wait_seconds:g} s") from away
        except psycopg.errors.QueryCanceled as slow:
            raise Refusal(
                ErrorCode.TIMED_OUT, f"The database took longer than {statement_seconds:g} s. Nothing was done."
            ) from slow
        except GAVE_WAY as busy:
            _log.warning("database-gave-way", sqlstate=busy.sqlstate, reason=reason(busy))
            raise Refusal(
                ErrorCode.TIMED_OUT, "Others worked on the same at the same time. Nothing was done. Try again."
            ) from busy
        except psycopg.OperationalError as broken:
            if not _ended(broken, connection):
                raise
            raise self._away(broken.sqlstate, reason(broken)) from broken

    async def _begin(
        self, stack: AsyncExitStack, begin: sql.Composed
    ) -> tuple[AsyncConnection[DictRow], datetime | None]:
        """A connection in a transaction that is bound to its tenant, and the clock; `stack` ends it and gives it back.

        A connection that died while it was idle is found by its first statement, at once: the pool makes a new one for
        it, and the next is tried. After a restart all idle ones are dead, so each is met once. (The pool's own check
        pauses a second, then two, for each dead one that a request happens to draw, and times out while the server is
        well; its `check()` swallows a cancellation.)
        """
        deadline = time.monotonic() + self._wait_seconds
        while True:
            connection = await self._connection(deadline - time.monotonic())
            try:
                began_at = await _begin_bound(connection, begin)
            except BaseException as error:  # a cancelled BEGIN leaves a connection that nobody could use
                died = isinstance(error, psycopg.OperationalError) and _ended(error, connection)
                await connection.close()
                await self._pool.putconn(connection)
                if not died:
                    raise
                continue
            stack.push_async_callback(self._pool.putconn, connection)
            await stack.enter_async_context(_ending(connection))
            return connection, began_at

    async def _connection(self, seconds: float) -> AsyncConnection[DictRow]:
        """A connection of the pool; PoolTimeout after so long.

        A cancellation that comes together with the connection is lost on the way: the pool waits with
        `asyncio.wait_for`, which in Python 3.11 returns what came. Whoever cancelled would wait for a task that goes on.
        """
        task = asyncio.current_task()
        before = task.cancelling() if task is not None else 0
        connection = await self._pool.getconn(timeout=seconds)
        if task is not None and task.cancelling() > before:
            await self._pool.putconn(connection)
            raise asyncio.CancelledError
        return connection

    def _away(self, sqlstate: str | None, why: str) -> Refusal:
        """The refusal; why is logged once, until it is another reason or the database is there again."""
        if self._said != (sqlstate, why):
            self._said = (sqlstate, why)
            _log.warning("database-away", pool=self._name, sqlstate=sqlstate, reason=why)
        return Refusal(ErrorCode.DATABASE_AWAY, "The database cannot be reached just now. Try again in a few seconds.")

    def _is_there(self) -> None:
        if self._said is not None:
            self._said = None
            _log.info("database-there-again", pool=self._name)


def _begin(tenant: str | None, statement_seconds: float, *, planned_once: bool) -> sql.Composed:
    """Begin, and bind the transaction to its tenant, its longest statement and its way of planning, in one trip. Several
    statements in one text take no parameters: the values stand in it as literals."""
    return sql.SQL(_BEGIN if tenant is None else _BEGIN_TENANT).format(
        tenant=sql.Literal(tenant or ""),
        longest=sql.Literal(f"{int(statement_seconds * 1000)}ms"),
        plans=sql.Literal("force_generic_plan" if planned_once else "force_custom_plan"),
    )


async def _begin_bound(connection: AsyncConnection[DictRow], begin: sql.Composed) -> datetime | None:
    """Run the beginning; the clock, where the transaction has a tenant."""
    cursor = await connection.execute(begin, prepare=False)
    cursor.nextset()
    row = await cursor.fetchone()
    return None if row is None else row.get("now")


@asynccontextmanager
async def _ending(connection: AsyncConnection[DictRow]) -> AsyncIterator[None]:
    """Commit at the end, roll back on any exception; a connection that broke has nothing left to roll back."""
    try:
        yield
    except BaseException:  # whatever ends the block, a cancellation too
        with suppress(psycopg.OperationalError):
            await connection.rollback()
        raise
    await connection.commit()


def _ended(error: psycopg.OperationalError, connection: AsyncConnection[Any] | None) -> bool:
    """Whether `error` says that the connection or the server went away, and not that the server refused a statement.

    By SQLSTATE (PostgreSQL, appendix A): class 08, and 57P01 to 57P05: shut down, crashed, starting, database dropped,
    idle for too long. The driver's own errors have none: then the connection tells, or that there is none.
    """
    if error.sqlstate is not None:
        return error.sqlstate.startswith(("08", "57P0"))
    return connection is None or connection.closed


def _options(name: str) -> dict[str, Any]:
    # A plan that knows no values (taken after five runs) guesses that reach leaves few rows, and sorts a whole queue
    # for each page: every run is planned for its values.
    options = "-c timezone=UTC -c plan_cache_mode=force_custom_plan"
    return {"application_name": name, "options": options, "connect_timeout": 5}
