"""Owns running, disabling and enabling a schedule from a screen: each asks in its own dialog, and gives what became of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from jobconsole.client import acts as client
from jobconsole.commands.situation import SelectedSchedule
from jobconsole.present.acts import disable_lines, disabled_words, enable_lines, run_lines
from jobconsole.present.equivalent import typed_instant
from jobconsole.screens.acts import WHY, acted, command_of
from jobconsole.screens.order_form import Given, Order
from jobcontract.states import Moves, ScheduleType

if TYPE_CHECKING:
    from jobconsole.screens.plan_seen import SeenScreen
    from jobcontract.occurrences import Occurrence
    from jobcontract.schedules import Schedule


def schedule_facts(schedule: Schedule | None) -> SelectedSchedule | None:
    """What of a schedule decides which commands can be run."""
    if schedule is None:
        return None
    return SelectedSchedule(
        manual=schedule.type is ScheduleType.MANUAL,
        disabled=schedule.disabled is not None,
        money=schedule.moves is Moves.MONEY,
    )


async def run_now(screen: SeenScreen, schedule: Schedule) -> Occurrence | None:
    """Shows the guard, asks for a reason, and starts it; the occurrence that was made, None where it was given up."""
    service, about = screen.shell.service, run_lines(schedule)
    order = Order(
        title="Run this schedule now?",
        act="Run it now",
        about=lambda: about,
        reason=WHY,
        command=command_of(screen, ("schedules", "run", schedule.id)),
        send=lambda given, key: client.run_schedule(service, schedule.id, given.reason, key),
    )
    answer = await acted(
        screen, order, lambda answer: f"{answer.occurrence.name} was made; it starts once a Worker is free."
    )
    return answer.occurrence if answer is not None else None


async def disable(screen: SeenScreen, schedule: Schedule) -> Schedule | None:
    """Asks for a reason and until when, and switches it off; the schedule as it is then, None where it was given up."""
    service, off = screen.shell.service, schedule.disabled is not None
    about = disable_lines(schedule, screen.at())

    def options(given: Given) -> Mapping[str, str | None]:
        return {"reason": given.reason, "until": typed_instant(given.until)}

    order = Order(
        title="Disable this schedule for longer?" if off else "Disable this schedule?",
        act="Disable it for longer" if off else "Disable the schedule",
        back="Leave it as it is" if off else "Leave it on",
        about=lambda: about,
        reason=WHY,
        until="Enable it by itself at",
        command=command_of(screen, ("schedules", "disable", schedule.id), options),
        send=lambda given, key: client.disable_schedule(service, schedule.id, given.reason, key, given.until),
    )
    answer = await acted(screen, order, lambda answer: disabled_words(answer.schedule, screen.at()))
    return answer.schedule if answer is not None else None


async def enable(screen: SeenScreen, schedule: Schedule) -> Schedule | None:
    """Asks the service what would be made up for, shows it, asks for a reason, and switches it on; None: given up."""
    service = screen.shell.service
    enabling = await client.enabling(service, schedule.id)
    about = enable_lines(enabling, schedule, screen.at())
    order = Order(
        title="Enable this schedule?",
        act="Enable the schedule",
        back="Leave it off",
        about=lambda: about,
        reason=WHY,
        command=command_of(screen, ("schedules", "enable", schedule.id)),
        send=lambda given, key: client.enable_schedule(service, schedule.id, given.reason, key),
    )
    answer = await acted(screen, order, lambda _: f"{schedule.id} is enabled. {enabling.words}")
    return answer.schedule if answer is not None else None
