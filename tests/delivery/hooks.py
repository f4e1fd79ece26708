"""Owns receivers of webhooks for tests: real TLS servers on loopback that keep what they are given, or misbehave."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from jobservice.delivery import Webhook, allowed_from, webhook_from
from tests.delivery.servers import Certificate

SECRET = b"0123456789abcdef0123456789abcdef"
OK = b"HTTP/1.1 204 No Content\r\n\r\n"
Answering = Callable[[asyncio.StreamWriter], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """One request as it came."""

    line: str
    headers: dict[str, str]
    body: bytes

    @property
    def event(self) -> dict[str, Any]:
        """What it tells."""
        told: dict[str, Any] = json.loads(self.body)
        return told


@dataclass(slots=True)
class Receiver:
    """What it was given, oldest first. `answers`: what it says to each request, the last one again and again."""

    port: int = 0
    received: list[Received] = field(default_factory=list)
    answers: list[bytes | Answering] = field(default_factory=lambda: [OK])
    connections: int = 0
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the other side has let go of a connection."""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, one request."""
        self.connections += 1
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            line, *rest = head.strip().split("\r\n")
            headers = {name.lower(): value for name, _, value in (each.partition(": ") for each in rest)}
            body = await reader.readexactly(int(headers["content-length"]))
            self.received.append(Received(line=line, headers=headers, body=body))
            answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
            if isinstance(answer, bytes):
                writer.write(answer)
                await writer.drain()
            else:
                await answer(writer)
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            self.gone.set()
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()


@asynccontextmanager
async def a_receiver(certificate: Certificate, *answers: bytes | Answering) -> AsyncIterator[Receiver]:
    """A receiver on 127.0.0.1, over TLS."""
    receiver = Receiver()
    if answers:
        receiver.answers = list(answers)
    server = await asyncio.start_server(receiver.serve, "127.0.0.1", 0, ssl=certificate.server)
    receiver.port = server.sockets[0].getsockname()[1]
    try:
        yield receiver
    finally:
        server.close()


def a_webhook(
    certificate: Certificate,
    port: int,
    *,
    host: str = "127.0.0.1",
    allow: str = "127.0.0.0/8",
    path: str = "/hook",
    secrets: Sequence[bytes] = (SECRET,),
    **other: Any,
) -> Webhook:
    """A webhook to that port, which trusts the certificate."""
    from dataclasses import replace

    made = webhook_from(f"https://{host}:{port}{path}", secrets=secrets, allowed=allowed_from(allow))
    context = ssl.create_default_context(cafile=certificate.authorities)
    return replace(made, **{"context": context, **other})
