"""The Worker's wiring: connections enough for all that it does at once."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from examples.payments import application
from jobservice import records
from jobservice.bootstrap import worker


def test_each_duty_may_have_a_connection_for_long_while_what_is_short_has_some() -> None:
    """With fewer, a few long statements are taken for a database that is away."""
    found, _ = records.check(application)
    assert found is not None
    settings: Any = SimpleNamespace(deployment="test", seals=None, public_keys=None)
    outage: Any = SimpleNamespace(settled=lambda _: True)
    carriage: Any = None  # nothing runs
    duties = worker._all_duties(found, application, settings, carriage, outage, (None, None))
    assert len(duties) + worker.SHORT == worker.CONNECTIONS
