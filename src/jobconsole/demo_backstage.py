"""Owns what happens around the console in the headless walk: the payment feed, the phone on the desk, the bank, a Worker
that is killed. Made-up people and programs; nothing of it is a console's business, and no twin runs it.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from pydantic import SecretStr

from jobconsole.client.queues import new_key
from jobconsole.demo_desk import QUEUE, TRIES, Differs
from jobcontract.routes import KEY_HEADER, TENANT_HEADER

SECONDS = 30.0
"""How long anything here may take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Backstage:
    """The world around the demo: `data` is its folder, `log` what its service writes, `feed` the pusher's token."""

    url: str
    bank: str
    tenant: str
    feed: SecretStr
    data: Path
    log: Path
    checkout: Path

    async def push(self, key: str, payee: str, minor: int, currency: str) -> str:
        """Push one payout as the payment feed does; the item's id."""
        content = _content(payee, minor, currency) | {"key": key}
        return str((await self._feed("POST", f"/v1/queues/{QUEUE}/items", content))["item"]["id"])

    async def change(self, key: str, version: int, payee: str, minor: int, currency: str) -> None:
        """Change a payout as the payment feed does."""
        content = _content(payee, minor, currency) | {"money_version": version}
        await self._feed("PUT", f"/v1/queues/{QUEUE}/items/{key}", content)

    async def script(self, rules: Sequence[Mapping[str, object]]) -> None:
        """Make the bank behave so from now on."""
        async with httpx.AsyncClient(timeout=SECONDS) as client:
            (await client.post(f"{self.bank}/script", json=list(rules))).raise_for_status()

    async def ledger(self) -> Mapping[str, Mapping[str, Any]]:
        """The bank's own bookings by outward key."""
        async with httpx.AsyncClient(timeout=SECONDS) as client:
            answer = await client.get(f"{self.bank}/ledger")
        answer.raise_for_status()
        bookings = answer.json()["bookings"]
        found = {str(booking["key"]): booking for booking in bookings}
        if len(found) != len(bookings):
            raise Differs("the bank booked something twice")
        return found

    async def code(self, person: str) -> SecretStr:
        """The code that the phone of `person` shows, as they would type it; one that they did not use yet."""
        words = ("-m", "jobservice", "phone", "--data", str(self.data), "--person", person, "--once")
        process = await asyncio.create_subprocess_exec(
            sys.executable, *words, cwd=self.checkout, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
        )
        async with asyncio.timeout(2 * SECONDS + 10):
            shown, said = await process.communicate()
        if process.returncode != 0:
            raise Differs(f"the phone shows nothing: {said.decode(errors='replace')[:200]}")
        return SecretStr(shown.decode().strip())

    def kill_worker(self) -> int:
        """Kill the Worker as the kernel does when memory is short; its process id."""
        started = [
            line for line in self._lines() if line.get("event") == "child-ready" and line.get("child") == "worker"
        ]
        if not started:
            raise Differs("the log does not say which process the Worker is")
        process = int(started[-1]["process"])
        os.kill(process, signal.SIGKILL)
        return process

    def _lines(self) -> list[dict[str, Any]]:
        lines: list[dict[str, Any]] = []
        for text in self.log.read_text("utf-8", errors="replace").splitlines():
            try:
                said = json.loads(text)
            except ValueError:
                continue
            if isinstance(said, dict):
                lines.append(said)
        return lines

    async def _feed(self, method: str, path: str, content: Mapping[str, object]) -> Any:
        headers = {
            "Authorization": f"Bearer {self.feed.get_secret_value()}",
            TENANT_HEADER: self.tenant,
            KEY_HEADER: new_key(),
        }
        async with httpx.AsyncClient(base_url=self.url, timeout=SECONDS) as client:
            for _ in range(TRIES):
                answer = await client.request(method, path, json=dict(content), headers=headers)
                if answer.status_code < 500:
                    break
                await asyncio.sleep(0.5)
        if answer.status_code == httpx.codes.CONFLICT and method == "POST":
            raise Differs("the walk was gone through on this data before; take an empty folder: --data FOLDER")
        if not answer.is_success:
            raise Differs(f"the feed was answered {answer.status_code}: {answer.text[:200]}")
        return answer.json()


def _content(payee: str, minor: int, currency: str) -> dict[str, object]:
    number = "".join(f"{ord(letter) % 10}" for letter in payee)[:14].ljust(14, "0")
    return {
        "title": f"Made up for the walk, {payee}",
        "amount": {"minor": minor, "currency": currency},
        "payee": {"id": f"W-{number}", "name": payee, "account": f"XJ00DEMO{number}"},
        "inputs": {"invoice": "on-file"},
    }
