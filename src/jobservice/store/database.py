"""Owns the pool and the transaction: one tenant a transaction, set where row security reads it (MONEY.md 29), and the
limits in time that no statement, connection or idle transaction passes.

Only `usecases/` (and the duties' units of work) open transactions here. Never decides anything.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime
from typing import Any
from weakref import WeakSet

import psycopg
import structlog
from psycopg import AsyncConnection
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import TransactionStatus
from psycopg.rows import DictRow, dict_row
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from jobcontract.errors import ErrorCode, Refusal
from jobservice.store.beginning import ANSWER_SECONDS, begin, beginning, ending
from jobservice.store.patience import PatientConnection, hang_up
from jobservice.store.statements import statement

_log = structlog.get_logger("jobservice.store")

Row = Mapping[str, Any]
"""One row by column name; the store's functions turn it into values before anyone else sees it."""

RECONNECT_SECONDS = 3.0
"""How long the pool tries by itself to make a lost connection anew, pausing longer each time; then the next request
tries at once, so that what waits for a server is not asleep when it comes back."""
CONNECT_TIMEOUT = 5.0
"""Seconds to wait for a connection before the database counts as away."""
IDLE_SECONDS = 30.0
"""How long a transaction may stand with nothing to do, before the server ends it: a process that was frozen in the middle
of one keeps its locks no longer."""
_LINE: Mapping[str, str] = {
    "connect_timeout": "5",
    "keepalives": "1",
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "15000",
}
"""Of a TCP connection: the system itself looks whether the other side is there (seconds; milliseconds the last one)."""
GAVE_WAY = (psycopg.errors.DeadlockDetected, psycopg.errors.SerializationFailure, psycopg.errors.LockNotAvailable)
"""The server ended one of several transactions that wanted the same rows; a repetition may succeed at once."""

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

    prepare: bool | None = None
    """True: a statement is planned at its first run on a connection and never again; None: the driver decides."""

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
            await cursor.execute(statement(name), {"tenant": self.tenant, **parameters}, prepare=self.prepare)
            return await cursor.fetchall()

    async def together(self, asked: Sequence[tuple[str, Mapping[str, object]]]) -> list[list[DictRow]]:
        """All rows of each of several statements with their parameters, sent at once: one trip for all of them. None of
        them may need what another of them answers."""
        cursors = [self.connection.cursor(row_factory=dict_row) for _ in asked]
        async with self.connection.pipeline():
            for cursor, (name, parameters) in zip(cursors, asked, strict=True):
                await cursor.execute(statement(name), {"tenant": self.tenant, **parameters}, prepare=self.prepare)
        return [await cursor.fetchall() for cursor in cursors]

    async def row(self, name: str, /, **parameters: object) -> DictRow | None:
        """The first row of statement `name`, or None."""
        async with self.connection.cursor(row_factory=dict_row) as cursor:
            await cursor.execute(statement(name), {"tenant": self.tenant, **parameters}, prepare=self.prepare)
            return await cursor.fetchone()

    async def run(self, name: str, /, **parameters: object) -> int:
        """Run statement `name`; how many rows it touched."""
        async with self.connection.cursor() as cursor:
            await cursor.execute(statement(name), {"tenant": self.tenant, **parameters}, prepare=self.prepare)
            return cursor.rowcount


