"""Owns telling another server by webhook, signed as Standard Webhooks says: https alone, a certificate that is checked,
the address that was judged, no redirect, a bound for the whole.

Never repeats a message, never shows a secret or more of the address than its host. Which addresses: `addresses.py`.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import hmac
import json
import os
import ssl
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import h11

from jobservice.delivery.addresses import Allowed, Resolver, ask_system, is_host, resolve
from jobservice.delivery.letters import DeliveryRefused, Letter, NotDelivered

WHOLE_SECONDS = 10.0
"""How long one delivery may take, from the name to the answer."""
ANSWER_MOST = 65_536
"""Bytes of an answer that are read at most."""
SECRET_LEAST = 24
"""Bytes of a secret at least."""
SECRETS_FILE_MOST = 16_384
_PREFIX = "whsec_"
_AGENT = "jobservice"
_GONE = 410
"""The one answer that says: never again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    """Where to, under which secrets: one signature for each, so that a secret can be exchanged without a gap."""

    host: str
    port: int
    target: str = field(repr=False)
    """Path and query: they may be a secret of the receiver's."""
    secrets: Sequence[bytes] = field(repr=False)
    allowed: Allowed = field(default_factory=Allowed)
    context: ssl.SSLContext = field(default_factory=ssl.create_default_context, repr=False)
    resolver: Resolver = field(default=ask_system, repr=False)
    whole_seconds: float = WHOLE_SECONDS

    async def deliver(self, letter: Letter) -> None:
        """Hand a letter over as an event; NotDelivered. It goes to whoever reads that server, with its person's address."""
        data = {"to": letter.address, "subject": letter.subject, "text": letter.text}
        await self.tell(f"notice.{letter.id}", kind="notice", at=letter.at, now=letter.now or letter.at, data=data)

    async def tell(self, event: str, *, kind: str, at: datetime, now: datetime, data: Mapping[str, object]) -> None:
        """Hand one event over. `event`: its id, the same over all tries; `at`: when it happened; `now`: of this try, both
        by the database's clock. NotDelivered where it was not taken, or nobody knows."""
        body = json.dumps(
            {"type": kind, "timestamp": at.astimezone(UTC).isoformat(), "data": data}, ensure_ascii=False
        ).encode()
        seconds = str(int(now.timestamp()))
        headers = [
            ("Host", self._authority()),
            ("User-Agent", _AGENT),
            ("Content-Type", "application/json"),
            ("Content-Length", str(len(body))),
            ("Connection", "close"),
            ("webhook-id", event),
            ("webhook-timestamp", seconds),
            ("webhook-signature", signatures(self.secrets, event, seconds, body)),
        ]
        try:
            async with asyncio.timeout(self.whole_seconds):
                status = await self._post(h11.Request(method="POST", target=self.target, headers=headers), body)
        except TimeoutError:
            raise NotDelivered(f"{self.host} took no message within {self.whole_seconds:g} s.") from None
        _judge(self.host, status)

    def _authority(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == 443 else f"{host}:{self.port}"

    async def _post(self, request: h11.Request, body: bytes) -> int:
        """The status of the answer; NotDelivered where none came."""
        reader, writer = await self._connect()
        try:
            client = h11.Connection(h11.CLIENT)
            sent = [client.send(event) for event in (request, h11.Data(data=body), h11.EndOfMessage())]
            writer.write(b"".join(part for part in sent if part))
            await writer.drain()
            return await self._status(client, reader)
        except (OSError, h11.ProtocolError) as error:
            raise NotDelivered(f"{self.host} broke off, or gave no answer of HTTP: {type(error).__name__}.") from None
        finally:
            # The answer's body says nothing that is needed: the connection is let go of, whatever still comes.
            writer.transport.abort()

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """An encrypted connection to the first of the host's addresses that answers: to exactly what was judged."""
        failure: Exception | None = None
        for address in await resolve(self.host, self.port, self.allowed, self.resolver):
            try:
                return await asyncio.open_connection(
                    address, self.port, ssl=self.context, server_hostname=self.host, limit=ANSWER_MOST
                )
            except ssl.SSLCertVerificationError as error:
                raise NotDelivered(
                    f"{self.host} has a certificate that nobody here vouches for: {error.verify_message}."
                ) from None
            except OSError as error:
                failure = error
        raise NotDelivered(f"{self.host} cannot be reached: {type(failure).__name__}.")

    async def _status(self, client: h11.Connection, reader: asyncio.StreamReader) -> int:
        """The status of the final answer, of what is read at most."""
        left = ANSWER_MOST
        while True:
            event = client.next_event()
            if isinstance(event, h11.Response):
                return event.status_code
            if event is not h11.NEED_DATA:
                if isinstance(event, h11.InformationalResponse):
                    continue
                raise NotDelivered(f"{self.host} broke off, or gave no answer of HTTP: {type(event).__name__}.")
            if left <= 0:
                raise NotDelivered(f"{self.host} gave no answer within the first {ANSWER_MOST:,} bytes.")
            part = await reader.read(min(left, 16_384))
            left -= len(part)
            client.receive_data(part)


def _judge(host: str, status: int) -> None:
    """NotDelivered unless the server took it."""
    if 200 <= status < 300:
        return
    if 300 <= status < 400:
        raise NotDelivered(f"{host} answered {status}, a redirect, which is not followed: name the right address.")
    raise NotDelivered(f"{host} answered {status}.", for_good=status == _GONE)


def signatures(secrets: Sequence[bytes], event: str, seconds: str, body: bytes) -> str:
    """A signature under each secret, with blanks between: HMAC-SHA256 over id, timestamp and body, dots between."""
    signed = b".".join((event.encode(), seconds.encode(), body))
    made = (base64.b64encode(hmac.new(secret, signed, hashlib.sha256).digest()).decode() for secret in secrets)
    return " ".join(f"v1,{each}" for each in made)


def webhook_from(url: str, *, secrets: Sequence[bytes], allowed: Allowed) -> Webhook:
    """The webhook at an address like https://hooks.example.org/jobs; DeliveryRefused with a sentence that repeats nothing
    of it."""
    try:
        split = urlsplit(url) if url.isascii() and url.isprintable() and " " not in url else None
        port = None if split is None else split.port
    except ValueError:
        split, port = None, None
    if split is None or split.scheme != "https":
        raise DeliveryRefused("A webhook is at an address that begins with https://, without blanks.")
    host = (split.hostname or "").rstrip(".")
    if not is_host(host):
        raise DeliveryRefused("A webhook's address names its host, like https://hooks.example.org/jobs.")
    if split.username is not None or split.password is not None or split.fragment:
        raise DeliveryRefused("A webhook's address has no user, no password and nothing behind a #.")
    if not secrets:
        raise DeliveryRefused("A webhook is signed: it needs a secret.")
    target = (split.path or "/") + (f"?{split.query}" if split.query else "")
    return Webhook(
        host=host, port=443 if port is None else port, target=target, secrets=tuple(secrets), allowed=allowed
    )


def secrets_from(path: Path) -> tuple[bytes, ...]:
    """The secrets of a file that its owner alone may read: one a line, the one in force first; `whsec_` and base64, or raw.

    DeliveryRefused where others may read it, or one is shorter than `SECRET_LEAST` bytes; the sentence repeats none.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        raise DeliveryRefused(f"The file of secrets cannot be read: {error.strerror}.") from None
    with open(descriptor, "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode) or found.st_mode & 0o077:
            raise DeliveryRefused("The file of secrets is one that its owner alone may read (chmod 600).")
        content = file.read(SECRETS_FILE_MOST + 1)
    lines = [line.strip() for line in content.splitlines() if line.strip()]
    if not lines or len(content) > SECRETS_FILE_MOST:
        raise DeliveryRefused("The file of secrets has one secret a line, and few of them.")
    return tuple(_secret(line, number) for number, line in enumerate(lines, 1))


def _secret(line: bytes, number: int) -> bytes:
    secret = line
    if line.startswith(_PREFIX.encode()):
        try:
            secret = base64.b64decode(line.removeprefix(_PREFIX.encode()), validate=True)
        except (binascii.Error, ValueError):
            raise DeliveryRefused(f"Secret {number} begins with {_PREFIX}, and is no base64 behind it.") from None
    if len(secret) < SECRET_LEAST:
        raise DeliveryRefused(f"Secret {number} is shorter than {SECRET_LEAST} bytes.")
    return secret
