"""Owns how a simulated schedule is written and asked for: the form's fields read into an order, a course with the fate of
each instant, what differs by the edit. Pure; the service computes every instant.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from pydantic import ValidationError

from jobconsole.present.columns import Column, Line, Piece, Tone, joined
from jobconsole.present.equivalent import equivalent, typed_instant
from jobconsole.present.schedules import CLOCKS, At, is_utc, utc_text
from jobconsole.present.times import brief_span, local, read_moment
from jobcontract.operating import Fate
from jobcontract.simulation import DAYS_MOST, DOWN_MOST, Down, Edit, SimulationOrder
from jobcontract.states import MisfirePolicy, Repeated, Skipped

if TYPE_CHECKING:
    from jobcontract.schedules import Schedule
    from jobcontract.simulation import Course, SimulatedInstant, Simulation

UNSAVED = "Nothing is saved: the service computes it and forgets it."
FATES: Mapping[Fate, tuple[str, Tone]] = {
    Fate.FIRES: ("✓ fires", Tone.GOOD),
    Fate.MADE_UP: ("↻ made up", Tone.MINE),
    Fate.SKIPPED: ("– skipped", Tone.WARN),
    Fate.MERGED: ("≡ merged", Tone.WARN),
    Fate.GAP: ("▲ gap", Tone.WARN),
    Fate.REPEAT_LEFT: ("▲ repeat, left", Tone.WARN),
}
"""Sign and word of what becomes of an instant."""
_LENGTH = re.compile(r"(?P<number>\d{1,9})\s*(?P<unit>s|m|min|h|d|)", re.ASCII | re.IGNORECASE)
_UNITS = {"": 1, "s": 1, "m": 60, "min": 60, "h": 3_600, "d": 86_400}


@dataclass(frozen=True, slots=True, kw_only=True)
class SimField:
    """One line of the form; `choices`: what can stand there."""

    name: str
    label: str
    choices: tuple[str, ...] = ()
    hint: str = ""


TIMES: tuple[SimField, ...] = (
    SimField(name="since", label="from", hint="-1d, 2026-10-24, yesterday 18:00"),
    SimField(name="until", label="to", hint="+2d, 2026-10-27"),
    SimField(name="down", label="down", hint="A..B, several with ; between them"),
)
CRON: tuple[SimField, ...] = (
    SimField(name="cron", label="cron", hint="30 1 * * *"),
    SimField(name="zone", label="zone", hint="Europe/London"),
    SimField(name="skipped", label="left-out hour", choices=tuple(Skipped)),
    SimField(name="repeated", label="repeated hour", choices=tuple(Repeated)),
)
EVERY: tuple[SimField, ...] = (
    SimField(name="every", label="every", hint="15m, 24h, 90s"),
    SimField(name="anchor", label="counted from", hint="2026-01-01"),
)
MISSED: tuple[SimField, ...] = (
    SimField(name="misfire", label="missed", choices=tuple(MisfirePolicy)),
    SimField(name="misfire_after", label="missed after", hint="10m"),
    SimField(name="newest", label="newest", hint="with each-interval: how many run at most"),
)


class Unfit(Exception):
    """A field that cannot be read; `field` names it."""

    def __init__(self, field: str, sentence: str) -> None:
        super().__init__(sentence)
        self.field = field


def fields_of(schedule: Schedule) -> tuple[SimField, ...]:
    """The fields of the form for a schedule: its own kind of rhythm, then what becomes of missed instants."""
    rhythm = schedule.rhythm
    if rhythm is None:
        return TIMES
    return (*TIMES, *(EVERY if rhythm.every is not None else CRON), *MISSED)


def prefilled(schedule: Schedule, at: At) -> dict[str, str]:
    """What stands in the form at first: yesterday to the day after tomorrow, and the record's own rhythm and policy."""
    there = at.now.astimezone(at.zone)
    first, last = there.date() - timedelta(days=1), there.date() + timedelta(days=2)
    given = {"since": f"{first:%Y-%m-%d}", "until": f"{last:%Y-%m-%d}", "down": ""}
    rhythm, misfire = schedule.rhythm, schedule.misfire
    if rhythm is not None:
        given |= {
            "cron": rhythm.cron or "",
            "zone": rhythm.zone,
            "skipped": rhythm.skipped or "",
            "repeated": rhythm.repeated or "",
            "every": length_text(rhythm.every) if rhythm.every is not None else "",
            "anchor": f"{rhythm.anchor.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}" if rhythm.anchor is not None else "",
        }
    if misfire is not None:
        newest = str(misfire.newest) if misfire.newest is not None else ""
        given |= {"misfire": misfire.policy, "misfire_after": length_text(misfire.after), "newest": newest}
    return {each.name: given.get(each.name, "") for each in fields_of(schedule)}


