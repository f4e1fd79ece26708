"""Owns how the overview is written: what needs somebody first, then queues by their oldest item, then what runs, each line
with the key of its place; the last day as sparklines. Pure.

What a role may not read is left out, never told as none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from jobconsole.present.alarms import KINDS, brief_sentence
from jobconsole.present.amounts import amount_text
from jobconsole.present.columns import Column, Line, Piece, Tone, plain, whole_pieces, width_of
from jobconsole.present.schedules import STANDINGS
from jobconsole.present.sparkline import spark_words, sparkline
from jobconsole.present.stops import SCOPES
from jobconsole.present.times import age_short
from jobcontract.operating import AlarmKind
from jobcontract.states import ScheduleStanding

if TYPE_CHECKING:
    from jobconsole.present.schedules import At
    from jobcontract.overview import JobFigures, Overview, QueueLine

WIDE = 120
"""From this width on the names of places stand beside their keys, and a sparkline is twice as wide."""
OPEN_MOST = 10_000
"""Up to which the service counts the open items of a queue."""
LABEL = 10
"""Cells of a sparkline's label."""


class Goal(StrEnum):
    """Where a line of the overview leads."""

    STOPS = "stops"
    MONEY = "money"
    ALARM = "alarm"
    SCHEDULE = "schedule"
    SCHEDULES = "schedules"
    DEAD = "dead"
    UNCERTAIN = "uncertain"
    WORKERS = "workers"
    QUEUE = "queue"
    RECOVERIES = "recoveries"
    PLANS = "plans"
    FAILED_JOBS = "failed-jobs"
    JOBS = "jobs"


class Part(StrEnum):
    """The parts of the overview, in their order; the value is what stands above one."""

    NEEDS = "needs somebody"
    QUEUES = "queues, the oldest item first"
    RUNS = "what runs"


