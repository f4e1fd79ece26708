"""A session in words: when the token ends is said as every other instant."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from jobconsole.present.session import session_lines
from jobcontract.session import Person, Session

NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)


def test_the_end_of_the_token_is_written_as_every_other_instant() -> None:
    session = Session(
        person=Person(id="m.ito", name="Mina Ito"),
        deployment="demo",
        tenants=(),
        token_expires_at=NOW + timedelta(hours=12),
        now=NOW,
    )
    lines = [
        dict(session_lines(session, "leeds", "http://there", NOW, ZoneInfo(zone)))["token"]
        for zone in ("Europe/Paris", "UTC")
    ]
    assert lines == [
        "ends in 12 h, Tue 2026-12-01 22:00 CET (21:00:00Z)",
        "ends in 12 h, Tue 2026-12-01 21:00:00 UTC",
    ]
