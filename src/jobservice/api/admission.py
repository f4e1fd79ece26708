"""Owns the order in which a request is judged: who, which tenant, permission, key, body; only then the operation.

Never looks for the thing that is asked about: whether it exists is told only to those who may ask (MONEY.md 32, 33).
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

from fastapi import Depends, Request, Response
from fastapi.routing import APIRoute
from pydantic import SecretStr

from jobcontract import routes
from jobcontract.errors import ErrorCode, Refusal
from jobcontract.ids import KEY_MAX, storable
from jobcontract.operating_routes import MAKE_RECOVERY, TAKE_OUT_OF_RECOVERY
from jobcontract.permissions import GRANTS
from jobcontract.routes import KEY_HEADER, TENANT_HEADER, Route
from jobservice.api.bodies import CheckedRequest, invalid, parse, read_body, to_digest
from jobservice.api.context import Context, context_of
from jobservice.api.problems import REFERENCE
from jobservice.usecases.actor import Actor
from jobservice.usecases.audit import record_refusal, safe_subject
from jobservice.usecases.idempotency import Once
from jobservice.usecases.session import SignedIn, authenticate

BY_NAME: Mapping[str, Route] = {route.name: route for route in routes.ROUTES}
TOKEN_MAX = 200
"""Most characters of a token that is looked at."""
KEY_FORM = re.compile(rf"[!-~]{{1,{KEY_MAX}}}", re.ASCII)
"""An idempotency key: 1 to `KEY_MAX` visible ASCII characters."""
ROUTE_NAME = "jobs.route"
"""Key of the route's name in the scope, for figures and log lines."""
_ADMISSION = "jobs.admission"
_PUSHES = frozenset({routes.PUSH_ITEM.name, routes.CHANGE_ITEM.name})
_SETS = frozenset({routes.MAKE_PLAN.name, routes.TAKE_OUT.name, MAKE_RECOVERY.name, TAKE_OUT_OF_RECOVERY.name})
"""Routes whose body names as many things as a plan or a recovery can."""
_ONCE = ("Authorization", TENANT_HEADER, KEY_HEADER)
"""Headers of which every reader would take another one, were they sent twice."""
_SUBJECTS = ("item", "plan", "occurrence", "job", "queue")
"""What an act is about, as paths name it, the closest first."""
_UNTIMED = frozenset({routes.EVENTS.name})


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """A request that was let in: its context, who asks, and, where the route has one, the tenant and the key."""

    context: Context
    token: SecretStr
    signed_in: SignedIn
    reference: str
    tenant: str | None
    """As named in `Jobs-Tenant`, checked; None where the request names none."""
    acting: Actor | None
    key: Once | None

    @property
    def actor(self) -> Actor:
        """Who acts, in which tenant; only for routes that have a permission."""
        if self.acting is None:
            raise RuntimeError("this route has no permission, so nobody need act in a tenant here")
        return self.acting

    @property
    def once(self) -> Once:
        """The identity of the acting request; only for routes that act."""
        if self.key is None:
            raise RuntimeError("this route does not act, so it takes no key")
        return self.key


async def _admission(request: Request) -> Admission:
    admission: Admission = request.scope[_ADMISSION]
    return admission


Admitted = Annotated[Admission, Depends(_admission)]
"""The parameter by which an operation gets its admission."""


class JobRoute(APIRoute):
    """A route of the contract's list: admits the request before the framework looks at any parameter."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The framework's own handler behind our judgement, and both within the time that a request has."""
        inner = super().get_route_handler()
        known = frozenset(field.alias for field in self.dependant.query_params)
        takes_body = self.body_field is not None

        async def handle(request: Request) -> Response:
            route = BY_NAME[self.name]
            request.scope[ROUTE_NAME] = route.name
            context = context_of(request.scope)
            if route.public or route.name in _UNTIMED:
                return await inner(await _judge(request, route, context, known, takes_body=takes_body))
            try:
                async with asyncio.timeout(context.bounds.request_seconds):
                    return await inner(await _judge(request, route, context, known, takes_body=takes_body))
            except TimeoutError as slow:
                raise _timed_out(route, context.bounds.request_seconds) from slow

        return handle


def _timed_out(route: Route, seconds: float) -> Refusal:
    then = f"Send it again with the same {KEY_HEADER} to find out whether it was done." if route.acts else "Try again."
    return Refusal(ErrorCode.TIMED_OUT, f"It took longer than {seconds:g} s and was stopped. {then}")


