"""Owns how the steps of a background job are written: a ladder of what is done, what runs, what waits, each with its
attempts, how long it took, how it went, and when it is tried again. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from jobconsole.present.columns import Column, Line, Piece, Tone, joined
from jobconsole.present.jobs import next_attempt_text
from jobconsole.present.schedules import At
from jobconsole.present.times import brief_span
from jobcontract.job_states import JobEventKind, StepStatus
from jobcontract.states import Moves

if TYPE_CHECKING:
    from jobcontract.jobs import JobEvent, JobStep

STATES: Mapping[StepStatus, tuple[str, Tone]] = {
    StepStatus.QUEUED: ("○ queued", Tone.QUIET),
    StepStatus.RUNNING: ("◆ running", Tone.MINE),
    StepStatus.RETRYING: ("◌ retrying", Tone.WARN),
    StepStatus.SUCCEEDED: ("✓ succeeded", Tone.GOOD),
    StepStatus.FAILED: ("✗ failed", Tone.BAD),
    StepStatus.CANCELLED: ("⊘ cancelled", Tone.QUIET),
}
"""Sign and word of each status of a step."""
ENDED_BADLY = frozenset({JobEventKind.STEP_RETRYING, JobEventKind.STEP_FAILED})
ATTEMPTS_SHOWN = 3
"""Most attempts that stand under the step under the cursor; the history has all."""


def steps_columns() -> tuple[Column, ...]:
    """The columns of the ladder."""
    return (
        Column(id="number", label="#", least=2, right=True, uncut=True, most=4, yields=2),
        Column(id="status", label="status", least=10, whole=True),
        Column(id="label", label="step", least=10, uncut=True, most=28, yields=6),
        Column(id="attempts", label="tries", least=5, right=True, uncut=True, most=9, yields=4),
        Column(id="took", label="took", least=5, right=True, uncut=True, most=11, yields=3),
        Column(id="told", label="how it goes", least=12, yields=5),
    )


def step_cells(step: JobStep, at: At) -> Mapping[str, Piece]:
    """The cells of one step by column id."""
    word, tone = STATES[step.status]
    told, told_tone = told_text(step, at)
    return {
        "number": Piece(f"{step.position:,}", Tone.QUIET),
        "status": Piece(word, tone),
        "label": Piece(f"{step.label}{' ¤' if step.moves is Moves.MONEY else ''}", Tone.STRONG),
        "attempts": Piece(attempts_text(step), Tone.WARN if step.attempts > 1 else Tone.QUIET),
        "took": Piece(took_text(step, at), Tone.QUIET),
        "told": Piece(told, told_tone),
    }


def attempts_text(step: JobStep) -> str:
    """`2 of 3`; only the count where it is not said how many there may be; a dash before the first."""
    if not step.attempts:
        return "–"
    return f"{step.attempts:,} of {step.attempts_most:,}" if step.attempts_most is not None else f"{step.attempts:,}"


def took_text(step: JobStep, at: At) -> str:
    """How long it took, or has taken so far."""
    if step.started_at is None:
        return ""
    seconds = ((step.settled_at or at.now) - step.started_at).total_seconds()
    return "<1 s" if seconds < 1 else brief_span(seconds)


def told_text(step: JobStep, at: At) -> tuple[str, Tone]:
    """What matters most of it: when it is tried again and why, how far it is, how it went."""
    if step.status is StepStatus.RETRYING:
        again = next_attempt_text(step.next_attempt_at, at.now) if step.next_attempt_at is not None else "again soon"
        return f"{again}: {step.sentence or 'no reason is known'}", Tone.WARN
    if step.status is StepStatus.RUNNING:
        told = [f"{step.progress} %" if step.progress else "", step.sentence or ""]
        return " · ".join(part for part in told if part) or "has begun", Tone.PLAIN
    return step.sentence or "", Tone.BAD if step.status is StepStatus.FAILED else Tone.PLAIN


def step_lines(step: JobStep, events: Iterable[JobEvent], at: At) -> Sequence[Line]:
    """The step under the cursor in full: what it is, what its attempts said, what the outside world calls it."""
    word, tone = STATES[step.status]
    tries = attempts_text(step)
    head = joined(
        [
            Piece(word, tone),
            Piece(step.label, Tone.STRONG),
            Piece(f"attempt {tries}" if step.attempts else "not begun"),
            Piece("moves money" if step.moves is Moves.MONEY else "", Tone.WARN),
            Piece(f"reference {step.failure_reference}" if step.failure_reference else "", Tone.STRONG),
            Piece(f"known outside as {step.reference}" if step.reference else ""),
        ]
    )
    told, told_tone = told_text(step, at)
    lines: list[Line] = [head, *([(Piece(told, told_tone),)] if told else [])]
    bad = [event for event in events if event.step == step.step and event.kind in ENDED_BADLY]
    same = step.sentence or told
    # What the step says at its end is what its last attempt said, with how often it was tried.
    others = [event for event in bad if same not in event.sentence and not same.startswith(event.sentence)]
    if len(bad) > 1 and not others:
        ends = ", ".join(f"{event.at.astimezone(at.zone):%H:%M:%S}" for event in reversed(bad))
        lines.append((Piece(f"each attempt ended so: {ends}", Tone.QUIET),))
    for event in others[:ATTEMPTS_SHOWN]:
        lines.append(
            (Piece(f"{event.at.astimezone(at.zone):%H:%M:%S}  ", Tone.QUIET), Piece(event.sentence, Tone.WARN))
        )
    return lines
