"""How schedules are written: rhythm in words, the next five instants with what the clock does to them, what was skipped."""

from __future__ import annotations

from datetime import UTC, timedelta
from zoneinfo import ZoneInfo

import pytest

from jobconsole.places import PLACES
from jobconsole.present.columns import Line, Tone, plain
from jobconsole.present.schedule_list import schedules_cells, schedules_title, strip_of
from jobconsole.present.schedules import (
    STANDINGS,
    URGENT,
    At,
    clock_words,
    most_urgent,
    next_words,
    overdue,
    planned_line,
    schedule_lines,
    signs,
    skipped_line,
)
from jobcontract.schedules import Disabled
from jobcontract.session import Person
from jobcontract.states import Repeated, ScheduleStanding, Skipped
from tests.present.scheduled import (
    AT,
    BACK,
    NOW,
    RHYTHM,
    SKIPPED,
    UTC_RHYTHM,
    detail,
    page,
    planned,
    recent,
    schedule,
    wall,
)

RHYTHMS = pytest.mark.requirement("carry-the-schedule-on-the-job-record", "prefer-utc-schedules")
CLOCK = pytest.mark.requirement("define-business-local-clock-behavior", "TIME-01")
MISFIRES = pytest.mark.requirement("define-misfire-recovery", "TIME-05")


def texts(lines: list[Line]) -> list[str]:
    return [plain(line) for line in lines]


def test_every_standing_has_a_sign_a_word_and_a_colour() -> None:
    assert set(STANDINGS) == set(ScheduleStanding)
    shown = [word for word, _ in STANDINGS.values()]
    assert len({word[0] for word in shown}) == len(shown)
    assert all(word.partition(" ")[2] for word in shown)
    assert {STANDINGS[each][1] for each in URGENT} <= {Tone.WARN, Tone.BAD}


@RHYTHMS
def test_a_row_tells_state_rhythm_next_and_the_newest_outcomes_that_have_room() -> None:
    cells = schedules_cells(schedule(recent=recent("✓△✗◆◌·")), AT, 4)
    assert {name: piece.text for name, piece in cells.items()} == {
        "state": "● on time",
        "name": "statements.nightly",
        "rhythm": "daily at 01:30, Europe/London",
        "next": "in 2 h 30 min",
        "last": "✗◆◌·",
    }
    assert cells["last"].tone is Tone.BAD
    assert signs(recent("✗✓"))[-1] == "✓"
    assert schedules_cells(schedule(recent=recent("✗✓")), AT)["last"].tone is Tone.PLAIN
    assert next_words(schedule(next_at=None), AT) == "–"
    assert next_words(schedule(next_at=NOW - timedelta(seconds=9)), AT) == "now"


def test_the_heading_counts_over_all_pages_and_names_the_most_urgent() -> None:
    rows = [
        schedule("a", standing=ScheduleStanding.RETRYING),
        schedule("b", standing=ScheduleStanding.LATE),
        schedule("c", standing=ScheduleStanding.PARKED),
        schedule("d", standing=ScheduleStanding.ON_TIME),
    ]
    assert most_urgent(rows) is rows[2]
    assert most_urgent(rows[3:]) is None
    head = page(*rows, total=14)
    assert plain(schedules_title(head, rows, rows[2], "u", 78)) == "Schedules 14 · 1 late · 1 parked · u most urgent: c"
    assert plain(schedules_title(head, rows, rows[2], "u", 36)) == "Schedules 14 · 1 late · 1 parked"
    assert (
        plain(schedules_title(page(rows[3]), rows[3:], None, "u", 78)) == "Schedules 1 · none late, parked or retrying"
    )
    rows[2] = schedule("c", standing=ScheduleStanding.PARKED, dead=2)
    told = plain(schedules_title(head, rows, rows[2], "u", 60))
    assert told == "Schedules 14 · 1 late · 1 parked · 2 dead · u most urgent: c"
    waits = [schedule("a", dead=6), schedule("b", dead=1)]
    assert plain(schedules_title(page(*waits), waits, None, "u", 78)) == "Schedules 2 · 7 dead letters"
    assert plain(schedules_title(page(waits[1]), waits[1:], None, "u", 78)) == "Schedules 1 · 1 dead letter"


