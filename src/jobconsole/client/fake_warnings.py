"""Owns what the fake service finds odd about the rows of a plan: what can be seen inside the set, and first payments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from jobconsole.client.fake_plan import FakePlan, FakeRow
from jobcontract.plans import PlanWarning
from jobcontract.states import Warned

PLACES = (
    Warned.ACCOUNT_CHANGED,
    Warned.PAID_BEFORE,
    Warned.SAME_HERE,
    Warned.LOOK_ALIKE,
    Warned.PAYEE_TWO_ACCOUNTS,
    Warned.ACCOUNT_TWO_PAYEES,
    Warned.AMOUNT_UNUSUAL,
    Warned.FIRST_PAYMENT,
    Warned.NEGATIVE,
)
"""Odd before ordinary."""


def found_in(plan: FakePlan, answer_above: Mapping[str, int]) -> list[PlanWarning]:
    """Every warning of a plan, in the order of its listing."""
    same = Counter((each.payee.account_last4, each.amount.currency, each.amount.minor) for each in plan.rows)
    found = [
        PlanWarning(
            id=f"w-{each.number}-{kind.value}",
            number=each.number,
            item=each.row.id,
            kind=kind,
            sentence=sentence,
            amount=each.amount,
            payee=each.payee,
            must_answer=abs(each.amount.minor) >= answer_above.get(each.amount.currency, 2**63),
            answer=None,
        )
        for each in plan.rows
        for kind, sentence in _of(each, same[each.payee.account_last4, each.amount.currency, each.amount.minor])
    ]
    return sorted(found, key=place)


def place(warning: PlanWarning) -> tuple[bool, int, int, int]:
    """Where a warning stands: to be answered first, then odd before ordinary, then most money first."""
    return not warning.must_answer, PLACES.index(warning.kind), -abs(warning.amount.minor), warning.number


def _of(each: FakeRow, equal: int) -> Iterator[tuple[Warned, str]]:
    if equal > 1:
        yield Warned.SAME_HERE, f"The same amount goes to the same account {equal} times in this plan."
    if each.amount.minor < 0:
        yield Warned.NEGATIVE, "It comes back: a credit."
    else:
        yield Warned.FIRST_PAYMENT, "The first payment to this account."
