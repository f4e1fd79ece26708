"""Owns the commands of an operator on one schedule, one occurrence, one Worker, and of what helps before acting: why it is
not running, its runbooks, the simulator. Acts on many at once: `recoveries`."""

from __future__ import annotations

from jobconsole.commands.command import Command, Danger
from jobconsole.commands.situation import Situation
from jobcontract.permissions import Permission
from jobcontract.states import OccurrenceState

SCHEDULES = ("schedules",)
OCCURRENCES = ("occurrences", "occurrence")
RUNBOOK, WHY, SIMULATOR, WORKERS = ("runbook",), ("why",), ("simulator",), ("workers",)


def _schedule(situation: Situation) -> str | None:
    return None if situation.schedule is not None else "no schedule is selected"


def _performable(situation: Situation) -> str | None:
    return _schedule(situation) or situation.procedure_refused


def _runnable(situation: Situation) -> str | None:
    found = situation.schedule_now
    if found is None:
        return _schedule(situation) or "how it stands is not known yet"
    if not found.manual:
        return "it runs by itself: only a manual one is run by hand"
    if found.money:
        return "it moves money: only a confirmed recovery runs that"
    return "it is disabled" if found.disabled else None


def _known(situation: Situation) -> str | None:
    """One that is disabled may be disabled for longer."""
    return _schedule(situation) or ("how it stands is not known yet" if situation.schedule_now is None else None)


def _disabled(situation: Situation) -> str | None:
    found = situation.schedule_now
    if found is None:
        return _schedule(situation) or "how it stands is not known yet"
    return None if found.disabled else "it is not disabled"


def _is_manual(situation: Situation) -> bool:
    return situation.schedule_now is not None and situation.schedule_now.manual


def _is_enabled(situation: Situation) -> bool:
    return situation.schedule_now is not None and not situation.schedule_now.disabled


def _is_disabled(situation: Situation) -> bool:
    return situation.schedule_now is not None and situation.schedule_now.disabled


def _replayable(situation: Situation) -> str | None:
    found = situation.occurrence
    if found is None:
        return "no occurrence is selected"
    if not found.state.ended:
        return f"it has not ended: {found.state}"
    return "it moves money: only a confirmed recovery replays that" if found.money else None


def _ended(situation: Situation) -> bool:
    return situation.occurrence is not None and situation.occurrence.state.ended


def _discardable(situation: Situation) -> str | None:
    found = situation.occurrence
    if found is None:
        return "no occurrence is selected"
    if found.state is not OccurrenceState.DEAD_LETTER:
        return f"it is no dead letter: {found.state}"
    return "it was discarded already" if found.discarded else None


def _is_dead(situation: Situation) -> bool:
    found = situation.occurrence
    return found is not None and found.state is OccurrenceState.DEAD_LETTER and not found.discarded


def _drainable(situation: Situation) -> str | None:
    found = situation.worker
    if found is None:
        return "no Worker is selected"
    if found.stopped:
        return "it has stopped"
    if found.ending:
        return "it is being stopped already"
    return "it was asked to take nothing new already" if found.drain_asked else None


def _drained(situation: Situation) -> str | None:
    found = situation.worker
    if found is None:
        return "no Worker is selected"
    if found.stopped:
        return "it has stopped"
    return None if found.drain_asked else "nobody asked it to take nothing new"


def _was_drained(situation: Situation) -> bool:
    return situation.worker is not None and situation.worker.drain_asked


def _takes(situation: Situation) -> bool:
    return situation.worker is not None and not situation.worker.drain_asked


