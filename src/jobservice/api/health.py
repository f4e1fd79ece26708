"""Owns the operations for those who keep the process running: alive, ready, figures. Never anything of a tenant."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress

from fastapi import Request, Response

from jobcontract import routes
from jobcontract.errors import ErrorCode, Refusal
from jobservice.api.context import context_of
from jobservice.api.endpoints import Endpoint
from jobservice.api.metrics import METRICS_TYPE
from jobservice.usecases.figures import counted_figures
from jobservice.usecases.readiness import check_ready

TEXT_TYPE = "text/plain; charset=utf-8"


async def health() -> Response:
    """The process is alive."""
    return Response("alive\n", media_type=TEXT_TYPE)


async def ready(request: Request) -> Response:
    """The process can serve: the database answers in time and has the schema that the code needs."""
    context = context_of(request.scope)
    seconds = context.bounds.ready_seconds
    try:
        async with asyncio.timeout(seconds):
            await check_ready(context.service.database, context.schema_version, seconds=seconds)
    except TimeoutError as slow:
        raise Refusal(ErrorCode.DATABASE_AWAY, f"The database did not answer within {seconds:g} s.") from slow
    return Response("ready\n", media_type=TEXT_TYPE)


async def metrics(request: Request) -> Response:
    """The process's figures for Prometheus, and those that Workers counted, where the database tells them in time."""
    context = context_of(request.scope)
    seconds = context.bounds.ready_seconds
    counted: Mapping[str, int] = {}
    with suppress(Refusal, TimeoutError):
        async with asyncio.timeout(seconds):
            counted = await counted_figures(context.service.database, seconds=seconds)
    return Response(context.metrics.text(counted), media_type=METRICS_TYPE)


ENDPOINTS = (
    Endpoint(route=routes.HEALTH, function=health, media=TEXT_TYPE, summary="Alive"),
    Endpoint(
        route=routes.READY,
        function=ready,
        media=TEXT_TYPE,
        summary="Ready",
        refusals=(ErrorCode.DATABASE_AWAY,),
    ),
    Endpoint(route=routes.METRICS, function=metrics, media=METRICS_TYPE, summary="Figures"),
)
