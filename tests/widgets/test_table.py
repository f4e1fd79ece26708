"""Tests of the windowed table: cursor and marks stay on their keys, only rows in sight are built."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import pytest
from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.strip import Strip

from jobconsole.present.columns import Column, Piece, Tone, width_of
from jobconsole.widgets.rows import Row
from jobconsole.widgets.table import Table

COLUMNS = (
    Column(id="amount", label="amount", least=6, right=True, whole=True),
    Column(id="name", label="payee", least=12, yields=2),
)


class Keys:
    """Rows that are their keys; counts what is built."""

    flat = False

    def __init__(self, keys: list[str], *, high: int = 1, inputs: Mapping[str, tuple[str, ...]] | None = None) -> None:
        self.keys = keys
        self.high = high
        self.inputs = inputs or {}
        self.built: list[str] = []

    def __len__(self) -> int:
        return len(self.keys)

    def key(self, index: int) -> str:
        return self.keys[index]

    def index(self, key: str) -> int | None:
        return self.keys.index(key) if key in self.keys else None

    def under(self, index: int, widths: Mapping[str, int]) -> int:
        pieces = self._under(index, widths)
        return sum(width_of(piece.text) for piece in pieces) + 3 * max(0, len(pieces) - 1)

    def row(self, index: int, widths: Mapping[str, int]) -> Row:
        self.built.append(self.keys[index])
        cells = {"amount": Piece("GBP 1.00", Tone.QUIET), "name": Piece(f"n {self.keys[index]}")}
        return Row(cells=cells, under=self._under(index, widths))

    def _under(self, index: int, widths: Mapping[str, int]) -> tuple[Piece, ...]:
        if self.high == 1:
            return ()
        missing = [Piece(cell) for column, cell in (("name", f"n {self.keys[index]}"),) if column not in widths]
        return (*missing, *(Piece(text) for text in self.inputs.get(self.keys[index], ("under",))))


def keys(count: int) -> list[str]:
    return [f"k{number:05d}" for number in range(count)]


class TableApp(App[None]):
    """A table and nothing else."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[object] = []

    def compose(self) -> ComposeResult:
        yield Table(id="list")

    def on_table_cursor_moved(self, message: Table.CursorMoved) -> None:
        self.told.append(message.key)

    def on_table_window_moved(self, message: Table.WindowMoved) -> None:
        self.told.append((message.first, message.end))


@asynccontextmanager
async def table_of(rows: Keys, *, size: tuple[int, int] = (60, 11)) -> AsyncIterator[tuple[Table, Pilot[None]]]:
    app = TableApp()
    async with app.run_test(size=size) as pilot:
        table = app.query_one(Table)
        table.focus()
        table.show(rows, COLUMNS, {"amount": 8}, fresh=True)
        await pilot.pause()
        yield table, pilot


def cursor_of(table: Table) -> str | None:
    return table.cursor_key


def lines(table: Table) -> list[str]:
    return [table.render_line(y).text for y in range(table.size.height)]


def line_of_cursor(table: Table) -> int:
    return next(y for y, text in enumerate(lines(table)) if text.startswith("▸"))


async def test_only_rows_in_sight_are_built() -> None:
    rows = Keys(keys(50_000))
    async with table_of(rows) as (table, pilot):
        assert set(rows.built) == set(rows.keys[:10])
        rows.built.clear()
        table.action_jump(-1)
        await pilot.pause()
        assert table.cursor_key == rows.keys[-1]
        assert set(rows.built) <= set(rows.keys[:10]) | set(rows.keys[-11:])


async def test_nothing_is_quiet_on_the_row_under_the_cursor() -> None:
    async with table_of(Keys(keys(3))) as (table, _pilot):
        colours = []
        for y in (1, 2):
            named = {s.text.strip(): s.style.color for s in table.render_line(y) if s.style is not None}
            colours.append((named["GBP 1.00"], named[f"n k{y - 1:05d}"]))
        (here, plain_here), (elsewhere, plain_elsewhere) = colours
        assert here == plain_here
        assert elsewhere != plain_elsewhere


async def test_keys_move_the_cursor_and_the_sight_follows() -> None:
    rows = Keys(keys(100))
    async with table_of(rows) as (table, pilot):
        await pilot.press("down", "down", "up")
        assert table.cursor_key == "k00001"
        await pilot.press("pagedown")
        assert table.cursor_key == "k00010"
        assert table.window[0] <= 10 < table.window[1]
        await pilot.press("pagedown", "pagedown", "pageup")
        assert table.cursor_key == "k00019"
        table.action_jump(0)
        assert (table.cursor_key, table.window[0]) == ("k00000", 0)
        await pilot.press("up")
        assert table.cursor_key == "k00000"