def length_text(seconds: float) -> str:
    """A length of time as it is typed: `24h`, `10m`, `90s`."""
    whole = int(seconds)
    for size, unit in ((3_600, "h"), (60, "m")):
        if whole and whole % size == 0:
            return f"{whole // size}{unit}"
    return f"{whole}s"


def read_form(typed: Mapping[str, str], first: Mapping[str, str], at: At) -> SimulationOrder:
    """What was typed as the service is asked for it; only what differs from the record is an edit. Raises `Unfit`."""
    since, until = _moment("since", typed["since"], at), _moment("until", typed["until"], at)
    if until <= since:
        raise Unfit("until", "It ends before it begins: type a later time.")
    if until - since > timedelta(days=DAYS_MOST):
        raise Unfit("until", f"At most {DAYS_MOST:,} days can be simulated at once.")
    changed = {name: typed[name].strip() for name in typed if typed[name].strip() != first[name].strip()}
    edits = {name: text for name, text in changed.items() if name not in ("since", "until", "down") and text}
    try:
        edit = Edit(**{name: _value(name, text, at) for name, text in edits.items()}) if edits else None  # type: ignore[arg-type]  # each by its own name
    except ValidationError as wrong:
        error = wrong.errors()[0]
        raise Unfit(str(error["loc"][0]), f"{error['msg']}.") from None
    return SimulationOrder(since=since, until=until, down=_downs(typed["down"], at), edit=edit)


def _moment(field: str, text: str, at: At) -> datetime:
    typed = read_moment(text, at.zone, at.now)
    if typed.instant is None:
        raise Unfit(field, typed.sentence)
    return typed.instant


def _downs(text: str, at: At) -> tuple[Down, ...]:
    parts = [part.strip() for part in text.split(";") if part.strip()]
    if len(parts) > DOWN_MOST:
        raise Unfit("down", f"At most {DOWN_MOST} stretches of downtime.")
    downs = []
    for part in parts:
        since, dots, until = part.partition("..")
        if not dots:
            raise Unfit("down", f"{part[:40]} is no stretch: type A..B, like 2026-10-25 00:00..2026-10-25 04:00.")
        down = Down(since=_moment("down", since, at), until=_moment("down", until, at))
        if down.until <= down.since:
            raise Unfit("down", f"{part[:40]} ends before it begins.")
        downs.append(down)
    return tuple(downs)


def _value(name: str, text: str, at: At) -> object:
    if name == "anchor":
        return _moment(name, text, at)
    if name in ("every", "misfire_after"):
        found = _LENGTH.fullmatch(text)
        if found is None or not int(found["number"]):
            raise Unfit(name, f"{text[:20]} is no length of time: type 90s, 15m, 24h.")
        return int(found["number"]) * _UNITS[found["unit"].lower()]
    if name == "newest":
        if not text.isdecimal() or not 1 <= int(text) <= 10_000:
            raise Unfit(name, "A whole number from 1 to 10,000.")
        return int(text)
    kinds: Mapping[str, type[Skipped] | type[Repeated] | type[MisfirePolicy]] = {
        "skipped": Skipped,
        "repeated": Repeated,
        "misfire": MisfirePolicy,
    }
    kind = kinds.get(name)
    if kind is None:
        return text
    if text not in list(kind):
        raise Unfit(name, f"{text[:20]} is none of: {', '.join(kind)}.")
    return kind(text)


def command_text(schedule: str, order: SimulationOrder, where: Mapping[str, str]) -> str:
    """The headless command that simulates the same."""
    edit = order.edit.model_dump(exclude_none=True) if order.edit is not None else {}
    options: dict[str, str | None] = {"from": typed_instant(order.since), "to": typed_instant(order.until)}
    for name, value in edit.items():
        text = typed_instant(value) if isinstance(value, datetime) else str(value)
        if name in ("every", "misfire_after"):
            text = length_text(float(value))
        options[name.replace("_", "-")] = text
    downs = [
        part for each in order.down for part in ("--down", f"{typed_instant(each.since)}..{typed_instant(each.until)}")
    ]
    return equivalent(["schedules", "simulate", schedule, *downs], options, where=where)


# A course


def course_columns() -> tuple[Column, ...]:
    """The columns of one course."""
    return (
        Column(id="differs", label="", least=1, whole=True),
        Column(id="fate", label="fate", least=9, whole=True),
        Column(id="at", label="instant (UTC)", least=17, uncut=True, most=44, yields=4),
        Column(id="wall", label="its clock", least=9, uncut=True, most=22, yields=3),
        Column(id="runs", label="what becomes of it", least=10, yields=1),
    )


