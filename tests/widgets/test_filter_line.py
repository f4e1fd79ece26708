"""The filter line: what is typed is there character for character, faults are pointed at, offers never take enter."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, ClassVar

import pytest
from textual import events, on
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.pilot import Pilot

from jobconsole.present.filters import Fault, Offer, fault_of
from jobconsole.present.text import CONTROL_FILTER
from jobconsole.widgets.filter_line import CUT, FULL, HINT, FilterEntry, FilterLine
from jobconsole.widgets.table import Table
from jobcontract.ids import FILTER_MAX
from tests.hostile import HOSTILE, MARKUP

WORDS = ("currency:GBP", "currency:EUR", "holder:me")


def offers(text: str, at: int) -> Sequence[Offer]:
    start = text.rfind(" ", 0, at) + 1
    begun = text[start:at]
    return [Offer(text=word, start=start, end=at, title="a title") for word in WORDS if word.startswith(begun)]


class Stage(App[None]):
    """A filter line above a table, and what it told."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("slash", "edit", show=False)]
    ENABLE_COMMAND_PALETTE = False

    def __init__(self) -> None:
        super().__init__()
        self.given: list[str] = []
        self.closed = 0
        self.line = FilterLine(judge=fault_of, offers=offers)

    def get_line_filters(self) -> list[Any]:
        return [*super().get_line_filters(), CONTROL_FILTER]

    def compose(self) -> ComposeResult:
        yield self.line
        yield Table()

    def action_edit(self) -> None:
        self.line.open("")

    @on(FilterLine.Given)
    def _line_given(self, event: FilterLine.Given) -> None:
        self.given.append(event.text)

    @on(FilterLine.Closed)
    def _line_closed(self) -> None:
        self.closed += 1

    def shown(self) -> list[str]:
        strips = self.screen._compositor.render_strips()
        return ["".join(segment.text for segment in strip) for strip in strips]


@asynccontextmanager
async def on_stage(text: str | None = None, *, width: int = 80) -> AsyncIterator[tuple[Stage, Pilot[None]]]:
    app = Stage()
    async with app.run_test(size=(width, 12)) as pilot:
        if text is not None:
            app.line.open(text)
            await settle(pilot)
        yield app, pilot


def fault_under(line: FilterLine) -> Fault | None:
    return line.entry.fault


async def settle(pilot: Pilot[None]) -> None:
    await pilot.pause()
    await pilot.pause()


async def test_without_a_filter_there_is_no_line_and_with_one_it_stays() -> None:
    async with on_stage() as (app, pilot):
        assert not app.line.display
        app.line.show("currency:GBP", "212 match")
        await settle(pilot)
        assert app.line.size.height == 1
        assert app.shown()[0].split() == ["/", "currency:GBP", "212", "match"]
        assert app.shown()[0].rstrip().endswith("212 match")
        app.line.show("", "")
        await settle(pilot)
        assert not app.line.display


async def test_slash_opens_enter_gives_and_the_keyboard_goes_back_when_it_is_closed() -> None:
    async with on_stage() as (app, pilot):
        await pilot.press("/", "a", "b", "enter")
        assert app.given == ["ab"]
        assert app.line.typing
        app.line.close()
        await settle(pilot)
        assert isinstance(app.focused, Table)
        assert not app.line.display


async def test_escape_leaves_the_filter_as_it_was() -> None:
    async with on_stage() as (app, pilot):
        app.line.show("holder:me", "3 match")
        await pilot.press("/", "x", "escape")
        await settle(pilot)
        assert app.given == []
        assert app.closed == 1
        assert "/ holder:me" in app.shown()[0]


@pytest.mark.requirement("TUI-01")
async def test_what_is_typed_stands_there_character_for_character_and_is_inert() -> None:
    async with on_stage("") as (app, pilot):
        for text in MARKUP:
            app.line.open("")
            app.line.entry.insert_text_at_cursor(text)
            await settle(pilot)
            assert app.shown()[0][3:].rstrip() == text.rstrip()
            app.line.refuse(Fault(sentence=f"{text} is refused", at=0, length=len(text)))
            await settle(pilot)
            assert app.line.typed == text
            assert text.strip() in " ".join(app.shown()[1:3])
            app.line.close()
            app.line.show(text, "0 match")
            await settle(pilot)
            assert text.rstrip() in app.shown()[0]
        app.line.open("[@click=app.quit]go[/]")
        await settle(pilot)
        await pilot.click(FilterEntry, offset=(19, 0))
        app.line.close()
        app.line.show("[@click=app.quit]go[/]", "0 match")
        await settle(pilot)
        await pilot.click(FilterLine, offset=(20, 0))
        assert app.is_running
        assert app.return_code is None


@pytest.mark.requirement("TUI-01")
async def test_every_hostile_text_is_given_as_it_is() -> None:
    async with on_stage("") as (app, pilot):
        for text in HOSTILE:
            app.line.open(text[:FILTER_MAX])
            await app.line.entry.action_submit()
            await pilot.pause()
        assert app.given == [text[:FILTER_MAX] for text in HOSTILE]


