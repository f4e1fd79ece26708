"""Owns the engine library: how it is set up, launched, told what to run, and ended. With `adapter_polling.py` and
`adapter_schema.py` the only code that knows it. Never knows what a job is.

The library keeps which workflows there are and who runs each; a workflow is one job, and its argument three ids. What a job
has done is the account's to say, in the same transaction as what it did: the library keeps no second account of steps.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import psycopg
import sqlalchemy as sa
from dbos import DBOS, DBOSConfig, DBOSPortableJSONSerializer, WorkflowSerializationFormat
from dbos import error as library_errors
from sqlalchemy import event

from jobcontract.errors import ErrorCode, Refusal
from jobservice.engine.adapter_polling import IDLE_SECONDS, Bell, Polling
from jobservice.engine.adapter_schema import SCHEMA, address
from jobservice.store.database import reason

APPLICATION = "jobs"
QUEUE = "jobs"
WORKFLOW = "carry"
VERSION = "interpreter-1"
"""Of the interpreter, by hand: kinds are versioned as data. `jobs.hand_over` (store/migrations) writes the same."""
POOL = 6
"""Connections of the library: it looks for work, and writes how workflows ended, on threads that are as many."""
END_SECONDS = 5.0
"""How long the library has to end."""
_CONNECTION: dict[str, Any] = {
    "application_name": "jobservice engine",
    "connect_timeout": 5,
    "options": "-c timezone=UTC -c idle_in_transaction_session_timeout=30000 -c statement_timeout=20000",
}
_LOST = ("connection is bad", "connection failed", "server closed the connection", "consuming input failed")
"""How the driver says, without an SQLSTATE, that a connection is no more: a socket's file that is not there, too."""

Carry = Callable[[str, str, str, str], Awaitable[None]]
"""`carry(family, job, tenant, handle)`: run a job to its end, or raise `Left`."""


class Left(Exception):
    """A run that ends here and goes on elsewhere, or later: its workflow stays as it is, and is resumed by who finds it."""


EngineError = (sa.exc.SQLAlchemyError, psycopg.Error, library_errors.DBOSException)
"""What the library raises where it or its database does not do what it was asked."""


