"""Stops of the fake service mean what those of the real one mean: both run every test."""

from __future__ import annotations

import pytest

from jobconsole.client import money, plans, queues, stops
from jobconsole.client.overview import overview
from jobconsole.client.queues import claim, new_key
from jobconsole.client.service import Service
from jobcontract.operating import StopScope
from jobcontract.stops import Stop
from tests.client.stage import AUDITOR, FIRST, OPERATOR, PUSHER, SECOND, Stage
from tests.client.test_conformance import PAYOUTS, refused
from tests.client.test_conformance_plans import COMMAND

pytestmark = pytest.mark.requirement("provide-operational-recovery-procedures", "MONEY-20")


def told(found: tuple[Stop, ...]) -> list[tuple[object, ...]]:
    """What a person reads of stops."""
    return [(each.scope, each.name, each.title, each.by.id, each.reason, each.lifted_by_code) for each in found]


async def tenant(service: Service) -> str:
    """The tenant's id."""
    assert service.tenant is not None
    return service.tenant


async def test_a_queue_is_held_still_with_who_and_why_and_goes_on(stage: Stage) -> None:
    row = await stage.add(PAYOUTS, "Row", minor=100, days_old=1)
    operator, clerk = stage.sign_in(OPERATOR), stage.sign_in(FIRST)
    changed = await stops.stop(operator, StopScope.QUEUE, PAYOUTS, "Odd payouts", new_key())
    whole = [(StopScope.QUEUE, PAYOUTS, changed.stops[0].title, "o.lind", "Odd payouts", False)]
    assert told(changed.stops) == whole
    again = await stops.stop(clerk, StopScope.QUEUE, PAYOUTS, "Me too", new_key())
    assert told(again.stops) == whole
    assert told((await stops.stops(stage.sign_in(AUDITOR))).stops) == whole
    assert told((await overview(operator)).stops) == whole
    shown = next(each for each in (await queues.queues(clerk)).queues if each.id == PAYOUTS)
    assert changed.stops[0].title == shown.title
    at = f"{changed.stops[0].at:%Y-%m-%d %H:%M} UTC"
    assert shown.stopped == f"Stopped by Olle Lind since {at}: Odd payouts."
    assert await refused(claim(clerk, row, new_key())) == "work-stopped"
    assert (await stops.lift(operator, StopScope.QUEUE, PAYOUTS, "All well", new_key())).stops == ()
    assert (await stops.lift(operator, StopScope.QUEUE, PAYOUTS, "All well", new_key())).stops == ()
    assert (await stops.lift(operator, StopScope.QUEUE, "t.nowhere", "All well", new_key())).stops == ()
    assert await refused(stops.stop(operator, StopScope.QUEUE, "t.nowhere", "x", new_key())) == "not-found"
    assert (await claim(clerk, row, new_key())).item is not None


async def test_a_command_that_moves_money_goes_on_by_the_code_of_another_person(stage: Stage) -> None:
    row = await stage.add(PAYOUTS, "Row", minor=100, days_old=1)
    first, second, command = stage.sign_in(FIRST), stage.sign_in(SECOND), StopScope.BULK_COMMAND
    (stop,) = (await stops.stop(first, command, COMMAND, "Odd payouts", new_key())).stops
    assert told((stop,)) == [(command, COMMAND, stop.title, "m.ito", "Odd payouts", True)]
    assert await refused(plans.make(second, PAYOUTS, COMMAND, new_key(), items=[row])) == "work-stopped"
    lift = stops.lift
    assert await refused(lift(stage.sign_in(OPERATOR), command, COMMAND, "x", new_key())) == "permission-missing"
    assert await refused(lift(first, command, COMMAND, "x", new_key(), code=stage.code(FIRST))) == "permission-missing"
    assert await refused(lift(second, command, COMMAND, "x", new_key())) == "work-stopped"
    assert (await lift(second, command, COMMAND, "x", new_key(), code=stage.code(SECOND))).stops == ()
    assert (await plans.make(second, PAYOUTS, COMMAND, new_key(), items=[row])).count == 1


async def test_a_stop_of_all_work_stops_money_which_stays_stopped(stage: Stage) -> None:
    row = await stage.add(PAYOUTS, "Row", minor=100, days_old=1)
    operator = stage.sign_in(OPERATOR)
    name = await tenant(operator)
    changed = await stops.stop(operator, StopScope.TENANT, name, "All of it is odd", new_key())
    assert told(changed.stops) == [(StopScope.TENANT, name, "All work", "o.lind", "All of it is odd", False)]
    assert await refused(claim(stage.sign_in(FIRST), row, new_key())) == "work-stopped"
    found = await overview(operator)
    assert (found.money_stopped, told(found.stops)) == ("All of it is odd", told(changed.stops))
    assert (await stops.lift(operator, StopScope.TENANT, name, "All well", new_key())).stops == ()
    assert (await overview(operator)).money_stopped == "All of it is odd"
    assert (await money.money(operator)).stopped
    assert await refused(stops.stop(operator, StopScope.TENANT, "globex", "x", new_key())) == "not-found"


async def test_who_may_stop_and_who_looks(stage: Stage) -> None:
    for part in (AUDITOR, PUSHER):
        service = stage.sign_in(part)
        assert await refused(stops.stop(service, StopScope.QUEUE, PAYOUTS, "x", new_key())) == "permission-missing"
        assert await refused(stops.lift(service, StopScope.QUEUE, PAYOUTS, "x", new_key())) == "permission-missing"
    assert (await stops.stops(stage.sign_in(AUDITOR))).stops == ()
    assert await refused(stops.stops(stage.sign_in(PUSHER))) == "permission-missing"
