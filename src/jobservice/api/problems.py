"""Owns turning every failure into RFC 9457 problem details: refusals, the framework's own answers, faults.

Never repeats input, never shows an internal message.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.routing import Match, Route
from starlette.types import Scope

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.routes import PROBLEM_TYPE
from jobservice.api.bodies import name_place

RETRY_AFTER_SECONDS: Mapping[ErrorCode, int] = {
    ErrorCode.DATABASE_AWAY: 5,
    ErrorCode.TIMED_OUT: 5,
    ErrorCode.STOPPING: 5,
    ErrorCode.TOO_MANY_LISTINGS: 1,
    ErrorCode.TOO_MANY_STREAMS: 15,
    ErrorCode.IDEMPOTENCY_RUNNING: 1,
}
REFERENCE = "jobs.reference"
"""Key of the request's reference in its scope."""
CODE = "jobs.code"
"""Key of the code of the failure that was answered, for the log line."""
_SHOWN_MAX = 20


def problem(scope: Scope, kind: ErrorCode, detail: str, extra: Mapping[str, object] | None = None) -> Response:
    """The answer of a failure; its reference is the request's."""
    reference = str(scope.get(REFERENCE, ""))
    scope[CODE] = kind.code
    body: dict[str, object] = {
        **(extra or {}),
        "type": f"urn:jobs:problem:{kind.code}",
        "title": kind.title,
        "status": kind.status,
        "code": kind.code,
        "detail": detail,
        "reference": reference,
    }
    headers: dict[str, str] = {}
    if kind in RETRY_AFTER_SECONDS:
        headers["Retry-After"] = str(RETRY_AFTER_SECONDS[kind])
    if kind.status == HTTPStatus.UNAUTHORIZED:
        headers["WWW-Authenticate"] = 'Bearer realm="jobs"'
    if kind is ErrorCode.BODY_TOO_LARGE:
        headers["Connection"] = "close"  # the rest of the body is not worth reading
    content = json.dumps(body, default=_plain, ensure_ascii=False, allow_nan=False)
    return Response(
        content.encode("utf-8", "replace"), status_code=kind.status, headers=headers, media_type=PROBLEM_TYPE
    )


def _plain(value: object) -> object:
    dump = getattr(value, "model_dump", None)
    if dump is not None:
        return dump(mode="json")
    iso = getattr(value, "isoformat", None)
    return iso() if iso is not None else str(value)


async def on_refusal(request: Request, error: Exception) -> Response:
    """A refusal is answered as it is."""
    refusal = error if isinstance(error, Refusal) else Refusal(ErrorCode.INTERNAL, "")
    return problem(request.scope, refusal.kind, refusal.detail, refusal.extra)


async def on_invalid(request: Request, error: Exception) -> Response:
    """What the wire models found, a sentence each; never the input itself."""
    found = error.errors() if isinstance(error, RequestValidationError) else ()
    return problem(request.scope, ErrorCode.INVALID_REQUEST, *_sentences(found))


def _sentences(found: Sequence[Any]) -> tuple[str, dict[str, object]]:
    errors = []
    for one in found[:_SHOWN_MAX]:
        place, wrong = name_place(one["loc"]), _wrong(one["type"], one["msg"], one.get("ctx", {}))
        # What is wrong with a body as a whole is a sentence of its own.
        whole = one["type"] == "value_error" and len(one["loc"]) == 1
        errors.append(
            {"where": place, "sentence": f"{wrong[:1].upper()}{wrong[1:]}." if whole else f"{place} {wrong}."}
        )
    detail = errors[0]["sentence"] if errors else "The request is not in the expected form."
    if len(found) > 1:
        detail += f" {len(found) - 1} more such places are named in errors."
    return detail, {"errors": errors}


_OBJECTS = frozenset({"dict_type", "model_type", "model_attributes_type", "mapping_type"})
_NAMED_AS = re.compile(r"^(?:Input|String|Value|Tuple|List|Set|Dictionary|Data) should")
"""What a place is called in Python; it is named by its place."""


def _wrong(kind: str, message: str, context: Mapping[str, Any]) -> str:
    if kind in _OBJECTS:
        return "should be an object"
    if kind == "too_long" and context.get("field_type") == "Value":  # a text that was judged first: not of "items"
        return f"has {context['actual_length']:,} characters; at most {context['max_length']:,} are allowed"
    if kind == "too_short" and context.get("field_type") == "Value":
        return f"has {context['actual_length']:,} characters; it takes at least {context['min_length']:,}"
    if kind == "missing":
        return "is missing"
    if kind == "extra_forbidden":
        return "is not a known member"
    if kind == "value_error":
        return message.removeprefix("Value error, ").rstrip(".")
    message = _NAMED_AS.sub("should", message).replace(" after validation", "").rstrip(".")
    return message[:1].lower() + message[1:]


_BY_STATUS: Mapping[int, ErrorCode] = {
    HTTPStatus.NOT_FOUND: ErrorCode.NOT_FOUND,
    HTTPStatus.METHOD_NOT_ALLOWED: ErrorCode.METHOD_NOT_ALLOWED,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: ErrorCode.BODY_TOO_LARGE,
}
_DETAILS: Mapping[ErrorCode, str] = {
    ErrorCode.NOT_FOUND: "There is nothing at this address. /v1/openapi.json lists the addresses.",
    ErrorCode.METHOD_NOT_ALLOWED: "This address does not take that method; Allow says which it takes.",
    ErrorCode.BODY_TOO_LARGE: "The body is larger than this address takes.",
    ErrorCode.INVALID_REQUEST: "The request is not in the expected form.",
}


async def on_http(request: Request, error: Exception) -> Response:
    """The framework's own answers in the same form as ours."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    kind = _BY_STATUS.get(status, ErrorCode.INVALID_REQUEST if status < 500 else ErrorCode.INTERNAL)
    answer = problem(request.scope, kind, _DETAILS.get(kind, fault_sentence()))
    if kind is ErrorCode.METHOD_NOT_ALLOWED:
        answer.headers["Allow"] = ", ".join(_methods(request))
    return answer


def _methods(request: Request) -> list[str]:
    """The methods that the address takes: each is an operation of its own, and the framework names those of one alone."""
    return sorted(
        {
            method
            for route in request.app.routes
            if isinstance(route, Route) and route.matches(request.scope)[0] is not Match.NONE
            for method in route.methods or ()
        }
    )


def fault_sentence() -> str:
    """What a person is told of a fault: nothing of its inside."""
    return "The service made a mistake and did not do this. Tell an engineer the reference."
