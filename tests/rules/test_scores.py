"""Scoring one item: the parts add up, a promise is kept or the item is parked, and nothing that a rule does escapes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobcontract.ids import storable
from jobcontract.money import Money
from jobcontract.states import RuleInputType
from jobservice.application import CannotScore, Part, Score, ScoreInputs, score_of
from jobservice.rules.items import Content, Payment
from jobservice.rules.scores import (
    FAILURE_MOST,
    PARKED,
    SCORE_MOST,
    SHOWN_MOST,
    WORDS_MOST,
    PromiseBroken,
    Rule,
    RuleInput,
    Scored,
    score_item,
)

pytestmark = pytest.mark.requirement("order-queue-items-by-score")

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
CREATED = NOW - timedelta(days=6)
PAYMENT = Payment(minor=123_450, currency="GBP", payee_id="s-1", payee_name="Ash", account="GB29NWBK6016")
CONTENT = Content(title="A payout", payment=PAYMENT, inputs={"invoice": "INV-1", "pages": 3, "urgent": True})
RULE = Rule(
    id="t.rule",
    title="Rule",
    version=4,
    formula="Counts.",
    inputs=(
        RuleInput(name="amount", type=RuleInputType.MONEY, title="Amount", source="amount"),
        RuleInput(name="age", type=RuleInputType.AGE, title="Age", source="created"),
        RuleInput(name="paper", type=RuleInputType.TEXT, title="Invoice", source="input.invoice"),
    ),
    refresh_seconds=60.0,
    thresholds={
        "GBP": {"large": Money(minor=100_000, currency="GBP")},
        "JPY": {"large": Money(minor=200_000, currency="JPY")},
    },
)


def part(name: str, points: Any = 1, shown: Any = "as shown", words: Any = "why") -> Part:
    return Part(input=name, shown=shown, points=points, words=words)


def parts(**points: Any) -> tuple[Part, ...]:
    return tuple(part(name, given) for name, given in ({"amount": 1, "age": 2, "paper": 3} | points).items())


def scored(function: Callable[[ScoreInputs, datetime], Any], content: Content = CONTENT, rule: Rule = RULE) -> Scored:
    return score_item(rule, function, content, CREATED, NOW)


def gives(*given: Part, value: Any = None) -> Callable[[ScoreInputs, datetime], Score]:
    """A rule's function that gives these parts, and says their sum or `value`."""
    return lambda _inputs, _now: score_of(*given) if value is None else Score(value=value, parts=given)


@pytest.mark.requirement("show-the-score-beside-each-item")
def test_a_rule_sees_its_inputs_the_thresholds_of_the_currency_and_the_clock_it_is_given() -> None:
    seen: list[tuple[ScoreInputs, datetime]] = []

    def function(inputs: ScoreInputs, now: datetime) -> Score:
        seen.append((inputs, now))
        assert inputs.money("amount") == Money(minor=123_450, currency="GBP")
        assert now - inputs.since("age") == timedelta(days=6)
        return score_of(*reversed(parts()))

    found = scored(function)
    assert found.failure is None
    assert (found.value, found.rank) == (6, -6)
    assert [each.input for each in found.parts] == ["amount", "age", "paper"], "in the order that the record states"
    assert found.inputs == {"amount": "GBP 123450", "age": "2026-02-24T09:00:00+00:00", "paper": "INV-1"}
    ((inputs, now),) = seen
    assert now == NOW
    assert inputs.values["paper"] == "INV-1"
    assert inputs.thresholds == {"large": Money(minor=100_000, currency="GBP")}


@given(
    points=st.lists(st.integers(-SCORE_MOST * 2, SCORE_MOST * 2), min_size=3, max_size=3),
    claimed=st.none() | st.integers(-SCORE_MOST * 2, SCORE_MOST * 2),
)
def test_an_item_is_scored_by_parts_that_add_up_or_it_is_parked(points: list[int], claimed: int | None) -> None:
    given_parts = tuple(part(each.name, count) for each, count in zip(RULE.inputs, points, strict=True))
    found = scored(gives(*given_parts, value=claimed))
    kept = all(abs(count) <= SCORE_MOST for count in (*points, sum(points))) and claimed in (None, sum(points))
    assert (found.failure is None) is kept
    if kept:
        assert found.value == sum(each.points for each in found.parts) == sum(points)
        assert found.rank == -sum(points) > PARKED
    else:
        assert (found.value, found.parts, found.rank) == (None, (), PARKED)


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (lambda *_: None, "t.rule gave no score"),
        (lambda *_: 5, "t.rule gave no score"),
        (gives(), "one part for each of its inputs, and gave none"),
        (gives(*parts()[:2]), "and gave amount, age"),
        (gives(*parts(), part("other")), "and gave amount, age, paper, other"),
        (gives(*parts()[:2], part("age")), "and gave amount, age, age"),
        (gives(*parts(age=True)), "the points of age are no whole number"),
        (gives(*parts(age=2.0), value=6), "the points of age are no whole number"),
        (gives(*parts(age=SCORE_MOST + 1)), "the points of age are no whole number up to 1,000,000"),
        (gives(*parts(), value=7), "add up to 6, and it says 7"),
        (gives(*parts(amount=1, age=0, paper=0), value=True), "and it says True"),
        (gives(*parts(amount=SCORE_MOST, age=SCORE_MOST, paper=SCORE_MOST)), "add up to 3,000,000"),
        (gives(part("amount", shown=""), *parts()[1:]), "the value shown of amount is not 1 to 60 characters"),
        (gives(part("amount", shown=" \u2800"), *parts()[1:]), "the value shown of amount"),
        (gives(part("amount", shown="x" * (SHOWN_MOST + 1)), *parts()[1:]), "the value shown of amount"),
        (gives(part("amount", shown=5), *parts()[1:]), "the value shown of amount"),
        (gives(part("amount", words="x" * (WORDS_MOST + 1)), *parts()[1:]), "the words of amount"),
        (gives(part("amount", words="\x1b[31mred"), *parts()[1:]), "the words of amount"),
        (gives(part("amount", words="\ud800"), *parts()[1:]), "the words of amount"),
        (gives(part("amount", words="two\nlines"), *parts()[1:]), "the words of amount"),
    ],
)
def test_a_broken_promise_parks_the_item_and_says_which(function: Any, says: str) -> None:
    faults: list[BaseException] = []
    found = score_item(RULE, function, CONTENT, CREATED, NOW, on_fault=faults.append)
    assert (found.value, found.parts, found.rank) == (None, (), PARKED)
    assert found.failure is not None
    assert says in found.failure
    (fault,) = faults
    assert isinstance(fault, PromiseBroken)
    assert says in str(fault), "the log says it too"


