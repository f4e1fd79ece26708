"""Owns how one schedule is written (the list of them: `schedule_list`): how it is doing, its last outcomes as signs, its next instants, what of
it was skipped. Pure; every instant comes from the service, none is computed here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING

from jobconsole.present.columns import Line, Piece, Tone, joined
from jobconsole.present.times import ago, brief_span, short
from jobcontract.states import ClockChange, Moves, OccurrenceState, Repeated, ScheduleStanding, Skipped, SkipPolicy

if TYPE_CHECKING:
    from jobcontract.schedules import Disabled, Planned, Recent, Rhythm, Schedule, ScheduleDetail, SkippedInstants

LABEL = 10
"""Cells of a label in the detail."""
MONEY_SIGN = "¤"
"""Marks a schedule that moves money."""
LATE_SECONDS = 5.0
"""Past its time by more than this and not started, something is late, for the service as well."""
STRIP_MOST = 30
"""Most outcomes of a strip."""
SKIPPED_FIRST = 2
"""How many of the newest skipped runs of instants stand before what else there is to know."""
STANDINGS: Mapping[ScheduleStanding, tuple[str, Tone]] = {
    ScheduleStanding.PARKED: ("✗ parked", Tone.BAD),
    ScheduleStanding.LATE: ("▲ late", Tone.WARN),
    ScheduleStanding.DISABLED: ("‖ disabled", Tone.WARN),
    ScheduleStanding.RETRYING: ("◌ retrying", Tone.WARN),
    ScheduleStanding.RUNNING: ("◆ running", Tone.MINE),
    ScheduleStanding.ON_TIME: ("● on time", Tone.GOOD),
    ScheduleStanding.UNPLANNED: ("? unplanned", Tone.QUIET),
    ScheduleStanding.MANUAL: ("○ manual", Tone.QUIET),
}
"""Sign and word of each standing, the most urgent first."""
URGENCY: Sequence[ScheduleStanding] = tuple(ScheduleStanding)
URGENT = frozenset({ScheduleStanding.PARKED, ScheduleStanding.LATE, ScheduleStanding.RETRYING})
"""Standings that need a look."""
WHERE: Mapping[ScheduleStanding, str] = dict.fromkeys(
    (ScheduleStanding.LATE, ScheduleStanding.UNPLANNED), "6 shows the Workers."
)
"""Where to look for the cause; the key is the place's, which no keymap changes."""
OUTCOMES: Mapping[str, tuple[str, Tone]] = {
    "✓": ("completed", Tone.GOOD),
    "△": ("completed, not at the first attempt", Tone.WARN),
    "✗": ("dead letter", Tone.BAD),
    "◆": ("running", Tone.MINE),
    "◌": ("waits for its next attempt", Tone.WARN),
    "·": ("not started", Tone.QUIET),
}
"""What each sign of a strip says."""
CLOCKS: Mapping[ClockChange, str] = {
    ClockChange.GAP_END: "at the end of the skipped hour",
    ClockChange.SHIFTED: "shifted by the skipped hour",
    ClockChange.FIRST: "the first of two",
    ClockChange.SECOND: "the second of two",
}
"""What a change of the clock made of an instant."""
_SKIPPED_BY: Mapping[SkipPolicy, str] = {
    SkipPolicy.MISFIRE_SKIP: "missed; the policy skips what was missed",
    SkipPolicy.MISFIRE_ONCE: "missed; one run for all that was missed",
    SkipPolicy.MISFIRE_EACH_INTERVAL: "missed; older than the newest that run",
    SkipPolicy.SKIPPED_HOUR: "the clock leaves that time out",
    SkipPolicy.REPEATED_HOUR: "the clock shows that time twice; it runs at the other one",
    SkipPolicy.RETENTION: "older than what is kept",
}
_GAPS: Mapping[Skipped, str] = {
    Skipped.SKIP: "does not run",
    Skipped.RUN_AT_GAP_END: "runs at the end of that hour",
    Skipped.SHIFT: "runs later by that hour",
}
_REPEATS: Mapping[Repeated, str] = {
    Repeated.FIRST: "runs at the first of the two",
    Repeated.SECOND: "runs at the second of the two",
    Repeated.BOTH: "runs at both",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class At:
    """From where schedules are looked at: when, by the service's clock, and in which zone."""

    now: datetime
    zone: tzinfo


# Times and outcomes


def next_words(schedule: Schedule, at: At) -> str:
    """`in 3 h 12 min`, `now`; a dash where none is to come."""
    if schedule.next_at is None:
        return "–"
    seconds = (schedule.next_at - at.now).total_seconds()
    return f"in {brief_span(seconds)}" if seconds >= 1 else "now"


def signs(recent: Sequence[Recent], room: int = STRIP_MOST) -> list[str]:
    """One sign an outcome, the newest last; as many of the newest as there is room for."""
    return [_sign(each) for each in recent][-room:] if room > 0 else []


def _sign(recent: Recent) -> str:
    if recent.state is OccurrenceState.COMPLETED:
        return "✓" if recent.attempts <= 1 else "△"
    if recent.state is OccurrenceState.SCHEDULED:
        return "◌" if recent.attempts else "·"
    return "✗" if recent.state is OccurrenceState.DEAD_LETTER else "◆"


def most_urgent(schedules: Sequence[Schedule]) -> Schedule | None:
    """The first of those that stand most urgently; None where none needs a look."""
    listed = [each for each in schedules if each.standing in URGENT]
    return min(listed, key=lambda each: URGENCY.index(each.standing), default=None)


# The detail


def schedule_lines(schedule: Schedule, detail: ScheduleDetail | None, at: At) -> list[Line]:
    """Everything of one schedule, what matters most first: how it is doing, when it runs next, what was missed."""
    return [
        *standing_lines(schedule, at),
        _labelled("rhythm", Piece(schedule.rhythm.words if schedule.rhythm is not None else "started by a person")),
        *_next_lines(schedule, detail, at),
        *_missed_lines(schedule),
        *_skipped_lines("skipped", detail.skipped[:SKIPPED_FIRST] if detail is not None else (), at),
        _labelled("last", *_last_pieces(schedule, at)),
        *_outcome_lines(schedule),
        *_clock_lines(schedule.rhythm),
        *_work_lines(schedule),
        *_skipped_lines("earlier", detail.skipped[SKIPPED_FIRST:] if detail is not None else (), at),
    ]


def standing_lines(schedule: Schedule, at: At) -> list[Line]:
    """Sign, word and sentence of how it is doing; who switched it off; how much of it needs a look."""
    word, tone = STANDINGS[schedule.standing]
    sentence = standing_sentence(schedule, at)
    where = WHERE.get(schedule.standing)
    told = Piece(f"{word[0]} {sentence}" if sentence else word, tone)
    lines: list[Line] = [(told, Piece(f" {where}", Tone.QUIET)) if where else (told,)]
    if schedule.disabled is not None:
        since = Piece(f" · {ago(schedule.disabled.at, at.now)}", Tone.QUIET)
        off = (Piece(f"‖ {disabled_text(schedule.disabled, at)}", Tone.WARN), since)
        # By whom and why says more than the service's sentence that it is so.
        lines = [off] if schedule.standing is ScheduleStanding.DISABLED else [*lines, off]
    if schedule.moves is Moves.MONEY:
        lines.append(
            (Piece(f"{MONEY_SIGN} moves money: only a recovery that finance confirms replays it", Tone.CREDIT),)
        )
    counted = joined(
        [
            Piece(f"{_most(schedule.waiting)} due and not started" if schedule.waiting else "", Tone.WARN),
            Piece(f"{_most(schedule.dead)} dead {'letter' if schedule.dead == 1 else 'letters'}", Tone.BAD)
            if schedule.dead
            else Piece(""),
        ]
    )
    return [*lines, counted] if counted else lines


def standing_sentence(schedule: Schedule, at: At) -> str:
    """The service's sentence; where all is well it is counted on here, so that it does not differ from what stands below."""
    if schedule.standing is not ScheduleStanding.ON_TIME or schedule.next_at is None:
        return schedule.standing_words
    done = schedule.last_completed_at
    last = f"Last completed {ago(done, at.now)}." if done is not None else "It has not been completed yet."
    return f"On time. Runs next {next_words(schedule, at)}. {last}"


def disabled_text(off: Disabled, at: At) -> str:
    """`disabled by o.lind until 18:00: "bank down"`, in the reader's zone."""
    until = f" until {short(off.until, at.zone, at.now)}" if off.until is not None else ""
    return f'disabled by {off.by.id}{until}: "{off.reason}"'


def overdue(schedules: Sequence[Schedule], now: datetime) -> bool:
    """Whether one should have run since it was told of, or needs a look already: nobody need tell when nothing happens."""
    return any(
        each.standing in URGENT
        or each.standing is ScheduleStanding.RUNNING
        or (each.next_at is not None and (now - each.next_at).total_seconds() > LATE_SECONDS)
        for each in schedules
    )


def _most(count: int) -> str:
    return f"{count:,}" if count < 1_000 else "1,000 or more"


def _next_lines(schedule: Schedule, detail: ScheduleDetail | None, at: At) -> list[Line]:
    if detail is None:
        return [_labelled("next", Piece(next_words(schedule, at)))]
    lines: list[Line] = []
    for planned in detail.next:
        off = Piece("  ‖ disabled then" if _off_at(schedule, planned.at) else "", Tone.WARN)
        line = planned_line(planned, zone_of(schedule.rhythm), at)
        lines.append(_labelled("next" if not lines else "", *line, *([off] if off.text else [])))
    if detail.next_words or not lines:
        why = detail.next_words or "Nothing is to come."
        lines.append(_labelled("" if lines else "next", Piece(why, Tone.QUIET)))
    return lines


def _off_at(schedule: Schedule, instant: datetime) -> bool:
    """Whether the schedule is disabled until after that instant, which then starts nothing."""
    off = schedule.disabled
    return off is not None and (off.until is None or instant < off.until)


def zone_of(rhythm: Rhythm | None) -> str:
    """The zone that a rhythm is told in; empty without one, and in UTC."""
    return rhythm.zone if rhythm is not None and not is_utc(rhythm.zone) else ""


def is_utc(zone: str) -> bool:
    """Whether a zone is UTC, so that its clock says nothing more."""
    return zone.upper() in ("UTC", "ETC/UTC", "Z")


def planned_line(planned: Planned, zone: str, at: At) -> Line:
    """`2026-10-25 00:30Z  Sun 01:30 BST  in 3 h · ▲ 01:30 comes twice; the first runs`: what does not run is marked."""
    wall = wall_text(planned, zone)
    told = Piece(f"▲ {planned.words}" if planned.words else "", Tone.WARN)
    if not planned.runs:
        # A time that the clock leaves out has no instant: only what stood on the wall.
        skipped = planned.offset is None and planned.local is not None
        what = f"{planned.local:%Y-%m-%d %H:%M}" if skipped else f"{utc_text(planned.at)}  {wall}".rstrip()
        return Piece(f"– {what}  ", Tone.QUIET), told if told.text else Piece("▲ does not run", Tone.WARN)
    seconds = (planned.at - at.now).total_seconds()
    left = f"in {brief_span(seconds)}" if seconds >= 1 else "now"
    return (
        Piece(utc_text(planned.at), Tone.STRONG),
        Piece(f"  {wall}" if wall else ""),
        Piece(f"  {left}", Tone.QUIET),
        Piece(reader_text(planned, at), Tone.QUIET),
        *((Piece("  "), told) if told.text else ()),
    )


def utc_text(instant: datetime) -> str:
    """`2026-10-25 00:30Z`; with its seconds where there are some."""
    there = instant.astimezone(UTC)
    return f"{there:%Y-%m-%d %H:%M}{f':{there:%S}' if there.second or there.microsecond else ''}Z"


def wall_text(planned: Planned, zone: str) -> str:
    """`Sun 01:30 BST`: on the zone's clock; with its date where that is another one, empty without a zone."""
    if planned.local is None or not zone:
        return ""
    wall = planned.local
    form = "%a %H:%M" if wall.date() == planned.at.astimezone(UTC).date() else "%a %Y-%m-%d %H:%M"
    seconds = f"{wall:%S}" if wall.second else ""
    return f"{wall.strftime(form)}{f':{seconds}' if seconds else ''} {planned.abbreviation or zone}"


def reader_text(planned: Planned, at: At) -> str:
    """` · Sun 02:30 CET for you`: on the reader's clock, where that is neither UTC nor the zone's."""
    there = planned.at.astimezone(at.zone)
    if there.utcoffset() == timedelta(0) or there.replace(tzinfo=None) == planned.local:
        return ""
    return f" · {there:%a %H:%M} {there.tzname()} for you"


def _missed_lines(schedule: Schedule) -> list[Line]:
    if schedule.misfire is None:
        return []
    return [_labelled("missed", Piece(schedule.misfire.words))]


def _last_pieces(schedule: Schedule, at: At) -> Sequence[Piece]:
    told = (
        ("scheduled", schedule.last_scheduled_at),
        ("started", schedule.last_started_at),
        ("completed", schedule.last_completed_at),
    )
    pieces = [Piece(f"{word} {ago(when, at.now)}" if when is not None else f"never {word}") for word, when in told]
    return joined(pieces)


def _skipped_lines(label: str, skipped: Sequence[SkippedInstants], at: At) -> list[Line]:
    return [_labelled("" if row else label, *skipped_line(each, at)) for row, each in enumerate(skipped)]


def skipped_line(skipped: SkippedInstants, at: At) -> Line:
    """`3 from 2026-10-25 00:30Z to 02:30Z · missed; …`: which instants never ran, why, and what ran in their place."""
    first, last = utc_text(skipped.first_at), utc_text(skipped.last_at)
    if skipped.count == 1:
        span = first
    else:
        span = f"{skipped.count:,} from {first} to {last.partition(' ')[2] if last[:10] == first[:10] else last}"
    local = f" ({skipped.local:%H:%M} {skipped.zone})" if skipped.local is not None else ""
    merged = f" · ran once, as {utc_text(skipped.merged_into)}" if skipped.merged_into is not None else ""
    cause = skip_words(skipped).rstrip(".")
    when = f" · decided {ago(skipped.decided_at, at.now)}"
    return (Piece(f"{span}{local}", Tone.WARN), Piece(f" · {cause}{merged}"), Piece(when, Tone.QUIET))


def skip_words(skipped: SkippedInstants) -> str:
    """Why instants have no occurrence, where the service does not say it itself."""
    return skipped.cause or _SKIPPED_BY[skipped.policy]


def _outcome_lines(schedule: Schedule) -> list[Line]:
    """The strip in colours, and under it what its signs say."""
    if not schedule.recent:
        return [_labelled("outcomes", Piece("none so far", Tone.QUIET))]
    strip = signs(schedule.recent)
    legend = [Piece(f"{sign} {word}", tone) for sign, (word, tone) in OUTCOMES.items() if sign in strip]
    return [
        _labelled("outcomes", *(Piece(sign, OUTCOMES[sign][1]) for sign in strip), Piece("  newest right", Tone.QUIET)),
        _labelled("", *joined(legend, "  ")),
    ]


def clock_words(rhythm: Rhythm | None) -> Sequence[str]:
    """What both changes of the clock do to it, in words; none of a rhythm without a wall clock that changes."""
    if rhythm is None or is_utc(rhythm.zone):
        return ()
    told = []
    if rhythm.skipped is not None:
        told.append(f"a time that the clock leaves out {_GAPS[rhythm.skipped]} ({rhythm.skipped})")
    if rhythm.repeated is not None:
        told.append(f"a time that comes twice {_REPEATS[rhythm.repeated]} ({rhythm.repeated})")
    return told


def _clock_lines(rhythm: Rhythm | None) -> list[Line]:
    told = clock_words(rhythm)
    lines = [_labelled("clock" if not at else "", Piece(words)) for at, words in enumerate(told)]
    if rhythm is not None and rhythm.reason:
        lines.append(_labelled("zone", Piece(f"{rhythm.zone}: {rhythm.reason}")))
    return lines


def _work_lines(schedule: Schedule) -> list[Line]:
    batch = f"in batches of {schedule.batch_size:,}{', each one transaction' if schedule.batch_path else ''}"
    bounds = (
        f"{schedule.attempts:,} {'attempt' if schedule.attempts == 1 else 'attempts'} of at most "
        f"{brief_span(schedule.bound)} · kept {brief_span(schedule.retention)} · alone under the lock {schedule.lock}"
    )
    lines = [
        _labelled("runs", Piece(f"{schedule.runs_title} ({schedule.runs})"), Piece(f" · {batch}", Tone.QUIET)),
        _labelled("on", Piece(schedule.selection)),
        _labelled("bounds", Piece(bounds)),
    ]
    if schedule.cursor is not None:
        lines.append(_labelled("cursor", Piece(f"{schedule.cursor} stands at {schedule.position or 'its beginning'}")))
    return lines


def _labelled(label: str, *pieces: Piece) -> Line:
    return (Piece(label.ljust(LABEL), Tone.QUIET), *pieces)
