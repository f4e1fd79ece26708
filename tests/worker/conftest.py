"""Owns the stages that tests of applying and of runs stand on."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import structlog

from jobservice.store.database import Database
from tests.conftest import People
from tests.usecases.money_desk import money_desk
from tests.worker.plans_stage import Stage
from tests.worker.runs_stage import RunStage


@pytest.fixture
def stage(database: Database, worker_database: Database, people: People) -> Stage:
    """A desk that confirms as the API's role, and a Worker's role that applies."""
    return Stage(desk=money_desk(database, people), database=worker_database)


@pytest.fixture
async def runs(worker_database: Database, people: People) -> AsyncIterator[RunStage]:
    """A Worker's role that runs occurrences, and what it logs."""
    with structlog.testing.capture_logs() as logs:
        stage = RunStage(people=people, database=worker_database, logs=logs)
        yield stage
        await stage.close()
