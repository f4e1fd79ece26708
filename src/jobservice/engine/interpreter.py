"""Owns running one job: take it up, begin each step, run it, report how it ended, wait, go on. One interpreter runs all kinds;
which steps a job has, its own rows say, by the definition that it was submitted with.

What a job has done is in the account, and the account alone says what is next: a run that ends anywhere is gone on with from
there, by any Worker and any version of the code. Only errors of its own are caught: what the database or the engine's
library raises ends the run, never a step.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field
from typing import TypeVar

import psycopg
import structlog

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.states import Moves, OutcomeKind
from jobservice.application import Outcome, failed, refused
from jobservice.application_jobs import Patience
from jobservice.engine.adapter import Left
from jobservice.engine.attempts import Attempts
from jobservice.engine.effects import Effects, Unfit
from jobservice.engine.outcomes import Told, broken, outcome_of
from jobservice.engine.outward import cannot_ask
from jobservice.engine.places import Places
from jobservice.engine.running import Interrupted, RunningJob, Why
from jobservice.engine.step_call import WantedJob, WantedPush
from jobservice.store.database import Transaction
from jobservice.usecases import job_reports as reports
from jobservice.usecases.job_reports import (
    Again,
    Begun,
    CancelAsked,
    Ended,
    GoOn,
    Held,
    Lost,
    Passed,
    Run,
    TakenUp,
    Wait,
)

_log = structlog.get_logger("jobservice.engine")

HELD_SECONDS = 15.0
"""How often a job that a stop holds still looks whether it may go on; a stop or a money switch that is lifted wakes it."""
AWAY_SECONDS = (0.1, 0.25, 0.5, 1.0, 2.0)
"""Pauses between tries to write while the database is away; the last one again and again."""
GAVE_WAY_MOST = 5
"""How often something is written that gives way to another transaction."""
ONCE = Patience(attempts=1)
"""Of what no machine tries again."""
UNLIMITED = 1_000_000
"""Attempts, where it is not their number that ends the step: it has no behavior."""

Proof = Callable[[Transaction, str, str], Awaitable[str | None]]
"""`proof(transaction, family, job)`: why a step of it may not move money, in a sentence; None where it may."""
Answer = Begun | Passed | Wait | Held | CancelAsked | Ended | Lost
Report = GoOn | Again | Ended | CancelAsked | Lost
Reported = tuple[Report, Answer | None]
"""What became of a report, and of the beginning of the next step in the same transaction."""
Result = TypeVar("Result")


class _Undone(Exception):
    """Rolls a report's transaction back; carries the answer."""

    def __init__(self, answer: Report) -> None:
        super().__init__()
        self.answer = answer


