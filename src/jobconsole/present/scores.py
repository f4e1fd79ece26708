"""Owns how a score is written: its parts, how it compares with a neighbour's, and why an item stands where it does. Pure.

Points are compared, never amounts: those of two currencies are not subtracted from each other (MONEY-03). Nothing is
scored here; what a rule said is data, made safe where it is laid out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jobconsole.present.columns import Line, Piece, Tone, fit, joined, width_of, wrap_line
from jobconsole.present.items import LABEL, Seen, brief_lines, claim_line, field, heading
from jobconsole.present.times import ago, span
from jobcontract.money import MINUS

if TYPE_CHECKING:
    from datetime import datetime

    from jobcontract.items import Item
    from jobcontract.items import ItemDetail as Detail
    from jobcontract.scores import Score, ScorePart

NO_RULE = "no rule: the oldest is first"
PARKED_PLACE = "stands first until it can be scored"
MOVED = "what is on screen is not the newest order"
INPUT_MOST = 16
"""Most cells of an input's name before its value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where an item stands in the list on the screen, as far as the list knows."""

    place: int | None = None
    """1 for the first of all that are listed; None where the list does not begin with the first."""
    above: Item | None = None
    below: Item | None = None
    scored: bool = True
    """Whether the queue has a rule."""
    waits: bool = True
    """Whether it is listed among what waits: only there its score gives it a place."""
    by_score: bool = True
    """False while the person sorts by something else."""
    filtered: bool = False
    """Whether a filter leaves items out of the list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The points of one item against those of another, in all and by input; the parts add up to the points."""

    points: int
    parts: tuple[tuple[str, int], ...]


def number(points: int) -> str:
    """A score, with a true minus: `92`, `−4`."""
    return f"{MINUS}{-points:,}" if points < 0 else f"{points:,}"


def signed(points: int) -> str:
    """Points of a part, or a difference: `+48`, `−8`, `0`."""
    return f"+{points:,}" if points > 0 else number(points)


def counted(points: int) -> str:
    """`1 point`, `4 points`."""
    return f"{points:,} point" if points == 1 else f"{points:,} points"


def ordinal(place: int) -> str:
    """`1st`, `2nd`, `3rd`, `11th`, `1,204th`."""
    ending = "th" if place % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(place % 10, "th")
    return f"{place:,}{ending}"


def input_words(name: str) -> str:
    """An input's name as words."""
    return name.replace("-", " ").replace("_", " ")


def why_words(standing: Standing) -> str:
    """`why first`, `why 3rd`, `why here` where the place is not known; a filter counts only what matches."""
    if not standing.waits:
        return "as it was last"
    if standing.place is None or not standing.by_score:
        return "why here"
    place = "first" if standing.place == 1 else ordinal(standing.place)
    return f"why {place}" + (" of what matches" if standing.filtered else "")


def score_words(item: Item) -> str:
    """The score alone: `92`, `not scored yet`, `could not be scored`."""
    if item.score is None:
        return "not scored yet"
    return "could not be scored" if item.score.value is None else number(item.score.value)


def compare(item: Item, other: Item) -> Comparison | None:
    """The points of `item` minus those of `other`; None where they cannot be compared part by part."""
    mine, theirs = item.score, other.score
    if mine is None or theirs is None or mine.value is None or theirs.value is None:
        return None
    if (mine.rule, mine.version) != (theirs.rule, theirs.version):
        return None
    other_points = {part.input: part.points for part in theirs.parts}
    parts = tuple((part.input, part.points - other_points.get(part.input, 0)) for part in mine.parts)
    return Comparison(points=mine.value - theirs.value, parts=parts)


def needed(item: Item, above: Item) -> int | None:
    """How many points more would put `item` before `above`; None where points do not decide between them."""
    comparison = compare(item, above)
    if comparison is None:
        return None
    first = (item.created, item.id) < (above.created, above.id)
    return max(0, -comparison.points + (0 if first else 1))


def below_line(item: Item, below: Item) -> Line:
    """Why the item stands above the next: `above the next by 4: amount +12, age −8, invoice 0`."""
    comparison = compare(item, below)
    if comparison is None:
        return (Piece(_uncompared(item, below, "the next")),)
    if comparison.points < 0:
        return (Piece(f"the next has {counted(-comparison.points)} more: {MOVED}"),)
    if comparison.points == 0:
        return (Piece(f"same score as the next: {tie(item, below)}"), *_by_input(comparison, item, below))
    return (Piece(f"above the next by {comparison.points:,}"), *_by_input(comparison, item, below))