PLACES: Mapping[Goal, str] = {
    Goal.STOPS: "stops",
    Goal.MONEY: "released",
    Goal.ALARM: "alarms",
    Goal.SCHEDULE: "schedules",
    Goal.SCHEDULES: "schedules",
    Goal.DEAD: "schedules",
    Goal.UNCERTAIN: "queues",
    Goal.WORKERS: "workers",
    Goal.QUEUE: "queues",
    Goal.RECOVERIES: "recoveries",
    Goal.PLANS: "plans",
    Goal.FAILED_JOBS: "jobs",
    Goal.JOBS: "jobs",
}
"""The place of each goal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lead:
    """One line of the overview, and where it leads."""

    goal: Goal | None
    """None: it heads a part, and leads nowhere."""
    part: Part
    id: str = ""
    """Of the alarm, schedule or queue."""
    word: Piece
    texts: tuple[str, ...]
    """What it says, the longest form first: the first that fits is shown; the last is cut where not even it does."""
    tone: Tone = Tone.PLAIN
    when: str = ""

    @property
    def key(self) -> str:
        """By which the line is known, whatever stands around it."""
        return f"#{self.part}:{self.id}" if self.goal is None else f"{self.goal}:{self.id}"


def leads_of(overview: Overview, at: At, *, spaced: bool) -> list[Lead]:
    """Every line, what needs somebody first, with a line that heads each further part; `spaced`: and a blank one."""
    parts = (
        list(_needs(overview, at)),
        [_queue(each, at) for each in overview.queues],
        list(_running(overview)),
    )
    leads: list[Lead] = []
    for part in parts:
        if part and leads:
            leads += [_heading(part[0].part, "")] if spaced else []
            leads.append(_heading(part[0].part, part[0].part.value))
        leads += part
    return leads


def _heading(part: Part, words: str) -> Lead:
    return Lead(goal=None, part=part, id=words, word=Piece(""), texts=(words,), tone=Tone.QUIET)


def _needs(overview: Overview, at: At) -> Iterator[Lead]:
    if overview.money_stopped is not None:
        yield _need(Goal.MONEY, "", Piece("■ money", Tone.BAD), f"All money is stopped: {overview.money_stopped}")
    for stop in overview.stops:
        word = Piece(f"■ {SCOPES[stop.scope]}", Tone.BAD)
        yield _need(
            Goal.STOPS,
            f"{stop.scope}:{stop.name}",
            word,
            f"{stop.title} · {stop.by.id}: {stop.reason}",
            age_short(stop.at, at.now),
        )
    for alarm in overview.alarms:
        if alarm.kind is not AlarmKind.STOPPED or not overview.stops:
            words, since = f"{alarm.subject} · {brief_sentence(alarm)}", age_short(alarm.opened_at, at.now)
            yield _need(Goal.ALARM, alarm.id, Piece(*KINDS[alarm.kind]), words, since)
    yield from _urgent(overview)
    yield from _counted(overview)


def _urgent(overview: Overview) -> Iterator[Lead]:
    """Schedules that need a look, without those of which an alarm above says the same."""
    same = {ScheduleStanding.LATE: AlarmKind.LATE, ScheduleStanding.PARKED: AlarmKind.PARKED}
    told = {(alarm.schedule, alarm.kind) for alarm in overview.alarms}
    listed = [each.standing for each in overview.urgent]
    for each in overview.urgent:
        if (each.id, same.get(each.standing)) not in told:
            yield _need(Goal.SCHEDULE, each.id, Piece(*STANDINGS[each.standing]), f"{each.id} · {each.words}")
    known = (
        (ScheduleStanding.PARKED, overview.parked),
        (ScheduleStanding.LATE, overview.late),
    )
    for standing, count in known:
        more = (count or 0) - listed.count(standing)
        if more > 0:
            words = f"{more:,} {'more ' if listed.count(standing) else ''}{_plural(more, 'schedule')}"
            yield _need(Goal.SCHEDULES, standing, Piece(*STANDINGS[standing]), words)


def _counted(overview: Overview) -> Iterator[Lead]:
    dead, unknown, silent, off = overview.dead, overview.uncertain, overview.workers_silent, overview.disabled
    if dead:
        words = f"{dead:,} {_plural(dead, 'dead letter')}: no machine tries {'it' if dead == 1 else 'them'} again"
        yield _need(Goal.DEAD, "", Piece("✗ dead", Tone.BAD), words)
    jobs = overview.jobs
    failed = jobs.unresolved if jobs is not None else 0
    if jobs is not None and failed:
        words = f"{_at_least(jobs)}{failed:,} {_plural(failed, 'failure')} that nobody resolved, and no retry mended"
        yield _need(Goal.FAILED_JOBS, "", Piece("✗ jobs", Tone.BAD), words)
    if unknown:
        words = f"{unknown:,} {_plural(unknown, 'payout')}: nobody knows whether the bank paid"
        yield _need(Goal.UNCERTAIN, "", Piece("? uncertain", Tone.WARN), words)
    told = any(alarm.kind is AlarmKind.WORKER_MISSING for alarm in overview.alarms)
    if silent and not told:
        words = f"{silent:,} {_plural(silent, 'Worker')} not heard of"
        yield _need(Goal.WORKERS, "silent", Piece("✗ silent", Tone.BAD), words)
    if overview.workers == 0 and not told:
        yield _need(Goal.WORKERS, "none", Piece("✗ no Worker", Tone.BAD), "No Worker is live: what is due waits.")
    if off:
        words = f"{off:,} {_plural(off, 'schedule')} switched off by a person"
        yield _need(Goal.SCHEDULES, ScheduleStanding.DISABLED, Piece("‖ disabled", Tone.WARN), words)


def _need(goal: Goal, identifier: str, word: Piece, words: str, when: str = "") -> Lead:
    return Lead(goal=goal, part=Part.NEEDS, id=identifier, word=word, texts=(words,), when=when)


def _queue(line: QueueLine, at: At) -> Lead:
    waits = bool(line.open)
    return Lead(
        goal=Goal.QUEUE,
        part=Part.QUEUES,
        id=line.queue,
        word=Piece("○ queue" if waits else "✓ queue", Tone.PLAIN if waits else Tone.GOOD),
        texts=_queue_forms(line),
        tone=Tone.PLAIN if waits else Tone.QUIET,
        when=age_short(line.oldest_at, at.now) if line.oldest_at is not None else "",
    )


def _queue_forms(line: QueueLine) -> tuple[str, ...]:
    """`Supplier payouts · 12 open · 9 unclaimed · GBP 115,907.73 · 2 more currencies`, ever shorter; no figure is cut."""
    if not line.open:
        return (f"{line.title} · nothing open",)
    count = f"{line.open:,} or more" if line.open >= OPEN_MOST else f"{line.open:,}"
    free = f"{line.unclaimed:,} unclaimed" if line.unclaimed else "all claimed"
    amounts = [amount_text(each) for each in line.unclaimed_out]
    forms = [[line.title, f"{count} open", free, *amounts]]
    for shown in range(len(amounts), 0, -1):
        rest = len(amounts) - shown
        more = [f"{rest} more {'currency' if rest == 1 else 'currencies'}"] if rest else []
        forms += [
            [line.title, free, *amounts[:shown], *more],
            [line.title, free, *amounts[:shown], *(["…"] if rest else [])],
        ]
    if amounts:
        forms.append([line.title, f"{amounts[0]} unclaimed", *(["…"] if len(amounts) > 1 else [])])
    forms += [[line.title, f"{count} open", free], [line.title, free], [line.title]]
    return tuple(" · ".join(form) for form in forms)


def _at_least(jobs: JobFigures) -> str:
    return "" if jobs.whole else "at least "


def _running(overview: Overview) -> Iterator[Lead]:
    told: list[tuple[Goal, Piece, tuple[str, ...]]] = []
    if overview.processing is not None:
        busy = overview.processing
        again = f"{overview.retrying:,} waiting for the next attempt" if overview.retrying else ""
        words = f"{busy:,} {_plural(busy, 'occurrence')} running" if busy else "no occurrence runs now"
        told.append((Goal.SCHEDULES, Piece("◆ schedules", Tone.MINE if busy else Tone.QUIET), _both(words, again)))
    if (jobs := overview.jobs) is not None:
        waiting = f"{jobs.pending:,} pending" if jobs.pending else ""
        words = (
            f"{_at_least(jobs)}{jobs.running:,} {_plural(jobs.running, 'job')} running"
            if jobs.running
            else "no job runs now"
        )
        told.append((Goal.JOBS, Piece("◆ jobs", Tone.MINE if jobs.running else Tone.QUIET), _both(words, waiting)))
    if overview.workers is not None:
        draining = f"{overview.workers_draining:,} draining" if overview.workers_draining else ""
        tone = Tone.GOOD if overview.workers else Tone.BAD
        told.append((Goal.WORKERS, Piece("● Workers", tone), _both(f"{overview.workers:,} live", draining)))
    for goal, word, count in (
        (Goal.RECOVERIES, "▶ recoveries", overview.recoveries),
        (Goal.PLANS, "▶ plans", overview.plans),
    ):
        if count is not None:
            words = f"{count:,} open or being applied" if count else "none open, none being applied"
            told.append((goal, Piece(word, Tone.MINE if count else Tone.QUIET), (words,)))
    for goal, piece, texts in told:
        yield Lead(goal=goal, part=Part.RUNS, id="runs", word=piece, texts=texts)


def _both(words: str, more: str) -> tuple[str, ...]:
    return (f"{words} · {more}", words) if more else (words,)


def leads_columns(first: Lead | None, *, wide: bool) -> tuple[Column, ...]:
    """The columns of the overview; the heading of the text is that of the first line's part."""
    return (
        Column(id="word", label="", least=13, whole=True),
        Column(id="text", label=first.part.value if first is not None else "", least=20),
        Column(id="when", label="since", least=6, right=True, uncut=True, most=9, yields=2),
        Column(id="to", label="goes to" if wide else "", least=1, whole=True),
    )


