"""A Worker process for fault tests: `python -m tests.faults.worker DATABASE_URL BANK_URL`, with short leases and little
patience, over the records and keys of the tests' desk. Ends in good order with SIGTERM."""

from __future__ import annotations

import asyncio
import sys

from examples.payments.bank.outward import BankOutward
from jobservice.bootstrap import process
from jobservice.store.database import Database
from jobservice.worker.applying import Applying
from jobservice.worker.outward_calls import OutwardCalls
from jobservice.worker.plan_run import Pacing
from jobservice.worker.process import Pace, Worker
from tests.usecases.desk import RECORDS
from tests.usecases.money_desk import KEYS
from tests.worker.plans_stage import application_with

LEASE = 1.2


async def work(url: str, bank: str) -> None:
    """Apply plans until told to stop."""
    outward = BankOutward(bank, timeout_seconds=1.0)
    calls = OutwardCalls(outward=outward, send_seconds=1.5, ask_seconds=0.7, pauses=(0.1, 0.3))
    database = await Database.open(url, name="faults worker", most=12)
    applying = Applying(
        database=database,
        records=RECORDS,
        application=application_with(),
        keys=KEYS.public,
        every=0.1,
        lease=LEASE,
        most=3,
        pacing=Pacing(at_once=3),
        calls=lambda _: calls,
    )
    stop = process.stop_event(until_stdin_closes=True)
    pace = Pace(first_pause=0.1, longest_pause=0.5)
    process.say("ready")
    await Worker(database=database, duties=(), leased=(applying,), stop=stop, pace=pace).run()
    await outward.close()
    await database.close()


if __name__ == "__main__":
    asyncio.run(work(sys.argv[1], sys.argv[2]))
