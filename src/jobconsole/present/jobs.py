"""Owns how background jobs are listed: status words, columns and cells, views, counts that say how exact they are, sources
that were not reached, what is said where there is nothing. Pure. One job in full: `job_lines`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from jobconsole.present.columns import Column, Line, Piece, Tone, clip_line, joined, plain, whole_pieces, width_of
from jobconsole.present.schedules import At
from jobconsole.present.times import age_short, ago, brief_span, countdown
from jobcontract.job_states import JobResolution, JobStatus, JobView, StepStatus
from jobcontract.jobs import HERE
from jobcontract.states import Moves

if TYPE_CHECKING:
    from jobcontract.jobs import JobCount, JobCounts, JobSource, JobSummary

STATES: Mapping[JobStatus, tuple[str, Tone]] = {
    JobStatus.PENDING: ("○ pending", Tone.PLAIN),
    JobStatus.RUNNING: ("◆ running", Tone.MINE),
    JobStatus.SUCCEEDED: ("✓ succeeded", Tone.GOOD),
    JobStatus.FAILED: ("✗ failed", Tone.BAD),
    JobStatus.CANCELLED: ("⊘ cancelled", Tone.QUIET),
}
"""Sign and word of each of the five statuses."""
RESOLUTIONS: Mapping[JobResolution, str] = {
    JobResolution.ACKNOWLEDGED: "acknowledged",
    JobResolution.RESOLVED: "resolved",
    JobResolution.RETRIED: "mended by a retry",
}
RETRIED = "↻ retried"
"""Stands before why a failure failed that was retried, without success so far."""
CANCELLING = ("◌ cancelling", Tone.WARN)
"""In place of the status, from when a person asked until it ended."""
WIDE = 110
"""From this width on what happened has a column; below, it stands under the row."""
JOB_LEAST, JOB_MOST = 30, 44
"""Cells of what a job is: where one has more, the row under the cursor says it in full."""
SOON = 2.0
"""Seconds within which a count that is not exact needs no age."""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What the list shows: a view of the service, narrowed by a status where the filter names none."""

    words: str
    view: JobView
    narrowed: str = ""
    """A condition that stands before the filter."""

    def asked(self, filter_text: str) -> str:
        """The filter as it is sent."""
        return " ".join(part for part in (self.narrowed, filter_text) if part)


VIEWS: Sequence[View] = (
    View(words="unresolved", view=JobView.UNRESOLVED),
    View(words="under way", view=JobView.ALL, narrowed="status:pending,running"),
    View(words="all", view=JobView.ALL),
)
"""What the key of views goes through."""
UNRESOLVED, UNDER_WAY, EVERY = range(3)


def jobs_columns(*, wide: bool, sources: bool) -> tuple[Column, ...]:
    """The columns of the list; `sources`: jobs of several are in it. Where it is narrow, what happened stands under a row."""
    shared = (
        Column(id="status", label="status", least=8, whole=True),
        Column(id="age", label="age", least=4, right=True, uncut=True, most=8, yields=6),
        Column(id="job", label="job", least=JOB_LEAST, most=JOB_MOST, yields=7),
        Column(id="customer", label="customer", least=8, uncut=True, most=24, yields=2),
    )
    if not wide:
        return shared
    return (
        *shared,
        Column(id="who", label="asked by", least=8, uncut=True, most=14, yields=3),
        *((Column(id="source", label="source", least=6, uncut=True, most=10, yields=4),) if sources else ()),
        Column(id="what", label="what happened", least=16, yields=8),
    )


