"""Owns a TCP proxy in front of the real API that fails on demand, where a stub would only pretend (HTTP-03, HTTP-01)."""

from __future__ import annotations

import asyncio
import re
import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Self
from urllib.parse import urlsplit

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


class Fault(Enum):
    """What happens to one request."""

    RESET_AFTER = "the service acts, then the connection is reset"
    STALL_AFTER = "the service acts, its answer is held back for ever"
    UNAVAILABLE_BEFORE = "503, and the service never hears of it"
    RESET_BEFORE = "the connection is reset, and the service never hears of it"


@dataclass(slots=True)
class Proxy:
    """Hands requests on. `plan(head)` names the fault of a request by its head; None = none."""

    target: str
    plan: Callable[[bytes], Fault | None] = lambda _head: None
    heads: list[bytes] = field(default_factory=list)
    _server: asyncio.Server | None = None
    _writers: set[asyncio.StreamWriter] = field(default_factory=set)

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.close()
        self.cut()

    @property
    def url(self) -> str:
        """Where it listens."""
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def cut(self) -> None:
        """Reset every connection that is open now."""
        for writer in list(self._writers):
            _reset(writer)

    def seen(self, word: bytes) -> list[bytes]:
        """The heads of requests whose first line has `word`."""
        return [head for head in self.heads if word in head.partition(b"\r\n")[0]]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            while await self._one(reader, writer):
                pass
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._writers.discard(writer)
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = await reader.readuntil(b"\r\n\r\n")
        length = _LENGTH.search(head)
        body = await reader.readexactly(int(length[1])) if length else b""
        self.heads.append(head)
        fault = self.plan(head)
        if fault is Fault.UNAVAILABLE_BEFORE:
            writer.write(b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n")
            await writer.drain()
            return True
        if fault is Fault.RESET_BEFORE:
            _reset(writer)
            return False
        address = urlsplit(self.target)
        upstream, sending = await asyncio.open_connection(address.hostname, address.port)
        try:
            sending.write(head.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n") + body)
            await sending.drain()
            if fault is None:
                await _pour(upstream, writer)
                return False
            await upstream.read()  # the service has answered: what it was asked is done
        finally:
            sending.close()
        if fault is Fault.RESET_AFTER:
            _reset(writer)
            return False
        await reader.read()  # held back until the client gives up
        return False


async def _pour(upstream: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while chunk := await upstream.read(65_536):
        writer.write(chunk)
        await writer.drain()


def _reset(writer: asyncio.StreamWriter) -> None:
    """Close with RST, as a machine that went away does."""
    raw = writer.get_extra_info("socket")
    if raw is not None and raw.fileno() >= 0:
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
