"""Owns which instants the kept runs of skips stand for: by the rhythm of today, where it still gives the same ones. Pure;
the search is bounded.

A run says where it began, where it ended and how many it holds. Where today's rhythm has another number of instants
there, it is another rhythm by now, and nobody can tell which were skipped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from jobservice.rules.rhythms import CannotCompute, Rhythm, between, count

_TICK = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class SkipRun:
    """A run of instants that a misfire policy skipped; `made`: how many of it became occurrences all the same, of those
    in the stretch that is asked for."""

    schedule: str
    first_at: datetime
    last_at: datetime
    count: int
    made: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Expanded:
    """What runs of skips hold in a stretch: instants where they were asked for, at most one more than the most; how many
    of each schedule lie in it and never became occurrences; runs whose rhythm is another one since."""

    instants: Sequence[tuple[str, datetime]]
    left: Mapping[str, int]
    lost: Sequence[SkipRun]


def expand(
    runs: Sequence[SkipRun],
    rhythms: Mapping[str, Rhythm | None],
    since: datetime,
    until: datetime,
    *,
    wanted: bool,
    most: int,
) -> Expanded:
    """The instants of `runs` from `since` to before `until`; `rhythms` by schedule, of those that the records have."""
    instants: list[tuple[str, datetime]] = []
    left: dict[str, int] = {}
    lost: list[SkipRun] = []
    for run in runs:
        rhythm = rhythms.get(run.schedule)
        after, last = max(run.first_at, since) - _TICK, min(run.last_at, until - _TICK)
        if rhythm is None or not _same(rhythm, run):
            lost.append(run)
        elif not wanted:
            number = max(0, count(rhythm, after, last) - run.made)
            left[run.schedule] = left.get(run.schedule, 0) + number
        elif len(instants) <= most:
            found = between(rhythm, after, last, most=most + 1 - len(instants))
            instants += [(run.schedule, each.at) for each in found.instants]
    return Expanded(instants=instants, left={name: many for name, many in left.items() if many}, lost=lost)


def _same(rhythm: Rhythm, run: SkipRun) -> bool:
    """Whether the rhythm has as many instants in the run as were skipped, from its first to its last."""
    try:
        ends = between(rhythm, run.first_at - _TICK, run.first_at, most=1).instants
        return bool(ends) and count(rhythm, run.first_at - _TICK, run.last_at) == run.count
    except CannotCompute:
        return False
