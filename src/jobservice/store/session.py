"""Owns the statements of who is signed in and who is in a tenant; never sees a token, only its hash."""

from __future__ import annotations

from jobservice.store.database import Row, Transaction


async def authenticate(transaction: Transaction, token_hash: bytes) -> Row | None:
    """The person, life and memberships of a token, or None where there is no such token."""
    return await transaction.row("session/authenticate", hash=token_hash)


async def colleagues(transaction: Transaction) -> list[Row]:
    """All active people of the tenant: `id`, `name`, `role`, by name."""
    return list(await transaction.rows("session/colleagues"))


async def set_tenant(transaction: Transaction) -> str:
    """Set the transaction's tenant where row security reads it; the one that was set before, '' for none."""
    row = await transaction.row("session/set_tenant")
    return "" if row is None else str(row["tenant"])
