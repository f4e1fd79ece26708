"""Owns the statements of Worker processes: each start is an incarnation of its own."""

from __future__ import annotations

from uuid import UUID

from jobservice.store.database import Row, Transaction

_EVER_SECONDS = 1e9


async def add_worker(transaction: Transaction, *, incarnation: UUID, version: str, host: str, slots: int = 0) -> None:
    """A Worker process begins, with room for so many runs; `host` is for people, never an identity."""
    await transaction.run("workers/add_worker", incarnation=incarnation, version=version, host=host, slots=slots)


async def beat(transaction: Transaction, incarnation: UUID, *, leaving: bool) -> bool | None:
    """It lives: whether a person wants it to take nothing new; None where the process is not known any more. `leaving`:
    it takes nothing new because it ends."""
    row = await transaction.row("workers/beat", incarnation=incarnation, leaving=leaving)
    return None if row is None else bool(row["drains"])


async def drain(transaction: Transaction, incarnation: UUID) -> None:
    """The process takes nothing new."""
    await transaction.run("workers/drain", incarnation=incarnation)


async def stop_worker(transaction: Transaction, incarnation: UUID) -> None:
    """The process ended in good order."""
    await transaction.run("workers/stop_worker", incarnation=incarnation)


async def hand_back_duties(transaction: Transaction, incarnation: UUID) -> None:
    """Give back every duty that the process holds: it will not do it any more."""
    await transaction.run("workers/hand_back_duties", incarnation=incarnation)


async def listed(transaction: Transaction, *, keep_seconds: float, most: int) -> list[Row]:
    """Workers that live, and those that stopped or fell silent within `keep_seconds`, the newest first, with how many
    occurrences of the tenant each holds (`processing`)."""
    return list(await transaction.rows("workers/listed", worker=None, keep=keep_seconds, most=most))


async def one(transaction: Transaction, incarnation: str) -> Row | None:
    """One of them, however long it was silent; None where nobody knows it."""
    return await transaction.row("workers/listed", worker=incarnation, keep=_EVER_SECONDS, most=1)
