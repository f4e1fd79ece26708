"""Owns measuring the console, end to end: the program in a real terminal, one API process, a million rows."""

from __future__ import annotations

from collections.abc import AsyncIterator

from benchmarks import moving, processes, starting
from benchmarks.figures import Figure
from benchmarks.ground import LARGE, Ground, clerk


async def measure(ground: Ground) -> AsyncIterator[Figure]:
    """Every figure of the console."""
    await ground.ready(LARGE, ground.rows)
    token = await ground.token(LARGE, clerk(0))
    with processes.api(ground, LARGE) as api:
        for figure in starting.measure(api.url, token):
            yield figure
        for figure in moving.measure(ground, api.url, token):
            yield figure
