"""Owns how amounts, accounts and totals are written. Pure. Never cuts one, never adds two currencies.

An amount whose number of decimals differs between the service and this console's own ISO 4217 table is not written as
if it were sure: its minor units stand after a question mark.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from jobconsole.present.columns import Line, Piece, Tone, plain, width_of
from jobconsole.present.text import line
from jobcontract.money import EXPONENTS, MINUS, Money, show, sum_digits

if TYPE_CHECKING:
    from jobcontract.items import Amount, Payee
    from jobcontract.queues import QueueCurrencyTotal


def doubtful(currency: str, exponent: int) -> str | None:
    """Why the decimals of `currency` cannot be trusted, or None."""
    known = EXPONENTS.get(currency)
    if known is None:
        return f"this console does not know {currency}: the figure is in the service's smallest units"
    if known != exponent:
        return (
            f"the service counts {exponent} decimals for {currency}, this console {known}: the figure is in minor units"
        )
    return None


def amount_text(amount: Amount) -> str:
    """`GBP 90,126.13`, `−GBP 1,545.22`, `JPY 1,234`; `GBP?9,012,613` (minor units) where the decimals are in doubt."""
    if doubtful(amount.currency, amount.exponent) is not None:
        sign = MINUS if amount.minor < 0 else ""
        return f"{sign}{amount.currency}?{abs(amount.minor):,}"
    return show(Money(minor=amount.minor, currency=amount.currency))


def amount_piece(amount: Amount | None) -> Piece:
    """The amount as a cell; credits have a tone of their own besides their sign."""
    if amount is None:
        return Piece("–", Tone.QUIET)
    if doubtful(amount.currency, amount.exponent) is not None:
        return Piece(amount_text(amount), Tone.BAD)
    return Piece(amount_text(amount), Tone.CREDIT if amount.minor < 0 else Tone.STRONG)


def account_text(payee: Payee | None) -> str:
    """`…4471`: the last four characters of the destination account."""
    return f"…{line(payee.account_last4)[-4:]}" if payee is not None else ""


def total_text(total: QueueCurrencyTotal) -> str:
    """`GBP out 2,318,440.17 back 9,102.33`; what does not occur is left out."""
    if doubtful(total.currency, total.exponent) is not None:
        out, back = f"?{total.out_minor:,}", f"?{total.back_minor:,}"
    else:
        out = sum_digits(total.out_minor, total.currency)
        back = sum_digits(total.back_minor, total.currency)
    parts = [f"out {out}"] if total.out_count or not total.back_count else []
    return " ".join([total.currency, *parts, *([f"back {back}"] if total.back_count else [])])


def totals_line(totals: Sequence[QueueCurrencyTotal], width: int) -> Line:
    """As many whole totals as fit in `width` cells, the rest counted; never a cut figure (MONEY.md 27)."""
    texts = [total_text(total) for total in totals]
    for shown in range(len(texts), -1, -1):
        for rest in _rests(len(texts) - shown, alone=not shown):
            text = " · ".join([*texts[:shown], *rest])
            if width_of(text) <= width:
                return (Piece(text),) if text else ()
    return ()


def _rests(count: int, *, alone: bool) -> Sequence[Sequence[str]]:
    """How what does not fit is counted, the longer way first."""
    if not count:
        return [[]]
    if alone:
        return [[f"{count} {'currency' if count == 1 else 'currencies'}"]]
    return [[f"+{count} more"], [f"+{count}"]]


def totals_text(totals: Sequence[QueueCurrencyTotal], width: int) -> str:
    """`totals_line` as text alone."""
    return plain(totals_line(totals, width))
