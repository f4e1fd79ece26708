"""Owns how payouts and disputes of the example are scored: one function a rule record, one part an input.

Pure: amounts are compared with thresholds of their own currency, which the records state; nothing is converted.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from examples.payments.register import Invoice
from jobcontract.money import Money, digits, show
from jobservice.application import Application, Part, Score, ScoreInputs, score_of

CREDIT_NOTE = "credit note"
"""What stands for a payout that comes back, and for the evidence of its dispute."""


def release_score(inputs: ScoreInputs, now: datetime) -> Score:
    """How soon a payout should be released or rejected: large, old and without an invoice first."""
    return score_of(
        _payout(inputs.money("amount"), inputs),
        _age(inputs.since("age"), now, a_day=4, most=8),
        _invoice(inputs.values["invoice"]),
    )


def urgency_score(inputs: ScoreInputs, now: datetime) -> Score:
    """How soon a dispute should be answered: large either way, old and without evidence first."""
    money = inputs.money("amount")
    points, words = _size(money, _steps(inputs, ("small", 20), ("large", 30)), least=10)
    return score_of(
        Part(input="amount", shown=show(money), points=points, words=words),
        _age(inputs.since("age"), now, a_day=7, most=7),
        _evidence(inputs.values["evidence"]),
    )


def register(application: Application) -> None:
    """Register each function as the version of the rule record that it follows."""
    application.rule("payout.release-score", version=3)(release_score)
    application.rule("dispute.urgency-score", version=1)(urgency_score)


def _payout(money: Money, inputs: ScoreInputs) -> Part:
    if money.credit:
        return Part(input="amount", shown=CREDIT_NOTE, points=4, words="money that comes back can wait")
    points, words = _size(money, _steps(inputs, ("small", 24), ("large", 36), ("largest", 48)), least=12)
    return Part(input="amount", shown=show(money), points=points, words=words)


def _steps(inputs: ScoreInputs, *steps: tuple[str, int]) -> Sequence[tuple[Money, int]]:
    """The threshold of each name with its points, the smallest first."""
    return [(inputs.thresholds[name], points) for name, points in steps]


def _size(money: Money, steps: Sequence[tuple[Money, int]], *, least: int) -> tuple[int, str]:
    """Whole points, rising evenly from `least` at nothing to those of each threshold; and why. Sign does not count."""
    amount, below, fewer, lower = abs(money.minor), 0, least, ""
    for threshold, points in steps:
        if amount <= threshold.minor:
            reached = fewer + (points - fewer) * (amount - below) // (threshold.minor - below)
            return reached, f"{lower or 'up'} to {_short(threshold)}"
        below, fewer, lower = threshold.minor, points, _short(threshold)
    return fewer, f"over {lower} counts most"


def _short(money: Money) -> str:
    """The digits of a threshold, decimals only where they are not all zero."""
    whole, _, part = digits(money).partition(".")
    return digits(money) if part.strip("0") else whole


def _age(since: datetime, now: datetime, *, a_day: int, most: int) -> Part:
    """Whole days; an item dated ahead has age 0."""
    days = max((now - since) // timedelta(days=1), 0)
    shown = "under 1 day old" if days == 0 else f"{days:,} {'day' if days == 1 else 'days'} old"
    words = f"{a_day} a day, at most {most} days"
    return Part(input="age", shown=shown, points=a_day * min(days, most), words=words)


def _invoice(value: object) -> Part:
    """Anything but `on-file` counts as no invoice: an unknown word must not hide a payout down the list."""
    if value == Invoice.ON_FILE:
        return Part(input="invoice", shown="invoice on file", points=0, words="nothing is missing")
    words = "none on file" if value == Invoice.MISSING else "neither on-file nor missing: counts as none"
    return Part(input="invoice", shown="no invoice", points=20, words=words)


def _evidence(value: object) -> Part:
    """What was given as evidence is told by the item itself; here only whether there is any."""
    if value == CREDIT_NOTE:
        return Part(input="evidence", shown="credit note", points=10, words="a credit note is not yet an answer")
    if value == Invoice.MISSING or not str(value or "").strip():
        return Part(input="evidence", shown="evidence missing", points=20, words="nothing to decide by yet")
    return Part(input="evidence", shown="evidence on file", points=0, words="there is something to decide by")