def jobs_cells(job: JobSummary, at: At) -> Mapping[str, Piece]:
    """The cells of one job's row by column id."""
    word, tone = status_word(job)
    what, what_tone = happened(job, at)
    retried = is_retried(job)
    return {
        "status": Piece(word, Tone.QUIET if retried else tone),
        "age": Piece(age_short(job.requested_at, at.now), Tone.QUIET),
        "job": Piece(job_text(job), Tone.QUIET if retried else Tone.STRONG),
        "customer": Piece(job.customer or job.workspace or "–", Tone.QUIET),
        "who": Piece(job.requester.id if job.requester is not None else "–", Tone.QUIET),
        "source": Piece("here" if job.source == HERE else job.source, Tone.QUIET),
        "what": Piece(f"{RETRIED} · {what}" if retried else what, Tone.QUIET if retried else what_tone),
    }


def under_pieces(job: JobSummary) -> Sequence[Piece]:
    """What stands under a narrow row before what happened, whole: nothing where its status says enough."""
    told = [Piece("" if job.source == HERE else f"of {job.source}", Tone.QUIET)]
    if job.status is JobStatus.FAILED:
        nameless = "no reference" if job.source == HERE else ""
        told.append(Piece(job.failure_reference or nameless, Tone.QUIET))
        told.append(Piece(RETRIED if is_retried(job) else "", Tone.MINE))
        told.append(Piece(RESOLUTIONS[job.resolution] if job.resolution is not None else "", Tone.GOOD))
    elif job.status is JobStatus.RUNNING:
        told.append(Piece(f"{job.progress} %", Tone.MINE))
    return [piece for piece in told if piece.text]


def aside_piece(job: JobSummary) -> Piece:
    """What happened, as far as there is room behind what stands under a narrow row."""
    if job.status is JobStatus.FAILED:
        return Piece(why_text(job), Tone.QUIET if is_retried(job) else Tone.PLAIN)
    return Piece(*_going(job)) if job.status is JobStatus.RUNNING else Piece("")


def job_text(job: JobSummary) -> str:
    """`Activation · Workspace otley/main`: what of its kind stands before its first "of", and what it is about; one of
    them where the other says it, too."""
    kind, subject = job.kind_label.partition(" of ")[0], subject_text(job)
    money = " ¤" if job.moves is Moves.MONEY else ""
    if not subject:
        return f"{job.kind_label}{money}"
    if f"{subject} ".casefold().startswith(f"{kind} ".casefold()):
        return f"{subject[: len(kind)]}{money}{subject[len(kind) :]}"
    return f"{kind}{money} · {subject}"


def subject_text(job: JobSummary) -> str:
    """What it is about, beside the label of its kind: empty where that is all there is to say."""
    said = job.subject.casefold().replace("_", " ") == job.kind_label.casefold()
    return "" if said else job.subject


def is_retried(job: JobSummary) -> bool:
    """Whether it is an unresolved failure that was retried: what is to be looked at is its retry."""
    return job.status is JobStatus.FAILED and job.retried_by is not None and job.resolution is None


def why_text(job: JobSummary) -> str:
    """Why it failed; a part that is named twice in a row is named once."""
    told = job.failure_summary or "no reason is known"
    name, _, rest = told.partition(": ")
    return rest if rest.casefold().startswith(f"{name.casefold()} ") else told


def status_word(job: JobSummary) -> tuple[str, Tone]:
    """Sign and word of where it stands; whoever asked for it to be cancelled sees that it is."""
    if job.cancel_asked_at is not None and not job.status.final:
        return CANCELLING
    word, tone = STATES[job.status]
    return (word, Tone.QUIET) if job.status is JobStatus.FAILED and job.resolution is not None else (word, tone)


def what_text(job: JobSummary, at: At) -> tuple[str, Tone]:
    """What a reader wants to know beyond the status, of a failure that was retried also that it was."""
    what, tone = happened(job, at)
    return (f"{what} {RETRIED[:1]} It was retried." if is_retried(job) else what), tone


