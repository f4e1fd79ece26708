"""Owns the list of places: key, name and screen of each. Screens are named as text and imported when first shown."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from typing import Any

from jobcontract.permissions import Permission


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Somewhere a person can go."""

    id: str
    """What `:id` goes to, and what commands name."""
    key: str
    """One of `commands.keymap.PLACE_KEYS`: no command and no keymap has it."""
    title: str
    screen: str
    """`module:Class` of a `PlaceScreen`."""
    first_with: Permission | None = None
    """Shown first to whoever has it and has none of those of the places before."""


PLACES: tuple[Place, ...] = (
    Place(
        id="queues",
        key="1",
        title="Queues",
        screen="jobconsole.screens.queues:QueuesScreen",
        first_with=Permission.QUEUE_READ,
    ),
    Place(id="you", key="2", title="You and this connection", screen="jobconsole.screens.session:SessionScreen"),
    Place(id="plans", key="3", title="Plans", screen="jobconsole.screens.plans:PlansScreen"),
    Place(id="released", key="4", title="Released today", screen="jobconsole.screens.released:ReleasedScreen"),
    Place(id="schedules", key="5", title="Schedules", screen="jobconsole.screens.schedules:SchedulesScreen"),
    Place(id="workers", key="6", title="Workers", screen="jobconsole.screens.workers:WorkersScreen"),
    Place(id="audit", key="8", title="Audit trail", screen="jobconsole.screens.audit:AuditScreen"),
    Place(id="alarms", key="7", title="Alarms", screen="jobconsole.screens.alarms:AlarmsScreen"),
    Place(id="recoveries", key="9", title="Recoveries", screen="jobconsole.screens.recoveries:RecoveriesScreen"),
    Place(id="overview", key="0", title="Overview", screen="jobconsole.screens.overview:OverviewScreen"),
    Place(
        id="jobs", key="J", title="Jobs", screen="jobconsole.screens.jobs:JobsScreen", first_with=Permission.JOB_READ
    ),
)
"""Every place, in the order of the keys: 0 stands right of 9, letters follow. The first one is shown first."""


def resolve(text: str) -> Any:
    """What `module:name` names, imported now. For the roof alone: the first frame must not wait for it."""
    module, _, name = text.partition(":")
    return getattr(import_module(module), name)


def find(word: str, places: tuple[Place, ...]) -> Place | None:
    """The place that a person means by `word`: its id, its key, or an unambiguous beginning of its id."""
    wanted = word.strip().casefold()
    for place in places:
        if wanted in {place.id, place.key.casefold()}:
            return place
    begun = [place for place in places if wanted and place.id.startswith(wanted)]
    return begun[0] if len(begun) == 1 else None


def first_of(places: tuple[Place, ...], permissions: Collection[str]) -> Place:
    """The place that is shown first to a person who has these permissions."""
    fit = (place for place in places if place.first_with is not None and place.first_with in permissions)
    return next(fit, places[0])


def nearest(word: str, known: tuple[str, ...]) -> str | None:
    """The known name that looks most like `word`."""
    found = get_close_matches(word.strip().casefold(), known, n=1, cutoff=0.4)
    return found[0] if found else None
