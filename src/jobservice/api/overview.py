"""Owns the operation of the overview: all that needs somebody, in one answer."""

from __future__ import annotations

from fastapi import Response

from jobcontract import operating_routes as routes
from jobcontract.errors import ErrorCode
from jobcontract.overview import Overview
from jobservice.api.admission import Admitted
from jobservice.api.answers import of_model
from jobservice.api.endpoints import Endpoint
from jobservice.usecases import overview


async def read_overview(admitted: Admitted) -> Response:
    """What needs somebody now, over all nouns; parts that the person may not read are null."""
    context = admitted.context
    # Its parts have their own permissions; who names no tenant is asked for one here.
    actor = admitted.acting or admitted.signed_in.actor(None, reference=admitted.reference)
    with context.listings.held(actor.person):
        return of_model(await overview.overview(context.service, actor))


ENDPOINTS = (
    Endpoint(
        route=routes.OVERVIEW,
        function=read_overview,
        answer=Overview,
        summary="What needs somebody now",
        refusals=(ErrorCode.TOO_MANY_LISTINGS,),
    ),
)
