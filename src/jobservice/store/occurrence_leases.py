"""Owns the statements of a Worker's leases on occurrences: finding, claiming, renewing, settling, handing back.

They go over all tenants, each row under its own; what is in a run is `occurrence_items.py`. Decides nothing. Every write
under a lease compares holder and fence; one that finds nothing is late, and says so in `jobs.refused_completions`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

import psycopg

from jobcontract.states import AttemptEnding, DeadCause, OccurrenceState
from jobservice.store.database import Row, Transaction

EVER = datetime.min.replace(tzinfo=UTC)
"""Before every instant."""
LOCK = "occurrences_running"
"""The unique index that is the lock: one of a lock and tenant runs."""
_COLUMNS = {
    "ids": "id",
    "tenants": "tenant",
    "fences": "fence",
    "endings": "ending",
    "states": "state",
    "causes": "cause",
    "errors": "error",
    "retry_after": "retry_after",
    "began_after": "began_after",
    "done": "done",
    "refused": "refused",
    "failed": "failed",
    "unfinished": "unfinished",
    "positions": "position",
    "selected_all": "selected_all",
    "items": "item",
    "item_labels": "item_label",
    "item_outcomes": "item_outcome",
    "item_sentences": "item_sentence",
    "item_after": "item_after",
}
"""Parameters of the statement that settles, and what of a completion each is made of."""


class LockTaken(Exception):
    """Another Worker claimed under one of the locks at the same time; nothing was claimed, and a repetition may succeed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenOccurrence:
    """An occurrence that was claimed: one attempt of it is this Worker's, under `fence`."""

    id: UUID
    tenant: str
    schedule: str
    scheduled_at: datetime
    """UTC."""
    attempts: int
    """With this one."""
    taken_at: datetime
    """By the database's clock."""
    fence: int
    fence_base: int
    """Its fence when it was replayed last; 0: never. Fences above it are those of the present course."""
    position: str | None
    """Key of the last item that an earlier attempt selected."""
    selected_all: bool
    done: int
    refused: int
    failed: int

    @property
    def handed_back(self) -> int:
        """How often it was claimed in the present course without an attempt that counts."""
        return self.fence - self.fence_base - self.attempts


