"""Owns the words of notices about plans and the money switch: what people are told outside the console (MONEY.md 14,
20). Words in, words out; never a code, a digest or any part of an account.
"""

from __future__ import annotations

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


def plan_confirmed(plan: Plan, *, freed: bool) -> Words:
    """To whoever confirmed: how many, what goes out, the largest, how to stop it. `freed`: by the setting for singles."""
    out = [f"  {amount(each.out_minor, each.currency)} in {each.out_count:,}" for each in plan.totals if each.out_count]
    largest = [
        f"  {amount(each.amount.minor, each.amount.currency)} to {_plain(each.payee.name)}" for each in plan.largest
    ]
    begins = "It starts now." if plan.armed_until is None else f"It starts at {_at(plan.armed_until)}."
    how = "the code from your phone"
    if freed or plan.confirm_by is None:
        how = "no code: the setting for single releases frees it" if freed else "no code: it moves no money"
    return Words(
        kind="plan-confirmed",
        subject=f"You confirmed {plan.name}: {_items(plan.count)}, {_gross(plan)}",
        text=_lines(
            f"{plan.title} in {plan.tenant}: plan {plan.name} was confirmed in your name, with {how}.",
            f"{_items(plan.count)}. Going out:" if out else f"{_items(plan.count)}. Nothing goes out.",
            *out,
            *(["Largest:", *largest] if largest else []),
            begins,
            "If that was not you, stop it now; anybody in finance or operations can:",
            f"  jobconsole bulk abort {plan.name} --reason REASON",
            "  jobconsole money stop --reason REASON",
            "Then have your token revoked.",
        ),
    )


def plan_steered(plan: Plan, *, what: str, by: str, reason: str | None) -> Words:
    """To the owner of a plan that somebody else paused, resumed or aborted (`what`)."""
    return Words(
        kind=f"plan-{what}",
        subject=f"Plan {plan.name} was {what} by {by}",
        text=_lines(
            f"{plan.title} in {plan.tenant}: plan {plan.name} was {what} by {by}.",
            *([] if reason is None else [f"Reason: {_plain(reason)}"]),
            f"It has {_items(plan.count)}; how far it is: jobconsole bulk show {plan.name}.",
        ),
    )


def money_stopped(tenant: str, *, by: str, reason: str, at: datetime) -> Words:
    """To those who watch over money: nothing goes out any more."""
    return Words(
        kind="money-stopped",
        subject=f"Money of {tenant} is stopped",
        text=_lines(
            f"{by} stopped all money of {tenant} at {_at(at)}.",
            f"Reason: {_plain(reason)}",
            "Nothing goes out until another person in finance starts it again with a code: jobconsole money start --reason REASON.",
        ),
    )


def money_started(tenant: str, *, by: str, reason: str, at: datetime) -> Words:
    """To those who watch over money: it moves again."""
    return Words(
        kind="money-started",
        subject=f"Money of {tenant} moves again",
        text=_lines(
            f"{by} let money of {tenant} move again at {_at(at)}.",
            f"Reason: {_plain(reason)}",
            "If that is not right, stop it: jobconsole money stop --reason REASON.",
        ),
    )


def _gross(plan: Plan) -> str:
    return " + ".join(amount(each.out_minor, each.currency) for each in plan.totals if each.out_count) or "nothing out"


def _plain(text: str) -> str:
    """Without control characters: what people wrote adds no line to a notice."""
    return "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in text)


def _items(count: int) -> str:
    return "1 item" if count == 1 else f"{count:,} items"


def _at(instant: datetime) -> str:
    return f"{instant:%Y-%m-%d %H:%M:%S} UTC"


def _lines(*lines: str) -> str:
    return "\n".join(lines) + "\n"
