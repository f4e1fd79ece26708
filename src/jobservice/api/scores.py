"""Owns the operations about scores: why an item stands where it stands, and what-if. Both only look."""

from __future__ import annotations

from fastapi import Response

from jobcontract import routes
from jobcontract.errors import ErrorCode
from jobcontract.items import Explanation, Supposed, WhatIf
from jobservice.api.admission import Admitted
from jobservice.api.answers import of_model
from jobservice.api.endpoints import Endpoint
from jobservice.usecases import explanations


async def explanation(admitted: Admitted, item: str) -> Response:
    """Why an item stands where it stands: score, rule, place and neighbours."""
    with admitted.context.listings.held(admitted.actor.person):
        return of_model(await explanations.explain(admitted.context.service, admitted.actor, item))


async def what_if(admitted: Admitted, item: str, supposed: WhatIf) -> Response:
    """The score and place that an item would have with other inputs; nothing is saved."""
    with admitted.context.listings.held(admitted.actor.person):
        return of_model(await explanations.suppose(admitted.context.service, admitted.actor, item, supposed))


ENDPOINTS = (
    Endpoint(
        route=routes.EXPLANATION,
        function=explanation,
        answer=Explanation,
        summary="Why an item stands where it stands",
        refusals=(ErrorCode.NOT_FOUND, ErrorCode.TOO_MANY_LISTINGS),
    ),
    Endpoint(
        route=routes.WHAT_IF,
        function=what_if,
        answer=Supposed,
        summary="Where an item would stand with other inputs",
        refusals=(
            ErrorCode.NOT_FOUND,
            ErrorCode.TOO_MANY_LISTINGS,
            ErrorCode.ITEM_CLOSED,
            ErrorCode.USE_CASE_UNFIT,
            ErrorCode.COLLEAGUE_UNFIT,
        ),
    ),
)
