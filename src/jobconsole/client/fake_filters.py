"""Owns which items of the fake service match a filter, in plain Python over the wire's own models.

The same parser as the service's, another evaluation: `tests/client/test_conformance.py` holds the two together.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.filter_names import YES, QueueNames, judge_names
from jobcontract.filter_values import age_of
from jobcontract.filters import (
    FREE,
    INPUT,
    ME,
    NOT_GIVEN,
    WORD,
    Condition,
    Filter,
    FilterError,
    Operator,
    Sort,
    folded_words,
    parse,
)
from jobcontract.items import Item
from jobcontract.money import MINUS
from jobcontract.states import InputType

_COMPARE: Mapping[Operator, Callable[[Any, Any], bool]] = {
    Operator.IS: operator.eq,
    Operator.MORE: operator.gt,
    Operator.AT_LEAST: operator.ge,
    Operator.LESS: operator.lt,
    Operator.AT_MOST: operator.le,
}


def read(text: str, names: QueueNames, people: Iterable[str]) -> tuple[Filter, str | None]:
    """The filter, and the currency in which it compares or sorts amounts. Refusal FILTER_INVALID."""
    try:
        filter_ = parse(text)
        currency = judge_names(filter_, names)
        for condition in filter_.of("holder"):
            for place, value in zip(condition.places, condition.values, strict=True):
                if value not in (ME, FREE, *people):
                    raise FilterError(f"No colleague has the id {value!r}.", at=place[0], length=place[1])
    except FilterError as wrong:
        choices = {"choices": list(wrong.choices)} if wrong.choices else {}
        raise Refusal(ErrorCode.FILTER_INVALID, wrong.sentence, at=wrong.at, length=wrong.length, **choices) from None
    return filter_, currency


def ordered(rows: list[Item], filter_: Filter, currency: str | None) -> list[Item]:
    """Rows of the queue's own order in that of the filter: by amount, those of its currency alone, largest first."""
    if filter_.sort is not Sort.AMOUNT:
        return rows
    amounts = [(row.amount.minor, row) for row in rows if row.amount is not None and row.amount.currency == currency]
    return [row for _, row in sorted(amounts, key=lambda each: (-each[0], each[1].created, each[1].id))]


def matches(
    item: Item,
    filter_: Filter,
    me: str,
    now: datetime,
    *,
    currency: str | None = None,
    inputs: Mapping[str, InputType] | None = None,
) -> bool:
    """Whether every condition holds of the item; amounts in `currency`, inputs by their declared types (else text)."""
    kinds = {} if inputs is None else inputs
    if currency is not None and (item.amount is None or item.amount.currency != currency):
        return False
    return all(_holds(item, each, me, now, kinds) for each in filter_.conditions)


def _holds(item: Item, each: Condition, me: str, now: datetime, kinds: Mapping[str, InputType]) -> bool:
    if each.field.startswith(INPUT):
        name = each.field.removeprefix(INPUT)
        value, kind = item.inputs.get(name), kinds.get(name, InputType.TEXT)
        return any(_input(value, each.operator, wanted, kind, me) for wanted in each.values)
    if each.field == WORD:
        return _has_words(item, folded_words(each.values[0]))
    if each.field == "age":
        return _COMPARE[each.operator](now - item.created, age_of(each.values[0]))
    if each.field == "amount":
        return item.amount is not None and _COMPARE[each.operator](
            Decimal(item.amount.minor).scaleb(-item.amount.exponent), _number(each.values[0])
        )
    if each.field == "score":
        return _score(item, each)
    return each.field == "sort" or any(_is(item, each.field, value, me) for value in each.values)


def _is(item: Item, field: str, value: str, me: str) -> bool:
    if field == "currency":
        return item.amount is not None and item.amount.currency == value
    if field == "state":
        return item.state.value == value
    holder = None if item.holder is None else item.holder.id
    return holder is None if value == FREE else holder == (me if value == ME else value)


def _score(item: Item, each: Condition) -> bool:
    score = None if item.score is None else item.score.value
    if each.values == (NOT_GIVEN,):
        return score is None
    return score is not None and _COMPARE[each.operator](score, _number(each.values[0]))


def _has_words(item: Item, wanted: tuple[str, ...]) -> bool:
    texts = [item.title, item.key or ""]
    if item.payee is not None:
        texts[1:1] = [item.payee.name, item.payee.id, item.payee.account_last4]
    words = [word for text in texts for word in folded_words(text)]
    whole, last = list(wanted[:-1]), wanted[-1]
    return any(
        words[at : at + len(whole)] == whole and words[at + len(whole)].startswith(last)
        for at in range(len(words) - len(whole))
    )


def _input(value: object, compare: Operator, wanted: str, kind: InputType, me: str) -> bool:
    if wanted == NOT_GIVEN:
        return value is None or (kind is InputType.TEXT and value == "none")
    if kind is InputType.BOOLEAN:
        return value is (wanted.lower() == YES)
    if kind is InputType.INTEGER:
        return type(value) is int and _COMPARE[compare](value, int(_number(wanted)))
    if kind is InputType.INSTANT:
        return isinstance(value, str) and _COMPARE[compare](_day(value), date.fromisoformat(wanted))
    if kind is InputType.PERSON:
        return value == (me if wanted.lower() == ME else wanted.lower())
    return value == wanted


def _day(value: str) -> date:
    return datetime.fromisoformat(value.replace("Z", "+00:00")).date()


def _number(text: str) -> Decimal:
    return Decimal(text.replace(",", "").replace(MINUS, "-"))
