"""oban: one queue with a hundred at once. Needs Python 3.12."""

from __future__ import annotations

import asyncio
import time

from oban import Oban, job
from oban.schema import install
from said import asked, say

AT_ONCE = 100
FINISHED = "select count(*) from oban_jobs where state = 'completed'"


async def main() -> None:
    """Fill the queue, then measure how long it takes to empty it."""
    url, jobs = asked()
    last = asyncio.Event()
    ran = 0

    @job(queue="nothing")
    async def nothing(_job: object) -> None:
        nonlocal ran
        ran += 1
        if ran >= jobs:
            last.set()

    pool = await Oban.create_pool(url, min_size=2, max_size=20)
    await install(pool)
    async with Oban(pool=pool) as client:
        for start in range(0, jobs, 1_000):
            await client.enqueue_many(*(nothing.new(each) for each in range(start, min(jobs, start + 1_000))))
    began = time.perf_counter()
    async with Oban(pool=pool, queues={"nothing": AT_ONCE}):
        await last.wait()
        async with pool.connection() as looking:
            while True:
                row = await (await looking.execute(FINISHED)).fetchone()
                if row is not None and row[0] >= jobs:
                    break
                await asyncio.sleep(0.02)
    took = time.perf_counter() - began
    await pool.close()
    say(jobs, took, f"{AT_ONCE} at once")


if __name__ == "__main__":
    asyncio.run(main())