def leads_cells(lead: Lead, keys: Mapping[str, str], widths: Mapping[str, int], *, wide: bool) -> Mapping[str, Piece]:
    """The cells of one line; `keys`: place id to its key. Figures are left out sooner than cut."""
    room = widths.get("text")
    text = next((form for form in lead.texts if room is None or width_of(form) <= room), lead.texts[-1])
    place = PLACES[lead.goal] if lead.goal is not None else ""
    key = keys.get(place, "")
    return {
        "word": lead.word,
        "text": Piece(text, lead.tone),
        "when": Piece(lead.when, Tone.QUIET),
        "to": Piece(f"{key} {place} " if wide and place else f"{key} ", Tone.MINE),
    }


def overview_title(overview: Overview | None, width: int) -> Line:
    """`Overview · 3 lines need somebody`, then the counts that matter, as many as fit whole."""
    title = Piece("Overview", Tone.STRONG)
    if overview is None:
        return (title,)
    told = [
        title,
        Piece(f"{overview.late:,} late" if overview.late else "", Tone.WARN),
        Piece(f"{overview.parked:,} parked" if overview.parked else "", Tone.BAD),
        Piece(f"{overview.dead:,} dead {_plural(overview.dead, 'letter')}" if overview.dead else "", Tone.BAD),
        Piece(f"{overview.uncertain:,} uncertain" if overview.uncertain else "", Tone.WARN),
        Piece(
            f"{overview.alarms_open:,} {_plural(overview.alarms_open, 'alarm')}" if overview.alarms_open else "",
            Tone.WARN,
        ),
    ]
    return whole_pieces(told, width)


