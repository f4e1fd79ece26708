"""Owns cutting the text of a filter into its parts, every character judged; never knows what a field means.

A part is a word, a "quoted word", or a field with an operator and its values. Inside quotes everything stands for
itself; a quote is written twice.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches

from jobcontract.ids import FILTER_MAX, storable

NONE = "none"
"""The bare value for what was not given."""
WHOLE_VALUE = frozenset({"amount"})
"""Fields whose value goes to the next blank: their commas group thousands."""

_FIELD = re.compile(r"(?P<name>[^\W\d][\w.-]*)(?P<operator>>=|<=|>|<|:)")
_EQUALS = re.compile(r"(?P<name>[^\W\d][\w.-]*)(?P<operator>!=|==|=>|=<|=)")
_QUOTED = re.compile(r'"((?:[^"]|"")*+)"')
_BARE = re.compile(r'[^\s",]+')
_WHOLE = re.compile(r'[^\s"]+')
_BLANK = re.compile(r"\s*")
_TYPED_MOST = 40


class FilterError(ValueError):
    """A filter that cannot be used: one sentence, and where in the text (index and length in characters).

    `choices` are values of which one has to be named, where that is what is wrong.
    """

    def __init__(self, sentence: str, *, at: int, length: int, choices: tuple[str, ...] = ()) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.at = at
        self.length = length
        self.choices = choices


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """One value as it was written, without its quotes."""

    text: str
    at: int
    length: int
    quoted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """One part: `field` and `operator` are empty for a word, whose one value it is."""

    field: str
    operator: str
    values: tuple[Value, ...]
    at: int
    length: int


def tokens(text: str, known: tuple[str, ...]) -> tuple[Token, ...]:
    """The parts of `text` in order; FilterError. `known` are the fields there are, to tell `amount=5` from a word."""
    _judge_characters(text)
    found: list[Token] = []
    at = _blanks(text, 0)
    while at < len(text):
        token = _token(text, at, known)
        found.append(token)
        at = _blanks(text, token.at + token.length)
    return tuple(found)


def quoted(text: str) -> str:
    """`text` in quotes, as a filter takes it."""
    return '"' + text.replace('"', '""') + '"'


def bare(text: str) -> bool:
    """Whether a value may stand without quotes, and then means itself."""
    return _BARE.fullmatch(text) is not None and text[0] not in ":<>=" and text.lower() != NONE


def bare_word(text: str, known: tuple[str, ...]) -> bool:
    """Whether a word may stand without quotes, and then means itself."""
    if _WHOLE.fullmatch(text) is None or text[0] in ":<>" or _FIELD.match(text):
        return False
    equals = _EQUALS.match(text)
    return equals is None or not _is_field(equals["name"], known)


def typed(text: str) -> str:
    """What was written, for a sentence: in quotes, steering characters told by their escape, cut where it is long."""
    return repr(text if len(text) <= _TYPED_MOST else text[: _TYPED_MOST - 1] + "…")


def did_you_mean(word: str, known: tuple[str, ...]) -> str:
    """` Did you mean X?` with the nearest of `known`; nothing where none is near."""
    close = get_close_matches(word, known, n=1, cutoff=0.6)
    return f" Did you mean {close[0]}?" if close else ""


def _judge_characters(text: str) -> None:
    if len(text) > FILTER_MAX:
        sentence = f"The filter has {len(text)} characters; at most {FILTER_MAX} are allowed."
        raise FilterError(sentence, at=FILTER_MAX, length=len(text) - FILTER_MAX)
    for at, sign in enumerate(text):
        if not storable(sign):
            sentence = f"The character U+{ord(sign):04X} cannot be part of any item. Take it out."
            raise FilterError(sentence, at=at, length=1)


def _blanks(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return at if found is None else found.end()


def _until_blank(text: str, at: int) -> str:
    return text[at:].split(maxsplit=1)[0]


def _is_field(name: str, known: tuple[str, ...]) -> bool:
    return name.lower() in known or name.lower().startswith("input.")


def _token(text: str, at: int, known: tuple[str, ...]) -> Token:
    if text[at] == '"':
        return _word(text, _quoted(text, at))
    field = _FIELD.match(text, at)
    if field is not None:
        return _condition(text, at, field)
    equals = _EQUALS.match(text, at)
    if equals is not None and _is_field(equals["name"], known):
        raise _wrong_equals(equals)
    word = _until_blank(text, at)
    if text[at] in ":<>":
        sentence = f"A field belongs before {text[at]}, as in amount>1000. To look for the text itself: {quoted(word)}"
        raise FilterError(sentence, at=at, length=1)
    if '"' in word:
        sentence = f"A quote begins a word or a value. To look for the text itself: {quoted(word)}"
        raise FilterError(sentence, at=at + word.index('"'), length=1)
    return _word(text, Value(text=word, at=at, length=len(word), quoted=False))


def _word(text: str, value: Value) -> Token:
    end = value.at + value.length
    if end < len(text) and not text[end].isspace():
        raise FilterError("Leave a blank after the closing quote.", at=end, length=1)
    if not value.text.strip():
        raise FilterError("There is no word between the quotes.", at=value.at, length=value.length)
    return Token(field="", operator="", values=(value,), at=value.at, length=value.length)


def _wrong_equals(equals: re.Match[str]) -> FilterError:
    name, operator = equals["name"].lower(), equals["operator"]
    if operator == "!=":
        sentence = f"There is no !=. Name what {name} is, with commas between the values: {name}:…,…"
    else:
        right = {"=>": ">=", "=<": "<="}.get(operator, ":")
        sentence = f"Write {right} instead of {operator}: {name}{right}…"
    return FilterError(sentence, at=equals.start("operator"), length=len(operator))


def _condition(text: str, at: int, field: re.Match[str]) -> Token:
    name, operator = field["name"].lower(), field["operator"]
    values = [_value(text, field.end(), name, operator)]
    while (end := values[-1].at + values[-1].length) < len(text) and text[end] == ",":
        values.append(_value(text, end + 1, name, ","))
    if end < len(text) and not text[end].isspace():
        if text[end] == '"':
            word = _until_blank(text, at)[field.end() - at :]
            sentence = f"A quote begins a value. To look for the text itself: {name}{operator}{quoted(word)}"
        else:
            sentence = "Leave a blank after the closing quote."
        raise FilterError(sentence, at=end, length=1)
    return Token(field=name, operator=operator, values=tuple(values), at=at, length=end - at)


def _value(text: str, at: int, name: str, after: str) -> Value:
    if at < len(text) and text[at] == '"':
        value = _quoted(text, at)
        if not value.text.strip():
            raise FilterError("There is nothing between the quotes.", at=at, length=value.length)
        return value
    found = (_WHOLE if name in WHOLE_VALUE else _BARE).match(text, at)
    if found is None:
        sentence = f"A value is missing after {after}" if after != "," else "A value is missing after the comma"
        raise FilterError(f"{sentence} {_such_as(name)}".rstrip() + ".", at=at - len(after), length=len(after))
    if found[0][0] in ":<>=":
        raise _operator_again(text, at, name, after)
    return Value(text=found[0], at=at, length=len(found[0]), quoted=False)


def _operator_again(text: str, at: int, name: str, after: str) -> FilterError:
    value = _until_blank(text, at)
    again = re.match(r"[:<>=]+", value)
    signs = value[: again.end()] if again is not None else value
    if after == ":" and signs in (">", ">=", "<", "<="):
        return FilterError(f"Leave out the colon: {name}{value}", at=at - 1, length=1)
    sentence = f"A value is expected here, not {signs}. To look for the text itself: {name}:{quoted(value)}"
    return FilterError(sentence, at=at, length=len(signs))


def _such_as(name: str) -> str:
    example = {
        "amount": "1000",
        "currency": "EUR,GBP",
        "holder": "me,free",
        "age": "3d",
        "score": "80",
        "state": "open",
        "sort": "amount",
    }.get(name)
    return f"(such as {example})" if example else ""


def _quoted(text: str, at: int) -> Value:
    found = _QUOTED.match(text, at)
    if found is None:
        raise FilterError('This quote is not closed. Add " where the text ends.', at=at, length=len(text) - at)
    return Value(text=found[1].replace('""', '"'), at=at, length=len(found[0]), quoted=True)
