"""Owns the questions about who is signed in and who their colleagues are."""

from __future__ import annotations

from jobconsole.client.service import Service
from jobcontract.routes import COLLEAGUES, ME
from jobcontract.session import Colleagues, Session


async def me(service: Service) -> Session:
    """Who the token belongs to, their tenants and rights; also teaches the service's time. Errors: see `errors`."""
    return await service.get(ME, Session)


async def colleagues(service: Service) -> Colleagues:
    """The active people of the tenant, to hand an item to."""
    return await service.get(COLLEAGUES, Colleagues)
