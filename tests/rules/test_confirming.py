"""What is told of a plan that cannot be confirmed, of items that changed, and when a confirmed plan waits armed."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from jobcontract.states import ConfirmMethod, ItemState, PlanState
from jobservice.rules.bulk import BulkCommand, Limits
from jobservice.rules.confirming import (
    ChangedRow,
    armed_until,
    changed_sentence,
    resumed_state,
    state_sentence,
    told,
)
from jobservice.rules.items import Content, Payment, Version

pytestmark = pytest.mark.requirement("MONEY-13")

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
PAYMENT = Payment(minor=1_000, currency="GBP", payee_id="P", payee_name="Ash", account="AAAA1234")
BEFORE = Version(
    number=3, state=ItemState.OPEN, set_aside_until=None, content=Content(title="One", payment=PAYMENT, inputs={})
)
ROW = ChangedRow(
    number=7,
    item="i",
    title="One",
    before=BEFORE,
    after=replace(BEFORE, number=4),
    claimed=True,
    holder_name="Mina Ito",
    pushed_by_owner=False,
    changed_by_owner=False,
)


def paid_to(account: str, minor: int = 1_000) -> Version:
    payment = replace(PAYMENT, account=account, minor=minor)
    return replace(BEFORE, number=4, content=replace(BEFORE.content, payment=payment))


@pytest.mark.parametrize(
    ("row", "fields"),
    [
        (replace(ROW, after=paid_to("AAAA1234", 1_200)), [("amount", "GBP 10.00", "GBP 12.00")]),
        (replace(ROW, after=paid_to("BBBB1234")), [("account", "…1234", "…1234 (another account)")]),
        (replace(ROW, claimed=False, holder_name=None), [("claim", "the plan's", "free")]),
        (replace(ROW, claimed=False, holder_name="Kiran Rao"), [("claim", "the plan's", "held by Kiran Rao")]),
        (replace(ROW, pushed_by_owner=True), [("pushed by", "another person", "the plan's owner")]),
        (replace(ROW, changed_by_owner=True), [("payment changed by", "another person", "the plan's owner")]),
        (ROW, [("version", "3", "4")]),
    ],
)
def test_a_changed_row_tells_each_field_before_and_now(row: ChangedRow, fields: list[tuple[str, str, str]]) -> None:
    found = told(row)
    assert [(each.field, each.before, each.after) for each in found] == fields
    assert {(each.number, each.item, each.title) for each in found} == {(7, "i", "One")}


def test_the_sentence_names_the_first_fields_and_how_many_items() -> None:
    one = told(replace(ROW, after=paid_to("AAAA1234", 1_200)))
    assert changed_sentence(one, 1) == (
        "1 item is not as the plan shows: 7 One, amount: GBP 10.00 → GBP 12.00. Make a new plan."
    )
    many = changed_sentence(one * 50, 12_000)
    assert many.startswith("12,000 items are not as the plan shows: ")
    assert many.endswith(" and more. Make a new plan.")


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (PlanState.ARMED, "Plan lark-42 is confirmed already: it is armed and starts at its time."),
        (PlanState.APPLYING, "Plan lark-42 is confirmed already, and is being applied."),
        (PlanState.PAUSED, "Plan lark-42 is confirmed already, and is paused."),
        (PlanState.DONE, "Plan lark-42 is confirmed already: every item has had its turn."),
        (PlanState.ABORTED, "Plan lark-42 was aborted."),
        (PlanState.EXPIRED, "Plan lark-42 has expired: nobody confirmed it in time. Make a new plan."),
    ],
)
def test_a_plan_that_is_not_open_says_what_it_is(state: PlanState, words: str) -> None:
    assert state_sentence("lark-42", state) == words


def test_every_state_has_its_words() -> None:
    assert len({state_sentence("lark-42", state) for state in PlanState}) == len(PlanState)


COMMAND = BulkCommand(
    id="t.many",
    title="Many",
    queue="t.q",
    use_case="t.u",
    confirm_by=ConfirmMethod.TOTP,
    limits=Limits(item={}, plan={}, person={}, account={}, person_count=1, account_count=1),
    uncertain="t.uncertain",
    armed_above={"GBP": 5_000},
    armed_seconds=600,
)


@pytest.mark.requirement("MONEY-14")
@pytest.mark.parametrize(
    ("command", "currency", "out", "waits"),
    [
        (COMMAND, "GBP", 5_000, True),
        (COMMAND, "GBP", 4_999, False),
        (COMMAND, "EUR", 9_999, False),
        (replace(COMMAND, armed_seconds=0.0), "GBP", 5_000, False),
        (replace(COMMAND, armed_above={}), "GBP", 5_000, False),
    ],
)
def test_a_plan_waits_armed_from_the_stated_gross_on(
    command: BulkCommand, currency: str, out: int, waits: bool
) -> None:
    totals = [{"currency": "JPY", "out_minor": 10**9}, {"currency": currency, "out_minor": out}]
    assert armed_until(command, totals, NOW) == (NOW + timedelta(seconds=600) if waits else None)


@pytest.mark.requirement("MONEY-20")
def test_what_is_left_of_the_armed_time_still_runs_after_a_pause() -> None:
    assert resumed_state(NOW + timedelta(seconds=1), NOW) is PlanState.ARMED
    assert resumed_state(NOW, NOW) is PlanState.APPLYING
    assert resumed_state(None, NOW) is PlanState.APPLYING
