"""Owns the refusal of a stale version: what it was on the person's screen, and what it is now."""

from __future__ import annotations

from jobcontract.errors import ErrorCode, Refusal
from jobservice.rules.items import changes
from jobservice.store import items as store
from jobservice.store.database import Transaction
from jobservice.store.items import LockedItem


async def version_changed(transaction: Transaction, item: LockedItem, carried: int) -> Refusal:
    """VERSION_CHANGED with `changes`: each field before and after, as text to show."""
    before = await store.version(transaction, item.id, carried)
    told = () if before is None else changes(before, item.version)
    if before is None:
        sentence = f"The item has no version {carried}; it is at {item.version.number}. Load it again."
    else:
        sentence = "; ".join(f"{each.field}: {each.before} → {each.after}" for each in told)
        sentence = f"The item changed since version {carried} (now {item.version.number}): {sentence or 'and back'}."
    return Refusal(
        ErrorCode.VERSION_CHANGED,
        sentence,
        changes=[each.model_dump() for each in told],
        money_version=item.version.number,
    )
