"""Owns what becomes of missed instants: which run, which are skipped, and what they are merged into. Pure; never walks
through what it only has to count, so that years of a rhythm of seconds cost as much as a day.

An instant was missed when its occurrence had not started `misfireAfter` past it, whether it was planned (a row that
waits) or never came to it (a stretch that nobody planned because no Worker lived, or the schedule was disabled).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from jobcontract.states import MisfirePolicy, SkipPolicy
from jobservice.rules import rhythms
from jobservice.rules.rhythms import Instant, Left, Rhythm
from jobservice.rules.schedules import Misfire

TICK = timedelta(microseconds=1)
_SKIPPED_BY = {
    MisfirePolicy.SKIP: SkipPolicy.MISFIRE_SKIP,
    MisfirePolicy.ONCE: SkipPolicy.MISFIRE_ONCE,
    MisfirePolicy.EACH_INTERVAL: SkipPolicy.MISFIRE_EACH_INTERVAL,
}
_UNITS = ((86_400, "days"), (3_600, "h"), (60, "min"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """An occurrence that nobody ever started: missed, or made up for and still waiting for its turn."""

    at: datetime
    missed: bool
    made_up: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """Instants later than `after` and not later than `until` that nobody planned; empty where `until` is not later."""

    after: datetime
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Skip:
    """A run of neighbouring instants that do not run, for one cause: one row of skipped instants."""

    first_at: datetime
    last_at: datetime
    count: int
    policy: SkipPolicy
    cause: str
    """A sentence for people."""
    merged_into: datetime | None = None
    """The instant that runs in their place."""
    local: datetime | None = None
    follows: datetime | None = None
    """The instant of the rhythm before the first: a run that ends there for the same cause goes on with this one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """What becomes of the missed instants of one schedule: each is in exactly one of the four."""

    fresh: tuple[Instant, ...] = ()
    """Never planned, and run now."""
    made_up: tuple[datetime, ...] = ()
    """Rows that run now."""
    dropped: tuple[datetime, ...] = ()
    """Rows that go: the skips count them."""
    skips: tuple[Skip, ...] = ()


def decide(
    misfire: Misfire,
    rhythm: Rhythm,
    waiting: Sequence[Waiting],
    unplanned: Stretch,
    *,
    floor: datetime,
    kept_seconds: float,
) -> Decided:
    """What becomes of the waiting rows and of the unplanned stretch behind them; nothing where none was missed.

    What stands at or before `floor`, the end of retention, is never caught up with. A row made up for before counts
    again: where more was missed while it waited, `once` still runs one. CannotCompute.
    """
    rows = sorted(each.at for each in waiting)
    middle = min(max(floor, unplanned.after), max(unplanned.until, unplanned.after))
    older = _run(rhythm, unplanned.after, middle)
    missed = rhythms.count(rhythm, middle, unplanned.until) if unplanned.until > middle else 0
    if older is None and not missed and not any(each.missed for each in waiting):
        return Decided()
    most = _most(misfire)
    fresh = rhythms.newest(rhythm, middle, unplanned.until, most=most) if missed and most else ()
    recent = [at for at in rows if at > floor]
    kept = recent[max(len(recent) - most + len(fresh), 0) :]
    old, left = [at for at in rows if at <= floor], recent[: len(recent) - len(kept)]
    ends = fresh[0].at - TICK if fresh else unplanned.until
    behind = _run(rhythm, middle, ends) if missed > len(fresh) else None
    newest = fresh[-1].at if fresh else kept[-1] if kept else None
    cause = _Cause(
        policy=_SKIPPED_BY[misfire.policy],
        cause=_words(misfire),
        merged_into=newest if misfire.policy is MisfirePolicy.ONCE else None,
    )
    gone = _Cause(policy=SkipPolicy.RETENTION, cause=f"Longer ago than its runs are kept ({span(kept_seconds)}).")
    return Decided(
        fresh=fresh,
        made_up=tuple(kept),
        dropped=(*old, *left),
        skips=(
            *gone.skips(rhythm, _runs(rhythm, old, older)),
            *cause.skips(rhythm, _runs(rhythm, left, behind)),
        ),
    )


