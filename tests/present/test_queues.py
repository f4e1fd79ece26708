"""Tests of how a queue is written."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from jobconsole.present.columns import plain, width_of
from jobconsole.present.queues import (
    ORDER,
    ORDER_SHORT,
    RowsKnown,
    columns_of,
    empty_sentence,
    loaded_text,
    moved_text,
    switcher_lines,
    title_line,
    view_line,
)
from jobcontract.states import ClaimMode, ItemView
from tests.present.samples import NOW, queue, totals


def test_the_title_counts_and_sums_what_waits() -> None:
    line = plain(title_line(queue(), totals(), 120))
    assert line == "Supplier payouts   1,204 waiting · GBP out 2,318,440.17 back 9,102.33 · JPY out 3,702"
    assert plain(title_line(queue(), None, 80)) == "Supplier payouts   counting …"


@pytest.mark.parametrize("width", [40, 60, 78, 100])
def test_a_figure_that_does_not_fit_is_counted_not_cut(width: int) -> None:
    line = plain(title_line(queue(), totals(), width))
    assert width_of(line) <= max(width, width_of("Supplier payouts   1,204 waiting"))
    assert "2,318,440.17" in line or "GBP" not in line


@pytest.mark.requirement("order-unscored-queues-by-age")
def test_the_order_is_said_at_every_width_that_has_room() -> None:
    known = RowsKnown(loaded=100, ended=False, marked=3)
    wide = plain(view_line(ItemView.WAITING, totals(), known, 140))
    assert wide == (
        "[waiting]  set aside 5  closed   ■ 3 marked · ◆ 37 mine · oldest first, no scores · first 100 of 1,204"
    )
    assert plain(view_line(ItemView.WAITING, totals(), known, 80)).endswith("■ 3 marked · ◆ 37 mine · oldest first")


@pytest.mark.requirement("order-queue-items-by-score")
def test_a_scored_list_says_that_its_highest_score_is_first() -> None:
    known = RowsKnown(loaded=12, order=(ORDER[True], ORDER_SHORT[True]))
    assert "highest score first · 12 rows" in plain(view_line(ItemView.WAITING, totals(mine=0), known, 80))


def test_what_moved_is_said() -> None:
    moved = moved_text(new=2, gone=1, moved=3)
    line = plain(view_line(ItemView.CLOSED, None, RowsKnown(loaded=1, moved=moved), 140))
    assert "[closed]" in line
    assert line.endswith("3 moved · 2 new · 1 gone · oldest first, no scores · 1 row")
    assert moved_text(0, 0, 0) == ""


@pytest.mark.parametrize(
    ("rows", "whole", "text"),
    [
        (RowsKnown(loaded=12), {}, "12 rows"),
        (RowsKnown(loaded=100, ended=False), {}, "first 100 of 1,204"),
        (RowsKnown(loaded=100, begun=False), {}, "last 100 of 1,204"),
        (RowsKnown(loaded=200, begun=False, ended=False, start="score 80"), {}, "200 of 1,204 from score 80 down"),
        (
            RowsKnown(loaded=100, ended=False, now=NOW),
            {"waiting": 1_002_000, "exact": False, "as_of": NOW - timedelta(seconds=40)},
            "first 100 of about 1,002,000, counted 40 s ago",
        ),
    ],
)
def test_how_much_of_the_list_is_loaded_is_said_as_it_is(rows: RowsKnown, whole: dict[str, Any], text: str) -> None:
    assert loaded_text(rows, ItemView.WAITING, totals(**whole)) == text
    assert "1,204" not in loaded_text(rows, ItemView.CLOSED, totals())


def test_a_filtered_list_is_counted_by_what_matches() -> None:
    filtered = RowsKnown(loaded=100, ended=False, filtered=True)
    assert loaded_text(filtered, ItemView.WAITING, totals()) == "first 100"
    counted = replace(filtered, matching=totals(matching=212))
    assert loaded_text(counted, ItemView.WAITING, totals()) == "first 100 of 212"
    assert loaded_text(counted, ItemView.CLOSED, totals()) == "first 100 of 212"


def test_in_the_middle_of_a_list_it_is_said_from_where_at_80_columns_too() -> None:
    known = RowsKnown(loaded=200, begun=False, ended=False, start="score 51", order=(ORDER[True], ORDER_SHORT[True]))
    line = plain(view_line(ItemView.WAITING, totals(mine=0), known, 78))
    assert line.endswith("highest first · from score 51 down")


def test_how_much_is_loaded_goes_before_the_order_where_both_have_no_room() -> None:
    known = RowsKnown(loaded=100, ended=False, order=(ORDER[True], ORDER_SHORT[True]))
    line = plain(view_line(ItemView.WAITING, totals(waiting=5_451, mine=3, set_aside=14), known, 78))
    assert line.endswith("closed   ◆ 3 mine · first 100 of 5,451")
    assert plain(view_line(ItemView.WAITING, totals(mine=3), known, 60)).endswith("◆ 3 mine · highest first")


def test_an_empty_list_says_so_and_what_to_do() -> None:
    assert empty_sentence(queue(), ItemView.WAITING, totals(waiting=0)).startswith("Nothing is waiting in Supplier pay")
    assert "5 set aside" in empty_sentence(queue(), ItemView.WAITING, totals(waiting=0))
    assert "appear here by themselves" in empty_sentence(queue(), ItemView.WAITING, totals(set_aside=0))
    assert "Press v" in empty_sentence(queue(), ItemView.SET_ASIDE, None)
    assert "Press v" in empty_sentence(queue(), ItemView.CLOSED, None)


def test_the_switcher_marks_the_shown_queue_and_fits() -> None:
    other = queue(id="payments.disputes", title="漢字 disputes of suppliers")
    lines = switcher_lines([other, queue()], "payments.payouts", {"payments.payouts": 1204}, 21)
    assert [plain(line)[:1] for line in lines] == [" ", "▸"]
    assert all(width_of(plain(line)) <= 21 for line in lines)
    assert plain(lines[1]).endswith(" 1,204")


def test_the_state_column_is_named_by_what_it_holds() -> None:
    def label(mode: ClaimMode, view: ItemView) -> str:
        return columns_of(queue(claim=mode), view, one_line=False)[-1].label

    assert label(ClaimMode.REQUIRED, ItemView.WAITING) == "holder"
    assert label(ClaimMode.DISABLED, ItemView.WAITING) == "state"
    assert label(ClaimMode.REQUIRED, ItemView.SET_ASIDE) == "set aside"


def test_a_queue_without_money_has_no_amount_column() -> None:
    ids = [column.id for column in columns_of(queue(money=False), ItemView.WAITING, one_line=True)]
    assert ids == ["name", "inputs", "state"]