@dataclass(slots=True, kw_only=True, eq=False)
class Interpreter:
    """Runs the jobs of one Worker process. `holder`: its incarnation; `changed` is told (tenant, kind, job) after each
    change; `proof`: None where nothing could be believed, and then nothing moves money."""

    holder: str
    attempts: Attempts
    effects: Effects
    places: Places
    changed: Callable[[str, str, str], None]
    proof: Proof | None = None
    money: Collection[str] = ()
    """Use cases that move money by the records, whatever a row says that was written past the service."""
    jobs: dict[str, RunningJob] = field(default_factory=dict)
    """What runs here, by handle."""
    left: set[str] = field(default_factory=set)
    """Handles of what was left because this Worker stops."""
    stopping: bool = False

    async def carry(self, family: str, job: str, tenant: str, handle: str) -> None:
        """Run a job to its end. Raises Left where it goes on elsewhere, or later."""
        running = RunningJob(family=family, job=job, tenant=tenant, handle=handle)
        self.jobs[handle] = running
        try:
            await self.places.take(running)
            begun = await self._begun(running, None)
            while begun is not None:
                begun = await self._step(running, begun)
        except (Refusal, psycopg.OperationalError) as error:
            # The job is as the account says; whoever sees that nobody runs it any more resumes it.
            reason = error.detail if isinstance(error, Refusal) else str(error)
            _log.warning("job-left", job=job, tenant=tenant, reason=reason)
            raise Left from error
        finally:
            self.places.give_back(running)
            del self.jobs[handle]

    def stop(self) -> None:
        """Take up nothing more; what only waits is left at once, what works goes to its end."""
        self.stopping = True
        for running in tuple(self.jobs.values()):
            running.end(Why.STOPPING)
        self.places.open()

    def cut_off(self) -> None:
        """Cancel what still works: its attempt is given back."""
        for running in tuple(self.jobs.values()):
            running.end(Why.STOPPED)

    async def _begun(self, running: RunningJob, position: int | None, answer: Answer | None = None) -> Begun | None:
        """The attempt that began at the step (None: take the job up first); None where nothing is left to run. `answer`:
        what beginning it said already."""
        while True:
            match answer or await self._ask_to_begin(running, position):
                case Begun() as begun:
                    return begun
                case Wait() as wait:
                    await self._pause(running, wait.seconds)
                case Held() as held:
                    await self._hold_still(running, held)
                case CancelAsked():
                    await self._cancelled(running)
                    return None
                case Passed():
                    position = None
                case Lost() as lost if running.run is not None:
                    raise _lost(running, lost)
                case Ended() | Lost():
                    return None
            answer = None

    async def _ask_to_begin(self, running: RunningJob, position: int | None) -> Answer:
        if position is None:
            running.held = None
        answer, _ = await self._again(running, self._beginning(running, position))
        running.held = running.run
        return answer

    def _beginning(self, running: RunningJob, position: int | None) -> Callable[[], Awaitable[Answer]]:
        async def begin() -> Answer:
            if self.stopping:
                raise self._leave(running)
            if position is not None and self._moves_money(running, position):
                async with self.attempts.writing.alone(running.tenant) as transaction:
                    return await self._begin(transaction, running, position)
            return await self.attempts.writing.together(
                running.tenant, lambda transaction: self._begin(transaction, running, position)
            )

        return begin

    async def _begin(self, transaction: Transaction, running: RunningJob, position: int | None) -> Answer:
        """Begin an attempt, and verify in the same transaction that it may move money, where it does."""
        if position is None:
            taken = await self._take_up(transaction, running)
            if not isinstance(taken, int):
                return taken
            position = taken
        run, step = _run_of(running), running.steps[position - 1]
        registered = self.attempts.steps.get(step.use_case)
        most = UNLIMITED if registered is None else registered.patience.attempts
        begun = await reports.begin_step(transaction, run, position, attempts_most=most)
        if not isinstance(begun, Begun):
            return begun
        if begun.sent or not self._moves_money(running, position):  # asking moves nothing
            return begun
        if (doubt := await self._doubt(transaction, running)) is not None:
            _log.error("job-not-believed", alarm=True, job=running.job, tenant=running.tenant, reason=doubt)
            ended = await reports.report_outcome(transaction, run, position, refused(doubt), patience=ONCE)
            return ended if isinstance(ended, Ended | Lost | CancelAsked) else Lost(sentence=doubt)
        return begun

    async def _take_up(self, transaction: Transaction, running: RunningJob) -> int | CancelAsked | Ended | Lost:
        """Take the job up; the position of its next step."""
        taken = await reports.take_up(
            transaction, family=running.family, job=running.job, holder=self.holder, handle=running.handle
        )
        if not isinstance(taken, TakenUp):
            return taken
        running.run, running.kind, running.steps = taken.run, taken.kind, taken.steps
        step = next((each for each in taken.steps if not each.status.final), None)
        if step is None:
            _log.error("job-without-next-step", job=running.job, tenant=running.tenant)
            running.run = None
            return Lost(sentence="No step of it is left to run, and it is not settled.")
        if taken.cancel_asked and not step.unanswered:
            return CancelAsked(person=None, reason="")
        return step.position

    async def _doubt(self, transaction: Transaction, running: RunningJob) -> str | None:
        if self.proof is None:
            return "This Worker has no public keys: it believes no plan, and moves no money."
        return await self.proof(transaction, running.family, running.job)

    async def _step(self, running: RunningJob, begun: Begun) -> Begun | None:
        """Run the attempt and report it; the next one that began, None at the end."""
        self.changed(running.tenant, begun.kind, running.job)
        registered = self.attempts.steps.get(begun.step.use_case)
        if registered is None:
            told = Told(outcome=cannot_ask(begun) if begun.sent else _unrecorded(begun))
            return await self._report(running, begun, told, ONCE)
        call = self.attempts.call(running, begun)
        ended = await self.attempts.make(running, begun, registered, call)
        match ended:
            case Told():
                done = ended.outcome.kind is OutcomeKind.DONE
                effects, result = (tuple(call.effects), call.result) if done else ((), {})
                return await self._report(running, begun, ended, registered.patience, effects, result)
            case Held():
                await self._hold_still(running, ended)
                return begun
            case Lost():
                raise _lost(running, ended)
            case Interrupted():
                await self._interrupted(running, begun)
            case CancelAsked():
                await self._cancelled(running)
        return None

    async def _report(
        self,
        running: RunningJob,
        begun: Begun,
        told: Told,
        patience: Patience,
        effects: tuple[WantedPush | WantedJob, ...] = (),
        result: dict[str, str | int | bool] | None = None,
    ) -> Begun | None:
        """Write how the attempt ended, with what it asked for; the next attempt that began, None at the end."""
        position = begun.step.position

        async def write(transaction: Transaction) -> Reported:
            await self.effects.do(transaction, running.job, begun, effects)
            answer = await reports.report_outcome(
                transaction,
                _run_of(running),
                position,
                told.outcome,
                patience=patience,
                result=result or None,
                reference=told.reference,
                jitter=random.random(),  # noqa: S311  # spreads tries, and is no secret
            )
            if isinstance(answer, GoOn) and not self.stopping and not self._moves_money(running, answer.position):
                return answer, await self._begin(transaction, running, answer.position)
            return answer, None

        try:
            (answer, following), doubted = await self._again(running, lambda: self._write(running, write, effects))
        except Refusal as refusal:
            if refusal.kind in (ErrorCode.DATABASE_AWAY, ErrorCode.TIMED_OUT) or not effects:
                raise
            return await self._report(running, begun, Told(outcome=outcome_of(refusal)), patience)
        except Unfit:
            return await self._report(running, begun, broken(begun, running.job, "asked for what cannot be"), patience)
        self.changed(running.tenant, begun.kind, running.job)
        if isinstance(answer, Lost) and doubted:  # it may have been committed with a connection that broke then
            return await self._begun(running, position)
        return await self._following(running, position, answer, following)

    async def _following(
        self, running: RunningJob, position: int, answer: Report, following: Answer | None
    ) -> Begun | None:
        """The attempt that began after a report; None at the end."""
        match answer:
            case GoOn():
                return await self._begun(running, answer.position, following)
            case Again():
                await self._pause(running, answer.seconds)
                return await self._begun(running, position)
            case CancelAsked():
                await self._cancelled(running)
                return None
            case Ended():
                return None
            case Lost():
                raise _lost(running, answer)

    async def _write(
        self,
        running: RunningJob,
        write: Callable[[Transaction], Awaitable[Reported]],
        effects: tuple[WantedPush | WantedJob, ...],
    ) -> Reported:
        """Write a report: with others', or in a transaction of its own where there is something to undo."""
        if not effects:
            return await self.attempts.writing.together(running.tenant, write)
        try:
            async with self.attempts.writing.alone(running.tenant) as transaction:
                answer, following = await write(transaction)
                if not isinstance(answer, GoOn) and not (isinstance(answer, Ended) and answer.here):
                    raise _Undone(answer)
                return answer, following
        except _Undone as undone:
            return undone.answer, None

    async def _interrupted(self, running: RunningJob, begun: Begun) -> None:
        match running.why:
            case Why.CANCELLED:
                await self._cancelled(running)
            case Why.STOPPED:
                sentence = f"The Worker stopped during {begun.step.label}; another one begins it again."
                async with self.attempts.writing.alone(running.tenant) as transaction:
                    await reports.hand_back(transaction, _run_of(running), sentence)
                raise self._leave(running)
            case _:
                raise _lost(running, Lost(sentence="Another Worker has it, or it is settled."))

    async def _cancelled(self, running: RunningJob) -> None:
        ended, _ = await self._again(
            running,
            lambda: self.attempts.writing.together(
                running.tenant, lambda transaction: reports.settle_cancelled(transaction, _run_of(running))
            ),
        )
        if isinstance(ended, Lost):
            raise _lost(running, ended)
        self.changed(running.tenant, running.kind, running.job)

    async def _hold_still(self, running: RunningJob, held: Held) -> None:
        if held.told:
            self.changed(running.tenant, running.kind, running.job)
        await self._pause(running, HELD_SECONDS)

    async def _pause(self, running: RunningJob, seconds: float) -> None:
        """Wait without a place, until woken; raises Left where this Worker stops."""
        if seconds > 0:
            self.places.give_back(running, waits=True)
            await running.pause(seconds)
            if self.stopping:
                raise self._leave(running)
            await self.places.take(running)
        if running.why is None:
            running.woken.clear()

    async def _again(self, running: RunningJob, write: Callable[[], Awaitable[Result]]) -> tuple[Result, bool]:
        """The result of something to write, tried again while the database is away or it gives way; and whether a try
        before may have been committed. Refusal where that takes too long, or this Worker's time is over."""
        tries, gave_way, doubted = 0, 0, False
        while True:
            try:
                return await write(), doubted
            except Refusal as refusal:
                if refusal.kind is ErrorCode.TIMED_OUT:
                    gave_way += 1
                    if gave_way >= GAVE_WAY_MOST:
                        raise
                elif refusal.kind is not ErrorCode.DATABASE_AWAY or running.why in (Why.STOPPED, Why.LOST):
                    raise
                doubted = True
            await asyncio.sleep(AWAY_SECONDS[min(tries, len(AWAY_SECONDS) - 1)])
            tries += 1

    def _moves_money(self, running: RunningJob, position: int) -> bool:
        """Whether the step does, by its row or by the records."""
        step = running.steps[position - 1]
        return step.moves is Moves.MONEY or step.use_case in self.money

    def _leave(self, running: RunningJob) -> Left:
        self.left.add(running.handle)
        return Left()


def _lost(running: RunningJob, lost: Lost) -> Left:
    """A run that is not this Worker's any more: whoever has it goes on, and if nobody has, it is put back."""
    _log.warning("job-lost", job=running.job, tenant=running.tenant, reason=lost.sentence)
    return Left()


def _run_of(running: RunningJob) -> Run:
    if running.run is None:
        raise RuntimeError("the job is not taken up")
    return running.run


def _unrecorded(begun: Begun) -> Outcome:
    """Of a step whose use case is no more: the job keeps the steps that it was submitted with."""
    return failed(
        f"This release does not know how to do {begun.step.label} ({begun.step.use_case}): no such step is registered. "
        "Run a release that has it, or retry the job as it is defined now."
    )
