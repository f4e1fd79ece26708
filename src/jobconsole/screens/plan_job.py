"""Owns the job that the end of a plan submitted, on the screen that watches the plan: finding it, following it, opening it.

A job is the plan's where the plan's id is its submission identity; the account of the plan itself is another one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from jobconsole.client import jobs as jobs_client
from jobconsole.screens.named import opened
from jobconsole.screens.plan_progress_acts import PlanSteeringScreen
from jobconsole.screens.shell import Handler
from jobcontract.events import Topic
from jobcontract.job_states import PLAN_ACCOUNT, JobView
from jobcontract.permissions import Permission
from jobcontract.states import Turn

if TYPE_CHECKING:
    from jobcontract.events import Hint
    from jobcontract.jobs import JobSummary
    from jobcontract.plans import Plan

JOB = "jobconsole.screens.job:JobScreen"


class PlanJobScreen(PlanSteeringScreen):
    """A place with a plan, and with the job that carries on what it released."""

    job: JobSummary | None = None
    """None where the end of the plan submitted none, or while it is not known."""

    def handlers(self) -> Mapping[str, Handler]:
        """Commands that steer the plan, and the one that leads to its job."""
        return {**super().handlers(), "plan.open-job": self.open_job}

    async def reload(self) -> None:
        """Asks for the plan, then for its job."""
        await super().reload()
        await self._look_at_job()

    def took(self, plan: Plan) -> None:
        """A plan that has ended now may have submitted a job."""
        before = self.plan
        super().took(plan)
        if before is not None and before.ended_at is None and plan.ended_at is not None:
            self._follow_job()

    def changed(self, hints: Sequence[Hint]) -> None:
        """Asks again where a hint names the job."""
        super().changed(hints)
        job = self.job
        if job is not None and any(
            hint.id == (job.id if hint.topic is Topic.JOB else job.kind)
            for hint in hints
            if hint.topic in (Topic.JOB, Topic.JOBS)
        ):
            self._follow_job()

    def open_job(self) -> None:
        """Shows the job, in front of the plan."""
        if (job := self.job) is not None and (screen := opened(JOB, job.id, job.source, job)) is not None:
            self.app.push_screen(screen)

    def _follow_job(self) -> None:
        self.work(self._look_at_job(), doing="Reading the plan's job", group="job", exclusive=True)

    async def _look_at_job(self) -> None:
        plan = self.plan
        if plan is None or plan.ended_at is None or not _released(plan) or not self._may_look():
            return
        found = (await jobs_client.jobs(self.shell.service, plan.id, view=JobView.ALL)).jobs
        its = (job for job in found if job.submission_identity == plan.id and job.kind != PLAN_ACCOUNT)
        self.job = next(its, None)
        self.show_all()

    def _may_look(self) -> bool:
        return Permission.JOB_READ in self.situation().permissions


def _released(plan: Plan) -> bool:
    return any(each.turn is Turn.DONE and each.count for each in plan.account)
