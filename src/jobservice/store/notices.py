"""Owns the statements of notices: what people are told outside the console (MONEY.md 14 to 16). Never a code, a secret
or an account."""

from __future__ import annotations

from dataclasses import dataclass

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
