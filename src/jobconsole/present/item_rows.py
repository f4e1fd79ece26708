"""Owns how one work item is written as a row: its score, the cells of its line, every input that set the score. Pure.

An input is never cut and never left out: what finds no room in the line stands under it. The inputs come from the score
itself, as they were when it was counted; nothing is counted anew here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jobconsole.present.amounts import account_text, amount_piece, amount_text
from jobconsole.present.columns import Piece, Tone, width_of
from jobconsole.present.items import Seen, input_text, name_of, state_piece, widest_state
from jobconsole.present.times import age, age_short
from jobcontract.money import MINUS
from jobcontract.states import ItemState

if TYPE_CHECKING:
    from jobcontract.items import Item
    from jobcontract.scores import Score

SEPARATOR = " · "
MOVABLE = ("score", "state", "name")
"""Columns that may find no room, in the order in which they then stand under the row."""
AGE_MOST = len("dated in 47 hours")
"""Cells that an age may come to while nobody looks."""
AGE_SHORT_MOST = len("12,345 d")
"""The same for a short one."""
PARKED_SIGN = "!"
SCORE_LABEL = "score "
"""Before a score that stands under its row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """How wide an item's row is, in cells, at the widest that its text may come to while nothing changes it."""

    cells: Mapping[str, int]
    """By column id; `inputs` as they stand in one line with the amount."""
    under: int
    """What stands under the row where every column found room, joined; the inputs are not among the columns then."""

    def under_with(self, left_out: Iterable[str]) -> int:
        """Cells of what stands under the row where these columns found no room."""
        missing = [column for column in left_out if column in MOVABLE]
        label = len(SCORE_LABEL) if "score" in missing else 0
        return self.under + label + sum(self.cells[column] + len(SEPARATOR) for column in missing)


def score_text(score: Score | None) -> str:
    """`92`, `−8`, `1,250`; `!` where the item could not be scored, `–` where it was not scored yet."""
    if score is None:
        return "–"
    if score.value is None:
        return PARKED_SIGN
    return f"{MINUS if score.value < 0 else ''}{abs(score.value):,}"


def score_piece(score: Score | None) -> Piece:
    """The score as a cell."""
    if score is None:
        return Piece(score_text(score), Tone.QUIET)
    return Piece(score_text(score), Tone.BAD if score.value is None else Tone.STRONG)


def row_cells(item: Item, seen: Seen) -> Mapping[str, Piece]:
    """The cells of the item's row by column id."""
    texts = [piece.text for piece in input_pieces(item, seen, beside_amount=True)]
    return {
        "score": score_piece(item.score),
        "amount": amount_piece(item.amount),
        "account": Piece(account_text(item.payee), Tone.QUIET),
        "name": Piece(name_of(item)),
        "state": state_piece(item, seen),
        "inputs": Piece(SEPARATOR.join(texts), Tone.BAD if _parked(item) else Tone.QUIET),
    }


def input_pieces(item: Item, seen: Seen, *, beside_amount: bool = False) -> list[Piece]:
    """Every input that set the item's place, each as a piece: those of its score, else its age and what it declares.

    `beside_amount`: an input that reads as the amount in the same line is not said twice.
    """
    if item.score is not None and item.score.value is not None:
        amount = amount_text(item.amount) if beside_amount and item.amount is not None else None
        shown = [part.shown for part in item.score.parts if part.shown != amount]
        return [Piece(text, Tone.QUIET) for text in [*shown, *declared_texts(item)]]
    aged = age_short(item.created, seen.now) if beside_amount else age(item.created, seen.now)
    credit = ["credit"] if not beside_amount and item.amount is not None and item.amount.minor < 0 else []
    rest = [Piece(text, Tone.QUIET) for text in [aged, *credit, *declared_texts(item)]]
    return [*_unscored(item, seen), *rest]


def declared_texts(item: Item) -> list[str]:
    """The inputs that the item declares beside those of its score, in words."""
    told = {part.input for part in item.score.parts} if item.score is not None else set()
    asked = ["evidence asked"] if item.state is ItemState.EVIDENCE_ASKED else []
    return asked + [input_text(name, value) for name, value in item.inputs.items() if name not in told]


def under_pieces(item: Item, seen: Seen, left_out: Iterable[str] = ()) -> tuple[Piece, ...]:
    """What stands under a row: what found no column there, then every input."""
    missing = [column for column in MOVABLE if column in set(left_out)]
    cells = row_cells(item, seen) if missing else {}
    pieces = [_named(column, cells[column]) for column in missing]
    return (*pieces, *input_pieces(item, seen))


def aside_piece(item: Item) -> Piece:
    """What may stand behind the inputs where there is room left: the title, where it says more than the name."""
    return Piece(item.title if item.title != name_of(item) else "", Tone.QUIET)


def measure(item: Item, seen: Seen) -> Measured:
    """How wide the item's row is."""
    cells = {column: width_of(piece.text) for column, piece in row_cells(item, seen).items()}
    cells["state"] = width_of(widest_state(item, seen))
    under = input_pieces(item, seen)
    joints = len(SEPARATOR) * max(0, len(under) - 1)
    width = sum(width_of(piece.text) for piece in under) + joints
    if item.score is None or item.score.value is None:  # its age is told, and grows
        cells["inputs"] += max(0, AGE_SHORT_MOST - width_of(age_short(item.created, seen.now)))
        width += max(0, AGE_MOST - width_of(age(item.created, seen.now)))
    return Measured(cells=cells, under=width)


def _named(column: str, cell: Piece) -> Piece:
    return Piece(f"{SCORE_LABEL}{cell.text}", cell.tone) if column == "score" else cell


def _parked(item: Item) -> bool:
    return item.score is not None and item.score.value is None


def _unscored(item: Item, seen: Seen) -> list[Piece]:
    if item.score is not None:
        return [Piece(f"{PARKED_SIGN} could not be scored: {item.score.failure or 'no reason was given'}", Tone.BAD)]
    return [Piece("not scored yet", Tone.WARN)] if seen.scored else []
