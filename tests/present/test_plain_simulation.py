"""What the simulator, *why* and the overview say headless: every figure, in UTC and on the reader's clock, nothing cut."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from jobconsole.present.plain_overview import overview_lines
from jobconsole.present.plain_simulation import FATES, simulation_lines
from jobconsole.present.plain_why import why_lines
from jobcontract.items import Amount
from jobcontract.operating import Fate, WhyKind
from jobcontract.overview import HOURS, Overview, QueueLine, Trend, UrgentSchedule
from jobcontract.simulation import Course, FateCount, SimulatedInstant, Simulation
from jobcontract.states import ScheduleStanding
from jobcontract.why import Cause, Evidence, Why

AT = datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
PARIS = ZoneInfo("Europe/Paris")
ESCAPE = "\x1b[2J"


def instant(minutes: int, fate: Fate, count: int = 1, **more: object) -> SimulatedInstant:
    """A row of a course."""
    at = AT + timedelta(minutes=minutes)
    given = {
        "at": at,
        "last_at": at + timedelta(minutes=count - 1),
        "count": count,
        "local": None,
        "offset": None,
        "abbreviation": None,
        "clock": None,
        "fate": fate,
        "runs_at": at if fate is Fate.FIRES else None,
        "merged_into": None,
        "words": "",
    }
    return SimulatedInstant.model_validate({**given, **more})


def course(*rows: SimulatedInstant, whole: bool = True) -> Course:
    """A course of these rows."""
    counts = tuple(FateCount(fate=row.fate, count=row.count) for row in rows)
    return Course(rhythm="hourly", misfire="Missed ones are skipped.", instants=rows, counts=counts, whole=whole)


@pytest.mark.requirement("define-misfire-recovery")
def test_a_simulation_tells_each_fate_with_its_time_on_each_clock_and_marks_what_differs() -> None:
    later = AT + timedelta(hours=2)
    local = datetime(2026, 10, 25, 1, 30)  # noqa: DTZ001  # on a wall clock
    simulation = Simulation(
        schedule="statements.nightly",
        zone="Europe/London",
        tzdata="2026a",
        since=AT,
        until=later,
        current=course(instant(0, Fate.MERGED, 1_500, merged_into=later, words=f"Missed{ESCAPE}."), whole=False),
        edited=course(instant(0, Fate.FIRES, local=local, offset=3_600, abbreviation="BST", runs_at=later)),
        differs=(AT,),
        words="By the edit 1 runs instead of 0.",
        now=AT,
    )
    text = "\n".join(simulation_lines(simulation, PARIS))
    assert ESCAPE not in text
    merged = next(line for line in text.splitlines() if "2026-10-25 00:30:00Z to 2026-10-26 01:29:00Z" in line)
    assert "1,500" in merged
    assert "merged into 2026-10-25 02:30:00Z" in merged
    runs = next(line for line in text.splitlines() if line.startswith("≠"))
    assert "Sun 01:30:00 BST" in runs
    assert "Sun 2026-10-25 02:30 CEST" in runs
    assert "2026-10-25 02:30:00Z" in runs
    assert re.search(r"in all +1,500 merged\n", text)
    assert "There are more than are listed; the counts are over all of them." in text
    assert text.endswith("By the edit 1 runs instead of 0.")
    assert set(FATES) == set(Fate)


@pytest.mark.requirement("provide-operational-recovery-procedures")
def test_why_tells_its_evidence_what_to_do_and_what_was_checked() -> None:
    why = Why(
        subject="s",
        schedule="s",
        occurrence="s@2026-10-25T00:30:00Z",
        sentence="Waiting: it is held.",
        causes=(
            Cause(
                kind=WhyKind.LOCK_HELD,
                applies=True,
                sentence="Waiting: it is held.",
                evidence=(
                    Evidence(label="worker", value="3f2c on a7", at=AT),
                    Evidence(label="lock", value="l", at=None),
                ),
                remedy="Wait for its end.",
            ),
            Cause(kind=WhyKind.MANUAL, applies=False, sentence="Checked: no.", evidence=(), remedy=None),
        ),
        now=AT,
    )
    assert why_lines(why, PARIS) == [
        "schedule    s",
        "occurrence  s@2026-10-25T00:30:00Z",
        "why         Waiting: it is held.",
        "",
        "lock-held: Waiting: it is held.",
        "  worker  3f2c on a7, 2026-10-25 00:30:00Z (Sun 2026-10-25 02:30 CEST)",
        "  lock    l",
        "  What to do: Wait for its end.",
        "",
        "Checked, and not the cause:",
        "  manual: Checked: no.",
    ]


@pytest.mark.requirement("provide-operational-recovery-procedures")
def test_the_overview_leaves_out_what_the_person_may_not_read_and_says_where_more_is() -> None:
    nothing = Overview.model_validate(
        {name: () if name in ("urgent", "alarms", "stops", "queues") else None for name in Overview.model_fields}
        | {"now": AT}
    )
    assert overview_lines(nothing, PARIS) == []
    full = nothing.model_copy(
        update={
            "late": 1_204,
            "money_stopped": "audit",
            "urgent": (UrgentSchedule(id="s", standing=ScheduleStanding.LATE, words="Late by 4 min."),),
            "queues": (
                QueueLine(
                    queue="q",
                    title="Q",
                    open=10_000,
                    oldest_at=AT,
                    unclaimed=9_990,
                    unclaimed_out=(Amount(minor=123_456, currency="GBP", exponent=2),),
                    whole=False,
                ),
            ),
            "trend": Trend(completed=(*(0,) * (HOURS - 1), 7), dead=(0,) * HOURS, missed=(0,) * HOURS),
        }
    )
    text = "\n".join(overview_lines(full, PARIS))
    assert "late schedules  1,204" in text
    assert "Money is stopped: audit" in text
    assert "10,000+  2026-10-25 00:30:00Z (Sun 2026-10-25 02:30 CEST)" in text
    assert "GBP 1,234.56 and more" in text
    assert "0 0 7" in text
