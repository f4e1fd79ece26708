"""Owns where a page of a queue may begin, as the query says it (`start=`), and the sentences when it cannot.

Pure; imports nothing of the wire. Never looks anything up.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.ids import KEY_MAX, storable

START_MAX = KEY_MAX + len("item:")
"""Most characters of a start."""
SCORE_MOST = 2**31 - 1
"""Farthest from 0 that a score can be."""
_WHOLE = re.compile(r"[+-]?[0-9]{1,10}", re.ASCII)


class StartKind(StrEnum):
    """Places where a page may begin."""

    FIRST = "first"
    LAST = "last"
    SCORE = "score"
    ITEM = "item"


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Where a page begins: at an end, at the first row whose score is `score` or less, or at `item` (id or key)."""

    kind: StartKind
    score: int = 0
    item: str = ""


FROM_FIRST = Start(kind=StartKind.FIRST)


def read_start(text: str) -> Start:
    """The start that `text` says. Refusal INVALID_REQUEST with what may stand there."""
    word, colon, rest = text.partition(":")
    if not colon and word in (StartKind.FIRST, StartKind.LAST):
        return Start(kind=StartKind(word))
    if colon and word == StartKind.SCORE:
        return Start(kind=StartKind.SCORE, score=_score(rest))
    if colon and word == StartKind.ITEM and rest and storable(rest) and len(rest) <= KEY_MAX:
        return Start(kind=StartKind.ITEM, item=rest)
    raise Refusal(
        ErrorCode.INVALID_REQUEST,
        f"A page cannot start at {text[:80]!r}: write first, last, score:80, or item: and an item's id or key.",
    )


def start_and_cursor() -> Refusal:
    """The refusal of a request that names both."""
    return Refusal(
        ErrorCode.INVALID_REQUEST,
        "`start` and `cursor` both say where the page begins: send one of them.",
    )


def no_scores(queue: str) -> Refusal:
    """The refusal of a jump to a score where the order has none. `queue` is its title."""
    return Refusal(
        ErrorCode.INVALID_REQUEST, f"{queue} has no scores, its oldest item is first: start at first, last or item."
    )


def sorted_by_amount() -> Refusal:
    """The refusal of a jump to a score in a listing that is not in the order of scores."""
    return Refusal(
        ErrorCode.INVALID_REQUEST, "The list is sorted by amount, so no score has a place in it: take the sort away."
    )


def elsewhere(item: str, where: str, sentence: str) -> Refusal:
    """The refusal to start at an item that this listing does not hold: `sentence` says why, `where` it is (a view, a
    queue, or `filtered`)."""
    return Refusal(ErrorCode.NOT_FOUND, f"{item[:80]!r} is not in this list. {sentence}", where=where)


def _score(text: str) -> int:
    if not _WHOLE.fullmatch(text) or abs(int(text)) > SCORE_MOST:
        raise Refusal(
            ErrorCode.INVALID_REQUEST, f"`start=score:` needs a whole number like score:80, not {text[:40]!r}."
        )
    return int(text)
