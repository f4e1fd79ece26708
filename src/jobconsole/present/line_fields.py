"""Owns what a small form of lines is made of, and how an instant that was typed into one is read. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from jobconsole.present.times import local, read_moment

if TYPE_CHECKING:
    from jobconsole.present.schedules import At


@dataclass(frozen=True, slots=True, kw_only=True)
class LineField:
    """One line of a form: what it is called, what may stand in it, what it completes to."""

    name: str
    label: str
    hint: str = ""
    choices: tuple[str, ...] = ()


class Unfit(ValueError):
    """What stands in a field is not taken; the text says why, and what to type."""

    def __init__(self, field: str, sentence: str) -> None:
        super().__init__(sentence)
        self.field = field


def instant_in(typed: Mapping[str, str], field: str, at: At) -> datetime | None:
    """The instant in a field, in the reader's zone where it says none; None where the field is empty; Unfit."""
    text = typed.get(field, "").strip()
    if not text:
        return None
    read = read_moment(text, at.zone, at.now)
    if read.instant is None:
        raise Unfit(field, read.sentence)
    return read.instant


def typed_instant(instant: datetime | None, at: At) -> str:
    """As it may be typed again: `2026-12-01 09:00:05`, in the reader's zone; empty where there is none."""
    return "" if instant is None else f"{instant.astimezone(at.zone):%Y-%m-%d %H:%M:%S}"


def word_in(typed: Mapping[str, str], field: str) -> str | None:
    """The word in a field; None where it is empty."""
    return typed.get(field, "").strip() or None


def period_words(since: datetime | None, until: datetime | None, at: At) -> str:
    """`since Tue 2026-12-01 09:00 CET until …`; empty where neither is known."""
    first = "" if since is None else f"since {local(since, at.zone)}"
    last = "" if until is None else f"until {local(until, at.zone)}"
    return " ".join(part for part in (first, last) if part)
