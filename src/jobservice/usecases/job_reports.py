"""Owns what a Worker writes of a job that it runs: taking it up, the beginning of a step, progress, what was sent, how an
attempt ended, and its cancellation. Each is one report: step record, line of history and the job's summary together or
not at all (requirement INV-05), inside the transaction that is given.

Every report locks the job's row and compares holder and fence before anything else. What it finds otherwise it says, and
writes nothing: `Lost` (another Worker has it), `Ended` (it is settled: a late report changes nothing, INV-03),
`CancelAsked` (roll back what the transaction did, then `settle_cancelled`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jobcontract.job_states import JobStatus
from jobcontract.states import Moves
from jobservice.application import Outcome
from jobservice.application_jobs import JobInputs, Patience
from jobservice.rules.job_states import StepState
from jobservice.store.database import Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One Worker's hold on one job: every report carries it."""

    family: str
    job: str
    tenant: str
    holder: str
    """Id of the Worker (a UUID)."""
    fence: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost:
    """The job is not this run's (any more), or is not there: stop, and write nothing."""

    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """The job is settled, by this report or before it. `refused`: why a success was not kept (INV-07)."""

    status: JobStatus
    sentence: str
    here: bool = False
    """Whether this very call settled it."""
    refused: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelAsked:
    """Somebody asked for the job to be cancelled; nothing was written. Roll back, then `settle_cancelled`."""

    person: str | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A stop, or the money switch, lets no step begin now; nothing was written. Ask again in a while."""

    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """The step is tried again in so many seconds; nothing was written."""

    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Passed:
    """The step has succeeded already (its Worker died after the report): go on with the next one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenUp:
    """The job is this Worker's: `run` is what its reports carry. `steps` in order; the first that has not succeeded is
    next. `cancel_asked`: begin nothing, `settle_cancelled`."""

    run: Run
    kind: str
    version: int
    """Of the kind's definition that this job uses."""
    moves: Moves
    steps: tuple[StepState, ...]
    cancel_asked: bool
    lineage: str
    plan: str | None
    recovery: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """An attempt at a step began, and was counted. What the step may see."""

    step: StepState
    attempt: int
    kind: str
    version: int
    inputs: JobInputs
    results: Mapping[str, Mapping[str, Any]]
    """What each earlier step kept."""
    requester: str | None
    subject: str | None
    customer: str | None
    workspace: str | None
    plan: str | None
    recovery: str | None
    lineage: str
    scope: str
    """The idempotency scope: lineage and step, equal in every attempt and in every retry of the job."""
    outward_key: str
    """`scope` as the outside world knows it."""
    sent: bool
    """An earlier attempt committed *sent* and no outcome: ask with `look_up`, do not send again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A progress or *sent* was written. `progress`: of the whole job."""

    progress: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GoOn:
    """The step succeeded, and the step at `position` is next."""

    position: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Again:
    """The step is tried again in so many seconds."""

    seconds: float
    sentence: str


async def take_up(
    transaction: Transaction, *, family: str, job: str, holder: str, handle: str
) -> TakenUp | Ended | Lost:
    """Make the job this Worker's under a raised fence; a job that ran before says in its history that it was taken up.

    `handle`: the engine's name of the workflow; one that is not the job's own is `Lost`. A pending job stays pending
    until its first step begins. Taken up twice by the same holder raises the fence twice.
    """
    raise NotImplementedError


async def begin_step(
    transaction: Transaction, run: Run, position: int, *, attempts_most: int
) -> Begun | Passed | Wait | Held | CancelAsked | Ended | Lost:
    """Begin an attempt at the step: counted here, so that one whose Worker is killed counts (case RETRY-01).

    Where `attempts_most` were begun already, the last one's Worker was lost: step and job end as failed (`Ended`, here).
    Reads the tenant's stop, the stop of its kind, and for a step that moves money the money switch: `Held`. Whoever sets
    one waits until this transaction ended.
    """
    raise NotImplementedError


async def report_progress(
    transaction: Transaction, run: Run, position: int, percent: int, sentence: str | None = None
) -> Kept | CancelAsked | Ended | Lost:
    """Write how far the running step is; less than before changes nothing (INV-04)."""
    raise NotImplementedError


async def report_sent(transaction: Transaction, run: Run, position: int) -> Kept | CancelAsked | Held | Ended | Lost:
    """Write that the running step's one call to the outside world is made now: commit it before the call. Reads stops and
    money switch once more."""
    raise NotImplementedError


async def report_outcome(
    transaction: Transaction,
    run: Run,
    position: int,
    outcome: Outcome,
    *,
    patience: Patience,
    result: Mapping[str, Any] | None = None,
    reference: str | None = None,
    jitter: float = 0.0,
) -> GoOn | Again | Ended | CancelAsked | Lost:
    """Write how the running attempt ended, in the transaction of its effects; where that ends the job, settle it.

    done: the step succeeded; the last one settles the job as succeeded. retry, failed: tried again within `patience`
    (every way counts against its attempts, case RETRY-04), else step and job failed. refused, uncertain: failed at once.
    `result`: what later steps may read. `reference`: of the log line of a failure; None = a new one. `jitter`: 0 to 1.
    Where a cancellation was asked for, nothing is written, unless the step was sent: what happened outside is kept.
    """
    raise NotImplementedError


async def settle_cancelled(transaction: Transaction, run: Run) -> Ended | Lost:
    """Settle the job as cancelled, with its running and queued steps: after its waits and tasks ended. `Lost` also where
    nobody asked for it."""
    raise NotImplementedError


async def hand_back(transaction: Transaction, run: Run, sentence: str) -> bool:
    """Give the job back as its Worker stops: a running step is to be tried again at once and its attempt counts against no
    limit; the holder is taken off. False where the job is not this run's or is settled."""
    raise NotImplementedError
