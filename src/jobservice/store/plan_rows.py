"""Owns the statements of what is in a plan and what is not: finding, locking, taking, freezing, taking out, reading.

Sets of items go to the server and back as one text each (`{id,id}`), never id by id. Decides nothing: reasons why an
item is left out are those of `rules/plans.py`, in the order in which the statement compares them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from psycopg.types.json import Jsonb

from jobcontract.states import Exclusion, PlanSort, Turn
from jobservice.store.database import Row, Transaction
from jobservice.store.items import EXPONENTS_JSON, Reach, readable
from jobservice.store.plan_joins import whole_plan
from jobservice.store.texts import texts

_TURNS = [turn.value for turn in Turn]
_REASONS = [reason.value for reason in Exclusion]
TURNS_MOST = 50
"""Most plans that an item's detail tells of."""
Mark = tuple[str | int, ...]
"""The place of the last row of a page, as the next one begins behind it."""


@dataclass(frozen=True, slots=True)
class ItemSet:
    """Ids of items as PostgreSQL writes an array, and how many."""

    text: str
    count: int

    @classmethod
    def of(cls, items: Iterable[str]) -> ItemSet:
        """Each item once; every id is in the service's own form (`ItemId` of the contract)."""
        ids = dict.fromkeys(items)
        return cls("{" + ",".join(ids) + "}", len(ids))


@dataclass(frozen=True, slots=True, kw_only=True)
class Taking:
    """Which plan takes items, for whom, until when, and what may be in it."""

    plan: str
    queue: str
    command: str
    name: str
    owner: str
    salt: bytes
    now: datetime
    until: datetime
    states: Sequence[str]
    currencies: Sequence[str] | None
    """None = whatever the currency."""
    command_title: str
    use_case_title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """How many items a plan took, and how many each reason kept out."""

    taken: int
    excluded: Mapping[str, int]


async def find(
    transaction: Transaction,
    queue: str,
    reach: Reach,
    condition: Mapping[str, object] | None,
    *,
    now: datetime,
    most: int,
) -> ItemSet:
    """What waits in a queue and matches `condition` (see `listing.Listing`): at most `most` + 1 items."""
    row = await transaction.row(
        "plan_rows/find", queue=queue, now=now, filter=_json(condition), most=most, **reach.parameters()
    )
    assert row is not None  # noqa: S101  # an aggregate has a row
    return ItemSet(row["items"], row["found"])


async def lock(transaction: Transaction, queue: str, reach: Reach, items: ItemSet) -> ItemSet:
    """Lock those items that are in the queue and within reach, waiting for whoever has one, in the order of ids."""
    row = await transaction.row("plan_rows/lock", queue=queue, items=items.text, **reach.parameters())
    assert row is not None  # noqa: S101  # an aggregate has a row
    return ItemSet(row["items"], row["found"])


async def take(
    transaction: Transaction,
    taking: Taking,
    locked: ItemSet,
    *,
    asked: ItemSet | None,
    condition: Mapping[str, object] | None,
) -> Taken:
    """Claim for the plan what may be in it, keep why the rest may not. `asked`: what a person named; None where
    `condition` found the items."""
    row = await transaction.row(
        "plan_rows/take",
        plan=taking.plan,
        queue=taking.queue,
        command=taking.command,
        name=taking.name,
        owner=taking.owner,
        salt=taking.salt,
        now=taking.now,
        until=taking.until,
        states=list(taking.states),
        currencies=None if taking.currencies is None else list(taking.currencies),
        command_title=taking.command_title,
        use_case_title=taking.use_case_title,
        locked=locked.text,
        asked="{}" if asked is None else asked.text,
        named=asked is not None,
        filter=_json(condition),
    )
    assert row is not None  # noqa: S101  # an aggregate has a row
    return Taken(taken=row["taken"], excluded=row["excluded"])


async def freeze(transaction: Transaction, plan: str, *, now: datetime, until: datetime, again: bool) -> int:
    """Freeze a plan as its rows are; its version. `again`: it was shown before, so edition and version rise."""
    row = await transaction.row(
        "plan_rows/freeze", plan=plan, now=now, until=until, raised=int(again), exponents=EXPONENTS_JSON
    )
    assert row is not None  # noqa: S101  # the plan is there: it was added or locked
    return int(row["version"])


