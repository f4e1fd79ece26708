"""Owns whether this process takes requests yet: not before somebody judged its database, and the walls in it, to be right.

Until then every request but the question whether the process lives is answered 503; nothing reaches the database.
"""

from __future__ import annotations

from dataclasses import dataclass

from starlette.types import ASGIApp, Receive, Scope, Send

from jobcontract import routes
from jobcontract.errors import ErrorCode
from jobservice.api.problems import problem

_SENTENCE = "The service has started, and its database is away. Try again in a few seconds."


@dataclass(slots=True, kw_only=True)
class Opening:
    """Whether requests are let in; set once, by whoever judged the database."""

    open: bool = True


class Door:
    """ASGI middleware in front of every operation."""

    def __init__(self, app: ASGIApp, *, opening: Opening) -> None:
        self._app = app
        self._opening = opening

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or say that it is too early; the process's start and stop pass through."""
        if self._opening.open or scope["type"] != "http" or scope["path"] == routes.HEALTH.path:
            await self._app(scope, receive, send)
            return
        await problem(scope, ErrorCode.DATABASE_AWAY, _SENTENCE)(scope, receive, send)
