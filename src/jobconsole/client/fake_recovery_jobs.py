"""Owns the recoveries of the fake service whose rows are background jobs: what goes into one, what is left out and why, and
what a row does when its turn comes. Everything else of recoveries: `fake_recoveries`."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from jobconsole.client.fake_asked import TENANT, Asked
from jobconsole.client.fake_job import FakeJob
from jobconsole.client.fake_jobs import FakeAccount
from jobconsole.client.fake_recovery import FakeRecovery
from jobcontract.job_states import Carrier, JobStatus, JobView
from jobcontract.jobs import HERE
from jobcontract.operating import LeftOut, RecoveryAct, RecoveryTarget
from jobcontract.permissions import GRANTS, Permission, missing
from jobcontract.recoveries import RecoveryLeftOut, RecoveryOrder, RecoveryRow
from jobcontract.states import Moves, Turn

JOB_ACTS = frozenset({RecoveryAct.RETRY, RecoveryAct.CANCEL})
"""Acts whose rows are jobs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a row's turn went. `drift`: how its job was another one than had been frozen."""

    turn: Turn
    sentence: str
    made: str | None = None
    drift: str | None = None


class FakeRecoveryJobs:
    """Freezing and doing rows that are jobs."""

    def __init__(self, account: FakeAccount) -> None:
        self._account = account

    def frozen(
        self, asked: Asked, order: RecoveryOrder, held: Collection[str]
    ) -> Iterator[RecoveryRow | RecoveryLeftOut]:
        """Every job that is named or found, the one requested first before: in it, or left out. Refusal FILTER_INVALID."""
        if order.jobs is None:
            wanted = self._account.matching(asked, order.job_filter or "", JobView.ALL, HERE)
        else:
            seen = {each.id: each for each in self._account.within(asked.person.id) if each.here}
            wanted = [seen[name] for name in dict.fromkeys(order.jobs) if name in seen]
            for name in dict.fromkeys(order.jobs):
                if name not in seen:
                    yield self._unknown(name)
        for job in sorted(wanted, key=lambda each: each.id):
            moves = job.summary.moves if order.act is RecoveryAct.RETRY else Moves.NOTHING
            reason = self._why_not(order, job, moves, GRANTS[asked.role], held)
            yield _row(job, moves) if reason is None else _out(job, *reason)

    def _unknown(self, name: str) -> RecoveryLeftOut:
        source, colon, _ = name.rpartition(":")
        if colon and source != HERE:
            reason, words = LeftOut.ELSEWHERE, "It is another engine's job, which is only read here."
        else:
            reason, words = LeftOut.UNKNOWN, "No job of this id is known in the tenant, among those that you may see."
        return RecoveryLeftOut(name=name, schedule="", reason=reason, sentence=words, scheduled_at=None)

    def _why_not(
        self, order: RecoveryOrder, job: FakeJob, moves: Moves, may: Collection[Permission], held: Collection[str]
    ) -> tuple[LeftOut, str] | None:
        retries, row = order.act is RecoveryAct.RETRY, job.summary
        if job.carrier is Carrier.PLAN:
            return LeftOut.CARRIED, "A plan carries it: pause or abort the plan."
        found = self._why_not_retried(order, job) if retries else self._why_not_cancelled(job)
        if found is not None:
            return found
        if job.id in held:
            return LeftOut.IN_RECOVERY, "It is in another recovery, which is not over yet."
        if moves is Moves.MONEY and Permission.PAYOUT_RELEASE not in may:
            return LeftOut.MONEY, f"{row.kind} moves money: a person with payout.release (finance) retries it."
        needed = Permission.JOB_RETRY if retries else Permission.JOB_CANCEL
        if moves is Moves.NOTHING and needed not in may:
            return LeftOut.PERMISSION, missing(needed, TENANT)
        return None

    def _why_not_retried(self, order: RecoveryOrder, job: FakeJob) -> tuple[LeftOut, str] | None:
        row = job.summary
        if not row.status.final:
            return LeftOut.NOT_SETTLED, f"It is {row.status}: only what is settled is retried."
        if row.status is JobStatus.SUCCEEDED:
            return (
                LeftOut.SUCCEEDED,
                "It succeeded. Retry it by itself, with a reason, where it has to be done once more.",
            )
        if not job.kind.wire.retryable:
            return LeftOut.NOT_RETRYABLE, f"Jobs of the kind {row.kind} are not retried."
        newest = self._account.lineage(job)[-1].id
        if newest != job.id:
            return LeftOut.RETRIED, f"It was retried already: {newest} is the latest of its lineage."
        if order.jobs is None and row.resolution is not None:
            return LeftOut.RESOLVED, f"It was {row.resolution}. Name it by itself to retry it all the same."
        return None

    @staticmethod
    def _why_not_cancelled(job: FakeJob) -> tuple[LeftOut, str] | None:
        row = job.summary
        if row.status.final:
            return LeftOut.SETTLED, f"It is settled as {row.status}: there is nothing to cancel any more."
        if row.cancel_asked_at is not None:
            return LeftOut.CANCEL_ASKED, "Somebody asked for it to be cancelled already."
        return None

    def do(self, made: FakeRecovery, row: RecoveryRow) -> Ended:
        """Give a row its turn, as the Worker would."""
        job, owner = self._account.jobs[HERE, row.key], made.owner
        if made.order.act is RecoveryAct.CANCEL:
            if job.summary.status.final:
                words = f"It had {_been(job.summary.status)} meanwhile."
                return Ended(turn=Turn.REFUSED, sentence=words, drift="settled")
            self._account.acts.cancel(job, owner, made.order.reason)
            if not job.summary.status.final:
                job.cancel(self._account.now())
                self._account.changed(job)
            return Ended(turn=Turn.DONE, sentence="Cancelled.")
        newest = self._account.lineage(job)[-1]
        if newest.id != job.id:
            words = f"It had been retried meanwhile: {newest.id} {newest.status}."
            return Ended(turn=Turn.REFUSED, sentence=words, drift="retried")
        if job.resolved is not None and job.resolved.at > made.frozen_at:
            return Ended(turn=Turn.REFUSED, sentence="It had been resolved meanwhile.", drift="resolved")
        new, _ = self._account.acts.retry(job, owner, made.order.reason)
        return Ended(turn=Turn.DONE, sentence=f"Job {new.id} does it again.", made=new.id)


def _been(status: JobStatus) -> str:
    return "been cancelled" if status is JobStatus.CANCELLED else str(status)


def _row(job: FakeJob, moves: Moves) -> RecoveryRow:
    return RecoveryRow(
        number=0,
        key=job.id,
        target=RecoveryTarget.JOB,
        name=job.summary.subject,
        schedule=job.summary.kind,
        moves=moves,
        scheduled_at=job.summary.requested_at,
        state=job.summary.status,
        cause=None,
        error=job.summary.failure_summary,
        items=None,
        row_version=len(job.events),
        turn=Turn.NOT_STARTED,
        sentence=None,
        started_at=None,
        ended_at=None,
    )


def _out(job: FakeJob, reason: LeftOut, sentence: str) -> RecoveryLeftOut:
    return RecoveryLeftOut(
        name=job.summary.subject,
        schedule=job.summary.kind,
        reason=reason,
        sentence=sentence,
        scheduled_at=job.summary.requested_at,
    )