@RHYTHMS
@CLOCK
def test_the_next_five_stand_in_utc_and_on_the_zones_clock_and_a_repeated_hour_is_marked() -> None:
    shown = texts(schedule_lines(schedule(), detail(), AT))
    at = shown.index("rhythm    daily at 01:30, Europe/London")
    assert shown[at + 1 : at + 6] == [
        "next      2026-10-25 00:30Z  Sun 01:30 BST  in 2 h 30 min  ▲ 01:30 comes twice that night: runs at the first, BST.",
        "          – 2026-10-25 01:30Z  Sun 01:30 GMT  ▲ 01:30 comes twice that night: it does not run at GMT.",
        "          2026-10-26 01:30Z  Mon 01:30 GMT  in 1 d 3 h",
        "          2026-10-27 01:30Z  Tue 01:30 GMT  in 2 d 3 h",
        "          2026-10-28 01:30Z  Wed 01:30 GMT  in 3 d 3 h",
    ]
    both = "clock     a time that the clock leaves out runs at the end of that hour (run-at-gap-end)"
    assert both in shown
    assert "          a time that comes twice runs at the first of the two (first)" in shown


@CLOCK
@pytest.mark.parametrize("skipped", Skipped)
@pytest.mark.parametrize("repeated", Repeated)
def test_both_policies_are_shown_whichever_they_are(skipped: Skipped, repeated: Repeated) -> None:
    gap, twice = clock_words(RHYTHM.model_copy(update={"skipped": skipped, "repeated": repeated}))
    assert gap.endswith(f"({skipped})")
    assert twice.endswith(f"({repeated})")
    assert not clock_words(UTC_RHYTHM)


@CLOCK
def test_a_time_that_the_clock_leaves_out_has_no_instant_only_what_stood_on_the_wall() -> None:
    words = "01:30 does not exist that night: it does not run."
    left = planned(3, wall(25), None, offset=None, runs=False, words=words)
    assert plain(planned_line(left, "Europe/London", AT)) == f"– 2026-10-25 01:30  ▲ {words}"


def test_a_wall_clock_of_another_day_has_its_date_and_utc_needs_none() -> None:
    auckland = planned(14, (NOW + timedelta(hours=27)).replace(tzinfo=None), "NZDT")
    assert "Mon 2026-10-26 01:00 NZDT" in plain(planned_line(auckland, "Pacific/Auckland", AT))
    at_utc = At(now=NOW, zone=UTC)
    assert plain(planned_line(planned(1 / 120, None, None), "", at_utc)) == "2026-10-24 22:00:30Z  in 30 s"
    assert plain(planned_line(BACK[2], "", AT)) == "2026-10-26 01:30Z  in 1 d 3 h"


@CLOCK
def test_a_reader_in_a_third_zone_reads_the_time_on_their_own_clock_as_well() -> None:
    paris = At(now=NOW, zone=ZoneInfo("Europe/Paris"))
    told = plain(planned_line(BACK[0], "Europe/London", paris))
    assert told.startswith(
        "2026-10-25 00:30Z  Sun 01:30 BST  in 2 h 30 min · Sun 02:30 CEST for you  ▲ 01:30 comes twice"
    )
    assert "for you" not in plain(planned_line(BACK[0], "Europe/London", AT)), "it stands there already"
    utc_schedule = plain(planned_line(planned(1 / 120, None, None), "", AT))
    assert utc_schedule == "2026-10-24 22:00:30Z  in 30 s · Sat 23:00 BST for you"


@MISFIRES
def test_what_was_skipped_is_named_with_its_cause_and_what_ran_in_its_place() -> None:
    assert plain(skipped_line(SKIPPED, AT)) == (
        "4 from 2026-10-21 20:00Z to 21:00Z · Missed by more than 10 min; the latest of them ran in their place"
        " · ran once, as 2026-10-21 22:00Z · decided 3 d ago"
    )
    one = SKIPPED.model_copy(update={"count": 1, "cause": "", "merged_into": None, "last_at": SKIPPED.first_at})
    assert plain(skipped_line(one, AT)).startswith(
        "2026-10-21 20:00Z · missed; one run for all that was missed · decided"
    )
    shown = texts(schedule_lines(schedule(), detail(), AT))
    assert any(
        line.startswith("missed    Of the instants not started 10 min past its time the latest runs") for line in shown
    )


