"""Owns one attempt at an occurrence from its first line to its end: which path it takes, its bounds, how it ended.

Everything of an attempt happens in tasks of a scope that is closed at its end, also where a handler swallows its
cancellation. Claims and completions are not its (`occurrences.py`); it writes items, positions and cursors alone.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from uuid import UUID

import structlog

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.states import AttemptEnding, DeadCause, OccurrenceState
from jobservice.application import Application, Outcome, UseCaseFunction
from jobservice.records import RecordSet
from jobservice.rules.attempts import after_attempt, retry_delay
from jobservice.rules.schedules import RESCORE, Confirmed, Itself, Registered, Schedule, ScoresDue
from jobservice.store import occurrence_items as store
from jobservice.store.database import Database
from jobservice.store.occurrence_leases import TakenOccurrence
from jobservice.usecases.scoring import Scorer
from jobservice.worker.job_call import Calling
from jobservice.worker.leased_work import RowLease, Why
from jobservice.worker.run import Run, Tally
from jobservice.worker.run_batches import run_batches, run_together
from jobservice.worker.run_confirmed import Proof, Unproven, nothing_proven, run_confirmed
from jobservice.worker.run_ending import Ending, RunLost
from jobservice.worker.run_items import AT_ONCE, Feed, SingleRun, follow_cursor, run_itself
from jobservice.worker.run_scope import Room, Scope
from jobservice.worker.run_scores import ScoreRun
from jobservice.worker.score_batches import Faults
from jobservice.worker.selecting import SelectionUnfit

_log = structlog.get_logger("jobservice.worker")

TOGETHER_MOST = 500
"""Most occurrences that share one transaction."""
TOGETHER_SECONDS = 5.0
"""How long they may take; then each goes its own way."""


async def _none(*_: object) -> Outcome:
    raise RuntimeError("the service does this by itself, by no function of an application")


_NO_FUNCTION: UseCaseFunction = _none


class Unrunnable(Exception):
    """The records or the application do not have what an occurrence is to run; the text is a sentence."""


@dataclass(slots=True, eq=False)
class _Together:
    """Small runs of one tenant that share a transaction, and the task that does them."""

    runs: list[Run] = field(default_factory=list)
    task: asyncio.Task[frozenset[Run]] | None = None


@dataclass(slots=True, kw_only=True, eq=False)
class Runner:
    """Runs occurrences of the schedules in the records."""

    database: Database
    records: RecordSet
    application: Application
    room: Room
    """Of all runs of the process. The pool of `database` has a connection for each place, and one for each run."""
    at_once: int = AT_ONCE
    proof: Proof = nothing_proven
    """What verifies the recovery by which a person runs a schedule that moves money."""
    jitter: Callable[[], float] = random.random
    _gathering: dict[tuple[str, UUID], _Together] = field(default_factory=dict)
    _scorer: Scorer = field(init=False)

    def __post_init__(self) -> None:
        self._scorer = Scorer.of(self.records, self.application)

    async def run(self, lease: RowLease, taken: TakenOccurrence) -> Ending:
        """One attempt; how it ended, also where it was cancelled for a person or a stopping Worker, or over its bound.

        RunLost where a write found the lease lost, CancelledError where it was cancelled for that (`lease.why`) or by
        nobody of the machinery: then nothing is to be settled. Refusal DATABASE_AWAY.
        """
        try:
            run = self._prepared(lease, taken)
        except Unrunnable as why:
            return _unrunnable(str(why))
        bound = run.schedule.bound_seconds
        lease.bound = time.monotonic() + bound
        main = run.scope.start(self._work(run))
        try:
            await asyncio.wait((main,), timeout=bound)
        except asyncio.CancelledError:
            await run.scope.close()
            ending = self._cancelled(run, main)
            if ending is None:
                raise
            _stay()
            return ending
        finally:
            lease.bound = None
        in_time = main.done()
        left = await run.scope.close()
        if in_time or _went_well(main):
            return self._ended(run, main)
        return self._over_bound(run, left)

    def _prepared(self, lease: RowLease, taken: TakenOccurrence) -> Run:
        schedule = self.records.schedules.get(taken.schedule)
        if schedule is None:
            raise Unrunnable(f"The records have no schedule {taken.schedule} any more.")
        title, function = self._what(schedule)
        selection = None
        if isinstance(schedule.selection, Registered):
            selection = self.application.selections.get(schedule.selection.id)
            if selection is None:
                raise Unrunnable(f"{taken.schedule} selects {schedule.selection.id}, which is not registered any more.")
        calling = Calling(
            tenant=taken.tenant,
            schedule=schedule.id,
            scheduled_at=taken.scheduled_at,
            use_case=schedule.runs,
            title=title,
            records=self.records,
            scorer=self._scorer,
        )
        return Run(
            scope=Scope(self.database, self.room, own=not _small(schedule)),
            lease=lease,
            taken=taken,
            schedule=schedule,
            function=function,
            selection=selection,
            calling=calling,
            tally=Tally.of(taken, None),
        )

    def _what(self, schedule: Schedule) -> tuple[str, UseCaseFunction]:
        """The title of what it runs, and the application's function; Unrunnable where that is not there any more."""
        if schedule.runs == RESCORE:
            return "Scoring", _NO_FUNCTION
        if schedule.moves_money:
            return "Bringing payouts forward", _NO_FUNCTION
        use_case = self.records.job_use_cases.get(schedule.runs)
        registered = self.application.use_cases.get(schedule.runs)
        if use_case is None or registered is None:
            raise Unrunnable(f"{schedule.id} runs {schedule.runs}, which is not registered any more.")
        return use_case.title, registered

    async def _work(self, run: Run) -> None:
        """The whole attempt on the path that its schedule says."""
        schedule, left = run.schedule, False
        if run.taken.fence > 1:
            left = await self._take_up(run)
        if isinstance(schedule.selection, ScoresDue):
            queue = self.records.queues[schedule.selection.queue]
            await ScoreRun(run=run, scorer=self._scorer, queue=queue, faults=Faults()).work()
        elif isinstance(schedule.selection, Itself):
            if not (_small(schedule) and run.taken.fence == 1 and await self._with_others(run)):
                await run_itself(run)
        elif isinstance(schedule.selection, Confirmed):
            await run_confirmed(run, schedule.selection, left=left, at_once=self.at_once, proof=self.proof)
        elif schedule.cursor is not None:
            await follow_cursor(run, schedule.cursor, left=left)
        elif schedule.batch_path:
            await run_batches(run, left=left)
        else:
            feed = Feed(run=run, left=left, after=run.tally.position)
            await SingleRun(run=run, feed=feed, at_once=self.at_once).work()
            if feed.trouble is not None:
                raise feed.trouble

    async def _take_up(self, run: Run) -> bool:
        """Go on where earlier attempts ended; whether they left items. RunLost."""
        async with run.transaction() as transaction:
            standing = await store.standing(transaction, run.key)
        if standing is None:
            raise RunLost(str(run.taken.id))
        run.tally = Tally.of(run.taken, standing)
        return standing.rows > standing.done + standing.refused + standing.failed + standing.uncertain

    async def _with_others(self, run: Run) -> bool:
        """Share a transaction with the small runs of the tenant that begin in this moment; whether that did it."""
        group = self._gathering.setdefault((run.taken.tenant, run.lease.holder), _Together())
        group.runs.append(run)
        if group.task is None:
            group.task = asyncio.create_task(self._together((run.taken.tenant, run.lease.holder), group))
            self.room.left_behind.add(group.task)
            group.task.add_done_callback(self.room.left_behind.discard)
        elif len(group.runs) >= TOGETHER_MOST:
            self._gathering.pop((run.taken.tenant, run.lease.holder), None)
        try:
            done = await asyncio.shield(group.task)
        except asyncio.CancelledError:
            group.task.cancel()  # where one of them is to end, nothing of all may stay: the others go their own way
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            return False
        return run in done

    async def _together(self, key: tuple[str, UUID], group: _Together) -> frozenset[Run]:
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        if self._gathering.get(key) is group:
            del self._gathering[key]
        if len(group.runs) == 1:
            return frozenset()
        scope = Scope(self.database, self.room, own=False)
        first = group.runs[0]
        runs = [first.within(scope), *group.runs[1:]]
        main = scope.start(run_together(runs))
        try:
            await asyncio.wait((main,), timeout=TOGETHER_SECONDS)
        finally:
            await scope.close()
        if not _went_well(main) or not main.result():
            return frozenset()
        return frozenset(group.runs)

    def _ended(self, run: Run, main: asyncio.Task[None]) -> Ending:
        """How an attempt ended that nobody ended."""
        error = main.exception()
        if error is None:
            return self._by_tally(run)
        if isinstance(error, RunLost):
            raise error
        if isinstance(error, Unproven):
            _log.error("money-run-unproven", alarm=True, schedule=run.schedule.id, tenant=run.taken.tenant)
            return self._ending(
                run,
                AttemptEnding.FAILED,
                OccurrenceState.DEAD_LETTER,
                cause=DeadCause.UNRUNNABLE,
                error=str(error),
            )
        if isinstance(error, SelectionUnfit):
            return self._after(run, AttemptEnding.FAILED, str(error))
        if isinstance(error, Refusal):
            if error.kind is ErrorCode.DATABASE_AWAY:
                raise error
            return self._after(run, AttemptEnding.FAILED, error.detail)
        _log.error("run-failed", schedule=run.schedule.id, tenant=run.taken.tenant, exc_info=error)
        return self._after(run, AttemptEnding.FAILED, "It went wrong in the Worker, as its log says.")

    def _by_tally(self, run: Run) -> Ending:
        tally = run.tally
        if tally.again and not run.last_attempt:
            asked = None if tally.unasked else tally.asked
            error = _of_items(run, tally.again, "to be tried again")
            return self._after(run, AttemptEnding.RETRY, error, asked=asked)
        if tally.busy:
            return self._busy(run)
        bad = tally.failed + tally.uncertain + tally.again
        if bad:
            # Final, whatever attempts are left: nothing of it is to be tried again.
            state, cause = OccurrenceState.DEAD_LETTER, DeadCause.FAILED
            error = _of_items(run, bad, "failed" if tally.failed + tally.again else "uncertain")
            return self._ending(run, AttemptEnding.FAILED, state, cause=cause, error=error)
        return self._ending(run, AttemptEnding.COMPLETED, OccurrenceState.COMPLETED)

    def _busy(self, run: Run) -> Ending:
        """Handed back, uncounted, for as long as a back-off lasts: a Worker that froze in the middle of an item has it locked
        until the server ends its transaction, and no successor is to use up its attempts on that."""
        wait = retry_delay(run.schedule.backoff, attempts=run.taken.attempts, asked_seconds=None, jitter=self.jitter())
        error = _of_items(run, run.tally.busy, "locked by another Worker")
        return self._ending(run, AttemptEnding.HANDED_BACK, OccurrenceState.SCHEDULED, error=error, after=wait)

    def _cancelled(self, run: Run, main: asyncio.Task[None]) -> Ending | None:
        """How an attempt ended that was cancelled; None where nothing is to be settled."""
        why = run.lease.why
        if why is None or why is Why.LOST or run.lease.lost:
            return None
        if _went_well(main):
            return self._by_tally(run)
        if why is Why.CANCELLED:
            return self._after(run, AttemptEnding.CANCELLED, "A person cancelled it while it ran.")
        return self._after(run, AttemptEnding.HANDED_BACK, None)

    def _over_bound(self, run: Run, left: int) -> Ending:
        seconds = run.schedule.bound_seconds
        _log.warning(
            "run-over-bound", schedule=run.schedule.id, tenant=run.taken.tenant, seconds=seconds, left_behind=left
        )
        swallowed = " It did not end when it was told to, and was cut off." if left else ""
        return self._after(run, AttemptEnding.OVER_BOUND, f"It ran longer than its bound of {seconds:g} s.{swallowed}")

    def _after(self, run: Run, ending: AttemptEnding, error: str | None, *, asked: float | None = None) -> Ending:
        following = after_attempt(
            ending,
            attempts=run.taken.attempts,
            most=run.schedule.attempts,
            backoff=run.schedule.backoff,
            error=error,
            asked_seconds=asked,
            jitter=self.jitter(),
        )
        return self._ending(
            run, ending, following.state, cause=following.cause, error=following.error, after=following.retry_after
        )

    def _ending(
        self,
        run: Run,
        ending: AttemptEnding,
        state: OccurrenceState,
        *,
        cause: DeadCause | None = None,
        error: str | None = None,
        after: float | None = None,
    ) -> Ending:
        return Ending(
            attempt=ending,
            state=state,
            cause=cause,
            error=error,
            retry_after=after,
            counts=run.tally.counts(),
            position=run.tally.position,
            selected_all=run.tally.selected_all,
            item=run.unwritten,
            label=run.schedule.title,
        )


def _small(schedule: Schedule) -> bool:
    """Whether its occurrences share a transaction of their tenant; there may be hundreds of them at once."""
    return schedule.batch_path and isinstance(schedule.selection, Itself)


def _unrunnable(sentence: str) -> Ending:
    return Ending(
        attempt=AttemptEnding.FAILED,
        state=OccurrenceState.DEAD_LETTER,
        cause=DeadCause.UNRUNNABLE,
        error=sentence,
    )


def _of_items(run: Run, count: int, what: str) -> str:
    """`3 of 120 items failed: SENTENCE`; of a run that is its own item the sentence alone."""
    why = run.tally.why
    if why is not None and isinstance(run.schedule.selection, Itself):
        return why
    was = {"failed": "failed"}.get(what, f"is {what}" if count == 1 else f"are {what}")
    noun = "item" if run.tally.selected == 1 else "items"
    return f"{count:,} of {run.tally.selected:,} {noun} {was}" + ("." if why is None else f": {why}")


def _went_well(main: asyncio.Task[object]) -> bool:
    return main.done() and not main.cancelled() and main.exception() is None


def _stay() -> None:
    """The cancellation is answered: what is to be settled is settled in this task."""
    task = asyncio.current_task()
    if task is not None:
        task.uncancel()
