"""Owns the outermost frame of every request: its reference, its log line, its figures, the headers of every answer.

Never logs a token, a body or a message that may hold one; never lets a fault out other than as a problem.
"""

from __future__ import annotations

import asyncio
import re
import secrets
import traceback

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from jobcontract.errors import ErrorCode
from jobcontract.routes import KEY_HEADER, REFERENCE_HEADER
from jobservice.api.admission import BY_NAME, ROUTE_NAME
from jobservice.api.context import context_of
from jobservice.api.problems import CODE, REFERENCE, fault_sentence, problem

_LOG = structlog.get_logger("jobservice.api")
_REFERENCE_FORM = re.compile(r"[A-Za-z0-9-]{8,64}", re.ASCII)
_FRAMES_MAX = 12


class Frame:
    """ASGI middleware around the whole application."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request in the frame; the process's start and stop pass through."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        await _Exchange(scope, send).run(self._app, receive)


class _Exchange:
    """One request and its answer."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self._scope = scope
        self._send = send
        self._status = 0
        self._began = asyncio.get_running_loop().time()
        sent = Headers(scope=scope).get(REFERENCE_HEADER, "")
        self._reference = sent if _REFERENCE_FORM.fullmatch(sent) else secrets.token_hex(8)
        scope[REFERENCE] = self._reference

    async def run(self, app: ASGIApp, receive: Receive) -> None:
        try:
            await app(self._scope, receive, self._sending)
        except ClientDisconnect:
            self._scope[CODE] = "disconnected"
        except asyncio.CancelledError:
            await self._stopped(receive)
            raise
        except Exception as error:  # the frame is where every fault becomes an answer
            await self._fault(error, receive)
        finally:
            self._note()

    async def _sending(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            headers = MutableHeaders(raw=message["headers"])
            headers[REFERENCE_HEADER] = self._reference
            headers["X-Content-Type-Options"] = "nosniff"
            headers["Cache-Control"] = "no-store"
            message = {**message, "headers": headers.raw}
        await self._send(message)

    async def _fault(self, error: Exception, receive: Receive) -> None:
        # The message of an exception may quote a row or a body, so the log gets its type and where it came from.
        frames = traceback.extract_tb(error.__traceback__)[-_FRAMES_MAX:]
        _LOG.error(
            "fault",
            reference=self._reference,
            error=f"{type(error).__module__}.{type(error).__qualname__}",
            frames=[f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames],
        )
        if self._status == 0:
            answer = problem(self._scope, ErrorCode.INTERNAL, fault_sentence())
            await answer(self._scope, receive, self._sending)

    async def _stopped(self, receive: Receive) -> None:
        """Say that the process stops while it answers: whatever was begun may or may not be committed by now."""
        if self._status == 0:
            answer = problem(self._scope, ErrorCode.STOPPING, self._stopping_sentence())
            await answer(self._scope, receive, self._sending)

    def _stopping_sentence(self) -> str:
        route = BY_NAME.get(str(self._scope.get(ROUTE_NAME)))
        if route is not None and route.acts:
            then = f"It is not known whether this was done. Send it again with the same {KEY_HEADER}: it happens once."
        elif self._scope["method"] in ("GET", "HEAD"):
            then = "Nothing was changed. Ask again in a few seconds."
        else:
            then = "It is not known whether this was done. Look before you send it again."
        return f"The service is stopping. {then}"

    def _note(self) -> None:
        seconds = asyncio.get_running_loop().time() - self._began
        route = str(self._scope.get(ROUTE_NAME, "unknown"))
        context_of(self._scope).metrics.observe(route, self._status, seconds)
        _LOG.info(
            "request",
            reference=self._reference,
            method=self._scope["method"],
            route=route,
            status=self._status,
            code=self._scope.get(CODE),
            milliseconds=round(seconds * 1000, 1),
        )
