"""The example with a seeder that never ends: for a stop while it seeds."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime

import structlog

from examples.payments import application as example
from jobservice.application import Application, NewJob, NewWorkItem


async def seeder(
    now: datetime,
    push: Callable[[str, str, Sequence[NewWorkItem]], Awaitable[int]],
    submit: Callable[[str, Sequence[NewJob]], Awaitable[int]],
) -> Sequence[str]:
    """Say that it has begun, and go on for ever."""
    structlog.get_logger("tests").info("seeding-goes-on")
    await asyncio.Event().wait()
    return [f"never said, {now} {push} {submit}"]


application = Application("payments", example.records)
application.seeder = seeder
application.use_cases.update(example.use_cases)
application.rules.update(example.rules)
application.selections.update(example.selections)
application.steps.update(example.steps)
application.failure_effects.update(example.failure_effects)
