"""Owns the wire models of the overview: what needs somebody now, over all nouns, with the last day as sparklines."""

from __future__ import annotations

from pydantic import AwareDatetime

from jobcontract.alarms import Alarm
from jobcontract.items import Amount
from jobcontract.states import ScheduleStanding
from jobcontract.stops import Stop
from jobcontract.wire import Answer

HOURS = 24
"""Points of a sparkline: one an hour, the present one last."""


class Trend(Answer):
    """Counts by hour, the oldest first, `HOURS` of them."""

    completed: tuple[int, ...]
    dead: tuple[int, ...]
    missed: tuple[int, ...]


class UrgentSchedule(Answer):
    """A schedule that needs a look."""

    id: str
    standing: ScheduleStanding
    words: str


class QueueLine(Answer):
    """A queue by its oldest item, with the money in it that nobody has claimed."""

    queue: str
    title: str
    open: int
    """Counted to 10,000."""
    oldest_at: AwareDatetime | None
    unclaimed: int
    unclaimed_out: tuple[Amount, ...]
    """By currency; what is to go out."""
    whole: bool = True
    """False: there is more than is counted; `open`, `unclaimed` and the money are at least so much."""


class JobFigures(Answer):
    """Background jobs by what they ask for: counts as of `as_of`, which may be some seconds old."""

    unresolved: int
    """Failures that nobody resolved, and no retry mended."""
    pending: int
    running: int
    as_of: AwareDatetime
    whole: bool = True
    """False: there is more than is counted; each is at least so much."""


class Overview(Answer):
    """Everything of the overview in one answer. Parts that the person may not read are None."""

    late: int | None
    dead: int | None
    """Dead letters that nobody discarded."""
    parked: int | None
    disabled: int | None
    retrying: int | None
    processing: int | None
    urgent: tuple[UrgentSchedule, ...]
    """The most urgent, at most ten."""
    workers: int | None
    """Live ones."""
    workers_silent: int | None
    workers_draining: int | None
    alarms_open: int | None
    alarms: tuple[Alarm, ...]
    """Those that nobody acknowledged, the most urgent, at most five."""
    recoveries: int | None
    """Open or being applied."""
    plans: int | None
    """Plans of payouts that something may still come of."""
    uncertain: int | None
    """Payouts that nobody knows the outcome of."""
    money_stopped: str | None
    """Why, where it is."""
    stops: tuple[Stop, ...]
    queues: tuple[QueueLine, ...]
    trend: Trend | None
    jobs: JobFigures | None = None
    """Within the reach of whoever asks."""
    now: AwareDatetime
