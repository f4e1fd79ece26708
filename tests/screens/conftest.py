"""Owns the pauses of the screens in tests: short, so that a test waits for what happens and not for a pause to end."""

from __future__ import annotations

import pytest

from jobconsole import connection
from jobconsole.client import alarm_watch, money_watch
from jobconsole.screens import (
    jobs,
    occurrence,
    overview,
    plan_progress_fetching,
    plans,
    queues,
    queues_fetching,
    queues_filter,
    recovery_progress,
    released,
    schedules,
    watching,
)
from tests import stylesheets

stylesheets.share()


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every pause that keeps a person's screen calm and the service unhurried, a tenth as long."""
    monkeypatch.setattr(queues_fetching, "SETTLE_SECONDS", 0.015)
    monkeypatch.setattr(queues_fetching, "PAUSE_SECONDS", 0.04)
    monkeypatch.setattr(queues_filter, "COUNT_SECONDS", 0.04)
    monkeypatch.setattr(queues, "FOLLOW_SECONDS", 0.005)
    monkeypatch.setattr(jobs, "COUNT_SECONDS", 0.04)
    monkeypatch.setattr(connection, "FLUSH_SECONDS", 0.02)
    monkeypatch.setattr(money_watch, "PAUSE_SECONDS", 0.02)
    monkeypatch.setattr(alarm_watch, "PAUSE_SECONDS", 0.02)
    monkeypatch.setattr(schedules, "FOLLOW_SECONDS", 0.005)
    for place in (
        plan_progress_fetching,
        plans,
        released,
        watching,
        occurrence,
        overview,
        recovery_progress,
        jobs,
    ):
        monkeypatch.setattr(place, "PAUSE_SECONDS", 0.02)