@dataclass(frozen=True, slots=True, kw_only=True)
class Runnable:
    """What this Worker's records run here: schedules of every tenant, and pairs (tenant, schedule) of some."""

    everywhere: tuple[str, ...]
    somewhere: tuple[tuple[str, str], ...] = ()

    def parameters(self) -> dict[str, object]:
        """As the statements take it."""
        return {
            "everywhere": list(self.everywhere),
            "somewhere": [f"{tenant} {schedule}" for tenant, schedule in self.somewhere],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """What of one tenant could start now: how many (at least)."""

    tenant: str
    count: int
    oldest: datetime
    """When the first that waits was due, whether it could start or not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What one look saw. `next_in`: seconds until something is due; None: nothing is known."""

    now: datetime
    waiting: tuple[Waiting, ...]
    """The tenant that waits longest first."""
    lapsed: bool
    """Whether a lease ran out."""
    cancelled: bool
    """Whether one that has not ended is to be cancelled."""
    next_in: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Since:
    """Before when nothing waits: the entries before it in the index are dead, and need not be walked over.

    `others`: of tenants that `tenants` does not name; None: look at everything. `lapsed`: the same of leases.
    """

    tenants: Mapping[str, datetime]
    others: datetime | None = None
    lapsed: datetime | None = None

    def of(self, tenant: str) -> datetime:
        """As a statement takes it."""
        return self.tenants.get(tenant, self.others or EVER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lapsed:
    """A lease that ran out, its row locked. `losses`: attempts since the last replay that ended so, with this one; `host`:
    for people."""

    id: UUID
    tenant: str
    schedule: str
    fence: int
    attempts: int
    losses: int
    host: str | None
    cancelled: bool
    """Whether a person asked to cancel it."""
    runnable: bool
    """Whether this Worker runs its schedule; else it ran out long ago."""
    waits: bool
    """Whether it may not start now: its schedule is disabled, or its tenant stopped."""
    since: float
    """Seconds since it ran out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """What becomes of a lease that ran out: claimed anew (`cause` None), or a dead letter with its sentence; `waits`: not
    claimed, where there is no cause."""

    id: UUID
    fence: int
    cause: DeadCause | None = None
    error: str | None = None
    waits: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """How an attempt ended, and what the occurrence is to be from now on; the counts are its whole ones."""

    id: UUID
    tenant: str
    fence: int
    ending: AttemptEnding
    state: OccurrenceState
    cause: DeadCause | None = None
    error: str | None = None
    retry_after: float | None = None
    """Seconds until the next attempt; of a scheduled one."""
    done: int | None = None
    """As the other counts: None leaves it as it is."""
    refused: int | None = None
    failed: int | None = None
    unfinished: int | None = None
    position: str | None = None
    selected_all: bool | None = None
    began_after: float | None = None
    """Seconds from the claim to the first line of the attempt; None: it did not begin."""
    item: str | None = None
    """Key of the one item of a run whose row comes with its completion, and how it ended; None: there is none."""
    item_label: str | None = None
    item_outcome: str | None = None
    """None: it is to be tried again."""
    item_sentence: str | None = None
    item_after: float | None = None
    """Seconds until it may be, as its use case asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A completion that stands. `schedule` is None where it had been written before, and its answer got lost."""

    id: UUID
    fence: int
    tenant: str | None
    schedule: str | None
    began_at: datetime | None
    completed_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A lease that was extended. `cancelled`: a person asked to cancel it. `began_at`: when its attempt began, told once."""

    id: UUID
    tenant: str
    schedule: str
    cancelled: bool
    began_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """How far a schedule is by one occurrence: when it started, when it completed."""

    tenant: str
    schedule: str
    began_at: datetime | None
    completed_at: datetime | None = None


async def look(transaction: Transaction, runnable: Runnable, since: Since, *, free: int) -> Look:
    """What could start now, at most about `free` of a tenant; see `Since` for what it does not see."""
    rows = await transaction.rows(
        "occurrence_leases/look",
        tenants=list(since.tenants),
        heads=list(since.tenants.values()),
        since=since.others or EVER,
        lapsed_since=since.lapsed or EVER,
        free=free,
        **runnable.parameters(),
    )
    first = rows[0]
    waiting = (row for row in rows if row["tenant"] is not None)
    return Look(
        now=first["now"],
        waiting=tuple(Waiting(tenant=row["tenant"], count=row["number"], oldest=row["oldest"]) for row in waiting),
        lapsed=first["lapsed"],
        cancelled=first["cancelled"],
        next_in=first["next_in"],
    )


async def claim(
    transaction: Transaction, runnable: Runnable, since: Since, shares: Mapping[str, int], *, holder: UUID, lease: float
) -> tuple[TakenOccurrence, ...]:
    """Claim of each tenant at most its share, those that wait longest, for `lease` seconds.

    `LockTaken` where another Worker claimed under one of the locks at the same time: nothing was claimed, try again.
    """
    try:
        rows = await transaction.rows(
            "occurrence_leases/claim",
            tenants=list(shares),
            shares=list(shares.values()),
            heads=[since.of(tenant) for tenant in shares],
            holder=holder,
            lease=lease,
            **runnable.parameters(),
        )
    except psycopg.errors.UniqueViolation as taken:
        if taken.diag.constraint_name != LOCK:
            raise
        raise LockTaken from taken
    return tuple(sorted((TakenOccurrence(**row) for row in rows), key=lambda each: (each.scheduled_at, each.id)))


async def lapsed(
    transaction: Transaction, runnable: Runnable, *, most: int, unknown_after: float
) -> tuple[Lapsed, ...]:
    """Lock at most `most` leases that ran out: those that this Worker runs, and others after `unknown_after` seconds."""
    rows = await transaction.rows(
        "occurrence_leases/lapsed", most=most, unknown_after=unknown_after, **runnable.parameters()
    )
    return tuple(Lapsed(**row) for row in rows)


async def lose(
    transaction: Transaction, losses: Sequence[Loss], *, holder: UUID, lease: float
) -> tuple[tuple[TakenOccurrence, ...], tuple[Reached, ...]]:
    """End leases that ran out: those that were claimed anew, and how far their schedules are by the lost attempts."""
    rows = await transaction.rows(
        "occurrence_leases/lose",
        ids=[loss.id for loss in losses],
        fences=[loss.fence for loss in losses],
        causes=[loss.cause for loss in losses],
        errors=[loss.error for loss in losses],
        waits=[loss.waits for loss in losses],
        holder=holder,
        lease=lease,
    )
    reached = tuple(
        Reached(tenant=row["tenant"], schedule=row["schedule"], began_at=row.pop("lost_taken_at")) for row in rows
    )
    held = (row for row in rows if row.pop("state") == OccurrenceState.PROCESSING.value)
    return tuple(TakenOccurrence(**row) for row in held), reached


async def renew(
    transaction: Transaction,
    held: Mapping[UUID, int],
    began_after: Mapping[UUID, float],
    *,
    holder: UUID,
    lease: float,
) -> tuple[Kept, ...]:
    """Extend all leases of this process (fence by occurrence); those that are still its own.

    `began_after`: seconds from the claim to the first line of the attempt, where it began.
    """
    rows = await transaction.rows(
        "occurrence_leases/renew",
        ids=list(held),
        fences=list(held.values()),
        began_after=[began_after.get(each) for each in held],
        holder=holder,
        lease=lease,
    )
    return tuple(Kept(**row) for row in rows)


async def cancelled_held(transaction: Transaction, held: Mapping[UUID, int], *, holder: UUID) -> frozenset[UUID]:
    """Which of this process's occurrences a person asked to cancel."""
    rows = await transaction.rows(
        "occurrence_leases/cancelled_held", ids=list(held), fences=list(held.values()), holder=holder
    )
    return frozenset(row["id"] for row in rows)


async def settle(transaction: Transaction, completions: Sequence[Completion], *, holder: UUID) -> tuple[Written, ...]:
    """Write how attempts ended; those that stand. The others came too late, and each left a row that says so."""
    columns = {column: [getattr(each, name) for each in completions] for column, name in _COLUMNS.items()}
    rows = await transaction.rows("occurrence_leases/settle", holder=holder, **columns)
    return tuple(Written(**row) for row in rows)


async def hand_back(
    transaction: Transaction,
    taken: TakenOccurrence,
    *,
    holder: UUID,
    expired_too: bool,
    began_after: float | None,
    error: str | None,
) -> Row | None:
    """Give a lease back, its attempt uncounted; None where another Worker took it over, or where it ran out and
    `expired_too` does not excuse that."""
    return await transaction.row(
        "occurrence_leases/hand_back",
        occurrence=taken.id,
        tenant_of=taken.tenant,
        held_fence=taken.fence,
        holder=holder,
        expired_too=expired_too,
        began_after=began_after,
        error=error,
    )


async def hand_back_unknown(
    transaction: Transaction, held: Collection[tuple[UUID, int]], *, holder: UUID, expired_too: bool, error: str
) -> frozenset[tuple[str, str]]:
    """Give back, uncounted, what was claimed for this process and is not `held` (occurrence and fence): tenants and
    schedules of that."""
    rows = await transaction.rows(
        "occurrence_leases/hand_back_unknown",
        ids=[occurrence for occurrence, _ in held],
        fences=[fence for _, fence in held],
        holder=holder,
        expired_too=expired_too,
        error=error,
    )
    return frozenset((row["tenant"], row["schedule"]) for row in rows)


async def reach(transaction: Transaction, reached: Sequence[Reached]) -> None:
    """Move the recovery points of schedules on."""
    if reached:
        await transaction.run(
            "occurrence_leases/reached",
            tenants=[each.tenant for each in reached],
            schedules=[each.schedule for each in reached],
            began=[each.began_at for each in reached],
            completed=[each.completed_at for each in reached],
        )
