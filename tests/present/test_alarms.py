"""Alarms as they are written: in a cell beside the schedule's name its sentence does not name it again, in full it does."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from jobconsole.present.alarms import alarm_lines, alarms_cells
from jobconsole.present.columns import plain
from jobconsole.present.schedules import At
from jobcontract.alarms import Alarm
from jobcontract.operating import AlarmTold
from jobservice.rules import alarms

pytestmark = pytest.mark.requirement("provide-operational-recovery-procedures")
NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)
AT = At(now=NOW, zone=UTC)
SCHEDULE = "statements.nightly"


def alarm(condition: alarms.Condition) -> Alarm:
    """The open alarm of a condition, as the service tells it."""
    return Alarm(
        id="0197",
        kind=condition.kind,
        subject=condition.subject,
        schedule=condition.schedule,
        sentence=condition.sentence,
        count=condition.count,
        opened_at=NOW,
        seen_at=NOW,
        cleared_at=None,
        acknowledged_by=None,
        acknowledged_at=None,
        note=None,
        told=AlarmTold.NOBODY,
        told_at=None,
        told_words=None,
        version=1,
    )


@pytest.mark.parametrize(
    ("condition", "begins"),
    [
        (alarms.late("acme", SCHEDULE, 2, NOW), "2 runs are due and not started, the first since "),
        (alarms.missed("acme", SCHEDULE, 2, 0, NOW), "2 instants were missed, decided last at "),
        (alarms.parked("acme", SCHEDULE, NOW), "cannot be computed since "),
        (alarms.dead_letters("acme", SCHEDULE, 7, NOW), "7 dead letters wait for somebody, the first since "),
        (alarms.leaving("acme", SCHEDULE, 1, NOW), "1 dead letter is removed by retention within a day, the first at "),
        (alarms.stopped("acme", None, "acme", "o.lind", NOW), "Money of acme is stopped since "),
    ],
)
def test_a_cell_does_not_name_the_schedule_again_and_the_detail_tells_the_whole_sentence(
    condition: alarms.Condition, begins: str
) -> None:
    told = alarm(condition)
    shown = alarms_cells(told, AT)
    assert shown["sentence"].text.startswith(begins)
    assert (SCHEDULE in shown["sentence"].text) is False
    assert shown["subject"].text == condition.subject
    assert any(condition.sentence in plain(line) for line in alarm_lines(told, AT))
