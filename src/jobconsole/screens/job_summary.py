"""Owns the dialog that shows what a customer may be told about a background job: to be read out, or pasted. It acts on
nothing; the text is made by `present/job_summary`."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.content import Content

from jobconsole.present.columns import Line, Piece, Tone
from jobconsole.screens.dialog import Dialog
from jobconsole.widgets.lines import Lines


class SummaryScreen(Dialog[None]):
    """A few sentences, one under the other; up and down scroll them."""

    AUTO_FOCUS = "VerticalScroll"
    BINDINGS = [  # noqa: RUF012  Textual's own form of a class's bindings
        Binding("enter,q,s,backspace", "cancel", show=False),
        Binding("up,k", "scroll('up')", show=False),
        Binding("down,j", "scroll('down')", show=False),
    ]
    DEFAULT_CSS = """
    SummaryScreen { background: $background 60%; align: center middle; }
    SummaryScreen > VerticalScroll { width: 74; max-width: 100%; height: auto; max-height: 100%; padding: 0 2;
        background: $surface; border: round $primary; border-subtitle-color: $text-muted; scrollbar-size-vertical: 1; }
    SummaryScreen #sent { margin-top: 1; }
    """

    def __init__(self, sentences: Sequence[str]) -> None:
        """`sentences`: what the customer may be told, in order."""
        super().__init__()
        self._sentences = tuple(sentences)

    def compose(self) -> ComposeResult:
        """The sentences, and where else they are."""
        with VerticalScroll() as scroll:
            scroll.border_title = Content("For the customer")
            scroll.border_subtitle = Content("^c copies it again · esc back")
            yield Lines(id="told", indent=2)
            yield Lines(id="sent")

    def on_mount(self) -> None:
        """Shows them."""
        self.query_one("#told", Lines).show([(Piece(each),) for each in self._sentences])
        sent: Line = (
            Piece("Sent to your terminal's clipboard as one paragraph. Nothing internal stands in it.", Tone.QUIET),
        )
        self.query_one("#sent", Lines).show([sent])

    def copyable(self) -> str:
        """All of it, as one paragraph."""
        return " ".join(self._sentences)

    def action_scroll(self, way: str) -> None:
        """Scrolls a line."""
        scroll = self.query_one(VerticalScroll)
        (scroll.scroll_up if way == "up" else scroll.scroll_down)(animate=False)
