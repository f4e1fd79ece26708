"""Owns the calls about stops: what is held still, holding it, letting it go on. Screens and headless twins run these.

Keys as in `queues`. A code is a SecretStr from the field where it was typed to the request's body. The switch that
stops money is another one (`client/money.py`), which a stop of all work throws as well.
"""

from __future__ import annotations

from pydantic import SecretStr

from jobconsole.client.service import Service
from jobcontract.operating import StopScope
from jobcontract.operating_routes import LIFT_STOP, STOP_WORK, STOPS
from jobcontract.stops import LiftOrder, StopOrder, Stops, StopsChanged


async def stops(service: Service) -> Stops:
    """Every stop in force in the tenant, the latest first."""
    return await service.get(STOPS, Stops)


async def stop(service: Service, scope: StopScope, name: str, reason: str, key: str) -> StopsChanged:
    """Hold a queue, a bulk command or all work of the tenant still; `name`: its id, the tenant's for all of its work.

    It waits for the turns that run now. Where it is held already, what stands stays. No code.
    """
    return await service.post(STOP_WORK, StopOrder(scope=scope, name=name, reason=reason), StopsChanged, key=key)


async def lift(
    service: Service, scope: StopScope, name: str, reason: str, key: str, *, code: SecretStr | None = None
) -> StopsChanged:
    """Let it go on. `code` where the stop says `lifted_by_code`: that of another person in finance than who stopped it.

    Money that a stop of all work stopped stays stopped: starting it is an act of its own (`money.start_money`).
    """
    order = LiftOrder(scope=scope, name=name, reason=reason, code=code)
    return await service.post(LIFT_STOP, order, StopsChanged, key=key)
