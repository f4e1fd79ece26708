"""Owns plain aligned text about plans and money for the headless twins. Pure; never cuts a value.

Amount, sign, currency and last four stand before the name (MONEY.md 27); each currency has a line of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import tzinfo

from jobconsole.present.amounts import account_text, amount_text, doubtful
from jobconsole.present.plain import pairs, table
from jobconsole.present.text import line
from jobconsole.present.times import local
from jobcontract.money import sum_digits
from jobcontract.plans import (
    CodeStanding,
    ExcludedItem,
    Money,
    Plan,
    PlanItem,
    PlanTotal,
    PlanWarning,
    Released,
    Settled,
    TurnAccount,
)

_NUMBERS = (1, 2, 3, 4, 5)


def plan_lines(plan: Plan, zone: tzinfo) -> list[str]:
    """A plan without its rows: what it is, where it stands, what goes out and comes back."""
    head = pairs(
        (
            ("plan", f"{plan.name} ({plan.id})"),
            ("what", plan.title),
            ("state", _state(plan, zone)),
            ("queue", plan.queue),
            ("filter", None if plan.filter is None else plan.filter or "all that wait"),
            ("owner", f"{plan.owner.id} ({plan.owner.name})"),
            ("frozen", local(plan.frozen_at, zone)),
            ("items", f"{plan.count:,} to {_count(plan.payees, 'payee')}"),
            *(
                ("largest", f"{amount_text(each.amount)} {account_text(each.payee)} {each.payee.name}")
                for each in plan.largest
            ),
            ("excluded", _excluded(plan)),
            ("warnings", _warned(plan)),
        )
    )
    account = ["", *account_lines(plan.account)] if plan.account else []
    return [*head, "", *totals_lines(plan.totals), *account]


def totals_lines(totals: Sequence[PlanTotal]) -> list[str]:
    """Out, back and net of each currency, each with its count, to the right."""
    rows = (
        (
            total.currency,
            _sum(total, total.out_minor),
            f"{total.out_count:,}",
            _sum(total, total.back_minor),
            f"{total.back_count:,}",
            _sum(total, total.net_minor),
        )
        for total in totals
    )
    return table(("currency", "out", "items", "back", "items", "net"), rows, right=_NUMBERS)


def account_lines(account: Sequence[TurnAccount]) -> list[str]:
    """How far the items are: each planned item is in one of these lines, by currency."""
    rows = (
        (
            turn.turn,
            f"{total.out_count + total.back_count:,}",
            total.currency,
            _sum(total, total.out_minor),
            _sum(total, total.back_minor),
        )
        for turn in account
        for total in turn.totals
    )
    return table(("turn", "items", "currency", "out", "back"), rows, right=(1, 3, 4))


def progress_line(plan: Plan) -> str:
    """How far a plan is, on one line."""
    counts = {turn.turn: turn.count for turn in plan.account}
    ended = sum(count for turn, count in counts.items() if turn.ended)
    parts = " · ".join(f"{turn} {count:,}" for turn, count in counts.items())
    return line(f"{plan.name} {plan.state}: {ended:,} of {plan.count:,}" + (f" · {parts}" if parts else ""))


def plans_lines(plans: Sequence[Plan], zone: tzinfo) -> list[str]:
    """One line a plan, live ones first."""
    rows = (
        (
            plan.name,
            plan.state,
            plan.owner.id,
            f"{plan.count:,}",
            ", ".join(f"{total.currency} {_sum(total, total.out_minor)}" for total in plan.totals),
            plan.title,
            local(plan.frozen_at, zone),
            plan.id,
        )
        for plan in plans
    )
    return table(("name", "state", "owner", "items", "out", "what", "frozen", "plan"), rows, right=(3, 4))


def items_lines(items: Iterable[PlanItem]) -> list[str]:
    """One line a row, in the order of their numbers."""
    rows = (
        (
            f"{row.number:,}",
            amount_text(row.amount),
            account_text(row.payee),
            row.payee.name,
            row.title,
            row.key or "",
            row.turn,
            row.reference or "",
            row.sentence or "",
            ", ".join(row.warnings),
        )
        for row in items
    )
    heads = ("row", "amount", "account", "payee", "title", "key", "turn", "reference", "how it ended", "warnings")
    return table(heads, rows, right=(0, 1))


def exclusions_lines(items: Iterable[ExcludedItem]) -> list[str]:
    """One line an item that is not in the plan."""
    rows = (
        (
            amount_text(row.amount) if row.amount is not None else "",
            account_text(row.payee),
            row.payee.name if row.payee is not None else "",
            row.reason,
            row.sentence,
            row.item,
        )
        for row in items
    )
    return table(("amount", "account", "payee", "excluded", "why", "item"), rows, right=(0,))


def warnings_lines(warnings: Iterable[PlanWarning]) -> list[str]:
    """One line a warning: those to answer first, with the id that an answer names."""
    rows = (
        (
            amount_text(each.amount),
            account_text(each.payee),
            each.payee.name,
            f"{each.number:,}",
            each.kind,
            each.sentence,
            _answer(each),
            each.id,
        )
        for each in warnings
    )
    return table(("amount", "account", "payee", "row", "odd", "what", "answer", "warning"), rows, right=(0, 3))


def money_lines(money: Money, zone: tzinfo) -> list[str]:
    """Whether money moves, and what each person released."""
    stop = money.stopped
    state = "moves"
    if stop is not None:
        by = f"{stop.by.name} ({stop.by.id})" if stop.by is not None else "the service"
        state = f"stopped by {by}, {local(stop.at, zone)}: {stop.reason}"
    head = pairs((("money", state), ("uncertain", f"{_count(money.uncertain, 'payout')}")))
    if not money.released:
        return head
    rows = (
        (
            each.person.id,
            each.currency,
            _released(each, each.today_minor),
            f"{each.today_count:,}",
            _released(each, each.day_minor),
            f"{each.day_count:,}",
            "" if each.day_most_minor is None else _released(each, each.day_most_minor),
        )
        for each in money.released
    )
    heads = ("person", "currency", "today", "items", "24 hours", "items", "at most")
    return [*head, "", *table(heads, rows, right=(2, 3, 4, 5, 6))]


def settled_lines(settled: Settled) -> list[str]:
    """What became of an uncertain payout."""
    return pairs((("payout", settled.item), ("turn", settled.turn), ("how", settled.sentence)))


def standing_text(standing: CodeStanding, zone: tzinfo) -> str | None:
    """Why no code of the person is taken now; None where one is."""
    if not standing.enrolled:
        return "No phone of yours is enrolled: have it done on the server (jobservice totp enrol)."
    if standing.locked_for_good:
        return "Too many wrong codes: no code is taken until it is unlocked on the server (jobservice totp unlock)."
    if standing.locked_until is not None:
        return f"Too many wrong codes: no code is taken before {local(standing.locked_until, zone)}."
    if standing.rests_until is not None:
        return f"Your phone was enrolled a short time ago: its codes count from {local(standing.rests_until, zone)} on."
    return None


def _state(plan: Plan, zone: tzinfo) -> str:
    until = {
        "open": f", valid until {local(plan.expires_at, zone)}",
        "armed": f", starts {local(plan.armed_until, zone)}" if plan.armed_until is not None else "",
        "applying": f", until {local(plan.apply_until, zone)}" if plan.apply_until is not None else "",
    }.get(plan.state.value, "")
    by = f" by {plan.ended_by.name}" if plan.ended_by is not None else ""
    return f"{plan.state}{until}{by}{f': {plan.reason}' if plan.reason else ''}"


def _excluded(plan: Plan) -> str:
    total = sum(each.count for each in plan.excluded)
    if not total:
        return "none"
    return f"{total:,}: " + " · ".join(f"{each.count:,} {each.reason}" for each in plan.excluded)


def _warned(plan: Plan) -> str:
    answer = f", {plan.to_answer:,} to answer before it can be confirmed" if plan.to_answer else ""
    return f"{plan.warnings:,}{answer}" if plan.warnings else "none"


def _answer(warning: PlanWarning) -> str:
    if warning.answer is not None:
        return f"kept: {warning.answer}"
    return "to be answered" if warning.must_answer else ""


def _sum(total: PlanTotal, minor: int) -> str:
    return _digits(minor, total.currency, total.exponent)


def _released(released: Released, minor: int) -> str:
    return _digits(minor, released.currency, released.exponent)


def _digits(minor: int, currency: str, exponent: int) -> str:
    """The digits; after a question mark the minor units, where the decimals are in doubt."""
    return f"?{minor:,}" if doubtful(currency, exponent) is not None else sum_digits(minor, currency)


def _count(number: int, unit: str) -> str:
    return f"{number:,} {unit}" if number == 1 else f"{number:,} {unit}s"
