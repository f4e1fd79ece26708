"""Owns how a queue is written: its columns at each width, its heading, its totals, and the sentences of a list that is
empty, loading, refused or failing. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jobconsole.present.amounts import totals_text
from jobconsole.present.columns import Column, Line, Piece, Tone, fit, joined, plain, whole_pieces, width_of
from jobconsole.present.times import ago
from jobcontract.states import ClaimMode, ItemView

if TYPE_CHECKING:
    from datetime import datetime

    from jobcontract.queues import Queue, QueueTotals

WIDE = 120
"""From this width of the terminal the list has one line a row, its detail at the right and the queues at the left."""

VIEWS: tuple[ItemView, ...] = (ItemView.WAITING, ItemView.SET_ASIDE, ItemView.CLOSED)
VIEW_WORDS = {ItemView.WAITING: "waiting", ItemView.SET_ASIDE: "set aside", ItemView.CLOSED: "closed"}
_STATE_LABEL = {ItemView.WAITING: "holder", ItemView.SET_ASIDE: "set aside", ItemView.CLOSED: "ended"}
ORDER_SHORT = {True: "highest first", False: "oldest first"}
"""How a list is ordered, in two words; True: its queue is scored."""
ORDER = {True: "highest score first", False: "oldest first, no scores"}
"""The same where there is room (requirements order-queue-items-by-score, order-unscored-queues-by-age)."""
ORDER_BY_AMOUNT = ("largest amount first", "largest first")
"""The same for a list that its filter sorts."""
INPUTS_MOST = 48
"""Cells of the inputs' column; longer ones stand under their row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsKnown:
    """How much of a list is known: which rows are loaded, how many are marked, and what moved meanwhile."""

    loaded: int
    begun: bool = True
    """Whether the first row of the list is among them."""
    ended: bool = True
    """Whether the last row of the list is among them."""
    start: str = ""
    """What the first loaded row is known by where it is not the first of the list: `score 80`."""
    now: datetime | None = None
    """By the service's clock: from when the age of a count that is not exact is told."""
    marked: int = 0
    hidden: int = 0
    """How many of them the filter in force does not show."""
    all_marked: str = ""
    """What is marked where it is all that match, in words."""
    moved: str = ""
    order: tuple[str, str] = (ORDER[False], ORDER_SHORT[False])
    """The order in words: in full, and short."""
    filtered: bool = False
    """Whether the list holds what matches a filter, not the whole view."""
    matching: QueueTotals | None = None
    """Of such a list: how many match, once they were counted."""


def columns_of(queue: Queue, view: ItemView, *, one_line: bool) -> tuple[Column, ...]:
    """The columns of a queue's list; on one line a row its inputs have a column too."""
    score = Column(id="score", label="score", least=5, most=12, right=True, uncut=True, yields=3, hangs=True)
    money = (
        Column(id="amount", label="amount", least=6, right=True, whole=True),
        Column(id="account", label="acct", least=5, whole=True),
    )
    named = Column(id="name", label="payee" if queue.money else "title", least=12, yields=2)
    inputs = Column(id="inputs", label="inputs", least=12, most=INPUTS_MOST, uncut=True, yields=0)
    state = Column(id="state", label=_state_label(queue, view), least=10, most=22, yields=1)
    return (
        *((score,) if queue.score is not None else ()),
        *(money if queue.money else ()),
        named,
        *((inputs,) if one_line else ()),
        state,
    )


def _state_label(queue: Queue, view: ItemView) -> str:
    return "state" if view is ItemView.WAITING and queue.claim is ClaimMode.DISABLED else _STATE_LABEL[view]


