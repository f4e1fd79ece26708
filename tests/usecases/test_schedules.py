"""What a person reads of schedules: how each is doing, when it runs next, what a change of the clock does to it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from jobcontract.errors import ErrorCode
from jobcontract.schedules import Planned, Schedule
from jobcontract.states import ClockChange, MisfirePolicy, ScheduleStanding
from jobservice.usecases.schedules import list_schedules, next_instants, read_schedule
from tests.usecases.desk import SCORED, refused_with
from tests.usecases.schedule_desk import (
    ABROAD,
    BROKEN,
    BY_HAND,
    HERE,
    MINUTELY,
    NIGHTLY,
    SETTLE,
    ScheduleDesk,
    schedule_desk,
)

SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)
CLOCK = pytest.mark.requirement("define-business-local-clock-behavior")
POINTS = pytest.mark.requirement("persist-occurrence-recovery-points")
WALL = pytest.mark.requirement("scope-occurrences-and-leases-by-tenant")


@pytest.fixture
def jobs(database: Any, people: Any) -> ScheduleDesk:
    """Schedules of acme, one of globex, one of another deployment."""
    return schedule_desk(database, people)


async def listed(jobs: ScheduleDesk, person: str = "o.lind") -> dict[str, Schedule]:
    """Every schedule of the person's tenant."""
    page = await list_schedules(jobs.service, jobs.desk.actor(person), None, 100)
    return {each.id: each for each in page.schedules}


async def test_schedules_are_listed_by_id_in_pages_with_counts_over_all(jobs: ScheduleDesk) -> None:
    now = jobs.now
    jobs.planned(NIGHTLY)
    jobs.planned(MINUTELY)
    jobs.planned(BROKEN, parked_at=now, parked_reason="Mars has no time zone")
    jobs.planned(SETTLE, disabled_at=now, disabled_by="o.lind", disabled_reason="bank down")
    jobs.occurrence(MINUTELY, now - MINUTE)
    jobs.occurrence(SETTLE, now - HOUR)
    jobs.occurrence(BROKEN, now - HOUR)
    seen: list[str] = []
    after: str | None = None
    while True:
        page = await list_schedules(jobs.service, jobs.desk.actor("s.audit"), after, 2)
        assert (page.total, page.late, page.parked, page.disabled) == (5, 1, 1, 1)
        seen += [each.id for each in page.schedules]
        after = page.last
        if after is None:
            break
    assert tuple(seen) == HERE


async def test_each_schedule_says_how_it_is_doing_in_a_sentence(jobs: ScheduleDesk) -> None:
    now = jobs.now
    assert {each.standing for each in (await listed(jobs)).values()} == {ScheduleStanding.UNPLANNED}
    for each in HERE:
        jobs.planned(each)
    jobs.connection.execute(
        "update jobs.schedules set parked_at = jobs.now(), parked_reason = 'no such zone' where schedule = %s",
        (BROKEN,),
    )
    jobs.connection.execute(
        "update jobs.schedules set disabled_at = jobs.now(), disabled_by = 'o.lind', disabled_reason = 'bank down',"
        " disabled_until = jobs.now() + '1 hour' where schedule = %s",
        (SETTLE,),
    )
    running = jobs.occurrence(MINUTELY, now - 4 * MINUTE, "processing", taken_at=now - 3 * MINUTE)
    jobs.occurrence(MINUTELY, now - 3 * MINUTE)
    jobs.occurrence(MINUTELY, now - 2 * MINUTE)
    jobs.occurrence(NIGHTLY, now - HOUR, started_at=now - HOUR, attempts=1, due_at=now + 5 * MINUTE + SECOND)
    found = await listed(jobs)
    assert {name: each.standing for name, each in found.items()} == {
        BROKEN: ScheduleStanding.PARKED,
        SETTLE: ScheduleStanding.DISABLED,
        MINUTELY: ScheduleStanding.LATE,
        NIGHTLY: ScheduleStanding.RETRYING,
        BY_HAND: ScheduleStanding.MANUAL,
    }
    assert found[BROKEN].standing_words == "Cannot be computed: no such zone."
    assert (found[BROKEN].next_at, found[BY_HAND].next_at) == (None, None)
    assert found[SETTLE].standing_words.startswith("Disabled by Olle Lind until ")
    off = found[SETTLE].disabled
    assert off is not None
    assert (off.by.id, off.reason) == ("o.lind", "bank down")
    assert found[MINUTELY].standing_words.startswith("Late by 3 min: what was due at ")
    assert "and 1 more waits; that of" in found[MINUTELY].standing_words
    assert found[MINUTELY].waiting == 2
    assert "Waits for attempt 2 of 3" in found[NIGHTLY].standing_words
    assert found[MINUTELY].recent[0].id == running, "newest last"
    jobs.connection.execute(
        "update jobs.occurrences set state = 'completed', ended_at = jobs.now(), started_at = jobs.now() where state = 'scheduled'"
    )
    assert (await listed(jobs))[MINUTELY].standing is ScheduleStanding.RUNNING
    jobs.connection.execute(
        "update jobs.occurrences set state = 'completed', ended_at = jobs.now(), holder = null, taken_at = null, expires_at = null where state = 'processing'"
    )
    found = await listed(jobs)
    assert (found[MINUTELY].standing, found[NIGHTLY].standing) == (ScheduleStanding.ON_TIME,) * 2
    next_at = found[MINUTELY].next_at
    assert next_at is not None
    assert timedelta() < next_at - now <= 2 * MINUTE


