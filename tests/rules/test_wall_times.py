"""Wall times on made-up clocks, which change more often and by more than any real one: several changes within hours, gaps in
what was repeated, times that are shown three times. The real clocks are in test_rhythms.py."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from io import BytesIO
from itertools import accumulate
from zoneinfo import ZoneInfo

from hypothesis import given, settings
from hypothesis import strategies as st

from jobcontract.states import Repeated, Skipped
from jobservice.rules.cron import parse
from jobservice.rules.wall_times import Event, WallTimes
from jobservice.rules.zones import Zone
from tests.rules.slow_time import EPOCH, EXPRESSIONS, Expected, expected, watch

QUARTER = 900
START = round((datetime(2026, 3, 1, tzinfo=UTC) - EPOCH).total_seconds())
MARGIN = 30 * 3600


def zone_file(changes: Sequence[tuple[int, int]], offset: int) -> bytes:
    """A zone that is `offset` seconds from UTC until the first change, then what each change says; as RFC 9636 writes it."""
    offsets = [offset, *(each for _, each in changes)]
    body = struct.pack(f">{len(changes)}q", *(at for at, _ in changes))
    body += bytes(range(1, len(offsets))) + b"".join(struct.pack(">lBB", each, 0, 0) for each in offsets) + b"XXX\0"
    empty = struct.pack(">4sc15x6l", b"TZif", b"2", 0, 0, 0, 0, 1, 4) + struct.pack(">lBB", 0, 0, 0) + b"XXX\0"
    return empty + struct.pack(">4sc15x6l", b"TZif", b"2", 0, 0, 0, len(changes), len(offsets), 4) + body + b"\n\n"


def seen(events: Sequence[Event]) -> Expected:
    def moment(second: int) -> datetime:
        return EPOCH + timedelta(seconds=second)

    told = [(moment(each.at), moment(each.local).replace(tzinfo=None), each) for each in events]
    return Expected(
        [(at, local, each.clock and each.clock.value) for at, local, each in told if each.left is None],
        [(at, local, each.left.value) for at, local, each in told if each.left is not None],
    )


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 60), st.integers(-50, 50)), min_size=1, max_size=5),
    st.integers(-50, 50),
    st.sampled_from(sorted(EXPRESSIONS)),
    st.sampled_from(Skipped),
    st.sampled_from(Repeated),
    st.data(),
)
def test_clocks_that_change_again_and_again(
    steps: list[tuple[int, int]], offset: int, text: str, skipped: Skipped, repeated: Repeated, data: st.DataObject
) -> None:
    times = accumulate((QUARTER * step for step, _ in steps), initial=START)
    next(times)
    changes = [(at, QUARTER * each) for at, (_, each) in zip(times, steps, strict=True)]
    raw = zone_file(changes, QUARTER * offset)
    first, last = START - 3600, changes[-1][0] + 3600
    slow = ZoneInfo.from_file(BytesIO(raw), key="made-up")
    clock = watch(slow, EPOCH + timedelta(seconds=first - MARGIN), EPOCH + timedelta(seconds=last + MARGIN))
    right = expected(clock, EXPRESSIONS[text], skipped, repeated)
    times_of = WallTimes(parse(text), Zone("made-up", raw), skipped, repeated)

    start = data.draw(st.integers(first, last))
    end = data.draw(st.integers(start, last))
    low, high = EPOCH + timedelta(seconds=start), EPOCH + timedelta(seconds=end)
    ran = [each for each in right.ran if low <= each[0] < high]
    left = [each for each in right.left if low <= each[0] < high]
    rising = list(times_of.rising(start, end))
    assert seen(rising) == Expected(ran, left)
    falling = [event for event in times_of.falling(start, end) if event.left is None]
    assert falling[::-1] == [event for event in rising if event.left is None]
    assert times_of.count(start, end) == len(ran)
