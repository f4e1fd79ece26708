"""Owns the two services that the conformance suite compares: the fake one, and the real API on a real PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Protocol

import httpx
from pydantic import SecretStr

from jobconsole.client.fake import FakeService
from jobconsole.client.queues import new_key
from jobconsole.client.service import Service
from jobconsole.client.session import me
from jobcontract.items import NewAmount, NewItem, NewPayee, Pushed
from jobcontract.routes import PUSH_ITEM

AUDITOR, PUSHER, OPERATOR, FIRST, SECOND = "auditor", "pusher", "operator", "first", "second"
INPUTS: Mapping[str, Mapping[str, str]] = {
    "payments.payouts": {"invoice": "I-1"},
    "payments.disputes": {"evidence": "none"},
}


class Stage(Protocol):
    """A service with people: two finance clerks (first, second), an auditor, an operator, a pusher."""

    def sign_in(self, part: str) -> Service:
        """The connection of the person who plays `part`."""

    async def add(self, queue: str, title: str, *, minor: int, days_old: int, currency: str = "GBP") -> str:
        """Put an item in; its id."""

    def advance(self, seconds: float) -> None:
        """Move the service's clock on."""

    def code(self, part: str) -> SecretStr:
        """A code of the person who plays `part`, right and not used yet; time may pass."""


@dataclass(slots=True, kw_only=True)
class FakeStage:
    """The fake service."""

    fake: FakeService = field(default_factory=FakeService)

    def sign_in(self, part: str) -> Service:
        """See `Stage`."""
        return self.fake.service(self.person(part))

    async def add(self, queue: str, title: str, *, minor: int, days_old: int, currency: str = "GBP") -> str:
        """See `Stage`."""
        return self.fake.queues.add(queue, title, minor=minor, days_old=days_old, currency=currency)

    def advance(self, seconds: float) -> None:
        """See `Stage`."""
        self.fake.advance(seconds)

    def code(self, part: str) -> SecretStr:
        """See `Stage`."""
        return SecretStr(self.fake.bulk.codes.fresh(self.person(part)))

    def person(self, part: str) -> str:
        """Who plays `part`."""
        cast = {FIRST: "m.ito", SECOND: "k.rao", AUDITOR: "a.nagy", OPERATOR: "o.lind", PUSHER: "i.feed"}
        return cast[part]


@dataclass(slots=True, kw_only=True)
class RealStage:
    """The real API, asked in process."""

    transport: httpx.AsyncBaseTransport
    token: Callable[[str], str]
    move: Callable[[float], None]
    shown: Callable[[str], str]
    """What the phone of a person shows now."""
    count: int = 0

    def sign_in(self, part: str) -> Service:
        """See `Stage`."""
        token = SecretStr(self.token(self.person(part)))
        return Service("http://127.0.0.1:1", token, "acme", transport=self.transport)

    async def add(self, queue: str, title: str, *, minor: int, days_old: int, currency: str = "GBP") -> str:
        """See `Stage`."""
        self.count += 1
        pusher = self.sign_in(PUSHER)
        new = NewItem(
            key=f"K-{self.count}",
            title=title,
            created=(await me(pusher)).now - timedelta(days=days_old),
            amount=NewAmount(minor=minor, currency=currency),
            payee=NewPayee(id=f"s-{self.count}", name=title, account=f"GB00TEST{self.count:04d}"),
            inputs=INPUTS[queue],
        )
        pushed = await pusher.post(PUSH_ITEM, new, Pushed, key=new_key(), parts={"queue": queue})
        return pushed.item.id

    def advance(self, seconds: float) -> None:
        """See `Stage`."""
        self.move(seconds)

    def code(self, part: str) -> SecretStr:
        """See `Stage`. A step later than anything before: a code of the present one may be used, or early."""
        self.move(30)
        return SecretStr(self.shown(self.person(part)))

    def person(self, part: str) -> str:
        """Who plays `part`."""
        cast = {FIRST: "m.ito", SECOND: "k.rao", AUDITOR: "s.audit", OPERATOR: "o.lind", PUSHER: "p.push"}
        return cast[part]
