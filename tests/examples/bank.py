"""The bank of the example for tests: on a thread of this process, or as the process it is."""

from __future__ import annotations

import json
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx

from examples.payments.bank.ledger import Ledger
from examples.payments.bank.orders import PaymentOrder
from examples.payments.bank.script import Script, read_rules
from examples.payments.bank.server import serving
from examples.payments.bank.teller import Teller
from jobcontract.money import Money

NOW = datetime(2026, 3, 10, 9, 0, tzinfo=UTC)
ACCOUNT = "XJ93DEMO00000000001234"


def an_order(key: str = "leeds/1", minor: int = 154_522, currency: str = "GBP", **other: str) -> PaymentOrder:
    """An order that the bank takes."""
    texts = {"account": ACCOUNT, "payee": "Acme Roofing", "reference": "S-1/0042"} | other
    return PaymentOrder(key=key, money=Money(minor=minor, currency=currency), **texts)


def a_ledger(path: Path) -> Ledger:
    """A ledger whose clock stands still."""
    return Ledger(path, lambda: NOW)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningBank:
    """A bank that answers, and a client of it."""

    url: str
    http: httpx.Client

    def pay(self, order: PaymentOrder | None = None, **other: object) -> httpx.Response:
        """Order a payment; `other` replaces members of the message."""
        return self.http.post("/payments", json=(order or an_order()).message() | other)

    def script(self, *rules: dict[str, object]) -> None:
        """Put these rules in force."""
        assert self.http.post("/script", json=list(rules)).status_code == 200

    def ledger(self) -> Any:
        """The whole ledger."""
        return self.http.get("/ledger").json()

    @property
    def booked(self) -> list[str]:
        """The keys of all bookings, in their order."""
        return [booking["key"] for booking in self.ledger()["bookings"]]


@contextmanager
def bank_on_a_thread(path: Path, *rules: dict[str, object]) -> Iterator[RunningBank]:
    """A bank in this process, with its ledger at `path`."""
    ledger = a_ledger(path)
    try:
        with (
            serving(Teller(ledger, Script(read_rules(list(rules))))) as server,
            _client(server.url) as http,
        ):
            yield RunningBank(url=server.url, http=http)
    finally:
        ledger.close()


@contextmanager
def bank_process(path: Path, *arguments: str) -> Iterator[tuple[RunningBank, subprocess.Popen[str]]]:
    """The bank as a process; whoever asked for it may kill it, too."""
    command = [sys.executable, "-m", "examples.payments.bank", "--ledger", str(path), *arguments]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **pipes) as process:  # type: ignore[call-overload]  # pipes all the same
        try:
            said = json.loads(process.stdout.readline() or '{"event": "ended"}')
            assert said["event"] == "ready", process.stderr.read()
            with _client(said["url"]) as http:
                yield RunningBank(url=said["url"], http=http), process
        finally:
            process.kill()


def _client(url: str) -> httpx.Client:
    """Nobody vouches on loopback: reading all authorities would take most of a test's time."""
    return httpx.Client(base_url=url, trust_env=False, verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))