def left_out(left: Sequence[Left], zone: str) -> tuple[Skip, ...]:
    """The skips of local times that do not run by the schedule's policy; those of one instant are one run."""
    skips: list[Skip] = []
    for each in left:
        last = skips[-1] if skips else None
        if last is not None and (last.first_at, last.policy) == (each.at, each.policy):
            skips[-1] = replace(last, count=last.count + 1)
            continue
        shown = f"{each.local:%Y-%m-%d %H:%M}"
        cause = (
            f"The clock in {zone} left out {shown}, and the schedule skips such a time."
            if each.policy is SkipPolicy.SKIPPED_HOUR
            else f"The clock in {zone} showed {shown} twice, and the schedule runs at the other one."
        )
        skips.append(
            Skip(first_at=each.at, last_at=each.at, count=1, policy=each.policy, cause=cause, local=each.local)
        )
    return tuple(skips)


def span(seconds: float) -> str:
    """A length of time in its largest whole unit: `90 s`, `5 min`, `30 days`."""
    for size, unit in _UNITS:
        if seconds >= size and seconds % size == 0:
            whole = int(seconds // size)
            return "1 day" if (whole, unit) == (1, "days") else f"{whole} {unit}"
    return f"{seconds:g} s"


_Run = tuple[datetime, datetime, int]
"""The first and the last of neighbouring instants, and how many they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cause:
    """What the skips of one decision have in common."""

    policy: SkipPolicy
    cause: str
    merged_into: datetime | None = None

    def skips(self, rhythm: Rhythm, runs: Sequence[_Run]) -> tuple[Skip, ...]:
        before = [rhythms.previous_instant(rhythm, first) for first, _, _ in runs]
        return tuple(
            Skip(
                first_at=first,
                last_at=last,
                count=count,
                policy=self.policy,
                cause=self.cause,
                merged_into=self.merged_into,
                follows=None if previous is None else previous.at,
            )
            for (first, last, count), previous in zip(runs, before, strict=True)
        )


def _most(misfire: Misfire) -> int:
    """How many missed instants run."""
    match misfire.policy:
        case MisfirePolicy.SKIP:
            return 0
        case MisfirePolicy.ONCE:
            return 1
        case MisfirePolicy.EACH_INTERVAL:
            return misfire.newest or 1


def _words(misfire: Misfire) -> str:
    late = f"Not started within {span(misfire.after_seconds)} of its time"
    match misfire.policy:
        case MisfirePolicy.SKIP:
            return f"{late}; what is missed is skipped."
        case MisfirePolicy.ONCE:
            return f"{late}; of what is missed, the latest runs in place of the others."
        case MisfirePolicy.EACH_INTERVAL:
            return f"{late}; of what is missed, no more than the newest {misfire.newest or 1} run."


def _run(rhythm: Rhythm, after: datetime, until: datetime) -> _Run | None:
    """All instants of a stretch as one run, without walking through them."""
    number = rhythms.count(rhythm, after, until) if until > after else 0
    if not number:
        return None
    first = rhythms.next_instant(rhythm, after)
    (last,) = rhythms.newest(rhythm, after, until, most=1)
    assert first is not None  # noqa: S101  # there is at least one
    return first.at, last.at, number


def _runs(rhythm: Rhythm, rows: Sequence[datetime], behind: _Run | None) -> list[_Run]:
    """The rows as runs of neighbours of the rhythm, with the run `behind` them joined to the last one it follows on."""
    runs: list[_Run] = []
    ends = list(rows[1:])
    together = bool(ends) and (
        [each.at for each in rhythms.between(rhythm, rows[0], rows[-1], most=len(rows)).instants] == ends
    )
    for at in rows:
        if runs and (together or _follows(rhythm, runs[-1][1], at)):
            first, _, number = runs[-1]
            runs[-1] = (first, at, number + 1)
        else:
            runs.append((at, at, 1))
    if behind is None:
        return runs
    if runs and _follows(rhythm, runs[-1][1], behind[0]):
        first, _, number = runs.pop()
        behind = (first, behind[1], number + behind[2])
    return [*runs, behind]


def _follows(rhythm: Rhythm, before: datetime, at: datetime) -> bool:
    following = rhythms.next_instant(rhythm, before)
    return following is not None and following.at == at