@dataclass(slots=True, kw_only=True, eq=False)
class Engine:
    """The library in this process; one a process. `executor`: the Worker's incarnation. `at_once`: jobs that are taken
    while so many run."""

    url: str
    executor: str
    at_once: int
    carry: Carry
    bell: Bell = field(default_factory=Bell)
    running: set[str] = field(default_factory=set)
    """Handles of workflows that run here."""
    launched: bool = False
    _library: DBOS | None = None
    _polling: Polling | None = None
    _connections: sa.Engine | None = None
    _threads: ThreadPoolExecutor | None = None

    async def launch(self) -> None:
        """Launch, and begin to take jobs; what it runs, it runs in the loop that calls this. Raises EngineError where the
        database is away, or its tables are not there: then it is as if it had not been called."""
        self._threads = ThreadPoolExecutor(max_workers=POOL, thread_name_prefix="jobs-engine")
        try:
            await self._apart(self._launch)
        except BaseException:  # however launching ends, a cancellation too, no thread or pool is left behind
            await self._apart(self._destroy)
            raise
        assert self._library is not None  # noqa: S101  # _launch made it
        # Workflows run where the Worker's own work does: the watchdog sees a step that blocks, and one pool serves all.
        self._library._background_event_loop.set_main_loop()
        self.launched = True
        assert self._polling is not None  # noqa: S101  # likewise
        self._polling.start()

    def _launch(self) -> None:
        logging.getLogger("dbos").setLevel(logging.CRITICAL)  # what matters of it is logged here
        self._connections = _connections(self.url)
        config = DBOSConfig(
            name=APPLICATION,
            system_database_url=address(self.url).render_as_string(hide_password=False),
            system_database_engine=self._connections,
            dbos_system_schema=SCHEMA,
            application_version=VERSION,
            executor_id=self.executor,
            serializer=DBOSPortableJSONSerializer(),
            run_migrations=False,
            use_listen_notify=False,
            notification_listener_polling_interval_sec=0.5,
            scheduler_polling_interval_sec=3_600.0,
            max_executor_threads=POOL,
            log_level="CRITICAL",
            console_log_level="CRITICAL",
        )
        self._library = DBOS(config=config)
        DBOS.workflow(
            name=WORKFLOW, max_recovery_attempts=None, serialization_type=WorkflowSerializationFormat.PORTABLE
        )(self._workflow())
        DBOS.listen_queues([])
        DBOS.launch()
        # It waits for a lost database as long as a minute at a time, in a thread that nothing ends: we try again instead.
        self._library._sys_db._retry_connection_errors = False
        # Its own loops look every second for queues, schedules and delays, none of which there are.
        for loop in self._library.background_thread_stop_events:
            loop.set()
        self._library._background_jobs_stop_event.set()
        queue = DBOS.register_queue(
            QUEUE, worker_concurrency=self.at_once, polling_interval_sec=IDLE_SECONDS, on_conflict="always_update"
        )
        queue.database_backed_queue = False  # its numbers are this process's, not read again at each look
        self._polling = Polling(self._library, queue, self.bell)

    def _workflow(self) -> Callable[[str, str, str], Awaitable[None]]:
        async def carry(family: str, job: str, tenant: str) -> None:
            handle = DBOS.workflow_id
            assert handle is not None  # noqa: S101  # it runs as a workflow
            self.running.add(handle)
            try:
                await self.carry(family, job, tenant, handle)
            except Left:
                # Neither a result nor an error: the library keeps both for ever, and this is to go on.
                raise asyncio.CancelledError from None
            finally:
                self.running.discard(handle)
                self.bell.ring()

        return carry

    def room(self, most: int) -> None:
        """How many jobs this process has at once: those that only wait are on top."""
        if self._polling is not None:
            self._polling.room(most)
            self.bell.ring()

    async def resume(self, handles: Collection[str]) -> None:
        """Put workflows back into their queue, for whoever looks next; those that ended stay as they are. Refusal
        DATABASE_AWAY where that could not be written."""
        await self._asked(handles, lambda some: DBOS.resume_workflows(some, queue_name=QUEUE))

    async def remove(self, handles: Collection[str]) -> None:
        """Remove workflows that ended, with all that the library keeps of them. Refusal as `resume`."""
        await self._asked(handles, DBOS.delete_workflows)

    async def _asked(self, handles: Collection[str], ask: Callable[[list[str]], object]) -> None:
        if not handles or not self.launched:
            return
        try:
            await self._apart(lambda: ask([*handles]))
        except EngineError as error:
            if self.launched:  # else this process ends, and it is another one's to do
                raise Refusal(ErrorCode.DATABASE_AWAY, f"The engine could not write: {reason(error)}") from error

    async def end(self, left: Collection[str]) -> bool:
        """Take nothing more, hand over the workflows that were left and those that still run, and end the library. Whether
        it ended in time: where not, a thread of it goes on, and the process has to be left."""
        self.bell.end()
        if not self.launched:
            return True
        handles = [*left, *self.running]
        ending = asyncio.create_task(self._end(handles))
        done, _ = await asyncio.wait({ending}, timeout=END_SECONDS)
        return bool(done) and ending.exception() is None

    async def _end(self, handles: Sequence[str]) -> None:
        assert self._library is not None  # noqa: S101  # it was launched
        assert self._polling is not None  # noqa: S101  # likewise
        await self._apart(self._polling.end)
        tasks = {task for task in self._library._workflow_tasks if not task.done()}
        for task in tasks:  # what lost its workflow waits in the library for another's result
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=1.0)
        with suppress(Refusal):  # then whoever finds out that this process is dead resumes them
            await self.resume(handles)
        await self._apart(self._destroy)
        self.launched = False
        assert self._threads is not None  # noqa: S101  # it was launched
        self._threads.shutdown(wait=False)

    def _destroy(self) -> None:
        DBOS.destroy(destroy_registry=True)
        if self._connections is not None:
            self._connections.dispose()

    async def _apart(self, call: Callable[[], Any]) -> Any:
        """Run a call of the library's, which blocks, on a thread of ours."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, call)


def _connections(url: str) -> sa.Engine:
    """The library's connections. What the driver says of a lost one without an SQLSTATE (a socket that refuses) is told as
    what it is: the library would take it for a fault of the workflow's, and leave it for ever."""
    connections = sa.create_engine(
        "postgresql+psycopg://",
        creator=lambda: psycopg.connect(url, **_CONNECTION),
        pool_size=POOL,
        max_overflow=2,
        pool_timeout=10.0,
    )

    @event.listens_for(connections, "handle_error")
    def told(context: sa.engine.ExceptionContext) -> None:
        error = context.original_exception
        if isinstance(error, psycopg.OperationalError) and error.sqlstate is None and _is_lost(error):
            context.is_disconnect = True

    return connections


def _is_lost(error: psycopg.OperationalError) -> bool:
    return any(words in str(error) for words in _LOST)
