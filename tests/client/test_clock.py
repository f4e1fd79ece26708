"""The service's time as the client knows it: it runs on the monotonic clock and prefers the shortest round trip."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobconsole.client.clock import BEST_FOR, ServerClock

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


class Ticks:
    """A monotonic clock that is set."""

    def __init__(self) -> None:
        self.now = 50.0

    def __call__(self) -> float:
        return self.now


def test_it_runs_on_from_what_was_told() -> None:
    ticks = Ticks()
    clock = ServerClock(ticks)
    assert clock.seconds_until(NOON) is None
    assert clock.deadline(NOON) is None
    clock.learn(NOON, sent=49.0, received=50.0)
    ticks.now = 60.0
    assert clock.server_now() == NOON + timedelta(seconds=10.5)
    assert clock.deadline(NOON + timedelta(seconds=30.5)) == pytest.approx(80.0)


@given(st.lists(st.tuples(st.floats(0, 5), st.floats(0, 5)), min_size=1, max_size=5))
def test_it_errs_by_half_of_the_shortest_trip_at_most(trips: list[tuple[float, float]]) -> None:
    ticks = Ticks()
    clock = ServerClock(ticks)
    shortest = 1e9
    for out, back in trips:
        sent = ticks.now
        true = NOON + timedelta(seconds=sent + out)
        ticks.now += out + back
        clock.learn(true, sent=sent, received=ticks.now)
        shortest = min(shortest, out + back)
    now = clock.server_now()
    assert now is not None
    assert abs((now - (NOON + timedelta(seconds=ticks.now))).total_seconds()) <= shortest / 2 + 1e-3


def test_an_old_answer_is_replaced_by_a_slower_one() -> None:
    ticks = Ticks()
    clock = ServerClock(ticks)
    clock.learn(NOON, sent=50.0, received=50.0)
    ticks.now += BEST_FOR + 1
    clock.learn(NOON + timedelta(hours=1), sent=ticks.now - 2, received=ticks.now)
    assert clock.server_now() == NOON + timedelta(hours=1, seconds=1)
