"""Owns what a schedule does in a stretch of time with downtimes in it: which instants run, when, and which do not. Pure.

Decides no misfire and computes no instant of its own: `rules/misfires.py` and `rules/rhythms.py` do, as they do for the
planner, so that a simulation and what really happens cannot part. What is only counted is never walked through: a rhythm
of seconds over years costs as much as a day of it.

The course assumes that a run takes no time: what may start, starts.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import groupby

from jobcontract.operating import Fate
from jobcontract.states import ClockChange, SkipPolicy
from jobservice.rules import misfires, planned, rhythms
from jobservice.rules.misfires import TICK, Skip, Stretch
from jobservice.rules.planned import PlannedInstant
from jobservice.rules.planning import LEFT_MOST
from jobservice.rules.rhythms import Instant, Left, Rhythm
from jobservice.rules.schedules import Misfire

ROWS_MOST = 500
"""Most rows of a course."""
_VERBS: Mapping[Fate, tuple[str, str]] = {
    Fate.FIRES: ("runs", "run"),
    Fate.MADE_UP: ("is made up for", "are made up for"),
    Fate.SKIPPED: ("is skipped", "are skipped"),
    Fate.MERGED: ("is merged", "are merged"),
    Fate.GAP: ("falls into a gap of the clock", "fall into a gap of the clock"),
    Fate.REPEAT_LEFT: ("is left out as a repeated time", "are left out as repeated times"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Downtime:
    """Nothing runs from `since` on and before `until`."""

    since: datetime
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """By what a schedule runs: its rhythm, what becomes of missed instants, and for how many seconds runs are kept."""

    rhythm: Rhythm
    misfire: Misfire
    kept_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One instant, or `count` neighbours from `at` to `last_at` with one fate; the clock's part is of the first."""

    at: datetime
    last_at: datetime
    count: int
    fate: Fate
    runs_at: datetime | None
    merged_into: datetime | None = None
    local: datetime | None = None
    offset: int | None = None
    abbreviation: str | None = None
    clock: ClockChange | None = None
    words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """What happens, in rising order; `counts` are over all of it, `whole` False where rows were left out."""

    rows: tuple[Row, ...]
    counts: Mapping[Fate, int]
    whole: bool


def together(downtimes: Iterable[Downtime]) -> tuple[Downtime, ...]:
    """The same downtimes in order, those that touch or overlap as one."""
    joined: list[Downtime] = []
    for each in sorted(downtimes, key=lambda down: down.since):
        if joined and each.since <= joined[-1].until:
            joined[-1] = replace(joined[-1], until=max(joined[-1].until, each.until))
        else:
            joined.append(each)
    return tuple(joined)


def course(
    way: Way, since: datetime, until: datetime, downtimes: Sequence[Downtime], *, most: int = ROWS_MOST
) -> Course:
    """What happens from `since` on and before `until`; the downtimes lie within, and apart. CannotCompute.

    Up to `most` instants are told one by one, more of them as runs of neighbours.
    """
    changed = rhythms.changed(way.rhythm, since - TICK, until - TICK)
    runs = _Runs(way=way, changed=tuple(each.at for each in changed.instants))
    free = since
    for down in downtimes:
        runs.fired(free, down.since)
        runs.missed(down)
        free = down.until
    runs.fired(free, until)
    runs.left(changed.left)
    counts = Counter[Fate](map(_fate_of, runs.lefts))
    for row in runs.rows:
        counts[row.fate] += row.count
    singly = counts.total() <= most
    rows = [each for row in runs.rows for each in (runs.singly(row) if singly or row.count == 1 else [runs.told(row)])]
    rows += runs.left_rows(singly=singly)
    rows.sort(key=lambda row: (row.at, row.local is None, row.local or row.at, row.fate))
    return Course(rows=tuple(rows[:most]), counts=_in_order(counts), whole=len(rows) <= most)


def differences(current: Course, edited: Course) -> tuple[datetime, ...]:
    """The instants whose fate or start is another in the other course; of a run of neighbours, its first."""
    before, after = _fates(current), _fates(edited)
    return tuple(sorted(at for at in before.keys() | after.keys() if before.get(at) != after.get(at)))


def words(current: Course, edited: Course, differ: int) -> str:
    """What the edit changes, in a sentence: `By the edit 2 are skipped and none is made up for (by the record 2 are made up
    for).`"""
    if not differ:
        return "The edit changes nothing here: each instant runs, or does not, as it did."
    changed = [fate for fate in Fate if edited.counts.get(fate, 0) != current.counts.get(fate, 0)]
    if not changed:
        return "By the edit as many run and as many do not, at other times."
    now = sorted(changed, key=lambda fate: not edited.counts.get(fate, 0))  # what happens before what does not
    before = [fate for fate in changed if current.counts.get(fate, 0)]
    return f"By the edit {_listed(edited, now)} (by the record {_listed(current, before) or 'none'})."


def _listed(course: Course, fates: Sequence[Fate]) -> str:
    """`2 are skipped and none is made up for`."""
    parts = []
    for fate in fates:
        count = course.counts.get(fate, 0)
        parts.append(f"{count:,} {_VERBS[fate][count != 1]}" if count else f"none {_VERBS[fate][0]}")
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))


