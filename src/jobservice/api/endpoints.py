"""Owns what an operation declares beside its function: its route, its answer, the refusals that are its own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from fastapi import Response
from pydantic import BaseModel

from jobcontract.errors import ErrorCode
from jobcontract.routes import Route


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One operation: the contract's route and the function that carries it out."""

    route: Route
    function: Callable[..., Awaitable[Response]]
    answer: type[BaseModel] | None = None
    """The model of the good answer; None where it is not JSON."""
    status: int = 200
    media: str = "application/json"
    summary: str
    refusals: tuple[ErrorCode, ...] = ()
    """Those that only this operation has; common ones are added for all."""