class Database:
    """A pool of connections under one role. Open with `Database.open`, close with `close`."""

    def __init__(self, pool: AsyncConnectionPool[PatientConnection], url: str, name: str, wait_seconds: float) -> None:
        self._pool = pool
        self._url = url
        self._name = name
        self._wait_seconds = wait_seconds
        self._said: tuple[str | None, str] | None = None
        self._report: Callable[[str], None] | None = None
        self._given_up: WeakSet[AsyncConnection[Any]] = WeakSet()
        """Connections whose tasks did not let go of them, and that the pool has back already."""

    @classmethod
    async def open(
        cls,
        url: str,
        *,
        name: str,
        most: int = 10,
        wait_seconds: float = CONNECT_TIMEOUT,
        ready: Callable[[PatientConnection], Awaitable[None]] | None = None,
    ) -> Database:
        """Connect to `url` as process `name` with at most `most` connections; does not wait for the first.

        A transaction waits up to `wait_seconds` for a connection before the database counts as away. `ready`: what each
        new connection does before anybody has it; it raises nothing, and leaves no transaction open.
        """
        pool: AsyncConnectionPool[PatientConnection] = AsyncConnectionPool(
            url,
            connection_class=PatientConnection,
            min_size=1,
            max_size=most,
            timeout=wait_seconds,
            reconnect_timeout=RECONNECT_SECONDS,
            open=False,
            configure=ready,
            kwargs={"row_factory": dict_row, "autocommit": True, "prepare_threshold": 3, **_options(url, name)},
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

    def report_to(self, report: Callable[[str], None] | None) -> None:
        """Who is told why, each time that the database was found away, in place of the log; None = the log."""
        self._report = report

    async def renew(self) -> None:
        """Make every connection of the pool anew, those in use when they come back: after an outage the old ones may be
        dead without knowing it."""
        await self._pool.drain()

    async def connect(self, *, patience: float | None = None) -> PatientConnection:
        """A connection outside the pool, in autocommit, for one who listens for long; psycopg.OperationalError.

        Nothing on it waits longer than `patience` seconds; None = as long as it takes.
        """
        connection = await PatientConnection.connect(
            self._url, row_factory=dict_row, autocommit=True, **_options(self._url, self._name)
        )
        connection.patience = patience
        return connection

    @asynccontextmanager
    async def transaction(
        self,
        tenant: str | None,
        *,
        statement_seconds: float = 10.0,
        planned_once: bool = False,
        by_index: bool = False,
        idle_seconds: float | None = None,
    ) -> AsyncIterator[Transaction]:
        """One READ COMMITTED transaction of `tenant`: commits at the end, rolls back on any exception.

        `planned_once`: its statements find what they want whatever their values are, so their plans are kept; planning
        costs more than running them. `by_index`: the same, and no plan reads a whole table, whatever the statistics said
        when it was made: for rows that come and go by the thousand. `idle_seconds`: how long it may stand between two statements (None: 30).

        Refusal DATABASE_AWAY where the server cannot be reached or the connection broke on the way (then it is not
        known whether a commit arrived: the caller's idempotency key finds out), TIMED_OUT past `statement_seconds` or
        `idle_seconds`, where it gave way to another transaction, or where the server has no room for notifications.
        Whatever else the server refuses (a full disk, a limit of its own) is raised as psycopg raised it.
        """
        connection = None
        try:
            async with AsyncExitStack() as stack:
                kept = planned_once or by_index
                begin_text = beginning(tenant, statement_seconds, idle_seconds, planned_once=kept, by_index=by_index)
                connection, began_at = await self._begin(stack, begin_text)
                connection.patience = statement_seconds + ANSWER_SECONDS
                self._is_there()
                transaction = Transaction(connection, tenant, began_at)
                transaction.prepare = kept or None
                yield transaction
        except psycopg.Error as error:
            if connection in self._given_up:
                raise
            refusal = self._refusal(error, connection, statement_seconds)
            if refusal is None:
                raise
            raise refusal from error

    def _refusal(
        self, error: psycopg.Error, connection: AsyncConnection[Any] | None, statement_seconds: float
    ) -> Refusal | None:
        """What the caller is told in place of the driver's error; None where there is no better word than its own."""
        if isinstance(error, PoolTimeout):
            return self._away(None, f"no connection within {self._wait_seconds:g} s")
        if isinstance(error, psycopg.errors.QueryCanceled):
            return _timed_out(f"The database took longer than {statement_seconds:g} s. Nothing was done.")
        if isinstance(error, psycopg.errors.IdleInTransactionSessionTimeout):
            _log.warning("database-ended-idle", sqlstate=error.sqlstate, reason=reason(error))
            return _timed_out("It stood still for too long in the middle of a transaction. Nothing was done.")
        if isinstance(error, GAVE_WAY):
            _log.warning("database-gave-way", sqlstate=error.sqlstate, reason=reason(error))
            return _timed_out("Others worked on the same at the same time. Nothing was done. Try again.")
        if notifications_full(error):
            _log.error("database-notifications-full", alarm=True, sqlstate=error.sqlstate, reason=reason(error))
            return _timed_out("The database has no room for notifications just now. Nothing was done. Try again later.")
        if isinstance(error, psycopg.OperationalError) and _ended(error, connection):
            return self._away(error.sqlstate, reason(error))
        return None

    async def _begin(self, stack: AsyncExitStack, text: bytes) -> tuple[PatientConnection, datetime | None]:
        """A connection in a transaction that is bound to its tenant, and the clock; `stack` ends it and gives it back.

        A connection that died while it was idle is found by its first statement, at once: the pool makes a new one for
        it, and the next is tried. After a restart all idle ones are dead, so each is met once. (The pool's own check
        pauses a second, then two, for each dead one that a request happens to draw, and times out while the server is
        well; its `check()` swallows a cancellation.)
        """
        deadline = time.monotonic() + self._wait_seconds
        while True:
            connection = await self._connection(deadline - time.monotonic())
            connection.patience = ANSWER_SECONDS
            try:
                began_at = await begin(connection, text)
            except BaseException as error:  # a cancelled BEGIN leaves a connection that nobody could use
                died = isinstance(error, psycopg.OperationalError) and _ended(error, connection)
                await connection.close()
                await self._pool.putconn(connection)
                if not died:
                    raise
                continue
            stack.push_async_callback(self._put_back, connection)
            await stack.enter_async_context(ending(connection))
            return connection, began_at

    async def _connection(self, seconds: float) -> PatientConnection:
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

    async def give_up(self, connection: AsyncConnection[Any]) -> None:
        """End the connection of a transaction whose task does not let go of it: nothing of it is ever committed, the server
        frees its locks, and the pool makes another connection in its place.

        The socket ends first: a task that waits on it wakes with an error. Closed under that task, its number could be
        another connection's while the loop still watches it.
        """
        assert isinstance(connection, PatientConnection)  # noqa: S101  # the pool makes no others
        self._given_up.add(connection)
        hang_up(connection)
        for _ in range(10):
            if connection.pgconn.transaction_status != TransactionStatus.ACTIVE:
                await connection.close()
                break
            await asyncio.sleep(0.01)
        await self._pool.putconn(connection)

    async def _put_back(self, connection: PatientConnection) -> None:
        """Give a connection back to the pool, once."""
        if connection not in self._given_up:
            await self._pool.putconn(connection)

    def _away(self, sqlstate: str | None, why: str) -> Refusal:
        """The refusal; why is told to who wants to know each time, or else logged once, until it is another reason or
        the database is there again."""
        if self._report is not None:
            self._report(why)
        elif self._said != (sqlstate, why):
            self._said = (sqlstate, why)
            _log.warning("database-away", pool=self._name, sqlstate=sqlstate, reason=why)
        return Refusal(ErrorCode.DATABASE_AWAY, "The database cannot be reached just now. Try again in a few seconds.")

    def _is_there(self) -> None:
        if self._said is not None:
            self._said = None
            _log.info("database-there-again", pool=self._name)


def notifications_full(error: psycopg.Error) -> bool:
    """Whether a commit failed because the server's queue of notifications is full: no fault of what was to be committed.

    The code (54000) is that of other limits too, and the message is in the server's language: the place tells.
    """
    return isinstance(error, psycopg.errors.ProgramLimitExceeded) and error.diag.source_file == "async.c"


def _timed_out(sentence: str) -> Refusal:
    return Refusal(ErrorCode.TIMED_OUT, sentence)


def _ended(error: psycopg.OperationalError, connection: AsyncConnection[Any] | None) -> bool:
    """Whether `error` says that the connection or the server went away, and not that the server refused a statement.

    By SQLSTATE (PostgreSQL, appendix A): class 08, and 57P01 to 57P05: shut down, crashed, starting, database dropped,
    idle for too long. The driver's own errors have none: then the connection tells, or that there is none.
    """
    if error.sqlstate is not None:
        return error.sqlstate.startswith(("08", "57P0"))
    return connection is None or connection.closed


def _options(url: str, name: str) -> dict[str, Any]:
    # A plan that knows no values (taken after five runs) guesses that reach leaves few rows, and sorts a whole queue
    # for each page: every run is planned for its values.
    settings = {
        "timezone": "UTC",
        "plan_cache_mode": "force_custom_plan",
        "idle_in_transaction_session_timeout": f"{int(IDLE_SECONDS * 1000)}",
    }
    options = " ".join(f"-c {setting}={value}" for setting, value in settings.items())
    said = conninfo_to_dict(url)
    line = {word: value for word, value in _LINE.items() if word not in said}
    return {"application_name": name, "options": options, **line}
