"""Owns what the Worker believes of a recovery that moves money: its signature, over its digest as its rows are now
(MONEY.md 1, 19). A row that was written past the service runs nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from jobcontract.recovery_digest import RecoveryDigest
from jobservice.rules import recoveries as rules
from jobservice.rules.keys import PublicKeys, Signature
from jobservice.store import recovering as store
from jobservice.store import recovery_rows as rows
from jobservice.store.database import Row, Transaction


async def proven(
    transaction: Transaction, recovery_id: str, keys: PublicKeys, *, occurrence: str | None = None
) -> bool:
    """Whether a recovery of the transaction's tenant was confirmed as its rows are now, over the API.

    `occurrence` (an id): and runs just that one, by a row that moves money and has not ended. Reads every row.
    """
    head = await store.head(transaction, recovery_id)
    if head is None:
        return False
    if occurrence is not None and not await store.holds(transaction, recovery_id, occurrence):
        return False
    stored = bytes(head["digest"])
    signature = Signature(key_id=head["signing_key"], signature=bytes(head["signature"]))
    if not keys.verify(recovery_id, stored, signature):
        return False
    return await _digest(transaction, head) == stored.hex()


async def _digest(transaction: Transaction, head: Row) -> str | None:
    """The digest over the rows as they are; None where they are not as many as were confirmed, or not whole."""
    frozen = rules.Frozen(
        tenant=head["tenant"],
        recovery=head["id"],
        owner=head["owner"],
        act=head["act"],
        reason=head["reason"],
        frozen_at=head["frozen_at"],
        disable_until=head["disable_until"],
        count=head["count"],
        money=head["money"],
    )
    try:
        digest = RecoveryDigest(rules.digest_head(frozen))
        async for chunk in rows.hashed(transaction, head["id"]):
            await asyncio.to_thread(_add, digest, chunk)
        return digest.hexdigest()
    except (ValueError, KeyError, TypeError):  # whatever a row written past the service makes of it
        return None


def _add(digest: RecoveryDigest, chunk: Sequence[Mapping[str, object]]) -> None:
    for row in chunk:
        digest.add(rules.digest_row(row))