async def test_a_record_is_told_with_its_words(jobs: ScheduleDesk) -> None:
    found = await listed(jobs)
    nightly, minutely = found[NIGHTLY], found[MINUTELY]
    assert nightly.rhythm is not None
    assert (nightly.rhythm.cron, nightly.rhythm.zone, nightly.rhythm.every) == ("30 1 * * *", "Europe/London", None)
    assert "01:30" in nightly.rhythm.words
    assert nightly.misfire is not None
    assert (nightly.misfire.policy, nightly.misfire.after) == (MisfirePolicy.ONCE, 3_600)
    assert nightly.misfire.words.startswith("Of the instants not started 1 h past its time the latest runs")
    assert (nightly.runs_title, nightly.selection) == ("Send it", "what t.lines selects")
    assert (minutely.runs_title, minutely.batch_path) == ("Score items anew", True)
    assert minutely.selection == f"open items of {SCORED.rpartition('.')[2].title()} whose scores are due"
    assert (found[BY_HAND].rhythm, found[BY_HAND].misfire) == (None, None)
    assert (nightly.attempts, nightly.backoff_first, nightly.backoff_most, nightly.bound) == (3, 10, 600, 300)


@POINTS
async def test_recovery_points_and_the_place_of_a_cursor_are_shown(jobs: ScheduleDesk) -> None:
    now = jobs.now
    points: dict[str, Any] = {
        "last_scheduled_at": now - HOUR,
        "last_started_at": now - 59 * MINUTE,
        "last_completed_at": now - 50 * MINUTE,
    }
    jobs.planned(SETTLE, **points)
    jobs.connection.execute(
        "insert into jobs.cursors (tenant, name, position, occurrence, fence) values"
        " ('acme', 't.settled', 'order-77', jobs.uuid7(), 4), ('globex', 't.settled', 'theirs', jobs.uuid7(), 9)"
    )
    shown = (await read_schedule(jobs.service, jobs.desk.actor("o.lind"), SETTLE)).schedule
    assert shown.model_dump(include=set(points)) == points
    assert (shown.cursor, shown.position) == ("t.settled", "order-77")
    assert shown.standing_words.endswith("Last completed 50 min ago.")
    jobs.occurrence(SETTLE, now - MINUTE, "completed")
    shown = (await read_schedule(jobs.service, jobs.desk.actor("o.lind"), SETTLE)).schedule
    assert shown.last_scheduled_at == now - MINUTE, "what is due is scheduled, also before the planner looks again"


@CLOCK
@pytest.mark.parametrize(
    ("after", "rows"),
    [
        (
            datetime(2026, 3, 28, 12, tzinfo=UTC),
            [
                (
                    "2026-03-29T01:00Z",
                    "02:00",
                    3_600,
                    "BST",
                    ClockChange.GAP_END,
                    True,
                    "01:30 does not exist that night: runs at 02:00 BST.",
                ),
                ("2026-03-30T00:30Z", "01:30", 3_600, "BST", None, True, ""),
            ],
        ),
        (
            datetime(2026, 10, 24, 12, tzinfo=UTC),
            [
                (
                    "2026-10-25T00:30Z",
                    "01:30",
                    3_600,
                    "BST",
                    ClockChange.FIRST,
                    True,
                    "01:30 comes twice that night: runs at the first, BST.",
                ),
                (
                    "2026-10-25T01:30Z",
                    "01:30",
                    0,
                    "GMT",
                    None,
                    False,
                    "01:30 comes twice that night: it does not run at GMT.",
                ),
                ("2026-10-26T01:30Z", "01:30", 0, "GMT", None, True, ""),
            ],
        ),
    ],
    ids=["spring", "autumn"],
)
async def test_the_next_instants_say_what_a_change_of_the_clock_does(
    jobs: ScheduleDesk, after: datetime, rows: list[Any]
) -> None:
    found = await next_instants(jobs.service, jobs.desk.actor("o.lind"), NIGHTLY, after, 2)
    assert [_row(each) for each in found.instants] == rows
    assert (found.zone, found.after, found.words) == ("Europe/London", after, "")
    assert found.tzdata.startswith("20")


def _row(each: Planned) -> Any:
    local = "" if each.local is None else f"{each.local:%H:%M}"
    return f"{each.at:%Y-%m-%dT%H:%MZ}", local, each.offset, each.abbreviation, each.clock, each.runs, each.words