@pytest.mark.parametrize("high", [1, 2])
async def test_the_cursor_stays_on_its_key_and_line_whatever_happens_around_it(high: int) -> None:
    rows = Keys(keys(200), high=high)
    async with table_of(rows) as (table, pilot):
        for _ in range(4):
            await pilot.press("pagedown")
        key, line = table.cursor_key, line_of_cursor(table)
        assert key is not None
        changed = Keys(["new-1", "new-2", "new-3", *[k for k in rows.keys if k not in {"k00002", "k00190"}]], high=high)
        table.show(changed, COLUMNS, {"amount": 8})
        await pilot.pause()
        assert (table.cursor_key, line_of_cursor(table)) == (key, line)
        fewer = Keys([k for k in changed.keys if not k.startswith("new")], high=high)
        table.show(fewer, COLUMNS, {"amount": 8})
        await pilot.pause()
        assert (table.cursor_key, line_of_cursor(table)) == (key, line)


async def test_a_cursor_whose_row_is_gone_stays_in_its_place() -> None:
    rows = Keys(keys(5))
    async with table_of(rows) as (table, pilot):
        table.action_jump(-1)
        table.show(Keys(keys(3)), COLUMNS, {"amount": 8})
        await pilot.pause()
        assert table.cursor_key == "k00002"
        table.show(Keys([]), COLUMNS, {"amount": 8})
        await pilot.pause()
        assert cursor_of(table) is None
        assert isinstance(pilot.app, TableApp)
        assert None in pilot.app.told


async def test_marks_stay_on_their_keys() -> None:
    rows = Keys(keys(20))
    async with table_of(rows) as (table, pilot):
        table.toggle_mark()
        await pilot.press("down", "down", "down")
        table.mark_range()
        assert table.marks == {"k00000", "k00001", "k00002", "k00003"}
        table.show(Keys(["new", *rows.keys]), COLUMNS, {"amount": 8})
        await pilot.pause()
        assert table.marks == {"k00000", "k00001", "k00002", "k00003"}
        shown = {text.split("n ")[-1].strip(): text[1] == "■" for text in lines(table)[1:]}
        assert {key for key, marked in shown.items() if marked} == table.marks
        table.clear_marks(["k00001"])
        table.toggle_mark()
        assert table.marks == {"k00000", "k00002"}
        table.clear_marks()
        assert not table.marks
        table.toggle_mark()
        table.show(Keys(keys(3)), COLUMNS, {"amount": 8}, fresh=True)
        assert not table.marks


async def test_a_row_of_two_lines_has_its_second_line_under_it() -> None:
    async with table_of(Keys(keys(3), high=2)) as (table, _):
        text = lines(table)
        assert text[0].split() == ["amount", "payee"]
        assert text[1].startswith("▸  GBP 1.00  n k00000")
        assert text[2].startswith("     under")
        assert text[3].startswith("   GBP 1.00  n k00001")


async def test_a_narrow_table_leaves_the_name_out_and_never_the_amount() -> None:
    async with table_of(Keys(keys(3), high=2), size=(22, 11)) as (table, _):
        assert lines(table)[1].strip() == "▸  GBP 1.00"
        assert lines(table)[2].strip() == "n k00000 · under"


async def test_a_click_moves_the_cursor_and_a_double_click_opens() -> None:
    opened: list[str | None] = []
    async with table_of(Keys(keys(30), high=2)) as (table, pilot):
        pilot.app.on_table_opened = lambda message: opened.append(message.key)  # type: ignore[attr-defined]  # a probe
        await pilot.click(Table, offset=(5, 6))
        assert table.cursor_key == "k00002"
        await pilot.click(Table, offset=(5, 0))
        assert table.cursor_key == "k00002"


async def test_an_empty_table_says_its_sentence() -> None:
    async with table_of(Keys([])) as (table, pilot):
        table.say((Piece("Nothing is waiting.", Tone.QUIET),))
        await pilot.pause()
        assert lines(table)[1].strip() == "Nothing is waiting."
        await pilot.press("down", "pagedown", "pageup")
        table.action_jump(-1)
        assert table.cursor_key is None


async def test_what_an_empty_table_says_is_never_cut() -> None:
    async with table_of(Keys([]), size=(40, 11)) as (table, pilot):
        table.say((Piece("That needs queue.read. Ask an administrator of leeds to have it granted.", Tone.QUIET),))
        await pilot.pause()
        said = [text.strip() for text in lines(table)]
        assert said[1:4] == ["That needs queue.read. Ask an", "administrator of leeds to have it", "granted."]


