"""Owns what a kind of record is, and where a record stands. Knows no kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from jobservice.records.forms import Form


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """An id that a record names, and the line where it does."""

    id: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of record: its word, and the reader of its fields (all but `kind` and `id`).

    `read(form, id)` gives the record as written, or None after leaving findings; references are resolved later.
    """

    word: str
    read: Callable[[Form, str], object | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """One record as written: its kind's word, its id, the file (as shown) and the line of the id, and its content.

    `content` is None where the record has findings of its own.
    """

    kind: str
    id: str
    file: str
    line: int
    content: object | None
