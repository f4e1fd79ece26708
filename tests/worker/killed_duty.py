"""A process that runs one duty about jobs, or submits one, and stands still in the middle of it, for a test to kill it there.

`python -m tests.worker.killed_duty DUTY URL`: prints `there` once it stands in the middle.
"""

from __future__ import annotations

import asyncio
import sys
from copy import copy
from typing import cast
from uuid import UUID

from jobcontract.job_states import JobStatus
from jobservice.application import NewWorkItem, Outcome
from jobservice.application_jobs import FailedJob
from jobservice.delivery import Letter
from jobservice.store.database import Database, Transaction
from jobservice.usecases.job_submission import Submission, submit_kind
from jobservice.worker import applying, reconciling_jobs
from jobservice.worker.failure_effects import FailureEffects
from jobservice.worker.fenced import FencedDuty, take
from jobservice.worker.job_notices import JobNotices
from jobservice.worker.reconciling_jobs import ReconcilingJobs
from tests.usecases.desk import NOTES, RECORDS
from tests.usecases.desk import application as desk_application
from tests.usecases.money_desk import MoneyDesk
from tests.worker.jobs_stage import KIND
from tests.worker.plans_stage import Stage


async def stand_still() -> None:
    """Say so, and wait to be killed."""
    print("there", flush=True)  # noqa: T201  # whoever started this reads it
    await asyncio.Event().wait()


class Standing:
    """A mail server that took the letter, and whose answer never comes."""

    async def deliver(self, letter: Letter) -> None:
        """Take it."""
        assert letter.subject
        await stand_still()


async def effect(job: FailedJob) -> Outcome:
    """Push an item, and get no further."""
    await job.push(NOTES, NewWorkItem(key=f"failed-{job.job}", title="failed", inputs={}))
    await stand_still()
    raise AssertionError


def duty_of(name: str) -> FencedDuty:
    """The duty of that name, made so that it stands still in the middle."""
    if name == "delivering":
        return JobNotices(delivery=Standing())
    if name == "effect":
        application = copy(desk_application)
        application.failure_effects = {"payments.note-failed": effect}
        return FailureEffects(records=RECORDS, application=application)
    before = reconciling_jobs.correct

    async def correct(transaction: Transaction, job: str, status: JobStatus) -> None:
        await before(transaction, job, status)
        await stand_still()

    reconciling_jobs.correct = correct  # settled, and not committed
    return ReconcilingJobs()


async def submit(database: Database, name: str) -> None:
    """Submit a job, hand it over, and get no further: before the commit, or behind it, before the answer."""
    submission = Submission(kind=KIND.id, submission_identity="one", inputs={}, requester="m.ito")
    async with database.transaction("acme") as transaction:
        await submit_kind(transaction, KIND, submission)
        if name == "submitting":
            await stand_still()
    await stand_still()


async def close(database: Database) -> None:
    """Apply a plan, end it with its account, and get no further: before the commit."""

    async def submitted(*_: object) -> str | None:
        await stand_still()
        return None

    setattr(applying, "submit_at_end", submitted)  # noqa: B010  # a name that it has from elsewhere
    stage = Stage(desk=cast("MoneyDesk", None), database=database, records=RECORDS)
    await stage.apply(UUID(int=66))


async def main(name: str, url: str) -> None:
    """Run it."""
    database = await Database.open(url, name="killed duty", most=5)
    if name in ("submitting", "submitted"):
        await submit(database, name)
    if name == "closing":
        await close(database)
    duty = duty_of(name)
    lease = await take(database, duty, UUID(int=66), woken=True)
    assert lease is not None
    await duty.run_once(lease)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
