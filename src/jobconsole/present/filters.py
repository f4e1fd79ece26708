"""Owns how a filter and its count are written, how a fault in it is pointed at, and how what could be typed next is
offered. Pure. What a person typed is data and is never changed but by them."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from rich.cells import cell_len

from jobconsole.present.columns import ELLIPSIS, Line, Piece, Tone, clip, plain, width_of, wrap_line
from jobconsole.present.text import line
from jobconsole.present.times import ago
from jobcontract.filter_names import QueueNames, judge_names
from jobcontract.filters import INPUT, FilterError, parse
from jobcontract.states import InputType

if TYPE_CHECKING:
    from jobcontract.queues import QueueTotals, Vocabulary

PROMPT = "/ "
OFFERED_MOST = 6
"""Most offers shown at once."""
SHOWN_LINES = 2
"""Most lines of the filter in force; the rest is in the line that `/` opens."""
COUNTING = "counting …"
NO_LONGER = "no longer taken"
"""What stands for the count of a filter that was in force and that the service now refuses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Why a filter cannot be used, and where in its text: index and length in characters."""

    sentence: str
    at: int
    length: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """Something that could be typed: the characters from `start` up to `end` of the filter become `text`."""

    text: str
    start: int
    end: int
    title: str = ""

    def taken(self, typed: str) -> tuple[str, int]:
        """The filter with it, and where the cursor then stands."""
        return typed[: self.start] + self.text + typed[self.end :], self.start + len(self.text)


def fault_of(text: str, vocabulary: Vocabulary | None = None) -> Fault | None:
    """What is wrong with a filter, as far as is known without the service; None where nothing is.

    Without the queue's vocabulary only its form is judged.
    """
    try:
        found = parse(text)
        if vocabulary is not None:
            judge_names(found, _names(vocabulary))
    except FilterError as error:
        return Fault(sentence=error.sentence, at=error.at, length=error.length)
    return None


def fault_in(sentence: str, told: Mapping[str, object], text: str) -> Fault:
    """What the service says is wrong with `text`; all of it where the service does not say which characters."""
    at, length = told.get("at"), told.get("length")
    if not isinstance(at, int) or not isinstance(length, int) or not 0 <= at <= len(text):
        at, length = 0, len(text)
    return Fault(sentence=sentence, at=at, length=max(0, min(length, len(text) - at)))


def _names(vocabulary: Vocabulary) -> QueueNames:
    types = {field.name.removeprefix(INPUT): field.type for field in vocabulary.fields if field.name.startswith(INPUT)}
    known = {kind.value for kind in InputType}
    return QueueNames(
        money=any(field.name == "amount" for field in vocabulary.fields),
        inputs={name: InputType(kind) if kind in known else InputType.TEXT for name, kind in types.items()},
        currencies=vocabulary.currencies,
    )


def one_line(pasted: str, room: int) -> tuple[str, bool]:
    """What was pasted, as one line of at most `room` characters, and whether something was left out at its end."""
    text = " ".join(pasted.split())
    text = "".join(sign for sign in text if unicodedata.category(sign) not in ("Cc", "Cs"))
    return text[: max(0, room)], len(text) > room


def match_words(totals: QueueTotals | None, now: datetime) -> str:
    """`212 match`, `about 12,000 match · counted 40 s ago`, `counting …`."""
    if totals is None:
        return COUNTING
    words = "matches" if totals.matching == 1 else "match"
    if totals.exact:
        return f"{totals.matching:,} {words}"
    return f"about {totals.matching:,} {words} · counted {ago(totals.as_of, now)}"


def filter_lines(text: str, words: str, width: int) -> list[Line]:
    """The filter in force with its count at the right; what finds no room on `SHOWN_LINES` lines ends in an ellipsis."""
    right = Piece(words, Tone.QUIET)
    room = max(8, width - width_of(words) - 2)
    lines = wrap_line((Piece(PROMPT, Tone.QUIET), Piece(text, Tone.STRONG)), room, len(PROMPT))
    shown = lines[:SHOWN_LINES]
    if len(lines) > SHOWN_LINES:
        last = clip(plain(shown[-1]).strip(), room - len(PROMPT) - 2).removesuffix(ELLIPSIS)
        shown[-1] = (Piece(" " * len(PROMPT)), Piece(last, Tone.STRONG), Piece(f" {ELLIPSIS}", Tone.QUIET))
    blanks = Piece(" " * max(1, width - width_of(plain(shown[0])) - width_of(words)))
    return [(*shown[0], blanks, right), *shown[1:]]


def fault_lines(text: str, fault: Fault, scrolled: int, width: int) -> list[Line]:
    """The sentence with a caret under the characters that it is about: beside the caret where it fits, else below.

    `scrolled` is how many cells of the text are out of sight at the left.
    """
    at = len(PROMPT) + cell_len(text[: fault.at]) - scrolled
    length = max(1, cell_len(text[fault.at : fault.at + fault.length]))
    first, end = max(len(PROMPT), min(at, width - 1)), max(len(PROMPT) + 1, min(at + length, width))
    carets = Piece("^" * max(1, end - first), Tone.BAD)
    room_right, words = width - first - width_of(carets.text) - 1, width_of(fault.sentence)
    said = Piece(fault.sentence, Tone.BAD)
    if words <= room_right:
        return [(Piece(" " * first), carets, Piece(" "), said)]
    if words < first:
        return [(Piece(" " * (first - words - 1)), said, Piece(" "), carets)]
    return [(Piece(" " * first), carets), *wrap_line((Piece(" " * len(PROMPT)), said), width, len(PROMPT))]


def agreed_offer(typed: str, offers: Sequence[Offer]) -> Offer | None:
    """What all offers begin with, where that is more than was typed."""
    start, end = offers[0].start, offers[0].end
    if any((offer.start, offer.end) != (start, end) for offer in offers):
        return None
    first, texts = offers[0].text, [offer.text for offer in offers]
    agreed = next(
        first[:size] for size in range(len(first), -1, -1) if all(text.startswith(first[:size]) for text in texts)
    )
    known = typed[start:end]
    return None if known.casefold().startswith(agreed.casefold()) else Offer(text=agreed, start=start, end=end)


def pointed_lines(text: str, fault: Fault) -> list[str]:
    """The filter, and carets under what the fault is about, for a terminal without a screen."""
    length = max(1, width_of(text[fault.at : fault.at + fault.length]))
    return [f"  {line(text)}", "  " + " " * width_of(text[: fault.at]) + "^" * length]


def offers_line(offers: Sequence[Offer], chosen: int | None, width: int) -> Line:
    """Up to six offers with their titles; the chosen one is among them, and more of them are told by an ellipsis."""
    start = 0 if chosen is None else chosen // OFFERED_MOST * OFFERED_MOST
    page = range(start, min(len(offers), start + OFFERED_MOST))
    for titled in (True, False):
        pieces = _offered(offers, page, chosen, titled=titled)
        if width_of(plain(pieces)) <= width:
            return pieces
    while len(page) > 1 and width_of(plain(_offered(offers, page, chosen, titled=False))) > width:
        page = page[:-1] if chosen is None or chosen < page[-1] else page[1:]
    return _offered(offers, page, chosen, titled=False)


def _offered(offers: Sequence[Offer], page: range, chosen: int | None, *, titled: bool) -> Line:
    pieces: list[Piece] = [Piece(" " * len(PROMPT))]
    if page.start > 0:
        pieces.append(Piece(f"{ELLIPSIS} ", Tone.QUIET))
    for number in page:
        offer, here = offers[number], number == chosen
        pieces.append(
            Piece(f"▸{offer.text.strip()}" if here else f" {offer.text.strip()}", Tone.MINE if here else Tone.PLAIN)
        )
        pieces.append(Piece(f" {offer.title} " if titled and offer.title else " ", Tone.QUIET))
    if page.stop < len(offers):
        pieces.append(Piece(f" {ELLIPSIS} {len(offers) - page.stop} more", Tone.QUIET))
    return tuple(pieces)
