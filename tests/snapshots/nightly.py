"""Owns what pictures of the example's nightly statements show: its own runbooks, and its course by the service's own rules
over the night in which the clocks of London go back. Nothing of it is made up."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache

from examples.payments import application
from jobconsole.client.fake import FakeService
from jobcontract.operating import Procedure
from jobcontract.permissions import GRANTS, roles_with
from jobcontract.runbooks import Runbook
from jobcontract.simulation import Down, Edit, Simulation, SimulationOrder
from jobcontract.states import MisfirePolicy
from jobservice import records
from jobservice.rules.runbooks import RunbookRule, permissions
from jobservice.usecases import simulation

NIGHTLY = "statements.nightly"
ORDER = SimulationOrder(
    since=datetime(2026, 10, 22, 12, tzinfo=UTC),
    until=datetime(2026, 10, 27, 12, tzinfo=UTC),
    down=(Down(since=datetime(2026, 10, 23, 20, tzinfo=UTC), until=datetime(2026, 10, 25, 8, tzinfo=UTC)),),
    edit=Edit(misfire=MisfirePolicy.SKIP),
)
"""Down over two nights, and what would be if they were skipped."""


@cache
def _records() -> records.RecordSet:
    found, findings = records.check(application)
    assert found is not None, findings
    return found


def simulated(now: datetime) -> Simulation:
    """The course by the record and by the edit."""
    schedule = _records().schedules[NIGHTLY]
    edited = simulation._edited(schedule, ORDER.edit or Edit(), ORDER.since)
    return simulation._simulated(schedule, ORDER, simulation._downtimes(ORDER), edited, now)


def books() -> tuple[Runbook, ...]:
    """Its three runbooks, as an operator reads them."""
    found = _records().runbooks[NIGHTLY]
    return tuple(_book(procedure, found[procedure]) for procedure in Procedure)


def _book(procedure: Procedure, rule: RunbookRule) -> Runbook:
    needed = set(permissions(rule, _records().schedules[NIGHTLY]))
    return Runbook(
        id=rule.id,
        title=rule.title,
        procedure=procedure,
        route=rule.interface.route.name,
        request=rule.request,
        command=f"jobconsole {rule.command}",
        permission=rule.may,
        roles=tuple(role for role in roles_with(rule.may) if needed <= GRANTS[role]),
        steps=rule.steps,
        claimed=rule.claimed,
        refused=None,
    )


def add_nightly(fake: FakeService, now: datetime) -> None:
    """The schedule among those of the fake."""
    fake.jobs.add(NIGHTLY, every=86_400, title="Nightly statements")
    fake.questions.simulations[NIGHTLY] = simulated(now)
    fake.questions.books[NIGHTLY] = books()
