"""Owns reading a request body within its bounds, and refusing JSON that cannot be kept as it was sent.

Never validates members (wire models do), never repeats what was sent.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from decimal import Decimal, InvalidOperation
from math import isinf
from typing import Any, NoReturn

from fastapi import Request
from starlette.requests import ClientDisconnect
from starlette.types import Receive

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.ids import storable

DEPTH_MAX = 32
"""Most arrays and objects inside one another."""
INTEGER_MAX = 2**63 - 1
_DIGITS_MAX = 40
"""Most characters of a number; anything longer cannot be exact in 64 bits."""
_CODE = "code"
"""The member that holds a code from a phone, wherever a body has one."""


class CheckedRequest(Request):
    """A request whose body was read and checked before the framework asks for it."""

    def __init__(self, scope: dict[str, Any], receive: Receive, *, raw: bytes, content: object) -> None:
        super().__init__(scope, receive)
        self._raw = raw
        self._content = content

    async def body(self) -> bytes:
        """The bytes as they came."""
        return self._raw

    async def json(self) -> Any:
        """The JSON value, checked."""
        return self._content


async def read_body(request: Request, *, most: int, seconds: float) -> bytes:
    """The whole body; Refusal BODY_TOO_LARGE past `most` bytes (stated or counted), TIMED_OUT past `seconds`."""
    stated = request.headers.get("content-length", "0")
    if not (stated.isascii() and stated.isdigit()):
        raise invalid(("header", "Content-Length"), "must be a whole number of bytes")
    if int(stated[:20]) > most:
        raise _too_large(most)
    try:
        async with asyncio.timeout(seconds):
            return await _collect(request.receive, most)
    except TimeoutError as slow:
        raise Refusal(
            ErrorCode.TIMED_OUT, f"The body did not arrive within {seconds:g} s. Nothing was done; send it again."
        ) from slow


async def _collect(receive: Receive, most: int) -> bytes:
    body = bytearray()
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        body += message.get("body", b"")
        if len(body) > most:
            raise _too_large(most)
        more = message.get("more_body", False)
    return bytes(body)


def _too_large(most: int) -> Refusal:
    return Refusal(
        ErrorCode.BODY_TOO_LARGE, f"The body is larger than {most:,} bytes, which is the most here.", most=most
    )


def parse(body: bytes, content_type: str) -> object:
    """The JSON value of `body`; Refusal INVALID_REQUEST where it is not JSON that can be kept exactly as sent."""
    if content_type.partition(";")[0].strip().lower() != "application/json":
        raise invalid(("header", "Content-Type"), "must be application/json")
    try:
        text = body.decode("utf-8")
        value: object = json.loads(
            text, parse_constant=_constant, parse_float=_decimal, parse_int=_integer, object_pairs_hook=_members
        )
    except UnicodeDecodeError as broken:
        raise invalid(("body",), f"is not UTF-8 (byte {broken.start})") from broken
    except json.JSONDecodeError as broken:
        raise invalid(("body",), f"is not JSON (line {broken.lineno}, column {broken.colno})") from broken
    except RecursionError as deep:
        raise _too_deep() from deep
    _walk(value, ("body",))
    return value


def to_digest(raw: bytes, content: object) -> bytes:
    """What tells the bodies of an idempotency key apart: the bytes as sent, or, where they hold a code, the rest of them.

    A repeated request may bring the next code, and no digest of a code is kept: a million codes are soon tried
    (MONEY.md 32).
    """
    if not isinstance(content, dict) or _CODE not in content:
        return raw
    rest = {name: member for name, member in content.items() if name != _CODE}
    return b"\0" + json.dumps(rest, sort_keys=True, separators=(",", ":")).encode()  # no body as sent begins with NUL


def _constant(name: str) -> NoReturn:
    raise invalid(("body",), f"holds {name}, which is not a JSON number")


def _decimal(text: str) -> float:
    number = float(text)
    # A number that would come back changed is not kept at all: no amount is rounded behind anyone's back.
    if len(text) > _DIGITS_MAX or isinf(number) or not _same(number, text):
        raise invalid(("body",), "holds a number with more digits than can be kept exactly; send it as text")
    return number


def _same(number: float, text: str) -> bool:
    try:
        return Decimal(repr(number)) == Decimal(text)
    except InvalidOperation:  # an exponent beyond even those of decimals
        return False


def _integer(text: str) -> int:
    if len(text) > _DIGITS_MAX or abs(int(text)) > INTEGER_MAX:
        raise invalid(("body",), "holds a whole number beyond 64 bits; send it as text")
    return int(text)


def _members(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members: dict[str, object] = {}
    for name, value in pairs:
        if name in members:
            # Of two values of one name, every reader may take another one (RFC 8259, section 4).
            raise invalid(("body",), f"has the member {name_place((name,))!r} twice in one object; send it once")
        members[name] = value
    return members


def _walk(value: object, where: tuple[str | int, ...]) -> None:
    if len(where) > DEPTH_MAX:
        raise _too_deep()
    if isinstance(value, str):
        _check_text(value, where)
    elif isinstance(value, dict):
        for name, member in value.items():
            _check_text(name, where)
            _walk(member, (*where, name))
    elif isinstance(value, list):
        for at, member in enumerate(value):
            _walk(member, (*where, at))


def _check_text(text: str, where: tuple[str | int, ...]) -> None:
    if not storable(text):
        raise invalid(where, "holds a NUL or a lone surrogate, which cannot be stored")


def _too_deep() -> Refusal:
    return invalid(("body",), f"is nested deeper than {DEPTH_MAX} levels")


def invalid(where: Iterable[str | int], sentence: str) -> Refusal:
    """Refusal INVALID_REQUEST of one place: `where` it is and what is wrong there."""
    place = name_place(where)
    return Refusal(
        ErrorCode.INVALID_REQUEST, f"{place} {sentence}.", errors=[{"where": place, "sentence": f"{place} {sentence}."}]
    )


def name_place(where: Iterable[str | int]) -> str:
    """A place of the request as text: `body.amount.minor`, `query.limit`; long or odd names are cut and shown safely."""
    return ".".join(_step(part) for part in where)


def _step(part: str | int) -> str:
    text = str(part)
    shown = "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in text[:60])
    return shown if len(text) <= 60 else shown + "…"
