"""Owns what each field of a filter takes: its operators, the form of its values, and what to write instead.

Never knows a queue: whether an input is declared or a person exists is asked with a vocabulary (`filter_names`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import timedelta
from enum import StrEnum

from jobcontract.filter_tokens import NONE, FilterError, Token, Value, did_you_mean, quoted, typed
from jobcontract.ids import is_slug
from jobcontract.money import EXPONENTS, MINUS, is_amount
from jobcontract.states import ItemState

INPUT = "input."
"""Start of the field of a declared input: `input.invoice`."""
NOT_GIVEN = ""
"""The value that a bare `none` is read as; text between quotes is never empty."""
ME, FREE = "me", "free"
"""Words that `holder` takes besides the ids of people."""
AGE_MOST = timedelta(days=366 * 100)


class Operator(StrEnum):
    """How a condition compares. `:` means is, or is one of."""

    IS = ":"
    MORE = ">"
    AT_LEAST = ">="
    LESS = "<"
    AT_MOST = "<="


class Sort(StrEnum):
    """Orders that a filter may ask for (`sort:amount`)."""

    SCORE = "score"
    """The queue's own: by rank, then age, then id."""
    AMOUNT = "amount"
    """Largest first, within one currency."""


FIELDS = ("amount", "currency", "holder", "age", "score", "state", "sort")
"""Fields that every queue may be asked for; each declared input is another (`input.NAME`)."""
_ONE_VALUE = frozenset({"amount", "age", "score", "sort"})
_WORDS_ONLY = frozenset({"currency", "holder", "state", "sort"})
_LOOKED_FOR = frozenset({"payee", "title", "key", "name", "account", "id", "text", "word"})
_AGE = re.compile(r"(\d{1,6})([mhdw])", re.ASCII | re.IGNORECASE)
_UNITS: Mapping[str, timedelta] = {
    "m": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
    "w": timedelta(weeks=1),
}
_WHOLE_NUMBER = re.compile(rf"[-{MINUS}]?\d+", re.ASCII)
_SCORE_MOST = 2**31 - 1


def age_of(text: str) -> timedelta | None:
    """`3d` as a duration; None where it is none, or longer than 100 years."""
    found = _AGE.fullmatch(text)
    age = None if found is None else int(found[1]) * _UNITS[found[2].lower()]
    return age if age is not None and age <= AGE_MOST else None


def whole_number(text: str) -> int | None:
    """`-12` as a number, the true minus sign too; None where it is none, or has more than 19 digits."""
    if _WHOLE_NUMBER.fullmatch(text) is None or len(text) > 20:
        return None
    return int(text.replace(MINUS, "-"))


def judged(token: Token) -> tuple[Operator, tuple[str, ...]]:
    """Operator and values of a condition, as the filter keeps them; FilterError where its field does not take them."""
    field, operator = _field(token), Operator(token.operator)
    _judge_operator(field, operator, token)
    if len(token.values) > 1 and (field in _ONE_VALUE or operator is not Operator.IS):
        second = token.values[1]
        sentence = f"{token.field}{operator} takes one value."
        raise FilterError(sentence, at=second.at - 1, length=token.at + token.length - second.at + 1)
    read = _READERS.get(field, _input)
    return operator, tuple(read(value, token) for value in token.values)


def _field(token: Token) -> str:
    if token.field in FIELDS:
        return token.field
    name = token.field.removeprefix(INPUT)
    if name and name != token.field:
        return INPUT
    literal = quoted(token.field + token.operator + token.values[0].text)
    if token.field in _LOOKED_FOR:
        sentence = f"Words are looked for in payee, title, key and last four without a field: {_word(token.values[0])}"
    else:
        near = did_you_mean(token.field, FIELDS)
        sentence = (
            f"There is no field {token.field}.{near} Fields: {', '.join(FIELDS)}, {INPUT}NAME. As text: {literal}"
        )
    raise FilterError(sentence, at=token.at, length=len(token.field))


