"""Owns one call to the bank over HTTP and what its answer means, so that nobody takes silence for a no.

Makes each call once: never repeats, never follows a redirect, never decides what becomes of the payment.
"""

from __future__ import annotations

import asyncio
import ssl
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from email.utils import parsedate_to_datetime
from ipaddress import ip_address
from urllib.parse import quote

import httpx

from examples.payments.bank.orders import MessageRefused, PaymentOrder, parse
from jobcontract.ids import REASON_MAX, visible

CONNECT_SECONDS = 2.0
"""How long a connection may take; then it is certain that nothing was sent."""
ANSWER_MOST = 64_000
"""Most bytes of an answer that are read."""
AFTER_SECONDS = 5.0
"""How long a busy bank is left alone where it does not say, or says it unreadably."""
AFTER_LEAST = 1.0
AFTER_MOST = 600.0
"""A bank that asks for longer is asked again after this."""
_BOOKING_MOST = 64


class AddressRefused(Exception):
    """An address that cannot be the bank's; the sentence says why."""


class BankAway(Exception):
    """The bank could not be reached: no byte of the order was sent."""


class NoAnswer(Exception):
    """Nobody knows what the bank did: no answer in time, none at all, or none that can be understood."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Booked:
    """The bank booked it, now or when it was asked before; `booking` is its reference."""

    booking: str
    repeated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedByBank:
    """The bank refused it for good."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Busy:
    """The bank took nothing and may be asked again after so many seconds."""

    after_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherContent:
    """The key was booked before, with other content, and nothing was booked now; `booking` is the reference of then."""

    booking: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NotUnderstood:
    """The bank says that the order itself is wrong; it booked nothing."""

    sentence: str


Paid = Booked | RefusedByBank | Busy | OtherContent | NotUnderstood
"""What may come of an order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What the bank answered: status, headers, and the members of its JSON object, none where it is no such."""

    status: int
    headers: httpx.Headers
    members: Mapping[str, object]


class Bank:
    """The bank at an address. `timeout_seconds` is for a whole call, from connecting to the last byte."""

    def __init__(
        self, url: str, *, timeout_seconds: float = 20.0, transport: httpx.AsyncBaseTransport | None = None
    ) -> None:
        """AddressRefused where accounts would travel in the clear or the address is none."""
        self._url = _checked(url)
        self._seconds = timeout_seconds
        # A kept connection that the bank closes in the same instant would make an ordinary payment uncertain; a proxy
        # from the environment would answer in the bank's name.
        self._client = httpx.AsyncClient(
            timeout=httpx.Timeout(timeout_seconds, connect=min(CONNECT_SECONDS, timeout_seconds / 2), pool=None),
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=0),
            follow_redirects=False,
            trust_env=False,
            verify=_authorities(self._url),
            transport=transport,
        )

    async def pay(self, order: PaymentOrder) -> Paid:
        """Send the order once. BankAway = nothing was sent; NoAnswer = nobody knows."""
        reply = await self.call("POST", "/payments", order.message())
        match reply.status:
            case 200 | 201:
                return _booked(reply, order.key)
            case 402:
                return _refused(reply, order.key, order.account)
            case 409 if "booking" in reply.members:
                return OtherContent(booking=_reference(reply.members["booking"]))
            case 422 if "error" in reply.members:
                return NotUnderstood(sentence=words(reply.members["error"], order.account))
            case 503:
                return Busy(after_seconds=retry_after(reply.headers))
        raise NoAnswer(f"The bank answered {reply.status}, which says neither yes nor no.")

    async def look_up(self, key: str) -> Booked | RefusedByBank | None:
        """What the bank knows of a key; None = it says that it never saw it. BankAway, NoAnswer."""
        reply = await self.call("GET", f"/payments/{quote(key, safe='')}", None)
        if reply.status == 404 and reply.members.get("unknown") is True:
            return None
        if reply.status == 200:
            return _refused(reply, key) if "refused" in reply.members else _booked(reply, key)
        raise NoAnswer(f"The bank answered {reply.status}, which says neither yes nor no.")

    async def close(self) -> None:
        """Let go of what is open."""
        await self._client.aclose()

    async def call(self, method: str, path: str, message: Mapping[str, object] | None) -> Reply:
        """Make one call. BankAway, NoAnswer."""
        try:
            async with (
                asyncio.timeout(self._seconds),
                self._client.stream(method, self._url + path, json=message) as response,
            ):
                return Reply(
                    status=response.status_code,
                    headers=response.headers,
                    members=_members(await _content(response)),
                )
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise BankAway(f"The bank at {self._url} cannot be reached ({type(error).__name__}).") from error
        except (httpx.TimeoutException, TimeoutError) as error:
            raise NoAnswer(f"The bank gave no answer within {self._seconds:g} s.") from error
        except (httpx.HTTPError, httpx.StreamError) as error:
            raise NoAnswer(f"The bank gave no whole answer ({type(error).__name__}).") from error