class Mute(CannotScore):
    """A reason that cannot even be asked for."""

    def __str__(self) -> str:
        raise ZeroDivisionError


@pytest.mark.parametrize(
    ("raised", "failure", "logged"),
    [
        (CannotScore("the register is away"), "the register is away", False),
        (CannotScore("two\nlines  and\ttabs"), "two lines and tabs", False),
        (CannotScore("x" * 900), "x" * FAILURE_MOST, False),
        (CannotScore(""), "its rule gave a reason that cannot be shown", False),
        (CannotScore("\x1b[31m"), "its rule gave a reason that cannot be shown", False),
        (CannotScore("\udc80"), "its rule gave a reason that cannot be shown", False),
        (Mute(), "its rule gave a reason that cannot be shown", False),
        (ZeroDivisionError("secret /path"), "t.rule went wrong (ZeroDivisionError)", True),
        (RecursionError(), "t.rule went wrong (RecursionError)", True),
        (SystemExit(1), "t.rule went wrong (SystemExit)", True),
        (asyncio.CancelledError(), "t.rule went wrong (CancelledError)", True),
    ],
)
def test_whatever_a_rule_raises_parks_the_item(raised: BaseException, failure: str, logged: bool) -> None:
    def function(*_: object) -> Score:
        raise raised

    faults: list[BaseException] = []
    found = score_item(RULE, function, CONTENT, CREATED, NOW, on_fault=faults.append)
    assert (found.value, found.failure, found.rank) == (None, failure, PARKED)
    assert faults == ([raised] if logged else [])
    assert found.inputs["amount"] == "GBP 123450", "what it was decided by is kept all the same"


@pytest.mark.requirement("MONEY-03")
def test_a_kept_item_whose_currency_is_listed_no_more_is_parked_too() -> None:
    # One such row would end every run of the duty that scores anew.
    found = scored(gives(*parts()), replace(CONTENT, payment=replace(PAYMENT, currency="ZZZ")))
    assert (found.value, found.rank) == (None, PARKED)
    assert found.failure == "'ZZZ' is not a currency of ISO 4217 (three capital letters)"


def test_what_a_rule_does_to_what_it_was_given_reaches_no_other_item() -> None:
    def careless(inputs: ScoreInputs, _now: datetime) -> Score:
        given: Any = inputs
        given.thresholds["large"] = Money(minor=1, currency="GBP")
        given.values.clear()
        return score_of(*parts())

    assert scored(careless).value == 6
    assert RULE.thresholds["GBP"] == {"large": Money(minor=100_000, currency="GBP")}


@pytest.mark.requirement("MONEY-03")
def test_an_amount_is_compared_in_its_own_currency_or_not_at_all() -> None:
    def function(inputs: ScoreInputs, _now: datetime) -> Score:
        large = inputs.money("amount").minor >= inputs.thresholds["large"].minor
        return score_of(*parts(amount=50 if large else 0, age=0, paper=0))

    def of(minor: int, currency: str) -> Scored:
        return scored(function, replace(CONTENT, payment=replace(PAYMENT, minor=minor, currency=currency)))

    assert [of(150_000, currency).value for currency in ("GBP", "JPY")] == [50, 0]
    assert of(150_000, "KWD").failure == "t.rule states no thresholds for KWD"


def test_an_item_without_what_a_rule_needs_is_parked_and_one_may_do_without() -> None:
    bare = Content(title="A note", payment=None, inputs={})

    def strict(inputs: ScoreInputs, _now: datetime) -> Score:
        return score_of(*parts(amount=inputs.money("amount").minor))

    def mild(inputs: ScoreInputs, _now: datetime) -> Score:
        assert (inputs.values["amount"], inputs.values["paper"], inputs.thresholds) == (None, None, {})
        return score_of(*parts())

    assert scored(strict, bare).failure == "amount is missing"
    found = scored(mild, bare)
    assert (found.value, found.inputs["amount"], found.inputs["paper"]) == (6, None, None)


@given(text=st.text(st.characters(), max_size=300))
def test_no_reason_reaches_the_row_that_cannot_be_stored_or_shown(text: str) -> None:
    def function(*_: object) -> Score:
        raise CannotScore(text)

    failure = scored(function).failure
    assert failure
    assert failure.isprintable()
    assert storable(failure)
    assert len(failure) <= FAILURE_MOST


def test_only_an_input_of_type_age_makes_a_rule_depend_on_time() -> None:
    assert RULE.timed
    assert not replace(RULE, inputs=(RULE.inputs[0], RULE.inputs[2])).timed
