"""Owns how a supposition is read and written: what a person typed as an amount, an age or an input of a rule, and the
score and place before and after. Pure; nothing of it is ever saved.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING

from jobconsole.present.amounts import amount_text
from jobconsole.present.columns import Line, Piece, Tone, fit, joined, plain, width_of
from jobconsole.present.explain import place_text
from jobconsole.present.items import LABEL, heading
from jobconsole.present.scores import INPUT_MOST, failure_lines, input_words, number, score_words, signed
from jobconsole.present.times import span
from jobcontract.ids import storable
from jobcontract.money import MINUS, Money, MoneyError, typed_amount
from jobcontract.states import RuleInputType

if TYPE_CHECKING:
    from jobcontract.items import Explanation, Item, Placement, Supposed
    from jobcontract.scores import RuleInput, Score, ScorePart

UNSAVED = "Nothing is saved: this only asks."
AMOUNT_EXAMPLE = "like GBP 1,000.00 or −20.00"
AGE_EXAMPLE = "like 9d, 36h or 2026-02-20"
TEXT_MOST = 200
INTEGER_MOST = 2**63 - 1
YEARS_MOST = 200
"""Age of an item that can be supposed, at most."""
LEAD = timedelta(seconds=2)
"""How much older than typed an age is taken: the service's time may be that far behind what is known of it here, and an
age of one day must not count as none."""
_MONEY = re.compile(
    r"(?P<sign>[-+\N{MINUS SIGN}]?)\s*(?P<code>[A-Za-z]{3})?\s*(?P<digits>[-+\N{MINUS SIGN}]?[\d.,]+)\s*(?P<after>[A-Za-z]{3})?",
    re.ASCII,
)
_AGE = re.compile(
    r"(?P<number>\d{1,6})\s*(?P<unit>s|seconds?|min|minutes?|m|h|hours?|d|days?|w|weeks?)(?:\s+old)?",
    re.ASCII | re.IGNORECASE,
)
_DATED = re.compile(
    r"(?P<date>\d{4}-\d{2}-\d{2})(?:[ T]+(?P<time>\d{2}:\d{2}(?::\d{2})?)\s*(?P<offset>Z|[+-]\d{2}:\d{2})?)?",
    re.ASCII | re.IGNORECASE,
)
_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


class Unreadable(ValueError):
    """What was typed cannot be taken; the text says why and what to type instead, as a sentence."""


def read_money(text: str, currency: str | None) -> Money:
    """`GBP 1,000.00`, `−GBP 20.00`, `1000`: an amount, in `currency` where none is typed. Raises `Unreadable`."""
    typed = text.strip()
    found = _MONEY.fullmatch(typed)
    if found is None or (found["code"] and found["after"]) or (found["sign"] and found["digits"][0] in f"+-{MINUS}"):
        raise Unreadable(f"{typed[:40]} is no amount; type one {AMOUNT_EXAMPLE}.")
    code = found["code"] or found["after"] or currency
    if code is None:
        raise Unreadable(f"Say the currency too, {AMOUNT_EXAMPLE}: the item has no amount of its own.")
    try:
        return typed_amount(found["sign"] + found["digits"], code.upper())
    except MoneyError as wrong:
        sentence = str(wrong)
        raise Unreadable(f"{sentence[:1].upper()}{sentence[1:]}.") from None


def read_age(text: str, zone: tzinfo, now: datetime) -> datetime:
    """`9d`, `36 h`, `2 weeks`, `2026-02-20`, `2026-02-20 14:30`: the date of an item so old, UTC. Raises `Unreadable`."""
    typed = text.strip()
    if found := _AGE.fullmatch(typed):
        created = _aged(int(found["number"]) * _SECONDS[found["unit"][0].lower()], now)
    elif found := _DATED.fullmatch(typed):
        created = _dated(found, zone)
    else:
        raise Unreadable(f"{typed[:40]} is no age; type one {AGE_EXAMPLE}.")
    if created > now:
        raise Unreadable(f"{typed[:40]} is still to come; an item's own date has passed.")
    return created


def _aged(seconds: int, now: datetime) -> datetime:
    if seconds > YEARS_MOST * 366 * 86_400:
        raise Unreadable(f"An item older than {YEARS_MOST} years cannot be supposed.")
    return now - timedelta(seconds=seconds) - LEAD


def _dated(found: re.Match[str], zone: tzinfo) -> datetime:
    written = f"{found['date']}T{found['time'] or '00:00'}{(found['offset'] or '').upper()}"
    try:
        instant = datetime.fromisoformat(written)
        return (instant if instant.tzinfo is not None else instant.replace(tzinfo=zone)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise Unreadable(f"There is no {found[0][:25]} in the calendar; type a date {AGE_EXAMPLE}.") from None


def read_input(declared: RuleInput, text: str) -> bool | int | str:
    """An input of the item as its type is: text, `12`, `yes` or `no`. Raises `Unreadable`."""
    typed = text.strip()
    if declared.type is RuleInputType.INTEGER:
        if re.fullmatch(r"[-+\N{MINUS SIGN}]?\d{1,19}", typed, re.ASCII) is None or abs(_integer(typed)) > INTEGER_MOST:
            raise Unreadable(f"{typed[:20]} is not a whole number that can be kept.")
        return _integer(typed)
    if declared.type is RuleInputType.BOOLEAN:
        if typed.casefold() not in ("yes", "no", "true", "false"):
            raise Unreadable(f"{typed[:20]} is neither yes nor no.")
        return typed.casefold() in ("yes", "true")
    if len(typed) > TEXT_MOST:
        raise Unreadable(f"It has {len(typed):,} characters; at most {TEXT_MOST:,}.")
    if not storable(typed):
        raise Unreadable("It holds a character that cannot be kept (NUL or half of a pair): take it out.")
    return typed


def _integer(typed: str) -> int:
    return int(typed.replace(MINUS, "-"))


def input_key(declared: RuleInput) -> str | None:
    """The item's own input that a rule's input reads; None for its amount and its date."""
    return declared.source.removeprefix("input.") if declared.source.startswith("input.") else None


def own_value(declared: RuleInput, item: Item, now: datetime) -> str:
    """What the item itself has, as a person would type it; empty where it has none."""
    if declared.source == "amount":
        return amount_text(item.amount) if item.amount is not None else ""
    if declared.source == "created":
        return span((now - item.created).total_seconds()).replace("min", "minutes")
    value = item.inputs.get(input_key(declared) or "")
    if value is None:
        return ""
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """One input before and after."""

    name: str
    before: ScorePart | None
    after: ScorePart | None

    @property
    def changed(self) -> int | None:
        """Points more than before; None where one of them is not there."""
        return None if self.before is None or self.after is None else self.after.points - self.before.points


def supposed_lines(explanation: Explanation, supposed: Supposed, width: int) -> list[Line]:
    """Score, parts and place: as they are and as they would be, with the neighbours there."""
    item = explanation.item
    before = explanation.item.score
    lines = _score_lines(before, supposed.score, width)
    if supposed.score.value is None:
        lines += failure_lines(supposed.score, width)
    return [
        *lines,
        *_reason_lines(before, supposed.score),
        (),
        _place_line(explanation, supposed),
        *_neighbour_lines(supposed.placement),
        *_versions(item, supposed),
    ]


def _reason_lines(before: Score | None, after: Score) -> list[Line]:
    """Why the inputs that were supposed count as they do: a word that no rule knows says here that it counts as none."""
    was = {part.input: part.words for part in before.parts} if before is not None else {}
    told = [f"{input_words(part.input)}: {part.words}" for part in after.parts if part.words != was.get(part.input)]
    return [(Piece(fit("why" if not at else "", LABEL), Tone.QUIET), Piece(text)) for at, text in enumerate(told)]


def _score_lines(before: Score | None, after: Score, width: int) -> list[Line]:
    before_parts = {part.input: part for part in before.parts} if before is not None else {}
    after_parts = {part.input: part for part in after.parts}
    names = list(dict.fromkeys([*after_parts, *before_parts]))
    rows = [_Row(name=name, before=before_parts.get(name), after=after_parts.get(name)) for name in names]
    label = max(LABEL, min(INPUT_MOST, max((width_of(input_words(name)) + 2 for name in names), default=0)))
    shown = max((width_of(part.shown) for row in rows for part in (row.before, row.after) if part), default=0)
    shown = max(shown, len("supposed"))
    was, now_is = _value(before), _value(after)
    change = _value_change(before, after)
    if label + 2 * (shown + 10) + 10 > width:
        return [*(line for row in rows for line in _stacked(row, label)), *_stacked_total(was, now_is, change, label)]
    head: Line = (
        Piece(" " * label),
        Piece(fit("as it is", shown + 10), Tone.QUIET),
        Piece(fit("supposed", shown + 10), Tone.QUIET),
        Piece(fit("change", 8, right=True), Tone.QUIET),
    )
    total: Line = (
        Piece(fit("score", label), Tone.QUIET),
        Piece(fit(was, shown + 7, right=True) + "   ", Tone.STRONG),
        Piece(fit(now_is, shown + 7, right=True) + "   ", Tone.STRONG),
        Piece(fit(change, 8, right=True), Tone.STRONG),
    )
    return [head, *(_row(row, label, shown) for row in rows), total]


def _row(row: _Row, label: int, shown: int) -> Line:
    changed = signed(row.changed) if row.changed is not None else ""
    return (
        Piece(fit(input_words(row.name), label - 1) + " ", Tone.QUIET),
        *_side(row.before, shown),
        *_side(row.after, shown),
        Piece(fit(changed, 8, right=True), Tone.STRONG if row.changed else Tone.QUIET),
    )


def _side(part: ScorePart | None, shown: int) -> Line:
    if part is None:
        return (Piece(fit("–", shown + 10), Tone.QUIET),)
    return (Piece(fit(part.shown, shown)), Piece(fit(signed(part.points), 7, right=True) + "   ", Tone.PLAIN))


def _stacked(row: _Row, label: int) -> list[Line]:
    """Before and after one under the other, where they have no room beside each other."""
    name = Piece(fit(input_words(row.name), label - 1) + " ", Tone.QUIET)
    lines: list[Line] = []
    for part, word in ((row.before, "as it is"), (row.after, "supposed")):
        if part is not None:
            told = f"{part.shown} {signed(part.points)}"
            lines.append((name if not lines else Piece(" " * label), Piece(f"{word}  ", Tone.QUIET), Piece(told)))
    return lines


def _stacked_total(was: str, now_is: str, change: str, label: int) -> list[Line]:
    told = f"{was} → {now_is}" + (f"  {change}" if change else "")
    return [(Piece(fit("score", label), Tone.QUIET), Piece(told, Tone.STRONG))]


def _value(score: Score | None) -> str:
    return number(score.value) if score is not None and score.value is not None else "–"


def _value_change(before: Score | None, after: Score) -> str:
    if before is None or before.value is None or after.value is None:
        return ""
    return signed(after.value - before.value)


def _place_line(explanation: Explanation, supposed: Supposed) -> Line:
    """`place     from 2nd to 1st`."""
    after = place_text(supposed.placement.ahead)
    if explanation.placement is None:
        told = f"it does not wait now; it would be {after}"
    else:
        before = place_text(explanation.placement.ahead)
        told = f"stays {after}" if before == after else f"from {before} to {after}"
    return (Piece(fit("place", LABEL), Tone.QUIET), Piece(told, Tone.STRONG))


def _neighbour_lines(placement: Placement) -> list[Line]:
    lines: list[Line] = []
    for label, other in (("behind", placement.above), ("before", placement.below)):
        if other is None:
            nobody = "nothing: it would be first" if label == "behind" else "nothing: it would be last"
            lines.append((Piece(fit(label, LABEL), Tone.QUIET), Piece(nobody, Tone.QUIET)))
            continue
        told = plain(joined([Piece(score_words(other)), Piece(plain(heading(other)))], "   "))
        lines.append((Piece(fit(label, LABEL), Tone.QUIET), Piece(told)))
    return lines


def _versions(item: Item, supposed: Supposed) -> list[Line]:
    """Says that the rule moved on since the item was scored."""
    before = item.score
    if before is None or (before.rule, before.version) == (supposed.score.rule, supposed.score.version):
        return []
    told = f"it was scored by v{before.version}; this is v{supposed.score.version} of {supposed.score.rule}"
    return [(Piece(told, Tone.WARN),)]
