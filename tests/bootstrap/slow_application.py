"""The example with a seeder that never ends: for a stop while it seeds."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from pathlib import Path

import structlog

import examples.payments
from examples.payments import scoring, use_cases
from jobservice.application import Application, NewWorkItem


async def seeder(now: datetime, push: Callable[[str, str, Sequence[NewWorkItem]], Awaitable[int]]) -> Sequence[str]:
    """Say that it has begun, and go on for ever."""
    structlog.get_logger("tests").info("seeding-goes-on")
    await asyncio.Event().wait()
    return [f"never said, {now} {push}"]


application = Application("payments", Path(examples.payments.__file__).parent / "records")
application.seeder = seeder
use_cases.register(application)
scoring.register(application)
