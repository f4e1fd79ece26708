"""Owns the statements of acts: what an act leaves on its item, and the record of it. Decides nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg.types.json import Jsonb

from jobcontract.states import ItemState, OutcomeKind
from jobservice.store.database import Transaction
from jobservice.store.items import LockedItem

HISTORY_MOST = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """How an item stands after an act; `raised` = the act changed what its version counts."""

    state: ItemState
    set_aside_until: datetime | None
    closed_at: datetime | None
    raised: bool
    ends_claim: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class NewAct:
    """The record of an act."""

    person: str
    use_case: str
    outcome: OutcomeKind
    sentence: str
    inputs: Mapping[str, Any]
    money_version: int
    """The version that the act left behind."""


async def apply(transaction: Transaction, item: LockedItem, effect: Effect) -> int | None:
    """Write an act's effect; the item's row_version, or None where claim or version are not as they were read."""
    row = await transaction.row(
        "acts/apply",
        item=item.id,
        holder=item.holding.holder,
        fence=item.holding.fence,
        money_version=item.version.number,
        state=effect.state.value,
        set_aside_until=effect.set_aside_until,
        closed_at=effect.closed_at,
        raised=int(effect.raised),
        ends_claim=effect.ends_claim,
    )
    return None if row is None else int(row["row_version"])


async def add(transaction: Transaction, item: LockedItem, act: NewAct) -> None:
    """Add the record of an act to the item's history."""
    await transaction.run(
        "acts/add",
        item=item.id,
        person=act.person,
        use_case=act.use_case,
        outcome=act.outcome.value,
        sentence=act.sentence,
        inputs=Jsonb(dict(act.inputs)),
        money_version=act.money_version,
    )


async def history(transaction: Transaction, item: str) -> list[Mapping[str, Any]]:
    """The item's acts, newest first, as they go over the wire."""
    row = await transaction.row("acts/history", item=item, most=HISTORY_MOST)
    return [] if row is None else list(row["acts"])
