"""Owns sample values of the wire for tests of presenters: one item, one queue, and variations of them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from jobconsole.present.items import Seen
from jobcontract.items import Amount, Item, ItemDetail, Payee
from jobcontract.money import exponent
from jobcontract.queues import Queue, QueueCurrencyTotal, QueueTotals
from jobcontract.session import Person
from jobcontract.states import ClaimMode, ItemState

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
ME = Person(id="m.ito", name="Mika Ito")
RAO = Person(id="k.rao", name="Kiran Rao")


def seen(claim: ClaimMode = ClaimMode.REQUIRED, zone: str = "Europe/London", *, scored: bool = False) -> Seen:
    """Looked at by m.ito at NOW."""
    return Seen(me="m.ito", now=NOW, zone=ZoneInfo(zone), claim=claim, scored=scored)


def amount(minor: int, currency: str = "GBP") -> Amount:
    """An amount with its currency's own exponent."""
    return Amount(minor=minor, currency=currency, exponent=exponent(currency))


def item(**changes: Any) -> Item:
    """A payout of GBP 90,126.13 to Aspire Care Ltd, six days old and free."""
    fields: dict[str, Any] = {
        "id": "i-1",
        "queue": "payments.payouts",
        "key": "s-4403/1211-00415",
        "title": "Invoice 1211-00415",
        "created": NOW - timedelta(days=6),
        "state": ItemState.OPEN,
        "set_aside_until": None,
        "amount": amount(9012613),
        "payee": Payee(id="s-4403", name="Aspire Care Ltd", account_last4="4471"),
        "inputs": {"invoice": "on file"},
        "money_version": 1,
        "holder": None,
        "expires_at": None,
        "fence": 0,
    }
    return Item(**{**fields, **changes})


def held(by: Person, seconds: float, **changes: Any) -> Item:
    """The payout, held with so many seconds left."""
    return item(holder=by, expires_at=NOW + timedelta(seconds=seconds), fence=1, **changes)


def detail(**changes: Any) -> ItemDetail:
    """The payout in full, without history."""
    fields: dict[str, Any] = {
        "item": item(),
        "payload": {},
        "pushed_by": Person(id="i.feed", name="Feed"),
        "pushed_at": NOW,
        "changed_at": NOW,
        "capped_at": None,
        "claims": (),
        "acts": (),
        "as_of": NOW,
    }
    return ItemDetail(**{**fields, **changes})


def queue(**changes: Any) -> Queue:
    """Supplier payouts."""
    fields: dict[str, Any] = {
        "id": "payments.payouts",
        "title": "Supplier payouts",
        "claim": ClaimMode.REQUIRED,
        "money": True,
        "inputs": ("invoice",),
        "use_cases": (),
        "lease_seconds": 3600,
    }
    return Queue(**{**fields, **changes})


def total(currency: str, out: int, back: int = 0) -> QueueCurrencyTotal:
    """One currency's total."""
    return QueueCurrencyTotal(
        currency=currency,
        exponent=exponent(currency),
        out_minor=out,
        out_count=1 if out else 0,
        back_minor=back,
        back_count=1 if back else 0,
    )


def totals(**changes: Any) -> QueueTotals:
    """1,204 waiting, 37 mine."""
    fields: dict[str, Any] = {
        "queue": "payments.payouts",
        "waiting": 1204,
        "mine": 37,
        "set_aside": 5,
        "unclaimed": 1000,
        "oldest_created": NOW,
        "totals": (total("GBP", 231844017, 910233), total("JPY", 3702)),
        "as_of": NOW,
    }
    return QueueTotals(**{**fields, **changes})
