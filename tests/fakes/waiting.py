"""Owns waiting on what can be observed, up to a deadline: never a sleep that hopes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


async def eventually(true: Callable[[], bool], *, what: str, seconds: float = 60.0) -> None:
    """Come back once it is so; AssertionError naming `what` after `seconds`."""
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    while not true():
        assert loop.time() < end, f"{what}: not so after {seconds:g} s"
        await asyncio.sleep(0.02)
