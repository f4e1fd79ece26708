"""Owns the peer of the engine: the library alone, which runs the same statements of the same jobs in one transaction step each,
as its manual says. It has no cancellation, no waits, no progress and no Workers that die.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any, cast
from uuid import uuid4

from dbos import DBOS, AsyncSQLAlchemyDatasource, DBOSConfig
from psycopg import AsyncConnection

from jobservice.application import Patience, done
from jobservice.engine.adapter import APPLICATION, QUEUE, VERSION, WORKFLOW
from jobservice.engine.adapter_schema import SCHEMA, address
from jobservice.store.database import Transaction
from jobservice.usecases import job_reports as reports

BIND = "select set_config('jobs.tenant', '{tenant}', true), set_config('plan_cache_mode', 'force_generic_plan', true)"


@asynccontextmanager
async def bare_engine(url: str, owner: str, *, at_once: int) -> AsyncIterator[None]:
    """The library at work on the queue of jobs, polling as often as it can without harm."""
    logging.getLogger("dbos").setLevel(logging.ERROR)
    where = address(url).render_as_string(hide_password=False)
    await AsyncSQLAlchemyDatasource.migrate(
        address(owner).render_as_string(hide_password=False), schema=SCHEMA, application_role="jobs_worker"
    )
    executor = str(uuid4())
    source = await AsyncSQLAlchemyDatasource.create(
        where, engine_kwargs={"pool_size": 8, "max_overflow": 0}, schema=SCHEMA, run_migrations=False
    )
    DBOS(
        config=DBOSConfig(
            name=APPLICATION,
            system_database_url=where,
            dbos_system_schema=SCHEMA,
            application_version=VERSION,
            executor_id=executor,
            run_migrations=False,
            log_level="ERROR",
        )
    )

    _register(source, executor)
    DBOS.launch()
    await DBOS.register_queue_async(
        QUEUE, worker_concurrency=at_once, polling_interval_sec=0.01, on_conflict="always_update"
    )
    try:
        yield
    finally:
        await asyncio.to_thread(lambda: DBOS.destroy(destroy_registry=True))
        await source.engine.dispose()
        # It had made the loop's threads its own, and has ended them.
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(max_workers=6))


def _register(source: AsyncSQLAlchemyDatasource, executor: str) -> None:
    """The workflow of a job: one transaction step with all its statements."""

    async def step(family: str, job: str, tenant: str, handle: str) -> str:
        held = await (await source.sql_session().connection()).get_raw_connection()
        connection = cast("AsyncConnection[Any]", held.driver_connection)
        await connection.execute(BIND.format(tenant=tenant).encode())
        transaction = Transaction(connection, tenant)
        taken = await reports.take_up(transaction, family=family, job=job, holder=executor, handle=handle)
        if not isinstance(taken, reports.TakenUp):
            return "not taken"
        await reports.begin_step(transaction, taken.run, 1, attempts_most=3)
        await reports.report_outcome(transaction, taken.run, 1, done("Done."), patience=Patience())
        return "done"

    @DBOS.workflow(name=WORKFLOW)
    async def carry(family: str, job: str, tenant: str) -> str:
        handle = DBOS.workflow_id
        assert handle is not None  # noqa: S101  # it runs as a workflow
        options: Any = {"name": "work", "isolation_level": "READ COMMITTED"}
        return await source.run_tx_step_async(options, step, family, job, tenant, handle)
