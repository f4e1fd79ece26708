"""pgqueuer: its asyncpg or psycopg driver, batches of a hundred."""

from __future__ import annotations

import asyncio
import logging
import sys
import time

import psycopg
from pgqueuer import PgQueuer, Queries
from pgqueuer.db import AsyncpgDriver, Driver, PsycopgDriver
from said import asked, say

BATCH = 100


async def driver(url: str, kind: str) -> Driver:
    """A connection of the driver that was asked for."""
    if kind == "psycopg":
        return PsycopgDriver(await psycopg.AsyncConnection.connect(url, autocommit=True))
    import asyncpg

    parts = psycopg.conninfo.conninfo_to_dict(url)
    connection = await asyncpg.connect(user=parts["user"], database=parts["dbname"], host=parts["host"])
    return AsyncpgDriver(connection)


async def main(kind: str) -> None:
    """Fill the queue, then measure how long it takes to empty it."""
    url, jobs = asked()
    connection = await driver(url, kind)
    queries = Queries(connection)
    await queries.install()
    for start in range(0, jobs, 1_000):
        many = min(1_000, jobs - start)
        await queries.enqueue(["nothing"] * many, [b"1"] * many, [0] * many)
    queue = PgQueuer(connection)
    last = asyncio.Event()
    ran = 0

    @queue.entrypoint("nothing")
    async def nothing(_job: object) -> None:
        nonlocal ran
        ran += 1
        if ran >= jobs:
            last.set()

    looking = await psycopg.AsyncConnection.connect(url, autocommit=True)
    began = time.perf_counter()
    worker = asyncio.create_task(queue.qm.run(batch_size=BATCH))
    await last.wait()
    while True:
        row = await (await looking.execute("select count(*) from pgqueuer")).fetchone()
        if row is not None and row[0] == 0:
            break
        await asyncio.sleep(0.02)
    took = time.perf_counter() - began
    queue.qm.shutdown.set()
    await asyncio.wait({worker}, timeout=10)
    await looking.close()
    say(jobs, took, f"{kind}, batches of {BATCH}")


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    asyncio.run(main(sys.argv[3]))