def happened(job: JobSummary, at: At) -> tuple[str, Tone]:
    """Why it failed, how far it is, how long it took."""
    if job.status is JobStatus.FAILED:
        resolved = f" ({RESOLUTIONS[job.resolution]})" if job.resolution is not None else ""
        return f"{why_text(job)}{resolved}", Tone.PLAIN
    if job.status is JobStatus.PENDING:
        return f"waiting for {brief_span((at.now - job.requested_at).total_seconds())}", Tone.QUIET
    if job.status is JobStatus.RUNNING:
        what, tone = _going(job)
        return f"{job.progress} %{f' · {what}' if what else ''}", tone
    return took_text(job), Tone.QUIET


def _going(job: JobSummary) -> tuple[str, Tone]:
    """At which step one is that runs."""
    retrying = job.last_step_status is StepStatus.RETRYING
    label = job.last_step_label or job.last_step or ""
    return (f"{label} waits to be tried again".strip(), Tone.WARN) if retrying else (label, Tone.PLAIN)


def took_text(job: JobSummary) -> str:
    """`took 4 min`; `never begun` where it was cancelled before; empty where it is not settled."""
    if job.settled_at is None:
        return ""
    if job.started_at is None:
        return "never begun"
    seconds = (job.settled_at - job.started_at).total_seconds()
    return f"took {'under 1 s' if seconds < 1 else brief_span(seconds)}"


def scope_text(job: JobSummary) -> str:
    """`acme / leeds-3`: of which customer and workspace it is; a dash where of none."""
    return " / ".join(part for part in (job.customer, job.workspace) if part) or "–"


def row_lines(job: JobSummary, at: At, *, brief: bool = False) -> list[Line]:
    """What is to know of the job under the cursor, in full; why it failed comes last, that is what may be long. `brief`: what
    its narrow row says whole is not said again."""
    word, tone = status_word(job)
    kind = Piece(job.kind_label, Tone.STRONG)
    money = Piece("moves money" if job.moves is Moves.MONEY else "", Tone.WARN)
    scope = scope_text(job)
    said = brief and width_of(job_text(job)) <= JOB_LEAST + 6
    head = [Piece(word, tone), kind, money, Piece(subject_text(job))]
    who = [
        Piece(f"reference {job.failure_reference}" if job.failure_reference else "", Tone.STRONG),
        *([kind, money] if said else []),
        Piece(f"of {scope}" if scope != "–" else ""),
        Piece(f"by {job.requester.id}" if job.requester is not None else "by no person"),
        Piece(elsewhere_words(job.source, job.application), Tone.WARN),
    ]
    what, what_tone = what_text(job, at)
    failed = job.status is JobStatus.FAILED and job.resolution is None
    return [*([] if said else [joined(head)]), joined(who), (Piece(what, Tone.BAD if failed else what_tone),)]


def elsewhere_words(source: str, application: str) -> str:
    """That a job is another engine's and is acted on there; empty for the service's own."""
    return "" if source == HERE else f"of {source} ({application}): only read here"


# Counts


def count_words(count: JobCount, noun: str, now: datetime) -> str:
    """`412 unresolved`, `about 4,120 unresolved, 4 s old`, `at least 1,000 unresolved`."""
    age = 0.0 if count.exact or count.at_least else (now - count.as_of).total_seconds()
    return f"{brief_count(count)} {noun}{f', {brief_span(age)} old' if age >= SOON else ''}"


def brief_count(count: JobCount) -> str:
    """`412`, `about 4,120`, `at least 1,000`: where its age does not matter."""
    if count.exact:
        return f"{count.count:,}"
    return f"{'at least' if count.at_least else 'about'} {count.count:,}"


def match_words(counts: JobCounts | None, now: datetime) -> str:
    """How many match a filter, beside it."""
    if counts is None:
        return "counting …"
    verb = "matches" if counts.listed.exact and counts.listed.count == 1 else "match"
    return count_words(counts.listed, verb, now)


