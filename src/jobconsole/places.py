"""Owns the list of places: number, name and screen of each. Screens are named as text and imported when first shown."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Somewhere a person can go."""

    id: str
    """What `:id` goes to, and what commands name."""
    number: int
    """Its key, 0 to 9."""
    title: str
    screen: str
    """`module:Class` of a `PlaceScreen`."""


PLACES: tuple[Place, ...] = (
    Place(id="queues", number=1, title="Queues", screen="jobconsole.screens.queues:QueuesScreen"),
    Place(id="you", number=2, title="You and this connection", screen="jobconsole.screens.session:SessionScreen"),
    Place(id="plans", number=3, title="Plans", screen="jobconsole.screens.plans:PlansScreen"),
    Place(id="released", number=4, title="Released today", screen="jobconsole.screens.released:ReleasedScreen"),
    Place(id="schedules", number=5, title="Schedules", screen="jobconsole.screens.schedules:SchedulesScreen"),
    Place(id="workers", number=6, title="Workers", screen="jobconsole.screens.workers:WorkersScreen"),
    Place(id="audit", number=8, title="Audit trail", screen="jobconsole.screens.audit:AuditScreen"),
    Place(id="alarms", number=7, title="Alarms", screen="jobconsole.screens.alarms:AlarmsScreen"),
    Place(id="recoveries", number=9, title="Recoveries", screen="jobconsole.screens.recoveries:RecoveriesScreen"),
    Place(id="overview", number=0, title="Overview", screen="jobconsole.screens.overview:OverviewScreen"),
)
"""Every place, in the order of the keys: 0 stands right of 9. The first one is shown first."""


def resolve(text: str) -> Any:
    """What `module:name` names, imported now. For the roof alone: the first frame must not wait for it."""
    module, _, name = text.partition(":")
    return getattr(import_module(module), name)


def find(word: str, places: tuple[Place, ...]) -> Place | None:
    """The place that a person means by `word`: its id, its number, or an unambiguous beginning of its id."""
    wanted = word.strip().casefold()
    for place in places:
        if wanted in {place.id, str(place.number)}:
            return place
    begun = [place for place in places if wanted and place.id.startswith(wanted)]
    return begun[0] if len(begun) == 1 else None


def nearest(word: str, known: tuple[str, ...]) -> str | None:
    """The known name that looks most like `word`."""
    found = get_close_matches(word.strip().casefold(), known, n=1, cutoff=0.4)
    return found[0] if found else None