def calm_lines(overview: Overview) -> list[Line]:
    """That nothing needs anybody, and what was looked at to say so; empty where something does."""
    looked = [
        ("stops", True),
        ("alarms", overview.alarms_open is not None),
        ("schedules that are late, parked or disabled", overview.late is not None),
        ("dead letters", overview.dead is not None),
        ("Workers", overview.workers is not None),
        ("failed jobs", overview.jobs is not None),
        ("uncertain payouts", overview.uncertain is not None),
    ]
    words = [word for word, read in looked if read]
    listed = f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else words[0]
    return [(Piece("✓ Nothing needs you.", Tone.GOOD), Piece(f" Looked at: {listed}.", Tone.QUIET))]


def trend_lines(overview: Overview, width: int) -> list[Line]:
    """The last day by hour, one line each, the present hour at the right; nothing where it may not be read."""
    trend = overview.trend
    if trend is None:
        return []
    cells = 2 if width >= WIDE else 1
    rows: Sequence[tuple[str, tuple[int, ...], Tone]] = (
        ("completed", trend.completed, Tone.GOOD),
        ("dead", trend.dead, Tone.BAD),
        ("missed", trend.missed, Tone.WARN),
    )
    return [_trend_line(label, counts, tone, cells, width) for label, counts, tone in rows]


def _trend_line(label: str, counts: tuple[int, ...], tone: Tone, cells: int, width: int) -> Line:
    words = spark_words(counts)
    head = (
        Piece(f"{label:<{LABEL}}", Tone.STRONG),
        Piece(sparkline(counts, cells), tone if any(counts) else Tone.QUIET),
    )
    room = width - width_of(plain(head)) - 2
    told = whole_pieces([Piece(part) for part in words.split(" · ")], room)
    return (*head, Piece("  "), *told)


def _plural(count: int, noun: str) -> str:
    return noun if count == 1 else f"{noun}s"
