"""Owns which instants the local times of an expression are in a zone: what runs, and what a change of the clock leaves out,
by the two policies. Pure and without state: what a stretch of time holds is the same wherever a search starts.

Between two changes of the clock a local time and its instant differ by one offset, so the instants are the named local
times moved by it. A gap is looked at with the stretch that it begins. Instants are ints as in `rules/zones.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import merge
from typing import NamedTuple

from jobcontract.states import ClockChange, Repeated, Skipped, SkipPolicy
from jobservice.rules.cron import Expression
from jobservice.rules.zones import REACH, Change, Stretch, Zone


class Event(NamedTuple):
    """A named local time at an instant: it runs, or `left` says by which policy it does not."""

    at: int
    local: int
    clock: ClockChange | None = None
    left: SkipPolicy | None = None


@dataclass(frozen=True, slots=True)
class WallTimes:
    """An expression on the clock of a zone, with what happens in gaps and to repeated times.

    A skipped time is left out at the instant that ends its gap, or runs there (all of one gap once), or runs at the wall
    clock plus the gap's length. Of a repeated one the policy chooses; the other is left out at its own instant. An instant
    that runs anyway is there once.
    """

    expression: Expression
    zone: Zone
    skipped: Skipped
    repeated: Repeated

    def rising(self, start: int, end: int) -> Iterator[Event]:
        """The events from `start` on and before `end`; no two that run are at one instant."""
        while (named := next(self.expression.rising(start - REACH, end + REACH), None)) is not None:
            start = max(start, named - REACH)  # what is named lies no farther from its instants
            if start >= end:
                return
            stretch = self.zone.stretch(start)
            until = min(end, stretch.end)
            usual = self._usual(stretch, self.expression.rising(start + stretch.offset, until + stretch.offset))
            gaps = self._gaps(stretch, start, until)
            yield from merge(usual, gaps, key=_at) if gaps else usual
            start = until

    def falling(self, start: int, end: int) -> Iterator[Event]:
        """The same events, the latest first."""
        while (named := next(self.expression.falling(start - REACH, end + REACH), None)) is not None:
            end = min(end, named + REACH + 1)
            if start >= end:
                return
            stretch = self.zone.stretch(end - 1)
            since = max(start, stretch.start)
            usual = self._usual(stretch, self.expression.falling(since + stretch.offset, end + stretch.offset))
            gaps = self._gaps(stretch, since, end)
            yield from merge(usual, reversed(gaps), key=_at, reverse=True) if gaps else usual
            end = since

    def count(self, start: int, end: int) -> int:
        """How many events that run are from `start` on and before `end`: only those near a change are looked at singly."""
        total = 0
        for first, last in self._near_changes(start, end):
            total += self._count_plain(start, first) + sum(
                1 for event in self.rising(first, last) if event.left is None
            )
            start = last
        return total + self._count_plain(start, end)

    def changed(self, start: int, end: int) -> Iterator[Event]:
        """The events that a change of the clock makes something of, from `start` on and before `end`, rising."""
        for first, last in self._near_changes(start, end):
            yield from (
                event for event in self.rising(first, last) if event.clock is not None or event.left is not None
            )

    def _count_plain(self, start: int, end: int) -> int:
        """The same where no change is near."""
        offset = self.zone.offset(start)
        return self.expression.count(start + offset, end + offset)

    def _near_changes(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """The parts of a stretch in which a change may skip or repeat, rising and apart from each other."""
        together: list[list[Change]] = []
        for change in self.zone.changes(start - 2 * REACH, end + 2 * REACH):
            if together and change.at - together[-1][-1].at <= REACH:
                together[-1].append(change)
            else:
                together.append([change])
        for changes in together:
            size = sum(abs(each.after - each.before) for each in changes)
            first, last = max(start, changes[0].at - size), min(end, changes[-1].at + size)
            if first < last:
                yield first, last
                start = last

    def _usual(self, stretch: Stretch, named: Iterator[int]) -> Iterator[Event]:
        """What the clock of that stretch shows by itself."""
        for local in named:
            at = local - stretch.offset
            if at - stretch.start >= REACH and stretch.end - at > REACH:
                yield Event(at, local)
            else:
                yield self._near(at, local)

    def _near(self, at: int, local: int) -> Event:
        """A local time near a change: is it one of two?"""
        instants = self.zone.instants(local)
        if len(instants) < 2:
            return Event(at, local)
        clock = ClockChange.FIRST if at == instants[0] else ClockChange.SECOND
        chosen = {Repeated.FIRST: instants[:1], Repeated.SECOND: instants[-1:], Repeated.BOTH: instants}[self.repeated]
        return Event(at, local, clock) if at in chosen else Event(at, local, clock, SkipPolicy.REPEATED_HOUR)

    def _gaps(self, stretch: Stretch, start: int, end: int) -> Sequence[Event]:
        """What the policy makes of the local times left out by the change that begins the stretch, or one shortly before
        it, from `start` on and before `end`; rising."""
        if start - stretch.start > REACH:
            return ()
        events: dict[tuple[int, int], Event] = {}
        for change in self.zone.changes(stretch.start - REACH, stretch.start + 1):
            for event in self._gap(change):
                if start <= event.at < end:
                    # Of those that run, one an instant; of those left out, every local time.
                    events.setdefault((event.at, event.local if event.left else -REACH), event)
        return sorted(events.values(), key=lambda event: (event.at, event.local))

    def _gap(self, change: Change) -> Iterator[Event]:
        for local in self.expression.rising(change.at + change.before, change.at + change.after):
            if self.zone.instants(local):  # the clock was there before an earlier change
                continue
            if self.skipped is Skipped.SKIP:
                yield Event(change.at, local, None, SkipPolicy.SKIPPED_HOUR)
                continue
            at_end = self.skipped is Skipped.RUN_AT_GAP_END
            at = change.at if at_end else local - change.before
            if not self._runs_anyway(at):
                yield Event(at, local, ClockChange.GAP_END if at_end else ClockChange.SHIFTED)
            if at_end:
                return

    def _runs_anyway(self, at: int) -> bool:
        local = at + self.zone.offset(at)
        return self.expression.on(local) and self._near(at, local).left is None


def _at(event: Event) -> int:
    return event.at
