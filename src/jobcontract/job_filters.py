"""Owns the filter language of background jobs: reading a text into a `JobFilter` and writing it back.

    status:failed,running kind:payments.bank-file error:"account closed" age>2d requester:me scope:CUST-7 is:unresolved

Conditions stand between blanks and hold together; any one of a condition's values is enough. Console and service read
the same text by it. Pure; imports nothing of the wire. Never asks anybody which names exist: see `judge_names`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from jobcontract.filter_tokens import (
    NONE,
    FilterError,
    Token,
    Value,
    bare,
    bare_word,
    did_you_mean,
    quoted,
    tokens,
    typed,
)
from jobcontract.filter_values import ME, NOT_GIVEN, Operator, age_of
from jobcontract.filters import CONDITIONS_MAX, WORD, Condition
from jobcontract.ids import KEY_MAX, is_slug
from jobcontract.job_states import JobStatus

__all__ = [
    "ME",
    "NOT_GIVEN",
    "WORD",
    "Condition",
    "FilterError",
    "JobFilter",
    "JobIs",
    "Operator",
    "judge_names",
    "parse",
    "write",
]


class JobIs(StrEnum):
    """What a job may be besides its status (`is:unresolved`)."""

    UNRESOLVED = "unresolved"
    """It failed; nobody resolved it, and no retry mended it."""
    RETRIED = "retried"
    """It failed, and a retry of it succeeded."""
    ACKNOWLEDGED = "acknowledged"
    """It failed, and somebody follows it up elsewhere."""
    RESOLVED = "resolved"
    """It failed, and was settled without a retry."""
    CANCELLING = "cancelling"
    """Somebody asked for it to be cancelled, and it has not ended yet."""


FIELDS = ("status", "kind", "error", "age", "tenant", "requester", "scope", "source", "is")
"""What a filter of jobs may ask for, besides words: each a job's id, submission identity or failure reference."""
_WILD = re.compile(r"[*?%]")
"""Signs by which people mean any other: no kind is found by a part of it. Between quotes they are part of a name."""
_LOOKED_FOR = frozenset({"id", "job", "identity", "reference", "text", "word"})
_MEANT: Mapping[str, str] = {
    "state": "status",
    "failure": "error",
    "cause": "error",
    "customer": "scope",
    "workspace": "scope",
    "person": "requester",
    "by": "requester",
    "type": "kind",
    "engine": "source",
    "step": "kind",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFilter:
    """A filter as it was read; the empty one matches everything.

    `Condition.values` are as a person wrote them, without quotes; closed words are small, ages keep their unit (`3d`).
    A kind is compared in any case.
    `NOT_GIVEN` is the bare word `none`.
    """

    conditions: tuple[Condition, ...] = ()

    def of(self, field: str) -> tuple[Condition, ...]:
        """The conditions on `field`, in order."""
        return tuple(each for each in self.conditions if each.field == field)

    def values(self, field: str) -> tuple[str, ...] | None:
        """The values of the one condition on `field`; None where nothing is said of it."""
        named = self.of(field)
        return named[0].values if named else None

    @property
    def words(self) -> tuple[str, ...]:
        """What stands without a field: all of them hold."""
        return tuple(each.values[0] for each in self.of(WORD))

    @property
    def older(self) -> timedelta | None:
        """The age that a job passes (`age>2d`); of several the longest. None: any."""
        ages = self._ages(Operator.MORE, Operator.AT_LEAST)
        return max(ages) if ages else None

    @property
    def younger(self) -> timedelta | None:
        """The age that a job stays under (`age<2d`); of several the shortest. None: any."""
        ages = self._ages(Operator.LESS, Operator.AT_MOST)
        return min(ages) if ages else None

    def _ages(self, *operators: Operator) -> list[timedelta]:
        found = (age_of(each.values[0]) for each in self.of("age") if each.operator in operators)
        return [age for age in found if age is not None]


def parse(text: str) -> JobFilter:
    """Read a filter; FilterError says what cannot be read, where, and what to write instead."""
    conditions: list[Condition] = []
    for token in tokens(text, FIELDS):
        condition = _condition(token)
        if len(conditions) == CONDITIONS_MAX:
            sentence = f"At most {CONDITIONS_MAX} conditions are allowed. Take this one and what follows out."
            raise FilterError(sentence, at=token.at, length=len(text) - token.at)
        _judge_again(condition, conditions, text)
        conditions.append(condition)
    return JobFilter(conditions=tuple(conditions))


def write(filter_: JobFilter) -> str:
    """The canonical text of a filter: `parse(write(f)) == f` for every filter that `parse` can give."""
    return " ".join(map(_written, filter_.conditions))


def judge_names(
    filter_: JobFilter, *, tenant: str, kinds: Collection[str] | None = None, sources: Collection[str] | None = None
) -> None:
    """FilterError where a filter names what there is not: another tenant than the request's, a kind, a source.

    None: that is not known, and not judged.
    """
    for condition in filter_.of("tenant"):
        for index, name in enumerate(condition.values):
            if name != tenant:
                sentence = f"These are the jobs of {tenant}. Switch to {name} to see those of {name}."
                raise _of_value(condition, index, sentence)
    for field, known, article in (("kind", kinds, "a kind of job"), ("source", sources, "a source of jobs")):
        if known is None:
            continue
        small = {each.lower() for each in known}
        for condition in filter_.of(field):
            for index, name in enumerate(condition.values):
                if name.lower() not in small:
                    near = did_you_mean(name, tuple(known)) or f" There are: {_few(known)}."
                    raise _of_value(condition, index, f"{typed(name)} is not {article} here.{near}")


def _few(known: Collection[str]) -> str:
    shown = sorted(known)[:5]
    return (", ".join(shown) or "none") + (" and more" if len(known) > len(shown) else "")


def _of_value(condition: Condition, index: int, sentence: str) -> FilterError:
    at, length = condition.places[index] if condition.places else (condition.at, condition.length)
    return FilterError(sentence, at=at, length=length)


def _condition(token: Token) -> Condition:
    operator, values = _judged(token) if token.operator else (Operator.IS, (_word(token.values[0]),))
    return Condition(
        field=token.field,
        operator=operator,
        values=values,
        at=token.at,
        length=token.length,
        places=tuple((value.at, value.length) for value in token.values),
    )


def _judged(token: Token) -> tuple[Operator, tuple[str, ...]]:
    if token.field not in FIELDS:
        raise _no_such_field(token)
    operator = Operator(token.operator)
    if token.field == "age":
        _judge_age(token, operator)
    elif operator is not Operator.IS:
        value = _shown(token.values[0])
        sentence = f"{token.field} does not compare: it takes a colon, {token.field}:{value}"
        raise FilterError(sentence, at=token.at + len(token.field), length=len(operator))
    return operator, tuple(_READERS[token.field](value, token) for value in token.values)


def _no_such_field(token: Token) -> FilterError:
    value = _shown(token.values[0])
    if token.field in _LOOKED_FOR:
        sentence = f"Ids, submission identities and failure references are looked for without a field: {value}"
    elif token.field in _MEANT:
        sentence = f"There is no field {token.field}. Write {_MEANT[token.field]}:{value}"
    else:
        near = did_you_mean(token.field, FIELDS)
        literal = quoted(token.field + token.operator + token.values[0].text)
        sentence = f"There is no field {token.field}.{near} Fields: {', '.join(FIELDS)}. As text: {literal}"
    return FilterError(sentence, at=token.at, length=len(token.field))


def _judge_age(token: Token, operator: Operator) -> None:
    value = _shown(token.values[0])
    if operator is Operator.IS:
        sentence = f"An age is compared: age>{value} is older, age<{value} is younger."
        raise FilterError(sentence, at=token.at + len(token.field), length=len(operator))
    if len(token.values) > 1:
        second = token.values[1]
        sentence = f"age{operator} takes one value."
        raise FilterError(sentence, at=second.at - 1, length=token.at + token.length - second.at + 1)


def _shown(value: Value) -> str:
    return quoted(value.text) if value.quoted else value.text


def _wrong(sentence: str, value: Value) -> FilterError:
    return FilterError(sentence, at=value.at, length=value.length)


def _word(value: Value) -> str:
    if len(value.text) > KEY_MAX:
        raise _wrong(f"Ids, identities and references have at most {KEY_MAX} characters.", value)
    return value.text


def _age(value: Value, token: Token) -> str:
    text = value.text.lower()
    if age_of(text) is not None:
        return text
    if text.isdecimal() and text.isascii():
        raise _wrong(f"Add the unit, m, h, d or w: age{token.operator}{text[:6]}d is in days.", value)
    raise _wrong(f"{typed(value.text)} is not an age like 30m, 12h, 3d or 2w, of at most 100 years.", value)


def _one_of(field: str, words: tuple[str, ...], value: Value) -> str:
    name = value.text.lower()
    if name in words:
        return str(name)
    raise _wrong(f"{field} takes {', '.join(words)}; not {typed(value.text)}.{did_you_mean(name, words)}", value)


def _status(value: Value, _token: Token) -> str:
    name = value.text.lower()
    if name in tuple(JobIs):
        raise _wrong(f"{name} is no status. Write is:{name}", value)
    return _one_of("status", tuple(JobStatus), value)


def _is(value: Value, _token: Token) -> str:
    name = value.text.lower()
    if name in tuple(JobStatus):
        raise _wrong(f"{name} is a status. Write status:{name}", value)
    return _one_of("is", tuple(JobIs), value)


def _slug(what: str, example: str) -> Callable[[Value, Token], str]:
    def read(value: Value, token: Token) -> str:
        name = value.text.lower()
        if not is_slug(name):
            raise _wrong(f"{typed(value.text)} cannot be {what}. Write it like {token.field}:{example}", value)
        return name

    return read


def _kind(value: Value, token: Token) -> str:
    """A kind as it was written: other engines' have capitals and signs of code in them. It is compared in any case."""
    if len(value.text) > KEY_MAX:
        raise _wrong(f"A kind of job has at most {KEY_MAX} characters.", value)
    if not value.quoted and _WILD.search(value.text):
        example = f"{token.field}:payments.bank-file"
        raise _wrong(f"{typed(value.text)} cannot be a kind of job. Write it like {example}", value)
    return value.text


def _requester(value: Value, _token: Token) -> str:
    name = value.text.lower()
    if name == NONE and not value.quoted:
        return NOT_GIVEN
    if not is_slug(name):
        sentence = (
            f"{typed(value.text)} cannot be a person's id. Write me, none (nobody asked for it), or an id like m.ito."
        )
        raise _wrong(sentence, value)
    return name


def _scope(value: Value, _token: Token) -> str:
    if value.text.lower() == NONE and not value.quoted:
        sentence = f"Name a customer or a workspace by its id. For one that is called none, write scope:{quoted(NONE)}"
        raise _wrong(sentence, value)
    return value.text


def _error(value: Value, _token: Token) -> str:
    if value.text.lower() == NONE and not value.quoted:
        raise _wrong(f"For jobs that did not fail write their status. For the word itself: error:{quoted(NONE)}", value)
    return value.text


_READERS: Mapping[str, Callable[[Value, Token], str]] = {
    "status": _status,
    "kind": _kind,
    "error": _error,
    "age": _age,
    "tenant": _slug("a tenant", "acme"),
    "requester": _requester,
    "scope": _scope,
    "source": _slug("a source", "here"),
    "is": _is,
}


def _judge_again(condition: Condition, before: list[Condition], text: str) -> None:
    """A second condition that says what the field is: both together would hold for nothing, or say nothing."""
    if condition.field == WORD or condition.operator is not Operator.IS:
        return
    first = next((each for each in before if each.field == condition.field), None)
    if first is None:
        return
    values = text[condition.at : condition.at + condition.length].partition(":")[2]
    sentence = (
        f"{condition.field} is said twice. For any of several: {text[first.at : first.at + first.length]},{values}"
    )
    raise FilterError(sentence, at=condition.at, length=condition.length)


def _written(condition: Condition) -> str:
    if condition.field == WORD:
        word = condition.values[0]
        return word if bare_word(word, FIELDS) else quoted(word)
    wild = _WILD if condition.field == "kind" else None
    values = ",".join(_written_value(each, wild) for each in condition.values)
    return f"{condition.field}{condition.operator}{values}"


def _written_value(value: str, wild: re.Pattern[str] | None) -> str:
    if value == NOT_GIVEN:
        return NONE
    return value if bare(value) and not (wild and wild.search(value)) else quoted(value)
