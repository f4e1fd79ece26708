"""How a plan is written: nothing of money is cut at any width, and what became of it is said."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobconsole.present.columns import Line, plain, width_of
from jobconsole.present.plans import (
    ListsShown,
    excluded_summary,
    lists_line,
    noun_of,
    plan_title,
    state_lines,
    total_lines,
)
from jobcontract.plans import ExclusionCount
from jobcontract.states import Exclusion, PlanState
from tests.present.planned import plan, plan_seen, plan_total
from tests.present.samples import NOW, RAO


def texts(lines: list[Line]) -> list[str]:
    return [plain(line) for line in lines]


@pytest.mark.parametrize(
    ("width", "title"),
    [
        (138, "Release payouts · plan lark-42 · 42 items · valid 9:41 · 26 of 42 on screen so far"),
        (78, "Release payouts · lark-42 · 42 items · valid 9:41 · 26 of 42 on screen so far"),
        (58, "plan lark-42 · 42 items · valid 9:41 · 26 of 42 on screen"),
        (48, "lark-42 · 42 items · valid 9:41 · 26 of 42 seen"),
        (38, "lark-42 · 42 items · valid 9:41"),
    ],
)
def test_the_title_says_as_much_as_fits(width: int, title: str) -> None:
    assert plain(plan_title(plan(), plan_seen(), width)) == title


@pytest.mark.requirement("MONEY-10")
def test_totals_are_out_back_and_net_each_with_its_count() -> None:
    assert [text.split() for text in texts(total_lines(plan(), 78, 6))] == [
        ["GBP", "out", "18,942.45", "(38)", "back", "542.45", "(2)", "net", "18,400.00", "37", "payees"],
        ["USD", "out", "1,220.50", "(2)", "▲", "2", "to", "answer"],
    ]


@pytest.mark.requirement("MONEY-27")
@given(
    st.lists(
        st.tuples(st.sampled_from(["GBP", "JPY", "KWD", "USD", "EUR"]), st.integers(0, 2**63), st.integers(0, 2**63)),
        min_size=1,
        max_size=5,
        unique_by=lambda total: total[0],
    ),
    st.integers(38, 140),
    st.integers(2, 6),
)
def test_no_figure_that_goes_out_or_comes_back_is_ever_cut(
    sums: list[tuple[str, int, int]], width: int, room: int
) -> None:
    totals = tuple(plan_total(currency, out, 3, back, 1 if back else 0) for currency, out, back in sums)
    lines = total_lines(plan(totals=totals), width, room)
    told = "\n".join(plain(line) for line in lines)
    for total in totals:
        decimals = total.exponent
        whole, part = divmod(total.out_minor, 10**decimals)
        assert f"{whole:,}" + (f".{part:0{decimals}d}" if decimals else "") in told
    assert all(width_of(plain(line)) <= width for line in lines)


def test_the_lists_say_what_is_chosen_and_how_far_the_reading_is() -> None:
    shown = plan(excluded=(ExclusionCount(reason=Exclusion.HELD, count=2),))
    told = plain(lists_line(shown, plan_seen(checked=12), ListsShown(chosen="items"), 100))
    assert told == "2 warnings, 2 to answer  [42 items]  2 excluded  tab  checked 12 of 42 · by number"
    searched = ListsShown(chosen="items", search="care", found=3)
    assert "3 match “care” · by number" in plain(lists_line(shown, plan_seen(), searched, 100))
    assert "2 held by a colleague" in plain(lists_line(shown, plan_seen(), ListsShown(chosen="excluded"), 100))


def test_every_reason_of_an_exclusion_has_words() -> None:
    told = excluded_summary(ExclusionCount(reason=reason, count=1) for reason in Exclusion)
    assert len(told.split(" · ")) == len(Exclusion)
    assert not {reason.value for reason in Exclusion if "-" in reason.value} & set(told.split())


@pytest.mark.parametrize("state", [state for state in PlanState if state is not PlanState.OPEN])
def test_every_state_is_said_with_who_and_why(state: PlanState) -> None:
    confirmed = None if state in (PlanState.DROPPED, PlanState.VOIDED, PlanState.EXPIRED) else NOW
    ended = plan(state=state, ended_at=NOW, ended_by=RAO, reason="bank down", confirmed_at=confirmed)
    (told,) = texts(state_lines(ended, plan_seen(), "", "n"))
    assert "at 09:00 by k.rao: bank down" in told
    assert ("n makes a new plan" in told) is (confirmed is None)


def test_an_open_plan_past_its_time_has_expired() -> None:
    over = plan(expires_at=NOW - timedelta(seconds=1))
    (told,) = texts(state_lines(over, plan_seen(), "", "n"))
    assert told.startswith("▲ This plan expired")
    assert "expired" in plain(plan_title(over, plan_seen(), 100))


def test_what_makes_it_unfit_comes_before_everything() -> None:
    (told,) = texts(state_lines(plan(state=PlanState.EXPIRED), plan_seen(), "Row 3 is missing.", "n"))
    assert told == "✗ Row 3 is missing."


@pytest.mark.parametrize(("queue", "noun"), [("payments.payouts", "payout"), ("t.credit-notes", "credit note")])
def test_an_item_is_called_after_its_queue(queue: str, noun: str) -> None:
    assert noun_of(queue) == noun
