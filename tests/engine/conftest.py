"""Owns the fixtures of the engine's tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from jobservice.store.database import Database
from tests.conftest import People
from tests.engine.stage import EngineStage


@pytest.fixture
def stage(
    database: Database,
    worker_database: Database,
    superuser: psycopg.Connection[Any],
    database_url: Callable[[str], str],
    people: People,
) -> EngineStage:
    """A stage of this test's database."""
    return EngineStage(database, worker_database, superuser, database_url("jobs_worker"))
