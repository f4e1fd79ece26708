"""Why a plan cannot be made or confirmed now: the reasons, from what lasts longest to what passes soonest."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jobconsole.commands.catalogue import BY_ID, unavailable
from jobconsole.commands.situation import SelectedItem, SelectedPlan, Situation
from jobcontract.permissions import Permission
from jobcontract.states import ClaimMode, ItemState, PlanState

ITEM = SelectedItem(state=ItemState.OPEN, claim=ClaimMode.REQUIRED)
LIST = Situation(
    place="queues",
    tenant="acme",
    permissions=frozenset(Permission),
    queue="payments.payouts",
    bulk=True,
    item=ITEM,
)
PLAN = SelectedPlan(
    state=PlanState.OPEN, mine=True, owner="m.ito", count=50_000, checked=50_000, shown=True, row=True, warning=True
)
SHOWN = replace(LIST, place="plan", plan=PLAN)


@pytest.mark.requirement("show-a-preview-before-bulk-money-actions")
@pytest.mark.parametrize(
    ("situation", "reason"),
    [
        (LIST, None),
        (replace(LIST, item=None), "nothing is selected"),
        (replace(LIST, item=None, marked=2), None),
        (replace(LIST, item=None, all_marked=True), None),
        (replace(LIST, bulk=False), "this queue has no bulk command"),
        (replace(LIST, connected=False), "not while disconnected"),
        (replace(LIST, read_only=True), "this profile only looks (read_only)"),
        (replace(LIST, item=replace(ITEM, holder="k.rao")), "k.rao holds it"),
        (replace(LIST, item=replace(ITEM, state=ItemState.RELEASED)), "the item is released"),
        (
            replace(LIST, item=replace(ITEM, plan="lark-42", plan_held=True)),
            "it is held by plan lark-42 until its turn",
        ),
    ],
)
def test_why_no_plan_can_be_made(situation: Situation, reason: str | None) -> None:
    assert unavailable(BY_ID["plan.make"], situation) == reason


@pytest.mark.requirement("MONEY-9", "MONEY-11", "TUI-04")
@pytest.mark.parametrize(
    ("plan", "reason"),
    [
        (PLAN, None),
        (replace(PLAN, checked=12_400), "checked 12,400 of 50,000"),
        (replace(PLAN, to_answer=3), "3 warnings wait for an answer"),
        (replace(PLAN, to_answer=1), "1 warning waits for an answer"),
        (replace(PLAN, shown=False), "not while the plan was never shown"),
        (replace(PLAN, unfit="Row 3 is missing."), "Row 3 is missing."),
        (replace(PLAN, mine=False, owner="k.rao"), "it is k.rao's plan"),
        (replace(PLAN, state=PlanState.EXPIRED), "the plan is expired"),
        (replace(PLAN, count=0, checked=0), "nothing is left in it"),
    ],
)
def test_why_a_plan_cannot_be_confirmed(plan: SelectedPlan, reason: str | None) -> None:
    assert unavailable(BY_ID["plan.confirm"], replace(SHOWN, plan=plan)) == reason


@pytest.mark.parametrize(
    ("command", "plan", "reason"),
    [
        ("plan.keep", replace(PLAN, warning=None), "no warning is selected"),
        ("plan.keep", replace(PLAN, warning=False), "the warning has its answer"),
        ("plan.take-out", replace(PLAN, row=False), "nothing is selected"),
        ("plan.drop", replace(PLAN, state=PlanState.APPLYING), "the plan is applying"),
        ("plan.make-anew", replace(PLAN, state=PlanState.EXPIRED), None),
        ("plan.make-anew", replace(PLAN, state=PlanState.DONE), "the plan is done"),
        ("plan.sort", replace(PLAN, checked=1), "not before every row was read (1 of 50,000)"),
    ],
)
def test_why_a_plan_cannot_be_changed(command: str, plan: SelectedPlan, reason: str | None) -> None:
    assert unavailable(BY_ID[command], replace(SHOWN, plan=plan)) == reason


@pytest.mark.requirement("MONEY-18")
@pytest.mark.parametrize("command", ["item.claim", "claim.release", "claim.break", "item.reject"])
def test_an_item_that_a_confirmed_plan_holds_can_be_neither_claimed_nor_acted_on(command: str) -> None:
    verbs = frozenset({"reject"})
    held = replace(ITEM, holder="m.ito", mine=True, plan="lark-42", plan_held=True, verbs=verbs, fitting=verbs)
    assert unavailable(BY_ID[command], replace(LIST, item=held)) == "it is held by plan lark-42 until its turn"
    own = replace(held, plan_held=False)
    allowed = unavailable(BY_ID["item.reject"], replace(LIST, item=own))
    assert allowed is None
    released = unavailable(BY_ID["claim.release"], replace(LIST, item=own))
    assert released == "it is in your plan lark-42: take it out there, or drop the plan"