def instant_key(instant: SimulatedInstant) -> str:
    """What an instant is known by in its course; the two of a repeated hour have their own."""
    return f"{instant.at.isoformat()} {instant.fate}"


def course_cells(instant: SimulatedInstant, simulation: Simulation) -> Mapping[str, Piece]:
    """The cells of one instant, or of a run of neighbours with one fate."""
    word, tone = FATES[instant.fate]
    differs = any(instant.at <= each <= instant.last_at for each in simulation.differs)
    return {
        "differs": Piece("≠" if differs else "", Tone.CREDIT),
        "fate": Piece(word, tone),
        "at": Piece(span_text(instant), Tone.STRONG),
        "wall": Piece(wall_of(instant, simulation.zone)),
        "runs": Piece(became_text(instant), Tone.WARN if instant.clock is not None else Tone.PLAIN),
    }


def span_text(instant: SimulatedInstant) -> str:
    """`2026-10-25 00:30Z`; `12 from 2026-10-25 00:30Z to 03:15Z` of a run of neighbours."""
    first, last = utc_text(instant.at), utc_text(instant.last_at)
    if instant.count <= 1:
        return first
    return f"{instant.count:,} from {first} to {last.partition(' ')[2] if last[:10] == first[:10] else last}"


def wall_of(instant: SimulatedInstant, zone: str) -> str:
    """`Sun 01:30 BST`: on the zone's clock; empty in UTC and of a run of neighbours."""
    if instant.local is None or instant.count > 1 or is_utc(zone):
        return ""
    return f"{instant.local:%a %H:%M} {instant.abbreviation or zone}"


def became_text(instant: SimulatedInstant) -> str:
    """When it runs where that is not its own time, and what a policy or the clock says of it."""
    told = []
    if instant.runs_at is not None and instant.fate is not Fate.FIRES:
        told.append(f"runs {utc_text(instant.runs_at)}")
    if instant.merged_into is not None:
        told.append(f"as {utc_text(instant.merged_into)}")
    if instant.words:
        told.append(instant.words)
    elif instant.clock is not None:
        told.append(CLOCKS[instant.clock])
    return " · ".join(told)


def course_lines(course: Course, name: str, *, chosen: bool) -> list[Line]:
    """What stands over a course: whose it is, its rhythm and policy, how many instants have which fate."""
    head = Piece(f"[{name}]" if chosen else name, Tone.STRONG if chosen else Tone.QUIET)
    more = "" if course.whole else " · the list ends before the stretch does"
    counts = [
        Piece(f"{FATES[each.fate][0]} {each.count:,}", FATES[each.fate][1]) for each in course.counts if each.count
    ]
    return [
        (head, Piece(f"  {course.rhythm}"), Piece(more, Tone.WARN)),
        (Piece(course.misfire or "missed instants do not matter", Tone.QUIET),),
        joined(counts, "  ") if counts else (Piece("nothing is due in that time", Tone.QUIET),),
    ]


def simulation_lines(simulation: Simulation, order: SimulationOrder) -> list[Line]:
    """What was simulated, that nothing is saved, and in a sentence what the edit changes."""
    stretch = f"{utc_text(simulation.since)} to {utc_text(simulation.until)}"
    down = "; ".join(f"{utc_text(each.since)} to {utc_text(each.until)}" for each in order.down)
    lost = sum((each.until - each.since).total_seconds() for each in order.down)
    differs = simulation.edited is not None and bool(simulation.differs)
    lines: list[Line] = [
        joined(
            [
                Piece(stretch, Tone.STRONG),
                Piece(f"{simulation.zone}, tzdata {simulation.tzdata}", Tone.QUIET),
            ]
        ),
        (Piece(f"‖ down {down} ({brief_span(lost)})", Tone.WARN),) if down else (),
        (Piece(simulation.words, Tone.CREDIT if differs else Tone.PLAIN),) if simulation.words else (),
        (Piece(UNSAVED, Tone.QUIET),),
    ]
    return [each for each in lines if each]


def instant_lines(instant: SimulatedInstant, simulation: Simulation, at: At) -> Sequence[Line]:
    """One instant in full."""
    word, tone = FATES[instant.fate]
    wall, became = wall_of(instant, simulation.zone), became_text(instant)
    here = local(instant.at, at.zone)
    return [
        joined(
            [
                Piece(word, tone),
                Piece(span_text(instant), Tone.STRONG),
                Piece(wall),
                Piece(f"{here} for you", Tone.QUIET),
            ]
        ),
        *([(Piece(became),)] if became else []),
    ]
