"""Owns what could be typed next in a filter: fields, operators and values out of the service's vocabulary. Pure.

Never offers a value where words are being typed, and never one that stands in the same condition already.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jobconsole.present.filters import Offer
from jobcontract.filter_tokens import WHOLE_VALUE, bare, quoted
from jobcontract.filters import INPUT, Operator

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jobcontract.queues import FilterField, Vocabulary

_CONDITION = re.compile(r"(?P<name>[^\W\d][\w.-]*)(?P<operator>>=|<=|>|<|:)")
_NAME_REST = re.compile(r"[\w.-]*")
_OPERATOR = re.compile(r">=|<=|>|<|:")
_VALUE_REST = re.compile(r'(?:"(?:[^"]|"")*+"?|[^\s",])*')
_COMPARED = frozenset({"amount", "age", "score", "integer", "instant"})
_FIRST: dict[str, Operator] = {"amount": Operator.MORE, "age": Operator.MORE, "score": Operator.AT_LEAST}
"""What is offered first after a field's name; `:` after every other."""
_MEANING: dict[Operator, str] = {
    Operator.IS: "is",
    Operator.MORE: "more than",
    Operator.AT_LEAST: "at least",
    Operator.LESS: "less than",
    Operator.AT_MOST: "at most",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """A piece of the text that is being typed: where it starts, and what stands of it before the cursor."""

    start: int
    typed: str


def offers_of(text: str, cursor: int, vocabulary: Vocabulary) -> tuple[Offer, ...]:
    """What could stand at the cursor; nothing where words are looked for, or what is typed is complete."""
    part = _part(text, cursor)
    condition = _CONDITION.match(part.typed)
    if condition is not None:
        found = _values(text, cursor, part, condition, vocabulary)
    elif part.typed.startswith('"'):
        return ()
    else:
        found = _names(text, cursor, part, vocabulary)
    return tuple(offer for offer in found if text[offer.start : offer.end] != offer.text)


def _part(text: str, cursor: int) -> _Part:
    before = text[:cursor]
    at, found = 0, 0
    while at < len(before):  # parts are read from the left: only there it is known what a quote opens
        if before[at].isspace():
            at += 1
            found = at
            continue
        at = _end_of_part(before, at)
    return _Part(start=found, typed=before[found:])


def _end_of_part(text: str, at: int) -> int:
    open_quote = False
    while at < len(text) and (open_quote or not text[at].isspace()):
        open_quote ^= text[at] == '"'
        at += 1
    return at


def _names(text: str, cursor: int, part: _Part, vocabulary: Vocabulary) -> Iterator[Offer]:
    typed = part.typed.casefold()
    rest = _NAME_REST.match(text, cursor)
    end = cursor if rest is None else rest.end()
    operator_follows = _OPERATOR.match(text, end) is not None
    for field in vocabulary.fields:
        if field.name == typed and not operator_follows:
            yield from _operators(field, part.start, end)
        elif field.name.startswith(typed) or (typed and field.name.removeprefix(INPUT).startswith(typed)):
            sign = "" if operator_follows else _FIRST.get(field.type, Operator.IS).value
            yield Offer(text=f"{field.name}{sign}", start=part.start, end=end, title=field.title)


def _operators(field: FilterField, start: int, end: int) -> Iterator[Offer]:
    first = _FIRST.get(field.type, Operator.IS)
    rest = [each for each in Operator if each is not first] if field.type in _COMPARED else []
    for operator in (first, *rest):
        if field.type != "age" or operator is not Operator.IS:
            yield Offer(text=f"{field.name}{operator}", start=start, end=end, title=_MEANING[operator])


def _values(text: str, cursor: int, part: _Part, condition: re.Match[str], vocabulary: Vocabulary) -> Iterator[Offer]:
    name = condition["name"].lower()
    field = next((each for each in vocabulary.fields if each.name == name), None)
    if field is None or name in WHOLE_VALUE:
        return
    *earlier, typed = _split(part.typed[condition.end() :])
    begun = _unquoted(typed).casefold()
    start = cursor - len(typed)
    rest = _VALUE_REST.match(text, start)
    end = cursor if rest is None else max(cursor, rest.end())
    said = {_unquoted(each).casefold() for each in earlier}
    compares = condition["operator"] != Operator.IS
    for value in field.values:
        if value.casefold().startswith(begun) and value.casefold() not in said and not (compares and value == "none"):
            yield Offer(text=value if bare(value) or value == "none" else quoted(value), start=start, end=end)


def _split(values: str) -> list[str]:
    """The values before the cursor, split at commas outside quotes; the last one is being typed."""
    parts, open_quote = [""], False
    for sign in values:
        open_quote ^= sign == '"'
        if sign == "," and not open_quote:
            parts.append("")
        else:
            parts[-1] += sign
    return parts


def _unquoted(value: str) -> str:
    if not value.startswith('"'):
        return value
    return value[1:].removesuffix('"').replace('""', '"')
