"""Owns the filter language of queue listings: its values. Console and service read the same text by it.

Pure; imports nothing of the wire. Never asks anybody which names exist: a vocabulary is handed in.
"""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field as dataclass_field
from enum import StrEnum


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


WORD = ""
"""`Condition.field` of a bare word: a prefix of any word of payee, title, key, payee id or last four."""
INPUT = "input."
"""Start of `Condition.field` for a declared input: `input.invoice`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """One condition: all of a filter's conditions hold together; any one of `values` is enough.

    `values` are as a person wrote them, without quotes; amounts keep their digits (`1,000.50`), ages their unit (`3d`).
    """

    field: str
    operator: Operator
    values: tuple[str, ...]
    at: int = dataclass_field(default=0, compare=False)
    """Index of its first character in the text."""
    length: int = dataclass_field(default=0, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """A filter as it was read; the empty one matches everything."""

    conditions: tuple[Condition, ...] = ()


class FilterError(ValueError):
    """A filter that cannot be used: one sentence, and where in the text (index and length in characters)."""

    def __init__(self, sentence: str, *, at: int, length: int) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.at = at
        self.length = length
