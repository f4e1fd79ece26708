"""Owns the bank's HTTP: which request goes to which question of the teller, the limits of a request, and the listener.

Listens on loopback alone. Decides nothing about money, and logs no request: keys and accounts are in them.
"""

from __future__ import annotations

import json
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from typing import Any
from urllib.parse import unquote

from examples.payments.bank.orders import MessageRefused, parse
from examples.payments.bank.teller import Answer, Teller

BODY_MOST = 1_000_000
"""Most bytes of a request's body, but for a file's."""
FILE_MOST = 32_000_000
IDLE_SECONDS = 60
"""A connection that says nothing for so long is closed."""
_PAYMENTS = "/payments"
_FILES = "/files"
_LEDGER = "/ledger"
_SCRIPT = "/script"


class NoListener(Exception):
    """The bank cannot listen there; the sentence says why."""


class BankServer(ThreadingHTTPServer):
    """The listener: a thread a connection. `url` is where it answers."""

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 128

    def __init__(self, host: str, port: int, teller: Teller) -> None:
        """Bind and listen; NoListener where `host` is not loopback or the port is taken."""
        try:
            address = ip_address(host)
        except ValueError:
            raise NoListener(f"{host!r} is not an address like 127.0.0.1.") from None
        if not address.is_loopback:
            raise NoListener(f"{host} is not loopback; this bank answers on its own machine alone, like 127.0.0.1.")
        self.address_family = socket.AF_INET6 if address.version == 6 else socket.AF_INET
        self.teller = teller
        try:
            super().__init__((host, port), _Handler)
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise NoListener(f"The bank cannot listen on {host}, port {port}: {reason}.") from None
        shown = f"[{host}]" if address.version == 6 else host
        self.url = f"http://{shown}:{self.server_port}"

    def server_bind(self) -> None:
        """Bind without asking a name server for the name of the address, as the library does."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])

    def handle_error(self, request: object, client_address: object) -> None:  # noqa: ARG002  # the library's call
        """One line without a traceback; the other side going away in the middle is nothing to tell."""
        error = sys.exc_info()[1]
        if not isinstance(error, ConnectionError | TimeoutError):
            sys.stderr.write(f"bank: a request ended with {type(error).__name__}.\n")


@contextmanager
def serving(teller: Teller, *, host: str = "127.0.0.1", port: int = 0) -> Iterator[BankServer]:
    """A server that answers on a thread until the block ends; port 0 = any that is free. NoListener."""
    server = BankServer(host, port, teller)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True, name="bank")
    thread.start()
    try:
        yield server
    finally:
        teller.stopping.set()
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    """One connection. An answer leaves in one piece, so that it is whole or missing."""

    protocol_version = "HTTP/1.1"
    server_version = "bank"
    sys_version = ""
    timeout = IDLE_SECONDS
    wbufsize = -1
    disable_nagle_algorithm = True
    server: BankServer

    def do_GET(self) -> None:
        """Look-ups, ledger, script."""
        path = self._path()
        if path.startswith(f"{_PAYMENTS}/"):
            self._give(self.server.teller.look_up(unquote(path.removeprefix(f"{_PAYMENTS}/"), errors="replace")))
        elif path.startswith(f"{_FILES}/"):
            self._give(self.server.teller.look_up_file(unquote(path.removeprefix(f"{_FILES}/"), errors="replace")))
        elif path == _LEDGER:
            self._give(self.server.teller.ledger())
        elif path == _SCRIPT:
            self._give(self.server.teller.script())
        else:
            self._give(_nowhere("GET", path))

    def do_POST(self) -> None:
        """A payment, a file, or a script in place of the one before."""
        path = self._path()
        teller = self.server.teller
        ask = {_PAYMENTS: teller.pay, _FILES: teller.settle, _SCRIPT: teller.replace_script}.get(path)
        content = self._content(FILE_MOST if path == _FILES else BODY_MOST)
        if isinstance(content, Answer):
            self._give(content)
        elif ask is None:
            self._give(_nowhere("POST", path))
        else:
            try:
                message = parse(content)
            except MessageRefused as error:
                self._give(Answer(status=422, body={"error": str(error)}))
                return
            self._give(ask(message))

    def do_DELETE(self) -> None:
        """Clear the script."""
        path = self._path()
        self._give(self.server.teller.replace_script([]) if path == _SCRIPT else _nowhere("DELETE", path))

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: a request line holds an outward key."""

    def _path(self) -> str:
        if self.command != "POST" and (self.headers.get("Content-Length") or "0") != "0":
            self.close_connection = True  # nobody reads that body, and it is not the next request
        return self.path.partition("?")[0]

    def _content(self, most: int) -> bytes | Answer:
        """The body; an answer where it is not taken, after which the connection ends."""
        kind = (self.headers.get("Content-Type") or "").partition(";")[0].strip().lower()
        length = self.headers.get("Content-Length") or ""
        self.close_connection = True
        if not (length.isascii() and length.isdigit()) or "Transfer-Encoding" in self.headers:
            return Answer(status=411, body={"error": "The request needs its Content-Length."})
        if len(length) > 9 or int(length) > most:
            return Answer(status=413, body={"error": f"The body has more than {most:,} bytes."})
        content = self.rfile.read(int(length))
        if len(content) < int(length):
            raise ConnectionAbortedError("the body ended early")
        self.close_connection = (self.headers.get("Connection") or "").lower() == "close"
        if kind != "application/json":
            return Answer(status=415, body={"error": "The body is JSON: say so with Content-Type: application/json."})
        return content

    def _give(self, answer: Answer | None) -> None:
        """Answer, or close the connection without a word."""
        if answer is None:
            self.close_connection = True
            return
        content = json.dumps(answer.body, ensure_ascii=False, separators=(",", ":")).encode()
        self.send_response(answer.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(content)


def _nowhere(method: str, path: str) -> Answer:
    routes = "POST /payments, GET /payments/KEY, POST /files, GET /files/KEY, GET /ledger, GET, POST and DELETE /script"
    return Answer(status=404, body={"error": f"The bank has no {method} {path[:80]}; it has {routes}."})
