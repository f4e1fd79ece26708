"""Owns reading plans: the list, one of them, pages of its rows, of what is not in it and of what is odd, and its file.

Who may read what is decided in `plan_views`. Looking is not audited; a file that leaves is (MONEY.md 28, 31).
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from jobcontract import csv_text
from jobcontract.errors import ErrorCode, Refusal
from jobcontract.filters import CONDITIONS_MAX, folded_words
from jobcontract.money import EXPONENTS
from jobcontract.permissions import Permission
from jobcontract.plans import ExcludedItem, ExclusionPage, Plan, Plans, PlanWarning, WarningPage
from jobcontract.states import Exclusion, PlanSort, Turn
from jobservice.rules.filters import SEPARATOR, pattern
from jobservice.store import items as item_store
from jobservice.store import plan_rows as rows
from jobservice.store import plans as store
from jobservice.store.database import Row, Transaction
from jobservice.store.plan_rows import Mark, RowsPage
from jobservice.usecases.actor import Actor
from jobservice.usecases.audit import record
from jobservice.usecases.plan_views import not_found, own_alone, wire
from jobservice.usecases.service import Service

PLANS_MOST = 100
_CHUNK = 5_000
"""Rows that a file is made of at a time."""
_FIRST: Mark = ("", -(2**63), 0)
_FIRST_ID = str(UUID(int=0))
_HEADS = (
    "plan",
    "number",
    "item",
    "key",
    "title",
    "amount",
    "currency",
    "payee",
    "payee id",
    "account",
    "warnings",
    "turn",
    "attempts",
    "sentence",
    "reference",
    "ended",
)


async def list_plans(service: Service, actor: Actor, *, own: bool, live: bool) -> Plans:
    """Plans of the tenant, live ones first, newest first; `own`: the actor's alone. Refusal PERMISSION_MISSING."""
    actor.require(Permission.PLAN_READ)
    owner = actor.person if own else own_alone(actor)
    async with service.database.transaction(actor.tenant) as transaction:
        ids = await store.recent(transaction, owner=owner, live=live, most=PLANS_MOST)
        found = await store.shown(transaction, ids, owner=owner)
        now = await item_store.now(transaction)
    return Plans(plans=tuple(wire(service, row) for row in found), as_of=now)


async def read_plan(service: Service, actor: Actor, plan: str) -> Plan:
    """One plan with everything but its rows. Refusal PERMISSION_MISSING, NOT_FOUND."""
    actor.require(Permission.PLAN_READ)
    async with service.database.transaction(actor.tenant) as transaction:
        return wire(service, await _row(transaction, actor, plan))


