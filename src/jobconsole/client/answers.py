"""Owns what an answer means: the value in it, the refusal in it, or why it cannot be used. Pure; sends nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar

import httpx
from pydantic import ValidationError

from jobconsole.client.errors import ClientError, ServiceAway, ServiceRefused, SignInAgain
from jobcontract.routes import PROBLEM_TYPE, REFERENCE_HEADER
from jobcontract.wire import Answer, Problem

A = TypeVar("A", bound=Answer)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One HTTP answer, read whole. `body` None = larger than is read; `sent`, `received` in monotonic seconds."""

    status: int
    headers: httpx.Headers = field(repr=False)
    body: bytes | None = field(repr=False)
    sent: float
    received: float

    @property
    def reference(self) -> str | None:
        """What finds the service's log line of it."""
        return str(self.headers[REFERENCE_HEADER]) if REFERENCE_HEADER in self.headers else None

    @property
    def retry_after(self) -> float | None:
        """Seconds that the service asks to wait (RFC 9110, 10.2.3; the date form is left out)."""
        text = self.headers.get("Retry-After", "").strip()
        return float(text) if text.isascii() and text.isdigit() and len(text) <= 6 else None


def problem(reply: Reply) -> Problem | None:
    """The problem details of an answer; None where it has none that can be read."""
    kind = reply.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != PROBLEM_TYPE or reply.body is None:
        return None
    try:
        return Problem.model_validate_json(reply.body)
    except ValidationError:
        return None


def value(reply: Reply, model: type[A], address: str) -> A:
    """The value of a good answer; raises what `refusal` makes of any other."""
    body = body_of(reply, address)
    try:
        return model.model_validate_json(body)
    except ValidationError as error:
        raise ServiceAway(_unreadable(error, model, address), reference=reply.reference) from None


def body_of(reply: Reply, address: str) -> bytes:
    """The body of a good answer as it came; raises what `refusal` makes of any other."""
    if not 200 <= reply.status < 300:
        raise refusal(reply, address)
    if reply.body is None:
        raise ServiceAway("The answer of the service is larger than this console reads.", reference=reply.reference)
    return reply.body


def refusal(reply: Reply, address: str) -> ClientError:
    """The error of an answer that is no success."""
    found = problem(reply)
    if reply.status == 401:
        return SignInAgain(found or _made_up(reply, "unauthenticated", "The service does not accept the token."))
    if found is not None and reply.status < 500:
        return ServiceRefused(found)
    if found is not None:
        return ServiceAway(found.detail, retry_after=reply.retry_after, reference=found.reference)
    return ServiceAway(_strange(reply, address), retry_after=reply.retry_after, reference=reply.reference)


def away(address: str, reason: str) -> ServiceAway:
    """The error of a call that got no answer."""
    return ServiceAway(f"The service at {address} cannot be reached ({reason.rstrip('.')}).")


def _strange(reply: Reply, address: str) -> str:
    if 300 <= reply.status < 400:
        return f"{address} answers with a redirect, which is not followed: check the address of the service."
    if reply.status < 500:
        return f"{address} answers {reply.status}, not as a job service does: check the address of the service."
    return f"The service at {address} answered {reply.status}."


def _unreadable(error: ValidationError, model: type[Answer], address: str) -> str:
    """Names the first member that is wrong, never its content."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    where = ".".join(str(step) for step in first["loc"]) or "the whole"
    return f"The answer of {address} cannot be read as {model.__name__}: {where[:80]} ({first['type']})."


def _made_up(reply: Reply, code: str, detail: str) -> Problem:
    return Problem(
        type="about:blank",
        title="Sign in first",
        status=reply.status,
        code=code,
        detail=detail,
        reference=reply.reference or "",
    )
