"""Owns the wire models of *why is it not running?*: one sentence, then every cause that was checked, with its evidence."""

from __future__ import annotations

from pydantic import AwareDatetime

from jobcontract.operating import WhyKind
from jobcontract.wire import Answer


class Evidence(Answer):
    """One fact that a cause rests on."""

    label: str
    value: str
    at: AwareDatetime | None
    """The instant it names, for the reader's own clock."""


class Cause(Answer):
    """One cause: it applies, or was checked and does not."""

    kind: WhyKind
    applies: bool
    sentence: str
    evidence: tuple[Evidence, ...]
    remedy: str | None
    """What a person can do about it, where it applies."""


class Why(Answer):
    """The answer about one schedule or occurrence: causes that apply first, by rank."""

    subject: str
    schedule: str
    occurrence: str | None
    """Name of the occurrence that is meant: the oldest that waits, where a schedule was asked about."""
    sentence: str
    causes: tuple[Cause, ...]
    now: AwareDatetime
