"""Owns the duty that carries confirmed recoveries out, row by row, and ends what is over.

A row's act and what is written of it are one transaction of its tenant under the duty's lease: killed at any point,
nothing is done twice and nothing is lost. Never acts on a row whose version is another than the one that was confirmed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import ClassVar
from uuid import UUID

import psycopg
import structlog

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.operating import RecoveryAct, RecoveryState, RecoveryTarget
from jobcontract.states import Moves, OccurrenceState, Turn
from jobservice.records import RecordSet
from jobservice.rules.claims import Denied
from jobservice.rules.recovery_jobs import JOB_ACTS, drift_sentence
from jobservice.rules.rhythms import CannotCompute, Cron, between, tzdata_version
from jobservice.rules.schedules import Confirmed
from jobservice.store import audit, hints, items, recoveries
from jobservice.store import recovering as store
from jobservice.store.database import Database, Row, Transaction
from jobservice.store.recoveries import LockedRecovery
from jobservice.store.recovering import Due, Ended, NewOccurrence, NextRow, RunningRow
from jobservice.usecases.recoveries import end_open
from jobservice.usecases.replays import Order, discard_in, replay_in
from jobservice.worker import recovering_jobs
from jobservice.worker.fenced import Lease
from jobservice.worker.planner import UTC_ZONE
from jobservice.worker.recovering_schedules import Begun, disable, entry
from jobservice.worker.recovery_proof import RecoveryProof, Unconfirmed

_log = structlog.get_logger("jobservice.worker")

STATEMENT_SECONDS = 25.0
"""Longest statement about one recovery: its rows are read for the proof, or counted at its end."""
_TICK = timedelta(microseconds=1)
_UNPROVEN = "{why} Somebody wrote past the service: nothing more of it is run."
_NO_KEYS = "This Worker has no public keys: it believes no confirmation, and runs nothing that moves money."


@dataclass(slots=True)
class _Done:
    """What one run did."""

    expired: int = 0
    begun: int = 0
    settled: int = 0
    finished: int = 0

    @property
    def steps(self) -> int:
        return self.expired + self.begun + self.settled + self.finished

    def counts(self) -> Mapping[str, int]:
        every = {
            "expired": self.expired,
            "begun": self.begun,
            "settled": self.settled,
            "finished": self.finished,
        }
        return {what: number for what, number in every.items() if number}


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovering:
    """The duty with its pace. `proof`: what moves money is believed by it; None: nothing is."""

    records: RecordSet
    deployment: str
    proof: RecoveryProof | None
    every: float = 5.0
    lease: float = 60.0
    batch: int = 1_000
    """Most recoveries that one look finds."""
    each: int = 50
    """Rows of one recovery that begin before the next has its turn."""
    name: str = "recoveries"
    wakes: ClassVar[frozenset[str]] = frozenset({"recoveries", "stops"})

    async def wanted(self, database: Database, holder: UUID) -> bool:  # noqa: ARG002  # whoever asks
        """Whether a recovery is open past its end, or confirmed and not over."""
        async with database.transaction(None) as transaction:
            return bool(await store.due(transaction, most=1))

    async def run_once(self, lease: Lease) -> Mapping[str, int]:
        """Carry all recoveries on, in turns, until none can go on or the Worker stops; how many steps of each kind."""
        done = _Done()
        while not lease.stopping():
            before = done.steps
            async with lease.transaction() as transaction:
                found = await store.due(transaction, most=self.batch)
            for each in found:
                await self._carry(lease, each, done)
                if lease.stopping():
                    break
            if done.steps == before:
                break
        return done.counts()

    async def _carry(self, lease: Lease, due: Due, done: _Done) -> None:
        if due.state == RecoveryState.OPEN:
            done.expired += await self._expire(lease, due)
            return
        done.settled += await self._settle(lease, due)
        for _ in range(self.each if due.state == RecoveryState.APPLYING else 0):
            if lease.stopping() or not await self._begin(lease, due):
                break
            done.begun += 1
        done.finished += await self._finish(lease, due)

    async def _expire(self, lease: Lease, due: Due) -> int:
        """Expire an open one; 0 where it was confirmed or ended meanwhile."""
        async with lease.transaction(due.tenant) as transaction:
            found = await recoveries.lock(transaction, due.id)
            now = await items.now(transaction)
            if found is None or found.standing(now) is not RecoveryState.EXPIRED or found.state.ended:
                return 0
            await end_open(transaction, found, RecoveryState.EXPIRED, why="Nobody confirmed it in time.", by=None)
        return 1

    async def _settle(self, lease: Lease, due: Due) -> int:
        """Write how rows ended whose occurrences did; how many."""
        async with lease.transaction(due.tenant) as transaction:
            found = await recoveries.lock(transaction, due.id)
            if found is None:
                return 0
            ended: Sequence[Ended]
            if found.act in JOB_ACTS:
                ended, drifts = await recovering_jobs.ends(transaction, found)
                await recovering_jobs.count_drift(transaction, found, drifts)
            else:
                rows = await store.running(transaction, due.id)
                ended = [end for end in map(_ending, rows) if end is not None]
            if not ended:
                return 0
            settled = await store.settle(transaction, due.id, ended)
            await _tell(transaction, found, [(Turn.RUNNING, each.turn) for each in ended])
        return settled

    async def _begin(self, lease: Lease, due: Due) -> bool:
        """Begin the next row; whether there was one, and room for it."""
        async with lease.transaction(due.tenant, statement_seconds=STATEMENT_SECONDS) as transaction:
            found = await recoveries.lock(transaction, due.id)
            if found is None or found.state is not RecoveryState.APPLYING:
                return False
            row = await store.next_row(
                transaction,
                due.id,
                at_once=found.at_once,
                commands=self._commands(),
                cancels=found.act is RecoveryAct.CANCEL,
            )
            if row is None:
                return False
            if row.moves == Moves.MONEY and (why := await self._doubt(transaction, found, row)) is not None:
                await _pause(transaction, found, why)
                return False
            begun = await self._act(transaction, found, row)
            await store.begin(
                transaction,
                due.id,
                row,
                begun.turn,
                sentence=begun.sentence,
                occurrence=begun.occurrence,
                made=begun.made,
            )
            await _tell(transaction, found, [(Turn.NOT_STARTED, begun.turn)])
        return True

    def _commands(self) -> Mapping[str, str]:
        every = self.records.schedules.values()
        kinds = self.records.job_kinds.values()
        return {
            **{each.id: each.submitted_by for each in kinds if each.submitted_by is not None},
            **{each.id: each.selection.command for each in every if isinstance(each.selection, Confirmed)},
        }

    async def _doubt(self, transaction: Transaction, found: LockedRecovery, row: NextRow | None) -> str | None:
        """Why a locked row (None: all of them, and that none is missing) is not what was confirmed; None where it is."""
        if self.proof is None:
            return _NO_KEYS
        try:
            if row is None:
                await self.proof.whole(transaction, found.id)
            else:
                await self.proof.row(transaction, found.id, row.key)
        except Unconfirmed as why:
            return _UNPROVEN.format(why=why)
        return None

    async def _act(self, transaction: Transaction, found: LockedRecovery, row: NextRow) -> Begun:
        if row.target == RecoveryTarget.SCHEDULE:
            return await disable(transaction, found, row)
        if row.target == RecoveryTarget.SKIPPED_INSTANT:
            return await self._make(transaction, found, row)
        if row.target == RecoveryTarget.JOB:
            return await self._job(transaction, found, row)
        order = Order(
            occurrence=row.key,
            person=found.owner,
            reason=found.reason,
            version=row.row_version,
            recovery=found.id,
            allow_money=row.moves == Moves.MONEY,
        )
        try:
            if found.act is RecoveryAct.DISCARD:
                done = await discard_in(transaction, order)
            else:
                done = await replay_in(transaction, self.records, self.deployment, order)
        except Refusal as refusal:
            if refusal.kind is not ErrorCode.NOT_FOUND:
                raise
            return Begun(turn=Turn.REFUSED, sentence=f"{row.name} is not there any more: retention removed it.")
        if isinstance(done, Denied):
            return Begun(turn=Turn.REFUSED, sentence=done.sentence)
        if found.act is RecoveryAct.DISCARD:
            return Begun(turn=Turn.DONE, sentence="Discarded.")
        return Begun(turn=Turn.RUNNING)

    async def _job(self, transaction: Transaction, found: LockedRecovery, row: NextRow) -> Begun:
        acted = await recovering_jobs.act(transaction, self.records, found, row)
        if acted.ended.drift is not None:
            await recovering_jobs.count_drift(transaction, found, [acted.ended.drift])
        return Begun(turn=acted.ended.turn, sentence=acted.ended.sentence, made=acted.made)

    async def _make(self, transaction: Transaction, found: LockedRecovery, row: NextRow) -> Begun:
        """Make the occurrence of a skipped instant, as the planner would have written it."""
        new = self._new(transaction.tenant or "", row)
        if isinstance(new, str):
            return Begun(turn=Turn.REFUSED, sentence=new)
        made = await store.add_occurrence(transaction, found.id, new)
        if made is None:
            return Begun(turn=Turn.REFUSED, sentence=await _not_made(transaction, row))
        await audit.add(
            transaction,
            entry(
                found,
                "replay-occurrence",
                made,
                {
                    "occurrence": row.name,
                    "schedule": row.schedule,
                    "before": {"state": "skipped"},
                    "after": {"state": OccurrenceState.SCHEDULED.value, "version": 1},
                },
            ),
        )
        await hints.add_schedules(transaction, ((found.tenant, row.schedule),))
        return Begun(turn=Turn.RUNNING, occurrence=made)

    def _new(self, tenant: str, row: NextRow) -> NewOccurrence | str:
        """What is to be made of a row; or a sentence why it is no instant of its schedule any more."""
        schedule = self.records.schedules.get(row.schedule)
        if schedule is None or not schedule.runs_in(tenant, self.deployment):
            return f"The records have no {row.schedule} that runs here any more: nothing could run {row.name}."
        if schedule.moves is not Moves(row.moves):
            return f"{row.schedule} moved {row.moves} when this was confirmed, and moves {schedule.moves} now."
        rhythm, at = schedule.rhythm, row.scheduled_at
        try:
            found = () if rhythm is None or at is None else between(rhythm, at - _TICK, at, most=1).instants
        except CannotCompute as why:
            return f"The instants of {row.schedule} cannot be computed: {why}"
        if not found or found[0].at != at or rhythm is None:
            return f"{row.name} is no instant of its rhythm any more: the record was changed since it was skipped."
        zone, policy = UTC_ZONE, None
        if isinstance(rhythm, Cron) and rhythm.zone != UTC_ZONE:
            zone, policy = rhythm.zone, f"{rhythm.skipped}, {rhythm.repeated}"
        return NewOccurrence(
            schedule=row.schedule,
            at=found[0].at,
            zone=zone,
            local_time=found[0].local,
            clock=None if found[0].clock is None else found[0].clock.value,
            clock_policy=policy,
            tzdata=tzdata_version(),
            lock=schedule.lock,
        )

    async def _finish(self, lease: Lease, due: Due) -> int:
        """End it where nothing of it runs or waits; whether it did."""
        if due.state == RecoveryState.PAUSED:
            return 0
        async with lease.transaction(due.tenant, statement_seconds=STATEMENT_SECONDS) as transaction:
            found = await recoveries.lock(transaction, due.id)
            said = None if found is None else drift_sentence(found.drifted, sum(found.account.values()))
            ended = None if found is None else await self._ended(transaction, found, said)
            if found is None or ended is None:
                return 0
            if ended["state"] == RecoveryState.DONE:
                detail = {"name": found.name, "account": ended["account"], **({"drift": said} if said else {})}
                await audit.add(transaction, entry(found, "finish-recovery", found.id, detail, by_itself=True))
            await hints.add_recovery(transaction, recovery=due.id, version=ended["version"])
        return 1

    async def _ended(self, transaction: Transaction, found: LockedRecovery, said: str | None) -> Row | None:
        """End it where nothing of it runs or waits (`store.finish`). What moved money is put through the proof once more: a
        row that was taken out had no turn, and nobody is to read that all had theirs."""
        doubts: list[str] = []
        ended = None
        async with transaction.connection.transaction() as savepoint:
            ended = await store.finish(transaction, found.id, why=said)
            done = ended is not None and ended["state"] == RecoveryState.DONE
            if done and found.moves is Moves.MONEY and self.proof is not None:
                why = await self._doubt(transaction, found, None)
                if why is not None:
                    doubts.append(why)
                    raise psycopg.Rollback(savepoint)
        if not doubts:
            return ended
        await _pause(transaction, found, doubts[0])
        return None


def _ending(row: RunningRow) -> Ended | None:
    """How a row that runs ended; None where it has not."""
    if not row.there:
        sentence = "Its occurrence is not there any more: retention removed it before its end was seen."
        return Ended(key=row.key, turn=Turn.FAILED, sentence=sentence, at=None)
    state = OccurrenceState(row.state or "")
    if not state.ended:
        return None
    if state is OccurrenceState.COMPLETED:
        return Ended(key=row.key, turn=Turn.DONE, sentence="Completed.", at=row.ended_at)
    sentence = row.error or f"It is a dead letter again ({row.cause})."
    return Ended(key=row.key, turn=Turn.FAILED, sentence=sentence, at=row.ended_at)


async def _not_made(transaction: Transaction, row: NextRow) -> str:
    """Why no occurrence was made of a skipped instant, in a sentence."""
    assert row.scheduled_at is not None  # noqa: S101  # a skipped instant is one
    found = await store.standing(transaction, row.schedule, row.scheduled_at)
    if found["there"]:
        return f"{row.name} became an occurrence meanwhile: replay that."
    if found["removed"]:
        return f"{row.name} lies before what retention has removed of {row.schedule}."
    if found["disabled_by"] is not None:
        return f"{row.schedule} was disabled by {found['disabled_by']}: {found['disabled_reason'].rstrip('.')}."
    return f"No Worker has a row of {row.schedule}: the records do not have it any more."


async def _pause(transaction: Transaction, found: LockedRecovery, why: str) -> None:
    """Hold a recovery that is not what a person confirmed."""
    _log.error("recovery-unproven", alarm=True, recovery=found.id, name=found.name, tenant=found.tenant, reason=why)
    version = await recoveries.steer(transaction, found, RecoveryState.PAUSED, by=None, why=why)
    # About the recovery, as what people do to one, and no step of it: the timeline of an incident tells it.
    detail = {"name": found.name, "reason": why}
    entry = audit.NewEntry(
        person=None, action="pause-recovery", subject=found.id, outcome="done", detail=detail, reference=None
    )
    await audit.add(transaction, entry)
    await hints.add_recovery(transaction, recovery=found.id, version=version or found.version)


async def _tell(transaction: Transaction, found: LockedRecovery, moved: Sequence[tuple[Turn, Turn]]) -> None:
    """Count a step by which rows moved from one turn to another, and tell who watches."""
    account = Counter(found.account)
    for before, after in moved:
        account[before.value] -= 1
        account[after.value] += 1
    version = await store.progress(transaction, found.id, {turn: count for turn, count in account.items() if count})
    await hints.add_recovery(transaction, recovery=found.id, version=version)
