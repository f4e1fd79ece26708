"""Owns how the other parts of one background job are written: its history, its lineage as a tree, the notices to its
requester, its inputs. Pure. A masked input has no value here, so that none can be shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jobconsole.present.columns import Column, Line, Piece, Tone, joined
from jobconsole.present.jobs import STATES
from jobconsole.present.schedules import At
from jobconsole.present.times import ago, both, short
from jobcontract.job_states import JobEventKind, JobStatus, NoticeState

if TYPE_CHECKING:
    from jobcontract.jobs import JobEvent, JobInput, JobNotice, JobRelative

MASK = "••••••••"
"""Stands for a value that was not revealed: as long for every one."""
EVENTS: Mapping[JobEventKind, tuple[str, Tone]] = {
    JobEventKind.SUBMITTED: ("○ submitted", Tone.PLAIN),
    JobEventKind.STARTED: ("◆ started", Tone.MINE),
    JobEventKind.STEP_STARTED: ("◆ step begun", Tone.MINE),
    JobEventKind.STEP_RETRYING: ("◌ to be retried", Tone.WARN),
    JobEventKind.STEP_SUCCEEDED: ("✓ step done", Tone.GOOD),
    JobEventKind.STEP_FAILED: ("✗ step failed", Tone.BAD),
    JobEventKind.STEP_CANCELLED: ("⊘ step cancelled", Tone.QUIET),
    JobEventKind.PROGRESS: ("· progress", Tone.QUIET),
    JobEventKind.TAKEN_UP: ("↻ taken up", Tone.WARN),
    JobEventKind.CANCEL_ASKED: ("⊘ cancel asked", Tone.WARN),
    JobEventKind.SETTLED: ("■ settled", Tone.STRONG),
    JobEventKind.RECONCILED: ("≠ reconciled", Tone.WARN),
    JobEventKind.EFFECT_DONE: ("✓ effect done", Tone.GOOD),
    JobEventKind.EFFECT_FAILED: ("✗ effect given up", Tone.BAD),
    JobEventKind.RETRIED: ("↻ retried", Tone.MINE),
    JobEventKind.RESOLVED: ("✓ resolved", Tone.GOOD),
    JobEventKind.REVEALED: ("◉ revealed", Tone.WARN),
}
"""Sign and word of each kind of line."""
NOTICES: Mapping[NoticeState, tuple[str, Tone]] = {
    NoticeState.DUE: ("○ due", Tone.PLAIN),
    NoticeState.CLAIMED: ("◆ being sent", Tone.MINE),
    NoticeState.DELIVERED: ("✓ delivered", Tone.GOOD),
    NoticeState.SUPPRESSED: ("– suppressed", Tone.QUIET),
    NoticeState.GIVEN_UP: ("✗ given up", Tone.BAD),
}
"""Sign and word of what became of telling somebody."""


# History


def events_columns() -> tuple[Column, ...]:
    """The columns of the history."""
    return (
        Column(id="at", label="when", least=8, uncut=True, most=16, yields=5),
        Column(id="kind", label="what", least=12, whole=True),
        Column(id="sentence", label="told", least=16, yields=6),
        Column(id="who", label="by", least=4, uncut=True, most=14, yields=2),
    )


def event_cells(event: JobEvent, at: At) -> Mapping[str, Piece]:
    """The cells of one line of the history by column id."""
    word, tone = EVENTS[event.kind]
    when = short(event.at, at.zone, at.now)
    seconds = f"{event.at.astimezone(at.zone):%H:%M:%S}"
    return {
        "at": Piece(seconds if len(when) == len("14:30") else when, Tone.QUIET),
        "kind": Piece(word, tone),
        "sentence": Piece(event.sentence),
        "who": Piece(event.person.id if event.person is not None else "", Tone.MINE),
    }


def event_lines(event: JobEvent, at: At) -> Sequence[Line]:
    """The line of the history under the cursor, in full."""
    word, tone = EVENTS[event.kind]
    head = joined(
        [
            Piece(word, tone),
            Piece(both(event.at, at.zone)),
            Piece(f"by {event.person.name} ({event.person.id})" if event.person is not None else ""),
            Piece(f"line {event.sequence:,}", Tone.QUIET),
        ]
    )
    detail = ", ".join(f"{name}: {_detail_text(value)}" for name, value in event.detail.items())
    return [head, (Piece(event.sentence),), *([(Piece(detail, Tone.QUIET),)] if detail else [])]


def _detail_text(value: object) -> str:
    if isinstance(value, list | tuple):
        return " · ".join(_detail_text(each) for each in value)
    if isinstance(value, dict):
        return " · ".join(f"{name} {_detail_text(each)}" for name, each in value.items())
    return str(value)


# Lineage


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """One job of a lineage, with the lines of the tree that lead to it."""

    relative: JobRelative
    tree: str
    here: bool
    """Whether it is the job that is shown."""


def branches(lineage: Sequence[JobRelative], here: str) -> list[Branch]:
    """The lineage as a tree, each job under the one that it was made from; one whose forerunner is not in it is a root."""
    known = {each.id for each in lineage}
    under: dict[str | None, list[JobRelative]] = {}
    for each in lineage:
        under.setdefault(each.retry_of if each.retry_of in known and each.retry_of != each.id else None, []).append(
            each
        )
    made: list[Branch] = []
    waiting = [(each, "", "") for each in reversed(under.get(None, []))]
    seen: set[str] = set()
    while waiting:
        each, lead, rest = waiting.pop()
        if each.id in seen:
            continue
        seen.add(each.id)
        made.append(Branch(relative=each, tree=lead, here=each.id == here))
        below = under.get(each.id, [])
        for at in range(len(below) - 1, -1, -1):
            last = at == len(below) - 1
            waiting.append((below[at], f"{rest}{'└─ ' if last else '├─ '}", f"{rest}{'   ' if last else '│  '}"))
    return made


def lineage_columns() -> tuple[Column, ...]:
    """The columns of the lineage."""
    return (
        Column(id="status", label="job", least=12, whole=True),
        Column(id="when", label="asked for", least=8, uncut=True, most=16, yields=4),
        Column(id="who", label="by", least=4, uncut=True, most=14, yields=3),
        Column(id="reason", label="why", least=10, yields=5),
    )


def branch_cells(branch: Branch, at: At) -> Mapping[str, Piece]:
    """The cells of one job of the lineage by column id."""
    word, tone = STATES[branch.relative.status]
    first = "the first one" if branch.relative.retry_of is None else "no reason is kept"
    return {
        "status": Piece(f"{branch.tree}{word}{' ◂ this one' if branch.here else ''}", tone),
        "when": Piece(ago(branch.relative.requested_at, at.now), Tone.QUIET),
        "who": Piece(branch.relative.requester.id if branch.relative.requester is not None else "–"),
        "reason": Piece(branch.relative.reason or first, Tone.PLAIN if branch.relative.reason else Tone.QUIET),
    }


def branch_lines(branch: Branch, at: At, key: str) -> Sequence[Line]:
    """The job of the lineage under the cursor, in full."""
    word, tone = STATES[branch.relative.status]
    who = f"by {branch.relative.requester.name}" if branch.relative.requester is not None else "by no person"
    opens = Piece("" if branch.here else f"{key} opens it", Tone.MINE)
    head = joined(
        [Piece(word, tone), Piece(f"asked for {both(branch.relative.requested_at, at.zone)}"), Piece(who), opens]
    )
    reason = (Piece(branch.relative.reason),) if branch.relative.reason else ()
    return [head, *([reason] if reason else []), (Piece(branch.relative.id, Tone.QUIET),)]


# Notices


def notices_columns() -> tuple[Column, ...]:
    """The columns of the notices."""
    return (
        Column(id="state", label="notice", least=12, whole=True),
        Column(id="outcome", label="of", least=10, uncut=True, most=26, yields=5),
        Column(id="who", label="to", least=4, uncut=True, most=14, yields=4),
        Column(id="attempts", label="tries", least=5, right=True, uncut=True, most=6, yields=2),
        Column(id="told", label="what became of it", least=10, yields=6),
    )


def notice_cells(notice: JobNotice, at: At) -> Mapping[str, Piece]:
    """The cells of one notice by column id."""
    word, tone = NOTICES[notice.state]
    return {
        "state": Piece(word, tone),
        "outcome": Piece(outcome_text(notice), Tone.WARN if notice.corrects is not None else Tone.PLAIN),
        "who": Piece(notice.person.id),
        "attempts": Piece(f"{notice.attempts:,}" if notice.attempts else "–", Tone.QUIET),
        "told": Piece(notice_text(notice, at)),
    }


def outcome_text(notice: JobNotice) -> str:
    """`failed`; `succeeded, not failed` where it corrects what was told before."""
    return f"{notice.outcome}, not {notice.corrects}" if notice.corrects is not None else notice.outcome.value


def notice_text(notice: JobNotice, at: At) -> str:
    """When it was delivered, when it is tried, or why it is not."""
    if notice.delivered_at is not None:
        said = "" if (notice.result or "").strip(" .").casefold() in ("", "delivered") else f": {notice.result}"
        return f"{ago(notice.delivered_at, at.now)}{said}"
    if notice.state in (NoticeState.SUPPRESSED, NoticeState.GIVEN_UP):
        return notice.reason or notice.result or "no reason is known"
    again = ago(notice.try_at, at.now) if notice.try_at is not None and notice.try_at > at.now else "now"
    last = f"; last: {notice.result}" if notice.result else ""
    return f"to be sent {again}{last}"


def notice_lines(notice: JobNotice, at: At) -> Sequence[Line]:
    """The notice under the cursor, in full."""
    word, tone = NOTICES[notice.state]
    told = f"tells {notice.person.name} ({notice.person.id}) that it {_ENDED[notice.outcome]}"
    corrects = f"before, it was told that it {_ENDED[notice.corrects]}" if notice.corrects is not None else ""
    return [joined([Piece(word, tone), Piece(told), Piece(corrects, Tone.WARN)]), (Piece(notice_text(notice, at)),)]


_ENDED: Mapping[JobStatus, str] = {
    JobStatus.SUCCEEDED: "succeeded",
    JobStatus.FAILED: "failed",
    JobStatus.CANCELLED: "was cancelled",
    JobStatus.RUNNING: "began",
    JobStatus.PENDING: "was submitted",
}


# Inputs


def inputs_columns() -> tuple[Column, ...]:
    """The columns of the inputs."""
    return (
        Column(id="label", label="input", least=10, uncut=True, most=30, yields=5),
        Column(id="value", label="value", least=10, yields=6),
        Column(id="name", label="name", least=6, uncut=True, most=24, yields=2),
    )


def input_cells(given: JobInput) -> Mapping[str, Piece]:
    """The cells of one input by column id."""
    return {
        "label": Piece(given.label, Tone.STRONG),
        "value": Piece(MASK, Tone.QUIET) if given.masked else Piece(value_text(given), Tone.WARN),
        "name": Piece(given.name if given.name != given.label else "", Tone.QUIET),
    }


def value_text(given: JobInput) -> str:
    """The value as it is read; what is not given is a dash."""
    if given.value is None:
        return "–"
    return {True: "yes", False: "no"}[given.value] if isinstance(given.value, bool) else str(given.value)


def input_lines(given: JobInput, key: str) -> Sequence[Line]:
    """The input under the cursor, in full."""
    if given.masked:
        told = f"It is masked. {key} shows all of them, for a reason that is written down."
        return [(Piece(given.label, Tone.STRONG),), (Piece(told, Tone.QUIET),)]
    return [(Piece(given.label, Tone.STRONG),), (Piece(value_text(given)),)]