async def lock_planned(transaction: Transaction, plan: str) -> int:
    """Lock the items on which an open plan's claim stands, in the order of ids; how many."""
    row = await transaction.row("plan_rows/lock_planned", plan=plan)
    return 0 if row is None else int(row["items"])


async def give_back(transaction: Transaction, plan: str) -> int:
    """Take an open plan's claim off its items, which are locked; how many."""
    async with whole_plan(transaction):
        return await transaction.run("plan_rows/give_back", plan=plan)


async def planned(transaction: Transaction, plan: str, items: ItemSet) -> tuple[int, str | None]:
    """How many of the items are in the plan, and the first that is not."""
    row = await transaction.row("plan_rows/planned", plan=plan, items=items.text)
    return (0, None) if row is None else (row["planned"], row["stranger"])


async def take_out(transaction: Transaction, plan: str, items: ItemSet, *, until: datetime) -> int:
    """Take items out, count the rest anew, and move the end of the plan's claim on the rest; how many were taken."""
    async with whole_plan(transaction):
        row = await transaction.row("plan_rows/take_out", plan=plan, items=items.text)
        await transaction.run("plan_rows/renumber", plan=plan)
        await transaction.run("plan_rows/extend", plan=plan, until=until)
    return 0 if row is None else int(row["taken"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which rows of a plan a page shows, in which order. `words`: patterns, joined as `jobs.matches` takes them."""

    sort: PlanSort = PlanSort.NUMBER
    words: str | None = None
    turn: Turn | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsPage:
    """One page of a plan's rows: `json` is their array (`jobcontract.plans.PlanItem` each)."""

    json: bytes
    edition: int
    matching: int
    next: Mark | None
    as_of: datetime


async def page(
    transaction: Transaction, plan: str, wanted: Wanted, *, owner: str | None, after: Mark, limit: int
) -> RowsPage | None:
    """One page after a place; None where there is no such plan, or it is not `owner`'s."""
    if not readable(plan):
        return None
    word, rank, number = after
    found = await texts(
        transaction,
        "plan_rows/page",
        plan=plan,
        owner=owner,
        sort=wanted.sort.value,
        words=wanted.words,
        turn=None if wanted.turn is None else wanted.turn.value,
        turns=_TURNS,
        word=word,
        rank=rank,
        number=number,
        most=limit,
        exponents=EXPONENTS_JSON,
    )
    if not found.count:
        return None
    more = found.raw(0, "more") == b"true"
    last: Mark = (
        (found.text(0, "last_word"), int(found.text(0, "last_rank")), int(found.text(0, "last_number"))) if more else ()
    )
    return RowsPage(
        json=b"[%b]" % found.raw(0, "items"),
        edition=int(found.text(0, "edition")),
        matching=int(found.text(0, "matching")),
        next=last or None,
        as_of=datetime.fromisoformat(found.text(0, "now")),
    )


async def exclusions(transaction: Transaction, plan: str, *, after: Mark, limit: int) -> list[Row]:
    """At most `limit` + 1 exclusions after a place (of the reason, item)."""
    place, item = after
    return list(
        await transaction.rows("plan_rows/exclusions", plan=plan, place=place, item=item, reasons=_REASONS, most=limit)
    )


async def warnings(transaction: Transaction, plan: str, *, after: Mark, limit: int) -> list[Row]:
    """At most `limit` + 1 warnings after a place (need not be answered, place, rank, id)."""
    free, place, rank, identifier = after
    return list(
        await transaction.rows(
            "plan_rows/warnings", plan=plan, free=free, place=place, rank=rank, id=identifier, most=limit
        )
    )


async def exported(transaction: Transaction, plan: str, *, after: int, most: int) -> list[Row]:
    """At most so many rows after a number, for a file."""
    return list(await transaction.rows("plan_rows/exported", plan=plan, after=after, most=most))


async def turns(transaction: Transaction, item: str) -> list[Row]:
    """What confirmed plans did about an item, newest first."""
    return list(await transaction.rows("plan_rows/turns", item=item, most=TURNS_MOST))


def _json(condition: Mapping[str, object] | None) -> Jsonb | None:
    return None if condition is None else Jsonb(dict(condition))
