"""Owns how a plan is written: its title with the time left, its totals, its lists, and what became of it. Pure.

Totals are told per currency, out, back and net, each with its count, and never cut or added up (MONEY.md 10, 27).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING

from jobconsole.present.amounts import doubtful
from jobconsole.present.columns import Line, Piece, Tone, fit, joined, plain, whole_pieces, width_of, wrap_pieces
from jobconsole.present.plan_rows import EXCLUDED
from jobconsole.present.times import countdown, short
from jobcontract.money import MINUS, sum_digits
from jobcontract.states import PlanSort, PlanState

if TYPE_CHECKING:
    from jobcontract.plans import ExclusionCount, Plan, PlanTotal

SOON_SECONDS = 60.0
"""With less than this left a plan is about to expire: symbol, word and colour change."""
WARNINGS_FIRST = "warnings"
"""The order in which those to answer are first; the other orders are the contract's."""
ORDERS: tuple[str, ...] = (PlanSort.NUMBER.value, PlanSort.AMOUNT.value, PlanSort.PAYEE.value, WARNINGS_FIRST)
ORDER_WORDS = {
    PlanSort.NUMBER.value: "by number",
    PlanSort.AMOUNT.value: "largest first",
    PlanSort.PAYEE.value: "by payee",
    WARNINGS_FIRST: "warnings first",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanSeen:
    """From where a plan is looked at, and how much of it was read and painted."""

    me: str
    now: datetime
    """By the service's clock."""
    zone: tzinfo
    checked: int = 0
    """Rows that went through the digest."""
    painted: int = 0
    """Rows that were on the screen so far."""


def counted(count: int, noun: str) -> str:
    """`1 item`, `1,204 items`."""
    return f"{count:,} {noun if count == 1 else noun + 's'}"


def noun_of(queue: str) -> str:
    """What one item of the queue is called: `payments.payouts` holds payouts."""
    return queue.rpartition(".")[2].replace("-", " ").removesuffix("s")


def seconds_left(plan: Plan, now: datetime) -> float:
    """Seconds that an open plan has left; not below zero."""
    return max(0.0, (plan.expires_at - now).total_seconds())


def state_now(plan: Plan, now: datetime) -> PlanState:
    """Where the plan stands by the service's time: an open one whose time is over has expired."""
    over = plan.state is PlanState.OPEN and plan.expires_at <= now
    return PlanState.EXPIRED if over else plan.state


# Title and totals


def plan_title(plan: Plan, seen: PlanSeen, width: int) -> Line:
    """`Release payouts · plan lark-42 · 42 items · valid 9:41 · 26 of 42 on screen so far`, in `width` cells."""
    items = Piece(counted(plan.count, "item"))
    shown = f"{seen.painted:,} of {plan.count:,}"
    valid = _validity(plan, seen)
    whole = [
        Piece(plan.title, Tone.STRONG),
        Piece(f"plan {plan.name}", Tone.STRONG),
        items,
        valid,
        Piece(f"{shown} on screen so far", Tone.QUIET),
    ]
    named = [whole[0], Piece(plan.name, Tone.STRONG), *whole[2:]]
    briefer = [*whole[1:4], Piece(f"{shown} on screen", Tone.QUIET)]
    briefest = [Piece(plan.name, Tone.STRONG), items, valid, Piece(f"{shown} seen", Tone.QUIET)]
    for pieces in (whole, named, briefer, briefest):
        if width_of(plain(joined(pieces))) <= width:
            return joined(pieces)
    return whole_pieces(briefest, width)


def _validity(plan: Plan, seen: PlanSeen) -> Piece:
    state = state_now(plan, seen.now)
    if state is not PlanState.OPEN:
        return Piece(state.value, Tone.GOOD if state is PlanState.DONE else Tone.WARN)
    seconds = seconds_left(plan, seen.now)
    if seconds < SOON_SECONDS:
        return Piece(f"▲ {countdown(seconds)} left", Tone.WARN)
    return Piece(f"valid {countdown(seconds)}")


def total_lines(plan: Plan, width: int, room: int) -> list[Line]:
    """Out, back and net of each currency with their counts, one currency a line where `room` allows, else joined.

    At the right of the first lines: how many payees, how many warnings wait for an answer.
    """
    asides = _asides(plan)
    if not plan.totals:
        return [(Piece("nothing goes out and nothing comes back", Tone.QUIET),)]
    if len(plan.totals) <= room:
        rows = _aligned(plan.totals)
        if max(width_of(plain(row)) for row in rows) <= width:
            return _with_asides(rows, asides, width)
    pieces = [Piece(short_total(total), Tone.STRONG) for total in plan.totals]
    brief = [Piece(brief_total(total), Tone.STRONG) for total in plan.totals]
    for told in ([*pieces, *asides], pieces, brief):
        lines = wrap_pieces(told, width)
        if len(lines) <= room:
            break
    return lines


def _asides(plan: Plan) -> list[Piece]:
    answer = Piece(f"▲ {plan.to_answer:,} to answer" if plan.to_answer else "", Tone.WARN)
    return [piece for piece in (Piece(counted(plan.payees, "payee"), Tone.QUIET), answer) if piece.text]


def _with_asides(rows: Sequence[Line], asides: Sequence[Piece], width: int) -> list[Line]:
    lines: list[Line] = []
    for at, row in enumerate(rows):
        aside = asides[at : at + 1] if at < len(rows) - 1 else asides[at:]
        text = joined(aside)
        gap = width - width_of(plain(row)) - width_of(plain(text))
        if text and gap < 2 and len(aside) > 1:
            text = joined(aside[-1:])
            gap = width - width_of(plain(row)) - width_of(plain(text))
        lines.append((*row, Piece(" " * gap), *text) if text and gap >= 2 else row)
    return lines


def _aligned(totals: Sequence[PlanTotal]) -> list[Line]:
    """`GBP  out 18,942.45 (38)  back 542.45 (2)  net 18,400.00` with the figures under each other."""
    cells = [
        (
            f"{sum_of(total, total.out_minor)} ({total.out_count:,})",
            f"{sum_of(total, total.back_minor)} ({total.back_count:,})" if total.back_count else "",
            sum_of(total, total.net_minor) if total.back_count else "",
        )
        for total in totals
    ]
    widths = [max(width_of(row[at]) for row in cells) for at in range(3)]
    lines: list[Line] = []
    for total, row in zip(totals, cells, strict=True):
        pieces = [Piece(total.currency, Tone.STRONG)]
        for word, text, width, tone in zip(
            ("out", "back", "net"), row, widths, (Tone.STRONG, Tone.CREDIT, Tone.STRONG), strict=True
        ):
            if width:
                pieces += [
                    Piece(f"  {word} " if text else " " * (len(word) + 3), Tone.QUIET),
                    Piece(fit(text, width, right=True), tone),
                ]
        lines.append(tuple(pieces))
    return lines


def short_total(total: PlanTotal) -> str:
    """`GBP out 18,942.45 back 542.45 net 18,400.00`; what does not occur is left out."""
    out = f" out {sum_of(total, total.out_minor)}" if total.out_count or not total.back_count else ""
    back = f" back {sum_of(total, total.back_minor)}" if total.back_count else ""
    net = f" net {sum_of(total, total.net_minor)}" if total.out_count and total.back_count else ""
    return f"{total.currency}{out}{back}{net}"


def brief_total(total: PlanTotal) -> str:
    """`GBP 18,942.45 −542.45`: what goes out, and after a minus sign what comes back."""
    out = f" {sum_of(total, total.out_minor)}" if total.out_count or not total.back_count else ""
    back = f" {MINUS}{sum_of(total, total.back_minor)}" if total.back_count else ""
    return f"{total.currency}{out}{back}"


def sum_of(total: PlanTotal, minor: int) -> str:
    """A sum of the currency's minor units; after a question mark where its decimals are in doubt."""
    if doubtful(total.currency, total.exponent) is not None:
        return f"?{minor:,}"
    return sum_digits(minor, total.currency)


# Lists, exclusions


@dataclass(frozen=True, slots=True, kw_only=True)
class ListsShown:
    """Which list of a plan has the keyboard, and what of the items is shown."""

    chosen: str
    """`items`, `warnings` or `excluded`."""
    order: str = PlanSort.NUMBER.value
    search: str = ""
    found: int = 0
    """How many rows a search leaves."""


def lists_line(plan: Plan, seen: PlanSeen, shown: ListsShown, width: int) -> Line:
    """`[42 items]  2 warnings  3 excluded  tab`: the lists, how the items are ordered, how much of them was read."""
    kept_out = sum(each.count for each in plan.excluded)
    words = [
        ("warnings", _warnings_words(plan)),
        ("items", counted(plan.count, "item")),
        ("excluded", f"{kept_out:,} excluded" if kept_out else ""),
    ]
    pieces: list[Piece] = []
    for name, text in words:
        if text:
            chosen = name == shown.chosen
            pieces += [Piece(f"[{text}]" if chosen else text, Tone.STRONG if chosen else Tone.QUIET), Piece("  ")]
    if sum(1 for _, text in words if text) > 1:
        pieces += [Piece("tab", Tone.MINE), Piece("  ")]
    notes = [Piece(text, Tone.QUIET) for text in _notes(plan, seen, shown)]
    return (*pieces, *whole_pieces(notes, width - width_of(plain(tuple(pieces)))))


def _warnings_words(plan: Plan) -> str:
    if not plan.warnings:
        return ""
    answer = f", {plan.to_answer:,} to answer" if plan.to_answer else ""
    return counted(plan.warnings, "warning") + answer


def _notes(plan: Plan, seen: PlanSeen, shown: ListsShown) -> list[str]:
    if shown.chosen == "excluded":
        return [excluded_summary(plan.excluded)]
    reading = f"checked {seen.checked:,} of {plan.count:,}" if seen.checked < plan.count else ""
    found = f"{shown.found:,} match “{shown.search}”" if shown.search else ""
    return [reading, found, ORDER_WORDS[shown.order] if shown.chosen == "items" else ""]


def excluded_summary(excluded: Iterable[ExclusionCount]) -> str:
    """`2 held by a colleague · 1 you pushed it yourself`."""
    return " · ".join(f"{each.count:,} {EXCLUDED.get(each.reason, each.reason.value)}" for each in excluded)


# What became of it


def state_lines(plan: Plan, seen: PlanSeen, unfit: str, anew: str) -> list[Line]:
    """What keeps the plan from being confirmed, or what became of it; nothing while it is open and sound.

    `unfit` is why its rows cannot be trusted; `anew` the key that makes a new plan of the same set.
    """
    if unfit:
        return [(Piece(f"✗ {unfit}", Tone.BAD),)]
    state = state_now(plan, seen.now)
    if state is PlanState.OPEN:
        return []
    words = _STATES[state]
    when = plan.ended_at or (plan.expires_at if state is PlanState.EXPIRED else None) or plan.confirmed_at
    at = f" at {short(when, seen.zone, seen.now)}" if when is not None else ""
    by = f" by {plan.ended_by.id}" if plan.ended_by is not None and plan.ended_by.id != seen.me else ""
    why = f": {plan.reason}" if plan.reason else "."
    told = f"{words}{at}{by}{why}"
    if not state.confirmed and plan.confirmed_at is None and plan.owner.id == seen.me:
        told = f"{told.rstrip('.')}. {anew} makes a new plan of the same set."
    tone = Tone.GOOD if state.confirmed or state is PlanState.DONE else Tone.WARN
    return [(Piece(("✓ " if tone is Tone.GOOD else "▲ ") + told, tone),)]


_STATES = {
    PlanState.OPEN: "",
    PlanState.ARMED: "Confirmed, and waiting before it starts, since",
    PlanState.APPLYING: "Confirmed and being applied, since",
    PlanState.PAUSED: "Paused",
    PlanState.DONE: "Every item had its turn",
    PlanState.ABORTED: "Aborted",
    PlanState.LAPSED: "Its apply window ended before every item had its turn",
    PlanState.DROPPED: "You gave this plan up",
    PlanState.VOIDED: "This plan was made void",
    PlanState.EXPIRED: "This plan expired, and its items are free again,",
}
