"""Owns the wire models of recoveries: plans that replay, requeue, discard or disable more than one thing.

A recovery freezes its set on the server; whoever confirms computes its digest over every page
(`jobcontract.recovery_digest`), which no answer carries. Payouts have plans of their own (`jobcontract.plans`).
"""

from __future__ import annotations

from typing import Annotated

from pydantic import AwareDatetime, Field, StringConstraints, model_validator

from jobcontract.ids import FILTER_MAX
from jobcontract.job_states import JobStatus
from jobcontract.occurrences import ItemCounts
from jobcontract.operating import LeftOut, RecoveryAct, RecoveryState, RecoveryTarget
from jobcontract.plans import Code
from jobcontract.session import Person
from jobcontract.states import ConfirmMethod, DeadCause, Moves, OccurrenceState, Turn
from jobcontract.wire import Answer, Key, Reason, Wire

NAMED_MOST = 1_000
"""Most occurrences or schedules that an order names one by one."""
Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class RecoveryOrder(Wire):
    """Freeze a set for `act`: occurrences or schedules named one by one, or what is found in a stretch of time.

    Replay takes `since` and `until` or names occurrences; requeue and discard take dead letters by schedule, cause and
    stretch, or names; disable names schedules.
    """

    act: RecoveryAct
    reason: Reason
    occurrences: Annotated[tuple[Key, ...], Field(min_length=1, max_length=NAMED_MOST)] | None = None
    """By id or by name."""
    schedules: Annotated[tuple[Key, ...], Field(min_length=1, max_length=NAMED_MOST)] | None = None
    """None: of every schedule; those to be disabled are named."""
    since: AwareDatetime | None = None
    """Scheduled at or after this."""
    until: AwareDatetime | None = None
    """Scheduled before this."""
    causes: Annotated[tuple[DeadCause, ...], Field(min_length=1)] | None = None
    """Of dead letters; None: any."""
    skipped: bool = False
    """Whether a replay also runs instants that a misfire policy skipped."""
    disable_until: AwareDatetime | None = None
    """When schedules that are disabled are enabled again by themselves."""
    jobs: Annotated[tuple[Key, ...], Field(min_length=1, max_length=NAMED_MOST)] | None = None
    """By id: to be retried or cancelled."""
    job_filter: Annotated[str, StringConstraints(max_length=FILTER_MAX)] | None = None
    """All jobs that this finds, in place of names."""

    @model_validator(mode="after")
    def _whole(self) -> RecoveryOrder:
        if self.act in (RecoveryAct.RETRY, RecoveryAct.CANCEL):
            return self._of_jobs()
        if self.jobs is not None or self.job_filter is not None:
            raise ValueError("only `retry` and `cancel` take jobs")
        if self.act is RecoveryAct.DISABLE:
            if self.schedules is None or self.occurrences is not None:
                raise ValueError("name the `schedules` that are to be disabled")
            return self
        if self.occurrences is not None and (self.since is not None or self.until is not None or self.skipped):
            raise ValueError("name either `occurrences` or a stretch of time")
        if self.act is RecoveryAct.REPLAY and self.occurrences is None and (self.since is None or self.until is None):
            raise ValueError("a replay takes a whole stretch: `since` and `until`")
        if self.skipped and self.act is not RecoveryAct.REPLAY:
            raise ValueError("only a replay takes skipped instants")
        return self

    def _of_jobs(self) -> RecoveryOrder:
        if (self.jobs is None) == (self.job_filter is None):
            raise ValueError("name either `jobs` or a `job_filter`")
        others = (self.occurrences, self.schedules, self.since, self.until, self.causes, self.disable_until)
        if self.skipped or any(each is not None for each in others):
            raise ValueError("jobs are named by `jobs` or a `job_filter` alone")
        return self


class RecoveryMoney(Answer):
    """What confirmed plans hold in one currency and a replay would try again."""

    currency: str
    exponent: int
    out_minor: int
    count: int


class RecoverySchedule(Answer):
    """How many rows of a recovery are of one schedule."""

    schedule: str
    title: str
    moves: Moves
    count: int


