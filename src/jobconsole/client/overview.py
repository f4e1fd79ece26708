"""Owns the call that reads the overview: what needs somebody now, over all nouns, in one request. The overview's screen
and its headless twin run it."""

from __future__ import annotations

from jobconsole.client.service import Service
from jobcontract.operating_routes import OVERVIEW
from jobcontract.overview import Overview


async def overview(service: Service) -> Overview:
    """Everything of the overview in one answer; parts that the person may not read are None."""
    return await service.get(OVERVIEW, Overview)
