"""The example application: a council's supplier payments. `application` is what a service process loads.

Imports `jobservice.application` and `jobcontract` only.
"""

from __future__ import annotations

from pathlib import Path

from examples.payments import (
    archives,
    bank_files,
    drill,
    exports,
    hourly_tally,
    reminders,
    scoring,
    settlement,
    statements,
    use_cases,
    workspaces,
)
from examples.payments.bank.outward import URL_NAME, BankOutward
from examples.payments.seeded_jobs import SEEDED
from examples.payments.seeding import Seeding
from jobservice.application import Application, Companion

DEMO_MOST = 5_000
"""Payouts of the published files that a demo takes, the newest: enough to page through, and loaded while one waits."""

application = Application("payments", Path(__file__).parent / "records")
application.seeder = Seeding(most=DEMO_MOST, jobs=SEEDED)
use_cases.register(application)
scoring.register(application)
for jobs in (drill, hourly_tally, reminders, settlement, statements):
    jobs.register(application)
for kinds in (archives, exports, workspaces):
    kinds.register(application)
bank_files.register(application)
application.outward("payments.release", BankOutward())
application.companions = (
    Companion(
        name="bank",
        module="examples.payments.bank",
        arguments=("--ledger", "{data}/ledger.jsonl", "--port", "{port}"),
        variable=URL_NAME,
    ),
)
