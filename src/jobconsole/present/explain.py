"""Owns how a place in the order is explained in full: the score part by part, the neighbours beside it, what would let
one overtake the other, the rule in its own words, and when it was scored. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from jobconsole.present.amounts import amount_text, doubtful
from jobconsole.present.columns import Line, Piece, Tone, clip, fit, joined, plain, width_of
from jobconsole.present.items import LABEL, Seen, field, heading
from jobconsole.present.scores import (
    INPUT_MOST,
    Comparison,
    above_line,
    below_line,
    compare,
    counted,
    failure_lines,
    input_words,
    needed,
    number,
    ordinal,
    part_lines,
    score_words,
    signed,
    tie,
)
from jobconsole.present.times import age, ago, both, brief_span
from jobcontract.money import Money, show

if TYPE_CHECKING:
    from jobcontract.items import Explanation, Item, Placement
    from jobcontract.scores import ItemCount, Rule, Score, Threshold

BAR = 12
"""Cells of the longest bar."""
LEAST_WORDS = 18
"""Cells that the words of a part need beside it; with less they stand below it."""
NAME_LEAST = 7
"""Cells of a neighbour's name at least."""
_EIGHTHS = ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")


def bar(points: int, most: int, cells: int = BAR) -> str:
    """Points as a length: `cells` blocks for `most`, in eighths; at least a sliver for what is not nothing."""
    if not points or most <= 0:
        return ""
    eighths = max(1, abs(points) * cells * 8 // most)
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8]


def place_text(ahead: ItemCount) -> str:
    """The place that so many before it leave: `1st`, `1,204th`; `past the 10,000th` where counting stopped there."""
    return ordinal(ahead.count + 1) if ahead.exact else f"past the {ordinal(ahead.count)}"


def ahead_words(ahead: ItemCount) -> str:
    """`first: nothing stands before it`, `2nd: 1 item stands before it`, `past the 10,000th: 10,000 or more …`."""
    if ahead.count == 0 and ahead.exact:
        return "first: nothing stands before it"
    more = "" if ahead.exact else " or more"
    stand = "item stands" if ahead.count == 1 else "items stand"
    return f"{place_text(ahead)}: {ahead.count:,}{more} {stand} before it"


def explain_lines(explanation: Explanation, seen: Seen, width: int) -> list[Line]:
    """Everything about one item's place, in `width` cells."""
    item, rule, placement = explanation.item, explanation.rule, explanation.placement
    lines = [_place_line(item, placement), (), *score_lines(item, width, scored=rule is not None)]
    if placement is not None and (placement.above is not None or placement.below is not None):
        around = _Around(item=item, above=placement.above, below=placement.below, seen=seen)
        lines += [(), *around.lines(width, scored=rule is not None)]
    if rule is not None:
        lines += [(), *_rule_lines(rule, item, seen)]
    return lines


def known_lines(item: Item, width: int, *, scored: bool) -> list[Line]:
    """What the list knows already, until the service has explained."""
    waiting = (Piece("reading the rule and the neighbours …", Tone.QUIET),)
    return [waiting, (), *score_lines(item, width, scored=scored)]


def _place_line(item: Item, placement: Placement | None) -> Line:
    if placement is None:
        return (Piece("It does not wait now (set aside or closed), so it has no place in the order.", Tone.QUIET),)
    scored = Piece(f"{score_words(item)}, " if item.score is not None else "", Tone.STRONG)
    return (scored, Piece(ahead_words(placement.ahead), Tone.STRONG))


def score_lines(item: Item, width: int, *, scored: bool) -> list[Line]:
    """The parts of the score with a bar each, and their sum; or why there is none."""
    score = item.score
    if not scored:
        return [
            (Piece("This queue has no rule: the oldest item is first."),),
            (Piece("Age decides, then the id where two are equally old; nothing is scored.", Tone.QUIET),),
        ]
    if score is None:
        return [(Piece("It is not scored yet; it will be in a moment.", Tone.QUIET),)]
    if score.value is None:
        return failure_lines(score, width)
    return _with_bars(score, score.value, width)


