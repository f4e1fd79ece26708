"""What comparing a payout with the outside world says: what would be paid twice, what is missing there, who is silent."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jobcontract.states import Turn
from jobservice.application import Outcome, done, refused
from jobservice.rules.reconciling import Payout, Verdict, compare

pytestmark = pytest.mark.requirement("MONEY-22")
OPEN = Payout(
    item="i", queue="q", title="Roof", key="K-1", minor=1_000, currency="GBP", last4="1234", released=False, turn=None
)
RELEASED = replace(OPEN, released=True, turn=Turn.DONE)
PAID, NO = done("Booked."), refused("No.")


@pytest.mark.parametrize(
    ("payout", "answer", "verdict"),
    [
        (OPEN, None, Verdict.AGREES),
        (OPEN, NO, Verdict.AGREES),
        (OPEN, PAID, Verdict.BOOKED_THERE),
        (replace(OPEN, turn=Turn.FAILED), PAID, Verdict.BOOKED_THERE),
        (replace(OPEN, turn=Turn.WAITING), PAID, Verdict.BOOKED_THERE),
        (replace(OPEN, turn=Turn.UNCERTAIN), PAID, Verdict.AGREES),
        (replace(OPEN, turn=Turn.RUNNING), PAID, Verdict.AGREES),
        (RELEASED, PAID, Verdict.AGREES),
        (RELEASED, None, Verdict.RELEASED_HERE),
        (RELEASED, NO, Verdict.RELEASED_HERE),
    ],
)
def test_the_two_sides_of_one_payout(payout: Payout, answer: Outcome | None, verdict: Verdict) -> None:
    assert compare(payout, answer, answered=True) is verdict
    assert compare(payout, answer, answered=False) is Verdict.UNANSWERED


@pytest.mark.requirement("MONEY-27")
def test_a_payout_is_told_with_its_amount_first() -> None:
    assert OPEN.told() == "GBP 10.00 to …1234, Roof (K-1)"
    assert replace(OPEN, key=None, minor=-5).told() == "−GBP 0.05 to …1234, Roof"
