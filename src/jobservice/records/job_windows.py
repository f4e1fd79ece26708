"""Owns how long after its instant a missed occurrence may still be made up for: what retention is compared with. Pure."""

from __future__ import annotations

from itertools import pairwise

from jobcontract.states import MisfirePolicy, Skipped
from jobservice.rules.cron import DAY, parse
from jobservice.rules.rhythms import Every, Rhythm
from jobservice.rules.schedules import Misfire

UTC_ZONE = "UTC"
CLOCK_BACK = 7_200
"""Seconds: no zone of today goes back further at once."""
_BEGIN, _END = 43_000 * DAY, 52_500 * DAY
"""Local times from 2087 to 2113, with the longest time without a 29 February in them: 2096 to 2104."""


def catch_up_seconds(rhythm: Rhythm, misfire: Misfire) -> int:
    """Seconds from the instant of the oldest occurrence that may still be made up for to the decision about it.

    misfireAfter alone where missed instants are skipped; else misfireAfter and, for each instant that is kept (one with
    `once`), the longest time between two neighbours of the rhythm. On a wall clock that changes, the two hours that it may
    go back, and one more instant where the clock may leave one out.
    """
    after = int(misfire.after_seconds)
    if misfire.policy is MisfirePolicy.SKIP:
        return after
    kept = misfire.newest or 1
    if isinstance(rhythm, Every) or rhythm.zone == UTC_ZONE:
        return after + kept * longest_seconds(rhythm)
    left_out = 1 if rhythm.skipped is Skipped.SKIP else 0
    return after + (kept + left_out) * longest_seconds(rhythm) + CLOCK_BACK


def longest_seconds(rhythm: Rhythm) -> int:
    """The longest time between two neighbouring instants of a rhythm, by the wall clock where it has one."""
    if isinstance(rhythm, Every):
        return rhythm.seconds
    expression = parse(rhythm.expression)
    times = expression.times
    midnights = parse(" ".join(["0", "0", *expression.fields[2:]]))
    days = list(midnights.rising(_BEGIN, _END))
    within = max((later - earlier for earlier, later in pairwise(times)), default=0)
    between = max((later - earlier for earlier, later in pairwise(days)), default=_END - _BEGIN)
    return max(within, between - times[-1] + times[0])
