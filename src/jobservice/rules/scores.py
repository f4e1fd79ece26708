"""Owns what a calculation rule is, how an item is scored by one, and where a score puts it in the order.

Pure. Whatever a rule's function does, the item keeps a place that people see: one that could not be scored stands
before all that were (requirements order-queue-items-by-score, show-the-score-beside-each-item; case MONEY-03).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from jobcontract.ids import visible
from jobcontract.money import Money, MoneyError
from jobcontract.states import RuleInputType
from jobservice.application import CannotScore, Part, Score, ScoreFunction, ScoreInputs, ScoreValue
from jobservice.rules.items import Content, Payment

SCORE_MOST = 1_000_000
"""Largest score, and largest number of points of a part, either way."""
SHOWN_MOST = 60
"""Most characters of a part's value as it is shown: all of them have to fit into one line of a row."""
WORDS_MOST = 120
FAILURE_MOST = 200
UNRANKED = 0
"""Rank in a queue without a rule: all alike, so that age decides."""
PARKED = -(2**40)
"""Rank of an item that could not be scored: before every score, so that somebody sees it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleInput:
    """One declared input of a rule; `source` is `amount`, `created` or `input.NAME`."""

    name: str
    type: RuleInputType
    title: str
    source: str
    unit: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A calculation rule as its record states it. `refresh_seconds` is None where no input changes with time alone."""

    id: str
    title: str
    version: int
    formula: str
    inputs: tuple[RuleInput, ...]
    refresh_seconds: float | None = None
    thresholds: Mapping[str, Mapping[str, Money]] = field(default_factory=dict)
    """By currency, then by name: every currency has the same names; empty where the rule has none."""

    @property
    def timed(self) -> bool:
        """Whether time alone changes its scores."""
        return any(each.type is RuleInputType.AGE for each in self.inputs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """What became of scoring one item: a value with its parts, or the reason why there is none."""

    value: int | None
    parts: tuple[Part, ...] = ()
    inputs: Mapping[str, str | int | bool | None] = field(default_factory=dict)
    """What was decided by, as it is kept: amounts as `GBP 123` in minor units, instants as RFC 3339."""
    failure: str | None = None

    @property
    def rank(self) -> int:
        """Its place in the order as one ascending key."""
        return PARKED if self.value is None else -self.value


class PromiseBroken(Exception):
    """A rule gave something that is no score of its declared inputs; the text says what is wrong with it."""


def score_item(
    rule: Rule,
    function: ScoreFunction,
    content: Content,
    created: datetime,
    now: datetime,
    *,
    on_fault: Callable[[BaseException], None] = lambda _error: None,
) -> Scored:
    """Score an item; never raises. `on_fault` gets what a rule did wrong, for the log: what it raised that is not
    CannotScore, or PromiseBroken."""
    kept: dict[str, str | int | bool | None] = {}
    try:
        values = {each.name: _value(each, content, created) for each in rule.inputs}
        kept |= {name: _kept(value) for name, value in values.items()}
        score = function(ScoreInputs(values=values, thresholds=_thresholds(rule, content)), now)
        fault = next(_faults(rule, score), None)
        if fault is None:
            return Scored(value=score.value, parts=_ordered(rule, score), inputs=kept)
        on_fault(PromiseBroken(fault))
    except CannotScore as reason:
        fault = _told(reason)
    except KeyboardInterrupt:  # a person at the terminal, not the rule
        raise
    except BaseException as error:  # the application's code is not ours: whatever it raises parks this one item
        on_fault(error)
        fault = f"{rule.id} went wrong ({type(error).__name__})"
    return Scored(value=None, inputs=kept, failure=_sentence(fault))


def _thresholds(rule: Rule, content: Content) -> Mapping[str, Money]:
    """Those of the item's currency. CannotScore where the rule compares amounts and states none for it (MONEY-03)."""
    if not rule.thresholds or content.payment is None:
        return {}
    currency = content.payment.currency
    if currency not in rule.thresholds:
        raise CannotScore(f"{rule.id} states no thresholds for {currency}")
    return dict(rule.thresholds[currency])  # a copy: what a rule does to it must not reach the next item


def _value(declared: RuleInput, content: Content, created: datetime) -> ScoreValue:
    if declared.source == "created":
        return created
    if declared.source == "amount":
        payment = content.payment
        return None if payment is None else _money(payment)
    return content.inputs.get(declared.source.removeprefix("input."))


def _money(payment: Payment) -> Money:
    try:
        return Money(minor=payment.minor, currency=payment.currency)
    except MoneyError as wrong:  # kept under an older list of currencies
        raise CannotScore(str(wrong)) from None


def _kept(value: ScoreValue) -> str | int | bool | None:
    if isinstance(value, Money):
        return f"{value.currency} {value.minor}"
    return value.isoformat() if isinstance(value, datetime) else value


def _faults(rule: Rule, score: object) -> Iterator[str]:
    """What is wrong with what a rule gave, as sentences without a full stop."""
    if not isinstance(score, Score):
        yield f"{rule.id} gave no score"
        return
    names = [part.input for part in score.parts]
    if sorted(names) != sorted(each.name for each in rule.inputs):
        yield f"{rule.id} has to give one part for each of its inputs, and gave {', '.join(names) or 'none'}"
        return
    for part in score.parts:
        if type(part.points) is not int or abs(part.points) > SCORE_MOST:
            yield f"the points of {part.input} are no whole number up to {SCORE_MOST:,}"
            return
        if not _showable(part.shown, SHOWN_MOST):
            yield f"the value shown of {part.input} is not 1 to {SHOWN_MOST} characters that can be seen"
            return
        if not _showable(part.words, WORDS_MOST):
            yield f"the words of {part.input} are not 1 to {WORDS_MOST} characters that can be seen"
            return
    total = sum(part.points for part in score.parts)
    if type(score.value) is not int or score.value != total or abs(total) > SCORE_MOST:
        yield f"the parts of {rule.id} add up to {total:,}, and it says {score.value}"


def _showable(text: object, most: int) -> bool:
    # What is printable can be stored, too: neither NUL nor a surrogate is.
    return isinstance(text, str) and len(text) <= most and text.isprintable() and visible(text)


def _ordered(rule: Rule, score: Score) -> tuple[Part, ...]:
    by_input = {part.input: part for part in score.parts}
    return tuple(by_input[each.name] for each in rule.inputs)


def _told(reason: CannotScore) -> str:
    try:
        return str(reason)
    except Exception:  # a text of the application's own making: it parks this one item, as above
        return ""


def _sentence(fault: str) -> str:
    kept = " ".join(fault.split())[:FAILURE_MOST]
    return kept if kept.isprintable() and visible(kept) else "its rule gave a reason that cannot be shown"
