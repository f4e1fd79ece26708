"""Owns the words of notices about plans and the money switch: what people are told outside the console (MONEY.md 14,
20). Words in, words out; never a code, a digest or any part of an account.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from jobcontract.plans import Plan
from jobservice.rules.limits import amount


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """Subject and text of a notice, and its kind."""

    kind: str
    subject: str
    text: str


def plan_confirmed(plan: Plan, *, by_code: bool) -> Words:
    """To whoever confirmed: how many, what goes out, the largest, how to stop it."""
    out = [f"  {amount(each.out_minor, each.currency)} in {each.out_count:,}" for each in plan.totals]
    largest = [f"  {amount(each.amount.minor, each.amount.currency)} to {each.payee.name}" for each in plan.largest]
    begins = "It starts now." if plan.armed_until is None else f"It starts at {_at(plan.armed_until)}."
    how = "the code from your phone" if by_code else "no code: the setting for single releases frees it"
    return Words(
        kind="plan-confirmed",
        subject=f"You confirmed {plan.name}: {_items(plan.count)}, {_gross(plan)}",
        text=_lines(
            f"{plan.title} in {plan.tenant}: plan {plan.name} was confirmed in your name, with {how}.",
            f"{_items(plan.count)}. Going out:",
            *out,
            "Largest:",
            *largest,
            begins,
            "If that was not you, stop it now: jobconsole money stop, or jobconsole plan abort " + plan.name + ";",
            "anybody in finance or operations can. Then have your token revoked.",
        ),
    )


def plan_steered(plan: Plan, *, what: str, by: str, reason: str | None) -> Words:
    """To the owner of a plan that somebody else paused, resumed or aborted (`what`)."""
    return Words(
        kind=f"plan-{what}",
        subject=f"Plan {plan.name} was {what} by {by}",
        text=_lines(
            f"{plan.title} in {plan.tenant}: plan {plan.name} was {what} by {by}.",
            *([] if reason is None else [f"Reason: {reason}"]),
            f"It has {_items(plan.count)}; how far it is: jobconsole plan show {plan.name}.",
        ),
    )


def money_stopped(tenant: str, *, by: str, reason: str, at: datetime) -> Words:
    """To those who watch over money: nothing goes out any more."""
    return Words(
        kind="money-stopped",
        subject=f"Money of {tenant} is stopped",
        text=_lines(
            f"{by} stopped all money of {tenant} at {_at(at)}.",
            f"Reason: {reason}",
            "Nothing goes out until another person in finance starts it again with a code: jobconsole money start.",
        ),
    )


def money_started(tenant: str, *, by: str, reason: str, at: datetime) -> Words:
    """To those who watch over money: it moves again."""
    return Words(
        kind="money-started",
        subject=f"Money of {tenant} moves again",
        text=_lines(
            f"{by} let money of {tenant} move again at {_at(at)}.",
            f"Reason: {reason}",
            "If that is not right, stop it: jobconsole money stop.",
        ),
    )


def _gross(plan: Plan) -> str:
    return " + ".join(amount(each.out_minor, each.currency) for each in plan.totals if each.out_count) or "nothing out"


def _items(count: int) -> str:
    return "1 item" if count == 1 else f"{count:,} items"


def _at(instant: datetime) -> str:
    return f"{instant:%Y-%m-%d %H:%M:%S} UTC"


def _lines(*lines: str) -> str:
    said: Sequence[str] = lines
    return "\n".join(said) + "\n"
