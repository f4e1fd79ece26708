"""Owns rhythms in words for people. Computes no instant; says no more than the rhythm does."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from cronsim import CronSim

from jobservice.rules.cron import BadExpressionError, Expression, parse

_DAY = 86_400
_UNITS = ((604_800, "week"), (_DAY, "day"), (3600, "hour"), (60, "minute"), (1, "second"))
_WEEKDAYS = ("Mondays", "Tuesdays", "Wednesdays", "Thursdays", "Fridays", "Saturdays", "Sundays")
_MANY_TIMES = 4
"""Times of a day, or days of a week, that are still said one by one."""


def every(seconds: int, anchor: datetime) -> str:
    """A rhythm of elapsed time: `every 15 minutes from 00:00 UTC`. Where days begin alike the first time of a day is said,
    else the anchor."""
    start = anchor.astimezone(UTC)
    if seconds == _DAY:
        return f"daily at {_clock_time(start)} UTC"
    amount = _amount(seconds)
    if seconds > 0 and _DAY % seconds == 0 and not start.microsecond:
        first = (start.hour * 3600 + start.minute * 60 + start.second) % seconds
        if seconds <= 60 and first == 0:
            return f"{amount}, UTC"
        return (
            f"{amount} from {first // 3600:02d}:{first // 60 % 60:02d}{f':{first % 60:02d}' if first % 60 else ''} UTC"
        )
    return f"{amount} from {start:%Y-%m-%d} {_clock_time(start)} UTC"


def cron(text: str, zone: str) -> str:
    """A rhythm of the wall clock: `daily at 01:30, Europe/London`; the expression itself where it cannot be read."""
    try:
        expression = parse(text)
    except BadExpressionError:
        return f"{text}, {zone}"
    said = _often(expression) or _at_times(expression)
    if said is not None:
        return f"{said} UTC" if zone == "UTC" and said[-1:].isdecimal() and ":" in said else f"{said}, {zone}"
    return f"{_explained(expression)}, {zone}"


def _explained(expression: Expression) -> str:
    """In cronsim's words. Of two fields of the day of which either is enough it says "and", so each is said by itself."""
    minute, hour, day, month, weekday = expression.fields
    each = [expression.text]
    if expression.either_day:
        each = [f"{minute} {hour} {day} {month} *", f"{minute} {hour} * {month} {weekday}"]
    said = [CronSim(text, datetime(1970, 1, 1, tzinfo=UTC)).explain() for text in each]
    return "; also ".join(f"{text[:1].lower()}{text[1:]}" for text in said)


def _often(expression: Expression) -> str | None:
    """Rhythms that go on all day, every day."""
    minute, hour, *days = expression.fields
    if days != ["*", "*", "*"]:
        return None
    if minute.isdecimal() and (step := _even_step(hour, 24)) is not None:
        if step == 1:
            return f"every hour at minute {int(minute)}"
        return f"{_amount(step * 3600)} from 00:{int(minute):02d}"
    step = _even_step(minute, 60)
    return _amount(step * 60) if hour == "*" and step is not None else None


def _at_times(expression: Expression) -> str | None:
    """A few times of some days that have a short name."""
    days = _days(expression)
    if days is None or len(expression.times) > _MANY_TIMES:
        return None
    return f"{days} at {_list([f'{time // 3600:02d}:{time // 60 % 60:02d}' for time in expression.times])}"


def _days(expression: Expression) -> str | None:
    day, month, weekday = expression.fields[2:]
    if month != "*" or (day != "*" and weekday != "*"):
        return None
    if weekday != "*":
        return _weekdays(expression)
    if day == "*":
        return "daily"
    if not day.isdecimal():
        return None
    return f"on day {int(day)} of {'each month' if int(day) < 29 else 'the months that have it'}"


def _weekdays(expression: Expression) -> str | None:
    """`Fridays`, `Mondays to Fridays`, `Tuesdays and Thursdays`; None for a step."""
    if any(sign in expression.fields[4] for sign in "/*"):
        return None
    named = expression.weekdays
    if len(named) == 7:
        return "daily"
    if len(named) > 2 and named[-1] - named[0] == len(named) - 1:
        return f"{_WEEKDAYS[named[0]]} to {_WEEKDAYS[named[-1]]}"
    return _list([_WEEKDAYS[each] for each in named]) if len(named) <= _MANY_TIMES else None


def _even_step(field: str, whole: int) -> int | None:
    """The step of a field that goes evenly round; 1 of `*`."""
    if field == "*":
        return 1
    step = field.removeprefix("*/")
    return int(step) if step != field and step.isdecimal() and whole % int(step) == 0 else None


def _amount(seconds: int) -> str:
    """`every 15 minutes`, `every minute`, in the largest unit that is whole."""
    size, unit = next(((size, unit) for size, unit in _UNITS if seconds % size == 0), (1, "second"))
    number = seconds // size
    return f"every {unit}" if number == 1 else f"every {number} {unit}s"


def _clock_time(at: datetime) -> str:
    if at.microsecond:
        return f"{at:%H:%M:%S.%f}"
    return f"{at:%H:%M:%S}" if at.second else f"{at:%H:%M}"


def _list(words: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))