def jobs_title(counts: JobCounts | None, shown: int, now: datetime, width: int, *, several: bool) -> Line:
    """`Unresolved failures · 412 unresolved · 31 running`: what is listed, then figures, as many as fit whole. `several`: jobs
    of other engines are listed, too, and those are in none of these figures."""
    heads = {UNRESOLVED: "Unresolved failures", UNDER_WAY: "Jobs under way", EVERY: "Jobs"}
    told = [Piece(heads[shown], Tone.STRONG)]
    if counts is None:
        return joined(told)
    unresolved = Piece(
        count_words(counts.unresolved, f"unresolved{' here' if several else ''}", now),
        Tone.BAD if counts.unresolved.count else Tone.GOOD,
    )
    told.append(unresolved)
    for status, tone in (
        (JobStatus.RUNNING, Tone.MINE),
        (JobStatus.PENDING, Tone.PLAIN),
        (JobStatus.FAILED, Tone.QUIET),
        (JobStatus.SUCCEEDED, Tone.QUIET),
        (JobStatus.CANCELLED, Tone.QUIET),
    ):
        count = counts.statuses.get(status)
        if count is not None and (count.count or not count.exact):
            told.append(Piece(f"{brief_count(count)} {status}", tone))
    return whole_pieces(told, width)


def views_line(shown: int, marked: int, loaded: int, *, more: bool, key: str, width: int, elsewhere: int = 0) -> Line:
    """`[unresolved]  under way  all  v      3 marked · 50 read, 2 of them elsewhere, more follow`. `elsewhere`: jobs of
    other engines, which no figure above has in it."""
    pieces: list[Piece] = []
    for at, view in enumerate(VIEWS):
        here = at == shown
        pieces += [
            Piece(f"[{view.words}]" if here else view.words, Tone.STRONG if here else Tone.QUIET),
            Piece("  "),
        ]
    left = (*pieces, Piece(key, Tone.MINE))
    others = f", {elsewhere:,} of them elsewhere" if elsewhere else ""
    right = joined(
        [
            Piece(f"{marked:,} marked" if marked else "", Tone.MINE),
            Piece(f"{loaded:,} read{others}{', more follow' if more else ''}" if loaded else "", Tone.QUIET),
        ]
    )
    room = width - width_of(plain(left)) - width_of(plain(right))
    return (*left, Piece(" " * room), *right) if room >= 2 else left


def source_lines(sources: Iterable[JobSource], looked_to: datetime | None, now: datetime, width: int) -> list[Line]:
    """Which sources were not reached, and why; how far back was looked where a page is short."""
    lines: list[Line] = []
    away = [source for source in sources if not source.reached]
    named = ", ".join(source.name for source in away)
    if away:
        told = away[0].sentence or "It did not answer." if len(away) == 1 else "they were not reached."
        lines.append(clip_line((Piece(f"▲ Without {named}: {told}", Tone.WARN),), width))
    if looked_to is not None:
        lines.append((Piece(f"Looked as far back as {ago(looked_to, now)}; end looks further.", Tone.QUIET),))
    return lines


def empty_words(shown: int, filter_text: str, counts: JobCounts | None, keys: Mapping[str, str]) -> str:
    """Why there is nothing to see, and what to do next. `keys`: `view`, `clear`, `submit`."""
    if filter_text:
        where = {UNRESOLVED: "no unresolved failure", UNDER_WAY: "no job under way", EVERY: "no job"}[shown]
        return f"The filter finds {where}; {keys['clear']} clears it, {keys['view']} shows the next view."
    if shown == UNRESOLVED:
        going = counts.statuses.get(JobStatus.RUNNING) if counts is not None else None
        runs = f" {going.count:,} run now." if going is not None and going.exact and going.count else ""
        return f"No failure waits for anybody.{runs} {keys['view']} shows the jobs under way, then all of them."
    if shown == UNDER_WAY:
        return f"No job runs or waits. {keys['view']} shows all of them."
    return f"There is no job that you may see. {keys['submit']} submits one where your role allows it."


def next_attempt_text(instant: datetime, now: datetime) -> str:
    """`again in 0:41`, `again now`."""
    left = (instant - now).total_seconds()
    return f"again in {countdown(left)}" if left >= 1 else "again now"
