"""Owns measuring how long the next instant of a rhythm takes to find: over every zone of the database and expressions from
each minute to one day in decades, at instants of a century, most of them in a year that nobody asked about before.

A search waits for nothing, so what counts is the time of the processor: what other programs take does not make it slower.
"""

from __future__ import annotations

import random
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from statistics import median

from benchmarks.figures import Figure, percentile
from benchmarks.ground import Ground
from jobcontract.states import Repeated, Skipped
from jobservice.rules import zones
from jobservice.rules.rhythms import Cron, count, next_instant

PART = "instants"
EXPRESSIONS = (
    "* * * * *",
    "*/15 * * * *",
    "0 9-17 * * mon-fri",
    "30 2 * * *",
    "0 0 * * *",
    "0 17 * * fri",
    "0 0 13 * fri",
    "59 23 31 12 *",
    "0 0 29 2 *",
    "0 0 29 2 */7",  # a leap day on a Sunday
)
ROUNDS = 5
START, CENTURY = datetime(1937, 1, 1, tzinfo=UTC), 100 * 365 * 86_400
TEN_YEARS = timedelta(days=3653)


async def measure(_ground: Ground) -> AsyncIterator[Figure]:
    """The middle and the 99th percentile of a search, and ten years of minutes counted. Nothing of the ground is used."""
    rounds = [_round() for _ in range(ROUNDS)]
    searches = f"{len(rounds[0]):,} searches a round"
    middles, worst = tuple(map(median, rounds)), tuple(percentile(each, 99) for each in rounds)
    yield Figure(part=PART, what="the next instant, middle", unit="ms", rounds=middles, note=searches)
    yield Figure(
        part=PART, what="the next instant, 99th percentile", unit="ms", rounds=worst, at_most=1.0, note=searches
    )
    yield Figure(
        part=PART,
        what="counting ten years of minutes across 20 changes of the clock",
        unit="ms",
        rounds=tuple(_count() for _ in range(ROUNDS)),
    )


def _round() -> list[float]:
    """Milliseconds of each search, in random order, with no zone read beforehand."""
    zones.zone.cache_clear()
    asked = [(name, text) for name in zones.names() for text in EXPRESSIONS]
    random.shuffle(asked)
    return [_search(name, text) for name, text in asked]


def _search(name: str, text: str) -> float:
    skipped, repeated = random.choice(list(Skipped)), random.choice(list(Repeated))
    rhythm = Cron(expression=text, zone=name, skipped=skipped, repeated=repeated)
    after = START + random.randrange(CENTURY) * timedelta(seconds=1)
    began = time.thread_time()
    found = next_instant(rhythm, after)
    took = (time.thread_time() - began) * 1_000
    if found is None or found.at <= after:
        raise RuntimeError(f"{rhythm} says {found} after {after}")
    return took


def _count() -> float:
    rhythm = Cron(expression="* * * * *", zone="Europe/London", skipped=Skipped.SKIP, repeated=Repeated.BOTH)
    after = datetime(2026, 1, 1, tzinfo=UTC)
    began = time.thread_time()
    found = count(rhythm, after, after + TEN_YEARS)
    took = (time.thread_time() - began) * 1_000
    if found != TEN_YEARS // timedelta(minutes=1):
        raise RuntimeError(f"{found} minutes in ten years")
    return took
