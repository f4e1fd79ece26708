"""Owns the filter line: the filter in force with its count, and typing another one: faults pointed at while it is typed,
offers to complete it. It is told how to judge and what to offer, applies nothing itself, and loses no typed text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from rich.highlighter import Highlighter
from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.geometry import Region
from textual.getters import query_one
from textual.message import Message
from textual.widgets import Input, Static

from jobconsole.present.columns import Piece, Tone
from jobconsole.present.filters import (
    PROMPT,
    Fault,
    Offer,
    agreed_offer,
    fault_lines,
    filter_lines,
    offers_line,
)
from jobconsole.present.text import txt
from jobconsole.widgets.line_entry import LineEntry
from jobconsole.widgets.lines import Lines
from jobcontract.ids import FILTER_MAX

HINT = "enter applies · tab completes · esc leaves it as it was"
NOTHING = "Nothing is known that could stand here: type on."
FULL = f"A filter has at most {FILTER_MAX} characters: this one is full."
CUT = f"A filter has at most {FILTER_MAX} characters: the end of what was pasted is left out."

Judge = Callable[[str], Fault | None]
"""What is wrong with a filter, as far as the console knows; None where nothing is."""
Offering = Callable[[str, int], Sequence[Offer]]
"""What could be typed in a filter at a cursor."""


class _Underlined(Highlighter):
    """Underlines the characters that a fault is about."""

    def __init__(self, entry: FilterEntry) -> None:
        self._entry = entry

    def highlight(self, text: Text) -> None:
        fault = self._entry.fault
        if fault is not None:
            style = self._entry.get_component_rich_style("filter-entry--fault", partial=True)
            text.stylize(style, fault.at, fault.at + max(1, fault.length))


class FilterEntry(LineEntry):
    """The text of a filter; tab, up and down are the filter line's."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {*Input.COMPONENT_CLASSES, "filter-entry--fault"}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "offer(0)", show=False),
        Binding("shift+tab", "offer(-1)", show=False),
        Binding("down", "offer(1)", show=False),
        Binding("up", "offer(-1)", show=False),
        Binding("escape", "leave", show=False),
    ]
    DEFAULT_CSS = """
    FilterEntry { width: 1fr; height: 1; border: none; padding: 0; background: $panel; color: $foreground; }
    FilterEntry:focus { border: none; background-tint: transparent; }
    FilterEntry > .filter-entry--fault { color: $text-error; text-style: bold underline; }
    """

    @dataclass
    class OfferAsked(Message):
        """Tab (0) completes, then goes on as down (1) does: to the next offer; up (-1) to the one before."""

        by: int

    class Left(Message):
        """Escape."""

    class Scrolled(Message):
        """Another part of the text is in sight."""

    def __init__(self) -> None:
        super().__init__(compact=True, select_on_focus=False, max_length=FILTER_MAX, highlighter=_Underlined(self))
        self.fault: Fault | None = None
        self.can_focus = False  # else a place with nothing else to focus gives it the keyboard

    @property
    def scrolled(self) -> int:
        """Cells of the text that are out of sight at the left."""
        return int(self.scroll_offset.x)

    def mark(self, fault: Fault | None) -> None:
        """Underlines the characters of `fault`."""
        if fault != self.fault:
            self.fault = fault
            self.refresh()

    def reveal(self) -> None:
        """Brings the cursor into sight."""
        cell = cell_len(self.value[: self.cursor_position])
        self.scroll_to_region(Region(cell, 0, 1, 1), animate=False, force=True)

    def watch_scroll_x(self, old_value: float, new_value: float) -> None:
        """Tells it: what stands below points at cells."""
        super().watch_scroll_x(old_value, new_value)
        self.post_message(self.Scrolled())

    def action_offer(self, by: int) -> None:
        """Tab, up or down."""
        self.post_message(self.OfferAsked(by))

    def action_leave(self) -> None:
        """Escape."""
        self.post_message(self.Left())


