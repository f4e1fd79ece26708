"""Owns real jobs of other engines for tests: procrastinate's and DBOS's own libraries make and run them."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
from collections.abc import Callable

DBOS_PROGRAM = """
import asyncio, sys
from dbos import DBOS

async def main() -> None:
    DBOS(config={"name": "shop", "system_database_url": sys.argv[1], "application_version": "1", "log_level": "CRITICAL"})

    @DBOS.step(name="charge")
    async def charge(amount: int) -> int:
        if amount < 0:
            raise ValueError("secret of a customer")
        return amount

    @DBOS.workflow(name="order")
    async def order(amount: int) -> int:
        return await charge(amount)

    DBOS.launch()
    for amount in (1, 2, -1):
        handle = await DBOS.start_workflow_async(order, amount)
        try:
            await handle.get_result()
        except ValueError:
            pass
    await asyncio.to_thread(DBOS.destroy)

asyncio.run(main())
"""
"""Two workflows that succeed and one that fails, each of one step. A process of its own: DBOS is one a process."""


async def run_procrastinate(url: str) -> None:
    """Apply procrastinate's schema and run its jobs: one that succeeds, one that fails, and one that waits."""
    import procrastinate

    logging.getLogger("procrastinate").setLevel(logging.CRITICAL)
    app = procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=url, min_size=1, max_size=4))

    @app.task(name="mail.send")
    async def send(customer: str, secret: str) -> None:
        if customer == "nobody":
            raise ValueError(secret)

    async with app.open_async():
        await app.schema_manager.apply_schema_async()
        await send.defer_async(customer="c-1", secret="hidden")
        await send.defer_async(customer="nobody", secret="hidden")
        await app.run_worker_async(wait=False, install_signal_handlers=False, listen_notify=False)
        await send.configure(schedule_in={"hours": 1}).defer_async(customer="c-2", secret="hidden")


async def run_dbos(url: str) -> None:
    """Run DBOS's workflows in a process of its own."""
    done = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", DBOS_PROGRAM, url], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


ENGINES: dict[str, Callable[[str], object]] = {"procrastinate": run_procrastinate, "dbos": run_dbos}
