"""Owns what the timeline of an incident is made of: its sources, and the sentence of each thing that happened. Pure.

Says who, what and the reason that was given. Never a code, an account or an amount: those of plans are told by plans.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from jobcontract.occurrence_names import occurrence_name
from jobcontract.operating import TimelineKind
from jobservice.rules.job_kinds import readable
from jobservice.rules.standing import BEAT, BEATS_MISSED

Row = Mapping[str, Any]
SILENT_SECONDS = BEAT.total_seconds() * BEATS_MISSED
SENTENCE_MAX = 500
_NAME_MAX = 8

ACTIONS: Mapping[str, tuple[TimelineKind, str]] = {
    "stop-work": (TimelineKind.STOP, "stopped it"),
    "lift-stop": (TimelineKind.STOP, "lifted the stop"),
    "stop-money": (TimelineKind.STOP, "stopped all money"),
    "start-money": (TimelineKind.STOP, "started money again"),
    "disable-schedule": (TimelineKind.SCHEDULE, "disabled it"),
    "enable-schedule": (TimelineKind.SCHEDULE, "enabled it"),
    "drain-worker": (TimelineKind.WORKER, "asked it to take nothing new"),
    "undrain-worker": (TimelineKind.WORKER, "let it take work again"),
    "acknowledge-alarm": (TimelineKind.ALARM, "acknowledged it"),
    "make-plan": (TimelineKind.PLAN, "made it"),
    "confirm-plan": (TimelineKind.PLAN, "confirmed it"),
    "drop-plan": (TimelineKind.PLAN, "gave it up"),
    "pause-plan": (TimelineKind.PLAN, "paused it"),
    "resume-plan": (TimelineKind.PLAN, "went on with it"),
    "abort-plan": (TimelineKind.PLAN, "aborted it"),
    "lapse-plan": (TimelineKind.PLAN, "ended it: its time was over"),
    "end-plan": (TimelineKind.PLAN, "ended it: every item had its turn"),
    "make-recovery": (TimelineKind.RECOVERY, "made it"),
    "confirm-recovery": (TimelineKind.RECOVERY, "confirmed it"),
    "drop-recovery": (TimelineKind.RECOVERY, "gave it up"),
    "pause-recovery": (TimelineKind.RECOVERY, "paused it"),
    "resume-recovery": (TimelineKind.RECOVERY, "went on with it"),
    "abort-recovery": (TimelineKind.RECOVERY, "aborted it"),
}
"""Acts of the trail that belong to another noun than *act*, and what is said of them."""
_ACTS: Mapping[str, str] = {
    "replay-occurrence": "replayed it",
    "discard-occurrence": "discarded the dead letter",
    "cancel-occurrence": "asked for it to be cancelled",
    "run-schedule": "started it by hand",
    "submit-job": "submitted it",
    "cancel-job": "asked for it to be cancelled",
    "retry-job": "retried it",
    "resolve-job": "resolved it",
    "reveal-job": "looked at its inputs",
    "export-audit": "exported the audit trail",
    "export-plan": "exported the plan",
    "take-out-plan": "took an item out of it",
    "keep-in-plan": "kept an item in it",
    "take-out-of-recovery": "took rows out of it",
    "service-started": "started",
    "claim": "claimed it",
    "claim-next": "claimed the next item",
    "renew-claim": "renewed the claim",
    "release-claim": "released the claim",
    "break-claim": "took over the claim",
    "claim-lapsed": "ended the claim: its time was over",
    "push-item": "handed it in",
    "change-item": "changed it",
    "was-paid": "said that the bank paid it",
    "was-not-paid": "said that the bank did not pay it",
    "reconcile-money": "compared the money with what the bank says",
    "plan-paused": "paused it",
    "plan-voided": "voided it",
    "void-plan": "voided it",
    "expire-plan": "ended it: it was not confirmed in time",
    "expire-recovery": "ended it: it was not confirmed in time",
    "finish-recovery": "ended it: every row had its turn",
    "code-reset": "took the person's codes away",
    "code-locked": "locked the person's codes",
    "person-added": "added the person",
    "person-disabled": "disabled the person",
    "role-granted": "granted the person a role",
    "role-withdrawn": "withdrew the person's role",
    "tenant-added": "added the tenant",
    "token-created": "made an access token for the person",
    "token-revoked": "revoked an access token of the person",
    "code-enrolled": "set up the person's codes",
    "code-unlocked": "unlocked the person's codes",
    "key-retired": "retired a key",
    "keyring-rotated": "changed the keys of the service",
    "purge": "removed what was past its retention",
    "purge-audit": "began to remove the oldest entries of the trail",
}
"""What is said of the other acts of the trail."""
ACTS_ON_JOBS = ["submit-job", "cancel-job", "retry-job", "resolve-job", "reveal-job"]
"""Acts whose subject is a background job: they are told of those within a person's reach."""
_LEASE_ENDINGS = ("lost", "handed-back")
_RUN_ENDINGS = ("retry", "failed", "over-bound", "cancelled")
_CAUSES: Mapping[str, str] = {
    "failed": "its attempts are used up",
    "over-bound": "it took longer than its bound",
    "worker-lost": "its Worker was lost",
    "cancelled": "it was cancelled",
    "unrunnable": "the records do not have it any more",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One entry: its kind, what it happened to, and a sentence."""

    kind: TimelineKind
    subject: str
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where entries come from. `rank` is its place among entries of the same instant."""

    rank: int
    statement: str
    kinds: frozenset[TimelineKind]
    tell: Callable[[Row], Told]
    asks: Callable[[Collection[TimelineKind]], Mapping[str, object]] = lambda kinds: {}  # noqa: ARG005  asks nothing
    narrowed: bool = False
    """Whether it asks for what a person reaches: their customers and workspaces."""


def sources(kinds: Collection[TimelineKind]) -> tuple[Source, ...]:
    """The sources of these kinds (empty: all), in the order of their ranks."""
    wanted = frozenset(kinds) or frozenset(TimelineKind)
    return tuple(source for source in SOURCES if source.kinds & wanted)


def _asks_acts(kinds: Collection[TimelineKind]) -> Mapping[str, object]:
    wanted = frozenset(kinds) or frozenset(TimelineKind)
    return {
        "acts": TimelineKind.ACT in wanted,
        "told": sorted(ACTIONS),
        "of_jobs": ACTS_ON_JOBS,
        "actions": sorted(action for action, (kind, _) in ACTIONS.items() if kind in wanted),
    }


def _asks_attempts(kinds: Collection[TimelineKind]) -> Mapping[str, object]:
    wanted = frozenset(kinds) or frozenset(TimelineKind)
    leases = _LEASE_ENDINGS if TimelineKind.LEASE in wanted else ()
    runs = _RUN_ENDINGS if TimelineKind.OCCURRENCE in wanted else ()
    return {"endings": [*leases, *runs]}


def _act(row: Row) -> Told:
    detail: Mapping[str, Any] = row["detail"]
    who = row["person_name"] or row["person"] or "The service"
    kind, words = ACTIONS.get(
        row["action"], (TimelineKind.ACT, _ACTS.get(row["action"], f"did: {_spaced(row['action'])}"))
    )
    subject = str(detail.get("occurrence") or detail.get("name") or row["subject"])
    if row["outcome"] == "refused":
        said = detail.get("sentence")
        sentence = f"{who} tried to {_spaced(row['action'])}, and was refused" + (f": {said}" if said else ".")
        return Told(kind=TimelineKind.ACT, subject=subject, sentence=_cut(sentence))
    reason = detail.get("reason") or detail.get("note") or detail.get("role")
    return Told(kind=kind, subject=subject, sentence=_cut(f"{who} {words}" + (f": {reason}" if reason else ".")))


def _spaced(action: str) -> str:
    """The id of an act as words: `confirm-plan` as `confirm plan`."""
    return action.replace("-", " ")


def _dead(row: Row) -> Told:
    why = _CAUSES.get(row["cause"], row["cause"])
    error = f": {row['error']}" if row["error"] else "."
    return _run(row, f"Dead letter after {_times(row['attempts'], 'attempt')}, because {why}{error}")


def _late(row: Row) -> Told:
    late = duration((row["at"] - row["scheduled_at"]).total_seconds())
    if row["origin"] == "made-up":
        return _run(row, f"Began {late} after its time: it was missed, and made up.")
    return _run(row, f"Began {late} late.")


def _recovered(row: Row) -> Told:
    again = f"at attempt {row['attempts']}" if row["attempts"] > 1 else "at its first attempt"
    if row["replays"]:
        return _run(row, f"Completed {again} of replay {row['replays']}.")
    return _run(row, f"Completed {again}.")


def _attempt(row: Row) -> Told:
    worker, attempt, error = _worker(row), row["attempt"], f": {row['error']}" if row["error"] else "."
    match row["ending"]:
        case "lost":
            return _run(row, f"Attempt {attempt} was lost: {worker} did not renew its lease.", TimelineKind.LEASE)
        case "handed-back":
            return _run(row, f"Attempt {attempt} was handed back by {worker}.", TimelineKind.LEASE)
        case "retry":
            return _run(row, f"Attempt {attempt} failed and is tried again{error}")
        case "over-bound":
            return _run(row, f"Attempt {attempt} took longer than its bound{error}")
        case "cancelled":
            return _run(row, f"Attempt {attempt} was cancelled{error}")
        case _:
            return _run(row, f"Attempt {attempt} failed{error}")


def _late_write(row: Row) -> Told:
    what = {"completion": "completion", "item": "outcome of an item", "batch": "batch", "hand-back": "hand-back"}
    said = f"A late {what.get(row['what'], row['what'])} of {_worker(row)} under fence {row['fence']} was refused."
    return _run(row, said, TimelineKind.LEASE)


def _skip(row: Row) -> Told:
    first, last = occurrence_name("", row["first_at"])[1:], occurrence_name("", row["last_at"])[1:]
    which = first if row["count"] == 1 else f"{row['count']:,} instants from {first} to {last}"
    return Told(kind=TimelineKind.SKIP, subject=row["schedule"], sentence=_cut(f"Left out {which}: {row['cause']}"))


def _parked(row: Row) -> Told:
    return Told(kind=TimelineKind.SCHEDULE, subject=row["schedule"], sentence=_cut(f"Parked: {row['parked_reason']}"))


def _back_on(row: Row) -> Told:
    said = f"Enabled again by itself, as it was said when it was disabled: {row['disabled_reason']}"
    return Told(kind=TimelineKind.SCHEDULE, subject=row["schedule"], sentence=_cut(said))


def _worker_event(row: Row) -> Told:
    said = {
        "started": f"Started, version {row['version']}.",
        "draining": "Takes nothing new and ends what it has.",
        "stopped": "Stopped in good order.",
        "silent": "Gave its last sign of life; it never said that it stops.",
    }
    return Told(kind=TimelineKind.WORKER, subject=_worker(row), sentence=said[row["what"]])


def _opened(row: Row) -> Told:
    return Told(
        kind=TimelineKind.ALARM, subject=row["subject"], sentence=_cut(f"Alarm {row['kind']}: {row['sentence']}")
    )


def _cleared(row: Row) -> Told:
    return Told(kind=TimelineKind.ALARM, subject=row["subject"], sentence=f"Alarm {row['kind']} is over.")


def _plan_ended(row: Row) -> Told:
    words = {"voided": "Voided before it was confirmed", "expired": "Expired before it was confirmed"}
    reason = f": {row['reason']}" if row["reason"] else "."
    return Told(kind=TimelineKind.PLAN, subject=row["name"], sentence=_cut(f"{words[row['state']]}{reason}"))


def _recovery_ended(row: Row) -> Told:
    words = {
        "done": f"Done: each of its {_times(row['count'], 'row')} had its turn",
        "expired": "Expired before it was confirmed",
    }
    why = f": {row['why']}" if row["why"] else "."
    return Told(kind=TimelineKind.RECOVERY, subject=row["name"], sentence=_cut(f"{words[row['state']]}{why}"))


def _job_ended(row: Row) -> Told:
    """A job that did not do what it was to do, by its id: what support is told on the phone leads there."""
    about = row["subject"] or row["customer"] or row["workspace"]
    named = f"{readable(row['job_kind'])}{f' of {about}' if about else ''}"
    if row["status"] == "cancelled":
        said = f"{named} was cancelled by {row['asked_by'] or 'the service'}: {row['cancel_reason']}"
    else:
        reference = f" ({row['failure_reference']})" if row["failure_reference"] else ""
        said = f"{named} failed{reference}: {row['failure_summary']}"
    return Told(kind=TimelineKind.JOB, subject=row["key"], sentence=_cut(said))


def _run(row: Row, sentence: str, kind: TimelineKind = TimelineKind.OCCURRENCE) -> Told:
    return Told(kind=kind, subject=occurrence_name(row["schedule"], row["scheduled_at"]), sentence=_cut(sentence))


def _worker(row: Row) -> str:
    return f"Worker {row['worker'][:_NAME_MAX]}" + (f" on {row['host']}" if row["host"] else "")


def _times(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _cut(sentence: str) -> str:
    return sentence if len(sentence) <= SENTENCE_MAX else sentence[: SENTENCE_MAX - 1] + "…"


def duration(seconds: float) -> str:
    """`2 min 5 s`, `3 h 1 min`, `2 d 4 h`: two units, rounded down."""
    left = int(seconds)
    for size, name, small, small_name in ((86_400, "d", 3_600, "h"), (3_600, "h", 60, "min"), (60, "min", 1, "s")):
        if left >= size:
            rest = left % size // small
            return f"{left // size:,} {name}" + (f" {rest} {small_name}" if rest else "")
    return f"{left} s"


_OCCURRENCE, _LEASE = frozenset({TimelineKind.OCCURRENCE}), frozenset({TimelineKind.LEASE})
SOURCES: tuple[Source, ...] = (
    Source(
        rank=0,
        statement="timeline/acts",
        kinds=frozenset({TimelineKind.ACT, *(kind for kind, _ in ACTIONS.values())}),
        tell=_act,
        asks=_asks_acts,
        narrowed=True,
    ),
    Source(rank=1, statement="timeline/dead_letters", kinds=_OCCURRENCE, tell=_dead),
    Source(rank=2, statement="timeline/late_starts", kinds=_OCCURRENCE, tell=_late),
    Source(rank=3, statement="timeline/recovered", kinds=_OCCURRENCE, tell=_recovered),
    Source(rank=4, statement="timeline/attempts", kinds=_OCCURRENCE | _LEASE, tell=_attempt, asks=_asks_attempts),
    Source(rank=5, statement="timeline/late_writes", kinds=_LEASE, tell=_late_write),
    Source(rank=6, statement="timeline/skips", kinds=frozenset({TimelineKind.SKIP}), tell=_skip),
    Source(rank=7, statement="timeline/parked", kinds=frozenset({TimelineKind.SCHEDULE}), tell=_parked),
    Source(rank=8, statement="timeline/back_on", kinds=frozenset({TimelineKind.SCHEDULE}), tell=_back_on),
    Source(
        rank=9,
        statement="timeline/workers",
        kinds=frozenset({TimelineKind.WORKER}),
        tell=_worker_event,
        asks=lambda kinds: {"silent": SILENT_SECONDS},  # noqa: ARG005  the same for all
    ),
    Source(rank=10, statement="timeline/alarms_opened", kinds=frozenset({TimelineKind.ALARM}), tell=_opened),
    Source(rank=11, statement="timeline/alarms_cleared", kinds=frozenset({TimelineKind.ALARM}), tell=_cleared),
    Source(rank=12, statement="timeline/plans_ended", kinds=frozenset({TimelineKind.PLAN}), tell=_plan_ended),
    Source(
        rank=13, statement="timeline/recoveries_ended", kinds=frozenset({TimelineKind.RECOVERY}), tell=_recovery_ended
    ),
    Source(
        rank=14, statement="timeline/jobs_ended", kinds=frozenset({TimelineKind.JOB}), tell=_job_ended, narrowed=True
    ),
)
"""Every source of the timeline."""

Mark = tuple[datetime, int, str]
"""Instant, rank and key of the last entry of a page."""
