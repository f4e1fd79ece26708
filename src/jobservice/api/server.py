"""Owns running the API under uvicorn: where it may listen, how large a head may be, how it stops.

Never listens beyond loopback without TLS or a stated TLS proxy (MONEY.md 25).
"""

from __future__ import annotations

import asyncio
import ipaddress
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from jobservice.api.app import hub_of

HEAD_MOST = 32_768
"""Most bytes of a request's first line and headers together."""
HEAD_SECONDS = 10.0
"""For the whole head of a request to arrive on a new connection."""
STOP_SECONDS = 2
"""For what is running to end after a signal; streams are told at once and need a fraction of it."""
_HEAD_END = b"\r\n\r\n"
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class ListenRefused(ValueError):
    """The API does not listen there; the message says why and what to set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tls:
    """Files of the certificate chain and its key, PEM."""

    certificate: Path
    key: Path


async def serve(
    app: FastAPI,
    host: str,
    port: int,
    *,
    tls: Tls | None = None,
    tls_proxy: bool = False,
    listening: Callable[[int], object] | None = None,
) -> None:
    """Serve `app` until SIGINT or SIGTERM, which ends it within 3 s, streams too; then returns.

    `tls_proxy` states that a proxy on the way ends TLS. `listening` is called with the port once requests are taken
    (port 0: any free one). Raises ListenRefused, and OSError where the port is taken. The event loop is the caller's:
    run it with uvloop (`loop_factory=uvloop.new_event_loop`).
    """
    if not (tls or tls_proxy or is_loopback(host)):
        raise ListenRefused(
            f"The API does not listen on {host} in the clear. Give it a certificate and key, state that a TLS proxy "
            "stands in front, or listen on 127.0.0.1."
        )
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
        ssl_certfile=None if tls is None else tls.certificate,
        ssl_keyfile=None if tls is None else tls.key,
    )
    # Bound here and not by uvicorn, which would end the process instead of raising.
    address = await _resolve(host, port)
    with socket.create_server(address.at, family=address.family, backlog=config.backlog) as listener:
        await _Server(config, hub_of(app).end_streams, listening, listener.getsockname()[1]).serve([listener])


def is_loopback(host: str) -> bool:
    """Whether `host` is reached from this machine alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Address:
    family: int
    at: tuple[str, int]


async def _resolve(host: str, port: int) -> _Address:
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    family, _, _, _, at = found[0]
    return _Address(family=family, at=(str(at[0]), int(at[1])))


class _Server(uvicorn.Server):
    """uvicorn's server with our stop: streams end at the signal, and the caller gets control back afterwards."""

    def __init__(
        self,
        config: uvicorn.Config,
        end_streams: Callable[[], None],
        listening: Callable[[int], object] | None,
        port: int,
    ) -> None:
        super().__init__(config)
        self._end_streams = end_streams
        self._listening = listening
        self._port = port

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then say that requests are taken."""
        await super().startup(sockets)
        if self.started and self._listening is not None:
            self._listening(self._port)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take the signals for the time of serving. uvicorn would raise them again afterwards and so end the process
        before its caller could close the pool."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        loop = asyncio.get_running_loop()

        def leave(number: int, frame: FrameType | None) -> None:
            self.handle_exit(number, frame)
            loop.call_soon_threadsafe(self._end_streams)

        before = {number: signal.signal(number, leave) for number in _SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


class BoundedProtocol(HttpToolsProtocol):
    """uvicorn's HTTP protocol with bounds that it lacks: the bytes of a head, and the time that a first head may take."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._head_bytes = 0
        self._tail = b""
        self._in_head = True
        self._first_head: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn's own
        """Begin to wait for the first head."""
        super().connection_made(transport)
        self._first_head = self.loop.call_later(HEAD_SECONDS, transport.close)

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._head_came()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Refuse a head that grows past its bound, before it is kept any further."""
        if self._in_head:
            window = self._tail + data
            end = window.find(_HEAD_END)
            self._head_bytes += len(data) if end < 0 else end
            self._tail = window[-len(_HEAD_END) + 1 :]
            if self._head_bytes > HEAD_MOST:
                self.send_400_response("The head of the request is too large.")
                return
        super().data_received(data)

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
        if self._first_head is not None:
            self._first_head.cancel()
            self._first_head = None
