"""Owns one attempt at a step: calling its function, or making its one call to the outside world, until it ends or is
interrupted. Writes nothing but that a call is sent; what became of the attempt is the interpreter's to report.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

import structlog

from jobservice.application import Outcome, failed
from jobservice.application_jobs import OutwardStep, PlanPayout, RegisteredStep, StepOrder
from jobservice.engine.outcomes import Broken, Told, called
from jobservice.engine.outward import NOT_KNOWN, Call, cannot_ask, unknown
from jobservice.engine.progress import Progresses
from jobservice.engine.running import Attempt, Interrupted, Overran, RunningJob, Why
from jobservice.engine.step_call import JobStepCall
from jobservice.engine.writing import Writing
from jobservice.store import plan_jobs
from jobservice.usecases import job_reports as reports
from jobservice.usecases.job_reports import Begun, CancelAsked, Ended, Held, Kept, Lost
from jobservice.usecases.job_submission import SUBMITTER, Submitter

_log = structlog.get_logger("jobservice.engine")

OUTWARD_SLACK = 60.0
"""Seconds that an outward step may take past its call's own bound: for the questions after it."""
NotSent = CancelAsked | Held | Ended | Lost


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempts:
    """Makes the attempts of one Worker process. `steps`: what the application registered, by use case."""

    writing: Writing
    progresses: Progresses
    steps: Mapping[str, RegisteredStep]

    async def make(
        self, running: RunningJob, begun: Begun, registered: RegisteredStep, call: JobStepCall
    ) -> Told | Interrupted | NotSent:
        """Make one; how it ended, or why it did not come to its call."""
        submitter = SUBMITTER.set(Submitter(job=running.job, depth=begun.depth))
        try:
            if hasattr(registered.function, "send"):
                return await self._outward(running, begun, registered, cast("OutwardStep", registered.function))
            if begun.sent:
                return Told(outcome=cannot_ask(begun))
            function = called(registered.function, call)
            attempt = Attempt(function, registered.patience.bound, _name(running, begun))
            return await self._run(running, begun, attempt)
        finally:
            SUBMITTER.reset(submitter)
            call.over = True
            running.attempt = None
            running.keeps_on = False

    def call(self, running: RunningJob, begun: Begun) -> JobStepCall:
        """What the function of a step gets."""
        return JobStepCall(running=running, begun=begun, declare=self.progresses.declare, payouts=self.payouts)

    async def payouts(self, tenant: str, plan: str) -> tuple[PlanPayout, ...]:
        """What a plan released; Refusal where the database is away."""
        async with self.writing.alone(tenant) as transaction:
            return await plan_jobs.released(transaction, plan)

    async def _run(
        self, running: RunningJob, begun: Begun, attempt: Attempt, over: Outcome | None = None
    ) -> Told | Interrupted:
        """Run it to its end. `over`: what is told of one that took too long; None = that nothing of it was done."""
        running.attempt = attempt
        running.interrupt()
        try:
            ended = await attempt.run()
        except Broken as broken:
            return broken.told
        if isinstance(ended, Outcome):
            return Told(outcome=ended)
        if ended.left:
            _log.warning("step-left-behind", job=running.job, step=begun.step.step, attempt=begun.attempt)
        if isinstance(ended, Overran):
            stopped = f"It took longer than {attempt.bound:g} s and was stopped; nothing of it was done."
            return Told(outcome=over or failed(stopped))
        return ended

    async def _outward(
        self, running: RunningJob, begun: Begun, registered: RegisteredStep, outward: OutwardStep
    ) -> Told | Interrupted | NotSent:
        """Sent, the call, the outcome; or, where it was sent before without one, the question what became of it. Where an
        earlier attempt may have called, it is asked before it is sent again."""
        payouts = () if begun.plan is None else await self.payouts(running.tenant, begun.plan)
        order = StepOrder(
            key=begun.outward_key,
            tenant=running.tenant,
            job=running.job,
            inputs=begun.inputs,
            payouts=payouts,
            results=begun.results,
        )
        call = Call(step=outward, begun=begun, order=order, bound=registered.patience.bound)
        bound = registered.patience.bound + OUTWARD_SLACK
        if begun.sent:
            why = "its Worker was lost after it was sent."
            return await self._out(running, begun, Attempt(call.ask(why), bound, _name(running, begun)))
        if begun.attempt > 1 or begun.lineage != running.job:
            known = await self._run(running, begun, Attempt(call.known(), bound, _name(running, begun)))
            if not (isinstance(known, Told) and known.outcome is NOT_KNOWN):
                return known
        if running.why in (Why.STOPPED, Why.LOST):
            return Interrupted(left=False)
        sent = await self._send(running, begun)
        if not isinstance(sent, Kept):
            return sent
        return await self._out(running, begun, Attempt(call.send(), bound, _name(running, begun)))

    async def _send(self, running: RunningJob, begun: Begun) -> Kept | NotSent:
        run = running.run
        assert run is not None  # noqa: S101  # it began
        async with self.writing.alone(running.tenant) as transaction:
            return await reports.report_sent(transaction, run, begun.step.position)

    async def _out(self, running: RunningJob, begun: Begun, attempt: Attempt) -> Told | Interrupted:
        """A call that was sent comes to its end, whoever wants the job cancelled: what happened outside is written."""
        running.keeps_on = True
        over = unknown(begun, f"the call did not end within {attempt.bound:g} s.")
        return await self._run(running, begun, attempt, over)


def _name(running: RunningJob, begun: Begun) -> str:
    """Of the task: what the watchdog says of one that blocks."""
    return f"job {running.job} {begun.kind} {begun.step.step}"
