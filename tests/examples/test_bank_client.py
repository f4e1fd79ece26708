"""What an answer of the bank means: only what is certain is said, and silence is never a no."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable

import httpx
import pytest

from examples.payments.bank.client import (
    AddressRefused,
    Bank,
    BankAway,
    Booked,
    Busy,
    NoAnswer,
    NotUnderstood,
    OtherContent,
    RefusedByBank,
)
from tests.examples.bank import ACCOUNT, an_order

URL = "http://127.0.0.1:1"
BOOKED = {"booking": "BK-000001", "booked_at": "2026-03-10T09:00:00+00:00", "key": "leeds/1", "repeated": False}
REFUSED = {"refused": "Account closed.", "key": "leeds/1", "repeated": True}


def answering(answer: Callable[[httpx.Request], httpx.Response]) -> Bank:
    """A client whose bank is that function."""
    return Bank(URL, transport=httpx.MockTransport(answer))


def saying(status: int, body: object, headers: dict[str, str] | None = None) -> Bank:
    """A client whose bank always says that."""
    return answering(lambda _: httpx.Response(status, json=body, headers=headers))


@pytest.mark.parametrize(
    ("status", "body", "meaning"),
    [
        (201, BOOKED, Booked(booking="BK-000001", repeated=False)),
        (200, BOOKED | {"repeated": True}, Booked(booking="BK-000001", repeated=True)),
        (402, REFUSED, RefusedByBank(reason="Account closed.")),
        (
            402,
            REFUSED | {"refused": f"{ACCOUNT}\x1b[2J\n closed\u202e"},
            RefusedByBank(reason="…1234 [2J closed"),
        ),
        (402, REFUSED | {"refused": " \n"}, RefusedByBank(reason="The bank gives no reason.")),
        (409, {"error": "x", "booking": "BK-000007"}, OtherContent(booking="BK-000007")),
        (422, {"error": f"Not {ACCOUNT}."}, NotUnderstood(sentence="Not …1234.")),
    ],
)
async def test_an_answer_means_what_it_says(status: int, body: object, meaning: object) -> None:
    bank = saying(status, body)
    assert await bank.pay(an_order()) == meaning
    await bank.close()


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (200, {}),
        (201, BOOKED | {"key": "leeds/2"}),
        (201, BOOKED | {"repeated": "no"}),
        (201, BOOKED | {"booking": 1}),
        (201, BOOKED | {"booking": "BK\x1b[2J"}),
        (201, BOOKED | {"booking": " "}),
        (201, BOOKED | {"booking": "B" * 65}),
        (201, [BOOKED]),
        (201, BOOKED | {"more": "x" * 64_000}),
        (202, BOOKED),
        (302, BOOKED),
        (402, {"refused": 1, "key": "leeds/1"}),
        (402, REFUSED | {"key": "leeds/2"}),
        (404, {"unknown": True}),
        (409, {}),
        (409, {"error": "x", "refused": "No."}),
        (422, {}),
        (429, {}),
        (500, {"error": "x"}),
        (502, {}),
    ],
)
async def test_what_cannot_be_understood_is_no_answer(status: int, body: object) -> None:
    with pytest.raises(NoAnswer):
        await saying(status, body).pay(an_order())


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({"Retry-After": " 7 "}, 7.0),
        ({}, 5.0),
        ({"Retry-After": ""}, 5.0),
        ({"Retry-After": "soon"}, 5.0),
        ({"Retry-After": "-5"}, 5.0),
        ({"Retry-After": "0"}, 1.0),
        ({"Retry-After": "999999999"}, 600.0),
        ({"Retry-After": "9" * 400}, 600.0),
        ({"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}, 5.0),
        ({"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT", "Date": "Tue, 10 Mar 2026 09:00:00 GMT"}, 1.0),
        ({"Retry-After": "Tue, 10 Mar 2026 09:01:00 GMT", "Date": "Tue, 10 Mar 2026 09:00:00 GMT"}, 60.0),
        ({"Retry-After": "Tue, 99 Mar 2026 09:01:00 GMT", "Date": "Tue, 10 Mar 2026 09:00:00 GMT"}, 5.0),
        ({"Retry-After": "Tue, 10 Mar 2026 09:01:00", "Date": "Tue, 10 Mar 2026 09:00:00 GMT"}, 5.0),
    ],
)
async def test_busy_waits_a_sensible_time(headers: dict[str, str], seconds: float) -> None:
    assert await saying(503, {"error": "busy"}, headers).pay(an_order()) == Busy(after_seconds=seconds)


@pytest.mark.parametrize("error", [httpx.ConnectError, httpx.ConnectTimeout])
async def test_nothing_was_sent_where_no_connection_was_made(error: type[httpx.TransportError]) -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        raise error("no", request=request)

    with pytest.raises(BankAway, match=rf"^The bank at {URL} cannot be reached \({error.__name__}\)\.$"):
        await answering(refuse).pay(an_order())


@pytest.mark.parametrize(
    "error", [httpx.ReadTimeout, httpx.WriteTimeout, httpx.ReadError, httpx.WriteError, httpx.RemoteProtocolError]
)
async def test_nobody_knows_where_the_connection_was_lost_later(error: type[httpx.TransportError]) -> None:
    def lose(request: httpx.Request) -> httpx.Response:
        raise error("no", request=request)

    with pytest.raises(NoAnswer):
        await answering(lose).pay(an_order())
    with pytest.raises(NoAnswer):
        await answering(lose).look_up("leeds/1")


async def test_an_answer_that_comes_in_drops_is_not_waited_for() -> None:
    async def drops() -> AsyncIterator[bytes]:
        while True:
            yield b" "
            await asyncio.sleep(0)

    bank = Bank(
        URL, timeout_seconds=0.05, transport=httpx.MockTransport(lambda _: httpx.Response(200, content=drops()))
    )
    with pytest.raises(NoAnswer, match=r"^The bank gave no answer within 0\.05 s\.$"):
        await bank.pay(an_order())


@pytest.mark.parametrize(
    ("status", "body", "known"),
    [
        (200, BOOKED, Booked(booking="BK-000001", repeated=False)),
        (200, REFUSED, RefusedByBank(reason="Account closed.")),
        (404, {"unknown": True}, None),
    ],
)
async def test_a_look_up_tells_what_is_known(status: int, body: object, known: object) -> None:
    assert await saying(status, body).look_up("leeds/1") == known


@pytest.mark.parametrize(
    ("status", "body"),
    [(404, {}), (404, {"unknown": "yes"}), (200, {}), (200, BOOKED | {"key": "leeds/2"}), (500, {}), (503, {})],
)
async def test_a_look_up_without_an_answer_is_not_a_no(status: int, body: object) -> None:
    with pytest.raises(NoAnswer):
        await saying(status, body).look_up("leeds/1")


@pytest.mark.requirement("MONEY-01")
async def test_the_message_carries_minor_units_with_their_exponent() -> None:
    sent: list[object] = []

    def keep(request: httpx.Request) -> httpx.Response:
        sent.append(json.loads(request.content))
        return httpx.Response(201, json=BOOKED)

    await answering(keep).pay(an_order(minor=3_702, currency="JPY"))
    assert sent == [
        {
            "key": "leeds/1",
            "minor": 3_702,
            "currency": "JPY",
            "exponent": 0,
            "account": ACCOUNT,
            "payee": "Acme Roofing",
            "reference": "S-1/0042",
        }
    ]


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("bank", "it is no address"),
        ("ftp://127.0.0.1", "it is no address"),
        ("http://127.0.0.1:port", "it is no address"),
        ("https://me:secret@bank.example", "it is no address"),
        ("http://bank.example", "accounts go over https, or to loopback alone"),
        ("http://192.0.2.1:8000", "accounts go over https, or to loopback alone"),
    ],
)
def test_an_address_that_cannot_be_the_banks_is_refused(url: str, sentence: str) -> None:
    with pytest.raises(AddressRefused, match=f"^{sentence}"):
        Bank(url)


@pytest.mark.parametrize(
    "url", ["http://localhost:1", "http://[::1]:1", "http://127.0.0.9", "https://bank.example/v1/"]
)
def test_https_and_loopback_are_taken(url: str) -> None:
    Bank(url)
