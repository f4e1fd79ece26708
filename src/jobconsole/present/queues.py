"""Owns how a queue is written: its columns at each width, its heading, its totals, and the sentences of a list that is
empty, loading, refused or failing. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jobconsole.present.amounts import totals_text
from jobconsole.present.columns import Column, Line, Piece, Tone, fit, joined, plain, whole_pieces, width_of
from jobcontract.states import ClaimMode, ItemView

if TYPE_CHECKING:
    from jobcontract.queues import Queue, QueueTotals

WIDE = 120
"""From this width of the terminal the list has one line a row, its detail at the right and the queues at the left."""

VIEWS: tuple[ItemView, ...] = (ItemView.WAITING, ItemView.SET_ASIDE, ItemView.CLOSED)
VIEW_WORDS = {ItemView.WAITING: "waiting", ItemView.SET_ASIDE: "set aside", ItemView.CLOSED: "closed"}
_STATE_LABEL = {ItemView.WAITING: "holder", ItemView.SET_ASIDE: "set aside", ItemView.CLOSED: "ended"}
ORDER_SHORT = "oldest first"
ORDER = f"{ORDER_SHORT}, no scores yet"
"""What orders every list until queues are scored (requirement order-unscored-queues-by-age)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsKnown:
    """How much of a list is known: rows loaded, whether there are more, rows marked, and what moved meanwhile."""

    loaded: int
    more: bool
    marked: int = 0
    moved: str = ""


def columns_of(queue: Queue, view: ItemView, *, one_line: bool) -> tuple[Column, ...]:
    """The columns of a queue's list; on one line a row its inputs have a column too."""
    money = (
        Column(id="amount", label="amount", least=6, right=True, whole=True),
        Column(id="account", label="acct", least=5, whole=True),
    )
    named = Column(id="name", label="payee" if queue.money else "title", least=16 if one_line else 12, yields=2)
    inputs = Column(id="inputs", label="inputs", least=20, most=44, yields=0)
    state = Column(id="state", label=_state_label(queue, view), least=10, most=22, yields=1)
    return (*(money if queue.money else ()), named, *((inputs,) if one_line else ()), state)


def _state_label(queue: Queue, view: ItemView) -> str:
    return "state" if view is ItemView.WAITING and queue.claim is ClaimMode.DISABLED else _STATE_LABEL[view]


def title_line(queue: Queue, totals: QueueTotals | None, width: int) -> Line:
    """`Supplier payouts   1,204 waiting · 37 mine · GBP out … back …`: counts, then as many whole totals as fit."""
    title = Piece(queue.title, Tone.STRONG)
    if totals is None:
        return (title, Piece("   counting …", Tone.QUIET))
    start = (title, Piece("   "), Piece(f"{totals.waiting:,} waiting"))
    rest = width - width_of(plain(start)) - 3
    money = totals_text(totals.totals, rest) if queue.money else ""
    return (*start, Piece(" · ", Tone.QUIET), Piece(money)) if money else start


def view_line(view: ItemView, totals: QueueTotals | None, rows: RowsKnown, width: int) -> Line:
    """Which of the views is shown, how many rows are marked and mine, the order, how much of the list is loaded."""
    pieces: list[Piece] = []
    for known in VIEWS:
        words = VIEW_WORDS[known]
        if known is ItemView.SET_ASIDE and totals is not None:
            words = f"{words} {totals.set_aside:,}"
        pieces.append(Piece(f"[{words}]", Tone.STRONG) if known is view else Piece(words, Tone.QUIET))
    views = [piece for known in pieces for piece in (known, Piece("  "))]
    room = width - width_of(plain(tuple(views))) - 1
    mine = totals.mine if totals is not None else 0
    notes = [
        Piece(f"■ {rows.marked:,} marked" if rows.marked else "", Tone.MINE),
        Piece(f"◆ {mine:,} mine" if mine else "", Tone.MINE),
        Piece(ORDER, Tone.QUIET),
        Piece(rows.moved, Tone.WARN),
        Piece(loaded_text(rows.loaded, rows.more, view, totals), Tone.QUIET),
    ]
    if width_of(plain(joined(notes))) > room:
        notes[2] = Piece(ORDER_SHORT, Tone.QUIET)
    return (*views, Piece(" "), *whole_pieces(notes, room))


def loaded_text(loaded: int, more: bool, view: ItemView, totals: QueueTotals | None) -> str:
    """`100 of 1,204 loaded`, `12 rows`."""
    whole = {ItemView.WAITING: totals.waiting, ItemView.SET_ASIDE: totals.set_aside}.get(view) if totals else None
    if not more:
        return f"{loaded:,} {'row' if loaded == 1 else 'rows'}"
    return (
        f"{loaded:,} of {whole:,} loaded" if whole is not None and whole > loaded else f"{loaded:,} loaded, more below"
    )


def empty_sentence(queue: Queue, view: ItemView, totals: QueueTotals | None) -> str:
    """Why there is nothing to see, and what to do next."""
    name = queue.title
    if view is ItemView.SET_ASIDE:
        return f"Nothing is set aside in {name}. Press v for what is closed."
    if view is ItemView.CLOSED:
        return f"Nothing was closed in {name} yet. Press v for what is waiting."
    if totals is not None and totals.set_aside:
        return f"Nothing is waiting in {name}; {totals.set_aside:,} set aside until later. Press v to see them."
    return f"Nothing is waiting in {name}. New items appear here by themselves."


def switcher_lines(queues: Sequence[Queue], shown: str | None, counts: dict[str, int], width: int) -> tuple[Line, ...]:
    """The queues at the far left of a wide screen, the shown one marked; `width` in cells."""
    lines: list[Line] = []
    for queue in queues:
        here = queue.id == shown
        count = f"{counts[queue.id]:,}" if queue.id in counts else ""
        room = width - 2 - (width_of(count) + 1 if count else 0)
        mark = Piece("▸ " if here else "  ", Tone.MINE)
        name = Piece(fit(queue.title, max(1, room)), Tone.STRONG if here else Tone.PLAIN)
        lines.append((mark, name, Piece(f" {count}" if count else "", Tone.QUIET)))
    return tuple(lines)
