"""Owns a line to PostgreSQL that fails on demand: a TCP proxy before the server's socket that is cut, refuses, or swallows
everything, so that a connection is dead and nobody says so."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Self
from urllib.parse import parse_qs, quote, urlsplit


@dataclass(eq=False, slots=True)
class _Call:
    """One connection through the line. Once something of it was swallowed, it stays dead."""

    writers: tuple[asyncio.StreamWriter, ...]
    dead: bool = False


@dataclass(slots=True)
class Line:
    """Stands before the server that `url` names. `swallowing`: what comes vanishes; `refusing`: who calls is hung up."""

    target: str
    swallowing: bool = False
    refusing: bool = False
    calls: int = 0
    """How many connections were made through it."""
    _server: asyncio.Server | None = None
    _open: set[_Call] = field(default_factory=set)

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        self.cut()

    @property
    def url(self) -> str:
        """The same role and database, through the line."""
        assert self._server is not None
        parts = urlsplit(self.target)
        port = self._server.sockets[0].getsockname()[1]
        return f"postgresql://{quote(parts.username or '')}@127.0.0.1:{port}{parts.path}"

    def cut(self) -> None:
        """Reset every connection that is open now."""
        for call in tuple(self._open):
            for writer in call.writers:
                _reset(writer)

    @contextmanager
    def swallows(self) -> Iterator[None]:
        """Swallow everything for the length of the block; what was open then is dead for ever, and nobody is told."""
        self.swallowing = True
        for call in self._open:
            call.dead = True
        try:
            yield
        finally:
            self.swallowing = False

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.calls += 1
        if self.refusing:
            _reset(writer)
            return
        query = parse_qs(urlsplit(self.target).query)
        path = f"{query['host'][0]}/.s.PGSQL.{query['port'][0]}"
        try:
            upstream, sending = await asyncio.open_unix_connection(path)
        except OSError:
            _reset(writer)
            return
        call = _Call((writer, sending), dead=self.swallowing)
        self._open.add(call)
        try:
            await asyncio.gather(self._pour(call, reader, sending), self._pour(call, upstream, writer))
        finally:
            self._open.discard(call)
            for each in call.writers:
                each.close()

    async def _pour(self, call: _Call, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while chunk := await reader.read(65_536):
                call.dead |= self.swallowing
                if not call.dead:
                    writer.write(chunk)
                    await writer.drain()
            if not call.dead and writer.can_write_eof():
                writer.write_eof()
        except OSError:
            for each in call.writers:
                each.close()


def _reset(writer: asyncio.StreamWriter) -> None:
    """Close with RST, as a machine that went away does."""
    raw = writer.get_extra_info("socket")
    if raw is not None and raw.family == socket.AF_INET and raw.fileno() >= 0:
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
