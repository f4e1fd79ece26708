"""Owns the place that lists the recoveries of the tenant, the latest first: what each does, whose it is, how far it is. It
looks again when a hint names one; a row stays where it is by its recovery's id.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from jobconsole.client import recoveries as client
from jobconsole.commands.situation import SelectedRecovery, Situation
from jobconsole.present.columns import Column, Line, Piece, Tone, whole_pieces
from jobconsole.present.recoveries import state_now
from jobconsole.present.recovery_list import recoveries_cells, recoveries_columns
from jobconsole.screens.listed import PagedScreen
from jobconsole.screens.plan_seen import key_words
from jobconsole.screens.recovery_making import making_handlers, open_recovery
from jobconsole.screens.shell import Handler
from jobconsole.screens.told_rows import Page, ToldRows
from jobcontract.events import Topic

if TYPE_CHECKING:
    from jobcontract.events import Hint
    from jobcontract.recoveries import Recovery


class RecoveriesScreen(PagedScreen["Recovery"]):
    """Recoveries of the tenant."""

    PLACE = "recoveries"
    TITLE_WORDS = "Recoveries"
    READING = "Reading the recoveries"
    MORE = "Reading more recoveries"
    LIST = "recoveries"
    OPENS = "recovery.open"
    EXPLANATION = (
        "Acts on many occurrences or schedules at once, the latest first: replays of a stretch of time, dead letters that "
        "run again or are discarded, schedules that are switched off. Each was frozen and shown before it was confirmed. ○ "
        "open: nothing of it was done yet. ▶ applying. ‖ paused. ¤ moves money. Enter shows everything of one."
    )

    def __init__(self) -> None:
        super().__init__(ToldRows(lambda each: each.id, lambda each, _: recoveries_cells(each, self.seen())))

    def handlers(self) -> Mapping[str, Handler]:
        """Commands of the list."""
        return {
            "recovery.open": self.open,
            **making_handlers(self),
            **super().handlers(),
        }

    def situation(self) -> Situation:
        """The recovery under the cursor."""
        facts, found = super().situation(), self.selected()
        if found is None:
            return facts
        seen = self.seen()
        mine = found.owner.id == seen.me
        selected = SelectedRecovery(
            state=state_now(found, seen.now), mine=mine, owner=found.owner.id, count=found.count
        )
        return replace(facts, recovery=selected)

    def copyable(self) -> str | None:
        """The headless command that makes the recovery under the cursor once more."""
        found = self.selected()
        return found.command if found is not None else None

    def names(self) -> tuple[str, ...]:
        """The names of the recoveries: `:tern-42` opens one."""
        return tuple(each.name for each in self.rows.rows)

    def go_to_name(self, word: str) -> bool:
        """Opens the recovery with that name."""
        found = next((each for each in self.rows.rows if each.name == word.strip().casefold()), None)
        if found is not None:
            open_recovery(self, found)
        return found is not None

    # Looking

    def concerned(self, hint: Hint) -> bool:
        """Whether a recovery changed."""
        return hint.topic is Topic.RECOVERY

    async def page(self, cursor: str | None) -> Page[Recovery]:
        """Recoveries, the latest first."""
        page = await client.recoveries(self.shell.service, cursor=cursor)
        return page.recoveries, page.next

    # Commands

    def open(self) -> None:
        """Shows the recovery under the cursor."""
        if (found := self.selected()) is not None:
            open_recovery(self, found)

    # What is shown

    def heading(self, width: int) -> Sequence[Line]:
        """How many are under way, how many of them the person's own, how many ended."""
        rows, seen = self.rows, self.seen()
        live = [each for each in rows.rows if not state_now(each, seen.now).ended]
        mine = sum(each.owner.id == seen.me for each in live)
        more = ", more follow" if self.paged.next is not None else ""
        told = [
            Piece("Recoveries", Tone.STRONG),
            Piece(
                f"{len(live):,} open or being applied" if self.told_at is not None else "",
                Tone.MINE if live else Tone.QUIET,
            ),
            Piece(f"{mine:,} yours" if mine else "", Tone.MINE),
            Piece(f"{len(rows) - len(live):,} ended{more}" if len(rows) > len(live) else "", Tone.QUIET),
        ]
        return [whole_pieces(told, width)]

    def words(self) -> Sequence[Line]:
        """That there is none, and how one is made."""
        keys = key_words(self, "recovery.replay", "recovery.requeue", "recovery.discard")
        empty = (
            f"No recovery was made here lately. {keys['recovery.replay']} replays a stretch of time; in a schedule's "
            f"occurrences {keys['recovery.requeue']} requeues its dead letters and {keys['recovery.discard']} discards "
            "them. Each is shown before anything is done."
        )
        return self.said_lines(empty, rows=len(self.rows))

    def columns(self) -> tuple[Column, ...]:
        """The columns of recoveries."""
        return recoveries_columns()
