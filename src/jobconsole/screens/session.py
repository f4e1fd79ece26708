"""Owns the place that says who is signed in, where, with which rights, and how long the token lives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.getters import query_one
from textual.widgets import Static

from jobconsole.present.session import session_lines
from jobconsole.present.text import line, txt
from jobconsole.screens.place import PlaceScreen

if TYPE_CHECKING:
    from jobcontract.session import Session


class SessionScreen(PlaceScreen):
    """You and this connection."""

    PLACE = "you"
    TITLE_WORDS = "You and this connection"
    EXPLANATION = "Who you are here, your tenants and what you may do in each, and when your token ends."
    DEFAULT_CSS = """
    SessionScreen #body VerticalScroll { padding: 0 1; }
    SessionScreen #body Static { height: auto; }
    """

    said = query_one("#said", Static)

    def compose_body(self) -> ComposeResult:
        """One scrolled text."""
        with VerticalScroll():
            yield Static(id="said")

    async def reload(self) -> None:
        """The session is what was signed in with; it is shown again with its present ages."""
        self.tick()

    def tick(self) -> None:
        """The token's remaining time."""
        session: Session | None = self.shell.session
        if session is None:
            self.said.update(txt("Nobody is signed in."))
            return
        now = self.shell.service.clock.server_now() or session.now
        rows = session_lines(session, self.shell.tenant, self.shell.service.address, now, self.shell.frame.zone)
        table = Table.grid(padding=(0, 2))
        table.add_column(width=9)
        table.add_column()
        for label, value in rows:
            table.add_row(Text(line(label), style="bold"), Text(line(value)))
        self.said.update(table)
