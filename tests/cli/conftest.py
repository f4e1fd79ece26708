"""Gives the tests of the twins their command line in front of a fake service."""

from __future__ import annotations

from pathlib import Path

import pytest

from jobconsole.client.fake import FakeService
from tests.cli.twins import Typed


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Typed:
    """A fresh fake service with three payouts and a dispute."""
    fake = FakeService()
    for name, minor, days in (
        ("Aspire Care Ltd", 9_012_613, 9),
        ("Booker Food", 561_665, 6),
        ("Plant Hire", -154_522, 3),
    ):
        fake.queues.add("payments.payouts", name, minor=minor, days_old=days)
    fake.queues.add("payments.disputes", "Old bill", minor=100)
    return Typed(fake=fake, patch=monkeypatch, folder=tmp_path)
