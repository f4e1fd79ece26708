"""Owns plain aligned text about scores for the headless twins: why an item stands where it stands, and what-if. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING

from jobconsole.present.amounts import account_text, amount_text
from jobconsole.present.columns import Line
from jobconsole.present.columns import plain as plain_text
from jobconsole.present.explain import ahead_words, overtaking_lines
from jobconsole.present.items import name_of
from jobconsole.present.plain import pairs, table
from jobconsole.present.scores import (
    NO_RULE,
    PARKED_PLACE,
    above_line,
    below_line,
    input_words,
    older_words,
    score_words,
    signed,
)
from jobconsole.present.times import brief_span, local
from jobconsole.present.what_if import UNSAVED, supposed_lines

if TYPE_CHECKING:
    from jobcontract.items import Explanation, Item, Supposed
    from jobcontract.scores import Rule, Score

UNCUT = 100_000
"""A width in which nothing has to give way."""


def explanation_lines(explanation: Explanation, zone: tzinfo) -> list[str]:
    """The item, its score part by part, its neighbours, what would change the order, the rule."""
    item, rule, placement = explanation.item, explanation.rule, explanation.placement
    place = ahead_words(placement.ahead) if placement is not None else "none: it does not wait (set aside or closed)"
    head = pairs(
        (
            ("item", item.id),
            ("key", item.key),
            ("amount", amount_text(item.amount) if item.amount else None),
            ("account", account_text(item.payee) or None),
            ("name", name_of(item)),
            ("place", place),
            ("score", score_words(item) if rule is not None or item.score is not None else NO_RULE),
            *_failure(item.score),
        )
    )
    lines = [*head, *_parts(item.score)]
    if placement is not None:
        lines += _around(item, placement.above, placement.below, scored=rule is not None)
    lines += _rule(rule, item.score, zone) if rule is not None else []
    return [*lines, "", _as_of(explanation.as_of, zone)]


def what_if_lines(explanation: Explanation, supposed: Supposed, zone: tzinfo) -> list[str]:
    """Score and place before and after, and that nothing was saved."""
    return [*_plain(supposed_lines(explanation, supposed, UNCUT)), "", UNSAVED, _as_of(supposed.as_of, zone)]


def _failure(score: Score | None) -> Sequence[tuple[str, object]]:
    if score is None or score.value is not None:
        return ()
    return (("why", score.failure), ("meanwhile", PARKED_PLACE))


def _parts(score: Score | None) -> list[str]:
    if score is None or not score.parts:
        return []
    rows = ((input_words(part.input), part.shown, signed(part.points), part.words) for part in score.parts)
    return ["", *table(("input", "value", "points", "why"), rows, right=(2,))]


def _around(item: Item, above: Item | None, below: Item | None, *, scored: bool) -> list[str]:
    """The items above and below, and how the points compare."""
    rows = [
        (
            label,
            score_words(other) if scored else "",
            amount_text(other.amount) if other.amount else "",
            account_text(other.payee),
            name_of(other),
            other.id,
        )
        for label, other in (("above", above), ("this", item), ("next", below))
        if other is not None
    ]
    lines = ["", *table(("place", "score", "amount", "account", "name", "item"), rows, right=(1, 2)), ""]
    if not scored:
        return [*lines, older_words(item, below)] if below is not None else lines
    told = [above_line(item, above)] if above is not None else []
    told += [below_line(item, below)] if below is not None else []
    more = _plain(overtaking_lines(item, above, below))
    compared = _plain(told)
    return [*lines, *compared, *(sentence for sentence in more if sentence not in compared)]


def _rule(rule: Rule, score: Score | None, zone: tzinfo) -> list[str]:
    again = "when an input changes"
    if rule.refresh_seconds is not None:
        again = f"every {brief_span(rule.refresh_seconds)}, and {again}"
    rows = pairs(
        (
            ("rule", f"{rule.id} v{rule.version} ({rule.title})"),
            ("formula", rule.formula),
            ("scored", local(score.scored_at, zone) if score is not None else None),
            ("again", again),
        )
    )
    compares = (
        (threshold.currency, threshold.name, _digits(threshold.minor, threshold.exponent))
        for threshold in rule.thresholds
    )
    return [
        "",
        *rows,
        *(["", *table(("currency", "compares", "amount"), compares, right=(2,))] if rule.thresholds else []),
    ]


def _digits(minor: int, exponent: int) -> str:
    """An amount by the decimals that the service names with it."""
    whole, part = divmod(abs(minor), 10**exponent)
    return f"{'−' if minor < 0 else ''}{whole:,}" + (f".{part:0{exponent}d}" if exponent else "")


def _plain(lines: Sequence[Line]) -> list[str]:
    return [plain_text(line).rstrip() for line in lines]


def _as_of(instant: datetime, zone: tzinfo) -> str:
    return f"as of {local(instant, zone)}"
