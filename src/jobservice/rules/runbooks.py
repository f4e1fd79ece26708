"""Owns what a runbook is as a value that records build: which interface performs it, for whom, by which steps.

Which interfaces fit which procedure is decided here; that there is such an interface, by `jobcontract.interfaces`.
Performs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from jobcontract import operating_routes
from jobcontract.interfaces import Interface
from jobcontract.operating import Procedure
from jobcontract.permissions import Permission
from jobservice.rules.schedules import Schedule

STEPS_MOST = 20
SENTENCE_MOST = 500
"""Characters of a step, and of what happens to what is claimed."""
_PLACE = "SCHEDULE"
"""The word of a command that a schedule's id takes the place of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunbookRule:
    """One procedure of one schedule, as its record states it."""

    id: str
    schedule: str
    procedure: Procedure
    title: str
    interface: Interface
    may: Permission
    steps: tuple[str, ...]
    claimed: str
    """What happens to an occurrence that a Worker has claimed already."""

    @property
    def command(self) -> str:
        """The headless command, with the schedule's id where it is one of the words."""
        return " ".join(self.schedule if word == _PLACE else word for word in self.interface.command.split(" "))

    @property
    def request(self) -> str:
        """The request: `POST /v1/schedules/statements.nightly/disable`."""
        route = self.interface.route
        return f"{route.method} {route.path.replace('{schedule}', self.schedule)}"


Runbooks = Mapping[str, Mapping[Procedure, RunbookRule]]
"""By schedule, then by procedure."""


def unfit(procedure: Procedure, interface: Interface, *, manual: bool, money: bool) -> str | None:
    """Why an interface does not perform a procedure of a schedule that is `manual`, or moves `money`; None where it does."""
    route = interface.route
    if procedure is Procedure.INSPECT:
        return f"{route.name} acts, and inspecting changes nothing; name a route that reads" if route.acts else None
    if procedure is Procedure.DISABLE:
        fits = route is operating_routes.DISABLE_SCHEDULE
        return (
            None if fits else f"{route.name} does not disable a schedule; name {operating_routes.DISABLE_SCHEDULE.name}"
        )
    if money and route is not operating_routes.MAKE_RECOVERY:
        return (
            f"{route.name} replays no schedule that moves money: that takes a plan that is confirmed by a code; name "
            f"{operating_routes.MAKE_RECOVERY.name}"
        )
    if route is operating_routes.RUN_SCHEDULE and not manual:
        return f"{route.name} starts manual jobs alone, and a schedule starts this one"
    replaying = (operating_routes.REPLAY_OCCURRENCE, operating_routes.MAKE_RECOVERY, operating_routes.RUN_SCHEDULE)
    if route not in replaying:
        named = ", ".join(each.name for each in replaying[:2])
        return f"{route.name} runs nothing again; name one of {named}" + (f", {replaying[2].name}" if manual else "")
    return None


def permissions(runbook: RunbookRule, schedule: Schedule) -> tuple[Permission, ...]:
    """All that a person must have for the procedure to do something: the route's permission, then what its rows or the
    guard ask for."""
    route = runbook.interface.route
    needed = [runbook.may]
    if route is operating_routes.MAKE_RECOVERY:
        needed.append(Permission.PAYOUT_RELEASE if schedule.moves_money else Permission.OCCURRENCE_REPLAY)
    if route is operating_routes.RUN_SCHEDULE and schedule.guard is not None:
        needed.append(schedule.guard.permission)
    return tuple(dict.fromkeys(needed))
