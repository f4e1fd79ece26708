"""Expressions: what each names, against predicates and against cronsim's own walk; what is refused, and in which words."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from cronsim import CronSim, CronSimError
from hypothesis import given, settings
from hypothesis import strategies as st

from jobservice.rules.cron import DAY, BadExpressionError, Expression, parse
from tests.rules.slow_time import EXPRESSIONS

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIELDS = [(0, 59), (0, 23), (1, 31), (1, 12), (0, 7)]
MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]


def local(at: str) -> int:
    return int((datetime.fromisoformat(at).replace(tzinfo=UTC) - EPOCH).total_seconds())


def wall(second: int) -> datetime:
    return EPOCH + timedelta(seconds=second)


def named(text: str, start: str, end: str) -> list[str]:
    return [f"{wall(each):%Y-%m-%d %H:%M}" for each in parse(text).rising(local(start), local(end))]


def readable(text: str) -> Expression | str:
    """The expression, or why it is refused."""
    try:
        return parse(text)
    except BadExpressionError as error:
        return str(error)


@st.composite
def items(draw: st.DrawFn, least: int, most: int, *, star: bool) -> str:
    first = draw(st.integers(least, most))
    last = draw(st.integers(first, most))
    kinds = [str(first), f"{first}-{last}", f"{first}-{last}/{draw(st.integers(1, most))}"]
    if star:
        kinds += ["*", f"*/{draw(st.integers(1, most))}"]
    if (least, most) == (1, 12):
        kinds += [MONTHS[first - 1], f"{MONTHS[first - 1].upper()}-{MONTHS[last - 1]}"]
    if (least, most) == (0, 7):
        kinds.append(WEEKDAYS[first % 7].title())
    return draw(st.sampled_from(kinds))


@st.composite
def expressions(draw: st.DrawFn) -> str:
    fields = [",".join(draw(st.lists(items(least, most, star=True), min_size=1, max_size=3))) for least, most in FIELDS]
    return " ".join(fields)


@settings(max_examples=60, deadline=None)
@given(expressions(), st.integers(local("1937-01-01"), local("2037-01-01")), st.integers(0, 400 * DAY))
def test_what_is_named_is_what_cronsim_walks_to_forwards_and_backwards(text: str, start: int, length: int) -> None:
    read = readable(text)
    if isinstance(read, str):
        assert "would never run" in read
        with pytest.raises(CronSimError):
            CronSim(text, EPOCH)
        return
    expression = read
    end = start + length
    walk = CronSim(text, wall(start) - timedelta(seconds=1))
    ours = expression.rising(start, end)
    for _ in range(100):
        theirs = next(walk, None)
        our = next(ours, None)
        assert our == (None if theirs is None or theirs >= wall(end) else int((theirs - EPOCH).total_seconds()))
        if our is None:
            break
    back = CronSim(text, wall(end), reverse=True)
    falling = expression.falling(start, end)
    for _ in range(100):
        our = next(falling, None)
        theirs = next(back, None)
        assert our == (None if theirs is None or theirs < wall(start) else int((theirs - EPOCH).total_seconds()))
        if our is None:
            break


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(sorted(EXPRESSIONS)), st.integers(local("1937-01-01"), local("2037-01-01")), st.integers(0, 3 * DAY)
)
def test_each_local_minute_is_named_as_its_predicate_says(text: str, start: int, length: int) -> None:
    expression, end = parse(text), start + length
    minutes = range(-(-start // 60) * 60, end, 60)
    expected = [each for each in minutes if EXPRESSIONS[text](wall(each).replace(tzinfo=None))]
    assert list(expression.rising(start, end)) == expected
    assert list(expression.falling(start, end)) == expected[::-1]
    assert expression.count(start, end) == len(expected)
    assert expression.on(start) is (start % 60 == 0 and EXPRESSIONS[text](wall(start).replace(tzinfo=None)))


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(sorted(EXPRESSIONS)), st.integers(local("1937-01-01"), local("2037-01-01")), st.data())
def test_years_are_counted_like_their_parts(text: str, start: int, data: st.DataObject) -> None:
    expression, end = parse(text), start + 3000 * DAY
    middle = data.draw(st.integers(start, end))
    assert expression.count(start, end) == expression.count(start, middle) + expression.count(middle, end)
    assert expression.count(end, start) == 0


def test_either_field_of_the_day_is_enough_where_both_are_restricted() -> None:
    friday_13th = named("0 0 13 * fri", "2026-03-01", "2026-03-21")
    assert friday_13th == ["2026-03-06 00:00", "2026-03-13 00:00", "2026-03-20 00:00"]
    assert named("0 0 1,15 * mon", "2026-06-01", "2026-06-16") == [f"2026-06-{day:02d} 00:00" for day in (1, 8, 15)]
    assert named("0 0 1-31 2 mon", "2026-02-01", "2026-03-01") == [f"2026-02-{day:02d} 00:00" for day in range(1, 29)]


def test_a_field_that_begins_with_a_star_counts_as_unrestricted() -> None:
    odd_mondays = [f"2026-06-{day:02d} 00:00" for day in (1, 15, 29)]
    assert named("0 0 */2 * mon", "2026-06-01", "2026-07-01") == odd_mondays
    assert named("0 0 1-31/2 * mon", "2026-06-01", "2026-06-05") == ["2026-06-01 00:00", "2026-06-03 00:00"]
    assert named("0 0 13 * */5", "2026-01-01", "2027-01-01") == [  # Sundays and Fridays alone
        "2026-02-13 00:00", "2026-03-13 00:00", "2026-09-13 00:00", "2026-11-13 00:00", "2026-12-13 00:00",
    ]  # fmt: skip


def test_sunday_is_0_and_7_and_its_name() -> None:
    sundays = ["2026-11-01 12:00", "2026-11-08 12:00"]
    for written in ("0", "7", "sun", "SUN", "7-7", "0,7"):
        assert named(f"0 12 * * {written}", "2026-11-01", "2026-11-15") == sundays
    assert named("0 12 * * 5-7", "2026-11-02", "2026-11-09") == [f"2026-11-0{day} 12:00" for day in (6, 7, 8)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("@daily", "'@daily' is a nickname, and nicknames are not read: write 0 0 * * *."),
        ("@reboot", "'@reboot' is a nickname, and nicknames are not read: write five fields"),
        ("0 30 2 * * *", "'0 30 2 * * *' has 6 fields; an expression has five: minute, hour, day of month, month, day"),
        ("* * * *", "'* * * *' has 4 fields"),
        ("", "'' has 0 fields"),
        ("60 * * * *", "The minute is '60': '60' is none of its values. Allowed are 0 to 59, *, ranges such as 0-3"),
        ("0 24 * * *", "The hour is '24': '24' is none of its values. Allowed are 0 to 23"),
        ("0 0 0 * *", "The day of month is '0': '0' is none of its values. Allowed are 1 to 31"),
        ("0 0 * 13 *", "The month is '13': '13' is none of its values. Allowed are 1 to 12 or jan to dec"),
        ("0 0 * mai *", "The month is 'mai': 'mai' is none of its values"),
        ("0 0 * * 8", "The day of week is '8': '8' is none of its values. Allowed are 0 to 7 or sun to sat"),
        ("0 0 mon * *", "The day of month is 'mon': 'mon' is none of its values"),
        ("0 0 L * *", "The day of month is 'L': L, W, # and ? are not read here. Allowed are 1 to 31"),
        ("0 0 15W * *", "The day of month is '15W': L, W, # and ? are not read here"),
        ("0 0 LW * *", "The day of month is 'LW': L, W, # and ? are not read here"),
        ("0 0 * * 5L", "The day of week is '5L': L, W, # and ? are not read here"),
        ("0 0 * * fri#2", "The day of week is 'fri#2': L, W, # and ? are not read here"),
        ("0 0 ? * mon", "The day of month is '?': L, W, # and ? are not read here"),
        ("5/15 * * * *", "The minute is '5/15': a step goes over * or a range; for one that starts at 5 write 5-59/15"),
        ("*/0 * * * *", "The minute is '*/0': a step is 1 to 59"),
        ("*/90 * * * *", "The minute is '*/90': a step is 1 to 59"),
        ("0 22-3 * * *", "The hour is '22-3': the range ends before it starts"),
        ("0 0 * * sat-sun", "'sat-sun': the range ends before it starts (as the end of a range, Sunday is 7)"),
        ("0,,5 * * * *", "The minute is '': nothing stands there"),
        ("*-5 * * * *", "The minute is '*-5': * is a range already"),
        ("1-2-3 * * * *", "The minute is '1-2-3': that is no value, range or step"),
        ("-5 * * * *", "The minute is '-5': that is no value, range or step"),
        ("\u0663 * * * *", "that is no value, range or step"),
        ("0 0 31 2 *", "The day of month '31' does not come in the month '2', so '0 0 31 2 *' would never run"),
        ("0 0 31 4,jun,9-11/2 *", "The day of month '31' does not come in the month '4,jun,9-11/2'"),
        ("0 0 30-31 feb */2", "The day of month '30-31' does not come in the month 'feb'"),
        ("0," * 400 + "0 * * * *", "'0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,'... has 809 characters; an expression has"),
    ],
)  # fmt: skip
def test_what_is_refused_says_the_field_what_was_written_and_what_is_allowed(text: str, said: str) -> None:
    with pytest.raises(BadExpressionError) as refused:
        parse(text)
    assert said in str(refused.value)


@given(st.text(alphabet="0123456789*/-,#?LWlwjanfrisu @\n", max_size=24))
def test_any_text_is_read_or_refused_in_a_sentence(text: str) -> None:
    read = readable(text)
    if isinstance(read, str):
        assert read.endswith(".")
    else:
        assert next(read.rising(0, local("2010-01-01"))) % 60 == 0


def test_rare_days_are_no_mistake() -> None:
    assert named("0 0 29 2 *", "2096-01-01", "2105-01-01") == ["2096-02-29 00:00", "2104-02-29 00:00"]
    assert named("0 0 29 2 */7", "2064-03-01", "2110-01-01") == ["2088-02-29 00:00"]
    assert named("0 0 31 2 mon", "2026-02-01", "2026-02-10") == ["2026-02-02 00:00", "2026-02-09 00:00"]


@pytest.mark.requirement("define-business-local-clock-behavior")
@pytest.mark.parametrize(
    ("hour", "varies"),
    [("*", True), ("*/2", True), ("1-3", True), ("0,9-17", True), ("0-23/6", True), ("1", False), ("1,2", False)],
)
def test_an_hour_that_is_a_wildcard_a_range_or_a_step_varies(hour: str, *, varies: bool) -> None:
    assert parse(f"30 {hour} * * *").hour_varies is varies
