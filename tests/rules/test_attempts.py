"""What an attempt's end makes of its occurrence: attempts are bounded, waits are within bounds, causes are said."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobcontract.states import AttemptEnding, DeadCause, OccurrenceState
from jobservice.rules.attempts import after_attempt, cancelled, retry_delay, unrunnable, worker_lost
from jobservice.rules.schedules import Backoff

pytestmark = pytest.mark.requirement("bound-job-retries")

BACKOFF = Backoff(first_seconds=10.0, most_seconds=300.0)
BACKOFFS = st.tuples(st.floats(0.001, 1e6), st.floats(1.0, 1e3)).map(
    lambda pair: Backoff(first_seconds=pair[0], most_seconds=pair[0] * pair[1])
)
SECONDS = st.none() | st.floats(allow_nan=True, allow_infinity=True)
TRIED_AGAIN = (AttemptEnding.RETRY, AttemptEnding.FAILED, AttemptEnding.OVER_BOUND, AttemptEnding.LOST)


@pytest.mark.requirement("RETRY-01", "RETRY-04")
@given(st.sampled_from(TRIED_AGAIN), st.integers(1, 20), BACKOFFS, SECONDS, st.floats(0, 1))
def test_never_beyond_its_attempts(
    ending: AttemptEnding, most: int, backoff: Backoff, asked: float | None, jitter: float
) -> None:
    starts = 0
    state = OccurrenceState.SCHEDULED
    while state is OccurrenceState.SCHEDULED:
        starts += 1
        following = after_attempt(
            ending, attempts=starts, most=most, backoff=backoff, error="No.", asked_seconds=asked, jitter=jitter
        )
        state = following.state
        waits = following.retry_after
        assert (waits is None) == (state is not OccurrenceState.SCHEDULED)
        assert waits is None or 0 <= waits <= backoff.most_seconds
    assert (starts, state) == (most, OccurrenceState.DEAD_LETTER)


@given(BACKOFFS, st.integers(1, 10**6), st.floats(0, 1))
def test_the_wait_doubles_up_to_its_most_and_jitter_takes_up_to_half(
    backoff: Backoff, attempts: int, jitter: float
) -> None:
    whole = retry_delay(backoff, attempts=attempts, asked_seconds=None, jitter=0)
    after = retry_delay(backoff, attempts=attempts + 1, asked_seconds=None, jitter=0)
    assert whole >= backoff.first_seconds
    assert after == pytest.approx(min(whole * 2, backoff.most_seconds))
    taken = retry_delay(backoff, attempts=attempts, asked_seconds=None, jitter=jitter)
    assert whole / 2 <= taken <= whole
    assert retry_delay(backoff, attempts=attempts, asked_seconds=None, jitter=1) == pytest.approx(whole / 2)


@pytest.mark.requirement("RETRY-04")
@pytest.mark.parametrize(
    ("asked", "waits"),
    [
        (None, 20.0),
        (5.0, 5.0),
        (0.0, 0.0),
        (-3_600.0, 0.0),
        (999_999_999.0, 300.0),
        (math.inf, 300.0),
        (-math.inf, 0.0),
    ],
)
def test_what_a_use_case_asks_for_counts_between_now_and_the_most(asked: float | None, waits: float) -> None:
    assert retry_delay(BACKOFF, attempts=2, asked_seconds=asked, jitter=0) == waits


def test_what_is_no_number_counts_as_not_asked() -> None:
    assert retry_delay(BACKOFF, attempts=2, asked_seconds=math.nan, jitter=0) == 20.0


@pytest.mark.parametrize(
    ("ending", "cause"),
    [
        (AttemptEnding.RETRY, DeadCause.FAILED),
        (AttemptEnding.FAILED, DeadCause.FAILED),
        (AttemptEnding.OVER_BOUND, DeadCause.OVER_BOUND),
        (AttemptEnding.LOST, DeadCause.WORKER_LOST),
    ],
)
def test_a_dead_letter_has_a_cause_and_a_sentence(ending: AttemptEnding, cause: DeadCause) -> None:
    said = after_attempt(ending, attempts=3, most=3, backoff=BACKOFF, error="The bank said no.")
    unsaid = after_attempt(ending, attempts=3, most=3, backoff=BACKOFF, error=None)
    assert (said.cause, said.error, unsaid.cause) == (cause, "The bank said no.", cause)
    assert unsaid.error


@pytest.mark.parametrize("attempts", [1, 3, 99])
def test_cancelled_is_the_end_whatever_is_left_and_handed_back_never_is(attempts: int) -> None:
    ended = after_attempt(AttemptEnding.CANCELLED, attempts=attempts, most=3, backoff=BACKOFF, error=None)
    assert (ended.state, ended.cause) == (OccurrenceState.DEAD_LETTER, DeadCause.CANCELLED)
    back = after_attempt(AttemptEnding.HANDED_BACK, attempts=attempts, most=3, backoff=BACKOFF, error=None)
    assert (back.state, back.retry_after) == (OccurrenceState.SCHEDULED, 0.0)
    well = after_attempt(AttemptEnding.COMPLETED, attempts=attempts, most=3, backoff=BACKOFF, error=None)
    assert (well.state, well.cause, well.error) == (OccurrenceState.COMPLETED, None, None)


def test_a_lost_worker_is_said_to_be_lost_how_often_and_where() -> None:
    assert worker_lost(times=3, host="w-1").startswith("Worker was lost 3 times, at last on w-1: ")
    assert worker_lost(times=1, host="w-1").startswith("Worker was lost once on w-1: ")
    assert worker_lost(times=2, host=None).startswith("Worker was lost twice: ")


def test_what_is_said_of_what_never_started() -> None:
    assert cancelled(attempts=0) != cancelled(attempts=1)
    assert "s.one" in unrunnable(schedule="s.one", seconds=700)
    assert "11 minutes" in unrunnable(schedule="s.one", seconds=700)
    assert "1 minute." in unrunnable(schedule="s.one", seconds=0)
