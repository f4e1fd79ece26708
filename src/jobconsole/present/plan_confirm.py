"""Owns the words in which a plan is confirmed: what is released to whom, the button that says so, the code, and what
the service answered. Pure. The act is named by what it does and by its amounts, never "OK".
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING

from jobconsole.present.amounts import account_text, amount_text
from jobconsole.present.columns import Line, Piece, Tone, joined, width_of
from jobconsole.present.frozen_changes import change_lines
from jobconsole.present.plans import counted, noun_of, seconds_left, sum_of
from jobconsole.present.times import countdown, short
from jobcontract.money import MINUS

if TYPE_CHECKING:
    from jobcontract.plans import CodeStanding, Plan, PlanChange, PlanTotal

CODE_DIGITS = 6
"""Of every code (RFC 6238 as the service has it)."""


def confirm_title(plan: Plan) -> str:
    """`Release 42 payouts to 37 payees`."""
    what = f"{plan.use_case_title} {counted(plan.count, noun_of(plan.queue))}"
    return f"{what} to {counted(plan.payees, 'payee')}" if plan.payees else what


def confirm_label(plan: Plan, width: int) -> str:
    """`Release GBP 18,942.45 + USD 1,220.50`; currencies that find no room are counted, no figure is cut."""
    texts = [_moved(total) for total in plan.totals]
    if not texts:
        return confirm_title(plan)
    for shown in range(len(texts), 0, -1):
        rest = len(texts) - shown
        currencies = f"{rest} more {'currency' if rest == 1 else 'currencies'}"
        for more in ([currencies], [f"{rest} more"]) if rest else ([],):
            label = f"{plan.use_case_title} {' + '.join([*texts[:shown], *more])}"
            if width_of(label) <= width:
                return label
    return confirm_title(plan)


def _moved(total: PlanTotal) -> str:
    if total.out_count or not total.back_count:
        return f"{total.currency} {sum_of(total, total.out_minor)}"
    return f"{MINUS}{total.currency} {sum_of(total, total.back_minor)}"


def confirm_lines(plan: Plan, now: datetime) -> list[Line]:
    """What is confirmed: each currency, the largest amount of each, how long the plan stays valid."""
    lines: list[Line] = [_total_line(total) for total in plan.totals]
    for largest in plan.largest:
        amount, payee = largest.amount, largest.payee
        told = Piece(f"{amount_text(amount)}", Tone.STRONG)
        lines.append(
            (Piece("largest: ", Tone.QUIET), told, Piece(f"  {account_text(payee)}  ", Tone.QUIET), Piece(payee.name))
        )
    left = seconds_left(plan, now)
    lines.append((Piece(f"plan {plan.name}, valid {countdown(left)}", Tone.QUIET if left else Tone.WARN),))
    return lines


def _total_line(total: PlanTotal) -> Line:
    out = f"out {sum_of(total, total.out_minor)} in {total.out_count:,}"
    back = f"back {sum_of(total, total.back_minor)} in {total.back_count:,}" if total.back_count else ""
    net = f"net {sum_of(total, total.net_minor)}" if total.back_count else ""
    told = joined([Piece(out, Tone.STRONG), Piece(back, Tone.CREDIT), Piece(net, Tone.STRONG)])
    return (Piece(f"{total.currency}  ", Tone.STRONG), *told)


def read_code(typed: str) -> str:
    """The six digits of what was typed; ValueError with what is wrong. Blanks are forgiven, a leading zero counts."""
    digits = typed.replace(" ", "")
    if not digits:
        return _fault("Type the six digits from your phone.")
    if not digits.isascii() or not digits.isdigit():
        return _fault("A code is six digits; something else is among them.")
    if len(digits) != CODE_DIGITS:
        return _fault(f"A code has six digits; {'this one has' if len(digits) > 1 else 'that is'} {len(digits)}.")
    return digits


def _fault(sentence: str) -> str:
    raise ValueError(sentence)


def tries_piece(standing: CodeStanding | None, now: datetime) -> Piece:
    """`5 tries left`; `locked 14:59`; empty while it is not known."""
    if standing is None:
        return Piece("")
    if not standing.enrolled:
        return Piece("no phone enrolled", Tone.BAD)
    if standing.locked_for_good:
        return Piece("locked", Tone.BAD)
    for until, word in ((standing.locked_until, "locked"), (standing.rests_until, "rests")):
        if until is not None and until > now:
            return Piece(f"{word} {countdown((until - now).total_seconds())}", Tone.BAD)
    tone = Tone.QUIET if standing.tries_left > 2 else Tone.WARN
    return Piece(tries(standing.tries_left), tone)


def tries(left: int) -> str:
    """`4 tries left`, `1 try left`."""
    return f"{left} {'try' if left == 1 else 'tries'} left"


def standing_sentence(standing: CodeStanding | None, me: str, zone: tzinfo, now: datetime) -> str:
    """Why the person cannot give a code now, and what to do; empty where they can."""
    if standing is None:
        return ""
    if not standing.enrolled:
        return f"No phone can confirm for you yet. Whoever runs the service enrols one: jobservice totp enrol {me}"
    if standing.locked_for_good:
        return f"Too many wrong codes. Whoever runs the service unlocks it: jobservice totp unlock {me}"
    if standing.locked_until is not None and standing.locked_until > now:
        return f"Too many wrong codes: none counts before {short(standing.locked_until, zone, now)}."
    if standing.rests_until is not None and standing.rests_until > now:
        return f"Your phone was enrolled lately: it confirms nothing before {short(standing.rests_until, zone, now)}."
    return ""


def plan_change_lines(changes: Sequence[PlanChange], anew: str) -> list[Line]:
    """What changed since the plan was frozen."""
    return change_lines(changes, "the plan", f"Nothing was released. {anew} makes a new plan of the same set.")