def test_why_a_schedule_is_parked_or_off_comes_first() -> None:
    parked = schedule(
        standing=ScheduleStanding.PARKED,
        standing_words="There is no zone Europe/Lundon.",
        next_at=None,
        dead=2,
        waiting=1_000,
    )
    shown = texts(schedule_lines(parked, detail(parked, next=(), next_words="It is parked."), AT))
    assert shown[0] == "✗ There is no zone Europe/Lundon."
    assert shown[1] == "1,000 or more due and not started · 2 dead letters"
    assert "next      It is parked." in shown
    off = Disabled(
        at=NOW - timedelta(minutes=4),
        until=NOW + timedelta(hours=8),
        by=Person(id="o.lind", name="Olle Lind"),
        reason="bank down",
    )
    told = schedule(standing=ScheduleStanding.DISABLED, standing_words="Disabled by Olle Lind.", disabled=off)
    shown = texts(schedule_lines(told, None, AT))
    assert shown[0] == '‖ disabled by o.lind until 25 Oct 06:00: "bank down" · 4 min ago'
    assert shown[1:3] == ["rhythm    daily at 01:30, Europe/London", "next      in 2 h 30 min"]
    to_come = texts(schedule_lines(told, detail(told), AT))[2:7]
    assert [line.endswith("  ‖ disabled then") for line in to_come] == [True, True, False, False, False]
    also_late = schedule(standing=ScheduleStanding.LATE, standing_words="Late by 4 min.", disabled=off)
    assert texts(schedule_lines(also_late, None, AT))[:2] == ["▲ Late by 4 min. 6 shows the Workers.", shown[0]]
    assert schedules_cells(told, AT)["state"].text == '‖ disabled by o.lind until 25 Oct 06:00: "bank down"'


def test_where_all_is_well_the_sentence_counts_on_with_the_lines_below_it() -> None:
    told = schedule(standing_words="On time. Runs next in 58 s. Last completed 1 s ago.")
    told = told.model_copy(
        update={"next_at": NOW + timedelta(seconds=44), "last_completed_at": NOW - timedelta(seconds=15)}
    )
    assert texts(schedule_lines(told, None, AT))[0] == "● On time. Runs next in 44 s. Last completed 15 s ago."
    never = told.model_copy(update={"last_completed_at": None})
    assert texts(schedule_lines(never, None, AT))[0].endswith("It has not been completed yet.")
    key = next(place.key for place in PLACES if place.id == "workers")
    late = told.model_copy(update={"standing": ScheduleStanding.LATE, "standing_words": "Late by 9 s."})
    assert texts(schedule_lines(late, None, AT))[0] == f"▲ Late by 9 s. {key} shows the Workers."
    unseen = told.model_copy(update={"standing": ScheduleStanding.UNPLANNED, "standing_words": "Is one running?"})
    assert texts(schedule_lines(unseen, None, AT))[0] == f"? Is one running? {key} shows the Workers."


@pytest.mark.parametrize(
    ("width", "cells"), [(40, 8), (80, 8), (100, 18), (119, 27), (120, 10), (140, 10), (150, 20), (160, 30), (300, 30)]
)
def test_the_strip_of_outcomes_grows_with_the_screen_to_all_that_are_told(width: int, cells: int) -> None:
    assert strip_of(width) == cells


def test_what_should_have_run_since_it_was_told_is_asked_about_again() -> None:
    told = schedule(next_at=NOW + timedelta(seconds=1))
    assert not overdue([told, schedule(next_at=None)], NOW)
    assert not overdue([told], NOW + timedelta(seconds=6))
    assert overdue([told], NOW + timedelta(seconds=7))
    assert overdue([schedule(standing=ScheduleStanding.LATE)], NOW)


def test_in_utc_no_change_of_the_clock_is_told() -> None:
    both = {"skipped": Skipped.SKIP, "repeated": Repeated.BOTH}
    assert clock_words(RHYTHM.model_copy(update=both))
    assert clock_words(UTC_RHYTHM.model_copy(update=both)) == ()
