"""What hangs on a job is written only beside one of the same tenant, and what people said of it stays, whoever writes past
the code; the role that purges takes nothing that lives.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from jobcontract.job_states import JobStatus
from jobservice.usecases.job_submission import Submission, submit_in
from tests.usecases.job_desk_stage import SYNC, JobStage, job_stage

REFUSED = (psycopg.errors.RestrictViolation, psycopg.errors.InsufficientPrivilege, psycopg.errors.CheckViolation)
STEP = (
    "insert into jobs.job_steps (family, job, position, tenant, step, label, use_case, moves)"
    " values ('payments', %(job)s, 9, 'acme', 'more', 'More', 'payments.more', '{}')"
)
LINE = (
    "insert into jobs.job_events (family, job, sequence, tenant, kind, status, sentence)"
    " values ('payments', %(job)s, {}, 'acme', '{}', '{}', 'Forged.')"
)
NOTICE = (
    "insert into jobs.job_notices (tenant, family, job, outcome, person, subject, text)"
    " values ('acme', 'payments', %(job)s, 'cancelled', 'm.ito', 'Forged', 'Forged')"
)
ROOT = "update jobs.jobs set version = version + 1, {} where id = %(job)s"
API = (
    (STEP.format("money"), "pending"),
    (STEP.format("nothing"), "other"),
    (STEP.format("nothing"), "running"),
    (LINE.format(2, "revealed", "pending"), "other"),
    (LINE.format(99, "revealed", "succeeded"), "succeeded"),
    (LINE.format(2, "step-succeeded", "running"), "running"),
    (LINE.format(99, "settled", "succeeded"), "running"),
    (NOTICE, "other"),
    (NOTICE, "pending"),
    (NOTICE, "succeeded"),
    (ROOT.format("resolution_reason = 'Otherwise'"), "resolved"),
)
WORKER = (
    (ROOT.format("resolution = null, resolved_at = null"), "resolved"),
    (ROOT.format("cancel_asked_by = 'm.ito'"), "asked"),
    (ROOT.format("customer = 'other'"), "pending"),
    (ROOT.format("failure_effect_state = 'due'"), "resolved"),
    ("update jobs.job_steps set moves = 'money' where job = %(job)s", "pending"),
    ("update jobs.job_steps set use_case = 'payments.more' where job = %(job)s", "pending"),
)
PURGE = tuple(
    (f"delete from jobs.{table} where {column} = %(job)s", which)
    for which in ("pending", "succeeded")
    for table, column in (("job_events", "job"), ("job_steps", "job"), ("jobs", "id"), ("job_notices", "job"))
)


@pytest.fixture
def connections(database_url: Any) -> Iterator[dict[str, psycopg.Connection[Any]]]:
    opened = {role: psycopg.connect(database_url(role)) for role in ("jobs_api", "jobs_worker", "jobs_purge")}
    yield opened
    for connection in opened.values():
        connection.close()


async def jobs_of(stage: JobStage) -> dict[str, str]:
    """Jobs of each standing that matters here, and one of another tenant."""
    made = {"pending": (await stage.submit(SYNC)).id}
    for name, status in {
        "running": JobStatus.RUNNING,
        "asked": JobStatus.RUNNING,
        "succeeded": JobStatus.SUCCEEDED,
        "resolved": JobStatus.FAILED,
    }.items():
        made[name] = (await stage.submit(SYNC)).id
        await stage.carried(made[name], status)
    past_the_walls = stage.people.connection.execute
    past_the_walls(
        "update jobs.jobs set cancel_asked_at = jobs.now(), cancel_asked_by = 'o.lind', cancel_reason = 'No',"
        " version = version + 1 where id = %s",
        (made["asked"],),
    )
    past_the_walls(
        "update jobs.jobs set resolution = 'resolved', resolved_at = jobs.now(), failure_effect_state = 'done',"
        " version = version + 1 where id = %s",
        (made["resolved"],),
    )
    async with stage.worker.transaction("globex") as transaction:
        submission = Submission(kind=SYNC, submission_identity="other", inputs={"pages": 1})
        made["other"] = (await submit_in(transaction, stage.records, submission)).id
    return made


@pytest.mark.requirement("MONEY-29", "INV-06", "INV-08")
async def test_each_role_is_refused_what_is_not_its_to_write(
    database: Any, worker_database: Any, people: Any, connections: dict[str, psycopg.Connection[Any]]
) -> None:
    jobs = await jobs_of(job_stage(database, worker_database, people))
    passed = []
    for role, attempts in {"jobs_api": API, "jobs_worker": WORKER, "jobs_purge": PURGE}.items():
        connection = connections[role]
        for query, which in attempts:
            connection.execute("select set_config('jobs.tenant', 'acme', true)")
            try:
                if connection.execute(query.encode(), {"job": jobs[which]}).rowcount:
                    passed.append((role, query, which))
            except REFUSED:
                pass
            connection.rollback()
    assert passed == []