async def _row(transaction: Transaction, actor: Actor, plan: str) -> Row:
    found = await store.shown(transaction, [plan], owner=own_alone(actor))
    if not found:
        raise not_found(plan)
    return found[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedRows:
    """What is asked of a plan's rows: an order, words that are looked for, one turn, how many on a page."""

    sort: PlanSort = PlanSort.NUMBER
    search: str = ""
    turn: Turn | None = None
    limit: int


async def plan_items(
    service: Service, actor: Actor, plan: str, asked: AskedRows, *, mark: Mark | None = None
) -> RowsPage:
    """One page of a plan's rows, from where `mark` of another page leads.

    Refusal PERMISSION_MISSING, NOT_FOUND, FILTER_INVALID (more words than a search may have), CURSOR_INVALID.
    """
    actor.require(Permission.PLAN_READ)
    wanted = rows.Wanted(sort=asked.sort, words=_patterns(asked.search), turn=asked.turn)
    after = _FIRST if mark is None else _mark(mark, (str, int, int))
    async with service.database.transaction(actor.tenant) as transaction:
        page = await rows.page(transaction, plan, wanted, owner=own_alone(actor), after=after, limit=asked.limit)
    if page is None:
        raise not_found(plan)
    return page


def _patterns(search: str) -> str | None:
    words = folded_words(search)
    if len(words) > CONDITIONS_MAX:
        raise Refusal(
            ErrorCode.FILTER_INVALID,
            f"A search has {CONDITIONS_MAX} words at most; this one has {len(words)}.",
            at=0,
            length=len(search),
        )
    return SEPARATOR.join(pattern(word) for word in words) or None


def _mark(mark: Mark, types: Sequence[type]) -> Mark:
    if len(mark) != len(types) or not all(type(part) is kind for part, kind in zip(mark, types, strict=False)):
        raise Refusal(ErrorCode.CURSOR_INVALID, "The place to go on from is not one that a page of this plan gave.")
    return mark


async def plan_exclusions(
    service: Service, actor: Actor, plan: str, *, limit: int, mark: Mark | None = None
) -> tuple[ExclusionPage, Mark | None]:
    """One page of what is not in a plan, in the order of the reasons, and the place of the next, which is to be signed.

    Refusal PERMISSION_MISSING, NOT_FOUND, CURSOR_INVALID.
    """
    actor.require(Permission.PLAN_READ)
    after = (0, _FIRST_ID) if mark is None else _mark(mark, (int, str))
    async with service.database.transaction(actor.tenant) as transaction:
        plan_row = await _row(transaction, actor, plan)
        found = await rows.exclusions(transaction, plan, after=after, limit=limit)
    shown = found[:limit]
    last = (shown[-1]["place"], shown[-1]["item"]) if len(found) > limit else None
    page = ExclusionPage(items=tuple(map(_excluded, shown)), next=None, as_of=plan_row["as_of"])
    return page, last


def _excluded(row: Row) -> ExcludedItem:
    who = None if row["who"] is None else {"id": row["who"], "name": row["who_name"]}
    return ExcludedItem.model_validate(
        {
            "item": row["item"],
            "title": row["title"],
            **_paid(row),
            "reason": Exclusion(row["reason"]),
            "who": who,
            "sentence": row["sentence"],
        }
    )


def _paid(row: Row) -> Mapping[str, Any]:
    """Amount and payee as they go over the wire; null for what carries none."""
    if row["amount_minor"] is None:
        return {"amount": None, "payee": None}
    currency = row["currency"]
    return {
        "amount": {"minor": row["amount_minor"], "currency": currency, "exponent": EXPONENTS.get(currency, 0)},
        "payee": {"id": row["payee_id"], "name": row["payee_name"], "account_last4": row["account_last4"]},
    }


async def plan_warnings(
    service: Service, actor: Actor, plan: str, *, limit: int, mark: Mark | None = None
) -> tuple[WarningPage, Mark | None]:
    """One page of what is odd about a plan's rows: what must be answered first; and the place of the next.

    Refusal PERMISSION_MISSING, NOT_FOUND, CURSOR_INVALID.
    """
    actor.require(Permission.PLAN_READ)
    after = (0, -(2**31), -(2**63), _FIRST_ID) if mark is None else _mark(mark, (int, int, int, str))
    async with service.database.transaction(actor.tenant) as transaction:
        plan_row = await _row(transaction, actor, plan)
        found = await rows.warnings(transaction, plan, after=after, limit=limit)
    shown = found[:limit]
    last: Mark | None = None
    if len(found) > limit:
        row = shown[-1]
        last = (int(not row["must_answer"]), row["place"], row["amount_rank"], row["id"])
    page = WarningPage(
        edition=plan_row["edition"], warnings=tuple(map(_warning, shown)), next=None, as_of=plan_row["as_of"]
    )
    return page, last


def _warning(row: Row) -> PlanWarning:
    told = ("id", "number", "item", "kind", "sentence", "must_answer", "answer")
    return PlanWarning.model_validate({**{name: row[name] for name in told}, **_paid(row)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """A plan as a file."""

    name: str
    content: bytes


async def export_plan(service: Service, actor: Actor, plan: str) -> Exported:
    """A plan's rows as CSV, as far as they are; of accounts the last four. Audited.

    Refusal PERMISSION_MISSING, NOT_FOUND.
    """
    actor.require(Permission.PLAN_READ)
    async with service.database.transaction(actor.tenant) as transaction:
        row = await _row(transaction, actor, plan)
        parts = [csv_text.MARK, csv_text.lines([_HEADS])]
        after, count = 0, 0
        while chunk := await rows.exported(transaction, plan, after=after, most=_CHUNK):
            parts.append(await asyncio.to_thread(_lines, row["name"], chunk))
            after, count = chunk[-1]["number"], count + len(chunk)
        detail = {"name": row["name"], "rows": count, "edition": row["edition"], "state": row["state"]}
        await record(transaction, actor, "export-plan", plan, detail)
    return Exported(name=f"{row['name']}.csv", content=b"".join(parts))


def _lines(plan: str, chunk: Sequence[Row]) -> bytes:
    return csv_text.lines(
        (
            plan,
            row["number"],
            row["item"],
            row["business_key"],
            row["title"],
            csv_text.Amount(row["amount_minor"], EXPONENTS.get(row["currency"], 0)),
            row["currency"],
            row["payee_name"],
            row["payee_id"],
            f"…{row['account_last4']}",
            " ".join(row["warned"]),
            row["turn"],
            row["attempts"],
            row["sentence"],
            row["reference"],
            row["ended_at"],
        )
        for row in chunk
    )
