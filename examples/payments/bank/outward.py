"""Owns what a payment at the bank means to the service: the outcome of sending it, and of asking what became of it.

Tries again only where it is certain that the bank took nothing; silence is *uncertain*. Writes no account anywhere.
"""

from __future__ import annotations

import os

from examples.payments.bank.client import (
    AddressRefused,
    Bank,
    BankAway,
    Booked,
    Busy,
    NoAnswer,
    NotUnderstood,
    OtherContent,
    Paid,
    RefusedByBank,
)
from examples.payments.bank.orders import PaymentOrder
from jobservice.application import NewPayment, Outcome, OutwardOrder, done, failed, refused, retry, uncertain

URL_NAME = "PAYMENTS_BANK_URL"
"""The environment variable with the bank's address."""
AWAY_SECONDS = 5.0
"""How long to wait before a bank that cannot be reached is tried again."""


class Way:
    """The way to the bank, kept open between calls. `url` None = what the environment says at each."""

    def __init__(self, url: str | None = None, *, timeout_seconds: float = 20.0) -> None:
        self._fixed = url
        self._seconds = timeout_seconds
        self._bank: tuple[str, Bank] | None = None

    def reach(self) -> Bank:
        """The bank at the address that holds now; AddressRefused with a sentence where there is none."""
        url = os.environ.get(URL_NAME, "").strip() if self._fixed is None else self._fixed
        if not url:
            raise AddressRefused(f"No bank is set: {URL_NAME} is its address, like https://bank.example.")
        if self._bank is None or self._bank[0] != url:
            try:
                self._bank = (url, Bank(url, timeout_seconds=self._seconds))
            except AddressRefused as error:
                raise AddressRefused(f"{URL_NAME} is not taken: {error}.") from None
        return self._bank[1]

    async def close(self) -> None:
        """Let go of it; the next call makes a new one."""
        if self._bank is not None:
            await self._bank[1].close()
            self._bank = None


class BankOutward:
    """The way to the bank. `url` None = what the environment says at each call."""

    def __init__(self, url: str | None = None, *, timeout_seconds: float = 20.0) -> None:
        self._way = Way(url, timeout_seconds=timeout_seconds)

    async def send(self, order: OutwardOrder) -> Outcome:
        """Make the one call. *retry* only where nothing was booked; *uncertain* where nobody knows."""
        payment = order.item.payment
        if payment is None:
            return failed("The item carries no payment; nothing was sent.")
        try:
            bank = self._way.reach()
        except AddressRefused as error:
            return failed(f"{error} Nothing was paid.")
        try:
            paid = await bank.pay(_message(order, payment))
        except BankAway as error:
            return retry(f"{error} Nothing was sent.", after_seconds=AWAY_SECONDS)
        except NoAnswer as error:
            return uncertain(f"{error} Whether it was paid is not known.", reference=order.key)
        return _outcome(paid, payment)

    async def look_up(self, key: str) -> Outcome | None:
        """What the bank knows of a key; None = it never saw it. AddressRefused, BankAway, NoAnswer where it is silent."""
        known = await self._way.reach().look_up(key)
        match known:
            case Booked(booking=booking):
                return done(f"The bank has it as booking {booking}.", reference=booking)
            case RefusedByBank(reason=reason):
                return refused(f"The bank refused it: {reason}")
        return None

    async def close(self) -> None:
        """Let go of the way to the bank; the next call makes a new one."""
        await self._way.close()


def _message(order: OutwardOrder, payment: NewPayment) -> PaymentOrder:
    return PaymentOrder(
        key=order.key,
        money=payment.money,
        account=payment.account,
        payee=payment.payee_name,
        reference=order.item.key or order.item.id,
    )


def _outcome(paid: Paid, payment: NewPayment) -> Outcome:
    match paid:
        case Booked(booking=booking):
            return done(f"Paid: {_told(payment)}, bank booking {booking}.", reference=booking)
        case RefusedByBank(reason=reason):
            return refused(f"The bank refused it: {reason}")
        case Busy(after_seconds=seconds):
            return retry("The bank is busy; it booked nothing.", after_seconds=seconds)
        case NotUnderstood(sentence=sentence):
            return failed(f"The bank does not take the order: {sentence} Nothing was booked.")
        case OtherContent(booking=booking):
            # Not *uncertain*: asked by the key, the bank would name that booking, and another amount would count as paid.
            return failed(
                f"The bank booked this key before, as {booking}, with other content; it booked nothing now. "
                "Look at that booking first."
            )


def _told(payment: NewPayment) -> str:
    """Amount, last four of the account, name: in this order, so that a cut takes the name first (MONEY.md 27)."""
    return f"{payment.money} to …{payment.account[-4:]} {payment.payee_name}"
