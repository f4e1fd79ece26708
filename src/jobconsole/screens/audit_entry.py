"""Owns the screen of one entry of the audit trail: who, what and why, before and after side by side with what changed
marked, everything else that was kept, and how it is sealed. Changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.getters import query_one

from jobconsole.client import audit as client
from jobconsole.present.audit import LABEL, detail_lines, entry_lines, has_sides, head_lines, side_lines
from jobconsole.present.columns import Piece, Tone
from jobconsole.screens.shell import Handler
from jobconsole.screens.watching import WatchingScreen
from jobconsole.widgets.lines import Lines

if TYPE_CHECKING:
    from jobcontract.audit import AuditDetail, AuditEntry
    from jobcontract.events import Hint


class AuditEntryScreen(WatchingScreen):
    """One entry of the trail."""

    PLACE = "audit-entry"
    TITLE_WORDS = "Audit entry"
    READING = "Reading the entry"
    EXPLANATION = (
        "One entry of the audit trail. Before and after stand side by side, as far as the act kept them: ≠ marks what "
        "changed, and stands first. An act on an item shows the version that it left and the one before it. ✓ sealed: its "
        "place in the chain that jobservice audit verify computes anew. The reference is for an engineer."
    )
    AUTO_FOCUS = "#whole"
    DEFAULT_CSS = """
    AuditEntryScreen #title { height: 1; padding: 0 1; }
    AuditEntryScreen #said { display: none; padding: 0 1; }
    AuditEntryScreen #whole { height: 1fr; scrollbar-size-vertical: 1; }
    AuditEntryScreen #whole:focus { background-tint: transparent; }
    AuditEntryScreen #head, AuditEntryScreen #kept { padding: 0 1; }
    AuditEntryScreen #sides { height: auto; margin: 1 0; border-top: solid $foreground 25%;
        border-bottom: solid $foreground 25%; }
    AuditEntryScreen #before, AuditEntryScreen #after { width: 1fr; padding: 0 1; }
    AuditEntryScreen #after { border-left: solid $foreground 25%; }
    """

    title_line = query_one("#title", Lines)
    said = query_one("#said", Lines)
    whole = query_one("#whole", VerticalScroll)
    head = query_one("#head", Lines)
    kept = query_one("#kept", Lines)

    def __init__(self, entry: AuditEntry) -> None:
        super().__init__()
        self.entry = entry
        self.detail: AuditDetail | None = None

    def compose_body(self) -> ComposeResult:
        """Title, head, the two sides, what else was kept."""
        yield Lines(id="title", clipped=True)
        yield Lines(id="said")
        with VerticalScroll(id="whole"):
            yield Lines(id="head", indent=2)
            with Horizontal(id="sides"):
                yield Lines(id="before", indent=LABEL)
                yield Lines(id="after", indent=LABEL)
            yield Lines(id="kept", indent=LABEL + 1)

    def on_mount(self) -> None:
        """Shows what the list knows of it; the rest is asked for."""
        self.show_all()

    def handlers(self) -> Mapping[str, Handler]:
        """Scrolling alone."""
        return {}

    def copyable(self) -> str | None:
        """The reference for an engineer, or the number of the entry."""
        return (self.detail.reference if self.detail is not None else None) or str(self.entry.id)

    async def look(self) -> None:
        """Asks for the entry."""
        self.detail = await client.entry(self.shell.service, self.entry.id)

    def concerned(self, hint: Hint) -> bool:  # noqa: ARG002  the protocol's
        """An entry never changes."""
        return False

    def restless(self) -> bool:
        """Until it is sealed."""
        return self.detail is None or self.detail.seal is None

    def there(self) -> bool:
        """Whether the parts of the screen are there."""
        return super().there() and bool(self.query("#kept"))

    def show_all(self) -> None:
        """Shows everything for what is known now."""
        if not self.there():
            return
        detail = self.detail
        self.title_line.show([(Piece("Audit entry ", Tone.QUIET), Piece(str(self.entry.id), Tone.STRONG))])
        said = (
            self.said_lines("", rows=1)
            if detail is not None or self.failure
            else [(Piece(f"{self.READING} …", Tone.QUIET),)]
        )
        self.said.display = bool(said)
        self.said.show(said)
        self.head.show(head_lines(detail, self.at()) if detail is not None else entry_lines(self.entry, self.at()))
        self.query_one("#sides").display = detail is not None and has_sides(detail)
        if detail is not None:
            self.query_one("#before", Lines).show(side_lines(detail, after=False))
            self.query_one("#after", Lines).show(side_lines(detail, after=True))
            self.kept.show(detail_lines(detail))
        self.situation_changed()
