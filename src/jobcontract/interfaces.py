"""Owns which headless command does what a route does: what runbooks name, and what the records check compares them with.

The console's command line has each of these commands; a test of the console holds the list to it.
"""

from __future__ import annotations

from dataclasses import dataclass

from jobcontract import operating_routes, routes
from jobcontract.route import Route


@dataclass(frozen=True, slots=True, kw_only=True)
class Interface:
    """A route and the headless command behind `jobconsole` that asks for it; upper-case words are to be filled in."""

    route: Route
    command: str


INTERFACES: tuple[Interface, ...] = (
    Interface(route=routes.SCHEDULE, command="schedules show SCHEDULE"),
    Interface(route=routes.NEXT_INSTANTS, command="schedules next SCHEDULE"),
    Interface(route=routes.OCCURRENCES, command="occurrences list --schedule SCHEDULE"),
    Interface(route=routes.OCCURRENCE, command="occurrences show OCCURRENCE"),
    Interface(route=routes.CANCEL_OCCURRENCE, command="occurrences cancel OCCURRENCE --reason REASON"),
    Interface(route=operating_routes.SCHEDULE_WHY, command="schedules why SCHEDULE"),
    Interface(route=operating_routes.OCCURRENCE_WHY, command="occurrences why OCCURRENCE"),
    Interface(route=operating_routes.RUN_SCHEDULE, command="schedules run SCHEDULE --reason REASON"),
    Interface(route=operating_routes.DISABLE_SCHEDULE, command="schedules disable SCHEDULE --reason REASON"),
    Interface(route=operating_routes.ENABLE_SCHEDULE, command="schedules enable SCHEDULE --reason REASON"),
    Interface(route=operating_routes.SIMULATE, command="schedules simulate SCHEDULE --from FROM --to TO"),
    Interface(route=operating_routes.REPLAY_OCCURRENCE, command="occurrences replay OCCURRENCE --reason REASON"),
    Interface(route=operating_routes.DISCARD_OCCURRENCE, command="occurrences discard OCCURRENCE --reason REASON"),
    Interface(
        route=operating_routes.MAKE_RECOVERY,
        command="recoveries replay --schedule SCHEDULE --from FROM --to TO --reason REASON",
    ),
    Interface(route=operating_routes.STOP_WORK, command="stops stop SCOPE NAME --reason REASON"),
    Interface(route=operating_routes.DRAIN_WORKER, command="workers drain WORKER --reason REASON"),
)


def interface_of(route: str) -> Interface | None:
    """The interface whose route has that name."""
    return next((each for each in INTERFACES if each.route.name == route), None)
