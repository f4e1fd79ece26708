"""Owns plain aligned text about background jobs, their kinds, and what finding found, for the headless twins. Pure; never
cuts a value.

Every instant stands in UTC, and in the zone that is named beside it.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from datetime import datetime, tzinfo

from jobconsole.present.job_lines import EFFECTS
from jobconsole.present.jobs import RESOLUTIONS
from jobconsole.present.plain import pairs, table
from jobconsole.present.text import line
from jobconsole.present.times import brief_span, local, utc
from jobcontract.job_states import FoundNoun, JobStatus
from jobcontract.jobs import (
    HERE,
    Finding,
    Found,
    Job,
    JobActs,
    JobCount,
    JobCounts,
    JobEvent,
    JobInput,
    JobKind,
    JobNotice,
    JobRelative,
    JobSource,
    JobStep,
    JobSummary,
)
from jobcontract.session import Person
from jobcontract.states import Moves

OPENS: Mapping[FoundNoun, str] = {
    FoundNoun.JOB: "jobs show {id}",
    FoundNoun.ITEM: "queues show {id}",
    FoundNoun.PLAN: "bulk show {id}",
    FoundNoun.RECOVERY: "recoveries show {id}",
    FoundNoun.SCHEDULE: "schedules show {id}",
    FoundNoun.OCCURRENCE: "occurrences show {id}",
    FoundNoun.AUDIT: "audit show {id}",
}
"""Which twin shows a noun; one without has none."""
PLURALS: Mapping[FoundNoun, str] = {
    FoundNoun.JOB: "jobs",
    FoundNoun.ITEM: "work items",
    FoundNoun.PLAN: "plans",
    FoundNoun.RECOVERY: "recoveries",
    FoundNoun.SCHEDULE: "schedules",
    FoundNoun.OCCURRENCE: "occurrences",
    FoundNoun.PERSON: "people",
    FoundNoun.AUDIT: "the audit trail",
    FoundNoun.WORKER: "Workers",
}
"""Where was looked, in words."""


def jobs_lines(jobs: Sequence[JobSummary], zone: tzinfo) -> list[str]:
    """One line a job, the latest requested first; of a failure why, and its reference."""
    several = any(each.source != HERE for each in jobs)
    heads = ("job", "status", "progress", "kind", "subject", "asked for", "by", "customer", "workspace", "moves")
    rows = (
        (
            each.id,
            _status(each),
            f"{each.progress} %",
            each.kind,
            each.subject,
            local(each.requested_at, zone),
            each.requester.id if each.requester is not None else "nobody",
            each.customer or "",
            each.workspace or "",
            "money" if each.moves is Moves.MONEY else "",
            *((each.source,) if several else ()),
            each.failure_reference or "",
            each.failure_summary or "",
        )
        for each in jobs
    )
    return table((*heads, *(("source",) if several else ()), "reference", "why it failed"), rows, right=(2,))


def sources_lines(sources: Sequence[JobSource]) -> list[str]:
    """Which sources were not reached: what is shown is not all."""
    return [f"Not in this list: {line(each.name)}. {line(each.sentence or '')}" for each in sources if not each.reached]


def looked_lines(looked_to: datetime | None, zone: tzinfo) -> list[str]:
    """How far back a page looked that is short of rows."""
    return [] if looked_to is None else [f"Looked back to {_both(looked_to, zone)} so far."]


def counts_lines(counts: JobCounts, filter_text: str, zone: tzinfo) -> list[str]:
    """How many a filter finds and how many there are of each status; what is not exact says so."""
    return pairs(
        (
            ("filter", filter_text or None),
            ("listed", _count(counts.listed, counts.now)),
            ("unresolved failures", _count(counts.unresolved, counts.now)),
            *((str(status), _count(count, counts.now)) for status, count in counts.statuses.items()),
            ("as of", _both(counts.listed.as_of, zone)),
        )
    )


def _count(count: JobCount, now: datetime) -> str:
    if count.exact:
        return f"{count.count:,}"
    if count.at_least:
        return f"at least {count.count:,}"
    return f"about {count.count:,}, {brief_span((now - count.as_of).total_seconds())} old"


def job_lines(job: Job, zone: tzinfo) -> list[str]:
    """Everything of one job: where it stands, its steps, lineage, notices, inputs, and the latest of its history."""
    parts = (
        summary_lines(job.summary, zone),
        _more_lines(job, zone),
        ["", *steps_lines(job.steps, zone)] if job.steps else [],
        ["", *lineage_lines(job.lineage, job.summary.id, zone)] if len(job.lineage) > 1 else [],
        ["", *notices_lines(job.notices, zone)] if job.notices else [],
        ["", *inputs_lines(job.inputs)] if job.inputs else [],
        ["", *events_lines(job.events, zone)] if job.events else [],
        ["", *acts_lines(job.acts)],
    )
    return [each for part in parts for each in part]


def summary_lines(job: JobSummary, zone: tzinfo) -> list[str]:
    """Where one job stands."""
    return pairs(
        (
            ("job", f"{job.id}{'' if job.source == HERE else f' of {job.source}'}"),
            ("kind", f"{job.kind} ({job.kind_label}), of {job.application}"),
            ("subject", job.subject),
            ("identity", job.submission_identity),
            ("status", f"{_status(job)}, {job.progress} %"),
            ("why it failed", job.failure_summary),
            ("reference", job.failure_reference),
            ("moves", "money" if job.moves is Moves.MONEY else None),
            ("customer", job.customer),
            ("workspace", job.workspace),
            ("asked for", f"{_both(job.requested_at, zone)} by {_person(job.requester)}"),
            ("started", job.started_at and _both(job.started_at, zone)),
            ("last activity", None if job.status.final else _both(job.activity_at, zone)),
            ("settled", job.settled_at and _both(job.settled_at, zone)),
            ("last step", _last(job)),
            ("retry of", job.retry_of),
            ("retried by", job.retried_by),
        )
    )


def progress_line(job: JobSummary) -> str:
    """How far it is, as one line that is said again only where it changed."""
    step = f", {_last(job)}" if job.last_step is not None else ""
    return line(f"{_status(job)}, {job.progress} %{step}")


def _more_lines(job: Job, zone: tzinfo) -> list[str]:
    asked, resolved = job.cancellation, job.resolved
    told = None
    if resolved is not None:
        by = "" if resolved.person is None else f" by {_person(resolved.person)}"
        ticket = f", ticket {resolved.ticket}" if resolved.ticket else ""
        how = f"mended by its retry {resolved.job}" if resolved.job else f"{RESOLUTIONS[resolved.resolution]}{by}"
        why = f": {resolved.reason}" if resolved.reason else ""
        told = f"{how}, {_both(resolved.at, zone)}{ticket}{why}"
    effect, _ = EFFECTS.get(job.failure_effect_state, ("", None))
    return pairs(
        (
            ("cancel asked", asked and f"{_both(asked.at, zone)} by {_person(asked.person)}: {asked.reason}"),
            ("resolved", told),
            ("plan", job.plan),
            ("definition", None if job.definition_version is None else f"version {job.definition_version}"),
            ("on failure", job.failure_effect and f"{job.failure_effect}{f' · {effect}' if effect else ''}"),
            ("Worker", job.worker),
        )
    )


def steps_lines(steps: Sequence[JobStep], zone: tzinfo) -> list[str]:
    """One line a step, in the order of its definition."""
    rows = (
        (
            f"{each.position}",
            each.label,
            each.status,
            f"{each.attempts:,}{'' if each.attempts_most is None else f' of {each.attempts_most:,}'}",
            f"{each.progress} %",
            "money" if each.moves is Moves.MONEY else "",
            "" if each.started_at is None else utc(each.started_at),
            "" if each.settled_at is None else utc(each.settled_at),
            "" if each.next_attempt_at is None else _both(each.next_attempt_at, zone),
            each.reference or "",
            each.failure_reference or "",
            each.sentence or "",
        )
        for each in steps
    )
    heads = ("step", "what", "status", "attempts", "progress", "moves", "began", "ended", "tried again")
    return table((*heads, "reference", "failure", "how it went"), rows, right=(0, 3, 4))


def lineage_lines(lineage: Sequence[JobRelative], of: str, zone: tzinfo) -> list[str]:
    """One line a job of the lineage, what it was made from before it; each retry stands further in."""
    depths: dict[str, int] = {}
    rows = []
    for each in lineage:
        depths[each.id] = 0 if each.retry_of is None else depths.get(each.retry_of, 0) + 1
        name = f"{'  ' * depths[each.id]}{each.id}{'  (this one)' if each.id == of else ''}"
        who = each.requester.id if each.requester is not None else "nobody"
        rows.append((name, each.status, _both(each.requested_at, zone), who, each.reason or ""))
    return table(("lineage", "status", "asked for", "by", "why"), rows)


def notices_lines(notices: Sequence[JobNotice], zone: tzinfo) -> list[str]:
    """One line a notice to the requester: what became of telling of each outcome."""
    rows = (
        (
            f"{each.outcome}{'' if each.corrects is None else f', not {each.corrects}'}",
            each.person.id,
            each.state,
            f"{each.attempts:,}",
            "" if each.delivered_at is None else _both(each.delivered_at, zone),
            "" if each.try_at is None else _both(each.try_at, zone),
            each.reason or each.result or "",
        )
        for each in notices
    )
    return table(("told of", "to", "state", "attempts", "delivered", "next", "why"), rows, right=(3,))


def inputs_lines(inputs: Sequence[JobInput]) -> list[str]:
    """One line an input; what is masked says so."""
    rows = ((each.name, each.label, "(masked)" if each.masked else _value(each)) for each in inputs)
    return table(("input", "what", "value"), rows)


def _value(given: JobInput) -> str:
    return str(given.value).lower() if isinstance(given.value, bool) else str(given.value)


def events_lines(events: Sequence[JobEvent], zone: tzinfo) -> list[str]:
    """One line a line of history, newest first."""
    rows = (
        (
            f"{each.sequence:,}",
            _both(each.at, zone),
            each.kind,
            each.person.id if each.person is not None else "",
            each.sentence,
        )
        for each in events
    )
    return table(("line", "at", "what", "by", "in words"), rows, right=(0,))


def acts_lines(acts: JobActs) -> list[str]:
    """What the asking person may do with it now, and why not."""
    named = (("cancel", acts.cancel), ("retry", acts.retry), ("resolve", acts.resolve), ("reveal", acts.reveal))
    return pairs(tuple((name, "possible" if why is None else f"not possible: {why}") for name, why in named))


def kinds_lines(kinds: Sequence[JobKind]) -> list[str]:
    """One line a kind, with what it takes: an input in brackets may be left out."""
    rows = (
        (
            each.id,
            each.label,
            each.application,
            "money" if each.moves is Moves.MONEY else "",
            "yes" if each.retryable else "no",
            " ".join(
                f"{field.name}:{field.type}" if field.required else f"[{field.name}:{field.type}]"
                for field in each.inputs
            ),
            ", ".join(each.steps),
            each.failure_effect,
        )
        for each in kinds
    )
    heads = ("kind", "label", "application", "moves", "retried", "inputs", "steps", "when it fails")
    return table(heads, rows) if kinds else ["No kind of job is registered."]


def finding_lines(finding: Finding, zone: tzinfo) -> list[str]:
    """One line a thing that was found, with the command that shows it."""
    looked = f"Looked through: {', '.join(PLURALS[noun] for noun in finding.looked) or 'nothing, for want of rights'}."
    if not finding.found:
        return [
            f"Nothing that you may see is called {line(finding.text)}: whole words, or eight characters of an id.",
            looked,
        ]
    rows = (
        (
            each.noun,
            each.title,
            each.state or "",
            each.matched,
            "" if each.at is None else local(each.at, zone),
            each.id,
            _opens(each),
        )
        for each in finding.found
    )
    lines = table(("what", "title", "state", "matched", "of", "id", "shown by"), rows)
    return [*lines, *(["", "There are more: say it more closely."] if finding.more else []), "", looked]


def _opens(found: Found) -> str:
    template = OPENS.get(found.noun)
    if template is None:
        return ""
    source = "" if found.source == HERE else f" --source {shlex.quote(found.source)}"
    return f"jobconsole {template.format(id=shlex.quote(found.id))}{source}"


def _status(job: JobSummary) -> str:
    if job.cancel_asked_at is not None and not job.status.final:
        return f"{job.status}, asked to be cancelled"
    if job.status is JobStatus.FAILED and job.resolution is not None:
        return f"{job.status}, {RESOLUTIONS[job.resolution]}"
    return str(job.status)


def _last(job: JobSummary) -> str | None:
    return None if job.last_step is None else f"{job.last_step_label or job.last_step}: {job.last_step_status}"


def _person(person: Person | None) -> str:
    return "nobody" if person is None else f"{person.id} ({person.name})"


def _both(instant: datetime, zone: tzinfo) -> str:
    return f"{utc(instant)} ({local(instant, zone)})"