def above_line(item: Item, above: Item) -> Line:
    """Why the item stands below the one above: `below the one above by 3: amount −12, age +9, invoice 0`."""
    comparison = compare(item, above)
    if comparison is None:
        return (Piece(_uncompared(item, above, "the one above")),)
    if comparison.points > 0:
        return (Piece(f"the one above has {counted(comparison.points)} less: {MOVED}"),)
    if comparison.points == 0:
        return (Piece(f"same score as the one above: {tie(item, above)}"), *_by_input(comparison, item, above))
    return (Piece(f"below the one above by {-comparison.points:,}"), *_by_input(comparison, item, above))


def _by_input(comparison: Comparison, item: Item, other: Item) -> Line:
    """The difference by input, where there is one; and that amounts of two currencies were not compared."""
    told = ""
    if any(points for _, points in comparison.parts):
        # Between equal scores only what weighs each other up: the line has to hold all of it at 80 columns.
        weighed = [(name, points) for name, points in comparison.parts if points or comparison.points]
        told = ", ".join(f"{input_words(name)} {signed(points)}" for name, points in weighed)
        told = f": {told}" if comparison.points else f"; {told}"
    mine, theirs = item.amount, other.amount
    if mine is None or theirs is None or mine.currency == theirs.currency:
        return (Piece(told),)
    apart = f" · {mine.currency} and {theirs.currency} are not compared"
    return (Piece(told), Piece(apart, Tone.QUIET))


def tie(item: Item, other: Item) -> str:
    """What decides between equal scores, age before id: `2 days older`, `as old, lower id`."""
    seconds = (other.created - item.created).total_seconds()
    if seconds == 0:
        return f"as old, {'lower' if item.id < other.id else 'higher'} id"
    apart = span(abs(seconds)) if abs(seconds) >= 1 else "a moment"
    return f"{apart} {'older' if seconds > 0 else 'younger'}"


def _uncompared(item: Item, other: Item, which: str) -> str:
    """How two items stand where one has no points, or points of another rule or version."""
    mine, theirs = item.score, other.score
    if mine is None:
        return "not scored yet" if theirs is not None else f"beside {which}: {tie(item, other)}"
    if theirs is None:
        return f"{which} is not scored yet"
    if mine.value is None:
        return (
            f"{which} has a score" if theirs.value is not None else f"{which} has no score either: {tie(item, other)}"
        )
    if theirs.value is None:
        return f"{which} could not be scored: that comes before every score"
    return (
        f"{which} has {number(theirs.value)} by {theirs.rule} v{theirs.version}: its parts are not compared with those "
        f"of v{mine.version}"
    )


def part_lines(score: Score, width: int) -> list[Line]:
    """Each part: input, value as shown, points, why. Where the words have no room beside, they stand below."""
    names = min(INPUT_MOST, max(LABEL, *(width_of(input_words(part.input)) + 2 for part in score.parts), 0))
    points = max((width_of(signed(part.points)) for part in score.parts), default=0)
    shown = max((width_of(part.shown) for part in score.parts), default=0)
    if names + shown + points + 2 > width:
        return [line for part in score.parts for line in _stacked(part, names, points, width)]
    if names + shown + points + 6 + 16 > width:
        shown = width - names - points - 2
        return [line for part in score.parts for line in _two_lines(part, names, shown, points)]
    return [(*_part(part, names, shown, points), Piece("   "), Piece(part.words, Tone.QUIET)) for part in score.parts]


def _part(part: ScorePart, names: int, shown: int, points: int) -> Line:
    return (
        Piece(fit(input_words(part.input), names - 1) + " ", Tone.QUIET),
        Piece(fit(part.shown, shown)),
        Piece("  "),
        Piece(fit(signed(part.points), points, right=True), Tone.STRONG),
    )


def _two_lines(part: ScorePart, names: int, shown: int, points: int) -> list[Line]:
    return [_part(part, names, shown, points), (Piece(" " * names), Piece(part.words, Tone.QUIET))]


