"""Owns the statements by which a person has a Worker take nothing new, and lets it take again. Decides nothing."""

from __future__ import annotations

from jobservice.store.database import Row, Transaction


async def lock(transaction: Transaction, worker: str, *, silent_seconds: float) -> Row | None:
    """Lock all Workers that have not ended, then read that one: `others` says whether another one lives, heard of within
    `silent_seconds`, that takes work. None where nobody knows it."""
    await transaction.rows("draining/lock", worker=worker)
    return await transaction.row("draining/read", worker=worker, silent=silent_seconds)


async def ask(transaction: Transaction, worker: str, *, person: str, reason: str, silent_seconds: float) -> bool:
    """Ask a Worker to take nothing new; False where it has ended, was asked before, or no other one takes work."""
    written = await transaction.run("draining/ask", worker=worker, person=person, reason=reason, silent=silent_seconds)
    return written > 0


async def let(transaction: Transaction, worker: str) -> bool:
    """Let it take again; False where it has ended, or nobody asked."""
    return await transaction.run("draining/let", worker=worker) > 0
