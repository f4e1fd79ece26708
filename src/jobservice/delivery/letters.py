"""Owns what is delivered, and the port through which it goes. Knows no way of delivering."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """What one person is told: the notice's id and instant (UTC), the person's address, a subject line, plain text.

    Delivered twice it is the same letter, with the same id and date, so that a repetition can be told.
    """

    id: UUID
    address: str
    subject: str
    text: str
    at: datetime
    now: datetime | None = None
    """When this try is made, by the database's clock (UTC): what is signed says so."""


class NotDelivered(Exception):
    """It did not arrive, as far as anybody knows; the text says why, without an address or a password.

    `for_good` = no repetition of this letter can succeed.
    """

    def __init__(self, reason: str, *, for_good: bool = False) -> None:
        super().__init__(reason)
        self.for_good = for_good


class Delivery(Protocol):
    """A way to people outside the console."""

    async def deliver(self, letter: Letter) -> None:
        """Hand the letter over; NotDelivered where it was not taken, or nobody knows. Ends within its own time-out."""


class DeliveryRefused(ValueError):
    """An address of a way to deliver that cannot be used; the sentence says why, and repeats nothing of it."""
