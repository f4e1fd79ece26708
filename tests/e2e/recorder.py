"""Owns a TCP relay before the real API that keeps every byte of both ways: what was asked, and what was answered."""

from __future__ import annotations

import select
import socket
import socketserver
import threading
from typing import Any, Self
from urllib.parse import urlsplit


class Recorder:
    """Listens on a port of its own; a context that ends with it. Safe for several connections at once."""

    def __init__(self, target: str) -> None:
        address = urlsplit(target)
        self._lock = threading.Lock()
        self._asked: list[bytes] = []
        self._answered: list[bytes] = []
        relay = self

        class Connection(socketserver.BaseRequestHandler):
            """One connection of a client."""

            def handle(self) -> None:
                """Hand on until either side ends."""
                with socket.create_connection((str(address.hostname), int(address.port or 0))) as upstream:
                    relay._pour(self.request, upstream)

        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Connection)
        self._server.daemon_threads = True
        self._server.block_on_close = False

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, name="recorder", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def asked(self) -> bytes:
        """Everything that clients sent so far, connection by connection."""
        with self._lock:
            return b"\n".join(self._asked)

    @property
    def answered(self) -> bytes:
        """Everything that the API sent so far, connection by connection."""
        with self._lock:
            return b"\n".join(self._answered)

    def _pour(self, client: Any, upstream: socket.socket) -> None:
        with self._lock:
            at = len(self._asked)
            self._asked.append(b"")
            self._answered.append(b"")
        ways = {client: (upstream, self._asked), upstream: (client, self._answered)}
        try:
            while True:
                for ready in select.select(list(ways), [], [])[0]:
                    chunk = ready.recv(65_536)
                    if not chunk:
                        return
                    other, kept = ways[ready]
                    with self._lock:
                        kept[at] += chunk
                    other.sendall(chunk)
        except OSError:
            return  # a side that went away ends the connection, as without a relay
