"""kill -9 of a process in the middle of submitting, of settling, of a failure effect, of delivering: what it had begun is done once, by the
next one, and what may have happened is said."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from copy import copy

import pytest

from jobservice.application import Outcome, done
from jobservice.application_jobs import FailedJob
from jobservice.store.database import Database
from jobservice.worker.failure_effects import FailureEffects
from jobservice.worker.job_notices import DIED, JobNotices
from jobservice.worker.reconciling_jobs import ReconcilingJobs
from tests.conftest import Clock, People
from tests.usecases.desk import RECORDS
from tests.usecases.desk import application as desk_application
from tests.worker.jobs_stage import JobStage
from tests.worker.test_delivering import Postbox

pytestmark = [pytest.mark.long, pytest.mark.requirement("LEASE-04")]
Kill = Callable[[str], None]


@pytest.fixture
def stage(worker_database: Database, people: People) -> JobStage:
    return JobStage(database=worker_database, people=people)


@pytest.fixture
def kill(stage: JobStage, clock: Clock, database_url: Callable[[str], str]) -> Kill:
    """`kill(duty)`: a process runs that duty and is killed in the middle; then its leases run out. It submits as the API."""
    for name in ("job-reconciler", "failure-effects", "job-notices"):
        stage.people.connection.execute("insert into jobs.duties (name) values (%s)", (name,))

    def kill(duty: str) -> None:
        role = "jobs_api" if duty.startswith("submit") else "jobs_worker"
        words = [sys.executable, "-m", "tests.worker.killed_duty", duty, database_url(role)]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        assert process.stdout.readline() == "there\n"
        process.kill()
        process.wait()
        process.stdout.close()
        gone = "select count(*) from pg_stat_activity where application_name = 'killed duty'"
        while stage.people.connection.execute(gone).fetchone() != (0,):
            pass
        clock.advance(130)

    return kill


@pytest.mark.requirement("INV-01", "INV-05")
@pytest.mark.parametrize(("where", "there"), [("submitting", 0), ("submitted", 1)])
async def test_killed_while_it_submits_and_hands_over(stage: JobStage, kill: Kill, where: str, there: int) -> None:
    kill(where)
    counts = "select (select count(*) from jobs.jobs), (select count(*) from jobs.job_steps), (select count(*) from jobs.job_events), (select count(*) from jobs_engine.workflow_status)"  # fmt: skip
    assert stage.people.connection.execute(counts).fetchone() == (there, 3 * there, there, there)
    job = await stage.submit("one")
    assert (stage.job(job)["status"], stage.run_of(job)) == ("pending", "ENQUEUED")
    assert stage.people.connection.execute(counts).fetchone() == (1, 3, 1, 1)


@pytest.mark.requirement("corrected reconciliation")
async def test_killed_while_it_settles(stage: JobStage, kill: Kill) -> None:
    job = await stage.quiet("one", "running", "queued", "queued", engine="SUCCESS")
    before = stage.history(job)
    kill("settling")
    assert (stage.job(job)["status"], stage.history(job), stage.notices(job)) == ("running", before, [])
    assert await stage.run(ReconcilingJobs()) == {"fail": 1}
    assert [kind for kind, _ in stage.history(job)].count("settled") == 1
    assert len(stage.notices(job)) == 1


@pytest.mark.requirement("corrected reconciliation")
async def test_killed_in_the_middle_of_a_failure_effect(stage: JobStage, kill: Kill) -> None:
    async def effect(job: FailedJob) -> Outcome:
        calls.append(job.job)
        return done("noted")

    calls: list[str] = []
    job = await stage.quiet("one", "running", engine="SUCCESS")
    await stage.run(ReconcilingJobs())
    stage.past_the_walls("update jobs.duties set holder = null, expires_at = null")
    kill("effect")
    assert stage.rows("select 1 from jobs.items") == []
    assert (stage.job(job)["failure_effect_state"], stage.job(job)["failure_effect_attempts"]) == ("due", 1)
    application = copy(desk_application)
    application.failure_effects = {"payments.note-failed": effect}
    for _ in range(2):
        await stage.run(FailureEffects(records=RECORDS, application=application))
    assert (calls, stage.job(job)["failure_effect_state"]) == ([job], "done")


@pytest.mark.requirement("INV-11")
async def test_killed_while_it_delivers(stage: JobStage, kill: Kill) -> None:
    job = await stage.quiet("one", "running", engine="SUCCESS")
    await stage.run(ReconcilingJobs())
    (notice,) = stage.notices(job)
    kill("delivering")
    assert stage.notices(job)[0]["state"] == "claimed"
    box = Postbox()
    assert await stage.run(JobNotices(delivery=box)) == {"lapsed": 1, "delivered": 1}
    assert [letter.id for letter in box.letters] == [notice["id"]], "whoever gets it twice can tell"
    results = stage.rows("select result from jobs.job_notice_attempts order by attempt")
    assert [row["result"] for row in results] == [DIED, "Delivered."]
