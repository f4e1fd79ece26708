"""Owns the commands of schedules (place `schedules`), of the occurrences of one (`occurrences`), and of one of those
(`occurrence`)."""

from __future__ import annotations

from jobconsole.commands.command import Command, Danger
from jobconsole.commands.situation import Situation
from jobcontract.permissions import Permission

SCHEDULES = ("schedules",)
OCCURRENCES = ("occurrences",)
ONE = ("occurrence",)


def _schedule(situation: Situation) -> str | None:
    return None if situation.schedule is not None else "no schedule is selected"


def _urgent(situation: Situation) -> str | None:
    return None if situation.urgent else "none is parked, late or retrying"


def _has_urgent(situation: Situation) -> bool:
    return situation.urgent


def _occurrence(situation: Situation) -> str | None:
    return None if situation.occurrence is not None else "no occurrence is selected"


def _cancellable(situation: Situation) -> str | None:
    found = situation.occurrence
    if found is None:
        return _occurrence(situation)
    if found.state.ended:
        return f"it has ended: {found.state}"
    return "it was asked to be cancelled already" if found.cancelling else None


def _goes_on(situation: Situation) -> bool:
    return situation.occurrence is not None and not situation.occurrence.state.ended


SCHEDULE_COMMANDS: tuple[Command, ...] = (
    Command(
        id="schedule.open",
        title="Show its occurrences",
        help="Lists the occurrences of the schedule under the cursor, the latest first.",
        keys=("i", "enter"),
        places=SCHEDULES,
        permission=Permission.SCHEDULE_READ,
        twin="occurrences list --schedule SCHEDULE",
        hint="inspect",
        rank=10,
        judge=_schedule,
    ),
    Command(
        id="schedule.urgent",
        title="Go to the most urgent",
        help="Puts the cursor on the schedule that needs a look first: parked, then late, then retrying.",
        keys=("u",),
        places=SCHEDULES,
        permission=Permission.SCHEDULE_READ,
        hint="most urgent",
        rank=18,
        concerns=_has_urgent,
        judge=_urgent,
    ),
    Command(
        id="schedule.detail",
        title="More or less of the detail",
        help="Gives the detail of the schedule the whole height, or takes it back; tab goes into it, arrows scroll it.",
        keys=("d",),
        places=SCHEDULES,
        permission=Permission.SCHEDULE_READ,
        twin="schedules show SCHEDULE",
        hint="detail",
        rank=19,
        judge=_schedule,
    ),
    Command(
        id="occurrence.open",
        title="Open the occurrence",
        help="Shows where it stands, who holds it under which fence, every attempt, and its items with how each ended.",
        keys=("enter", "i"),
        places=OCCURRENCES,
        permission=Permission.SCHEDULE_READ,
        twin="occurrences show OCCURRENCE",
        hint="open",
        rank=10,
        judge=_occurrence,
    ),
    Command(
        id="occurrence.states",
        title="Next state",
        help="Shows only the occurrences in the next state: all, scheduled, processing, dead letters, completed.",
        keys=("v",),
        places=OCCURRENCES,
        permission=Permission.SCHEDULE_READ,
        twin="occurrences list --schedule SCHEDULE --state STATE",
        hint="state",
        rank=15,
        judge=_schedule,
    ),
    Command(
        id="occurrence.list",
        title="Attempts or items",
        help="Goes from the items of the run to its attempts, and back.",
        keys=("tab",),
        places=ONE,
        permission=Permission.SCHEDULE_READ,
        twin="occurrences show OCCURRENCE",
        hint="attempts, items",
        rank=11,
        judge=_occurrence,
    ),
    Command(
        id="occurrence.cancel",
        title="Cancel the occurrence …",
        help="Asks for a reason, then ends it: what waits is never started, what runs is stopped within a second. What is "
        "done of it stays done, and nothing tries it again.",
        keys=("X",),
        places=(*OCCURRENCES, *ONE),
        danger=Danger.ACTS,
        permission=Permission.OCCURRENCE_CANCEL,
        twin="occurrences cancel OCCURRENCE --reason REASON",
        hint="cancel occurrence…",
        rank=12,
        concerns=_goes_on,
        judge=_cancellable,
    ),
)
"""Every command of schedules and their occurrences, as a reader would look for them."""
