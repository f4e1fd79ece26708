"""Owns the wire models of live hints: what changed, never its content (MONEY.md 34)."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from jobcontract.wire import Answer


class Topic(StrEnum):
    """What a hint is about."""

    ITEM = "item"
    """One item of a queue: `id` is the item's, `queue` its queue's."""
    ITEMS = "items"
    """Many items of a queue at once: `id` and `queue` are the queue's; what is on the screen is to be fetched again."""
    PLAN = "plan"
    """A plan: `id` is its own, `queue` its queue's."""
    MONEY = "money"
    """The switch that stops money was thrown: `id` and `queue` are empty words (`money`)."""
    SCHEDULE = "schedule"
    """Something of a schedule changed, an occurrence of it too: `id` and `queue` are the schedule's."""
    SCHEDULES = "schedules"
    """Something of many schedules changed at once: `id` and `queue` are empty words (`schedules`)."""
    RECOVERY = "recovery"
    """A recovery: `id` and `queue` are its own."""
    STOPS = "stops"
    """A stop was set or lifted: `id` and `queue` are empty words (`stops`)."""
    JOB = "job"
    """A background job: `id` is its own, `queue` its kind."""
    JOBS = "jobs"
    """Many jobs of a kind at once: `id` and `queue` are the kind."""
    ALARMS = "alarms"
    """An alarm was opened, cleared or acknowledged: `id` and `queue` are empty words (`alarms`)."""


class EventName(StrEnum):
    """Names of the server-sent events of the stream."""

    HINTS = "hints"
    """Data: `Hints`. The event's id is a position; resuming with it repeats rather than misses."""
    RESET = "reset"
    """The position is too old or of another database: reload everything on screen. No data."""
    ENDED = "ended"
    """The token or its rights ended: sign in again, do not reconnect. No data."""


class Hint(Answer):
    """Something changed. Newest version wins; refetch what is on screen."""

    topic: Topic
    tenant: str
    queue: str
    id: str
    version: Annotated[int, Field(ge=0)]
    """Rises with every change of the thing, of whatever kind."""


class Hints(Answer):
    """Hints since the position before."""

    hints: tuple[Hint, ...]
