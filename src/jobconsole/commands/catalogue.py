"""Owns the one list of commands and the one decision whether a command can be run. The service decides again by
itself; this decision only greys a command out, with its reason.

How a screen uses it: `commands_of(place)` gives its commands, `unavailable(command, situation)` the reason or None.
A new command is one more entry in the tuple of its noun (`commands/queues.py`, ...), never a key handler.
"""

from __future__ import annotations

from collections.abc import Mapping

from jobconsole.commands.acts import ACT_COMMANDS
from jobconsole.commands.audit import AUDIT_COMMANDS
from jobconsole.commands.command import Command, Danger
from jobconsole.commands.filters import FILTER_COMMANDS
from jobconsole.commands.finding import FIND_COMMANDS
from jobconsole.commands.jobs import JOB_COMMANDS
from jobconsole.commands.money import MONEY_COMMANDS, UNCERTAIN_COMMANDS
from jobconsole.commands.overview import OVERVIEW_COMMANDS
from jobconsole.commands.plans import PLAN_COMMANDS
from jobconsole.commands.queues import QUEUE_COMMANDS
from jobconsole.commands.recoveries import RECOVERY_COMMANDS
from jobconsole.commands.rows import ROW_COMMANDS
from jobconsole.commands.schedules import SCHEDULE_COMMANDS
from jobconsole.commands.scores import SCORE_COMMANDS
from jobconsole.commands.shell import SHELL_COMMANDS
from jobconsole.commands.situation import SelectedItem, Situation
from jobcontract.permissions import missing

__all__ = [
    "BY_ID",
    "COMMANDS",
    "Command",
    "Danger",
    "SelectedItem",
    "Situation",
    "applies",
    "commands_of",
    "unavailable",
]

COMMANDS: tuple[Command, ...] = (
    *QUEUE_COMMANDS,
    *UNCERTAIN_COMMANDS,
    *PLAN_COMMANDS,
    *ROW_COMMANDS,
    *FILTER_COMMANDS,
    *SCORE_COMMANDS,
    *SCHEDULE_COMMANDS,
    *ACT_COMMANDS,
    *RECOVERY_COMMANDS,
    *JOB_COMMANDS,
    *FIND_COMMANDS,
    *OVERVIEW_COMMANDS,
    *AUDIT_COMMANDS,
    *MONEY_COMMANDS,
    *SHELL_COMMANDS,
)
"""Every command, as a reader would look for them: first the work, then the shell."""

BY_ID: Mapping[str, Command] = {command.id: command for command in COMMANDS}


def applies(command: Command, place: str) -> bool:
    """Whether `command` belongs to `place` at all."""
    return not command.places or place in command.places


def commands_of(place: str) -> tuple[Command, ...]:
    """The commands of `place` in the order of the catalogue, those of the shell last."""
    return tuple(command for command in COMMANDS if applies(command, place))


def unavailable(command: Command, situation: Situation) -> str | None:
    """Why `command` cannot be run in `situation`, in words that end a sentence; None when it can.

    The order is from what lasts longest to what passes soonest: place, signed in, permission, read-only profile,
    connection, the command's own condition.
    """
    if not applies(command, situation.place):
        return f"only in {' or '.join(command.places)}"
    if (command.permission is not None or command.changes) and not situation.signed_in:
        return "sign in first"
    if command.permission is not None and command.permission not in situation.permissions:
        return missing(command.permission, situation.tenant)
    if command.changes and situation.read_only:
        return "this profile only looks (read_only)"
    if command.changes and not situation.connected:
        return "not while disconnected"
    return command.judge(situation) if command.judge is not None else None
