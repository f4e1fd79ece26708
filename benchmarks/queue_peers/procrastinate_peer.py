"""procrastinate: jobs deferred in batches, then one worker with many at once."""

from __future__ import annotations

import asyncio
import logging
import time

import procrastinate
from procrastinate.types import JSONValue
from said import asked, say

AT_ONCE = 30
FINISHED = "select count(*) as found from procrastinate_jobs where status = 'succeeded'"


async def main() -> None:
    """Fill the queue, then measure how long it takes to empty it."""
    url, jobs = asked()
    connector = procrastinate.PsycopgConnector(conninfo=url, min_size=4, max_size=AT_ONCE + 4)
    app = procrastinate.App(connector=connector)
    last = asyncio.Event()
    ran = 0

    @app.task(name="nothing")
    async def nothing(number: int) -> None:
        nonlocal ran
        ran += 1
        if ran >= jobs:
            last.set()

    async with app.open_async():
        await app.schema_manager.apply_schema_async()
        for start in range(0, jobs, 1_000):
            numbers: list[dict[str, JSONValue]] = [{"number": each} for each in range(start, min(jobs, start + 1_000))]
            await nothing.batch_defer_async(*numbers)
        began = time.perf_counter()
        worker = asyncio.create_task(app.run_worker_async(concurrency=AT_ONCE, install_signal_handlers=False))
        await last.wait()
        while (await connector.execute_query_one_async(FINISHED))["found"] < jobs:
            await asyncio.sleep(0.02)
        took = time.perf_counter() - began
        worker.cancel()
        await asyncio.gather(worker, return_exceptions=True)
    say(jobs, took, f"{AT_ONCE} at once")


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    asyncio.run(main())
