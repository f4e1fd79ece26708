"""Simulating a schedule: by the record and by an edit, with the check's own sentences at the field that is wrong."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from jobcontract.errors import ErrorCode
from jobcontract.operating import Fate
from jobcontract.simulation import DAYS_MOST, Down, Edit, Simulation, SimulationOrder
from jobcontract.states import MisfirePolicy, Repeated, Skipped
from jobservice.usecases.simulation import simulate
from tests.usecases.desk import refused_with
from tests.usecases.schedule_desk import ABROAD, BROKEN, BY_HAND, MINUTELY, NIGHTLY, ScheduleDesk, schedule_desk

MISFIRE = pytest.mark.requirement("define-misfire-recovery")
CLOCK = pytest.mark.requirement("define-business-local-clock-behavior")
BEGIN = datetime(2026, 10, 24, tzinfo=UTC)


@pytest.fixture
def jobs(database: Any, people: Any) -> ScheduleDesk:
    """Schedules of acme."""
    return schedule_desk(database, people)


def order(days: float = 3, down: tuple[Down, ...] = (), **edit: Any) -> SimulationOrder:
    """Three days over the repeated hour of London, with an edit where something is named."""
    return SimulationOrder(
        since=BEGIN, until=BEGIN + timedelta(days=days), down=down, edit=Edit(**edit) if edit else None
    )


async def simulated(jobs: ScheduleDesk, wanted: SimulationOrder, schedule: str = NIGHTLY) -> Simulation:
    """As the auditor, who may look."""
    return await simulate(jobs.service, jobs.desk.actor("s.audit"), schedule, wanted)


@MISFIRE
@CLOCK
async def test_a_night_is_simulated_by_the_record_and_by_an_edit_and_nothing_is_written(jobs: ScheduleDesk) -> None:
    away = Down(since=BEGIN + timedelta(hours=0.4), until=BEGIN + timedelta(hours=30))
    found = await simulated(jobs, order(down=(away,), misfire=MisfirePolicy.SKIP, repeated=Repeated.SECOND))
    assert [(row.at.hour, row.at.minute, row.fate) for row in found.current.instants] == [
        (0, 30, Fate.MERGED),
        (0, 30, Fate.MADE_UP),
        (1, 30, Fate.REPEAT_LEFT),
        (1, 30, Fate.FIRES),
    ]
    merged, made_up, left, fires = found.current.instants
    assert merged.merged_into == made_up.at
    assert made_up.runs_at == away.until
    assert left.words == "01:30 comes twice that night: it does not run at GMT."
    assert (fires.abbreviation, fires.runs_at) == ("GMT", fires.at)
    assert found.edited is not None
    assert [row.fate for row in found.edited.instants] == [Fate.SKIPPED, Fate.REPEAT_LEFT, Fate.SKIPPED, Fate.FIRES]
    assert [each.day for each in found.differs] == [24, 25, 25]
    assert found.words.startswith("By the edit 2 are skipped, none is made up for and none is merged (by the record ")
    assert (found.zone, found.current.rhythm) == ("Europe/London", "daily at 01:30, Europe/London")
    assert "merged into it" in found.current.misfire
    assert "is skipped" in found.edited.misfire
    assert jobs.one("select count(*) from jobs.occurrences") == 0
    assert jobs.one("select count(*) from jobs.audit where action = 'simulate'") == 0


@CLOCK
@pytest.mark.parametrize(
    ("edit", "field", "said"),
    [
        ({"cron": "30 25 * * *"}, "cron", "`schedule.cron`: column 4: "),
        ({"cron": "0 * * * *"}, "repeated", "say both, or name hours"),
        ({"zone": "Europe/Lundon"}, "zone", "Did you mean `Europe/London`?"),
        ({"zone": "UTC", "skipped": Skipped.SHIFT}, "skipped", "UTC needs no reason and has no changes of the clock"),
        ({"every": 900}, "anchor", "an `every` is counted from an instant"),
        ({"every": 900, "cron": "0 1 * * *"}, "every", "both `cron` and `every`"),
        (
            {"every": 900, "anchor": datetime.fromisoformat("9999-12-31T23:59:59-14:00")},
            "anchor",
            "between 1900 and 2200",
        ),
        ({"anchor": BEGIN}, "anchor", "only an `every` is counted from an instant"),
        ({"misfire": MisfirePolicy.EACH_INTERVAL}, "newest", "a long downtime must not run for ever"),
        ({"newest": 3}, "newest", "once runs one of them"),
        ({"misfire": MisfirePolicy.EACH_INTERVAL, "newest": 1_001}, "newest", "is a whole number from 1 to 1,000"),
        ({"misfire": MisfirePolicy.EACH_INTERVAL, "newest": 365}, "newest", "may be made up for"),
        ({"misfire_after": 1.5}, "misfire_after", "`misfireAfter`"),
        ({"misfire_after": 90_000.0}, "misfire_after", "is not from PT1S to "),
        ({"cron": "0 0 30 2 *"}, "cron", "`schedule.cron`"),
    ],
)
async def test_an_impossible_edit_is_refused_at_its_field_with_the_checks_own_sentence(
    jobs: ScheduleDesk, edit: dict[str, Any], field: str, said: str
) -> None:
    refusal = await refused_with(ErrorCode.INVALID_REQUEST, simulated(jobs, order(**edit)))
    errors: Any = refusal.extra["errors"]
    error = errors[0]
    assert error["where"] == f"body.edit.{field}"
    assert said in error["sentence"]


@CLOCK
async def test_a_rhythm_changes_its_kind_and_zone(jobs: ScheduleDesk) -> None:
    found = await simulated(jobs, order(days=1, every=21_600, anchor=BEGIN))
    assert found.edited is not None
    assert [row.at.hour for row in found.edited.instants] == [0, 6, 12, 18]
    found = await simulated(jobs, order(days=1, zone="UTC"))
    assert found.edited is not None
    assert [row.local and row.local.hour for row in found.edited.instants] == [1]
    found = await simulated(
        jobs,
        order(days=1, cron="0 4 * * *", zone="Europe/Paris", skipped=Skipped.SKIP, repeated=Repeated.FIRST),
        MINUTELY,
    )
    assert found.edited is not None
    assert [(row.at.hour, row.abbreviation) for row in found.edited.instants] == [(2, "CEST")]
    assert found.current.counts[0].count == 1_440
    assert not found.current.instants[0].words.startswith("Late")
    await refused_with(ErrorCode.INVALID_REQUEST, simulated(jobs, order(days=1, cron="0 4 * * *"), MINUTELY))


async def test_what_cannot_be_simulated_is_refused(jobs: ScheduleDesk) -> None:
    assert (
        "a person starts it" in (await refused_with(ErrorCode.SCHEDULE_UNFIT, simulated(jobs, order(), BY_HAND))).detail
    )
    assert (
        "cannot be computed" in (await refused_with(ErrorCode.SCHEDULE_UNFIT, simulated(jobs, order(), BROKEN))).detail
    )
    mended = await simulated(jobs, order(zone="Europe/London"), BROKEN)
    assert mended.edited is not None
    assert len(mended.edited.instants) > len(mended.current.instants) == 0
    await refused_with(ErrorCode.NOT_FOUND, simulated(jobs, order(), ABROAD))
    await refused_with(
        ErrorCode.PERMISSION_MISSING, simulate(jobs.service, jobs.desk.actor("p.push"), NIGHTLY, order())
    )
    assert "is not later than" in (await refused_with(ErrorCode.INVALID_REQUEST, simulated(jobs, order(days=0)))).detail
    assert (
        "shorter stretch"
        in (await refused_with(ErrorCode.INVALID_REQUEST, simulated(jobs, order(days=DAYS_MOST + 1)))).detail
    )
    hour = timedelta(hours=1)
    assert (
        "ends before it begins"
        in (
            await refused_with(
                ErrorCode.INVALID_REQUEST, simulated(jobs, order(down=(Down(since=BEGIN + hour, until=BEGIN + hour),)))
            )
        ).detail
    )
    assert (
        "Name a longer stretch"
        in (
            await refused_with(
                ErrorCode.INVALID_REQUEST, simulated(jobs, order(down=(Down(since=BEGIN - hour, until=BEGIN + hour),)))
            )
        ).detail
    )
