"""Making, reading, changing and dropping recoveries."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.operating import RecoveryState
from jobservice.usecases import recovery_reading
from tests.conftest import Clock
from tests.usecases.desk import once, refused_with
from tests.usecases.recovery_desk import (
    BATCH,
    DAY,
    GONE,
    HOURLY,
    MONEY,
    NIGHT,
    NIGHTLY,
    SINCE,
    UNTIL,
    RecoveryDesk,
    recovery_desk,
)

HOUR = timedelta(hours=1)


@pytest.fixture
def desk(database: Any, people: Any) -> RecoveryDesk:
    return recovery_desk(database, people)


def counts(recovery: dict[str, Any]) -> dict[str, int]:
    """What is left out, by reason."""
    return {each["reason"]: each["count"] for each in recovery["left_out"]}


async def test_a_stretch_takes_in_what_ended_and_has_something_to_run_again(desk: RecoveryDesk) -> None:
    desk.planned()
    later = desk.dead(at=NIGHT + DAY)
    dead = desk.dead()
    half = desk.completed(HOURLY, NIGHT, refused=1)
    desk.completed(HOURLY, NIGHT + HOUR)
    batch = desk.completed(BATCH, NIGHT)
    desk.hand.occurrence(HOURLY, NIGHT + 2 * HOUR)
    desk.dead(at=NIGHT - DAY)
    desk.dead(at=NIGHT + 3 * DAY)
    desk.dead(GONE)
    desk.dead(HOURLY, NIGHT + 5 * HOUR, discarded_at=NIGHT, discarded_by="o.lind", discard_reason="Old")
    made = await desk.make()
    shown = await desk.shown(made)
    assert [(row.number, row.key, row.row_version) for row in shown.rows] == [
        (1, batch, 1),
        (2, half, 1),
        (3, dead, 1),
        (4, later, 1),
    ]
    assert counts(made) == {"not-ended": 1, "discarded": 1, "all-done": 1, "unrunnable": 1}
    assert made["words"] == "replay every schedule, 28 Nov 00:00 to 30 Nov 00:00 UTC"
    assert made["count"] == 4
    left = await desk.left_out(made)
    assert left[f"{HOURLY}@2026-11-28T03:00:00Z"] == ("not-ended", "It has not ended: it is scheduled.")
    assert left[f"{HOURLY}@2026-11-28T02:00:00Z"][0] == "all-done"
    assert "no record of this deployment runs r.gone" in left[f"{GONE}@2026-11-28T01:00:00Z"][1].lower()
    assert made["state"] == "open" and made["confirm_by"] is None and made["account"] == []
    assert shown.rows[2].items is not None and shown.rows[2].items.failed == 2
    assert [(each["schedule"], each["count"]) for each in made["schedules"]] == [(BATCH, 1), (HOURLY, 1), (NIGHTLY, 2)]
    assert desk.rows("select action, person, detail ->> 'reason' from jobs.audit") == [
        ("make-recovery", "o.lind", "A missed night")
    ]
