"""Owns what a recovery does to one job when its row has its turn, and when such a row ends. Pace, order and account of rows:
`recovering.py`. Never acts on a job that is not as it was frozen: it says what happened meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.operating import RecoveryAct
from jobcontract.states import Moves, Turn
from jobservice.records import RecordSet
from jobservice.rules import recovery_jobs as rules
from jobservice.rules.claims import Denied
from jobservice.rules.recovery_jobs import Drift, RowEnded
from jobservice.store import recovery_jobs as store
from jobservice.store.database import Transaction
from jobservice.store.recoveries import LockedRecovery
from jobservice.store.recovering import Ended, NextRow
from jobservice.usecases.job_acts import JobOrder, cancel_in, retry_in

_NO_FAULTS = frozenset(
    {ErrorCode.NOT_FOUND, ErrorCode.JOB_INPUTS_UNFIT, ErrorCode.NEEDS_PLAN, ErrorCode.INVALID_REQUEST}
)
"""Refusals that are about the job alone: its row ends with them, and the others go on."""
_ASKED = RowEnded(turn=Turn.RUNNING, sentence="Asked to be cancelled.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Acted:
    """What became of a row: how it stands or ended, and the job that was made for it."""

    ended: RowEnded
    made: str | None = None


async def act(transaction: Transaction, records: RecordSet, found: LockedRecovery, row: NextRow) -> Acted:
    """Retry or cancel the job of a row, in this transaction, as the person who confirmed wanted it.

    A retry is done once its new job is made; a cancellation runs until its job has settled.
    """
    drifted = rules.drifted(found.act, await store.standing(transaction, row.key), found.frozen_at)
    if drifted is not None:
        return Acted(ended=drifted)
    order = JobOrder(
        job=row.key,
        person=found.owner,
        reason=found.reason,
        recovery=found.id,
        allow_money=row.moves == Moves.MONEY,
    )
    try:
        if found.act is RecoveryAct.CANCEL:
            return await _cancel(transaction, order)
        return await _retry(transaction, records, order)
    except Refusal as refusal:
        if refusal.kind not in _NO_FAULTS:
            raise
        return Acted(ended=rules.refused(refusal.kind, refusal.detail))


async def _cancel(transaction: Transaction, order: JobOrder) -> Acted:
    done = await cancel_in(transaction, order)
    if isinstance(done, Denied):
        return Acted(ended=rules.refused(done.kind, done.sentence))
    return Acted(ended=rules.cancelled_end(done.status) or _ASKED)


async def _retry(transaction: Transaction, records: RecordSet, order: JobOrder) -> Acted:
    done = await retry_in(transaction, records, order)
    if isinstance(done, Denied):
        return Acted(ended=rules.refused(done.kind, done.sentence))
    if not done.first:
        said = f"It had been retried meanwhile: {done.job} is under way."
        return Acted(ended=RowEnded(turn=Turn.REFUSED, sentence=said, drift=Drift.RETRIED))
    return Acted(ended=RowEnded(turn=Turn.DONE, sentence=f"Retried as {done.job}."), made=done.job)


async def ends(transaction: Transaction, found: LockedRecovery) -> tuple[tuple[Ended, ...], Sequence[Drift]]:
    """The rows of a locked recovery whose jobs have settled since they were asked to be cancelled, and what had drifted."""
    ended, drifts = [], []
    for row in await store.running(transaction, found.id):
        end = rules.cancelled_end(row.status)
        if end is None:
            continue
        ended.append(Ended(key=row.key, turn=end.turn, sentence=end.sentence, at=row.settled_at))
        if end.drift is not None:
            drifts.append(end.drift)
    return tuple(ended), drifts


async def count_drift(transaction: Transaction, found: LockedRecovery, drifts: Sequence[Drift]) -> None:
    """Keep how many jobs were not as they had been frozen, of a locked recovery."""
    if drifts:
        await store.drift(transaction, found.id, rules.merged(found.drifted, drifts))
