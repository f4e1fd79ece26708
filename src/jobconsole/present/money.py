"""Owns how money as a whole is written: whether it moves, what each person released, what the limits leave. Pure.

Currencies are never added up, figures never cut (MONEY.md 10, 27). Today is the day in UTC, and says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo
from fractions import Fraction
from typing import TYPE_CHECKING

from jobconsole.present.amounts import doubtful
from jobconsole.present.columns import Column, Line, Piece, Tone, joined, width_of
from jobconsole.present.times import short
from jobcontract.money import sum_digits
from jobcontract.states import PlanState

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from jobcontract.plans import Money, Plan, Released, Stop

SERVICE = "the service"
"""Who stopped money where no person of the tenant did."""
BAR_CELLS = 10
NEAR = 0.8
"""From this part of a limit on it is said that little is left."""
STATES: Mapping[PlanState, tuple[str, Tone]] = {
    PlanState.OPEN: ("○ open", Tone.FREE),
    PlanState.ARMED: ("◔ armed", Tone.WARN),
    PlanState.APPLYING: ("▶ applying", Tone.MINE),
    PlanState.PAUSED: ("‖ paused", Tone.WARN),
    PlanState.DONE: ("✓ done", Tone.GOOD),
    PlanState.ABORTED: ("✗ aborted", Tone.BAD),
    PlanState.LAPSED: ("✗ lapsed", Tone.BAD),
    PlanState.DROPPED: ("– dropped", Tone.QUIET),
    PlanState.VOIDED: ("– void", Tone.QUIET),
    PlanState.EXPIRED: ("– expired", Tone.QUIET),
}
"""Symbol and word of a plan's state, with its tone."""


def ended_count(plan: Plan) -> int:
    """How many of its items had their turn."""
    return sum(each.count for each in plan.account if each.turn.ended)


def own_plan_words(plans: Sequence[Plan]) -> str:
    """`▶ lark-42 29/42` of the first one, and how many more there are; empty where there is none."""
    if not plans:
        return ""
    plan, more = plans[0], f" +{len(plans) - 1}" if len(plans) > 1 else ""
    sign, _, word = STATES[plan.state][0].partition(" ")
    far = f"{ended_count(plan):,}/{plan.count:,}" if plan.state.confirmed else word
    return f"{sign} {plan.name} {far}{more}"


def stopped_words(stop: Stop, zone: tzinfo, now: datetime) -> str:
    """`money stopped by o.lind 12:04: drill`."""
    return (
        f"money stopped by {stop.by.id if stop.by is not None else SERVICE} {short(stop.at, zone, now)}: {stop.reason}"
    )


def switch_line(money: Money, zone: tzinfo, keys: Mapping[str, str]) -> Line:
    """Whether money moves; `keys` says the keys of `money.stop` and `money.start`."""
    if money.stopped is None:
        return joined([Piece("✓ money moves", Tone.GOOD), Piece(f"{keys['money.stop']} stops all of it", Tone.QUIET)])
    words = stopped_words(money.stopped, zone, money.as_of)
    again = f"{keys['money.start']} starts it again, with the code of another person"
    return joined([Piece(f"■ {words}", Tone.BAD), Piece(again, Tone.QUIET)])


def uncertain_line(count: int, key: str) -> Line:
    """How many payouts wait for a person to say whether they were paid; nothing where none does."""
    if not count:
        return (Piece("No payout is uncertain.", Tone.QUIET),)
    words = "1 payout is uncertain" if count == 1 else f"{count:,} payouts are uncertain"
    return (Piece(f"? {words}", Tone.WARN), Piece(f": nobody knows whether the bank paid. {key} → review"))


def day_words(now: datetime, zone: tzinfo) -> str:
    """Since when today is: a day of UTC, with what that is in the profile's zone."""
    start = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    there = start.astimezone(zone)
    here = f" = {there:%H:%M} {there.tzname()}" if there.utcoffset() else ""
    return f"Today is {start:%a %Y-%m-%d}, from 00:00Z{here}. 24 h counts what was confirmed, applied or not yet."


# What was released


def released_columns() -> tuple[Column, ...]:
    """The columns of what each person released today."""
    return (
        Column(id="person", label="person", least=8, most=24, yields=2),
        Column(id="today", label="today (UTC)", least=8, right=True, whole=True),
        Column(id="count", label="payouts", least=7, right=True, uncut=True, most=9, yields=1),
        Column(id="left", label="", least=10, yields=0),
    )


def released_cells(released: Released, *, mine: bool) -> Mapping[str, Piece]:
    """The cells of one person and currency; `mine`: it is who looks."""
    near = limit_part(released) >= NEAR
    return {
        "person": Piece(f"{released.person.id}{' (you)' if mine else ''}", Tone.MINE if mine else Tone.PLAIN),
        "today": Piece(f"{released.currency} {digits(released, released.today_minor)}", Tone.STRONG),
        "count": Piece(f"{released.today_count:,}"),
        "left": Piece("▲ near the limit" if near else "", Tone.WARN),
    }


def day_pieces(released: Released) -> Line:
    """The last 24 hours against the limits: `24 h ██▌░░░ GBP 18,942.45 of 200,000.00 · 29 of 500 payouts`."""
    amount = f"{released.currency} {digits(released, released.day_minor)}"
    if released.day_most_minor is None:
        limits = Piece("no limit is set", Tone.QUIET)
        return (Piece(f"24 h  {amount}"), Piece(_count(released.day_count, "payout")), limits)
    part, most = limit_part(released), digits(released, released.day_most_minor)
    tone = Tone.WARN if part >= NEAR else Tone.PLAIN
    counted = Piece(_count(released.day_count, "payout"))
    if released.day_most_count is not None:
        counted = Piece(f"{released.day_count:,} of {_count(released.day_most_count, 'payout')}")
    return (Piece(f"24 h {bar(part, BAR_CELLS)} {amount} of {most}", tone), counted)


def limit_part(released: Released) -> Fraction:
    """How much of the nearer of both limits is used, 0 to 1 and above, exactly."""
    parts = [
        Fraction(used, most)
        for used, most in (
            (released.day_minor, released.day_most_minor),
            (released.day_count, released.day_most_count),
        )
        if most
    ]
    return max(parts, default=Fraction(0))


def bar(part: float | Fraction, cells: int) -> str:
    """A bar of so many cells: never full before all is reached, never empty once something is."""
    filled = int(min(1.0, max(0.0, part)) * cells)
    filled = max(1, filled) if part > 0 else 0
    return "█" * filled + "░" * (cells - filled)


def digits(released: Released, minor: int) -> str:
    """A sum in the currency's own decimals; after a question mark its minor units, where those are in doubt."""
    if doubtful(released.currency, released.exponent) is not None:
        return f"?{minor:,}"
    return sum_digits(minor, released.currency)


def released_needs(rows: Iterable[Released]) -> dict[str, int]:
    """Widths that the columns need."""
    needs = {"person": 8, "today": 8, "count": 7}
    for each in rows:
        for column, piece in released_cells(each, mine=True).items():
            needs[column] = max(needs.get(column, 0), width_of(piece.text))
    return needs


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun if number == 1 else noun + 's'}"
