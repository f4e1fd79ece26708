"""What the headless twins print of occurrences, for eyes and scripts without a screen."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest

from jobconsole.present.plain_schedules import occurrence_lines, occurrences_lines, schedule_lines
from jobcontract.occurrences import ItemCounts
from jobcontract.states import OccurrenceState, ScheduleStanding
from tests.present.scheduled import AT, LONDON, NOW, detail, occurrence, schedule


@pytest.mark.requirement("bound-job-retries", "persist-occurrence-state")
def test_a_dead_letter_is_listed_with_cause_attempts_and_times() -> None:
    head, dead, done = occurrences_lines(
        (occurrence(), occurrence(state=OccurrenceState.COMPLETED, cause=None, error=None)), AT
    )
    assert "without an outcome" in head
    assert dead.startswith("statements.nightly@2026-10-24T00:30:00Z")
    for said in (
        "dead-letter",
        "Sat 2026-10-24 01:30 BST",
        "3 of 3",
        "Sat 2026-10-24 01:34 BST  failed  2 of 120 items",
    ):
        assert said in dead
    assert "  failed  " not in done


@pytest.mark.parametrize("standing", ScheduleStanding)
def test_a_schedule_that_nobody_starts_says_where_to_look(standing: ScheduleStanding) -> None:
    told = [
        line for line in schedule_lines(detail(schedule(standing=standing)), LONDON) if "jobconsole workers" in line
    ]
    assert bool(told) is (standing in (ScheduleStanding.LATE, ScheduleStanding.UNPLANNED))


WAITS: dict[str, Any] = {
    "state": OccurrenceState.SCHEDULED,
    "attempts": 0,
    "started_at": None,
    "ended_at": None,
    "cause": None,
    "error": None,
    "items": ItemCounts(done=0, refused=0, failed=0, unfinished=0, selected_all=False),
    "due_at": NOW - timedelta(seconds=45),
}


def test_what_is_late_says_so_in_the_words_of_the_screen() -> None:
    waits = occurrence(**WAITS)
    late: dict[str, Any] = {"scheduled_at": NOW - timedelta(minutes=1), "started_at": NOW - timedelta(seconds=23)}
    again = {**WAITS, "attempts": 1, "started_at": waits.scheduled_at}
    rows = [
        (waits, "  not started, due since 45 s  "),
        (waits.model_copy(update={"due_at": NOW + timedelta(minutes=1)}), None),
        (waits.model_copy(update={"cancel_asked_at": NOW}), None),
        (occurrence(**again), "  next attempt since 45 s  "),
        (occurrence(state=OccurrenceState.COMPLETED, ended_at=NOW, **late), "  started 37 s late  "),
    ]
    lines = occurrences_lines([each for each, _ in rows], AT)[1:]
    for line, (_, told) in zip(lines, rows, strict=True):
        assert (told in line) if told else not re.search("late|since", line), line
    assert any(line.endswith("· started 37 s late") for line in occurrence_lines(occurrence(**late), LONDON))


def test_what_is_still_to_be_selected_is_said_as_on_the_screen() -> None:
    def items(**more: Any) -> str:
        lines = {line.split()[0]: line for line in occurrence_lines(occurrence(**more), LONDON)}
        return lines["items"].removeprefix("items").strip()

    assert items(**WAITS) == "selected once it starts"
    assert items(**{**WAITS, "started_at": NOW}) == "more to select"
    assert items(**{**WAITS, "state": OccurrenceState.DEAD_LETTER}) == "none was selected"
    some = ItemCounts(done=1, refused=0, failed=2, unfinished=3, selected_all=False)
    counts = "1 done, 0 refused, 2 failed, 3 without an outcome"
    assert items(items=some) == f"{counts}; not all were selected"
    assert items(**{**WAITS, "items": some}) == f"{counts}; more to select"
    assert items(items=some.model_copy(update={"selected_all": True})) == counts


@pytest.mark.requirement("define-business-local-clock-behavior", "test-time-transitions")
def test_one_says_zone_policy_and_the_version_that_it_was_computed_with() -> None:
    lines = {line.split()[0]: line for line in occurrence_lines(occurrence(), LONDON)}
    assert lines["zone"].endswith("Europe/London (tzdata 2026b; skipped and repeated times: run-at-gap-end, first)")
    plain = {line.split()[0]: line for line in occurrence_lines(occurrence(clock_policy=None), LONDON)}
    assert plain["zone"].endswith("Europe/London (tzdata 2026b)")
