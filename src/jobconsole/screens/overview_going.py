"""Owns where a line of the overview, or an alarm, leads: the screen of its subject, in front of what is shown, so that
back comes back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jobconsole.places import PLACES as ALL_PLACES
from jobconsole.places import find, resolve
from jobconsole.present.jobs import UNDER_WAY
from jobconsole.present.overview import PLACES, Goal, Lead
from jobconsole.screens.queues_opening import open_uncertain
from jobconsole.screens.stops_acting import list_stops
from jobcontract.operating import AlarmKind

if TYPE_CHECKING:
    from jobconsole.screens.place import PlaceScreen
    from jobcontract.alarms import Alarm


JOBS = "jobconsole.screens.jobs:JobsScreen"


async def go_to(screen: PlaceScreen, lead: Lead) -> None:
    """Shows what the line is about."""
    goal = lead.goal
    if goal is None:
        return
    if goal is Goal.STOPS:
        list_stops(screen, lead.id)
    elif goal is Goal.UNCERTAIN:
        await open_uncertain(screen)
    elif goal is Goal.DEAD:
        open_dead(screen)
    elif goal is Goal.JOBS:
        screen.app.push_screen(resolve(JOBS)("", UNDER_WAY))
    else:
        open_place(screen, PLACES[goal], lead.id if goal in (Goal.ALARM, Goal.SCHEDULE, Goal.QUEUE) else "")


def open_place(screen: PlaceScreen, place: str, wanted: str = "") -> None:
    """Shows a place in front of this one, with the cursor on `wanted` once that is read."""
    found = find(place, ALL_PLACES)
    if found is None:
        raise LookupError(f"no place {place}")
    opened = resolve(found.screen)()
    if wanted:
        opened.wanted = wanted
    screen.app.push_screen(opened)


def open_dead(screen: PlaceScreen) -> None:
    """Shows the dead letters of every schedule."""
    screen.app.push_screen(resolve("jobconsole.screens.dead_letters:DeadLettersScreen")())


async def open_subject(screen: PlaceScreen, alarm: Alarm) -> None:
    """Shows what an alarm is about: its schedule, the Workers, the stop."""
    if alarm.kind is AlarmKind.STOPPED:
        list_stops(screen)
    elif alarm.kind is AlarmKind.WORKER_MISSING:
        open_place(screen, "workers")
    elif alarm.kind in (AlarmKind.DEAD_LETTER, AlarmKind.SPIKE, AlarmKind.LEAVING) and alarm.schedule is not None:
        screen.app.push_screen(resolve("jobconsole.screens.dead_letters:DeadLettersScreen")(alarm.schedule))
    else:
        open_place(screen, "schedules", alarm.schedule or alarm.subject)
