"""Owns the OpenAPI document (3.1): what the framework finds, with our headers, sign-in and problems added."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from fastapi.openapi.utils import get_openapi
from starlette.routing import BaseRoute

from jobcontract.errors import ErrorCode
from jobcontract.ids import KEY_MAX, SLUG_MAX
from jobcontract.routes import KEY_HEADER, PROBLEM_TYPE, REFERENCE_HEADER, TENANT_HEADER
from jobcontract.wire import Problem
from jobservice.api.endpoints import Endpoint

_SIGNED_IN = (
    ErrorCode.UNAUTHENTICATED,
    ErrorCode.TOKEN_EXPIRED,
    ErrorCode.TENANT_UNKNOWN,
    ErrorCode.INVALID_REQUEST,
    ErrorCode.INTERNAL,
    ErrorCode.DATABASE_AWAY,
    ErrorCode.TIMED_OUT,
    ErrorCode.STOPPING,
    ErrorCode.BODY_TOO_LARGE,
)
_IN_TENANT = (ErrorCode.TENANT_REQUIRED, ErrorCode.PERMISSION_MISSING)
_ACTING = (ErrorCode.IDEMPOTENCY_KEY_MISSING, ErrorCode.IDEMPOTENCY_KEY_REUSED, ErrorCode.IDEMPOTENCY_RUNNING)


def refusals(endpoint: Endpoint) -> tuple[ErrorCode, ...]:
    """Every failure that the operation may answer with, in the order of the contract's list."""
    found = set(endpoint.refusals)
    if not endpoint.route.public:
        found.update(_SIGNED_IN)
    if endpoint.route.permission is not None:
        found.update(_IN_TENANT)
    if endpoint.route.acts:
        found.update(_ACTING)
    if "{" in endpoint.route.path:
        found.add(ErrorCode.NOT_FOUND)
    return tuple(kind for kind in ErrorCode if kind in found)


def responses(endpoint: Endpoint) -> dict[int | str, dict[str, Any]]:
    """The answers of the operation for the framework: its good one, and a problem for each status of its refusals."""
    by_status: defaultdict[int, list[ErrorCode]] = defaultdict(list)
    for kind in refusals(endpoint):
        by_status[kind.status].append(kind)
    answers: dict[int | str, dict[str, Any]] = {
        status: {
            "description": "; ".join(f"`{kind.code}`: {kind.title}" for kind in kinds),
            "content": {PROBLEM_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
        }
        for status, kinds in by_status.items()
    }
    if endpoint.answer is None:
        answers[endpoint.status] = {
            "description": endpoint.summary,
            "content": {endpoint.media: {"schema": {"type": "string"}}},
        }
    return answers


def document(
    title: str, version: str, routes: Iterable[BaseRoute], endpoints: Mapping[str, Endpoint]
) -> dict[str, Any]:
    """The whole document."""
    found: dict[str, Any] = get_openapi(title=title, version=version, routes=list(routes), summary=_SUMMARY)
    components = found.setdefault("components", {})
    components.setdefault("schemas", {})["Problem"] = Problem.model_json_schema()
    components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    for unused in ("HTTPValidationError", "ValidationError"):
        components["schemas"].pop(unused, None)
    for path in found["paths"].values():
        for operation in path.values():
            _complete(operation, endpoints[operation["operationId"]])
    return found


_SUMMARY = "Work queues with claims, acts and live hints. Failures are RFC 9457 problem details."


def _complete(operation: dict[str, Any], endpoint: Endpoint) -> None:
    parameters = operation.setdefault("parameters", [])
    if not endpoint.route.public:
        operation["security"] = [{"token": []}]
        parameters.append(
            _header(TENANT_HEADER, "The tenant to act in; needed where you have several.", {"maxLength": SLUG_MAX})
        )
    if endpoint.route.acts:
        form = {"minLength": 1, "maxLength": KEY_MAX, "pattern": "^[!-~]+$"}
        parameters.append(_header(KEY_HEADER, "A new random text for each new request.", form, required=True))
    if endpoint.route.name == "events":
        parameters.append(_header("Last-Event-ID", "The last event id seen: resume behind it.", {"maxLength": 200}))
    for answer in operation["responses"].values():
        answer.setdefault("headers", {})[REFERENCE_HEADER] = {
            "description": "Finds this request in the log.",
            "schema": {"type": "string"},
        }


def _header(name: str, description: str, form: Mapping[str, Any], *, required: bool = False) -> dict[str, Any]:
    return {
        "name": name,
        "in": "header",
        "required": required,
        "description": description,
        "schema": {"type": "string", **form},
    }