def title_line(queue: Queue, totals: QueueTotals | None, width: int) -> Line:
    """`Supplier payouts   1,204 waiting · 37 mine · GBP out … back …`: counts, then as many whole totals as fit. Of one
    that is stopped by whom and why, which matters more than what waits."""
    title = Piece(queue.title, Tone.STRONG)
    if queue.stopped is not None:
        waiting = f" · {totals.waiting:,} waiting" if totals is not None else ""
        return title, Piece("   "), Piece(f"■ {queue.stopped}", Tone.BAD), Piece(waiting)
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
    whole, short = rows.order
    notes = [
        Piece(_marked_text(rows), Tone.MINE),
        Piece(f"◆ {mine:,} mine" if mine else "", Tone.MINE),
        Piece(rows.moved, Tone.WARN),
        Piece(whole, Tone.QUIET),
        Piece(loaded_text(rows, view, totals), Tone.QUIET),
    ]
    if width_of(notes[0].text) > room:
        notes[0] = Piece(_marked_text(rows, brief=True), Tone.MINE)
    if width_of(plain(joined(notes))) > room:
        notes[3] = Piece(short, Tone.QUIET)
    if width_of(plain(joined(notes))) > room and not rows.begun and not rows.ended:
        notes[4] = Piece(_from_text(rows), Tone.QUIET)
    placed = [*notes[:3], Piece(""), notes[4]]  # beside a column of scores, where one is says more than their order
    if short == ORDER_SHORT[True] and width_of(plain(joined(notes))) > room >= width_of(plain(joined(placed))):
        notes = placed
    return (*views, Piece(" "), *whole_pieces(notes, room))


def _marked_text(rows: RowsKnown, *, brief: bool = False) -> str:
    """`■ 5 marked, 3 not shown by this filter`; `■ all 212 that match`; empty where nothing is marked."""
    if rows.all_marked:
        return f"■ {'all' if brief else rows.all_marked.lower()}"
    if not rows.marked:
        return ""
    hidden = f", {rows.hidden:,} {'hidden' if brief else 'not shown by this filter'}" if rows.hidden else ""
    return f"■ {rows.marked:,}{hidden}" if brief else f"■ {rows.marked:,} marked{hidden}"


def loaded_text(rows: RowsKnown, view: ItemView, totals: QueueTotals | None) -> str:
    """`12 rows`; `first 100 of 1,204`; `200 of about 1,002,000, counted 40 s ago, from score 80 down`; `last 100`."""
    totals, whole = _whole(rows, view, totals)
    if rows.begun and rows.ended:
        return f"{rows.loaded:,} {'row' if rows.loaded == 1 else 'rows'}"
    of = f" of {_counted(whole, totals, rows)}" if whole is not None and totals and whole > rows.loaded else ""
    if rows.begun:
        return f"first {rows.loaded:,}{of}"
    if rows.ended:
        return f"last {rows.loaded:,}{of}"
    return f"{rows.loaded:,}{of} {_from_text(rows)}"


def _from_text(rows: RowsKnown) -> str:
    return f"from {rows.start} down" if rows.start else "from the middle"


def _whole(rows: RowsKnown, view: ItemView, totals: QueueTotals | None) -> tuple[QueueTotals | None, int | None]:
    """The count of the whole list, and what it was counted with; None where it is not known."""
    if rows.filtered:
        return rows.matching, rows.matching.matching if rows.matching is not None else None
    if totals is None:
        return None, None
    return totals, {ItemView.WAITING: totals.waiting, ItemView.SET_ASIDE: totals.set_aside}.get(view)


def moved_text(new: int, gone: int, moved: int) -> str:
    """`3 moved · 2 new · 1 gone`: what came, went and changed its place lately; empty where nothing did."""
    told = ((moved, "moved"), (new, "new"), (gone, "gone"))
    return " · ".join(f"{count:,} {word}" for count, word in told if count)


def _counted(count: int, totals: QueueTotals, rows: RowsKnown) -> str:
    if totals.exact:
        return f"{count:,}"
    when = f", counted {ago(totals.as_of, rows.now)}" if rows.now is not None else ""
    return f"about {count:,}{when}"


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


def means(queue: Queue, word: str) -> bool:
    """Whether a person means the queue by `word`: its id, the last part of it, or its title."""
    return word.strip().casefold() in (queue.id, queue.id.rpartition(".")[2], queue.title.casefold())


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