ACT_COMMANDS: tuple[Command, ...] = (
    Command(
        id="why.show",
        title="Why is it not running?",
        help="Says in a sentence why it does not run now, with the evidence, what to do, and what else was checked.",
        keys=("w",),
        places=(*SCHEDULES, *OCCURRENCES),
        permission=Permission.SCHEDULE_READ,
        twin="schedules why SCHEDULE",
        hint="why",
        rank=9,
        judge=_schedule,
    ),
    Command(
        id="schedule.run",
        title="Run now …",
        help="Asks for a reason, then starts a manual schedule under its guard: by whom, when and where it may be run is "
        "shown before.",
        keys=("N",),
        places=(*SCHEDULES, *WHY, *RUNBOOK),
        danger=Danger.ACTS,
        permission=Permission.SCHEDULE_RUN,
        twin="schedules run SCHEDULE --reason REASON",
        hint="run now…",
        rank=12,
        concerns=_is_manual,
        judge=_runnable,
    ),
    Command(
        id="schedule.disable",
        title="Disable the schedule …",
        help="Asks for a reason, which everybody sees, and until when: nothing of it starts any more; what runs goes on to "
        "its end. With a time it is enabled by itself then. One that is disabled stays so for longer.",
        keys=("D",),
        places=(*SCHEDULES, *RUNBOOK),
        danger=Danger.ACTS,
        permission=Permission.SCHEDULE_DISABLE,
        twin="schedules disable SCHEDULE --reason REASON",
        hint="disable…",
        rank=14,
        concerns=_is_enabled,
        judge=_known,
    ),
    Command(
        id="schedule.enable",
        title="Enable the schedule …",
        help="Says first what it would make up for and what it would skip, then asks for a reason and switches it on.",
        keys=("E",),
        places=(*SCHEDULES, *WHY, *RUNBOOK),
        danger=Danger.ACTS,
        permission=Permission.SCHEDULE_DISABLE,
        twin="schedules enable SCHEDULE --reason REASON",
        hint="enable…",
        rank=14,
        concerns=_is_disabled,
        judge=_disabled,
    ),
    Command(
        id="schedule.simulate",
        title="Simulate",
        help="Shows what it does in a stretch of time, with downtimes, as it is and with another rhythm or policy. Nothing "
        "is ever saved.",
        keys=("m",),
        places=(*SCHEDULES, *WHY),
        permission=Permission.SCHEDULE_READ,
        twin="schedules simulate SCHEDULE --from FROM --to TO",
        hint="simulate",
        rank=15,
        judge=_schedule,
    ),
    Command(
        id="runbook.show",
        title="Runbooks",
        help="Shows how it is inspected, replayed and disabled: steps, interface, who may, what was done before.",
        keys=("R",),
        places=(*SCHEDULES, *OCCURRENCES, *WHY),
        permission=Permission.SCHEDULE_READ,
        twin="schedules runbook SCHEDULE",
        hint="runbook",
        rank=17,
        judge=_schedule,
    ),
    Command(
        id="runbook.perform",
        title="Perform the procedure",
        help="Opens what performs the procedure that is selected; nothing is done before its own dialog is confirmed.",
        keys=("enter",),
        places=RUNBOOK,
        permission=Permission.SCHEDULE_READ,
        hint="perform",
        rank=10,
        judge=_performable,
    ),
    Command(
        id="occurrence.replay",
        title="Replay the occurrence …",
        help="Asks for a reason, then has one that ended run again: every item of it that is not done.",
        keys=("y",),
        places=(*OCCURRENCES, *WHY),
        danger=Danger.ACTS,
        permission=Permission.OCCURRENCE_REPLAY,
        twin="occurrences replay OCCURRENCE --reason REASON",
        hint="replay…",
        rank=12,
        concerns=_ended,
        judge=_replayable,
    ),
    Command(
        id="occurrence.discard",
        title="Discard the dead letter …",
        help="Asks for a reason, then puts a dead letter away: it stays to be read, and counts and alarms no more.",
        keys=("K",),
        places=OCCURRENCES,
        danger=Danger.ACTS,
        permission=Permission.OCCURRENCE_DISCARD,
        twin="occurrences discard OCCURRENCE --reason REASON",
        hint="discard…",
        rank=13,
        concerns=_is_dead,
        judge=_discardable,
    ),
    Command(
        id="simulator.edit",
        title="Change what is simulated …",
        help="Opens the form again: from, to, downtimes, and what is to be different.",
        keys=("enter", "e"),
        places=SIMULATOR,
        permission=Permission.SCHEDULE_READ,
        twin="schedules simulate SCHEDULE --from FROM --to TO",
        hint="change",
        rank=10,
        judge=_schedule,
    ),
    Command(
        id="simulator.course",
        title="The other course",
        help="Goes from the course by the record to the one by the edit, and back.",
        keys=("tab",),
        places=SIMULATOR,
        permission=Permission.SCHEDULE_READ,
        hint="other course",
        rank=11,
        judge=_schedule,
    ),
    Command(
        id="worker.drain",
        title="Drain the Worker …",
        help="Asks for a reason, then has it take nothing new; what it has it ends. It stays alive and can be let on again.",
        keys=("D",),
        places=WORKERS,
        danger=Danger.ACTS,
        permission=Permission.WORKER_DRAIN,
        twin="workers drain WORKER --reason REASON",
        hint="drain…",
        rank=10,
        concerns=_takes,
        judge=_drainable,
    ),
    Command(
        id="worker.undrain",
        title="Let the Worker take work again …",
        help="Asks for a reason, then lets a Worker that was asked to drain take work again.",
        keys=("E",),
        places=WORKERS,
        danger=Danger.ACTS,
        permission=Permission.WORKER_DRAIN,
        twin="workers undrain WORKER --reason REASON",
        hint="let it take work…",
        rank=10,
        concerns=_was_drained,
        judge=_drained,
    ),
)
"""Every command of an operator's single acts, as a reader would look for them."""
