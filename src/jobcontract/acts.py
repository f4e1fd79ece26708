"""Owns the wire models of single acts on schedules, occurrences and Workers: run now, replay, discard, disable, enable, drain."""

from __future__ import annotations

from pydantic import AwareDatetime

from jobcontract.schedules import Planned, Schedule
from jobcontract.states import SkipPolicy
from jobcontract.wire import Answer, Counted, Reason, Wire
from jobcontract.workers import Worker


class RunOrder(Wire):
    """Run a manual schedule now, under its guard: its instant is that of the request."""

    reason: Reason


class ReplayOrder(Wire):
    """Run an ended occurrence again: every item of it that is not done."""

    reason: Reason
    version: Counted | None = None
    """Of the occurrence as it was seen: another one is refused."""


class DiscardOrder(Wire):
    """Put a dead letter away: it stays to be read, and asks for nothing any more."""

    reason: Reason
    version: Counted | None = None


class DisableOrder(Wire):
    """Switch a schedule off; `until`: it is switched on again by itself then."""

    reason: Reason
    until: AwareDatetime | None = None


class EnableOrder(Wire):
    """Switch a schedule on again: what it missed counts as downtime."""

    reason: Reason


class MadeUp(Answer):
    """A run of neighbouring instants with one fate."""

    first_at: AwareDatetime
    last_at: AwareDatetime
    count: int
    policy: SkipPolicy | None
    """None: they run."""
    words: str


class Enabling(Answer):
    """What enabling a schedule now would make up for and skip, and when it runs next."""

    schedule: str
    disabled: bool
    since: AwareDatetime | None
    """Since when it is disabled."""
    words: str
    """In a sentence: `Makes up for 3 nights at once; 2 earlier ones are skipped.`"""
    runs: tuple[MadeUp, ...]
    skips: tuple[MadeUp, ...]
    next: Planned | None
    now: AwareDatetime


class ScheduleChanged(Answer):
    """A schedule after an order."""

    schedule: Schedule
    now: AwareDatetime


class DrainOrder(Wire):
    """Have a Worker take nothing new, or let it take again."""

    reason: Reason


class WorkerChanged(Answer):
    """A Worker after an order."""

    worker: Worker
    now: AwareDatetime
