"""Owns the filter language of queue listings: reading a text into a `Filter` and writing it back.

    amount>1000 currency:EUR holder:me,free age>3d score>=80 input.invoice:missing "acme ltd" 4411 sort:amount

Conditions stand between blanks and hold together; any one of a condition's values is enough. Console and service read
the same text by it. Pure; imports nothing of the wire. Never asks anybody which names exist: see `filter_names`.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from dataclasses import field as dataclass_field

from jobcontract.filter_tokens import NONE, FilterError, Token, bare, bare_word, quoted, tokens
from jobcontract.filter_values import FIELDS, FREE, INPUT, ME, NOT_GIVEN, Operator, Sort, judged

__all__ = [
    "CONDITIONS_MAX",
    "FIELDS",
    "FREE",
    "INPUT",
    "ME",
    "NOT_GIVEN",
    "WORD",
    "Condition",
    "Filter",
    "FilterError",
    "Operator",
    "Sort",
    "folded_words",
    "parse",
    "write",
]

WORD = ""
"""`Condition.field` of a word: a prefix of any word of payee, title, key, payee id or last four."""
CONDITIONS_MAX = 20
"""Most conditions of a filter (MONEY.md 33)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """One condition: all of a filter's conditions hold together; any one of `values` is enough.

    `values` are as a person wrote them, without quotes; amounts keep their digits (`1,000.50`), ages their unit (`3d`).
    Closed words are small, currencies capital. `NOT_GIVEN` is the bare word `none`.
    """

    field: str
    operator: Operator
    values: tuple[str, ...]
    at: int = dataclass_field(default=0, compare=False)
    """Index of its first character in the text."""
    length: int = dataclass_field(default=0, compare=False)
    places: tuple[tuple[int, int], ...] = dataclass_field(default=(), compare=False)
    """Index and length of each value in the text, its quotes included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """A filter as it was read; the empty one matches everything."""

    conditions: tuple[Condition, ...] = ()

    def of(self, field: str) -> tuple[Condition, ...]:
        """The conditions on `field`, in order."""
        return tuple(each for each in self.conditions if each.field == field)

    @property
    def sort(self) -> Sort:
        """The order that it asks for; the queue's own where it names none."""
        named = self.of("sort")
        return Sort(named[0].values[0]) if named else Sort.SCORE


def parse(text: str) -> Filter:
    """Read a filter; FilterError says what cannot be read, where, and what to write instead."""
    conditions: list[Condition] = []
    for token in tokens(text, FIELDS):
        condition = _condition(token)
        if len(conditions) == CONDITIONS_MAX:
            sentence = f"At most {CONDITIONS_MAX} conditions are allowed. Take this one and what follows out."
            raise FilterError(sentence, at=token.at, length=len(text) - token.at)
        _judge_again(condition, conditions, text)
        conditions.append(condition)
    return Filter(conditions=tuple(conditions))


def write(filter_: Filter) -> str:
    """The canonical text of a filter: `parse(write(f)) == f` for every filter that `parse` can give."""
    return " ".join(map(_written, filter_.conditions))


def folded_words(text: str) -> tuple[str, ...]:
    """The words of a text as a search compares them: without capitals, in one form of Unicode (NFKC), no blanks."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return tuple(folded.split())


def _condition(token: Token) -> Condition:
    operator, values = judged(token) if token.operator else (Operator.IS, (token.values[0].text,))
    return Condition(
        field=token.field,
        operator=operator,
        values=values,
        at=token.at,
        length=token.length,
        places=tuple((value.at, value.length) for value in token.values),
    )


def _judge_again(condition: Condition, before: list[Condition], text: str) -> None:
    """A second condition that says what the field is: both together would hold for nothing, or say nothing."""
    if condition.field == WORD or condition.operator is not Operator.IS:
        return
    first = next((each for each in before if (each.field, each.operator) == (condition.field, Operator.IS)), None)
    if first is None:
        return
    sentence = f"{condition.field} is said twice. "
    if condition.field in ("amount", "score", "sort"):
        sentence += "Take one of them out."
    else:
        values = text[condition.at : condition.at + condition.length].partition(":")[2]
        sentence += f"For any of several: {text[first.at : first.at + first.length]},{values}"
    raise FilterError(sentence, at=condition.at, length=condition.length)


def _written(condition: Condition) -> str:
    if condition.field == WORD:
        word = condition.values[0]
        return word if bare_word(word, FIELDS) else quoted(word)
    values = ",".join(_written_value(condition.field, value) for value in condition.values)
    return f"{condition.field}{condition.operator}{values}"


def _written_value(field: str, value: str) -> str:
    if value == NOT_GIVEN:
        return NONE
    return value if field == "amount" or bare(value) else quoted(value)
