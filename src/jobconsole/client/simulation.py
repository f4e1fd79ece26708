"""Owns the call that simulates a schedule: what it does in a stretch of time, as it is and with an edit. It acts on
nothing. Screens and headless twins run it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from jobconsole.client.service import Service
from jobcontract.operating_routes import SIMULATE
from jobcontract.simulation import Down, Edit, Simulation, SimulationOrder


async def simulate(
    service: Service,
    schedule: str,
    since: datetime,
    until: datetime,
    down: Sequence[Down] = (),
    edit: Edit | None = None,
) -> Simulation:
    """What a schedule does from `since` (included) to `until` (not included; both aware), nothing running while `down`;
    with an edit, what it would do by that, and where the two differ. An impossible edit is refused with a sentence."""
    order = SimulationOrder(since=since, until=until, down=tuple(down), edit=edit)
    return await service.get(SIMULATE, Simulation, parts={"schedule": schedule}, body=order)
