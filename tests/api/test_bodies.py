"""Reading bodies: bounds are kept before everything arrived, and what cannot be kept exactly is refused in words."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, MutableMapping
from typing import Any

import pytest
from fastapi import Request
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import ClientDisconnect

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.ids import storable
from jobservice.api.bodies import DEPTH_MAX, name_place, parse, read_body

JSON = "application/json"


def request(pieces: Iterable[bytes], headers: Iterable[tuple[bytes, bytes]] = (), *, then: str = "wait") -> Request:
    """A request whose body comes in pieces; afterwards it waits for ever, or the client leaves."""
    waiting = iter(pieces)

    async def receive() -> MutableMapping[str, Any]:
        for piece in waiting:
            return {"type": "http.request", "body": piece, "more_body": True}
        if then == "end":
            return {"type": "http.request", "body": b"", "more_body": False}
        if then == "leave":
            return {"type": "http.disconnect"}
        await asyncio.Event().wait()
        raise AssertionError("waits for ever")

    return Request({"type": "http", "method": "POST", "headers": list(headers)}, receive)


async def refusal(asked: Request, most: int = 10, seconds: float = 5) -> Refusal:
    with pytest.raises(Refusal) as refused:
        await read_body(asked, most=most, seconds=seconds)
    return refused.value


async def test_a_body_within_its_bound_is_whole() -> None:
    assert await read_body(request([b"12345", b"67890"], then="end"), most=10, seconds=5) == b"1234567890"


async def test_a_stated_length_beyond_the_bound_is_refused_before_anything_is_read() -> None:
    found = await refusal(request([], [(b"content-length", b"11")]))
    assert (found.kind, found.detail) == (
        ErrorCode.BODY_TOO_LARGE,
        "The body is larger than 10 bytes, which is the most here.",
    )


async def test_a_body_in_pieces_is_refused_as_soon_as_it_is_too_large() -> None:
    # The client would go on for ever; being refused at all shows that nobody waited for the end.
    assert (await refusal(request([b"123456"] * 2))).kind is ErrorCode.BODY_TOO_LARGE


async def test_a_body_that_does_not_arrive_is_given_up() -> None:
    found = await refusal(request([b"123"]), seconds=0.05)
    assert found.kind is ErrorCode.TIMED_OUT
    assert "did not arrive within 0.05 s" in found.detail


async def test_a_client_that_leaves_is_no_fault() -> None:
    with pytest.raises(ClientDisconnect):
        await read_body(request([b"1"], then="leave"), most=10, seconds=5)


@pytest.mark.parametrize("length", [b"-1", b"1e3", b"x", b"\xb2"])
async def test_a_length_that_is_no_number_is_refused(length: bytes) -> None:
    assert (await refusal(request([], [(b"content-length", length)]))).kind is ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (b"", "body is not JSON (line 1, column 1)."),
        (b"{", "body is not JSON (line 1, column 2)."),
        (b"\xff", "body is not UTF-8 (byte 0)."),
        (b'{"a": NaN}', "body holds NaN, which is not a JSON number."),
        (b'{"a": -Infinity}', "body holds -Infinity, which is not a JSON number."),
        (b'{"a": 1e999}', "body holds a number with more digits than can be kept exactly; send it as text."),
        (
            b'{"a": 12345678901234567.89}',
            "body holds a number with more digits than can be kept exactly; send it as text.",
        ),
        (
            b'{"a": 1E-9999999999999999999}',
            "body holds a number with more digits than can be kept exactly; send it as text.",
        ),
        (
            b'{"a": 0e99999999999999999999}',
            "body holds a number with more digits than can be kept exactly; send it as text.",
        ),
        (b'{"a": 9223372036854775808}', "body holds a whole number beyond 64 bits; send it as text."),
        (b"[" + b"9" * 5000 + b"]", "body holds a whole number beyond 64 bits; send it as text."),
        (b'{"a": 1, "a": 2}', "body has the member 'a' twice in one object; send it once."),
        (b'{"a": 1, "a": 1}', "body has the member 'a' twice in one object; send it once."),
        (b'[{"b": {"c": 1, "d": 2, "\\u0063": 3}}]', "body has the member 'c' twice in one object; send it once."),
        (
            b'{"\\u001b": 1, "\\u001b": 2}',
            "body has the member '\N{REPLACEMENT CHARACTER}' twice in one object; send it once.",
        ),
        (b'{"a": {"b": ["x", "\\u0000"]}}', "body.a.b.1 holds a NUL or a lone surrogate, which cannot be stored."),
        (b'{"a": "\\ud800"}', "body.a holds a NUL or a lone surrogate, which cannot be stored."),
        (b'{"\\udfff": 1}', "body holds a NUL or a lone surrogate, which cannot be stored."),
        (b"[" * 40 + b"]" * 40, f"body is nested deeper than {DEPTH_MAX} levels."),
        (b"[" * 60_000, f"body is nested deeper than {DEPTH_MAX} levels."),
    ],
)
@pytest.mark.requirement("MONEY-01")
def test_what_cannot_be_kept_exactly_is_refused_in_words(body: bytes, sentence: str) -> None:
    with pytest.raises(Refusal) as refused:
        parse(body, JSON)
    assert (refused.value.kind, refused.value.detail) == (ErrorCode.INVALID_REQUEST, sentence)


@pytest.mark.parametrize("kind", ["", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
def test_other_types_than_json_are_refused(kind: str) -> None:
    with pytest.raises(Refusal, match="Content-Type must be application/json"):
        parse(b"{}", kind)


kept = st.text().filter(storable)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(min_value=-(2**63) + 1, max_value=2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | kept,
    lambda inner: st.lists(inner) | st.dictionaries(kept, inner),
    max_leaves=20,
)


@given(values)
def test_what_is_accepted_is_what_was_sent(value: object) -> None:
    assert parse(json.dumps(value).encode(), JSON + "; charset=utf-8") == value


def test_names_of_places_are_short_and_printable() -> None:
    assert name_place(("body", "amount", 3)) == "body.amount.3"
    assert name_place(("body", "\x1b[31m" + "x" * 100)) == "body.\N{REPLACEMENT CHARACTER}[31m" + "x" * 55 + "…"
