"""Owns what a connection to the service is made of: its address check, the header that carries the token, its times.

The token is sent over https with a checked certificate, or over http to this machine alone (MONEY.md 25). It lives in
a SecretStr, in one place, and never in a repr, a log line or an exception.
"""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import quote

import httpx
from pydantic import SecretStr

from jobconsole.client.errors import ConnectionUnfit
from jobcontract.routes import Route
from jobcontract.wire import Wire

_TOKEN = re.compile(r"[\x21-\x7e]{1,500}")
PORT_MOST = 65_535
_PLACE = re.compile(r"\{(\w+)(?::path)?\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """Time-outs and pauses of the client, in seconds."""

    connect: float = 3.0
    read: float = 10.0
    """Longest silence inside one answer."""
    deadline: float = 15.0
    """Longest a call may take, its repeats included."""
    first_pause: float = 0.25
    """Before the first repeat; doubles, with jitter."""
    longest_pause: float = 3.0
    tries: int = 3
    """Most times that a reading call is sent."""


class Bearer(httpx.Auth):
    """Puts the token on each request as it leaves; nothing else holds it."""

    def __init__(self, token: SecretStr) -> None:
        if not _TOKEN.fullmatch(token.get_secret_value()):
            raise ConnectionUnfit("The token is empty or has characters that no token has: copy it again, whole.")
        self._token = token

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Add the header (RFC 6750)."""
        request.headers["Authorization"] = f"Bearer {self._token.get_secret_value()}"
        yield request


def check_address(url: str) -> httpx.URL:
    """The address to connect to; ConnectionUnfit with what to write instead where the token must not be sent there."""
    try:
        parsed = httpx.URL(url.strip())
    except (httpx.InvalidURL, UnicodeError, ValueError):
        raise ConnectionUnfit("The address of the service is not one like https://jobs.example.") from None
    if parsed.scheme not in ("https", "http") or not parsed.host:
        raise ConnectionUnfit("The address of the service must begin with https:// (or http://127.0.0.1 here).")
    if parsed.port is not None and not 0 < parsed.port <= PORT_MOST:
        raise ConnectionUnfit(f"The address of the service has a port from 1 to {PORT_MOST}, not {parsed.port}.")
    if parsed.userinfo or parsed.query or parsed.fragment:
        raise ConnectionUnfit("The address of the service is scheme, host, port and path only: leave out the rest.")
    if parsed.scheme == "http" and not is_loopback(parsed.host):
        raise ConnectionUnfit(
            f"A token is not sent over plain http to {parsed.host}: use https://, or http:// to this machine alone."
        )
    return parsed.copy_with(path=parsed.path.rstrip("/"))


def is_loopback(host: str) -> bool:
    """Whether `host` names this machine itself."""
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def fill(route: Route, parts: Mapping[str, str]) -> str:
    """The path of `route` with `parts` in its places, escaped: no id can lead to another route."""

    def place(found: re.Match[str]) -> str:
        text = parts[found[1]]
        return quote(text, safe="", errors="replace") if text.strip(".") else text.replace(".", "%2E")

    return _PLACE.sub(place, route.path)


def written(body: Wire) -> bytes:
    """A request's body as JSON, members without a value left out. Here alone a code leaves its SecretStr."""
    secrets = {name: given for name, given in body if isinstance(given, SecretStr)}
    if not secrets:
        return body.model_dump_json(exclude_none=True).encode()
    members = body.model_dump(mode="json", exclude_none=True)
    members |= {name: given.get_secret_value() for name, given in secrets.items()}
    return json.dumps(members).encode()
