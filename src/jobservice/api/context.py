"""Owns what every request of one API process shares: the service, the signer, the gates, the hub, the figures, the bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from fastapi import FastAPI
from starlette.types import Scope

from jobcontract.errors import ErrorCode
from jobservice.api.gates import Gate, Turnstile
from jobservice.api.hub import Hub
from jobservice.api.metrics import Metrics
from jobservice.api.signing import Signer
from jobservice.usecases.counting import KeptCounts
from jobservice.usecases.service import Service


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How long and how large things may be; seconds and bytes."""

    request_seconds: float = 30.0
    """From the first look at a request to its answer, streams left out."""
    body_seconds: float = 10.0
    """For the whole body to arrive."""
    body_most: int = 65_536
    """Of a body that neither pushes an item nor names a set of them."""
    set_most: int = 4 * 1_048_576
    """Of a body that names a set of items: 50,000 ids, however they are spaced."""
    ready_seconds: float = 1.0
    """For the database to answer `/readyz`."""
    beat_seconds: float = 15.0
    """Between two signs of life on a quiet stream."""
    recheck_seconds: float = 25.0
    """Between two looks at a stream's rights: ended ones end within 30 s, the look itself included (MONEY.md 21, 34)."""
    poll_seconds: float = 3.0
    """Between two looks for hints that no notification told of."""
    flush_seconds: float = 0.2
    """Least time between two batches of one stream: at most five a second."""
    send_seconds: float = 30.0
    """For a stream's client to take what was sent; then it is cut off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What the requests of one API process share."""

    service: Service
    signer: Signer
    bounds: Bounds
    listings: Gate
    streams: Gate
    plans: Turnstile
    hub: Hub
    metrics: Metrics
    counts: KeptCounts
    schema_version: str
    """The migration that this code needs, for `/readyz`."""


def make_context(service: Service, *, signing_key: bytes, schema_version: str, bounds: Bounds) -> Context:
    """The context of a process that serves `service`; ValueError for a signing key that is too short."""
    settings = service.records.settings
    streams = Gate(settings.streams_max, ErrorCode.TOO_MANY_STREAMS, "live streams")
    return Context(
        service=service,
        signer=Signer(signing_key),
        bounds=bounds,
        listings=Gate(settings.listings_max, ErrorCode.TOO_MANY_LISTINGS, "listings"),
        streams=streams,
        plans=Turnstile(),
        hub=Hub(service.database, poll_seconds=bounds.poll_seconds, flush_seconds=bounds.flush_seconds),
        metrics=Metrics(service.database.figures, lambda: streams.open),
        counts=KeptCounts(),
        schema_version=schema_version,
    )


_STATE: Final = "context"


def attach(app: FastAPI, context: Context) -> None:
    """Give the application its context."""
    setattr(app.state, _STATE, context)


def context_of(scope: Scope) -> Context:
    """The context of the application that handles this request."""
    context: Context = getattr(scope["app"].state, _STATE)
    return context
