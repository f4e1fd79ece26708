"""Owns the operations of the switch that stops all money of a tenant."""

from __future__ import annotations

from fastapi import Response

from jobcontract import routes
from jobcontract.errors import ErrorCode
from jobcontract.plans import Money, StartMoney, StopMoney
from jobservice.api.admission import Admitted
from jobservice.api.answers import of_acting, of_model
from jobservice.api.endpoints import Endpoint
from jobservice.usecases import money


async def read_money(admitted: Admitted) -> Response:
    """Whether money moves in the tenant, and what was released."""
    return of_model(await money.money(admitted.context.service, admitted.actor))


async def stop_money(admitted: Admitted, order: StopMoney) -> Response:
    """Stop all money of the tenant, with a reason and no code."""
    return of_acting(await money.stop_money(admitted.context.service, admitted.actor, order, admitted.once))


async def start_money(admitted: Admitted, order: StartMoney) -> Response:
    """Let money move again: a code of another person than the one who stopped it."""
    return of_acting(await money.start_money(admitted.context.service, admitted.actor, order, admitted.once))


ENDPOINTS = (
    Endpoint(route=routes.MONEY, function=read_money, answer=Money, summary="Whether money moves"),
    Endpoint(route=routes.STOP_MONEY, function=stop_money, answer=Money, summary="Stop money"),
    Endpoint(
        route=routes.START_MONEY,
        function=start_money,
        answer=Money,
        summary="Start money again",
        refusals=(
            ErrorCode.MONEY_STOPPED,
            ErrorCode.CODE_LOCKED,
            ErrorCode.CODE_WRONG,
            ErrorCode.CODE_USED,
            ErrorCode.CODE_UNREADY,
            ErrorCode.CODE_UNREADABLE,
        ),
    ),
)
