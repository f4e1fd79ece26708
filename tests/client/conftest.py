"""Gives the conformance suite its stage, once fake and once real."""

from __future__ import annotations

from functools import cache
from typing import Any

import httpx
import pytest

from examples.payments import application
from jobservice.records import RecordSet, check
from jobservice.usecases.service import Service as JobService
from tests.apps import app_over
from tests.client.stage import FakeStage, RealStage, Stage
from tests.usecases.money_desk import KEYS, MoneyDesk


@cache
def example_records() -> RecordSet:
    """The example's records, read once."""
    records, findings = check(application)
    assert records is not None, findings
    return records


@pytest.fixture(params=["fake", "real"])
def stage(request: pytest.FixtureRequest) -> Stage:
    """The service under comparison; the real one only where it is asked for, it needs a database."""
    return FakeStage() if request.param == "fake" else request.getfixturevalue("real_stage")


@pytest.fixture
def real_stage(database: Any, people: Any, clock: Any) -> RealStage:
    """The real API with acme's people and the payments records."""
    records = example_records()
    service = JobService(database=database, records=records, application=application, deployment="test", keys=KEYS)
    app = app_over(service, signing_key=b"k" * 32, schema_version="1")
    desk = MoneyDesk(service, people)
    desk.enrol("m.ito", "k.rao")
    return RealStage(
        transport=httpx.ASGITransport(app=app), token=people.token, move=clock.advance, shown=lambda who: desk.code(who)
    )
