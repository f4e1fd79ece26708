"""Owns the act of the headless walk about schedules: which there are, that one ran, and when one runs in the night in which
the clocks go back. Each outcome is compared with what it must be; uses the functions of `client/` that screens and twins use.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime

from jobconsole.client import occurrences, schedules
from jobconsole.demo_desk import FIRST, OPERATOR, Desk, must
from jobcontract.occurrences import Occurrence
from jobcontract.schedules import Planned
from jobcontract.states import AttemptEnding, OccurrenceState, ScheduleStanding, ScheduleType

RESCORE, NIGHTLY = "payouts.rescore", "statements.nightly"
PATIENCE = 120.0
"""Seconds in which a schedule of every minute must have run."""
BACK = datetime(2026, 10, 24, 12, tzinfo=UTC)
"""The noon before the night in which the clocks of London go back."""
NIGHTS = (datetime(2026, 10, 25, 0, 30, tzinfo=UTC), datetime(2026, 10, 26, 1, 30, tzinfo=UTC))
"""When 01:30 in London is in that night, the first time that it comes, and in the next."""


async def list_schedules(desk: Desk) -> str:
    """Every schedule of the records is there; none is parked, and each that runs by itself has a next time."""
    rows = [row async for row in schedules.every_schedule(desk.people[FIRST])]
    known = {row.id for row in rows}
    must({RESCORE, NIGHTLY} <= known, f"there are only {', '.join(sorted(known)) or 'none'}")
    parked = [row.id for row in rows if row.standing is ScheduleStanding.PARKED]
    must(not parked, f"{', '.join(parked)} cannot be computed")
    idle = [row.id for row in rows if row.type is not ScheduleType.MANUAL and row.next_at is None]
    must(not idle, f"{', '.join(idle)} have no next time")
    shown = (f"{row.id}: {'by hand' if row.rhythm is None else row.rhythm.words}" for row in rows)
    return "\n".join((f"{len(rows)} schedules", *shown))


async def has_run(desk: Desk) -> str:
    """A schedule of every minute has run by itself, once for its instant, in one lease after another."""
    service = desk.people[OPERATOR if OPERATOR in desk.people else FIRST]
    loop = asyncio.get_running_loop()
    end = loop.time() + PATIENCE
    while not (ran := (await occurrences.occurrences(service, RESCORE, (OccurrenceState.COMPLETED,))).occurrences):
        must(loop.time() < end, f"{RESCORE} has not run {PATIENCE:g} s later")
        await asyncio.sleep(0.2)
    instants = [row.scheduled_at for row in ran]
    must(len(set(instants)) == len(instants), "it ran twice for one instant")
    detail = await occurrences.occurrence(service, ran[0].name)
    row = detail.occurrence
    must(row.id == ran[0].id, "its name leads to another")
    _in_order(row)
    must(bool(detail.attempts), "it has no attempt")
    must(detail.attempts[0].ending is AttemptEnding.COMPLETED, f"its last attempt ended as {detail.attempts[0].ending}")
    fences = [attempt.fence for attempt in detail.attempts]
    must(fences == sorted(set(fences), reverse=True), f"its fences did not rise: {fences}")
    page = await occurrences.occurrence_items(service, row.id)
    must(all(item.outcome is not None for item in page.items), "an item of it has no outcome")
    attempts = f"attempt {row.attempts} of {row.attempts_most}, fence {fences[0]}"
    return f"{row.name}: {row.items.done:,} items done, {attempts}, {len(page.items)} items kept singly"


def _in_order(row: Occurrence) -> None:
    """What is over has no lease, nothing unfinished, and its times follow one another."""
    must(row.lease is None, "it has ended, and somebody works on it")
    must(row.items.selected_all and row.items.unfinished == 0, f"{row.items.unfinished} of its items have no outcome")
    started, ended = row.started_at, row.ended_at
    must(started is not None and ended is not None, "it does not say when it began and ended")
    assert started is not None  # noqa: S101  # said above
    assert ended is not None  # noqa: S101  # likewise
    must(row.scheduled_at <= started <= ended, "it began before its time, or ended before it began")


async def night_of_the_clocks(desk: Desk) -> str:
    """01:30 comes twice in the night in which the clocks go back: the statements run once, at the first of the two."""
    answer = await schedules.next_instants(desk.people[FIRST], NIGHTLY, BACK, 2)
    runs = [planned for planned in answer.instants if planned.runs][: len(NIGHTS)]
    must(tuple(planned.at for planned in runs) == NIGHTS, f"it runs at {', '.join(str(each.at) for each in runs)}")
    lines = (f"{each.at:%Y-%m-%d %H:%M} UTC: {_wall(each)}" for each in runs)
    return "\n".join((f"{NIGHTLY} in {answer.zone}, time zones of {answer.tzdata}", *lines))


def _wall(planned: Planned) -> str:
    """What the clock of the zone shows there and then."""
    return "no wall clock" if planned.local is None else f"{planned.local:%H:%M} {planned.abbreviation or ''}".rstrip()


STEPS: Sequence[tuple[str, Callable[[Desk], Awaitable[str]]]] = (
    ("list schedules", list_schedules),
    ("a schedule has run by itself", has_run),
    ("the night in which clocks go back", night_of_the_clocks),
)
"""This act, in order."""
