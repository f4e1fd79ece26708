"""Fifty thousand items of a plan: only rows in sight are built, and what was painted is what was shown."""

from __future__ import annotations

import pytest
from textual.app import App, ComposeResult

from jobconsole.present.plan_rows import item_columns
from jobconsole.screens.plan_listing import ItemRows, WarningRows
from jobconsole.widgets.table import Table
from tests.present.planned import plan_row, plan_warning

COUNT = 50_000


class TableApp(App[None]):
    """A table alone."""

    def compose(self) -> ComposeResult:
        yield Table()


@pytest.mark.requirement("show-a-preview-before-bulk-money-actions")
async def test_only_rows_in_sight_are_built_of_fifty_thousand() -> None:
    rows = ItemRows(WarningRows())
    rows.begin(COUNT)
    app = TableApp()
    async with app.run_test(size=(80, 21)) as pilot:
        table = app.query_one(Table)
        table.focus()
        table.show(rows, item_columns(wide=False), rows.needs(), fresh=True)
        await pilot.pause()
        assert rows.painted == 0  # nothing was read: what is on the screen are places
        rows.take([plan_row(number) for number in range(1, 1001)])
        table.show(rows, item_columns(wide=False), rows.needs())
        await pilot.pause()
        assert rows.painted == 20
        table.action_jump(-1)
        await pilot.pause()
        assert table.cursor_key == str(COUNT)
        assert rows.painted == 20


def test_rows_stand_in_their_order_and_are_found_by_number() -> None:
    warned = WarningRows()
    rows = ItemRows(warned)
    rows.begin(3)
    rows.take([plan_row(1, 100), plan_row(2, 300, payee_name="Aa"), plan_row(3, 200, payee_name="Zz")])
    for order, expected in (
        ("number", ["1", "2", "3"]),
        ("amount", ["2", "3", "1"]),
        ("payee", ["2", "1", "3"]),
    ):
        rows.arrange(order)
        assert [rows.key(at) for at in range(3)] == expected
        assert [rows.index(key) for key in expected] == [0, 1, 2]
    warned.show([plan_warning(item=plan_row(3).item, number=3)])
    rows.arrange("warnings")
    assert rows.key(0) == "3"
    rows.arrange(search="zz")
    assert [rows.key(at) for at in range(len(rows))] == ["3"]
    assert rows.index("1") is None


def test_another_edition_keeps_what_was_shown_of_the_rows_that_are_the_same() -> None:
    rows = ItemRows(WarningRows())
    rows.begin(2)
    rows.take([plan_row(1), plan_row(2)])
    for at in range(2):
        rows.row(at, {})
    rows.begin(2)
    moved = plan_row(2, money_version=2)
    rows.take([plan_row(1), moved])
    assert rows.painted == 1
