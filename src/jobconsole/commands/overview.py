"""Owns the commands of the overview (place `overview`), of alarms (`alarms`), and of stops: holding work still from where
it is seen, the list of what is held (`stops`)."""

from __future__ import annotations

from jobconsole.commands.command import Command, Danger
from jobconsole.commands.situation import Situation
from jobcontract.permissions import Permission

OVERVIEW = ("overview",)
ALARMS = ("alarms",)
STOPS = ("stops",)


def _line(situation: Situation) -> str | None:
    return None if situation.line else "nothing is selected"


def _alarm(situation: Situation) -> str | None:
    return None if situation.alarm is not None else "no alarm is selected"


def _acknowledgeable(situation: Situation) -> str | None:
    if situation.alarm is None:
        return _alarm(situation)
    return "it is over" if situation.alarm.over else None


def _has_alarm(situation: Situation) -> bool:
    return situation.alarm is not None and not situation.alarm.over


def _stoppable(situation: Situation) -> str | None:
    if situation.place == "queues" and situation.queue is None:
        return "no queue is shown"
    if situation.place in ("plan", "progress") and situation.plan is None:
        return "no plan is shown"
    if situation.place in ("jobs", "job") and situation.job is None:
        return "no job is selected"
    if situation.job is not None and situation.job.elsewhere:
        return f"it is a job of {situation.job.elsewhere}, where it is stopped"
    return None


def _liftable(situation: Situation) -> str | None:
    stop = situation.stop
    if stop is None:
        return "no stop is selected"
    if stop.by_code and stop.mine:
        return "you stopped it: another person lifts it"
    return None


def _has_stop(situation: Situation) -> bool:
    return situation.stop is not None


OVERVIEW_COMMANDS: tuple[Command, ...] = (
    Command(
        id="overview.open",
        title="Go to it",
        help="Goes to the place of the line under the cursor: the schedule, the queue, the alarm, the stop.",
        keys=("enter", "i"),
        places=OVERVIEW,
        hint="go to it",
        rank=10,
        judge=_line,
    ),
    Command(
        id="alarm.open",
        title="Go to what it is about",
        help="Shows the schedule, the Worker or the stop that the alarm under the cursor is about.",
        keys=("enter", "i"),
        places=ALARMS,
        permission=Permission.SCHEDULE_READ,
        hint="go to it",
        rank=10,
        judge=_alarm,
    ),
    Command(
        id="alarm.acknowledge",
        title="Acknowledge the alarm …",
        help="Says that you look after it, with a note that everybody reads. It stays open until what it tells of is over.",
        keys=("A",),
        places=(*ALARMS, *OVERVIEW),
        danger=Danger.ACTS,
        permission=Permission.ALARM_ACKNOWLEDGE,
        twin="alarms acknowledge ALARM --note NOTE",
        hint="acknowledge…",
        rank=11,
        concerns=_has_alarm,
        judge=_acknowledgeable,
    ),
    Command(
        id="stop.work",
        title="Stop work …",
        help="Holds work still, with a reason that everybody sees and no code: in a queue that queue, at a plan the command "
        "of it, at a job its kind, from here or the list of stops all work of the tenant.",
        keys=("S",),
        places=("queues", "plan", "progress", "jobs", "job", *OVERVIEW, *STOPS),
        danger=Danger.ACTS,
        permission=Permission.WORK_STOP,
        twin="stops stop SCOPE NAME --reason REASON",
        rank=44,
        judge=_stoppable,
    ),
    Command(
        id="stop.lift",
        title="Lift the stop …",
        help="Lets go on what is held still, with a reason. A command that moves money takes the code of another person in "
        "finance than the one who stopped it.",
        keys=("u",),
        places=STOPS,
        danger=Danger.ACTS,
        permission=Permission.WORK_STOP,
        twin="stops lift SCOPE NAME --reason REASON",
        hint="lift stop…",
        rank=10,
        concerns=_has_stop,
        judge=_liftable,
    ),
    Command(
        id="stop.list",
        title="Show what is stopped",
        help="Lists every stop in force: what is held still, by whom, since when and why.",
        keys=("=",),
        permission=Permission.COLLEAGUE_READ,
        twin="stops list",
        rank=77,
    ),
)
"""Every command of these, as a reader would look for them: the overview, alarms, stops."""
