"""The words in which a plan is confirmed."""

from __future__ import annotations

from datetime import timedelta

import pytest

from jobconsole.present.columns import plain, width_of
from jobconsole.present.plan_confirm import (
    confirm_label,
    confirm_lines,
    confirm_title,
    plan_change_lines,
    read_code,
    standing_sentence,
    tries_piece,
)
from jobcontract.plans import CodeStanding, PlanChange
from tests.present.planned import code_standing, plan, plan_seen, plan_total
from tests.present.samples import NOW


def test_the_act_is_named_by_what_it_does_to_how_many() -> None:
    assert confirm_title(plan()) == "Release 42 payouts to 37 payees"
    assert confirm_title(plan(count=1, payees=1)) == "Release 1 payout to 1 payee"


@pytest.mark.requirement("MONEY-27")
@pytest.mark.parametrize(
    ("width", "label"),
    [
        (44, "Release GBP 18,942.45 + USD 1,220.50"),
        (35, "Release GBP 18,942.45 + 1 more"),
        (20, "Release 42 payouts to 37 payees"),
    ],
)
def test_the_button_names_the_amounts_and_cuts_none(width: int, label: str) -> None:
    assert confirm_label(plan(), width) == label


def test_a_plan_of_credits_alone_names_what_comes_back() -> None:
    assert confirm_label(plan(totals=(plan_total("GBP", 0, 0, 54_245, 2),)), 60) == "Release −GBP 542.45"


def test_what_is_confirmed_is_told_with_the_largest_amount_before_its_name() -> None:
    told = [plain(line) for line in confirm_lines(plan(), NOW)]
    assert told == [
        "GBP  out 18,942.45 in 38 · back 542.45 in 2 · net 18,400.00",
        "USD  out 1,220.50 in 2",
        "largest: GBP 4,126.13  …4471  Aspire Care Ltd",
        "plan lark-42, valid 9:41",
    ]
    assert max(map(width_of, told)) <= 62


@pytest.mark.requirement("OTP-03")
@pytest.mark.parametrize("typed", ["047164", "047 164", " 047164"])
def test_blanks_are_forgiven_and_a_leading_zero_counts(typed: str) -> None:
    assert read_code(typed) == "047164"


@pytest.mark.requirement("OTP-03")
@pytest.mark.parametrize("typed", ["", "47164", "0471640", "٠٤٧١٦٤", "04716x"])
def test_what_is_no_code_is_said(typed: str) -> None:
    with pytest.raises(ValueError, match="six digits"):
        read_code(typed)


@pytest.mark.parametrize(
    ("standing", "words", "sentence"),
    [
        (code_standing(), "5 tries left", ""),
        (code_standing(tries_left=1), "1 try left", ""),
        (code_standing(enrolled=False), "no phone enrolled", "jobservice totp enrol m.ito"),
        (code_standing(locked_for_good=True), "locked", "jobservice totp unlock m.ito"),
        (code_standing(locked_until=NOW + timedelta(minutes=15)), "locked 15:00", "none counts before 09:15"),
        (code_standing(rests_until=NOW + timedelta(hours=1)), "rests 1:00:00", "nothing before 10:00"),
        (code_standing(locked_until=NOW, tries_left=5), "5 tries left", ""),
    ],
)
def test_whether_a_code_can_be_given_and_what_to_do(standing: CodeStanding, words: str, sentence: str) -> None:
    assert tries_piece(standing, NOW).text == words
    told = standing_sentence(standing, "m.ito", plan_seen().zone, NOW)
    assert sentence in told
    assert bool(told) is bool(sentence)


@pytest.mark.requirement("MONEY-18")
def test_what_changed_is_listed_before_and_after() -> None:
    changes = [
        PlanChange(number=number, item="i", title="Invoice", field="amount", before="GBP 1.00", after="GBP 2.00")
        for number in range(1, 15)
    ]
    told = [plain(line) for line in plan_change_lines(changes, "n")]
    assert told[0] == "▲ 14 rows changed since the plan was frozen:"
    assert told[1] == "1 amount  GBP 1.00 → GBP 2.00  Invoice"
    assert told[-2:] == ["and 2 more", "Nothing was released. n makes a new plan of the same set."]
