"""Owns what switching a schedule on now would make up for and skip, in words and before it is done. Pure: it asks the
planner's own rules (`rules/planning.py`) what they would do, and adds nothing of its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from jobcontract.states import SkipPolicy
from jobservice.rules.misfires import Skip, Waiting
from jobservice.rules.planning import Plan, Standing, plan
from jobservice.rules.schedules import Schedule

LOOKS_MOST = 200
"""Looks of the planner that a preview follows; each decides hundreds of instants."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """Neighbouring instants with one fate; `policy` None: they run."""

    first_at: datetime
    last_at: datetime
    count: int
    policy: SkipPolicy | None
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What enabling would do: `words` in a sentence."""

    words: str
    runs: tuple[Stretch, ...] = ()
    skips: tuple[Stretch, ...] = ()


def preview(schedule: Schedule, standing: Standing, waiting: Sequence[Waiting], now: datetime, tzdata: str) -> Preview:
    """What the planner would make of the schedule if it were switched on at `now`. Never raises: what cannot be computed is
    said."""
    standing = replace(standing, disabled=False, disabled_until=None)
    runs: set[datetime] = set()
    skips: list[Skip] = []
    for _ in range(LOOKS_MOST):
        look = plan(schedule, standing, waiting, now, tzdata)
        runs |= _runs(look, now)
        runs -= set(look.dropped)
        skips += [each for each in look.skips if each.first_at <= now]
        if look.parked is not None:
            return Preview(words=f"It cannot be computed, and stays parked: {look.parked}")
        if look.look_at is None or look.look_at > now:
            break
        standing = replace(standing, definition=look.definition, planned_until=look.planned_until)
        waiting = ()
    lines = tuple(_stretch(each) for each in sorted(skips, key=lambda each: each.first_at))
    return Preview(
        words=_words(schedule, len(runs), sum(each.count for each in lines)),
        runs=tuple(_together(sorted(runs), [each.first_at for each in lines])),
        skips=lines,
    )


def _runs(look: Plan, now: datetime) -> set[datetime]:
    fresh = {each.at for each in look.occurrences if each.at <= now}
    held = {at for at, _ in look.restored if at <= now}
    return fresh | held | set(look.made_up)


def _stretch(skip: Skip) -> Stretch:
    return Stretch(first_at=skip.first_at, last_at=skip.last_at, count=skip.count, policy=skip.policy, words=skip.cause)


def _together(runs: Sequence[datetime], breaks: Sequence[datetime]) -> Iterable[Stretch]:
    """Runs without a skip between them as one stretch."""
    group: list[datetime] = []
    for at in runs:
        if group and any(group[-1] < each < at for each in breaks):
            yield _running(group)
            group = []
        group.append(at)
    if group:
        yield _running(group)


def _running(group: Sequence[datetime]) -> Stretch:
    words = "It runs at once." if len(group) == 1 else "They run at once, one after the other."
    return Stretch(first_at=group[0], last_at=group[-1], count=len(group), policy=None, words=words)


def _words(schedule: Schedule, runs: int, skipped: int) -> str:
    if schedule.rhythm is None and not runs and not skipped:
        return "A person starts it: nothing is made up for."
    if not runs and not skipped:
        return "Nothing was missed: nothing is made up for, and nothing is skipped."
    if not runs:
        return f"Makes up for nothing; {_instants(skipped)} {'is' if skipped == 1 else 'are'} skipped."
    made = f"Makes up for {_instants(runs)} at once"
    if not skipped:
        return f"{made}; nothing is skipped."
    return f"{made}; {skipped:,} more {'is' if skipped == 1 else 'are'} skipped."


def _instants(count: int) -> str:
    return f"{count:,} {'instant' if count == 1 else 'instants'}"
