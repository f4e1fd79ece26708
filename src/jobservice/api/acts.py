"""Owns the one operation that runs a use case on an item."""

from __future__ import annotations

from fastapi import Response

from jobcontract import routes
from jobcontract.errors import ErrorCode
from jobcontract.items import Acted, ActOrder
from jobservice.api.admission import Admitted
from jobservice.api.answers import of_acting
from jobservice.api.endpoints import Endpoint
from jobservice.usecases import acts


async def act(admitted: Admitted, item: str, use_case: str, order: ActOrder) -> Response:
    """Run a use case on an item, under the version that was on the screen."""
    return of_acting(await acts.act(admitted.context.service, admitted.actor, item, use_case, order, admitted.once))


ENDPOINTS = (
    Endpoint(
        route=routes.ACT,
        function=act,
        answer=Acted,
        summary="Act on an item",
        refusals=(
            ErrorCode.NOT_FOUND,
            ErrorCode.WORK_STOPPED,
            ErrorCode.CLAIM_HELD,
            ErrorCode.CLAIM_REQUIRED,
            ErrorCode.CLAIM_LOST,
            ErrorCode.VERSION_CHANGED,
            ErrorCode.ITEM_CLOSED,
            ErrorCode.USE_CASE_UNFIT,
            ErrorCode.COLLEAGUE_UNFIT,
            ErrorCode.NEEDS_PLAN,
            ErrorCode.IN_PLAN,
        ),
    ),
)
