"""Owns the statements of the items of a run, each written under the lease of its occurrence. Decides nothing.

A write compares holder, fence and expiry of the occurrence in its own WHERE: one that finds nothing was not written, and
neither are the effects of its transaction, which the caller rolls back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from jobservice.application import JobItem
from jobservice.store.database import Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLease:
    """The lease that a run works under: what every statement carries."""

    occurrence: UUID
    holder: UUID
    fence: int

    def parameters(self) -> dict[str, object]:
        """As the statements take it."""
        return {"occurrence": self.occurrence, "holder": self.holder, "held_fence": self.fence}


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredItem:
    """An item of a run without an outcome: what was selected, its number in the run, attempts at it so far."""

    item: JobItem
    number: int
    attempts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedRow:
    """An item that is locked for its turn; `now` is the database's clock after that."""

    outcome: str | None
    attempts: int
    now: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How far a run got under earlier leases. `rows`: items that have a row; the others went well in batches."""

    position: str | None
    selected_all: bool
    selected: int
    rows: int
    done: int
    refused: int
    failed: int
    uncertain: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """What a write of new items says of the whole run: how far the selection got, and the items so far."""

    position: str | None
    """None: as it was."""
    selected_all: bool
    selected: int
    done: int
    refused: int
    failed: int
    unfinished: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """How many items were new, and the key of one that the run has already and that may not come again."""

    count: int
    twice: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemEnding:
    """How one attempt at an item ended: its outcome, None where it is to be tried again, and when."""

    outcome: str | None
    sentence: str
    after: float | None = None
    """Seconds until it may be tried again, as its use case asked."""


async def standing(transaction: Transaction, lease: RunLease) -> Standing | None:
    """How far the run got; None where the lease is not ours any more."""
    row = await transaction.row("occurrence_items/standing", **lease.parameters())
    return None if row is None else Standing(**row)


async def open_items(transaction: Transaction, lease: RunLease, *, after: int, most: int) -> tuple[StoredItem, ...]:
    """The next items without an outcome, behind the number `after`."""
    rows = await transaction.rows("occurrence_items/open", **lease.parameters(), after=after, most=most)
    return tuple(
        StoredItem(
            item=JobItem(key=row["key"], label=row["label"], given=row["given"]),
            number=row["number"],
            attempts=row["attempts"],
        )
        for row in rows
    )


async def add(
    transaction: Transaction, lease: RunLease, items: Sequence[JobItem], progress: Progress, *, again: bool
) -> Added | None:
    """Write selected items and how far the selection got; None where the lease is not ours.

    `again`: whether an item without an outcome may have been written before.
    """
    row = await transaction.row(
        "occurrence_items/add",
        **lease.parameters(),
        items=Jsonb([_as_given(place, item) for place, item in enumerate(items)]),
        position=progress.position,
        selected_all=progress.selected_all,
        selected=progress.selected,
        done=progress.done,
        refused=progress.refused,
        failed=progress.failed,
        unfinished=progress.unfinished,
        again=again,
    )
    assert row is not None  # noqa: S101  # sub-selects without a table have a row
    return Added(count=row["added"], twice=row["twice"]) if row["held"] else None


async def twice(transaction: Transaction, lease: RunLease, keys: Sequence[str]) -> str | None:
    """The first of the keys that the run has an item of already."""
    row = await transaction.row("occurrence_items/twice", **lease.parameters(), keys=list(keys))
    return None if row is None else str(row["key"])


async def lock(transaction: Transaction, lease: RunLease, key: str) -> LockedRow | None:
    """Lock an item for its turn; None where another transaction has it."""
    row = await transaction.row("occurrence_items/lock", **lease.parameters(), key=key)
    return None if row is None else LockedRow(**row)


async def end(transaction: Transaction, lease: RunLease, key: str, ending: ItemEnding) -> bool:
    """Write how an attempt at a locked item ended; False where the lease is not ours any more."""
    written = await transaction.run("occurrence_items/end", **lease.parameters(), key=key, **_columns(ending))
    return written > 0


async def pass_over(transaction: Transaction, lease: RunLease, sentence: str, *, keep: Sequence[str]) -> int:
    """End as refused what the run left without an outcome, but for the keys to `keep`; how many, none where the lease is
    not ours any more."""
    return await transaction.run("occurrence_items/pass_over", **lease.parameters(), sentence=sentence, keep=list(keep))


async def end_itself(transaction: Transaction, lease: RunLease, key: str, label: str, ending: ItemEnding) -> bool:
    """Write the one item of a run that is its own item, with how it ended; False where the lease is not ours any more."""
    written = await transaction.run(
        "occurrence_items/end_itself", **lease.parameters(), key=key, label=label, **_columns(ending)
    )
    return written > 0


async def try_lock(transaction: Transaction, scope: str) -> bool:
    """Take an item's scope until the transaction ends; False where another transaction has it."""
    row = await transaction.row("occurrence_items/try_lock", scope=scope)
    return row is not None and bool(row["locked"])


async def advance(
    transaction: Transaction,
    lease: RunLease,
    *,
    was: str | None,
    position: str | None,
    selected_all: bool,
    added: int,
) -> bool:
    """Move the run behind a batch that is done whole; False where the lease is not ours any more."""
    written = await transaction.run(
        "occurrence_items/advance",
        **lease.parameters(),
        was=was,
        position=position,
        selected_all=selected_all,
        added=added,
    )
    return written > 0


async def advance_many(transaction: Transaction, holder: UUID, fences: Mapping[UUID, int]) -> frozenset[UUID]:
    """Write that the one item of each occurrence is done (fence by id); those whose lease is still this holder's."""
    rows = await transaction.rows(
        "occurrence_items/advance_many", holder=holder, occurrences=list(fences), fences=list(fences.values())
    )
    return frozenset(row["id"] for row in rows)


async def refuse(transaction: Transaction, holder: UUID, fences: Mapping[UUID, int], what: str) -> None:
    """Keep that `what` (item or batch) was not written, because the lease (fence by id) was not ours any more."""
    await transaction.run(
        "occurrence_items/refuse",
        holder=holder,
        occurrences=list(fences),
        fences=list(fences.values()),
        what=what,
    )


def _columns(ending: ItemEnding) -> Mapping[str, object]:
    return {"outcome": ending.outcome, "sentence": ending.sentence, "after": ending.after}


def _as_given(place: int, item: JobItem) -> Mapping[str, Any]:
    return {"key": item.key, "label": item.label, "given": dict(item.given), "place": place}
