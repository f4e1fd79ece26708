"""Owns how alarms are written: sign and word of each kind, how old, about what, who looks after it, whether others were
told. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from jobconsole.present.columns import Column, Line, Piece, Tone, joined, plain, width_of
from jobconsole.present.times import age_short, both, short
from jobcontract.operating import AlarmKind, AlarmTold

if TYPE_CHECKING:
    from jobconsole.present.schedules import At
    from jobcontract.alarms import Alarm, Alarms

KINDS: Mapping[AlarmKind, tuple[str, Tone]] = {
    AlarmKind.STOPPED: ("■ stopped", Tone.BAD),
    AlarmKind.WORKER_MISSING: ("✗ no Worker", Tone.BAD),
    AlarmKind.PARKED: ("✗ parked", Tone.BAD),
    AlarmKind.DEAD_LETTER: ("✗ dead letter", Tone.BAD),
    AlarmKind.LATE: ("▲ late", Tone.WARN),
    AlarmKind.SPIKE: ("▲ spike", Tone.WARN),
    AlarmKind.MISSED: ("△ missed", Tone.WARN),
    AlarmKind.LEAVING: ("◔ leaving", Tone.WARN),
}
"""Sign and word of each kind, the most urgent first."""
EMPTY = (
    "No alarm was raised. What is late, missed, parked or a dead letter, a Worker that is missing and a stop in force "
    "appear here by themselves."
)


def count_words(unacknowledged: int) -> str:
    """`▲ 2 alarms`, for the top line; empty where nobody is needed."""
    if not unacknowledged:
        return ""
    return f"▲ {unacknowledged:,} {'alarm' if unacknowledged == 1 else 'alarms'}"


def alarms_title(page: Alarms | None, width: int) -> Line:
    """`Alarms · 3 open · 2 nobody looks after`, as much of it as fits."""
    title = Piece("Alarms", Tone.STRONG)
    if page is None:
        return (title,)
    told = [
        title,
        Piece(f"{page.open:,} open" if page.open else "none open", Tone.WARN if page.open else Tone.GOOD),
        Piece(f"{page.unacknowledged:,} nobody looks after yet" if page.unacknowledged else "", Tone.BAD),
    ]
    while width_of(plain(joined(told))) > width and len(told) > 1:
        told.pop()
    return joined(told)


def alarms_columns(*, wide: bool) -> tuple[Column, ...]:
    """The columns of the alarms; the sentence, which the lines below tell in full, is the one that is cut. `wide`: with
    room for whether others were told."""
    return (
        Column(id="kind", label="alarm", least=13, whole=True),
        Column(id="since", label="since", least=6, right=True, uncut=True, most=9, yields=4),
        Column(id="subject", label="about", least=10, uncut=True, most=28, yields=5),
        Column(id="sentence", label="what", least=12, yields=1),
        Column(id="by", label="who", least=6, uncut=True, most=16, yields=3),
        *((Column(id="told", label="told", least=6, uncut=True, most=8, yields=2),) if wide else ()),
    )


def alarms_cells(alarm: Alarm, at: At) -> Mapping[str, Piece]:
    """The cells of one alarm's row by column id."""
    word, tone = KINDS[alarm.kind]
    over = alarm.cleared_at is not None
    by, told = alarm.acknowledged_by, brief_sentence(alarm)
    nobody = Piece("nobody", Tone.BAD) if not over else Piece("–", Tone.QUIET)
    return {
        "kind": Piece(word if not over else f"✓{word[1:]}", Tone.QUIET if over else tone),
        "since": Piece(age_short(alarm.cleared_at or alarm.opened_at, at.now), Tone.QUIET if over else Tone.PLAIN),
        "subject": Piece(alarm.subject, Tone.QUIET if over else Tone.STRONG),
        "sentence": Piece(f"over · {told}" if over else told, Tone.QUIET if over else Tone.PLAIN),
        "by": nobody if by is None else Piece(by.id, Tone.QUIET if over else Tone.GOOD),
        "told": told_piece(alarm),
    }


def brief_sentence(alarm: Alarm) -> str:
    """Its sentence for a cell beside what it is about, without naming that again; the detail tells the whole."""
    if not alarm.schedule:
        return alarm.sentence
    rest = alarm.sentence.removeprefix(f"{alarm.subject} ")
    for end in (",", ":", "."):
        rest = rest.replace(f" of {alarm.subject}{end}", end, 1)
    return rest


def told_piece(alarm: Alarm) -> Piece:
    """Whether others were told of it by webhook, in a word."""
    return {
        AlarmTold.NOBODY: Piece("–", Tone.QUIET),
        AlarmTold.WAITING: Piece("waiting", Tone.QUIET),
        AlarmTold.SENT: Piece("sent", Tone.QUIET),
        AlarmTold.GIVEN_UP: Piece("✗ failed", Tone.BAD),
    }[alarm.told]


def alarm_lines(alarm: Alarm, at: At) -> list[Line]:
    """Everything of one alarm: its sentence in full, since when, who looks after it and how, whether others were told."""
    word, tone = KINDS[alarm.kind]
    over = alarm.cleared_at is not None
    head = (
        Piece(word, Tone.QUIET if over else tone),
        Piece(f" · {alarm.subject} · ", Tone.QUIET),
        Piece(alarm.sentence),
    )
    when = [
        Piece(f"opened {both(alarm.opened_at, at.zone)}", Tone.QUIET),
        Piece(f"over since {both(alarm.cleared_at, at.zone)}" if alarm.cleared_at is not None else "", Tone.GOOD),
    ]
    return [head, joined(when), _looked_after(alarm, at), _told(alarm, at)]


def _looked_after(alarm: Alarm, at: At) -> Line:
    by, when = alarm.acknowledged_by, alarm.acknowledged_at
    if by is None or when is None:
        over = alarm.cleared_at is not None
        return (
            Piece("nobody acknowledged it" if over else "nobody looks after it yet", Tone.QUIET if over else Tone.BAD),
        )
    note = f": {alarm.note}" if alarm.note else ""
    return (Piece(f"{by.name} ({by.id}) looks after it since {short(when, at.zone, at.now)}{note}", Tone.GOOD),)


def _told(alarm: Alarm, at: At) -> Line:
    when = "" if alarm.told_at is None else f" {short(alarm.told_at, at.zone, at.now)}"
    why = f": {alarm.told_words}" if alarm.told_words else ""
    if alarm.told is AlarmTold.SENT:
        return (Piece(f"others were told of it by webhook{when}", Tone.QUIET),)
    if alarm.told is AlarmTold.WAITING:
        return (Piece(f"a webhook is being told of it{why}", Tone.WARN if why else Tone.QUIET),)
    if alarm.told is AlarmTold.GIVEN_UP:
        return (Piece(f"✗ the webhook could not be told{when}, and is not tried again{why}", Tone.BAD),)
    return (Piece("no webhook is set: nobody was told elsewhere", Tone.QUIET),)