async def _judge(
    request: Request, route: Route, context: Context, known: frozenset[str], *, takes_body: bool
) -> Request:
    if route.public:
        return request
    for name in _ONCE:
        if len(request.headers.getlist(name)) > 1:
            raise invalid(("header", name), "is sent twice; send it once")
    admission = await _admit(request, route, context)
    _check_address(request, known)
    most = _body_most(route, context)
    if takes_body and request.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
        raise invalid(("header", "Content-Encoding"), "is not taken: send the body as it is")
    raw = await read_body(request, most=most, seconds=context.bounds.body_seconds)
    key = _key(request) if route.acts else None
    content = parse(raw, request.headers.get("content-type", "")) if takes_body else None
    request.scope[_ADMISSION] = (
        admission if key is None else _with_key(admission, request, key, to_digest(raw, content))
    )
    if not takes_body:
        return request
    return CheckedRequest(dict(request.scope), request.receive, raw=raw, content=content)


def _body_most(route: Route, context: Context) -> int:
    """Most bytes of the body of a route."""
    if route.name in _PUSHES:
        return context.service.records.settings.payload_most
    return context.bounds.set_most if route.name in _SETS else context.bounds.body_most


async def _admit(request: Request, route: Route, context: Context) -> Admission:
    token = _token(request)
    signed_in = await authenticate(context.service.database, token.get_secret_value())
    reference = str(request.scope[REFERENCE])
    named = request.headers.get(TENANT_HEADER)
    acting = None
    if route.permission is not None or named is not None:
        acting = signed_in.actor(named, reference=reference)
        await _require(request, route, context, acting)
    return Admission(
        context=context,
        token=token,
        signed_in=signed_in,
        reference=reference,
        tenant=named,
        acting=acting,
        key=None,
    )


async def _require(request: Request, route: Route, context: Context, actor: Actor) -> None:
    if route.permission is None or route.admits(GRANTS[actor.role]):
        return
    try:
        actor.require(route.permission)
    except Refusal as refusal:
        if route.method != "GET":
            named = request.path_params
            action = str(named.get("use_case", route.name))
            subject = str(next((named[each] for each in _SUBJECTS if named.get(each)), actor.tenant))
            await record_refusal(context.service, actor, safe_subject(action), subject, refusal)
        raise


def _token(request: Request) -> SecretStr:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    token = token.strip()
    if scheme.lower() != "bearer" or not token or len(token) > TOKEN_MAX or not token.isascii():
        raise Refusal(ErrorCode.UNAUTHENTICATED, "Sign in: send a token as `Authorization: Bearer ...`.")
    return SecretStr(token)


def _check_address(request: Request, known: frozenset[str]) -> None:
    """Refusal NOT_FOUND for a path, INVALID_REQUEST for a query, that cannot be looked up at all."""
    if not all(storable(str(part)) for part in request.path_params.values()):
        raise Refusal(ErrorCode.NOT_FOUND, "There is no such thing: the address holds a character that no id has.")
    for name, value in request.query_params.multi_items():
        if name not in known:
            words = ", ".join(sorted(known)) or "none"
            raise invalid(("query", name), f"is not a parameter of this address (it takes: {words})")
        if not storable(value):
            raise invalid(("query", name), "holds a NUL or a lone surrogate")
        if len(request.query_params.getlist(name)) > 1:
            raise invalid(("query", name), "is sent twice; send it once")


def _key(request: Request) -> str:
    key = request.headers.get(KEY_HEADER, "")
    if not key:
        raise Refusal(
            ErrorCode.IDEMPOTENCY_KEY_MISSING,
            f"Send {KEY_HEADER}: a new random text for each new request of this kind.",
        )
    if KEY_FORM.fullmatch(key) is None:
        raise Refusal(
            ErrorCode.IDEMPOTENCY_KEY_MISSING,
            f"{KEY_HEADER} must be 1 to {KEY_MAX} visible ASCII characters without a space.",
        )
    return key


def _with_key(admission: Admission, request: Request, key: str, body: bytes) -> Admission:
    digest = admission.context.signer.digest(body)
    return replace(admission, key=Once(method=request.method, path=request.scope["path"], key=key, digest=digest))
