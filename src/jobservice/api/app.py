"""Owns putting the HTTP API together: its operations, its handlers of failures, its frame, its document.

Decides nothing itself; every operation stands in the list below.
"""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic.warnings import UnsupportedFieldAttributeWarning
from starlette.exceptions import HTTPException

from jobcontract.errors import Refusal
from jobservice import __version__
from jobservice.api import (
    acts,
    acts_on_jobs,
    acts_on_occurrences,
    acts_on_schedules,
    acts_on_workers,
    alarms,
    audit,
    claims,
    codes,
    confirming,
    events,
    finding,
    health,
    items,
    jobs,
    money,
    occurrences,
    overview,
    plans,
    queues,
    recoveries,
    runbooks,
    schedules,
    scores,
    session,
    simulation,
    stops,
    timeline,
    why,
    workers,
)
from jobservice.api.admission import JobRoute
from jobservice.api.context import Bounds, attach, make_context
from jobservice.api.endpoints import Endpoint
from jobservice.api.frame import Frame
from jobservice.api.hub import Hub, stop
from jobservice.api.openapi import document, responses
from jobservice.api.opening import Door, Opening
from jobservice.api.problems import on_http, on_invalid, on_refusal
from jobservice.usecases.service import Service

TITLE = "jobs"
DOCUMENT_PATH = "/v1/openapi.json"

ENDPOINTS: tuple[Endpoint, ...] = (
    *session.ENDPOINTS,
    *queues.ENDPOINTS,
    *items.ENDPOINTS,
    *scores.ENDPOINTS,
    *claims.ENDPOINTS,
    *acts.ENDPOINTS,
    *plans.ENDPOINTS,
    *codes.ENDPOINTS,
    *confirming.ENDPOINTS,
    *money.ENDPOINTS,
    *schedules.ENDPOINTS,
    *acts_on_schedules.ENDPOINTS,
    *runbooks.ENDPOINTS,
    *occurrences.ENDPOINTS,
    *acts_on_occurrences.ENDPOINTS,
    *recoveries.ENDPOINTS,
    *jobs.ENDPOINTS,
    *acts_on_jobs.ENDPOINTS,
    *finding.ENDPOINTS,
    *workers.ENDPOINTS,
    *acts_on_workers.ENDPOINTS,
    *why.ENDPOINTS,
    *simulation.ENDPOINTS,
    *overview.ENDPOINTS,
    *stops.ENDPOINTS,
    *alarms.ENDPOINTS,
    *audit.ENDPOINTS,
    *timeline.ENDPOINTS,
    *events.ENDPOINTS,
    *health.ENDPOINTS,
)
"""Every operation of the API, once: the same set as `jobcontract.routes.ROUTES`."""


def create_app(
    service: Service,
    *,
    signing_key: bytes,
    schema_version: str,
    bounds: Bounds | None = None,
    opening: Opening | None = None,
) -> FastAPI:
    """The API of `service`. `schema_version` is the migration that the code needs (`/readyz` compares it); `opening`: from
    when on requests are let in (None: from the first).

    ValueError for a signing key of fewer than 32 bytes.
    """
    context = make_context(service, signing_key=signing_key, schema_version=schema_version, bounds=bounds or Bounds())
    app = FastAPI(
        title=TITLE,
        version=__version__,
        openapi_url=DOCUMENT_PATH,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=_lifespan,
        telemetry={"tracing": False, "metrics": False, "logs": False, "operation_spans": False},
    )
    attach(app, context)
    app.state.hub = context.hub
    app.add_exception_handler(Refusal, on_refusal)
    app.add_exception_handler(RequestValidationError, on_invalid)
    app.add_exception_handler(HTTPException, on_http)
    app.add_middleware(Door, opening=opening or Opening())
    app.add_middleware(Frame)  # the outermost: it refers to, counts and logs what the door sends away, too
    for endpoint in ENDPOINTS:
        _add(app, endpoint)
    _build(app)
    _document(app)
    return app


def hub_of(app: FastAPI) -> Hub:
    """The hub whose streams are to be ended when the process stops."""
    hub: Hub = app.state.hub
    return hub


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    listening = asyncio.create_task(hub_of(app).run(), name="hints")
    try:
        yield
    finally:
        hub_of(app).end_streams()
        await stop(listening)


def _add(app: FastAPI, endpoint: Endpoint) -> None:
    app.router.add_api_route(
        endpoint.route.path,
        endpoint.function,
        methods=[endpoint.route.method],
        name=endpoint.route.name,
        operation_id=endpoint.route.name,
        summary=endpoint.summary,
        response_model=endpoint.answer,
        status_code=endpoint.status,
        responses=responses(endpoint),
        route_class_override=JobRoute,
    )


def _build(app: FastAPI) -> None:
    """Build the wire models' validators now: theirs is deferred to first use, which would be somebody's request."""
    with warnings.catch_warnings():
        # The framework silences this for models that are built at once: it wraps each body in a field of its own.
        warnings.simplefilter("ignore", UnsupportedFieldAttributeWarning)
        for route in app.routes:
            if isinstance(route, APIRoute) and route.body_field is not None:
                route.body_field.validate({}, {}, loc=("body",))


def _document(app: FastAPI) -> None:
    by_name = {endpoint.route.name: endpoint for endpoint in ENDPOINTS}

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = document(TITLE, __version__, app.routes, by_name)
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]  # the framework's own way to hand in a finished document