async def test_a_fault_is_underlined_and_pointed_at_while_it_is_typed_and_goes_when_it_is_mended() -> None:
    async with on_stage("株式会社 age:3d") as (app, pilot):
        assert fault_under(app.line) is not None
        below = app.shown()[1]
        assert below[: below.index("^")] == " " * (1 + 2 + 8 + 1 + 3)
        assert "age>3d" in below
        strip = app.line.entry.render_line(0)
        assert "".join(s.text for s in strip if s.style and s.style.underline) == ":"
        await pilot.press("left", "left", "backspace", ">")
        await settle(pilot)
        assert fault_under(app.line) is None
        assert HINT in app.shown()[1]


async def test_the_caret_follows_what_is_scrolled_out_of_sight() -> None:
    text = "longerword " * 12 + "age:3d"
    async with on_stage(text, width=60) as (app, _):
        typed, below = app.shown()[0], app.shown()[1]
        assert app.line.entry.scrolled > 0
        assert typed[below.index("^")] == ":"


async def test_a_refusal_of_the_service_stands_until_the_text_changes() -> None:
    async with on_stage("currency:GBP") as (app, pilot):
        app.line.refuse(Fault(sentence="The queue has no GBP.", at=9, length=3))
        await settle(pilot)
        assert app.line.entry.cursor_position == 12
        assert app.shown()[1].index("^^^") == 3 + 9
        assert "The queue has no GBP." in app.shown()[1]
        await pilot.press("x")
        await settle(pilot)
        assert "The queue has no GBP." not in app.shown()[1]


async def test_one_offer_is_completed_by_tab_and_enter_still_applies() -> None:
    async with on_stage("holder:free h") as (app, pilot):
        await pilot.press("tab", "enter")
        assert app.given == ["holder:free holder:me"]


async def test_tab_completes_what_offers_agree_in_then_goes_through_them() -> None:
    async with on_stage("c") as (app, pilot):
        await pilot.press("tab")
        await settle(pilot)
        assert app.line.typed == "currency:"
        assert app.shown()[1].split() == ["currency:GBP", "a", "title", "currency:EUR", "a", "title"]
        await pilot.press("tab")
        assert app.line.typed == "currency:GBP"
        await pilot.press("down")
        await settle(pilot)
        assert app.line.typed == "currency:EUR"
        assert "▸currency:EUR" in app.shown()[1]
        await pilot.press("up", "up")
        assert app.line.typed == "currency:EUR"
        await pilot.press("enter")
        assert app.given == ["currency:EUR"]
        assert isinstance(app.focused, FilterEntry)


async def test_typing_on_forgets_the_offers_and_down_takes_the_first() -> None:
    async with on_stage("") as (app, pilot):
        await pilot.press("down", "down")
        assert app.line.typed == "currency:EUR"
        await pilot.press("space")
        await settle(pilot)
        assert "▸" not in app.shown()[1]
        await pilot.press("h", "tab")
        assert app.line.typed == "currency:EUR holder:me"


async def test_where_nothing_is_known_tab_says_so_and_changes_nothing() -> None:
    async with on_stage("xyz") as (app, pilot):
        await pilot.press("tab")
        await settle(pilot)
        assert app.line.typed == "xyz"
        assert "Nothing is known" in app.shown()[1]
        assert isinstance(app.focused, FilterEntry)


@pytest.mark.parametrize(
    ("before", "pasted", "text", "said"),
    [
        ("a ", "holder:me\n  currency:GBP\r\nc\x1b[31m", "a holder:me currency:GBP c[31m", HINT),
        ("", "x" * 600, "x" * FILTER_MAX, CUT),
        ("y" * FILTER_MAX, "more", "y" * FILTER_MAX, CUT),
    ],
    ids=["several lines", "huge", "full"],
)
async def test_a_paste_is_one_line_and_its_end_is_cut_with_a_sentence(
    before: str, pasted: str, text: str, said: str
) -> None:
    async with on_stage(before) as (app, pilot):
        app.line.entry.post_message(events.Paste(pasted))
        await settle(pilot)
        assert app.line.typed == text
        assert said in app.shown()[1]
        assert app.given == []


async def test_a_full_line_says_so_and_keeps_what_was_typed() -> None:
    async with on_stage("y" * FILTER_MAX) as (app, pilot):
        await pilot.press("z")
        await settle(pilot)
        assert app.line.typed == "y" * FILTER_MAX
        assert FULL in app.shown()[1]


async def test_keys_that_come_in_one_piece_take_effect_in_the_order_in_which_they_were_typed() -> None:
    async with on_stage("holder:me") as (app, pilot):
        for key, sign in (("ctrl+u", None), *((c, c) for c in "abx"), ("backspace", None), ("c", "c"), ("enter", "\r")):
            app.post_message(events.Key(key, sign))
        await settle(pilot)
        assert app.given == ["abc"]
