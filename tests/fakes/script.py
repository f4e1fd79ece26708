"""Owns a transport that answers as written, and time that passes only when told. Never opens a socket."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx
from pydantic import SecretStr

from jobconsole.client.clock import ServerClock
from jobconsole.client.service import Service
from jobconsole.client.wiring import Times
from jobcontract.errors import ErrorCode
from jobcontract.routes import PROBLEM_TYPE

TOKEN = "jc_0123456789-not-a-real-one"

Step = httpx.Response | Exception | Callable[[httpx.Request], httpx.Response]


class Script:
    """Answers one step a request; the last step repeats. Sleeping moves the monotonic clock and is noted."""

    def __init__(self, *steps: Step) -> None:
        self.steps = list(steps)
        self.requests: list[httpx.Request] = []
        self.pauses: list[float] = []
        self.monotonic = 1_000.0

    def service(self, *, tenant: str | None = "leeds", url: str = "http://127.0.0.1:8414", **times: float) -> Service:
        """A client that talks to this script."""
        return Service(
            url,
            SecretStr(TOKEN),
            tenant,
            transport=httpx.MockTransport(self._handle),
            times=Times(**times),  # type: ignore[arg-type]  # tries is whole wherever a test sets it
            clock=ServerClock(lambda: self.monotonic),
            sleep=self.sleep,
        )

    async def sleep(self, seconds: float) -> None:
        """Pass the time."""
        self.pauses.append(seconds)
        self.monotonic += seconds

    def _handle(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        step = self.steps.pop(0) if len(self.steps) > 1 else self.steps[0]
        if isinstance(step, Exception):
            raise step
        if isinstance(step, httpx.Response):
            # A response is read once: each request gets one of its own.
            return httpx.Response(step.status_code, headers=step.headers, content=step.content)
        return step(request)


def good(body: object) -> httpx.Response:
    """A 200 with JSON."""
    return httpx.Response(200, json=body)


def problem(kind: ErrorCode, detail: str = "A sentence.", **extra: Any) -> httpx.Response:
    """Problem details of a failure."""
    body = {
        "type": f"urn:x:{kind.code}",
        "title": kind.title,
        "status": kind.status,
        "code": kind.code,
        "detail": detail,
        "reference": "8C1E",
        **extra,
    }
    return httpx.Response(kind.status, headers={"Content-Type": PROBLEM_TYPE}, content=json.dumps(body).encode())


def reset() -> httpx.ReadError:
    """The connection broke after the request was sent."""
    return httpx.ReadError("connection reset by peer")
