"""Owns the call that reads the runbooks of a schedule: how it is inspected, replayed and disabled, and what was done."""

from __future__ import annotations

from jobconsole.client.service import Service
from jobcontract.operating_routes import RUNBOOKS
from jobcontract.runbooks import Runbooks


async def runbooks(service: Service, schedule: str) -> Runbooks:
    """The procedures of a schedule, inspect, replay and disable in this order, and the latest acts on it."""
    return await service.get(RUNBOOKS, Runbooks, parts={"schedule": schedule})