def _checked(url: str) -> str:
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL:
        raise AddressRefused("it is no address like https://bank.example") from None
    if parsed.scheme not in ("http", "https") or not parsed.host or parsed.query or parsed.userinfo:
        raise AddressRefused("it is no address like https://bank.example")
    if parsed.scheme == "http" and not _loopback(parsed.host):
        raise AddressRefused("accounts go over https, or to loopback alone")
    return str(parsed).rstrip("/")


def _authorities(url: str) -> ssl.SSLContext:
    """Who vouches for the bank; nobody has to on loopback, where reading all authorities would cost a blink."""
    return ssl.create_default_context() if url.startswith("https:") else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


async def _content(response: httpx.Response) -> bytes:
    content = b""
    async for piece in response.aiter_bytes():
        content += piece
        if len(content) > ANSWER_MOST:
            raise NoAnswer(f"The bank's answer has more than {ANSWER_MOST:,} bytes.")
    return content


def _members(content: bytes) -> Mapping[str, object]:
    """The members of an answer; none where it is no JSON object: its status may still say enough."""
    try:
        value = parse(content)
    except MessageRefused:
        return {}
    return value if isinstance(value, dict) else {}


def _booked(reply: Reply, key: str) -> Booked:
    repeated = reply.members.get("repeated")
    if not isinstance(repeated, bool) or reply.members.get("key") != key:
        raise NoAnswer(f"The bank answered {reply.status}, but not with a booking of this payment.")
    return Booked(booking=_reference(reply.members.get("booking")), repeated=repeated)


def _reference(booking: object) -> str:
    readable = isinstance(booking, str) and booking.isascii() and booking.isprintable() and visible(booking)
    if not isinstance(booking, str) or not readable or len(booking) > _BOOKING_MOST:
        raise NoAnswer("The bank's reference of the booking cannot be read.")
    return booking


def _refused(reply: Reply, key: str, account: str | None = None) -> RefusedByBank:
    reason = reply.members.get("refused")
    if not isinstance(reason, str) or reply.members.get("key") != key:
        raise NoAnswer(f"The bank answered {reply.status}, but not with a refusal of this payment.")
    return RefusedByBank(reason=words(reason, account))


def words(value: object, account: str | None = None) -> str:
    """The bank's words on one line, without what a terminal would obey and without the account."""
    text = str(value) if account is None else str(value).replace(account, f"…{account[-4:]}")
    line = " ".join("".join(" " if unicodedata.category(sign)[0] in "CZ" else sign for sign in text).split())
    return line[:REASON_MAX] if visible(line) else "The bank gives no reason."


def retry_after(headers: httpx.Headers) -> float:
    """Seconds to wait (RFC 9110, 10.2.3): a date counts from the bank's own `Date`, one in the past is now."""
    text = headers.get("Retry-After", "").strip()
    if text.isascii() and text.isdigit():
        seconds = float(text[:9]) if len(text) <= 9 else AFTER_MOST
    else:
        try:
            wait: timedelta = parsedate_to_datetime(text) - parsedate_to_datetime(headers.get("Date", ""))
        except (ValueError, TypeError, OverflowError):
            return AFTER_SECONDS
        seconds = wait.total_seconds()
    return min(max(seconds, AFTER_LEAST), AFTER_MOST)
