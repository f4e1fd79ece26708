"""Owns what a filter means of an item, as the one condition that the store's `jobs.matches` takes.

Pure. Bounds are inclusive and exact: minor units, whole scores, microseconds of age. A value reaches a jsonpath as a
JSON literal only; names of inputs are those that the queue declares.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date, timedelta

from jobcontract.filter_names import YES, day
from jobcontract.filter_tokens import did_you_mean, typed
from jobcontract.filter_values import age_of, whole_number
from jobcontract.filters import FREE, INPUT, ME, NOT_GIVEN, WORD, Condition, Filter, Operator, folded_words
from jobcontract.money import AMOUNT_MAX, parse_amount
from jobcontract.states import InputType

JsonCondition = Mapping[str, str | int]
"""By the keys that `jobs.matches` knows; lists are joined by commas, patterns of words by the unit separator."""
SEPARATOR = "\x1f"
"""Between patterns of words: white space to Python, so no word holds it."""
SCORE_BOUND = 2**31 - 1
AGE_BOUND = 2**53
_MICROSECOND = timedelta(microseconds=1)
_LIKE = str.maketrans({"\\": "\\\\", "%": "\\%", "_": "\\_"})


def condition(
    filter_: Filter, *, currency: str | None, inputs: Mapping[str, InputType], person: str
) -> JsonCondition | None:
    """What has to hold of an item; None where everything does. `judge_names` gave `currency`; `person` is `me`."""
    found: dict[str, str | int] = {}
    if currency is not None:
        found["currencies"] = currency
    elif filter_.of("currency"):
        found["currencies"] = ",".join(filter_.of("currency")[0].values)
    if currency is not None:
        found |= _bounds("amount", filter_.of("amount"), AMOUNT_MAX, lambda value: parse_amount(value, currency).minor)
    scores = [each for each in filter_.of("score") if each.values != (NOT_GIVEN,)]
    found |= _bounds("score", scores, SCORE_BOUND, _whole)
    found |= _bounds("age", filter_.of("age"), AGE_BOUND, _microseconds)
    if len(scores) < len(filter_.of("score")):
        found["scored"] = "false"
    for state in filter_.of("state"):
        found["states"] = ",".join(state.values)
    found |= _holders(filter_, person)
    if filter_.of(WORD):
        found["words"] = SEPARATOR.join(pattern(each.values[0]) for each in filter_.of(WORD))
    paths = [_path(each, inputs, person) for each in filter_.conditions if each.field.startswith(INPUT)]
    if paths:
        found["inputs"] = " && ".join(paths)
    return found or None


def pattern(text: str) -> str:
    """LIKE pattern of the words of `text` one after the other, the last one a prefix; nothing in them is special."""
    return f"% {' '.join(folded_words(text)).translate(_LIKE)}%"


def people_of(filter_: Filter) -> Iterator[tuple[Condition, int]]:
    """Where the filter names people by id: the condition on `holder`, and which of its values."""
    for each in filter_.of("holder"):
        for index, value in enumerate(each.values):
            if value not in (ME, FREE):
                yield each, index


def no_colleague(name: str, people: Mapping[str, str]) -> str:
    """The sentence for an id that no colleague has; `people` are names by id."""
    called = [identifier for identifier, called in people.items() if name in folded_words(called)]
    near = f" Did you mean {called[0]}?" if called else did_you_mean(name, tuple(people))
    return f"No colleague has the id {typed(name)}.{near or ' Write me, free, or the id of a colleague.'}"


def _holders(filter_: Filter, person: str) -> dict[str, str | int]:
    found: dict[str, str | int] = {}
    for each in filter_.of("holder"):
        people = [person if value == ME else value for value in each.values if value != FREE]
        if people:
            found["holders"] = ",".join(people)
        if FREE in each.values:
            found["free"] = "true"
    return found


def _bounds(name: str, conditions: Iterable[Condition], bound: int, read: Callable[[str], int]) -> dict[str, str | int]:
    """Inclusive bounds of a whole number that lies within `bound` either way; contradictions stay contradictions."""
    least, most = -bound - 1, bound + 1
    for each in conditions:
        value = read(each.values[0])
        if each.operator in (Operator.MORE, Operator.AT_LEAST, Operator.IS):
            least = max(least, value + (each.operator is Operator.MORE))
        if each.operator in (Operator.LESS, Operator.AT_MOST, Operator.IS):
            most = min(most, value - (each.operator is Operator.LESS))
    if least > bound:  # past what the store's type can say, and past every value
        least, most = bound, -bound
    found: dict[str, str | int] = {}
    if least >= -bound:
        found[f"{name}_least"] = least
    if most <= bound:
        found[f"{name}_most"] = most
    return found


def _whole(value: str) -> int:
    number = whole_number(value)
    assert number is not None  # noqa: S101  # the parser takes nothing else
    return number


def _microseconds(value: str) -> int:
    age = age_of(value)
    assert age is not None  # noqa: S101  # the parser takes nothing else
    return age // _MICROSECOND


def _path(each: Condition, inputs: Mapping[str, InputType], person: str) -> str:
    name = each.field.removeprefix(INPUT)
    subject = f"$.{json.dumps(name)}"
    choices = [_choice(subject, each.operator, value, inputs[name], person) for value in each.values]
    return f"({' || '.join(choices)})"


def _choice(subject: str, operator: Operator, value: str, kind: InputType, person: str) -> str:
    if value == NOT_GIVEN:
        absent = f"!exists({subject}) || {subject} == null"
        return f'{absent} || {subject} == "none"' if kind is InputType.TEXT else absent
    if kind is InputType.BOOLEAN:
        return f"{subject} == {'true' if value.lower() == YES else 'false'}"
    if kind is InputType.INTEGER:
        sign = "==" if operator is Operator.IS else operator.value
        return f"{subject} {sign} {_whole(value)}"
    if kind is InputType.INSTANT:
        return _on_days(subject, operator, value)
    if kind is InputType.PERSON:
        value = person if value.lower() == ME else value.lower()
    return f"{subject} == {json.dumps(value)}"


def _on_days(subject: str, operator: Operator, value: str) -> str:
    # Instants are kept as RFC 3339 text in UTC, whose days compare as text; parts of a second do not.
    named = day(value)
    assert named is not None  # noqa: S101  # the vocabulary takes nothing else
    if operator is Operator.IS:
        return f'{subject} starts with "{named.isoformat()}T"'
    if operator in (Operator.LESS, Operator.AT_LEAST):
        return f'{subject} {operator.value} "{named.isoformat()}"'
    if named == date.max:
        return f'{subject} {">" if operator is Operator.MORE else "<="} "9999-12-31T24"'
    after = (named + timedelta(days=1)).isoformat()
    return f'{subject} {">=" if operator is Operator.MORE else "<"} "{after}"'
