"""Owns the statements of notices: what people are told outside the console (MONEY.md 14 to 16). Never a code, a secret
or an account."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from jobservice.store.database import Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class NewNotice:
    """A notice to leave: for whom, of what kind (`plan-confirmed`, `code-locked` ...), subject and text, and the id of
    what it is about."""

    person: str
    kind: str
    subject: str
    text: str
    about: str | None = None


async def add(transaction: Transaction, notice: NewNotice) -> None:
    """Leave a notice; the Worker delivers it once the transaction commits."""
    await transaction.run(
        "notices/add",
        person=notice.person,
        kind=notice.kind,
        subject=notice.subject,
        text=notice.text,
        about=notice.about,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DueNotice:
    """A notice taken for one attempt, the `attempts`-th, at `now`; `contact` is its person's address, `made_at` UTC."""

    id: UUID
    person: str
    kind: str
    subject: str
    text: str
    made_at: datetime
    attempts: int
    now: datetime
    contact: str


async def take_due(transaction: Transaction, *, first_pause: float, longest_pause: float) -> DueNotice | None:
    """The notice that is due longest; it is due again after a pause (seconds) that doubles with each attempt."""
    row = await transaction.row("notices/take_due", first=first_pause, longest=longest_pause)
    return None if row is None else DueNotice(**row)


async def due(transaction: Transaction) -> bool:
    """Whether a notice is due to be delivered."""
    row = await transaction.row("notices/due")
    return row is not None


async def sent(transaction: Transaction, notice: UUID) -> None:
    """Keep that a notice was delivered."""
    await transaction.run("notices/sent", id=notice)


async def failed(transaction: Transaction, notice: DueNotice, reason: str, *, last: bool) -> None:
    """Keep why an attempt failed; `last` = there will be no other."""
    await transaction.run("notices/failed", id=notice.id, attempts=notice.attempts, failure=reason, last=last)


async def waiting(transaction: Transaction) -> int:
    """How many notices wait to be delivered."""
    row = await transaction.row("notices/waiting")
    return 0 if row is None else int(row["waiting"])
