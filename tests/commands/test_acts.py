"""Why an act on a schedule, an occurrence or a Worker cannot be run now: permission, profile, connection, then how it stands."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jobconsole.commands.acts import ACT_COMMANDS
from jobconsole.commands.catalogue import BY_ID, unavailable
from jobconsole.commands.command import Danger
from jobconsole.commands.situation import SelectedOccurrence, SelectedSchedule, SelectedWorker, Situation
from jobcontract.permissions import GRANTS
from jobcontract.states import OccurrenceState, Role

AT = Situation(place="schedules", tenant="acme", permissions=GRANTS[Role.OPERATOR], schedule="statements.nightly")
RUNS_ITSELF, BY_HAND = SelectedSchedule(manual=False, disabled=False), SelectedSchedule(manual=True, disabled=False)
OFF = replace(RUNS_ITSELF, disabled=True)
IN_LIST = replace(AT, place="occurrences", occurrence=SelectedOccurrence(state=OccurrenceState.DEAD_LETTER))
AT_WORKERS = replace(AT, place="workers", worker=SelectedWorker(stopped=False, drain_asked=False))
DRAINED = replace(AT_WORKERS, worker=SelectedWorker(stopped=False, drain_asked=True))
DONE = replace(IN_LIST, occurrence=SelectedOccurrence(state=OccurrenceState.COMPLETED))


def seen(schedule: SelectedSchedule) -> Situation:
    """The place of schedules with that one selected."""
    return replace(AT, schedule_now=schedule)


@pytest.mark.requirement("run-manual-jobs-under-their-guard", "provide-operational-recovery-procedures")
@pytest.mark.parametrize(
    ("command", "situation", "reason"),
    [
        ("schedule.run", seen(BY_HAND), None),
        ("schedule.run", seen(RUNS_ITSELF), "it runs by itself: only a manual one is run by hand"),
        ("schedule.run", seen(replace(BY_HAND, money=True)), "it moves money: only a confirmed recovery runs that"),
        ("schedule.run", seen(replace(BY_HAND, disabled=True)), "it is disabled"),
        ("schedule.run", AT, "how it stands is not known yet"),
        ("schedule.disable", seen(RUNS_ITSELF), None),
        ("schedule.disable", seen(OFF), None),
        ("schedule.disable", replace(AT, schedule=None), "no schedule is selected"),
        ("schedule.enable", seen(OFF), None),
        ("schedule.enable", seen(RUNS_ITSELF), "it is not disabled"),
        ("occurrence.replay", IN_LIST, None),
        ("occurrence.replay", DONE, None),
        ("occurrence.replay", replace(IN_LIST, occurrence=None), "no occurrence is selected"),
        (
            "occurrence.replay",
            replace(IN_LIST, occurrence=SelectedOccurrence(state=OccurrenceState.SCHEDULED)),
            "it has not ended: scheduled",
        ),
        (
            "occurrence.replay",
            replace(IN_LIST, occurrence=SelectedOccurrence(state=OccurrenceState.DEAD_LETTER, money=True)),
            "it moves money: only a confirmed recovery replays that",
        ),
        ("occurrence.discard", IN_LIST, None),
        ("occurrence.discard", DONE, "it is no dead letter: completed"),
        (
            "occurrence.discard",
            replace(IN_LIST, occurrence=SelectedOccurrence(state=OccurrenceState.DEAD_LETTER, discarded=True)),
            "it was discarded already",
        ),
        ("worker.drain", AT_WORKERS, None),
        ("worker.drain", DRAINED, "it was asked to take nothing new already"),
        (
            "worker.drain",
            replace(AT_WORKERS, worker=SelectedWorker(stopped=False, drain_asked=False, ending=True)),
            "it is being stopped already",
        ),
        ("worker.drain", replace(AT_WORKERS, worker=SelectedWorker(stopped=True, drain_asked=False)), "it has stopped"),
        ("worker.undrain", DRAINED, None),
        ("worker.undrain", AT_WORKERS, "nobody asked it to take nothing new"),
        ("runbook.perform", replace(AT, place="runbook"), None),
        ("runbook.perform", replace(AT, place="runbook", procedure_refused="Not you."), "Not you."),
    ],
)
def test_how_it_stands_decides(command: str, situation: Situation, reason: str | None) -> None:
    assert unavailable(BY_ID[command], situation) == reason


FITTING = {
    "schedule.run": seen(BY_HAND),
    "schedule.disable": seen(RUNS_ITSELF),
    "schedule.enable": seen(OFF),
    "occurrence.replay": IN_LIST,
    "occurrence.discard": IN_LIST,
    "worker.drain": AT_WORKERS,
    "worker.undrain": DRAINED,
}


@pytest.mark.parametrize("command", [each.id for each in ACT_COMMANDS if each.danger is Danger.ACTS])
@pytest.mark.parametrize("role", Role)
def test_only_an_operator_acts_live_and_not_read_only(command: str, role: Role) -> None:
    situation = replace(FITTING[command], permissions=GRANTS[role])
    reason = unavailable(BY_ID[command], situation)
    assert (reason is None) == (role is Role.OPERATOR)
    assert reason is None or "(operator). Ask an administrator of acme" in reason
    if reason is None:
        assert unavailable(BY_ID[command], replace(situation, connected=False)) == "not while disconnected"
        assert unavailable(BY_ID[command], replace(situation, read_only=True)) == "this profile only looks (read_only)"