def _with_bars(score: Score, value: int, width: int) -> list[Line]:
    names = max(LABEL, min(INPUT_MOST, max(width_of(input_words(part.input)) + 2 for part in score.parts)))
    shown = max(width_of(part.shown) for part in score.parts)
    points = max(width_of(text) for text in (number(value), *(signed(part.points) for part in score.parts)))
    room = width - names - shown - points - 2 - 2 - 3
    if room < BAR + LEAST_WORDS:
        alone = part_lines(score, width)
        return [*alone, (Piece(fit("score", names), Tone.QUIET), Piece(number(value), Tone.STRONG))]
    most = max(abs(part.points) for part in score.parts)
    lines: list[Line] = [
        (
            Piece(fit(input_words(part.input), names - 1) + " ", Tone.QUIET),
            Piece(fit(part.shown, shown) + "  "),
            Piece(fit(bar(part.points, most), BAR), Tone.CREDIT if part.points < 0 else Tone.MINE),
            Piece("  " + fit(signed(part.points), points, right=True), Tone.STRONG),
            Piece(f"   {part.words}", Tone.QUIET),
        )
        for part in score.parts
    ]
    total = fit(number(value), points, right=True)
    return [*lines, (Piece(fit("score", names + shown + 2 + BAR + 2), Tone.QUIET), Piece(total, Tone.STRONG))]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Column:
    """One column of numbers beside the inputs."""

    head: str
    by_input: Mapping[str, str]
    total: str
    tone: Tone = Tone.PLAIN

    def lines(self, inputs: Sequence[str]) -> list[Piece]:
        """Its head, a number for each input, its sum; as wide as the widest of them."""
        texts = [self.head, *(self.by_input.get(name, "–") for name in inputs), self.total]
        width = max(width_of(text) for text in texts)
        tones = [Tone.QUIET, *([self.tone] * len(inputs)), Tone.STRONG]
        return [Piece("   " + fit(text, width, right=True), tone) for text, tone in zip(texts, tones, strict=True)]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Around:
    """An item and the two beside it in the order."""

    item: Item
    above: Item | None
    below: Item | None
    seen: Seen

    def lines(self, width: int, *, scored: bool) -> list[Line]:
        """Who stands around it, their parts side by side, and what would change the order."""
        if not scored:
            return [*self._who(width), (), *self._by_age()]
        columns = self._columns()
        comparable = len(columns) > 1 and sum(width_of(column.head) + 5 for column in columns) + INPUT_MOST <= width
        told = [*self._who(width), ()]
        if comparable:
            told += [*self._side_by_side(columns), ()]
        else:
            told += self._sentences()
        return [*told, *overtaking_lines(self.item, self.above, self.below)]

    def _who(self, width: int) -> list[Line]:
        rows = (("above", self.above), ("this", self.item), ("next", self.below))
        scores = {label: score_words(item) for label, item in rows if item is not None and item.score is not None}
        most = max((width_of(text) for text in scores.values()), default=0)
        amounts = max(width_of(heading(item)[0].text) if item.amount else 0 for _, item in rows if item is not None)
        lines = []
        for label, item in rows:
            if item is None:
                continue
            score = Piece(fit(scores.get(label, ""), most, right=True) + "   " if most else "", Tone.STRONG)
            told = [Piece(f" · {shown}", Tone.QUIET) for shown in self._shown(item) if item is not self.item]
            *sure, name = heading(item)
            if sure:
                sure[0] = Piece(fit(sure[0].text, amounts, right=True), sure[0].tone)
            # Amount and account are never cut; what a neighbour has is worth more here than the end of its name.
            room = width - LABEL - width_of(plain((score, *sure, *told)))
            lines.append(field(label, score, *sure, Piece(clip(name.text, max(NAME_LEAST, room)), name.tone), *told))
        return lines

    def _shown(self, item: Item) -> Sequence[str]:
        """What of an item decided its score, but for its amount, which stands in front."""
        if item.score is None or item.score.value is None:
            return [age(item.created, self.seen.now)]
        amount = amount_text(item.amount) if item.amount is not None else ""
        return [part.shown for part in item.score.parts if part.shown != amount]

    def _columns(self) -> list[_Column]:
        """Points of the three, then the differences of the item to each of the others."""
        columns, against = [], []
        for label, other in (("above", self.above), ("this", self.item), ("next", self.below)):
            if other is None or other.score is None or other.score.value is None:
                continue
            points = {part.input: signed(part.points) for part in other.score.parts}
            comparison = compare(self.item, other)
            if other is self.item:
                columns.append(_Column(head=label, by_input=points, total=number(other.score.value), tone=Tone.STRONG))
            elif comparison is not None:
                columns.append(_Column(head=label, by_input=points, total=number(other.score.value)))
                against.append(_difference(f"to {label}", comparison))
        return [*columns, *against]

    def _side_by_side(self, columns: Sequence[_Column]) -> list[Line]:
        score = self.item.score
        inputs = [part.input for part in score.parts] if score is not None else []
        names = max(LABEL, min(INPUT_MOST, max(width_of(input_words(name)) + 2 for name in inputs)))
        labels = ["points", *(input_words(name) for name in inputs), "score"]
        rows = zip(labels, *(column.lines(inputs) for column in columns), strict=True)
        return [(Piece(fit(label, names - 1) + " ", Tone.QUIET), *cells) for label, *cells in rows]

    def _sentences(self) -> list[Line]:
        lines = [above_line(self.item, self.above)] if self.above is not None else []
        return [*lines, *([below_line(self.item, self.below)] if self.below is not None else [])]

    def _by_age(self) -> list[Line]:
        around = ((self.above, "the one above"), (self.below, "the next"))
        return [_older(self.item, other, which) for other, which in around if other is not None]