class FilterLine(Vertical):
    """Hidden without a filter; one line with one; with a line below while it is typed."""

    DEFAULT_CSS = """
    FilterLine { height: auto; padding: 0 1; display: none; }
    FilterLine > #filter-shown { height: auto; }
    FilterLine > #filter-typed { height: 1; background: $panel; display: none; }
    FilterLine > #filter-below { height: auto; display: none; }
    FilterLine #filter-prompt { width: 2; color: $text-accent; text-style: bold; }
    FilterLine #filter-count { width: auto; padding: 0 0 0 1; color: $secondary; }
    """

    entry = query_one(FilterEntry)
    shown = query_one("#filter-shown", Lines)
    below = query_one("#filter-below", Lines)

    @dataclass
    class Given(Message):
        """Enter: this filter is to be applied."""

        text: str

    class Closed(Message):
        """The line was left; the filter in force stays."""

    def __init__(self, *, judge: Judge, offers: Offering, id: str | None = None) -> None:
        """`judge` is asked at every key, `offers` when the person wants to complete: neither may wait."""
        super().__init__(id=id)
        self._judge = judge
        self._offering = offers
        self._text = ""
        self._words = ""
        self._said = ""
        self._refused: Fault | None = None
        self._offers: tuple[Offer, ...] = ()
        self._chosen: int | None = None
        self._base = ""
        self._taken = ""
        self.nothing = NOTHING
        """What is said where there is nothing to offer."""
        self.typing = False
        """Whether the person types a filter."""

    def compose(self) -> ComposeResult:
        """The filter in force; the entry with its count; the line below."""
        yield Lines(id="filter-shown", clipped=True)
        with Horizontal(id="filter-typed"):
            yield Static(Content(PROMPT), id="filter-prompt")
            yield FilterEntry()
            yield Static(id="filter-count")
        yield Lines(id="filter-below", clipped=True)

    @property
    def typed(self) -> str:
        """What stands in the entry."""
        return self.entry.value

    def show(self, text: str, words: str) -> None:
        """The filter in force (empty: none) and how many match it."""
        self._text, self._words = text, words
        self._paint()

    def open(self, text: str) -> None:
        """Takes the keyboard; `text` is what is typed so far."""
        self.typing = True
        self._forget()
        self.entry.value = text
        self.entry.cursor_position = len(text)
        self.entry.can_focus = True
        self._paint()
        # At once, not by `focus()`, which waits its turn: the next keys are already on their way.
        self.screen.set_focus(self.entry)
        self.call_after_refresh(self.entry.reveal)

    def begin_with(self, before: str, now: str) -> None:
        """What was typed began with `before`; it begins with `now` from now on. The keyboard stays where it is."""
        typed = self.entry.value
        if not self.typing or before == now or not typed.startswith(before):
            return
        at = self.entry.cursor_position + len(now) - len(before)
        self._forget()
        self.entry.value = now + typed[len(before) :]
        self.entry.cursor_position = max(0, at)
        self._paint()

    def close(self) -> None:
        """Gives the keyboard back; what was typed is dropped."""
        if not self.typing:
            return
        self.typing = False
        self._forget()
        self.entry.can_focus = False
        if self.entry.has_focus:
            self.screen.set_focus(None)
            self.screen.focus_next()
        self._paint()

    def asking(self) -> None:
        """The service is being asked whether it takes the filter."""
        self._said = "asking the service …"
        self._paint()

    def answered(self) -> None:
        """The service answered, or did not: it is no longer asked."""
        self._said = ""
        self._paint()

    def refuse(self, fault: Fault) -> None:
        """The filter that was entered is not taken: says why, with the cursor at the place."""
        self._said, self._refused = "", fault
        self.entry.cursor_position = min(len(self.entry.value), fault.at + fault.length)
        self._paint()

    def judge_again(self) -> None:
        """More is known by which a filter is judged."""
        if self.typing:
            self._paint()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Every key: what was said of the text before no longer holds."""
        event.stop()
        if event.value != self._taken:
            self._forget()
        self._paint()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter: the filter as it stands. Whether it can be used is for the screen and the service to say."""
        event.stop()
        self.post_message(self.Given(event.value))

    def on_filter_entry_left(self, event: FilterEntry.Left) -> None:
        """Escape: the filter in force stays as it was."""
        event.stop()
        self.close()
        self.post_message(self.Closed())

    def on_filter_entry_scrolled(self, event: FilterEntry.Scrolled) -> None:
        """The caret below follows."""
        event.stop()
        self._paint()

    @on(LineEntry.Cut)
    def _entry_cut(self, event: LineEntry.Cut) -> None:
        event.stop()
        # After the change of the text, which takes away what was said before.
        self.call_later(self._say, CUT if event.pasted else FULL)

    def on_filter_entry_offer_asked(self, event: FilterEntry.OfferAsked) -> None:
        """Shows what could be typed. Tab completes as far as all of it agrees, then each key goes to another offer."""
        event.stop()
        if not self._offers:
            self._ask_offers()
            if not self._offers:
                self._say(self.nothing)
                return
            if event.by == 0:
                self._complete()
                return
        last = len(self._offers) - 1
        if self._chosen is None:
            self._chosen = last if event.by < 0 else 0
        else:
            self._chosen = (self._chosen + (event.by or 1)) % len(self._offers)
        self._take(self._offers[self._chosen])

    def _ask_offers(self) -> None:
        self._base, self._said, self._chosen = self.entry.value, "", None
        self._offers = tuple(self._offering(self._base, self.entry.cursor_position))

    def _complete(self) -> None:
        """Puts in what all offers begin with, and shows what could follow."""
        agreed = agreed_offer(self._base, self._offers)
        if agreed is not None:
            self._take(agreed)
            self._ask_offers()
        self._paint()

    def _take(self, offer: Offer) -> None:
        self._taken, at = offer.taken(self._base)
        self.entry.value = self._taken
        self.entry.cursor_position = at
        self._paint()

    def on_resize(self) -> None:
        """Another width."""
        self._paint()

    def _say(self, sentence: str) -> None:
        self._said = sentence
        self._paint()

    def _forget(self) -> None:
        self._offers, self._chosen, self._refused, self._said, self._base, self._taken = (), None, None, "", "", ""

    def _paint(self) -> None:
        self.display = self.typing or bool(self._text)
        self.shown.display = not self.typing
        self.query_one("#filter-typed").display = self.below.display = self.typing
        width = max(8, self.content_size.width)
        if self.typing:
            words = self._words if self._text and self._text == self.entry.value else ""
            self.query_one("#filter-count", Static).update(txt(words))
            fault = self._refused or self._judge(self.entry.value)
            self.entry.mark(fault)
            self.call_after_refresh(self._paint_below, fault)
        elif self._text:
            self.shown.show(filter_lines(self._text, self._words, width))

    def _paint_below(self, fault: Fault | None) -> None:
        if not self.typing:
            return
        width = max(8, self.content_size.width)
        blank = Piece(" " * len(PROMPT))
        if self._said:
            self.below.show([(blank, Piece(self._said, Tone.WARN))])
        elif self._offers:
            self.below.show([offers_line(self._offers, self._chosen, width)])
        elif fault is not None:
            self.below.show(fault_lines(self.entry.value, fault, self.entry.scrolled, width))
        else:
            self.below.show([(blank, Piece(HINT, Tone.QUIET))])
