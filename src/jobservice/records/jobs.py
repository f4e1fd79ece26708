"""Owns the form of job records: when a schedule runs, over what, which use case, and what bounds it.

What the records say of one another is compared elsewhere (`job_fit.py`). In records the word is *job*; everywhere else
it is a schedule.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from jobcontract.ids import NAME_MAX
from jobcontract.states import ScheduleType
from jobservice.records.choices import Named, names_or_all
from jobservice.records.durations import duration, shown
from jobservice.records.forms import Form
from jobservice.records.job_guards import read_guard
from jobservice.records.job_rhythms import StatedRhythm, read_misfire, read_rhythm
from jobservice.records.kind import Kind, Reference
from jobservice.rules.schedules import Backoff, Confirmed, Guard, Itself, Misfire, Registered, ScoresDue, Selection

BATCH_MOST = 1_000
ATTEMPTS_MOST = 20
BOUND_MOST = 86_400
"""Seconds that one attempt may take, and that a back-off may wait."""


class _Mode(StrEnum):
    """What a selection is."""

    CONFIRMED = "confirmed"
    ITSELF = "itself"
    REGISTERED = "registered"
    SCORES_DUE = "scores-due"


class _Path(StrEnum):
    """Whether each item has a transaction of its own, or a batch shares one."""

    SINGLE = "single"
    BATCH = "batch"


class _All(StrEnum):
    ALL = "all"


class _Everywhere(StrEnum):
    EVERYWHERE = "everywhere"


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRecord:
    """A job record as written, and the lines of what is compared with other records."""

    title: str
    type: ScheduleType
    stated: StatedRhythm | None
    """None of a manual one, like its misfire."""
    misfire: Misfire | None
    selection: Selection
    selection_line: int
    batch_size: int
    runs: Reference
    batch_path: bool
    path_line: int
    cursor: Reference | None
    lock: str
    bound_seconds: int
    attempts: int
    backoff: Backoff
    tenants: frozenset[str] | None
    retention: Reference
    guard: Guard | None
    runs_where: frozenset[str] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _When:
    """What starts it; all None of a manual one but the guard, which is None of any other."""

    stated: StatedRhythm | None
    misfire: Misfire | None
    guard: Guard | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Over:
    """What it works through."""

    selection: Selection
    batch_size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bounds:
    """What one occurrence may take."""

    seconds: int
    attempts: int
    backoff: Backoff


def _read(form: Form, identifier: str) -> JobRecord | None:
    title = form.text("title", most=NAME_MAX)
    kind = form.choice("type", ScheduleType)
    when = _when(form, kind)
    over = _over(form)
    runs = _reference(form, "runs", missing="runs-unstated", wanted="name the use case that runs for each item")
    path = form.choice("path", _Path)
    cursor = _cursor(form, kind)
    lock = form.slug("lease", required=False)
    bounds = _bounds(form)
    tenants = names_or_all(form, "tenants", _All, missing="tenants-unstated", wanted="list tenants, or say {mode: all}")
    wanted = "name a duration setting that says how long its occurrences are kept"
    retention = _reference(form, "retention", missing="retention-missing", wanted=wanted)
    where = _where(form, kind)
    form.finish()
    if title is None or kind is None or when is None or over is None or runs is None or path is None:
        return None
    if bounds is None or tenants is None or retention is None or where is None:
        return None
    if (cursor is None) is (kind is ScheduleType.SAGA_DRIVING) or (lock is None and "lease" in form):
        return None
    return JobRecord(
        title=title,
        type=kind,
        stated=when.stated,
        misfire=when.misfire,
        selection=over.selection,
        selection_line=form.line_of("selection"),
        batch_size=over.batch_size,
        runs=runs,
        batch_path=path is _Path.BATCH,
        path_line=form.line_of("path"),
        cursor=cursor,
        lock=lock or identifier,
        bound_seconds=bounds.seconds,
        attempts=bounds.attempts,
        backoff=bounds.backoff,
        tenants=tenants.names,
        retention=retention,
        guard=when.guard,
        runs_where=where.names,
    )


def _reference(form: Form, name: str, *, missing: str = "field-missing", wanted: str = "") -> Reference | None:
    identifier = form.slug(name, missing=missing, form=wanted)
    return None if identifier is None else Reference(id=identifier, line=form.line_of(name))


def _when(form: Form, kind: ScheduleType | None) -> _When | None:
    """Its rhythm and misfire policy, or the guard of a manual one; None after a finding."""
    if kind is None:
        for name in ("schedule", "misfire", "misfireAfter", "guard"):
            form.node(name, required=False)
        return None
    if kind is ScheduleType.MANUAL:
        others = [
            refuse(form, name, "is of a job with a schedule; a manual one is started by a person")
            for name in ("schedule", "misfire", "misfireAfter")
        ]
        guard = read_guard(form)
        return None if guard is None or any(others) else _When(stated=None, misfire=None, guard=guard)
    stated, misfire = read_rhythm(form), read_misfire(form)
    guarded = refuse(form, "guard", "is of a manual job; a schedule starts this one")
    return None if stated is None or misfire is None or guarded else _When(stated=stated, misfire=misfire, guard=None)


def refuse(form: Form, name: str, why: str) -> bool:
    """Whether a field is there that has no place here; then it is a finding."""
    if form.node(name, required=False) is None:
        return False
    form.invalid(name, f"{why}; leave it out")
    return True


def _over(form: Form) -> _Over | None:
    wanted = "say {mode: registered, id: ID}, {mode: scores-due, queue: QUEUE}, {mode: confirmed, command: ID} or {mode: itself}"
    stated = form.form("selection", missing="selection-unstated", form=wanted)
    selection = None if stated is None else _selection(stated)
    if isinstance(selection, Itself) and "batchSize" not in form:
        return _Over(selection=selection, batch_size=1)
    most = 1 if isinstance(selection, Itself) else BATCH_MOST
    wanted = f"say how many items one batch takes, 1 to {BATCH_MOST:,}"
    size = form.count("batchSize", least=1, most=most, missing="selection-unstated", form=wanted)
    return None if selection is None or size is None else _Over(selection=selection, batch_size=size)


def _selection(stated: Form) -> Selection | None:
    mode = stated.choice("mode", _Mode)
    selection: Selection | None = Itself() if mode is _Mode.ITSELF else None
    if mode is _Mode.REGISTERED and (identifier := stated.slug("id")) is not None:
        selection = Registered(id=identifier)
    if mode is _Mode.SCORES_DUE and (queue := stated.slug("queue")) is not None:
        selection = ScoresDue(queue=queue)
    if mode is _Mode.CONFIRMED and (command := stated.slug("command")) is not None:
        selection = Confirmed(command=command)
    if mode is not None:
        stated.finish()
    return selection


def _cursor(form: Form, kind: ScheduleType | None) -> Reference | None:
    """The name of the cursor of a saga-driving job; None after a finding, and of any other job."""
    if kind is ScheduleType.SAGA_DRIVING:
        wanted = "a saga-driving job goes on where it stopped: name where that is kept"
        return _reference(form, "cursor", missing="cursor-missing", wanted=wanted)
    if kind is None:
        form.node("cursor", required=False)
    else:
        refuse(form, "cursor", "is of a saga-driving job; any other begins anew each time")
    return None


def _bounds(form: Form) -> _Bounds | None:
    wanted = "say how long one attempt may take, such as PT30M"
    seconds = duration(form, "bound", least=1, most=BOUND_MOST, missing="bound-missing", wanted=wanted)
    wanted = f"say how often it is tried, 1 to {ATTEMPTS_MOST}"
    attempts = form.count("attempts", least=1, most=ATTEMPTS_MOST, missing="attempts-unbounded", form=wanted)
    backoff = _backoff(form)
    if seconds is None or attempts is None or backoff is None:
        return None
    return _Bounds(seconds=seconds, attempts=attempts, backoff=backoff)


def _backoff(form: Form) -> Backoff | None:
    wanted = "say how long the second attempt waits and any at the most, {first: PT10S, most: PT10M}"
    stated = form.form("backoff", missing="backoff-missing", form=wanted)
    if stated is None:
        return None
    first = duration(stated, "first", least=1, most=BOUND_MOST)
    most = duration(stated, "most", least=1, most=BOUND_MOST)
    stated.finish()
    if first is None or most is None:
        return None
    if first > most:
        stated.invalid("first", f"is {shown(first)}, more than the most of {shown(most)}")
        return None
    return Backoff(first_seconds=float(first), most_seconds=float(most))


def _where(form: Form, kind: ScheduleType | None) -> Named | None:
    """The deployments that run it: everywhere where a job with a schedule does not say."""
    if kind is not ScheduleType.MANUAL and form.node("runsWhere", required=False) is None:
        return Named(names=None)
    wanted = "list the deployments that may run it, or say {mode: everywhere}"
    return names_or_all(form, "runsWhere", _Everywhere, missing="runs-where-missing", wanted=wanted)


JOB = Kind(word="job", read=_read)