def _stacked(part: ScorePart, names: int, points: int, width: int) -> list[Line]:
    """Where the value alone would push the points out: the value has a line of its own, wrapped, never cut."""
    room = max(1, width - names - points)
    return [
        (
            Piece(fit(input_words(part.input), names - 1) + " ", Tone.QUIET),
            Piece(" " * room),
            Piece(fit(signed(part.points), points, right=True), Tone.STRONG),
        ),
        (Piece(" " * names), Piece(part.shown)),
        (Piece(" " * names), Piece(part.words, Tone.QUIET)),
    ]


def scored_piece(score: Score, now: datetime) -> Piece:
    """By which rule and how long ago: `payout.release-score v3 · scored 12 s ago`."""
    return Piece(f"{score.rule} v{score.version} · scored {ago(score.scored_at, now)}", Tone.QUIET)


def failure_lines(score: Score, width: int) -> list[Line]:
    """Why there is no score, and where the item stands meanwhile."""
    failed: Line = (Piece(f"▲ could not be scored: {score.failure}", Tone.WARN),)
    return [*wrap_line(failed, width, 2), (Piece(f"  {PARKED_PLACE}"),)]


def why_title(item: Item, standing: Standing, seen: Seen) -> Line:
    """`92, why first · payout.release-score v3 · scored 12 s ago`; what the item is where its queue has no rule."""
    if not standing.scored:
        return heading(item)
    words = f"{score_words(item)}, {why_words(standing)}"
    scored = scored_piece(item.score, seen.now) if item.score is not None else Piece("")
    return joined([Piece(words, Tone.STRONG), scored])


def why_lines(item: Item, standing: Standing, width: int) -> list[Line]:
    """The parts of the score, and the comparison with the rows around."""
    if not standing.scored:
        return [field("order", *joined([Piece(NO_RULE), Piece(older_words(item, standing.below), Tone.QUIET)]))]
    if item.score is None:
        return [(Piece("It is not scored yet; it will be in a moment.", Tone.QUIET),)]
    lines = failure_lines(item.score, width) if item.score.value is None else part_lines(item.score, width)
    return [*lines, *_around(item, standing)]


def _around(item: Item, standing: Standing) -> list[Line]:
    if not standing.waits:
        return []
    if not standing.by_score:
        return [(Piece("sorted by amount: the score does not decide the place here", Tone.QUIET),)]
    lines = [below_line(item, standing.below)] if standing.below is not None else []
    return [*lines, *([above_line(item, standing.above)] if standing.above is not None else [])]


def older_words(item: Item, below: Item | None) -> str:
    """How much older the item is than the next; empty where there is none."""
    if below is None:
        return ""
    return f"{tie(item, below)} than the next" if item.created != below.created else tie(item, below)


def pane_lines(
    item: Item, detail: Detail | None, standing: Standing, seen: Seen, *, width: int, room: int
) -> list[Line]:
    """The detail beside the list in `width` cells, what is most useful first: why it stands here and who holds it in the
    first `room` lines, then the rest of the item."""
    brief = list(brief_lines(item, detail, seen))
    why = why_lines(item, standing, width)
    if not standing.scored:
        return [brief[0], *why, *brief[1:]]
    holder = claim_line(item, detail.capped_at if detail is not None else None, seen)
    at = min(len(why), max(1, room - 1))
    return [*why[:at], holder, *why[at:], *brief[2:]]


def beside_lines(item: Item, detail: Detail | None, standing: Standing, seen: Seen, *, width: int) -> Sequence[Line]:
    """The detail at the right of a wide list: what the item is, why it stands here, then the rest of it."""
    brief = brief_lines(item, detail, seen)
    if not standing.scored:
        return [heading(item), (), brief[0], *why_lines(item, standing, width), *brief[1:]]
    title = why_title(item, standing, seen)[:1]
    around = _around(item, standing) if item.score is not None else []
    parts = why_lines(item, standing, width)[: -len(around) or None]
    return [
        heading(item),
        (),
        title,
        *parts,
        *([(), *around] if around else []),
        (),
        *_rule_lines(item, seen),
        *brief[1:],
    ]


def _rule_lines(item: Item, seen: Seen) -> list[Line]:
    if item.score is None:
        return []
    rule = field("rule", Piece(f"{item.score.rule} v{item.score.version}", Tone.QUIET))
    return [rule, field("scored", Piece(ago(item.score.scored_at, seen.now), Tone.QUIET)), ()]
