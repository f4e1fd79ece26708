"""Owns the call that reads Worker processes. Screens and headless twins run it."""

from __future__ import annotations

from jobconsole.client.service import Service
from jobcontract.routes import WORKERS
from jobcontract.workers import Workers


async def workers(service: Service) -> Workers:
    """The Workers that live, and those that stopped within the last day, the newest first."""
    return await service.get(WORKERS, Workers)
