"""Owns the example application as the tests of secrets start it: few payouts, and every process logs all it can."""

from __future__ import annotations

import logging

from examples.payments import application as application
from examples.payments.seeding import Seeding
from jobservice import logs

FEW = 40
"""Payouts of the published files, where they are there."""

application.seeder = Seeding(most=FEW)
logs.configure(level=logging.DEBUG)  # past what `jobservice` itself can be told: a process loads its application last
for name in ("psycopg", "psycopg.pool", "uvicorn", "httpx", "httpcore", "asyncio"):
    logging.getLogger(name).setLevel(logging.DEBUG)
