"""Owns judging a filter by what a queue has: its declared inputs with their types, its currencies (case MONEY-03).

Pure: what a queue has is handed in. Amounts of different currencies are never compared.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date

from jobcontract.filter_tokens import did_you_mean, typed
from jobcontract.filter_values import whole_number
from jobcontract.filters import INPUT, NOT_GIVEN, Condition, Filter, FilterError, Operator, Sort
from jobcontract.ids import is_slug
from jobcontract.money import MoneyError, typed_amount
from jobcontract.states import InputType

YES, NO = "yes", "no"
"""What an input of type boolean is written as."""
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_INTEGER_MOST = 2**63 - 1
_COMPARED = frozenset({InputType.INTEGER, InputType.INSTANT})
_FORMS: Mapping[InputType, str] = {
    InputType.BOOLEAN: "yes, no or none",
    InputType.INTEGER: "a whole number, or none",
    InputType.INSTANT: "a day like 2026-03-01, or none",
    InputType.PERSON: "me, a person's id like k.rao, or none",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueNames:
    """What a filter of one queue may name. `currencies` are those of its unfinished items, within reach."""

    money: bool
    inputs: Mapping[str, InputType] = field(default_factory=dict)
    currencies: tuple[str, ...] = ()


def needs_currencies(filter_: Filter) -> bool:
    """Whether the filter compares or sorts amounts without saying in which currency."""
    return _about_amounts(filter_) is not None and not filter_.of("currency")


def judge_names(filter_: Filter, names: QueueNames) -> str | None:
    """The currency whose amounts the filter compares or sorts, None where it does neither; FilterError.

    Without a condition on currency it is the queue's only one; with several to choose from, or named, nothing decides.
    """
    for condition in filter_.conditions:
        if condition.field.startswith(INPUT):
            _judge_input(condition, names)
    about = _about_amounts(filter_)
    if about is None:
        return None
    if not names.money:
        raise _at(about, "The items of this queue carry no amount. Take this out.")
    currency = _currency(filter_, about, names)
    for condition in filter_.of("amount"):
        _judge_amount(condition, currency)
    return currency


def day(text: str) -> date | None:
    """`2026-03-01` as a day, None where it is none."""
    try:
        return date.fromisoformat(text) if _DATE.fullmatch(text) else None
    except ValueError:
        return None


def _about_amounts(filter_: Filter) -> Condition | None:
    sorts = filter_.of("sort") if filter_.sort is Sort.AMOUNT else ()
    return next(iter((*filter_.of("amount"), *sorts)), None)


def _currency(filter_: Filter, about: Condition, names: QueueNames) -> str:
    named = filter_.of("currency")
    choices = tuple(dict.fromkeys(named[0].values)) if named else names.currencies
    if len(choices) == 1:
        return choices[0]
    does = "sorted" if about.field == "sort" else "compared"
    if not choices:
        sentence = "No item with an amount waits here that could tell the currency. Add it, like currency:EUR"
    elif named:
        sentence = f"Amounts are {does} within one currency. Name one of {', '.join(choices)} alone: "
        sentence += f"currency:{choices[0]}"
    else:
        sentence = f"Amounts are {does} within one currency, and several wait here ({', '.join(choices)}). "
        sentence += f"Add one: currency:{choices[0]}"
    raise FilterError(sentence, at=about.at, length=about.length, choices=choices)


def _judge_amount(condition: Condition, currency: str) -> None:
    try:
        typed_amount(condition.values[0], currency)
    except MoneyError as wrong:
        sentence = str(wrong)
        raise _at_value(condition, 0, f"{sentence[0].upper()}{sentence[1:]}.") from None


def _judge_input(condition: Condition, names: QueueNames) -> None:
    name = condition.field.removeprefix(INPUT)
    kind = names.inputs.get(name)
    if kind is None:
        known = tuple(f"{INPUT}{each}" for each in names.inputs)
        there = f"There is {', '.join(known)}." if known else "Its items have no inputs."
        sentence = f"This queue has no {typed(condition.field)}. {there}{did_you_mean(condition.field, known)}"
        raise FilterError(sentence, at=condition.at, length=len(condition.field))
    if condition.operator is not Operator.IS and kind not in _COMPARED:
        sentence = f"{condition.field} does not compare: it takes a colon, {condition.field}:…"
        raise FilterError(sentence, at=condition.at + len(condition.field), length=len(condition.operator))
    for index, value in enumerate(condition.values):
        if value != NOT_GIVEN and not _fits(kind, value):
            raise _at_value(condition, index, f"{condition.field} takes {_FORMS[kind]}; not {typed(value)}.")


def _fits(kind: InputType, value: str) -> bool:
    if kind is InputType.BOOLEAN:
        return value.lower() in (YES, NO)
    if kind is InputType.INTEGER:
        number = whole_number(value)
        return number is not None and abs(number) <= _INTEGER_MOST
    if kind is InputType.INSTANT:
        return day(value) is not None
    return kind is InputType.TEXT or is_slug(value.lower())


def _at(condition: Condition, sentence: str) -> FilterError:
    return FilterError(sentence, at=condition.at, length=condition.length)


def _at_value(condition: Condition, index: int, sentence: str) -> FilterError:
    at, length = condition.places[index] if condition.places else (condition.at, condition.length)
    return FilterError(sentence, at=at, length=length)
