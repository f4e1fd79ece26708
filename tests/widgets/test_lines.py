"""Presented lines: as high as they are at the width they get, from the first layout on, and whoever reads the screen."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from textual.app import App, ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.geometry import Size
from textual.pilot import Pilot
from textual.widget import Widget

from jobconsole.present.columns import Line, Piece
from jobconsole.widgets.lines import Lines
from tests.screens.idle import at_rest, lines


def words(text: str) -> list[Line]:
    """One line."""
    return [(Piece(text),)]


class Seen(Lines):
    """Remembers every size it was laid out in."""

    def __init__(self, *, indent: int = 0, clipped: bool = False, steady: bool = False) -> None:
        super().__init__(indent=indent, clipped=clipped, steady=steady)
        self.sizes: list[Size] = []
        self.heard: list[int] = []
        """Heights that it was told of."""

    def _size_updated(self, size: Size, virtual_size: Size, container_size: Size, layout: bool = True) -> bool:
        if not self.sizes or self.sizes[-1] != size:
            self.sizes.append(size)
        return super()._size_updated(size, virtual_size, container_size, layout)

    def on_resize(self) -> None:
        self.heard.append(self.size.height)

    @property
    def heights(self) -> list[int]:
        """Of every layout in which it was not hidden."""
        return [size.height for size in self.sizes if size.width]


class Stage(App[None]):
    """Lines in a pane, another line below it."""

    CSS = "#pane { height: auto; max-height: 10; } #fixed { height: 1fr; } #below { height: 1; }"

    def __init__(self, shown: Seen, pane: Widget) -> None:
        super().__init__()
        self.shown = shown
        self.pane = pane

    def compose(self) -> ComposeResult:
        with self.pane:
            yield self.shown
        yield Lines(id="below", clipped=True)


@asynccontextmanager
async def staged(shown: Seen, width: int, pane: Widget | None = None) -> AsyncIterator[tuple[Stage, Pilot[None]]]:
    """The lines in a terminal of that width, twelve lines high, nothing shown yet."""
    app = Stage(shown, pane or Vertical(id="pane"))
    shown.display = False
    async with app.run_test(size=(width, 12)) as pilot:
        await at_rest(app)
        yield app, pilot


@pytest.mark.parametrize(
    ("width", "most"), [(78, 1), (140, 1), (40, 2), (20, 4)], ids=["just", "wide", "narrow", "very narrow"]
)
async def test_the_first_layout_has_the_height_of_the_width_it_gives(width: int, most: int) -> None:
    shown = Seen()
    async with staged(shown, width) as (app, _):
        shown.display = True
        shown.show(words("fires at half past one and then at half past one of the day after that one too"))
        await at_rest(app)
        assert shown.heights == [most], "no layout for lines that are broken elsewhere"
        assert sum(bool(line.strip()) for line in lines(app)) == most


async def test_what_is_shown_before_the_layout_that_was_asked_for_is_heard_of_counts_too() -> None:
    """A layout between two requests was told the height of the first."""
    shown = Seen()
    async with staged(shown, 40) as (app, _):
        shown.display = True
        shown.show([*words("one"), *words("two"), *words("three")])
        app.screen._refresh_layout()
        assert shown.heights == [3]
        shown.show(words("one"))
        await at_rest(app)
        assert shown.heights == [3, 1]
        assert lines(app)[1].strip() == "", "no line is left empty"


async def test_lines_are_broken_for_the_width_they_are_painted_at() -> None:
    """A paint comes before the widget hears of its size."""
    shown = Seen(indent=4)
    async with staged(shown, 40, Vertical(id="fixed")) as (app, _):
        shown.display = True
        shown.show(words("above the next by sixteen: amount, age, invoice"))
        app.screen._refresh_layout()
        assert [line.rstrip() for line in lines(app)][:2] == ["above the next by sixteen: amount, age,", "    invoice"]


@pytest.mark.parametrize("lower", [True, False], ids=["shorter", "longer"])
async def test_steady_lines_need_no_layout_for_other_words(lower: bool) -> None:
    shown = Seen(steady=True)
    async with staged(shown, 40, VerticalScroll(id="fixed")) as (app, _):
        shown.display = True
        shown.show([line for number in range(6) for line in words(f"line {number}")])
        await at_rest(app)
        assert shown.heights == [11], "it fills its pane"
        laid = len(shown.sizes)
        shown.show([line for number in range(3 if lower else 9) for line in words(f"other {number}")])
        await at_rest(app)
        assert len(shown.sizes) == laid
        assert lines(app)[2].strip() == "other 2"
        assert lines(app)[5].strip() == ("" if lower else "other 5")


async def test_steady_lines_leave_a_pane_that_gets_lower_without_a_scrollbar() -> None:
    shown = Seen(steady=True)
    async with staged(shown, 40, VerticalScroll(id="fixed")) as (app, _):
        shown.display = True
        shown.show(words("one"))
        await at_rest(app)
        app.query_one("#below").styles.height = 3
        await at_rest(app)
        assert shown.heights == [11, 9]
        assert {size.width for size in shown.sizes if size.width} == {40}, "no bar took a cell, not even for a moment"


async def test_reading_the_screen_keeps_no_widget_from_hearing_of_its_size() -> None:
    """What every test of a screen reads it with."""
    shown = Seen()
    async with staged(shown, 40, Vertical(id="fixed")) as (app, _):
        shown.display = True
        await at_rest(app)
        shown.heard.clear()
        shown.styles.height = 3
        while not app.screen._layout_required:  # noqa: ASYNC110  Textual tells nobody of it
            await asyncio.sleep(0)
        lines(app)
        await at_rest(app)
        assert shown.heard == [3]