class LeftOutCount(Answer):
    """How many things one reason leaves out."""

    reason: LeftOut
    count: int


class RecoveryAccount(Answer):
    """The rows in one turn: with all turns together every row is counted once."""

    turn: Turn
    count: int


class Recovery(Answer):
    """A recovery with everything but its rows."""

    id: str
    name: str
    """Random, like lark-42: to say aloud."""
    act: RecoveryAct
    reason: str
    words: str
    """What was asked for, in words: `replay statements.nightly, 28 Nov 00:00 to 30 Nov 00:00 UTC`."""
    command: str
    """The headless command that makes the same one."""
    tenant: str
    owner: Person
    state: RecoveryState
    edition: int
    """Rises each time it is frozen anew."""
    moves: Moves
    confirm_by: ConfirmMethod | None
    """How its confirmation is proved, where it moves money."""
    disable_until: AwareDatetime | None
    frozen_at: AwareDatetime
    expires_at: AwareDatetime
    """Of an open one."""
    confirmed_at: AwareDatetime | None
    started_at: AwareDatetime | None
    ended_at: AwareDatetime | None
    ended_by: Person | None
    why: str | None
    """Why it was paused or ended, in a sentence."""
    count: int
    schedules: tuple[RecoverySchedule, ...]
    money: tuple[RecoveryMoney, ...]
    left_out: tuple[LeftOutCount, ...]
    account: tuple[RecoveryAccount, ...]
    """Empty before it was confirmed."""
    at_once: int
    """How many of its rows run at most at a time."""
    version: int


class RecoveryRow(Answer):
    """One thing of a recovery, in the order in which it is done."""

    number: int
    key: str
    """Its identity in the digest: an occurrence's id, `schedule@instant`, a schedule's id."""
    target: RecoveryTarget
    name: str
    schedule: str
    """Of a job: its kind."""
    moves: Moves
    scheduled_at: AwareDatetime | None
    """Of a job: when it was requested."""
    state: OccurrenceState | JobStatus | None
    """As it was frozen."""
    cause: DeadCause | None
    error: str | None
    items: ItemCounts | None
    """As they were frozen: what is not done runs again."""
    row_version: int
    turn: Turn
    sentence: str | None
    started_at: AwareDatetime | None
    ended_at: AwareDatetime | None
    made: str | None = None
    """Id of the job that was made from this one, where it was retried."""


class RecoveryLeftOut(Answer):
    """One thing that was in the set and is not in the recovery."""

    name: str
    schedule: str
    reason: LeftOut
    sentence: str
    scheduled_at: AwareDatetime | None


class Recoveries(Answer):
    """A page of the tenant's recoveries, the latest first."""

    recoveries: tuple[Recovery, ...]
    next: str | None
    now: AwareDatetime


class RecoveryDetail(Answer):
    """A recovery with the first of its rows, in one answer."""

    recovery: Recovery
    rows: tuple[RecoveryRow, ...]
    next: str | None
    now: AwareDatetime


class RecoveryRows(Answer):
    """A page of rows of one edition, by number."""

    edition: int
    rows: tuple[RecoveryRow, ...]
    next: str | None
    now: AwareDatetime


class RecoveryLeftOuts(Answer):
    """A page of what is left out."""

    left_out: tuple[RecoveryLeftOut, ...]
    next: str | None
    now: AwareDatetime


class RecoveryChanged(Answer):
    """A recovery after an order."""

    recovery: Recovery
    now: AwareDatetime


class TakeOutOrder(Wire):
    """Take rows out of one's own open recovery: it is frozen anew."""

    keys: Annotated[tuple[Key, ...], Field(min_length=1, max_length=NAMED_MOST)]


class ConfirmRecovery(Wire):
    """Confirm exactly what was shown."""

    digest: Digest
    code: Code | None = None
    """Where it moves money."""


class RecoverySteer(Wire):
    """Pause, abort or drop a recovery, and why."""

    reason: Reason


class ResumeRecovery(Wire):
    """Go on with a paused recovery; one that moves money takes a code."""

    reason: Reason
    code: Code | None = None
