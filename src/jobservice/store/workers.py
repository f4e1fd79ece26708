"""Owns the statements of Worker processes: each start is an incarnation of its own."""

from __future__ import annotations

from uuid import UUID

from jobservice.store.database import Transaction


async def add_worker(transaction: Transaction, *, incarnation: UUID, version: str, host: str) -> None:
    """A Worker process begins; `host` is for people, never an identity."""
    await transaction.run("workers/add_worker", incarnation=incarnation, version=version, host=host)


async def beat(transaction: Transaction, incarnation: UUID) -> bool:
    """Whether the process is still known; it lives."""
    return await transaction.run("workers/beat", incarnation=incarnation) > 0


async def stop_worker(transaction: Transaction, incarnation: UUID) -> None:
    """The process ended in good order."""
    await transaction.run("workers/stop_worker", incarnation=incarnation)
