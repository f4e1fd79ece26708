"""Tests of how a queue is written."""

from __future__ import annotations

import pytest

from jobconsole.present.columns import plain, width_of
from jobconsole.present.queues import (
    RowsKnown,
    columns_of,
    empty_sentence,
    loaded_text,
    switcher_lines,
    title_line,
    view_line,
)
from jobcontract.states import ClaimMode, ItemView
from tests.present.samples import queue, totals


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
    known = RowsKnown(loaded=100, more=True, marked=3)
    wide = plain(view_line(ItemView.WAITING, totals(), known, 140))
    assert wide == (
        "[waiting]  set aside 5  closed   ■ 3 marked · ◆ 37 mine · oldest first, no scores yet · 100 of 1,204 loaded"
    )
    assert plain(view_line(ItemView.WAITING, totals(), known, 80)).endswith("■ 3 marked · ◆ 37 mine · oldest first")


def test_what_moved_is_said() -> None:
    line = plain(view_line(ItemView.CLOSED, None, RowsKnown(loaded=1, more=False, moved="2 new · 1 gone"), 140))
    assert "[closed]" in line
    assert line.endswith("2 new · 1 gone · 1 row")
    assert loaded_text(100, True, ItemView.CLOSED, totals()) == "100 loaded, more below"


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
