"""Owns the statements of idempotency keys. Decides nothing about repeats; the use case does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from psycopg.types.json import Jsonb

from jobservice.store.database import Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What a key belongs to, within the transaction's tenant: person, method, path."""

    person: str
    method: str
    path: str
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """The answer that was given first, and the digest of the body it was given to."""

    digest: bytes
    status: int
    answer: Mapping[str, Any]


async def try_lock_counting(transaction: Transaction, scope: Scope) -> bool:
    """`try_lock`, and then wait until no other transaction counts this person's claims in this tenant."""
    row = await transaction.row(
        "idempotency/try_lock_counting", person=scope.person, method=scope.method, path=scope.path, key=scope.key
    )
    return bool(row and row["locked"])


async def try_lock(transaction: Transaction, scope: Scope) -> bool:
    """Take the key for the length of the transaction; False where another transaction has it."""
    row = await transaction.row(
        "idempotency/try_lock", person=scope.person, method=scope.method, path=scope.path, key=scope.key
    )
    return bool(row and row["locked"])


async def lock(transaction: Transaction, scope: Scope) -> None:
    """Take the key for the length of the transaction, waiting for whoever has it."""
    await transaction.row("idempotency/lock", person=scope.person, method=scope.method, path=scope.path, key=scope.key)


async def find(transaction: Transaction, scope: Scope) -> Kept | None:
    """The answer kept under the key, or None. Look only after `try_lock`: its own statement sees what committed."""
    row = await transaction.row(
        "idempotency/find", person=scope.person, method=scope.method, path=scope.path, key=scope.key
    )
    return None if row is None else Kept(digest=bytes(row["digest"]), status=row["status"], answer=row["answer"])


async def keep(transaction: Transaction, scope: Scope, kept: Kept, *, seconds: float) -> None:
    """Keep the answer for so many seconds, in the transaction that did the work."""
    await transaction.run(
        "idempotency/keep",
        person=scope.person,
        method=scope.method,
        path=scope.path,
        key=scope.key,
        digest=kept.digest,
        status=kept.status,
        answer=Jsonb(dict(kept.answer)),
        seconds=seconds,
    )
