"""Owns the operations about claims: claim, claim next, renew, release, break."""

from __future__ import annotations

from fastapi import Response

from jobcontract import routes
from jobcontract.errors import ErrorCode
from jobcontract.items import BreakClaim, Claimed, ClaimNextOrder, ClaimOrder, HeldClaim
from jobservice.api.admission import Admitted
from jobservice.api.answers import of_acting
from jobservice.api.endpoints import Endpoint
from jobservice.usecases import claims


async def claim(admitted: Admitted, item: str, order: ClaimOrder) -> Response:
    """Claim an item."""
    return of_acting(await claims.claim(admitted.context.service, admitted.actor, item, order, admitted.once))


async def claim_next(admitted: Admitted, queue: str, order: ClaimNextOrder) -> Response:
    """Claim the first free item of those that match the filter, in its order; the item is null where none is free."""
    return of_acting(await claims.claim_next(admitted.context.service, admitted.actor, queue, order, admitted.once))


async def renew_claim(admitted: Admitted, item: str, order: HeldClaim) -> Response:
    """Keep a claim for another lease."""
    return of_acting(await claims.renew_claim(admitted.context.service, admitted.actor, item, order, admitted.once))


async def release_claim(admitted: Admitted, item: str, order: HeldClaim) -> Response:
    """Give a claim back."""
    return of_acting(await claims.release_claim(admitted.context.service, admitted.actor, item, order, admitted.once))


async def break_claim(admitted: Admitted, item: str, order: BreakClaim) -> Response:
    """Take the claim that a colleague holds, with a reason."""
    return of_acting(await claims.break_claim(admitted.context.service, admitted.actor, item, order, admitted.once))


_COMMON = (ErrorCode.NOT_FOUND, ErrorCode.CLAIMS_DISABLED, ErrorCode.CLAIMS_MAX, ErrorCode.IN_PLAN)
_TAKES = (*_COMMON, ErrorCode.WORK_STOPPED)

ENDPOINTS = (
    Endpoint(
        route=routes.CLAIM_NEXT,
        function=claim_next,
        answer=Claimed,
        summary="Claim the next free item",
        refusals=(*_TAKES, ErrorCode.FILTER_INVALID),
    ),
    Endpoint(
        route=routes.CLAIM,
        function=claim,
        answer=Claimed,
        summary="Claim an item",
        refusals=(*_TAKES, ErrorCode.CLAIM_HELD, ErrorCode.ITEM_CLOSED, ErrorCode.USE_CASE_UNFIT),
    ),
    Endpoint(
        route=routes.RENEW_CLAIM,
        function=renew_claim,
        answer=Claimed,
        summary="Renew a claim",
        refusals=(*_COMMON, ErrorCode.CLAIM_LOST, ErrorCode.CLAIM_CAPPED),
    ),
    Endpoint(
        route=routes.RELEASE_CLAIM,
        function=release_claim,
        answer=Claimed,
        summary="Release a claim",
        refusals=(*_COMMON, ErrorCode.CLAIM_LOST),
    ),
    Endpoint(
        route=routes.BREAK_CLAIM,
        function=break_claim,
        answer=Claimed,
        summary="Take over a colleague's claim",
        refusals=(*_TAKES, ErrorCode.CLAIM_HELD, ErrorCode.CLAIM_NOT_HELD),
    ),
)
