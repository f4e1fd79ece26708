"""Owns how one background job is told: its title, the bar, why it failed and what that leads to, who asked, who cancelled
and why, what resolved it, when it ran and where. Pure. Its steps: `job_ladder`; its history: `job_history`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from jobconsole.present.columns import Line, Piece, Tone, joined, whole_pieces
from jobconsole.present.jobs import (
    RESOLUTIONS,
    STATES,
    next_attempt_text,
    scope_text,
    status_word,
    subject_text,
    took_text,
    why_text,
)
from jobconsole.present.money import bar
from jobconsole.present.schedules import At
from jobconsole.present.times import ago, both, brief_span
from jobcontract.job_states import Carrier, FailureEffectState, JobResolution, JobStatus, StepStatus
from jobcontract.jobs import HERE
from jobcontract.states import Moves

if TYPE_CHECKING:
    from jobcontract.jobs import Job, JobSummary

LABEL = 11
"""Cells of a label."""
SILENT = 60.0
"""Seconds without news after which what runs says so."""
SHORT_ID = 8
"""Characters of an incarnation that are shown."""
EFFECTS = {
    FailureEffectState.DUE: ("to be done", Tone.WARN),
    FailureEffectState.DONE: ("done", Tone.GOOD),
    FailureEffectState.FAILED: ("given up: a person has to do it", Tone.BAD),
}
"""What became of what is done when a job failed."""


def job_title(job: JobSummary) -> Line:
    """`✗ failed · Bank file ¤ · acme, payouts of 1 December`."""
    word, tone = status_word(job)
    money = " ¤" if job.moves is Moves.MONEY else ""
    return joined([Piece(word, tone), Piece(f"{job.kind_label}{money}", Tone.STRONG), Piece(subject_text(job))])


def unknown_title(identifier: str) -> Line:
    """What stands there before the job is known."""
    return (Piece("Job ", Tone.QUIET), Piece(identifier, Tone.STRONG))


def standing_lines(job: Job, at: At, width: int, keys: Mapping[str, str]) -> list[Line]:
    """Where it stands, in a line or two: how far it is while it goes on, why it failed and what that leads to, what else
    decides what one does next. `keys`: `reference`, `follow`."""
    summary = job.summary
    lines = [_elsewhere_line(summary)] if summary.source != HERE else []
    if summary.status is JobStatus.FAILED:
        lines += _failed_lines(job, at, keys["reference"])
    elif summary.status.final:
        lines.append(_settled_line(summary, at))
    else:
        lines += [bar_line(job, at, width), *_held_lines(job)]
    return [*lines, *_cancel_lines(job, at), *_resolved_lines(job, at), *_retry_lines(job, at, keys["follow"])]


def bar_line(job: Job, at: At, width: int) -> Line:
    """`████░░░░  42 %  step 3 of 5 · Submit to the bank · running for 4 min`."""
    summary, steps = job.summary, job.steps
    done = sum(step.status is StepStatus.SUCCEEDED for step in steps)
    current = next((step for step in steps if step.status in (StepStatus.RUNNING, StepStatus.RETRYING)), None)
    number = current.position if current is not None else min(done + 1, len(steps))
    since = summary.started_at or summary.requested_at
    doing = "waiting" if summary.status is JobStatus.PENDING else "running"
    again = ""
    if current is not None and current.next_attempt_at is not None and current.status is StepStatus.RETRYING:
        again = next_attempt_text(current.next_attempt_at, at.now)
    percent = f"{summary.progress:>3} %"
    told = whole_pieces(
        [
            Piece(f"step {number} of {len(steps)}" if steps else ""),
            Piece(current.label if current is not None else "", Tone.STRONG),
            Piece(again, Tone.WARN),
            Piece(_silence(summary, at), Tone.WARN),
            Piece(f"{doing} for {brief_span((at.now - since).total_seconds())}", Tone.QUIET),
        ],
        max(10, width - 30),
    )
    cells = 20 if width >= 70 else 10
    tone = Tone.MINE if summary.status is JobStatus.RUNNING else Tone.QUIET
    return (Piece(bar(summary.progress / 100, cells), tone), Piece(f" {percent}  ", Tone.STRONG), *told)


def _held_lines(job: Job) -> Sequence[Line]:
    """Why its next step does not begin, where nothing of it runs."""
    going = any(step.status in (StepStatus.RUNNING, StepStatus.RETRYING) for step in job.steps)
    following = next((step for step in job.steps if step.status is StepStatus.QUEUED), None)
    if going or following is None or not following.sentence:
        return ()
    return (_labelled("not begun", Piece(following.sentence, Tone.WARN)),)


def _silence(summary: JobSummary, at: At) -> str:
    """That what runs has said nothing for a while: a long step may, and a Worker that died does."""
    quiet = (at.now - summary.activity_at).total_seconds()
    waits = summary.status is not JobStatus.RUNNING or summary.last_step_status is StepStatus.RETRYING
    return "" if waits or quiet < SILENT else f"no news for {brief_span(quiet)}"


def about_lines(job: Job, at: At) -> list[Line]:
    """Everything else: who asked, of whom it is, when, its identity, who runs it, its plan, what a failure of it does."""
    summary = job.summary
    asked = f"by {summary.requester.name} ({summary.requester.id})" if summary.requester is not None else "by no person"
    lines = [
        _labelled("asked for", Piece(asked), Piece(f", {ago(summary.requested_at, at.now)}", Tone.QUIET)),
        _labelled("", Piece(both(summary.requested_at, at.zone), Tone.QUIET)),
        _labelled("of", Piece(scope_text(summary)), Piece(f" · {summary.application}", Tone.QUIET)),
    ]
    if summary.started_at is not None:
        took = f" · {took_text(summary)}" if summary.settled_at is not None else ""
        lines.append(_labelled("began", Piece(both(summary.started_at, at.zone)), Piece(took)))
    if summary.settled_at is not None:
        lines.append(_labelled("settled", Piece(both(summary.settled_at, at.zone))))
    elif summary.activity_at is not None:
        lines.append(_labelled("last news", Piece(ago(summary.activity_at, at.now))))
    if job.worker is not None:
        lines.append(_labelled("Worker", Piece(job.worker[:SHORT_ID], Tone.MINE)))
    if job.plan is not None:
        carried = "it is the account of" if job.carrier is Carrier.PLAN else "submitted by"
        lines.append(_labelled("plan", Piece(job.plan, Tone.STRONG), Piece(f" · {carried} it", Tone.QUIET)))
    lines += _effect_lines(job)
    lines.append(
        _labelled("retry", Piece("a new job can be made of it" if job.retryable else "its kind is not retried"))
    )
    if summary.submission_identity:
        lines.append(_labelled("identity", Piece(summary.submission_identity)))
    version = f" · definition {job.definition_version}" if job.definition_version is not None else ""
    lines.append(_labelled("kind", Piece(summary.kind), Piece(version, Tone.QUIET)))
    lines.append(_labelled("id", Piece(summary.id)))
    return lines


def _elsewhere_line(summary: JobSummary) -> Line:
    told = f"▲ A job of {summary.source} ({summary.application}): it is only read here, and acted on there."
    return (Piece(told, Tone.WARN),)


def _failed_lines(job: Job, at: At, reference_key: str) -> list[Line]:
    summary = job.summary
    step = next((step for step in job.steps if step.status is StepStatus.FAILED), None)
    why, name = why_text(summary), step.label if step is not None else (summary.last_step_label or summary.last_step)
    where = f"{name}: " if name and not why.casefold().startswith(name.casefold()) else ""
    tone = Tone.PLAIN if summary.resolution is not None else Tone.BAD
    lines = [_labelled("why", Piece(f"{where}{why}", tone))]
    settled = f"{ago(summary.settled_at, at.now)}, {took_text(summary)}" if summary.settled_at is not None else ""
    reference = summary.failure_reference
    lines.append(
        _labelled(
            "reference" if reference else "failed",
            *joined(
                [
                    Piece(reference or "", Tone.STRONG),
                    Piece(f"{reference_key} copies it" if reference else "", Tone.QUIET),
                    Piece(f"failed {settled}" if reference else settled, Tone.QUIET),
                ]
            ),
        )
    )
    return lines


def _settled_line(summary: JobSummary, at: At) -> Line:
    word, tone = STATES[summary.status]
    when = f" {ago(summary.settled_at, at.now)}" if summary.settled_at is not None else ""
    return joined([Piece(f"{word}{when}", tone), Piece(took_text(summary))])


def _cancel_lines(job: Job, at: At) -> list[Line]:
    found = job.cancellation
    if found is None:
        return []
    by = found.person.id if found.person is not None else "the service"
    settled = job.summary.status.final
    label = "cancelled" if job.summary.status is JobStatus.CANCELLED else "cancel"
    late = "" if not settled or job.summary.status is JobStatus.CANCELLED else ", which came too late"
    told = f'asked for by {by} {ago(found.at, at.now)}{late}: "{found.reason}"'
    return [_labelled(label, Piece(told, Tone.WARN))]


def _resolved_lines(job: Job, at: At) -> list[Line]:
    found = job.resolved
    if found is None:
        return []
    if found.resolution is JobResolution.RETRIED:
        return [_labelled("mended", Piece(f"by a retry, which succeeded {ago(found.at, at.now)}", Tone.GOOD))]
    by = found.person.id if found.person is not None else "the service"
    ticket = f" · ticket {found.ticket}" if found.ticket else ""
    why = f': "{found.reason}"' if found.reason else ""
    told = f"{RESOLUTIONS[found.resolution]} by {by} {ago(found.at, at.now)}{ticket}{why}"
    return [_labelled("resolved", Piece(told, Tone.GOOD))]


def _retry_lines(job: Job, at: At, key: str) -> list[Line]:
    """What it is a retry of and why, and what became of its own retry."""
    summary, lines = job.summary, []
    known = {each.id: each for each in job.lineage}
    if summary.retry_of is not None:
        before, this = known.get(summary.retry_of), known.get(summary.id)
        what = f"the job asked for {ago(before.requested_at, at.now)}" if before is not None else "a job that is gone"
        why = f' · why: "{this.reason}"' if this is not None and this.reason else ""
        lines.append(_labelled("retry of", Piece(f"{what}{why}")))
    if summary.retried_by is not None and summary.resolution is not JobResolution.RETRIED:
        latest = known.get(summary.retried_by)
        word, tone = STATES[latest.status] if latest is not None else ("it is elsewhere", Tone.QUIET)
        lines.append(_labelled("retried", Piece(word, tone), Piece(f" · {key} opens that one", Tone.QUIET)))
    return lines


def _effect_lines(job: Job) -> Sequence[Line]:
    if job.failure_effect is None:
        return ()
    became = EFFECTS.get(job.failure_effect_state)
    state = (Piece(" · "), Piece(*became)) if became is not None else ()
    return (_labelled("on failure", Piece(job.failure_effect), *state),)


def _labelled(label: str, *pieces: Piece) -> Line:
    return (Piece(f"{label} ".ljust(LABEL), Tone.QUIET), *pieces)
