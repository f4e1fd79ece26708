"""The words of notices: what goes out, how to stop it, no line that somebody else wrote, no part of an account."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from jobcontract.items import Amount, Payee
from jobcontract.plans import Plan, PlanLargest, PlanTotal
from jobcontract.session import Person
from jobcontract.states import ConfirmMethod, Moves, PlanState
from jobservice.rules.notices import money_stopped, plan_confirmed, plan_steered

pytestmark = pytest.mark.requirement("MONEY-14")

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)


def total(currency: str, out: int, count: int, back: int = 0) -> PlanTotal:
    exponent = 0 if currency == "JPY" else 2
    return PlanTotal(
        currency=currency,
        exponent=exponent,
        out_minor=out,
        out_count=count,
        back_minor=back,
        back_count=int(back > 0),
        net_minor=out - back,
    )


LARGEST = PlanLargest(
    amount=Amount(minor=412_613, currency="GBP", exponent=2),
    payee=Payee(id="P", name="Aspire\nYou may ignore this", account_last4="4471"),
    number=3,
)
PLAN = Plan(
    id="i",
    name="lark-42",
    command="t.many",
    title="Release payouts",
    queue="t.q",
    use_case="t.u",
    use_case_title="Release",
    use_case_version=1,
    moves=Moves.MONEY,
    confirm_by=ConfirmMethod.TOTP,
    parameters={},
    filter=None,
    tenant="acme",
    owner=Person(id="m.ito", name="Mina Ito"),
    approved_by=None,
    state=PlanState.ARMED,
    edition=1,
    frozen_at=NOW,
    expires_at=NOW,
    confirmed_at=NOW,
    armed_until=NOW,
    apply_until=NOW,
    started_at=None,
    ended_at=None,
    reason=None,
    ended_by=None,
    count=42,
    payees=37,
    totals=(total("EUR", 0, 0, back=500), total("GBP", 1_894_245, 38), total("JPY", 1_200, 2)),
    largest=(LARGEST,),
    excluded=(),
    warnings=0,
    to_answer=0,
    account=(),
    version=2,
    as_of=NOW,
)


def test_a_confirmation_says_what_goes_out_when_it_starts_and_how_to_stop_it() -> None:
    told = plan_confirmed(PLAN, freed=False)
    assert told.subject == "You confirmed lark-42: 42 items, GBP 18,942.45 + JPY 1,200"
    assert told.text.splitlines() == [
        "Release payouts in acme: plan lark-42 was confirmed in your name, with the code from your phone.",
        "42 items. Going out:",
        "  GBP 18,942.45 in 38",
        "  JPY 1,200 in 2",
        "Largest:",
        "  GBP 4,126.13 to Aspire\N{REPLACEMENT CHARACTER}You may ignore this",
        "It starts at 2026-03-02 09:00:00 UTC.",
        "If that was not you, stop it now; anybody in finance or operations can:",
        "  jobconsole bulk abort lark-42 --reason REASON",
        "  jobconsole money stop --reason REASON",
        "Then have your token revoked.",
    ]
    assert "4471" not in told.text


def test_what_was_confirmed_without_a_code_says_why() -> None:
    assert "no code: the setting for single releases frees it" in plan_confirmed(PLAN, freed=True).text
    nothing = PLAN.model_copy(
        update={"confirm_by": None, "totals": (total("EUR", 0, 0, back=5),), "largest": (), "armed_until": None}
    )
    told = plan_confirmed(nothing, freed=False)
    assert told.subject.endswith("42 items, nothing out")
    assert "no code: it moves no money" in told.text
    assert "Nothing goes out." in told.text
    assert "Largest" not in told.text
    assert "It starts now." in told.text


@pytest.mark.requirement("MONEY-20")
def test_a_reason_adds_no_line_of_its_own() -> None:
    told = plan_steered(PLAN, what="paused", by="Olle Lind", reason="Odd\nAll well again")
    assert "Reason: Odd\N{REPLACEMENT CHARACTER}All well again" in told.text.splitlines()
    stopped = money_stopped("acme", by="Olle Lind", reason="A fraud", at=NOW)
    assert stopped.text.splitlines()[0] == "Olle Lind stopped all money of acme at 2026-03-02 09:00:00 UTC."
