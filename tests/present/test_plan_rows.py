"""How the rows of a plan are written: amount and account first and whole, the name after them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobconsole.present.columns import lay_out, plain, row_line, width_of
from jobconsole.present.plan_rows import (
    EXCLUDED,
    WARNED,
    ItemWidths,
    excluded_cells,
    item_cells,
    item_columns,
    item_lines,
    search_text,
    warning_cells,
)
from jobcontract.plans import ExcludedItem
from jobcontract.states import Exclusion, Warned
from tests.present.planned import ASPIRE, plan_row, plan_warning
from tests.present.samples import RAO, amount


@pytest.mark.requirement("MONEY-27")
@given(
    st.integers(-(2**62), 2**62), st.sampled_from(["GBP", "JPY", "KWD"]), st.integers(34, 140), st.text(max_size=300)
)
def test_amount_sign_currency_and_account_are_whole_at_every_width(
    minor: int, currency: str, width: int, name: str
) -> None:
    row = plan_row(minor=minor, currency=currency, payee_name=name)
    widths = ItemWidths()
    widths.take([plan_row(), row])
    columns = item_columns(wide=width >= 120)
    laid, gap = lay_out(columns, widths.needs(50_000), width)
    cells = item_cells(row, to_answer=True, answered=False)
    told = plain(row_line(columns, cells, laid, gap))
    assert f"{cells['amount'].text}{' ' * gap}…4471" in told
    assert width_of(told) <= max(width, width_of(cells["amount"].text) + 20)


def test_widths_only_grow_and_look_at_each_row_once() -> None:
    widths, rows = ItemWidths(), [plan_row(1), plan_row(2, minor=-100_000_000)]
    widths.take(rows[:1])
    before = widths.needs(2)["amount"]
    widths.take(rows)
    assert widths.needs(2)["amount"] == width_of("−GBP 1,000,000.00") > before


def test_a_search_finds_the_words_of_a_row_and_its_figure() -> None:
    text = search_text(plan_row())
    for wanted in ("aspire", "1211-00412", "4471", "4126.13"):
        assert wanted in text


def test_a_sign_says_whether_a_warning_waits() -> None:
    warned = plan_row(warned=("account-changed",))
    signs = [
        item_cells(row, to_answer=waits, answered=done)["warned"].text
        for row, waits, done in ((warned, True, False), (warned, False, True), (warned, False, False))
    ]
    assert [*signs, item_cells(plan_row(), to_answer=False, answered=False)["warned"].text] == ["▲", "✓", "△", ""]


def test_the_row_under_the_cursor_is_told_in_full() -> None:
    answered = plan_warning(answer="called them")
    told = [plain(line) for line in item_lines(plan_row(warned=("account-changed",)), [answered])]
    assert told == [
        "GBP 4,126.13  …4471  Aspire Care Ltd · id s-4403",
        "Invoice 1211-00412 · s-4403/1211-00412 · invoice on file",
        "✓ Its account changed 1 h ago by n.ode.",
        "  kept in: “called them”",
    ]
    unread = [plain(line) for line in item_lines(plan_row(warned=("account-changed", "of-a-newer-service")), [])]
    assert unread[-1] == "△ account changed lately"


def test_a_warning_says_its_answer() -> None:
    assert warning_cells(plan_warning())["what"].text == "Its account changed 1 h ago by n.ode."
    assert warning_cells(plan_warning(answer="ok"))["what"].text.startswith("kept: “ok” · ")


def test_every_kind_of_warning_and_exclusion_has_words() -> None:
    assert set(WARNED) == set(Warned)
    assert set(EXCLUDED) == set(Exclusion)


@pytest.mark.parametrize(
    ("reason", "words"), [(Exclusion.HELD, "held by k.rao"), (Exclusion.IN_PLAN, "in a plan of k.rao")]
)
def test_an_exclusion_names_who_is_in_the_way(reason: Exclusion, words: str) -> None:
    row = ExcludedItem(
        item="i-1", title="Invoice", amount=amount(100), payee=ASPIRE, reason=reason, who=RAO, sentence="."
    )
    assert excluded_cells(row)["what"].text == words
    unknown = row.model_copy(update={"amount": None, "payee": None, "title": None, "reason": Exclusion.UNKNOWN})
    assert excluded_cells(unknown)["name"].text == "i-1"
