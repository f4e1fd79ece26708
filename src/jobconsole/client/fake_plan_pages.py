"""Owns the pages of a fake plan: rows in each order, exclusions, warnings, the file. Cursors are positions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from jobconsole.client.fake_plan import FakePlan, FakeRow
from jobcontract import csv_text
from jobcontract.errors import ErrorCode, Refusal
from jobcontract.plans import PLAN_PAGE_MOST, ExclusionPage, PlanItemPage, WarningPage
from jobcontract.states import Exclusion, PlanSort, Turn

T = TypeVar("T")
HEADS = (
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
_REASONS, _TURNS = tuple(Exclusion), tuple(Turn)


def items(plan: FakePlan, query: Mapping[str, str], limit: int, now: datetime) -> PlanItemPage:
    """Rows that match the search, in the order that is asked for."""
    words = query.get("search", "").casefold().split()
    turn = query.get("turn")
    found = [
        row for row in plan.rows if all(word in _searched(row) for word in words) and turn in (None, row.turn.value)
    ]
    found.sort(key=_order(plan, query.get("sort", PlanSort.NUMBER.value)))
    page, following = _cut(found, query, limit)
    return PlanItemPage(edition=plan.edition, items=plan.items(page), matching=len(found), next=following, as_of=now)


def exclusions(plan: FakePlan, query: Mapping[str, str], limit: int, now: datetime) -> ExclusionPage:
    """Exclusions in the order of their reasons."""
    found = sorted(plan.excluded, key=lambda each: (_REASONS.index(each.reason), each.item))
    page, following = _cut(found, query, limit)
    return ExclusionPage(items=tuple(page), next=following, as_of=now)


def warnings(plan: FakePlan, query: Mapping[str, str], limit: int, now: datetime) -> WarningPage:
    """Warnings in their own order."""
    page, following = _cut(plan.warnings, query, limit)
    return WarningPage(edition=plan.edition, warnings=tuple(page), next=following, as_of=now)


def export(plan: FakePlan) -> bytes:
    """The rows as CSV, through the escaper of the contract."""
    warned: dict[str, list[str]] = {}
    for warning in plan.warnings:
        warned.setdefault(warning.item, []).append(warning.kind)
    rows = (
        (
            plan.name,
            row.number,
            row.row.id,
            row.row.key,
            row.title,
            csv_text.Amount(row.amount.minor, row.amount.exponent),
            row.amount.currency,
            row.payee.name,
            row.payee.id,
            f"…{row.payee.account_last4}",
            " ".join(warned.get(row.row.id, ())),
            row.turn.value,
            row.attempts,
            row.sentence,
            row.reference,
            row.ended_at,
        )
        for row in plan.rows
    )
    return csv_text.MARK + csv_text.lines([HEADS, *rows])


def _searched(row: FakeRow) -> str:
    return " ".join((row.title, row.payee.name, row.payee.account_last4, row.row.key or "")).casefold()


def _order(plan: FakePlan, sort: str) -> Callable[[FakeRow], Any]:
    """The key of one order; Refusal INVALID_REQUEST."""
    if sort not in [each.value for each in PlanSort]:
        raise Refusal(ErrorCode.INVALID_REQUEST, f"{sort[:80]} is no order of a plan's rows.")
    warned = [each.item for each in plan.warnings]
    orders: Mapping[str, Callable[[FakeRow], Any]] = {
        "number": lambda row: row.number,
        "amount": lambda row: (row.amount.currency, -row.amount.minor, row.number),
        "payee": lambda row: (row.payee.name, row.number),
        "warnings": lambda row: (-warned.count(row.row.id), row.number),
        "turn": lambda row: (_TURNS.index(row.turn), row.number),
    }
    return orders[sort]


def _cut(rows: Sequence[T], query: Mapping[str, str], limit: int) -> tuple[Sequence[T], str | None]:
    if not 1 <= limit <= PLAN_PAGE_MOST:
        raise Refusal(ErrorCode.INVALID_REQUEST, f"limit is 1 to {PLAN_PAGE_MOST:,}.")
    cursor = query.get("cursor", "0")
    if not cursor.isdigit():
        raise Refusal(ErrorCode.CURSOR_INVALID, "The cursor does not belong to this listing.")
    begin = int(cursor)
    end = begin + limit
    return rows[begin:end], str(end) if end < len(rows) else None