def _word(value: Value) -> str:
    return quoted(value.text) if value.quoted else value.text


def _judge_operator(field: str, operator: Operator, token: Token) -> None:
    value = _word(token.values[0])
    if field in _WORDS_ONLY and operator is not Operator.IS:
        sentence = f"{field} does not compare: it takes a colon, {field}:{value}"
    elif field == "age" and operator is Operator.IS:
        sentence = f"An age is compared: age>{value} is older, age<{value} is younger."
    else:
        return
    raise FilterError(sentence, at=token.at + len(token.field), length=len(operator))


def _wrong(sentence: str, value: Value) -> FilterError:
    return FilterError(sentence, at=value.at, length=value.length)


def _amount(value: Value, token: Token) -> str:
    if is_amount(value.text):
        return value.text
    if ".." in value.text:
        least, _, most = value.text.partition("..")
        raise _wrong(f"Write a range as two conditions: amount>={least or '…'} amount<={most or '…'}", value)
    money = re.fullmatch(r"([A-Za-z]{3})?([^A-Za-z]+)([A-Za-z]{3})?", value.text)
    code = ((money[1] or money[3] or "") if money is not None else "").upper()
    if money is not None and code in EXPONENTS:
        raise _wrong(f"Say the currency apart: amount{token.operator}{money[2]} currency:{code}", value)
    sentence = f"{typed(value.text)} is not one amount like 1,234.50 (the comma groups thousands)."
    raise _wrong(sentence, value)


def _currency(value: Value, _token: Token) -> str:
    code = value.text.upper()
    if code in EXPONENTS:
        return code
    raise _wrong(f"{typed(value.text)} is not a currency of ISO 4217, like EUR or GBP.", value)


def _holder(value: Value, _token: Token) -> str:
    name = value.text.lower()
    if name == NONE:
        raise _wrong("For items that nobody holds write holder:free", value)
    if not is_slug(name):
        sentence = f"{typed(value.text)} cannot be a person's id. Write me, free, or an id like k.rao."
        raise _wrong(sentence, value)
    return name


def _age(value: Value, token: Token) -> str:
    text = value.text.lower()
    if age_of(text) is not None:
        return text
    if text.isdecimal() and text.isascii():
        raise _wrong(f"Add the unit, m, h, d or w: age{token.operator}{text[:6]}d is in days.", value)
    if _AGE.fullmatch(text):
        raise _wrong("Nothing is older than 100 years here. Write a shorter age.", value)
    raise _wrong(f"{typed(value.text)} is not an age like 30m, 12h, 3d or 2w.", value)


def _score(value: Value, token: Token) -> str:
    if value.text.lower() == NONE and token.operator == Operator.IS:
        return NOT_GIVEN
    number = whole_number(value.text)
    if number is None or abs(number) > _SCORE_MOST:
        hint = ", or none (score:none) for items without one" if token.operator == Operator.IS else ""
        raise _wrong(f"{typed(value.text)} is not a score: write a whole number like 80{hint}.", value)
    return value.text


def _state(value: Value, _token: Token) -> str:
    return _one_of("state", tuple(ItemState), value)


def _sort(value: Value, _token: Token) -> str:
    return _one_of("sort", tuple(Sort), value)


def _one_of(field: str, words: tuple[str, ...], value: Value) -> str:
    name = value.text.lower()
    if name in words:
        return str(name)
    raise _wrong(f"{field} takes {', '.join(words)}; not {typed(value.text)}.{did_you_mean(name, words)}", value)


def _input(value: Value, token: Token) -> str:
    if value.quoted or value.text.lower() != NONE:
        return value.text
    if token.operator != Operator.IS:
        raise _wrong(f"What was not given does not compare. Write {token.field}:none", value)
    return NOT_GIVEN


_READERS: Mapping[str, Callable[[Value, Token], str]] = {
    "amount": _amount,
    "currency": _currency,
    "holder": _holder,
    "age": _age,
    "score": _score,
    "state": _state,
    "sort": _sort,
}
