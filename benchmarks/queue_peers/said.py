"""Owns what a peer's program is told and says: an address and a number of jobs in, one line of JSON out."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable


def asked() -> tuple[str, int]:
    """The database's address and how many jobs."""
    return sys.argv[1], int(sys.argv[2])


def say(jobs: int, seconds: float, settings: str) -> None:
    """Print what was measured."""
    print(json.dumps({"jobs": jobs, "seconds": seconds, "settings": settings}), flush=True)  # noqa: T201  # its answer


def wait_until(count: Callable[[], int], jobs: int, *, seconds: float = 300.0) -> None:
    """Until `count()` is `jobs`; RuntimeError after so long."""
    end = time.monotonic() + seconds
    while (found := count()) < jobs:
        if time.monotonic() > end:
            raise RuntimeError(f"{found:,} of {jobs:,} jobs were done after {seconds:g} s")
        time.sleep(0.02)
