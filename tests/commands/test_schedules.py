"""Why nothing can be done about schedules and occurrences now: the reasons, from what lasts longest to what passes soonest."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jobconsole.commands.catalogue import BY_ID, unavailable
from jobconsole.commands.situation import SelectedOccurrence, Situation
from jobcontract.permissions import GRANTS, Permission
from jobcontract.states import OccurrenceState, Role

RUNS = SelectedOccurrence(state=OccurrenceState.PROCESSING)
SHOWN = Situation(
    place="occurrence",
    tenant="acme",
    permissions=GRANTS[Role.OPERATOR],
    schedule="statements.nightly",
    urgent=True,
    occurrence=RUNS,
)


@pytest.mark.requirement("observe-job-cancellation")
@pytest.mark.parametrize(
    ("situation", "reason"),
    [
        (SHOWN, None),
        (replace(SHOWN, place="occurrences"), None),
        (replace(SHOWN, occurrence=SelectedOccurrence(state=OccurrenceState.SCHEDULED)), None),
        (replace(SHOWN, place="schedules"), "only in occurrences or occurrence"),
        (
            replace(SHOWN, permissions=GRANTS[Role.FINANCE]),
            "That needs occurrence.cancel (operator). Ask an administrator of acme to have it granted on the server.",
        ),
        (replace(SHOWN, read_only=True), "this profile only looks (read_only)"),
        (replace(SHOWN, connected=False), "not while disconnected"),
        (replace(SHOWN, occurrence=None), "no occurrence is selected"),
        (
            replace(SHOWN, occurrence=SelectedOccurrence(state=OccurrenceState.DEAD_LETTER)),
            "it has ended: dead-letter",
        ),
        (replace(SHOWN, occurrence=replace(RUNS, cancelling=True)), "it was asked to be cancelled already"),
    ],
)
def test_why_an_occurrence_cannot_be_cancelled(situation: Situation, reason: str | None) -> None:
    assert unavailable(BY_ID["occurrence.cancel"], situation) == reason


@pytest.mark.parametrize("command", ["schedule.open", "schedule.urgent", "schedule.detail"])
def test_looking_takes_the_permission_and_a_schedule(command: str) -> None:
    there = replace(SHOWN, place="schedules")
    assert unavailable(BY_ID[command], there) is None
    reason = unavailable(BY_ID[command], replace(there, permissions=GRANTS[Role.SUPPORT]))
    assert reason is not None
    assert Permission.SCHEDULE_READ in reason
    assert unavailable(BY_ID[command], replace(there, schedule=None, urgent=False))


def test_rows_of_these_places_need_no_queue() -> None:
    for place in ("schedules", "occurrences", "occurrence", "workers"):
        assert unavailable(BY_ID["row.last"], replace(SHOWN, place=place)) is None
    assert unavailable(BY_ID["row.last"], replace(SHOWN, place="plans")) == "no queue is shown"