@CLOCK
@pytest.mark.requirement("carry-the-schedule-on-the-job-record", "define-misfire-recovery")
async def test_a_schedule_shows_its_next_five_and_what_was_skipped(jobs: ScheduleDesk) -> None:
    jobs.planned(NIGHTLY)
    for number, tenant in enumerate(("acme", "acme", "globex")):
        jobs.connection.execute(
            "insert into jobs.skipped_instants (tenant, schedule, first_at, last_at, count, policy, cause, merged_into, zone,"
            " tzdata) values (%s, %s, %s, %s, 3, 'misfire-once', 'No Worker ran.', %s, 'Europe/London', '2026f')",
            (tenant, NIGHTLY, *[datetime(2026, 5, day + number, 0, 30, tzinfo=UTC) for day in (1, 3, 4)]),
        )
    found = await read_schedule(jobs.service, jobs.desk.actor("s.audit"), NIGHTLY)
    assert len([each for each in found.next if each.runs]) == 5
    assert found.next[0].at == found.schedule.next_at
    assert found.next_words == ""
    assert [(each.first_at.day, each.count, each.merged_into and each.merged_into.day) for each in found.skipped] == [
        (2, 3, 5),
        (1, 3, 4),
    ]


async def test_what_has_no_next_instant_says_why(jobs: ScheduleDesk) -> None:
    actor = jobs.desk.actor("o.lind")
    by_hand = await next_instants(jobs.service, actor, BY_HAND, None, 5)
    assert (by_hand.instants, by_hand.rhythm) == ((), None)
    assert by_hand.words == "A person starts it: it has no instants of its own."
    broken = await read_schedule(jobs.service, actor, BROKEN)
    assert broken.next == ()
    assert broken.next_words.startswith("Its instants cannot be computed: The time zone 'Mars/Olympus'")
    assert len((await next_instants(jobs.service, actor, MINUTELY, None, 100)).instants) == 100
    for after in (datetime(1899, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)):
        refusal = await refused_with(ErrorCode.INVALID_REQUEST, next_instants(jobs.service, actor, MINUTELY, after, 5))
        assert "from 1900 to 2200" in refusal.detail


@WALL
async def test_a_foreign_schedule_answers_as_an_unknown_one_and_reading_needs_its_permission(
    jobs: ScheduleDesk,
) -> None:
    jobs.planned(NIGHTLY, tenant="globex", parked_at=jobs.now, parked_reason="theirs")
    jobs.occurrence(NIGHTLY, jobs.now - HOUR, "dead-letter", tenant="globex")
    mine = (await listed(jobs))[NIGHTLY]
    assert (mine.standing, mine.dead, mine.recent) == (ScheduleStanding.UNPLANNED, 0, ())
    assert (await listed(jobs, "g.fin"))[NIGHTLY].dead == 1
    for person in ("m.ito", "o.lind", "s.audit"):
        await read_schedule(jobs.service, jobs.desk.actor(person), NIGHTLY)
    asks: tuple[Any, ...] = (read_schedule, lambda service, actor, named: next_instants(service, actor, named, None, 5))
    for ask in asks:
        refusals = [
            await refused_with(ErrorCode.NOT_FOUND, ask(jobs.service, jobs.desk.actor("m.ito"), identifier))
            for identifier in (ABROAD, "t.elsewhere", "t.never")
        ]
        assert {each.detail.partition(". ")[2] for each in refusals} == {f"Schedules: {', '.join(HERE)}."}
        for person in ("s.bell", "p.push", "a.admin"):
            await refused_with(ErrorCode.PERMISSION_MISSING, ask(jobs.service, jobs.desk.actor(person), NIGHTLY))
    await refused_with(ErrorCode.PERMISSION_MISSING, list_schedules(jobs.service, jobs.desk.actor("s.bell"), None, 5))


async def test_what_a_person_cancelled_ahead_is_not_said_to_run_next(jobs: ScheduleDesk) -> None:
    jobs.planned(MINUTELY)
    actor = jobs.desk.actor("o.lind")
    first, second = (each.at for each in (await read_schedule(jobs.service, actor, MINUTELY)).next[:2])
    jobs.occurrence(MINUTELY, first, "dead-letter", cause="cancelled")
    jobs.occurrence(MINUTELY, first, "dead-letter", tenant="globex", cause="cancelled")
    detail = await read_schedule(jobs.service, actor, MINUTELY)
    assert detail.schedule.next_at == second
    assert [each.runs for each in detail.next[:2]] == [False, True]
    assert detail.next[0].words == "A person cancelled it: it does not run."
    asked: dict[str, Any] = {"cancel_asked_at": jobs.now, "cancelled_by": "o.lind", "cancel_reason": "bank down"}
    jobs.occurrence(MINUTELY, second, **asked)
    detail = await read_schedule(jobs.service, actor, MINUTELY)
    assert (detail.schedule.next_at, [each.runs for each in detail.next[:3]]) == (
        detail.next[2].at,
        [False, False, True],
    )
