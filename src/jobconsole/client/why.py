"""Owns the calls that ask why a schedule or an occurrence is not running. Screens and headless twins run these."""

from __future__ import annotations

from jobconsole.client.service import Service
from jobcontract.operating_routes import OCCURRENCE_WHY, SCHEDULE_WHY
from jobcontract.why import Why


async def schedule_why(service: Service, schedule: str) -> Why:
    """Why a schedule does not run now: about the oldest occurrence that waits, else the one that runs, else the next."""
    return await service.get(SCHEDULE_WHY, Why, parts={"schedule": schedule})


async def occurrence_why(service: Service, id_or_name: str) -> Why:
    """Why an occurrence does not run now. A name may be of an instant that has no occurrence: the answer says why not."""
    return await service.get(OCCURRENCE_WHY, Why, parts={"occurrence": id_or_name})
