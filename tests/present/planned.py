"""Owns sample plans of the wire for tests of presenters."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

from jobconsole.client.plan_rows import PlanRow
from jobconsole.present.plans import PlanSeen
from jobcontract.items import Payee
from jobcontract.money import exponent
from jobcontract.plans import CodeStanding, Plan, PlanLargest, PlanTotal, PlanWarning
from jobcontract.states import ConfirmMethod, Moves, PlanState, Warned
from tests.present.samples import ME, NOW, amount

ASPIRE = Payee(id="s-4403", name="Aspire Care Ltd", account_last4="4471")


def plan_total(currency: str, out: int, count: int, back: int = 0, back_count: int = 0) -> PlanTotal:
    """The totals of one currency."""
    return PlanTotal(
        currency=currency,
        exponent=exponent(currency),
        out_minor=out,
        out_count=count,
        back_minor=back,
        back_count=back_count,
        net_minor=out - back,
    )


def plan(**changes: Any) -> Plan:
    """The plan of the sketch: 42 payouts to 37 payees in two currencies, 581 seconds left."""
    fields: dict[str, Any] = {
        "id": "f0000000-0000-0000-0000-000000000000",
        "name": "lark-42",
        "command": "payments.release-many",
        "title": "Release payouts",
        "queue": "payments.payouts",
        "use_case": "payments.release",
        "use_case_title": "Release",
        "use_case_version": 1,
        "moves": Moves.MONEY,
        "confirm_by": ConfirmMethod.TOTP,
        "parameters": {},
        "filter": "",
        "tenant": "acme",
        "owner": ME,
        "approved_by": None,
        "state": PlanState.OPEN,
        "edition": 1,
        "frozen_at": NOW,
        "expires_at": NOW + timedelta(seconds=581),
        "confirmed_at": None,
        "armed_until": None,
        "apply_until": None,
        "started_at": None,
        "ended_at": None,
        "reason": None,
        "ended_by": None,
        "count": 42,
        "payees": 37,
        "totals": (plan_total("GBP", 1_894_245, 38, 54_245, 2), plan_total("USD", 122_050, 2)),
        "largest": (PlanLargest(amount=amount(412_613), payee=ASPIRE, number=1),),
        "excluded": (),
        "warnings": 2,
        "to_answer": 2,
        "account": (),
        "version": 1,
        "as_of": NOW,
    }
    return Plan(**{**fields, **changes})


def plan_seen(*, painted: int = 26, checked: int = 42) -> PlanSeen:
    """Looked at by m.ito at NOW."""
    return PlanSeen(me="m.ito", now=NOW, zone=ZoneInfo("Europe/London"), checked=checked, painted=painted)


def plan_row(number: int = 1, minor: int = 412_613, currency: str = "GBP", **changes: Any) -> PlanRow:
    """One row."""
    fields: dict[str, Any] = {
        "number": number,
        "item": f"00000000-0000-0000-0000-{number:012d}",
        "key": "s-4403/1211-00412",
        "title": "Invoice 1211-00412",
        "minor": minor,
        "currency": currency,
        "exponent": exponent(currency),
        "payee_id": "s-4403",
        "payee_name": "Aspire Care Ltd",
        "account_last4": "4471",
        "inputs": {"invoice": "on file"},
        "money_version": 1,
        "warned": (),
        "turn_word": "not-started",
        "attempts": 0,
        "sentence": None,
        "reference": None,
        "ended": None,
    }
    return PlanRow(**{**fields, **changes})


def plan_warning(**changes: Any) -> PlanWarning:
    """One warning that waits for an answer."""
    fields: dict[str, Any] = {
        "id": "w-1",
        "number": 1,
        "item": plan_row().item,
        "kind": Warned.ACCOUNT_CHANGED,
        "sentence": "Its account changed 1 h ago by n.ode.",
        "amount": amount(412_613),
        "payee": ASPIRE,
        "must_answer": True,
        "answer": None,
    }
    return PlanWarning(**{**fields, **changes})


def code_standing(**changes: Any) -> CodeStanding:
    """A phone that can confirm."""
    fields: dict[str, Any] = {
        "enrolled": True,
        "tries_left": 5,
        "locked_until": None,
        "locked_for_good": False,
        "rests_until": None,
    }
    return CodeStanding(**{**fields, **changes})
