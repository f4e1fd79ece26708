"""Owns the statements about the root rows of jobs: adding one with its steps, locking, writing a transition with its steps
and lines of history, what people ask of one. Decides nothing (`rules/jobs.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any

from psycopg.types.json import Jsonb

from jobcontract.job_states import Carrier, JobResolution, JobStatus, StepStatus
from jobcontract.states import Moves
from jobservice.rules.job_states import JobState
from jobservice.rules.stops import InForce
from jobservice.store.database import Row, Transaction
from jobservice.store.items import Reach, readable
from jobservice.store.job_events import NewEvent
from jobservice.store.job_steps import StepChange, read_step
from jobservice.store.stops import read as read_stop

Asked = tuple[str, Mapping[str, object]]
"""A statement and its parameters, to be sent with others (`Transaction.together`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedJob:
    """A job's row and steps, locked until the transaction ends. Never leaves the service: `handle` is the engine's."""

    family: str
    id: str
    tenant: str
    kind: str
    kind_version: int
    kind_label: str | None
    """As it was published when the job was submitted."""
    state: JobState
    submission_identity: str
    inputs: Mapping[str, Any]
    results: Mapping[str, Mapping[str, Any]]
    """What each step kept, by step."""
    requester: str | None
    subject: str | None
    customer: str | None
    workspace: str | None
    requested_at: datetime
    started_at: datetime | None
    settled_at: datetime | None
    handle: str | None
    holder: str | None
    fence: int
    failure_summary: str | None
    failure_reference: str | None
    failure_effect: str | None
    lineage: str
    retry_of: str | None
    cancel_asked_at: datetime | None
    cancel_asked_by: str | None
    plan: str | None
    recovery: str | None
    depth: int
    """How many jobs submitted one another before it."""
    version: int
    now: datetime
    """The database's clock after the lock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewJob:
    """A job to add: its root, its steps (step, label, use case, undo, moves, weight) and the first line of its history.
    `engine`: whether it is handed over."""

    family: str
    kind: str
    version: int
    moves: str
    carrier: str
    identity: str
    inputs: Mapping[str, Any]
    digest: bytes
    requester: str | None
    subject: str | None
    customer: str | None
    workspace: str | None
    plan: str | None
    recovery: str | None
    effect: str | None
    steps: Sequence[tuple[str, str, str, str | None, str, int]]
    sentence: str
    person: str | None
    detail: Mapping[str, Any]
    engine: bool
    depth: int = 0
    lineage: str | None = None
    retry_of: str | None = None
    retry_reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RootChange:
    """What becomes of a job's root. Holder and fence: of whoever writes, compared; None = compared is the version alone.
    `taken`: a new holder takes it up, under a raised fence."""

    status: JobStatus
    holder: str | None = None
    fence: int | None = None
    new_holder: str | None = None
    taken: bool = False
    progress: int = 0
    last_step: str | None = None
    last_step_status: StepStatus | None = None
    summary: str | None = None
    failure_reference: str | None = None
    cause_step: str | None = None
    cause: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewNotice:
    """Telling the requester of one outcome. `suppressed`: why they need not be told."""

    person: str
    outcome: JobStatus
    subject: str
    text: str
    suppressed: str | None = None


async def insert(transaction: Transaction, new: NewJob) -> str | None:
    """Add a job, and hand it over: its id. None where its identity is taken, or an unsettled retry is there already."""
    parameters: dict[str, Any] = {each.name: getattr(new, each.name) for each in fields(new)}
    columns = list(zip(*new.steps, strict=True))
    names = ("steps", "labels", "use_cases", "undos", "moves_of", "weights")
    parameters |= {name: list(column) for name, column in zip(names, columns, strict=True)}
    parameters |= {"inputs": Jsonb(dict(new.inputs)), "detail": Jsonb(dict(new.detail))}
    row = await transaction.row("jobs/insert", **parameters)
    return None if row is None else str(row["id"])


async def of_identity(transaction: Transaction, family: str, kind: str, identity: str) -> Row | None:
    """The job of a submission identity: id, status, inputs, digest and scope; None where there is none."""
    return await transaction.row("jobs/of_identity", family=family, kind=kind, identity=identity)


async def lock_lineage(transaction: Transaction, job: LockedJob) -> None:
    """Let nobody else retry a job of the lineage until the transaction ends. No row is locked."""
    await transaction.row("jobs/lock_lineage", lineage=job.lineage)


async def retries_of(transaction: Transaction, job: LockedJob) -> Row:
    """The job of a lineage that is not settled (`unsettled`, None: there is none), how many it has (`jobs`), and the
    submission identity of the first of them (`identity`)."""
    row = await transaction.row("jobs/retries_of", family=job.family, lineage=job.lineage)
    assert row is not None  # noqa: S101  # it is of one row
    return row


async def find(transaction: Transaction, job: str, reach: Reach) -> Row | None:
    """Family and kind of a job within reach; None where the tenant has none, or the text is no id."""
    return await transaction.row("jobs/find", job=job, **reach.parameters()) if readable(job) else None


async def line(transaction: Transaction, family: str, job: str) -> Row | None:
    """A job of the tenant as a line of a listing (`jobs.job_lines`), and the clock; None where there is none."""
    return await transaction.row("jobs/line", family=family, job=job)


async def lock(transaction: Transaction, family: str, job: str) -> LockedJob | None:
    """The job of the transaction's tenant, locked, as it stands then; None where there is none."""
    of = {"family": family, "job": job}
    _, rows = await transaction.together([("jobs/lock", of), ("jobs/read", of)])
    return _read(rows[0]) if rows else None


async def read(transaction: Transaction, family: str, job: str) -> LockedJob | None:
    """The same without a lock: for looking, never for acting."""
    row = await transaction.row("jobs/read", family=family, job=job)
    return None if row is None else _read(row)


async def lock_holding_work(transaction: Transaction, family: str, job: str) -> tuple[LockedJob, HeldBy] | None:
    """As `lock`, and what holds its steps still. Whoever stops work or money waits until the transaction ended."""
    of = {"family": family, "job": job}
    asked: list[Asked] = [("jobs/hold_work", {}), ("jobs/lock", of), ("jobs/read", of), ("jobs/held", of)]
    _, _, rows, held = await transaction.together(asked)
    return (_read(rows[0]), _held(held[0])) if rows and held else None


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldBy:
    """What holds a job's steps still: the widest stop, and why no money moves; None = nothing does."""

    stop: InForce | None
    money: str | None


def _held(row: Row) -> HeldBy:
    money = None
    if row["restored"]:
        money = "this database has to be reconciled with the bank first"
    elif row["money_stopped"] or row["money_stopped"] is None:
        money = str(row["money_reason"] or "no reason was given")
    return HeldBy(stop=None if row["stop"] is None else read_stop(row["stop"]), money=money)


async def write(
    transaction: Transaction,
    job: LockedJob,
    change: RootChange,
    events: Sequence[NewEvent],
    steps: Sequence[StepChange] = (),
    *,
    notice: NewNotice | None = None,
    retry_succeeded: bool = False,
) -> Row | None:
    """Write one transition of a locked job: root, steps, lines of history and what follows from a settlement, in one trip.
    `progress` and `fence` as they are now; None where the job is not of that version, or not that holder's, any more:
    then roll back."""
    of = {"family": job.family, "job": job.id}
    asked: list[Asked] = []
    if steps:
        asked.append(("job_steps/write", {**of, "steps": Jsonb([each.parameters() for each in steps])}))
    if change.cause is not None:
        cause = {"kind": job.kind, "step": change.cause_step, "text": change.cause}
        asked.append(("jobs/keep_cause", cause))
    root = {**of, **asdict(change), "version": job.version, "taken": int(change.taken)}
    place = len(asked)
    asked.append(("jobs/write", {**root, "events": Jsonb([each.parameters() for each in events])}))
    if notice is not None:
        if notice.outcome is JobStatus.FAILED:
            asked.append(("jobs/suppress_success", of))
        asked.append(("jobs/notify", {**of, **asdict(notice)}))
    if retry_succeeded:
        asked.append(("jobs/resolve_retried", {**of, "lineage": job.lineage}))
    answers = await transaction.together(asked)
    return answers[place][0] if answers[place] else None


async def ask_cancel(
    transaction: Transaction, job: LockedJob, *, person: str | None, reason: str, sentence: str
) -> bool:
    """Keep that a locked job is to be cancelled, by whom and why; False where it is not as it was read."""
    written = await transaction.run(
        "jobs/ask_cancel",
        family=job.family,
        job=job.id,
        version=job.version,
        person=person,
        reason=reason,
        sentence=sentence,
    )
    return written > 0


async def cancel_pending(
    transaction: Transaction, job: LockedJob, *, person: str | None, sentence: str, notice: NewNotice | None
) -> bool:
    """Settle a locked job as cancelled that nobody began, of which that was asked; False where it is not so."""
    of = {"family": job.family, "job": job.id}
    written = await transaction.run("jobs/cancel_pending", **of, person=person, sentence=sentence)
    if written and notice is not None:
        await transaction.run("jobs/notify", **of, **asdict(notice))
    return written > 0


async def resolve(
    transaction: Transaction,
    job: LockedJob,
    resolution: JobResolution,
    *,
    person: str,
    reason: str,
    ticket: str | None,
    sentence: str,
) -> Sequence[str] | None:
    """Keep why a locked failure asks for nothing any more, and with it the unresolved failures that it is a retry of: their
    ids. None where it is not as it was read."""
    said = {
        "family": job.family,
        "job": job.id,
        "resolution": resolution.value,
        "person": person,
        "reason": reason,
        "ticket": ticket,
        "sentence": sentence,
        "detail": Jsonb({"resolution": resolution.value, "ticket": ticket}),
    }
    if not await transaction.run("jobs/resolve", **said, version=job.version):
        return None
    if job.retry_of is None:
        return ()
    rows = await transaction.rows("jobs/resolve_before", **said, lineage=job.lineage, requested_at=job.requested_at)
    return [str(row["job"]) for row in rows]


def _read(row: Row) -> LockedJob:
    steps = row["steps"] or []
    state = JobState(
        status=JobStatus(row["status"]),
        progress=row["progress"],
        moves=Moves(row["moves"]),
        carrier=Carrier(row["carrier"]),
        steps=tuple(read_step(each) for each in steps),
        cancel_asked=row["cancel_asked_at"] is not None,
        cancel_asked_by=row["cancel_asked_by_name"],
        cancel_reason=row["cancel_reason"],
        resolution=None if row["resolution"] is None else JobResolution(row["resolution"]),
    )
    of_state = {
        "status",
        "progress",
        "moves",
        "carrier",
        "cancel_asked_by_name",
        "cancel_reason",
        "resolution",
        "steps",
    }
    return LockedJob(
        state=state,
        results={each["step"]: each["result"] for each in steps if each["result"] is not None},
        **{name: value for name, value in row.items() if name not in of_state},
    )
