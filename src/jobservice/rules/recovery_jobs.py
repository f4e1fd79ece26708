"""Owns decisions about recoveries of jobs and what is said of them: why a job is left out, what was asked for in words and
as a command, what had drifted when a row's turn came. Pure: plain values in, a decision out.

A job goes on while a person looks at it: what settled, or was retried, since a recovery was frozen is no error. Its row is
refused with what happened, and the recovery says how many there were. Who may: `recoveries.py`.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from jobcontract.errors import ErrorCode
from jobcontract.job_states import JobResolution, JobStatus
from jobcontract.operating import LeftOut, RecoveryAct
from jobcontract.permissions import Permission, roles_with
from jobcontract.recoveries import RecoveryOrder
from jobcontract.states import Turn

JOB_ACTS = frozenset({RecoveryAct.RETRY, RecoveryAct.CANCEL})
"""Acts whose rows are jobs."""
JOB_PERMISSIONS: Mapping[RecoveryAct, Permission] = {
    RecoveryAct.RETRY: Permission.JOB_RETRY,
    RecoveryAct.CANCEL: Permission.JOB_CANCEL,
}
THIRD_PERSON: Mapping[RecoveryAct, str] = {RecoveryAct.RETRY: "retries", RecoveryAct.CANCEL: "cancels"}
_TOLD = 3
_JOB_LEFT_WORDS: Mapping[LeftOut, str] = {
    LeftOut.NOT_SETTLED: "not settled yet",
    LeftOut.SETTLED: "settled already",
    LeftOut.SUCCEEDED: "succeeded",
    LeftOut.NOT_RETRYABLE: "of a kind that is not retried",
    LeftOut.RETRIED: "retried already",
    LeftOut.RESOLVED: "resolved by a person",
    LeftOut.CANCEL_ASKED: "cancelled by somebody else already",
    LeftOut.CARRIED: "carried by a plan",
    LeftOut.ELSEWHERE: "of another engine",
}


def left_words(reason: LeftOut) -> str | None:
    """A reason that only jobs are left out for, in a few words; None: it is another's."""
    return _JOB_LEFT_WORDS.get(reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftJob:
    """What is known of a job that is left out, for its sentence. `by` and `why`: of its resolution or its cancellation;
    `newest`: id of the latest job of its lineage; `recovery`: name of the other recovery."""

    kind: str
    reason: LeftOut
    status: JobStatus | None = None
    resolution: JobResolution | None = None
    by: str | None = None
    why: str | None = None
    newest: str | None = None
    recovery: str | None = None


_SENTENCES: Mapping[LeftOut, str] = {
    LeftOut.UNKNOWN: "No job of this id is known in the tenant, among those that you may see.",
    LeftOut.NOT_SETTLED: "It is {status}: only what is settled is retried.",
    LeftOut.SETTLED: "It is settled as {status}: there is nothing to cancel any more.",
    LeftOut.SUCCEEDED: "It succeeded. Retry it by itself, with a reason, where it has to be done once more.",
    LeftOut.NOT_RETRYABLE: "Jobs of the kind {kind} are not retried.",
    LeftOut.RETRIED: "It was retried already: {newest} is the latest of its lineage, and that is what can be retried.",
    LeftOut.RESOLVED: "It was {resolved} by {who}: {why}. Name it by itself to retry it all the same.",
    LeftOut.CANCEL_ASKED: "{who} asked for it to be cancelled already: {why}.",
    LeftOut.CARRIED: "A plan carries it: pause or abort the plan.",
    LeftOut.ELSEWHERE: "It is another engine's job, which is only read here.",
    LeftOut.IN_RECOVERY: "It is in recovery {recovery}, which is not over yet.",
    LeftOut.MONEY: "{kind} moves money: a person with {money} {acts} it, with the code from their phone.",
    LeftOut.PERMISSION: "{kind} moves no money: a person with {needed} {acts} it.",
    LeftOut.TAKEN_OUT: "Its owner took it out.",
}


def left_job_sentence(left: LeftJob, act: RecoveryAct) -> str:
    """Why the job is not in the recovery, in a sentence."""
    return _SENTENCES[left.reason].format(
        status="not there" if left.status is None else left.status.value,
        kind=left.kind,
        newest=left.newest,
        resolved="acknowledged" if left.resolution is JobResolution.ACKNOWLEDGED else "resolved",
        who=left.by or "Somebody",
        why=(left.why or "no reason is known").rstrip("."),
        recovery=left.recovery,
        money=_holders(Permission.PAYOUT_RELEASE),
        needed=_holders(JOB_PERMISSIONS[act]),
        acts=THIRD_PERSON[act],
    )


def _holders(permission: Permission) -> str:
    return f"{permission} ({' or '.join(roles_with(permission))})"


def order_words(order: RecoveryOrder) -> str:
    """What was asked for, in words: `retry 3 jobs named by id`, `cancel what status:pending kind:a.b finds`."""
    if order.jobs is None:
        return f"{order.act} {_found_by(order.job_filter)}"
    named, more = ", ".join(order.jobs[:_TOLD]), len(order.jobs) - _TOLD
    return f"{order.act} job{'' if len(order.jobs) == 1 else 's'} {named}" + (f" and {more:,} more" if more > 0 else "")


def _found_by(text: str | None) -> str:
    return f"the jobs that {text.strip()!r} finds" if text is not None and text.strip() else "every job"


def order_command(order: RecoveryOrder) -> str:
    """The headless command that makes the same one."""
    words = ["jobconsole", "recoveries", order.act.value]
    for each in order.jobs or ():
        words += ["--job", each]
    if order.job_filter is not None:
        words += ["--filter", order.job_filter]
    return shlex.join([*words, "--reason", order.reason])


class Drift(StrEnum):
    """How a job was another one than had been frozen when its turn came. Values are stored."""

    SETTLED = "settled"
    RETRIED = "retried"
    RESOLVED = "resolved"
    REMOVED = "removed"
    OTHER = "other"
    """Whatever else did not let it be done: its kind is not retried any more, a plan carries it."""


_DRIFTED: Mapping[Drift, str] = {
    Drift.SETTLED: "had settled meanwhile",
    Drift.RETRIED: "had been retried meanwhile",
    Drift.RESOLVED: "had been resolved meanwhile",
    Drift.REMOVED: "had been removed meanwhile",
    Drift.OTHER: "could not be done any more",
}


def drift_sentence(drifted: Mapping[str, int], count: int) -> str | None:
    """`3 of 412 had settled meanwhile, 1 had been removed meanwhile.`; None where nothing had drifted."""
    told = [(drifted[drift.value], words) for drift, words in _DRIFTED.items() if drifted.get(drift.value)]
    if not told:
        return None
    first, *more = told
    return (
        ", ".join([f"{first[0]:,} of {count:,} {first[1]}", *(f"{number:,} {words}" for number, words in more)]) + "."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class JobNow:
    """A job as it stands when its row has its turn. `newest`: the latest of its lineage, itself where it is that."""

    id: str
    status: JobStatus
    resolved_at: datetime | None
    resolved_by: str | None
    newest: str
    newest_status: JobStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class RowEnded:
    """How a row's turn ended, in a sentence; `drift` where the job was not as it had been frozen."""

    turn: Turn
    sentence: str
    drift: Drift | None = None


def drifted(act: RecoveryAct, job: JobNow | None, frozen_at: datetime) -> RowEnded | None:
    """The end of a row whose job is not as it was frozen, so that it is not done; None where it can be done."""
    if job is None:
        return RowEnded(turn=Turn.REFUSED, sentence="It is not there any more: it was purged.", drift=Drift.REMOVED)
    if act is RecoveryAct.CANCEL:
        if not job.status.final:
            return None
        said = "been cancelled" if job.status is JobStatus.CANCELLED else job.status.value
        return RowEnded(turn=Turn.REFUSED, sentence=f"It had {said} meanwhile.", drift=Drift.SETTLED)
    if job.newest != job.id:
        said = f"It had been retried meanwhile: {job.newest} {_standing(job.newest_status)}."
        return RowEnded(turn=Turn.REFUSED, sentence=said, drift=Drift.RETRIED)
    if job.resolved_at is not None and job.resolved_at > frozen_at:
        said = f"It had been resolved meanwhile, by {job.resolved_by or 'the service'}."
        return RowEnded(turn=Turn.REFUSED, sentence=said, drift=Drift.RESOLVED)
    return None


_DRIFT_OF: Mapping[ErrorCode, Drift] = {
    ErrorCode.NOT_FOUND: Drift.REMOVED,
    ErrorCode.JOB_SETTLED: Drift.SETTLED,
}


def refused(kind: ErrorCode, sentence: str) -> RowEnded:
    """The end of a row whose act was refused after all: it was another job a moment later, or is none that can be done."""
    return RowEnded(turn=Turn.REFUSED, sentence=sentence, drift=_DRIFT_OF.get(kind, Drift.OTHER))


def cancelled_end(status: JobStatus | None) -> RowEnded | None:
    """How a row ends whose job was asked to be cancelled; None while that job goes on. Status None: it was purged."""
    if status is None:
        return RowEnded(turn=Turn.FAILED, sentence="It is not there any more: it was purged before its end was seen.")
    if not status.final:
        return None
    if status is JobStatus.CANCELLED:
        return RowEnded(turn=Turn.DONE, sentence="Cancelled.")
    return RowEnded(turn=Turn.REFUSED, sentence=f"It {status} before it could be cancelled.", drift=Drift.SETTLED)


def _standing(status: JobStatus) -> str:
    """`is running`, `was cancelled`, `failed`."""
    if not status.final:
        return f"is {status}"
    return "was cancelled" if status is JobStatus.CANCELLED else status.value


def merged(before: Mapping[str, int], found: Sequence[Drift]) -> dict[str, int]:
    """The counts of drift with some more."""
    counts = dict(before)
    for drift in found:
        counts[drift.value] = counts.get(drift.value, 0) + 1
    return counts
