"""What the headless twins print of occurrences, for eyes and scripts without a screen."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest

from jobconsole.present.plain_schedules import occurrence_lines, occurrences_lines
from jobcontract.states import OccurrenceState
from tests.present.scheduled import occurrence

LONDON = ZoneInfo("Europe/London")


@pytest.mark.requirement("bound-job-retries", "persist-occurrence-state")
def test_a_dead_letter_is_listed_with_cause_attempts_and_times() -> None:
    _, dead, done = occurrences_lines(
        (occurrence(), occurrence(state=OccurrenceState.COMPLETED, cause=None, error=None)), LONDON
    )
    assert dead.startswith("statements.nightly@2026-10-24T00:30:00Z")
    for said in (
        "dead-letter",
        "Sat 2026-10-24 01:30 BST",
        "3 of 3",
        "Sat 2026-10-24 01:34 BST  failed  2 of 120 items",
    ):
        assert said in dead
    assert "  failed  " not in done


@pytest.mark.requirement("define-business-local-clock-behavior", "test-time-transitions")
def test_one_says_zone_policy_and_the_version_that_it_was_computed_with() -> None:
    lines = {line.split()[0]: line for line in occurrence_lines(occurrence(), LONDON)}
    assert lines["zone"].endswith("Europe/London (tzdata 2026b; skipped and repeated times: run-at-gap-end, first)")
    plain = {line.split()[0]: line for line in occurrence_lines(occurrence(clock_policy=None), LONDON)}
    assert plain["zone"].endswith("Europe/London (tzdata 2026b)")