@dataclass(slots=True, kw_only=True)
class _Runs:
    """The course of one way as runs of neighbours, as it is put together."""

    way: Way
    changed: Sequence[datetime]
    """Instants of the stretch that a change of the clock moved or repeats, rising."""
    rows: list[Row] = field(default_factory=list)
    lefts: Sequence[Left] = ()
    hidden: list[Stretch] = field(default_factory=list)
    """Where the planner keeps no trace of local times that do not run."""

    def fired(self, since: datetime, until: datetime) -> None:
        """What is due while work goes on runs in its time."""
        self._run(Stretch(after=since - TICK, until=until - TICK), runs_at=None)

    def missed(self, down: Downtime) -> None:
        """What is due while nothing runs: missed, and decided by the policy when work goes on; or late, and not missed yet."""
        misfire = self.way.misfire
        start = down.since - TICK
        missed = Stretch(after=start, until=max(down.until - timedelta(seconds=misfire.after_seconds), start))
        floor = down.until - timedelta(seconds=self.way.kept_seconds)
        decided = misfires.decide(misfire, self.way.rhythm, (), missed, floor=floor, kept_seconds=self.way.kept_seconds)
        self.rows += [_skipped(each) for each in decided.skips]
        if decided.fresh:
            self.rows.append(_made_up(decided.fresh, down.until))
        self._run(Stretch(after=missed.until, until=down.until - TICK), runs_at=down.until)
        if missed.until > start:
            # What the planner keeps no trace of: it walks through no more, and nothing older than what is kept.
            many = rhythms.count(self.way.rhythm, max(start, floor), missed.until) > LEFT_MOST
            self.hidden.append(Stretch(after=start, until=missed.until if many else min(floor, missed.until)))

    def left(self, lefts: Sequence[Left]) -> None:
        """Local times that a change of the clock leaves out by the policy."""
        self.lefts = [each for each in lefts if not any(down.after < each.at <= down.until for down in self.hidden)]

    def singly(self, row: Row) -> list[Row]:
        """Each instant of a run by itself."""
        found = rhythms.between(self.way.rhythm, row.at - TICK, row.last_at, most=row.count).instants
        return [self._instant(row, each) for each in found]

    def told(self, row: Row) -> Row:
        """A run of neighbours as one row."""
        changed = bisect_right(self.changed, row.last_at) - bisect_left(self.changed, row.at)
        moved = f"; {changed:,} of them by a change of the clock" if changed else ""
        said = row.words or f"{row.count:,} in a row{' run when work goes on' if row.runs_at else ' run in time'}"
        return replace(row, words=f"{said.removesuffix('.')}{moved}.")

    def left_rows(self, *, singly: bool) -> list[Row]:
        """Each local time that does not run by itself, or those of one change of the clock as one row."""
        shown = [(_fate_of(each), planned.of_left(self.way.rhythm, each)) for each in self.lefts]
        rows = [_left(fate, each) for fate, each in shown]
        if singly:
            return rows
        grouped = []
        for _, group in groupby(rows, key=lambda row: (row.fate, row.at.date())):
            first, *others = group
            last = others[-1] if others else first
            grouped.append(replace(first, last_at=last.at, count=1 + len(others)))
        return grouped

    def _run(self, stretch: Stretch, *, runs_at: datetime | None) -> None:
        rhythm = self.way.rhythm
        many = rhythms.count(rhythm, stretch.after, stretch.until) if stretch.until > stretch.after else 0
        if not many:
            return
        first = rhythms.next_instant(rhythm, stretch.after)
        (last,) = rhythms.newest(rhythm, stretch.after, stretch.until, most=1)
        assert first is not None  # noqa: S101  # there is at least one
        self.rows.append(Row(at=first.at, last_at=last.at, count=many, fate=Fate.FIRES, runs_at=runs_at))

    def _instant(self, row: Row, instant: Instant) -> Row:
        shown = planned.of_instant(self.way.rhythm, instant)
        said = row.words
        if row.fate is Fate.FIRES and row.runs_at is not None:
            said = "Late, and not missed yet: starts when work goes on."
        return replace(
            row,
            at=shown.at,
            last_at=shown.at,
            count=1,
            runs_at=shown.at if row.fate is Fate.FIRES and row.runs_at is None else row.runs_at,
            local=shown.local,
            offset=shown.offset,
            abbreviation=shown.abbreviation,
            clock=shown.clock,
            words=" ".join(filter(None, (shown.words, said))),
        )


def _made_up(instants: Sequence[Instant], runs_at: datetime) -> Row:
    return Row(
        at=instants[0].at,
        last_at=instants[-1].at,
        count=len(instants),
        fate=Fate.MADE_UP,
        runs_at=runs_at,
        words="Missed, and made up for when work goes on.",
    )


def _skipped(skip: Skip) -> Row:
    return Row(
        at=skip.first_at,
        last_at=skip.last_at,
        count=skip.count,
        fate=Fate.SKIPPED if skip.merged_into is None else Fate.MERGED,
        runs_at=None,
        merged_into=skip.merged_into,
        words=skip.cause,
    )


def _left(fate: Fate, shown: PlannedInstant) -> Row:
    return Row(
        at=shown.at,
        last_at=shown.at,
        count=1,
        fate=fate,
        runs_at=None,
        local=shown.local,
        offset=shown.offset,
        abbreviation=shown.abbreviation,
        words=shown.words,
    )


def _fate_of(left: Left) -> Fate:
    return Fate.GAP if left.policy is SkipPolicy.SKIPPED_HOUR else Fate.REPEAT_LEFT


def _in_order(counts: Mapping[Fate, int]) -> Mapping[Fate, int]:
    return {fate: counts[fate] for fate in Fate if counts.get(fate)}


_Told = tuple[datetime, int, Fate, datetime | None]


def _fates(course: Course) -> dict[datetime, set[_Told]]:
    """What each row says of its instant."""
    found: dict[datetime, set[_Told]] = {}
    for row in course.rows:
        found.setdefault(row.at, set()).add((row.last_at, row.count, row.fate, row.runs_at))
    return found
