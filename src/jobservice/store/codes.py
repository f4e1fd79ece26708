"""Owns the statements of codes: the sealed secret of a person's phone, and what is counted of their guesses.

Never decides about a code and never holds one.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from jobservice.rules.codes import WINDOW, Guesses
from jobservice.rules.keys import Sealed
from jobservice.store.database import Row, Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptCode:
    """One person's row: the sealed secret (None: no phone), the one being enrolled, and the counters."""

    person: str
    secret: Sealed | None
    pending: Sealed | None
    pending_at: datetime | None
    enrolled_at: datetime | None
    rests_until: datetime | None
    last_step: int
    guesses: Guesses


@dataclass(frozen=True, slots=True, kw_only=True)
class Counting:
    """What a statement saw after the row was locked: the guesses within the window, and the clock."""

    recent: int
    now: datetime
    guess: int | None = None
    """The id of the guess that was just counted."""


async def lock(transaction: Transaction, person: str) -> KeptCode | None:
    """A person's row, locked until the end of the transaction; None where they never had one."""
    row = await transaction.row("codes/lock", person=person)
    return None if row is None else _kept(row)


async def add_guess(transaction: Transaction, person: str) -> Counting:
    """Keep one more wrong code, and count those within the window with it; after `lock`."""
    return _counting(await transaction.row("codes/add_guess", person=person, seconds=WINDOW.total_seconds()))


async def settle_guess(transaction: Transaction, person: str, guess: int, *, given_back: bool) -> Counting:
    """Leave a counted guess as wrong, or take it back; how many stand within the window then."""
    return _counting(
        await transaction.row(
            "codes/settle_guess", person=person, guess=guess, given_back=given_back, seconds=WINDOW.total_seconds()
        )
    )


async def consume(transaction: Transaction, person: str, step: int | None) -> bool:
    """Whether `step` was not spent before; it is now. None (no code matched) writes as much and spends nothing."""
    return await transaction.run("codes/consume", person=person, step=step) == 1


async def keep_guesses(transaction: Transaction, person: str, guesses: Guesses) -> None:
    """Keep the counters; after `lock`."""
    await transaction.run(
        "codes/keep_guesses",
        person=person,
        in_a_row=guesses.in_a_row,
        locks=guesses.locks,
        locked_until=guesses.locked_until,
        locked_for_good=guesses.locked_for_good,
    )


async def standing(transaction: Transaction, person: str) -> tuple[KeptCode | None, Counting]:
    """A person's row without a lock, their wrong codes within the window, and the clock."""
    row = await transaction.row("codes/standing", person=person, seconds=WINDOW.total_seconds())
    counting = _counting(row)
    return (None if row is None or row["person"] is None else _kept(row)), counting


def _counting(row: Row | None) -> Counting:
    assert row is not None  # noqa: S101  # a count has a row
    return Counting(recent=row["recent"], now=row["now"], guess=row.get("guess"))


def _kept(row: Row) -> KeptCode:
    return KeptCode(
        person=row["person"],
        secret=_sealed(row, "key_id", "sealed"),
        pending=_sealed(row, "pending_key_id", "pending_sealed"),
        pending_at=row["pending_at"],
        enrolled_at=row["enrolled_at"],
        rests_until=row["rests_until"],
        last_step=row["last_step"],
        guesses=Guesses(
            in_a_row=row["in_a_row"],
            locks=row["locks"],
            locked_until=row["locked_until"],
            locked_for_good=row["locked_for_good"],
        ),
    )


def _sealed(row: Row, key_id: str, sealed: str) -> Sealed | None:
    return None if row[key_id] is None else Sealed(key_id=row[key_id], sealed=bytes(row[sealed]))
