"""Owns the statements that count and sum what waits in a queue. Decides nothing about when a figure is exact."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from psycopg.types.json import Jsonb

from jobcontract.states import ItemView
from jobservice.store.database import Row, Transaction
from jobservice.store.items import EXPONENTS_JSON, Reach


@dataclass(frozen=True, slots=True, kw_only=True)
class Counting:
    """What is to be counted: the items of a queue that match a condition (see `jobs.matches`), within reach."""

    queue: str
    view: ItemView
    condition: Mapping[str, object] | None
    reach: Reach

    def parameters(self) -> dict[str, object]:
        """As parameters of a statement."""
        condition = None if self.condition is None else Jsonb(dict(self.condition))
        return {"queue": self.queue, "filter": condition, **self.reach.parameters()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Figures as of an instant; `looked` is how many rows were looked at for them."""

    looked: int
    matching: int
    waiting: int
    set_aside: int
    unclaimed: int
    oldest_created: datetime | None
    totals: tuple[Row, ...]
    as_of: datetime


async def counts(transaction: Transaction, counting: Counting, *, most: int | None) -> Counts:
    """Count, looking at one row more than `most` at the most; None looks at all."""
    row = await transaction.row(
        "items/totals",
        view=counting.view.value,
        now=transaction.began_at,
        most=most,
        exponents=EXPONENTS_JSON,
        **counting.parameters(),
    )
    assert row is not None  # noqa: S101  # an aggregate has a row
    totals = tuple(row.pop("totals"))
    return Counts(**row, totals=totals, as_of=transaction.began_at)


async def mine(transaction: Transaction, counting: Counting, person: str) -> int:
    """How many of them the person holds now."""
    row = await transaction.row("items/mine", person=person, now=transaction.began_at, **counting.parameters())
    return 0 if row is None else int(row["mine"])
