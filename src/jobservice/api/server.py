"""Owns running the API under uvicorn: how large a head may be, how long one may take, how it stops.

Where it listens, and when it is to stop, is its caller's; no signal is taken here.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from jobservice.api.app import hub_of

HEAD_MOST = 32_768
"""Most bytes of a request's first line and headers together."""
HEAD_SECONDS = 10.0
"""For a whole head to arrive: of a new connection from its start, of a later request from its first byte."""
STOP_SECONDS = 2
"""For what is running to end; streams are told at once and need a fraction of it."""
_HEAD_END = b"\r\n\r\n"


async def serve(
    app: FastAPI,
    listener: socket.socket,
    *,
    stop: asyncio.Event,
    started: Callable[[], object] | None = None,
    certificate: Path | None = None,
    key: Path | None = None,
) -> None:
    """Serve `app` on the bound `listener` until `stop` is set; returns within 3 s of that, streams or not.

    `started` is called once requests are taken. `certificate` and `key` are PEM files; without them it is plain HTTP,
    which the caller allows on loopback or behind a TLS proxy only (MONEY.md 25). RuntimeError where the application
    did not start.
    """
    config = uvicorn.Config(
        app,
        http=BoundedProtocol,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=15,
        timeout_graceful_shutdown=STOP_SECONDS,
        ssl_certfile=certificate,
        ssl_keyfile=key,
    )
    server = _Server(config, hub_of(app).end_streams, started)
    serving = asyncio.create_task(server.serve(sockets=[listener]), name="serve")
    stopping = asyncio.create_task(stop.wait(), name="stop")
    try:
        await asyncio.wait({serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        stopping.cancel()
        server.should_exit = True
    try:
        await serving
    except SystemExit as failed:  # how uvicorn says that the application did not start
        raise RuntimeError("the API did not start; the log says why") from failed


class _Server(uvicorn.Server):
    """uvicorn's server with our stop: streams end first, and no signal is taken or raised again."""

    def __init__(
        self, config: uvicorn.Config, end_streams: Callable[[], None], started: Callable[[], object] | None
    ) -> None:
        super().__init__(config)
        self._end_streams = end_streams
        self._started = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then say that requests are taken."""
        await super().startup(sockets)
        if self.started and self._started is not None:
            self._started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the streams, which would keep their connections, then the rest."""
        self._end_streams()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to the caller: uvicorn would raise them again and end the process before its pool is closed."""
        yield


class BoundedProtocol(HttpToolsProtocol):
    """uvicorn's HTTP protocol with bounds that it lacks: the bytes of a head, and the time that one may take."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._head_bytes = 0
        self._tail = b""
        self._in_head = True
        self._waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn's own
        """Begin to wait for the first head."""
        super().connection_made(transport)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._head_came()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Refuse a head that grows past its bound, before it is kept any further."""
        if self._in_head:
            self._await_head()
            window = self._tail + data
            end = window.find(_HEAD_END)
            self._head_bytes += len(data) if end < 0 else end
            self._tail = window[-len(_HEAD_END) + 1 :]
            if self._head_bytes > HEAD_MOST:
                self.send_400_response("The head of the request is too large.")
                return
        super().data_received(data)

    def on_message_begin(self) -> None:
        """A head begins, perhaps in one piece with the end of the request before it."""
        self._await_head()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """A head is complete."""
        self._head_came()
        self._in_head = False
        self._head_bytes = 0
        self._tail = b""
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The next bytes begin a head."""
        self._in_head = True
        super().on_message_complete()

    def _head_came(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _await_head(self) -> None:
        if self._waiting is None:
            self._waiting = self.loop.call_later(HEAD_SECONDS, self._give_up)

    def _give_up(self) -> None:
        self._waiting = None
        if self.cycle is not None and not self.cycle.response_complete:  # type: ignore[redundant-expr]  # None at first
            self._await_head()  # a request sent ahead waits for the answer before it; that answer is not cut off
        else:
            self.transport.close()
