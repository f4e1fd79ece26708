"""Owns the statements of recoveries themselves: adding, locking, freezing, confirming, steering, ending, reading one.
What is in one: `recovery_rows.py`. Decides nothing. Its digest stays on this floor and the ones above: no answer has it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from psycopg.types.json import Jsonb

from jobcontract.operating import RecoveryAct, RecoveryState
from jobcontract.states import Moves
from jobservice.rules.keys import Signature
from jobservice.rules.recovery_jobs import JOB_ACTS
from jobservice.store.database import Row, Transaction
from jobservice.store.items import readable

Place = tuple[datetime, str]
"""Where a recovery stands in the list: when it was made, and its id."""
_START: Place = (datetime(9999, 12, 31, tzinfo=UTC), "ffffffff-ffff-ffff-ffff-ffffffffffff")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """Which recoveries a person sees: those of occurrences and schedules, those of jobs, and of these their own alone."""

    person: str
    runs: bool
    jobs: bool
    own_jobs_only: bool

    def sees(self, act: RecoveryAct | str, owner: str) -> bool:
        """Whether the person sees one; the statement of the list decides the same."""
        if act not in JOB_ACTS:
            return self.runs
        return self.jobs and (owner == self.person or not self.own_jobs_only)


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedRecovery:
    """A recovery's row, locked until the transaction ends. Its columns: migration 0005."""

    id: str
    tenant: str
    name: str
    act: RecoveryAct
    reason: str
    owner: str
    owner_name: str
    state: RecoveryState
    """As it is written: see `standing`."""
    edition: int
    moves: Moves
    disable_until: datetime | None
    digest: bytes
    money: Sequence[Mapping[str, Any]]
    """One a currency, by its code: as `jobcontract.recoveries.RecoveryMoney`."""
    left_out: Sequence[Mapping[str, Any]]
    """As `jobcontract.recoveries.LeftOutCount`."""
    count: int
    frozen_at: datetime
    valid_until: datetime
    confirmed_at: datetime | None
    at_once: int
    account: Mapping[str, int]
    """Rows by turn; empty before it was confirmed."""
    drifted: Mapping[str, int]
    """Jobs that were not as they had been frozen, by how they were (`rules.recovery_jobs.Drift`)."""
    signing_key: str | None
    signature: bytes | None
    version: int

    def standing(self, now: datetime) -> RecoveryState:
        """Where it stands at `now`: an open one has expired at its very end, whoever has written so or not."""
        if self.state is RecoveryState.OPEN and self.valid_until <= now:
            return RecoveryState.EXPIRED
        return self.state


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRecovery:
    """A recovery to add. Its rows, and with them everything that is frozen, follow in the same transaction."""

    act: str
    reason: str
    asked: Jsonb
    """The order as it came."""
    owner: str
    disable_until: datetime | None
    at_once: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Freeze:
    """What a recovery is frozen as, computed from its rows. The JSON members are lists of the contract's models."""

    digest: bytes
    money: Sequence[Mapping[str, Any]]
    moves: Moves
    left_out: Sequence[Mapping[str, Any]]
    schedules: Sequence[Mapping[str, Any]]
    count: int
    now: datetime
    until: datetime


async def lock_owner(transaction: Transaction, owner: str) -> None:
    """Wait until no other transaction counts this person's open recoveries in this tenant."""
    await transaction.row("recoveries/lock_owner", owner=owner)


async def open_names(transaction: Transaction, owner: str) -> list[str]:
    """The names of a person's open recoveries, newest first; expired ones are none."""
    return [row["name"] for row in await transaction.rows("recoveries/open_names", owner=owner)]


async def add(transaction: Transaction, new: NewRecovery, name: str) -> str | None:
    """Add a recovery under that name; its id, or None where the name was taken."""
    columns = {**asdict(new), "asked": new.asked}
    row = await transaction.row("recoveries/add", name=name, **columns)
    return None if row is None else str(row["id"])


async def freeze(transaction: Transaction, recovery: str, freeze: Freeze, *, again: bool) -> int:
    """Write what it was frozen as; its version. `again`: it was shown before, so edition and version rise."""
    row = await transaction.row(
        "recoveries/freeze",
        recovery=recovery,
        raised=int(again),
        digest=freeze.digest,
        money=_json(freeze.money),
        moves=freeze.moves.value,
        left_out=_json(freeze.left_out),
        schedules=_json(freeze.schedules),
        count=freeze.count,
        now=freeze.now,
        until=freeze.until,
    )
    assert row is not None  # noqa: S101  # it is there: it was added or locked
    return int(row["version"])


async def lock(transaction: Transaction, recovery: str) -> LockedRecovery | None:
    """Lock a recovery of the transaction's tenant, waiting for whoever has it; None where there is none."""
    if not readable(recovery):
        return None
    row = await transaction.row("recoveries/lock", recovery=recovery)
    return None if row is None else locked(row)


def locked(row: Row) -> LockedRecovery:
    """A row of a recovery as a value."""
    signature = row["signature"]
    return LockedRecovery(
        **{
            **row,
            "act": RecoveryAct(row["act"]),
            "state": RecoveryState(row["state"]),
            "moves": Moves(row["moves"]),
            "digest": bytes(row["digest"]),
            "signature": None if signature is None else bytes(signature),
        }
    )


async def shown(transaction: Transaction, recoveries: Sequence[str]) -> list[Row]:
    """Recoveries as they go over the wire, in that order; those that there are not are left out."""
    ids = [each for each in recoveries if readable(each)]
    return list(await transaction.rows("recoveries/shown", recoveries=ids))


async def recent(transaction: Transaction, seen: Sight, *, live: bool, behind: Place | None, most: int) -> list[Row]:
    """At most `most` + 1 of them (`id`, `made_at`) behind a place, the latest first; `live`: those that have not ended."""
    at, after = behind or _START
    return list(
        await transaction.rows(
            "recoveries/recent",
            runs=seen.runs,
            jobs=seen.jobs,
            owner=seen.person if seen.own_jobs_only else None,
            live=live,
            at=at,
            after=after,
            most=most,
        )
    )


async def confirm(
    transaction: Transaction, found: LockedRecovery, *, now: datetime, signature: Signature | None
) -> int | None:
    """Confirm a locked one; its version, or None where it is not open any more."""
    row = await transaction.row(
        "recoveries/confirm",
        recovery=found.id,
        now=now,
        digest=found.digest,
        signing_key=None if signature is None else signature.key_id,
        signature=None if signature is None else signature.signature,
    )
    return None if row is None else int(row["version"])


async def steer(
    transaction: Transaction, found: LockedRecovery, state: RecoveryState, *, by: str | None, why: str | None
) -> int | None:
    """Write another state of a locked one, and why; its version, or None where it does not stand so any more."""
    row = await transaction.row(
        "recoveries/steer",
        recovery=found.id,
        was=found.state.value,
        state=state.value,
        why=why,
        ended=state.ended,
        by=by,
    )
    return None if row is None else int(row["version"])


async def waiting_money(transaction: Transaction, commands: Collection[str]) -> list[Row]:
    """What plans of these bulk commands that are being applied hold waiting, by currency: `currency`, `out_minor`,
    `count`."""
    return list(await transaction.rows("recoveries/waiting_money", commands=sorted(commands)))


def _json(members: Sequence[Mapping[str, Any]]) -> Jsonb:
    return Jsonb([dict(each) for each in members])