def overtaking_lines(item: Item, above: Item | None, below: Item | None) -> list[Line]:
    """What would let the item overtake the one above, and the next overtake it."""
    lines: list[Line] = []
    for higher, lower, who, whose in (
        (above, item, "it overtakes", "the one above"),
        (item, below, "the next overtakes", "this one"),
    ):
        if higher is None or lower is None:
            continue
        more = needed(lower, higher)
        if more is None:
            lines.append(above_line(lower, higher) if lower is item else below_line(higher, lower))
        elif more > 0:
            sentence = f"With {counted(more)} more {who} {whose}"
            enough = _enough(lower, higher, more, whose)
            lines.append((Piece("→ ", Tone.MINE), Piece(sentence, Tone.STRONG), Piece(enough)))
    return [*lines, *_apart(above, item, below)]


def _apart(*items: Item | None) -> list[Line]:
    """Says that amounts of several currencies are not compared, where there are several."""
    codes = sorted({item.amount.currency for item in items if item is not None and item.amount is not None})
    if len(codes) < 2:
        return []
    told = f"{' and '.join(codes)} are not compared: each amount counts by the thresholds of its own currency."
    return [(Piece(told, Tone.QUIET),)]


def _older(item: Item, other: Item, which: str) -> Line:
    if item.created == other.created:
        return (Piece(f"It is as old as {which}: its id comes {'first' if item.id < other.id else 'after'}."),)
    return (Piece(f"It is {tie(item, other)} than {which}."),)


def _difference(head: str, comparison: Comparison) -> _Column:
    by_input = {name: signed(points) for name, points in comparison.parts}
    return _Column(head=head, by_input=by_input, total=signed(comparison.points))


def _enough(lower: Item, higher: Item, more: int, whose: str) -> str:
    """Which single input would do it, were it as the higher one's."""
    if lower.score is None or higher.score is None:
        return "."
    points = {part.input: part.points for part in lower.score.parts}
    gains = [(part.points - points.get(part.input, 0), part) for part in higher.score.parts]
    gain, part = max(gains, key=lambda found: found[0])
    if gain < more:
        return f"; no single input as {whose} has it would be enough."
    return f", for example by {input_words(part.input)} as {whose} has it: “{part.shown}” gives {counted(gain)} more."


def _rule_lines(rule: Rule, item: Item, seen: Seen) -> list[Line]:
    """The rule in its own words, the amounts it compares with in the item's currency, when it scores; then its amounts
    in other currencies."""
    mine = item.amount.currency if item.amount is not None else ""
    lines = [
        field("rule", *joined([Piece(rule.title, Tone.STRONG), Piece(f"{rule.id} v{rule.version}", Tone.QUIET)])),
        field("", Piece(rule.formula)),
    ]
    if any(threshold.currency == mine for threshold in rule.thresholds):
        lines.append(field("compares", *_threshold_pieces(rule, mine, Tone.PLAIN)))
    lines += _scored_lines(item.score, rule, seen) if item.score is not None else []
    others = sorted({threshold.currency for threshold in rule.thresholds} - {mine})
    labels = ["others" if mine else "compares", *[""] * len(others)]
    told = zip(labels, others, strict=False)
    return [*lines, *(field(label, *_threshold_pieces(rule, currency, Tone.QUIET)) for label, currency in told)]


def _threshold_pieces(rule: Rule, currency: str, tone: Tone) -> Line:
    here = [threshold for threshold in rule.thresholds if threshold.currency == currency]
    return joined(Piece(f"{threshold.name} {_threshold_text(threshold)}", tone) for threshold in here)


def _threshold_text(threshold: Threshold) -> str:
    if doubtful(threshold.currency, threshold.exponent) is not None:
        return f"{threshold.currency}?{threshold.minor:,}"
    return show(Money(minor=threshold.minor, currency=threshold.currency))


def _scored_lines(score: Score, rule: Rule, seen: Seen) -> list[Line]:
    """When it was scored, and when it will be again."""
    when = f"{both(score.scored_at, seen.zone)}, {ago(score.scored_at, seen.now)}"
    version = f" · by v{score.version}" if rule.version != score.version else ""
    lines = [field("scored", Piece(when), Piece(version, Tone.WARN))]
    if rule.refresh_seconds is None:
        return [*lines, field("again", Piece("when an input changes: time alone changes nothing"))]
    due = score.scored_at + timedelta(seconds=rule.refresh_seconds)
    every = f"every {brief_span(rule.refresh_seconds)}, and when an input changes"
    soon = f"next {ago(due, seen.now)}" if due > seen.now else "due now"
    return [*lines, field("again", *joined([Piece(every), Piece(soon, Tone.QUIET)]))]