async def test_every_size_paints() -> None:
    rows = Keys(keys(50), high=2)
    async with table_of(rows) as (table, pilot):
        table.action_jump(-1)
        for size in ((1, 1), (2, 2), (10, 3), (200, 60), (60, 11)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            assert all(
                table.render_line(y).cell_length == table.scrollable_size.width for y in range(table.size.height)
            )
        assert table.cursor_key == "k00049"
        assert line_of_cursor(table) > 0


async def test_the_window_is_told_when_it_moves() -> None:
    async with table_of(Keys(keys(100))) as (_, pilot):
        told = pilot.app.told  # type: ignore[attr-defined]  # the app above
        await pilot.press("pagedown", "pagedown")
        await pilot.pause()
        windows = [entry for entry in told if isinstance(entry, tuple)]
        assert windows[-1][0] >= 8
        assert windows[-1][1] - windows[-1][0] <= 11


async def test_dragging_selects_the_text_as_it_is_painted_and_moves_no_cursor() -> None:
    async with table_of(Keys(keys(30), high=2)) as (table, pilot):
        await pilot.mouse_down(Table, offset=(3, 1))
        await pilot.hover(Table, offset=(8, 3))
        await pilot.mouse_up(Table, offset=(8, 3))
        await pilot.pause()
        assert pilot.app.screen.get_selected_text() == "GBP 1.00  n k00000\n     under\n   GBP 1."
        assert table.cursor_key == "k00000"
        shown = [[segment.style.bgcolor for segment in table.render_line(y) if segment.style] for y in (1, 5)]
        assert len(set(shown[0])) > 1
        assert len(set(shown[1])) == 1
        await pilot.click(Table, offset=(5, 6))
        assert not pilot.app.screen.get_selected_text()
        assert table.cursor_key == "k00002"


async def test_a_selection_after_scrolling_is_of_the_lines_in_sight() -> None:
    async with table_of(Keys(keys(100))) as (table, pilot):
        for _ in range(3):
            await pilot.press("pagedown")
        first = lines(table)[1].strip()
        await pilot.mouse_down(Table, offset=(3, 1))
        await pilot.hover(Table, offset=(40, 1))
        await pilot.mouse_up(Table, offset=(40, 1))
        await pilot.pause()
        assert pilot.app.screen.get_selected_text() == first


async def test_rows_take_as_many_lines_as_what_stands_under_them() -> None:
    rows = Keys(keys(40), high=2, inputs={"k00001": tuple(f"input number {n}" for n in range(9))})
    async with table_of(rows) as (table, pilot):
        text = lines(table)
        assert text[3].startswith("   GBP 1.00  n k00001")
        told = " ".join(" ".join(text[4:8]).split())
        assert all(f"input number {n}" in told for n in range(9))
        await pilot.press("down", "down")
        at = line_of_cursor(table)
        assert lines(table)[at].startswith("▸  GBP 1.00  n k00002")
        await pilot.click(Table, offset=(5, 5))
        assert table.cursor_key == "k00001"
        for _ in range(6):
            await pilot.press("pagedown")
        for _ in range(9):
            await pilot.press("pageup")
        assert (table.cursor_key, table.window[0]) == ("k00000", 0)


async def test_a_refresh_does_not_scroll_back_to_a_cursor_that_the_wheel_left_behind() -> None:
    rows = Keys(keys(100))
    async with table_of(rows) as (table, pilot):
        table.scroll_to(y=50, animate=False, force=True)
        await pilot.pause()
        top = lines(table)[1]
        table.show(Keys(["new-1", "new-2", *rows.keys]), COLUMNS, {"amount": 8})
        await pilot.pause()
        assert lines(table)[1] == top
        assert table.cursor_key == "k00000"
        table.bring_cursor()
        await pilot.pause()
        assert table.cursor_in_sight


async def test_landing_shows_the_neighbours_above_too_and_keeps_marks() -> None:
    async with table_of(Keys(keys(100))) as (table, pilot):
        table.toggle_mark()
        table.land("k00060")
        await pilot.pause()
        assert table.cursor_key == "k00060"
        assert table.window[0] < 60
        assert table.marks == {"k00000"}


async def test_a_cursor_that_was_moved_while_no_row_had_room_is_in_sight_once_there_is_room() -> None:
    rows = Keys(keys(20))
    async with table_of(rows, size=(60, 11)) as (table, pilot):
        for height in (1, 0):
            table.styles.height = height
            await pilot.pause()
            table.action_jump(0)
            table.move_to(rows.keys[7])
            table.show(rows, COLUMNS, {"amount": 8})
            table.styles.height = 3
            await pilot.pause()
            assert any(text.startswith("▸") for text in lines(table)), f"from {height} lines on"


async def test_a_table_that_comes_into_sight_is_painted_at_its_width_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = Keys(keys(20))
    painted: list[str] = []
    paint = Table.render_line

    def seen(self: Table, y: int) -> Strip:
        strip = paint(self, y)
        painted.append(strip.text)
        return strip

    async with table_of(rows) as (table, pilot):
        table.display = False
        await pilot.pause()
        table.show(rows, COLUMNS, {"amount": 8})  # as a part that is out of sight is told of new rows
        monkeypatch.setattr(Table, "render_line", seen)
        table.display = True
        await pilot.pause()
        assert painted
        assert [text for text in painted if "GBP" in text and " n k" not in text] == []
