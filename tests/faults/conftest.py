"""Owns what the fault tests of schedules share: the processes that fork Workers, started once in a test process."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.faults.schedule_world import CLOCKS, Nursery, nurseries


@pytest.fixture(scope="session")
def forks() -> Iterator[tuple[Nursery, ...]]:
    """Processes that fork Workers, each kind with another wrong clock; two of them in the short form."""
    wanted = tuple(CLOCKS) if int(os.environ.get("FAULTS_OCCURRENCES", "0")) else tuple(CLOCKS)[:2]
    with nurseries(*wanted) as started:
        yield started
