"""Owns how statements with a filter are planned. Decides nothing about what a filter means."""

from __future__ import annotations

from jobservice.store.database import Transaction


async def keep_order(transaction: Transaction) -> None:
    """Let the statements of this transaction walk their index, however few rows a filter is guessed to leave."""
    await transaction.run("items/keep_order")
