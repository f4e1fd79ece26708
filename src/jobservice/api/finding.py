"""Owns the operation that finds whatever a text names, over all nouns that a person may read."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Response

from jobcontract import job_routes as routes
from jobcontract.errors import ErrorCode
from jobcontract.ids import KEY_MAX
from jobcontract.jobs import Finding
from jobservice.api.admission import Admitted
from jobservice.api.answers import of_model
from jobservice.api.endpoints import Endpoint
from jobservice.usecases import finding

LEAST = 2
"""Fewest characters that are looked up."""
TextQuery = Annotated[
    str,
    Query(
        min_length=LEAST,
        max_length=KEY_MAX,
        description="An id, a name or a reference: whole, as somebody was told it.",
    ),
]


async def find(admitted: Admitted, text: TextQuery) -> Response:
    """All that a text leads to, within the reach of whoever asks; each noun under its own permission."""
    context = admitted.context
    # Each noun has its own permission; who names no tenant is asked for one here.
    actor = admitted.acting or admitted.signed_in.actor(None, reference=admitted.reference)
    with context.listings.held(actor.person):
        return of_model(await finding.find(context.service, actor, text))


ENDPOINTS = (
    Endpoint(
        route=routes.FIND,
        function=find,
        answer=Finding,
        summary="Find whatever a text names",
        refusals=(ErrorCode.TENANT_REQUIRED, ErrorCode.TOO_MANY_LISTINGS),
    ),
)
