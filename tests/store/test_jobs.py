"""The database itself refuses what breaks an invariant of jobs, whoever writes past the code, under each role."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg import sql

from jobcontract.job_states import JobStatus
from tests.usecases.job_desk_stage import SYNC, JobStage, job_stage

RESTRICTED = psycopg.errors.RestrictViolation
CHECKED = psycopg.errors.CheckViolation
TAKEN = psycopg.errors.UniqueViolation
DENIED = psycopg.errors.InsufficientPrivilege
ROLES = ("jobs_api", "jobs_worker", "jobs_owner")
COPY = (
    "insert into jobs.jobs (family, id, tenant, kind, kind_version, moves, submission_identity, inputs_digest, lineage,"
    " retry_of) select family, %(new)s, tenant, kind, kind_version, moves, {identity}, inputs_digest, {lineage}, {retry_of}"
    " from jobs.jobs where id = %(job)s"
)
NEW = "01a22f4b-d2c3-773c-ad11-0122e993c3d9"


@pytest.fixture
def stage(database: Any, worker_database: Any, people: Any) -> JobStage:
    return job_stage(database, worker_database, people)


@pytest.fixture
def connections(database_url: Any) -> Iterator[dict[str, psycopg.Connection[Any]]]:
    opened = {role: psycopg.connect(database_url(role), autocommit=True) for role in ROLES}
    for connection in opened.values():
        connection.execute("select set_config('jobs.tenant', 'acme', false)")
    yield opened
    for connection in opened.values():
        connection.close()


@pytest.fixture
async def jobs(stage: JobStage) -> dict[str, str]:
    """One job that is pending, one that runs, one of each end."""
    made = {"pending": (await stage.submit(SYNC, "P-1")).id}
    for status in (JobStatus.RUNNING, JobStatus.SUCCEEDED, JobStatus.FAILED):
        made[status.value] = (await stage.submit(SYNC)).id
        await stage.carried(made[status.value], status)
    return made


def _copy(*, identity: str = "'C-1'", lineage: str = f"'{NEW}'::uuid", retry_of: str = "null::uuid") -> str:
    return COPY.format(identity=identity, lineage=lineage, retry_of=retry_of)


ROOT = "update jobs.jobs set version = version + 1, {} where id = %(job)s"
STEP = "update jobs.job_steps set {} where job = %(job)s and position = 1"
REFUSED: tuple[tuple[str, str, str, tuple[type[Exception], ...]], ...] = (
    # invariant, which job, statement, and what whoever may write the column at all is answered
    ("INV-01", "pending", _copy(identity="submission_identity"), (TAKEN,)),
    ("INV-02", "running", ROOT.format("status = 'done'"), (CHECKED, RESTRICTED)),
    ("INV-02", "running", ROOT.format("settled_at = jobs.now()"), (CHECKED,)),
    ("INV-02", "pending", ROOT.format("status = 'cancelled'"), (CHECKED,)),
    ("INV-03", "succeeded", ROOT.format("status = 'cancelled'"), (RESTRICTED,)),
    ("INV-03", "succeeded", ROOT.format("settled_at = jobs.now()"), (RESTRICTED,)),
    ("INV-03", "failed", ROOT.format("status = 'running', settled_at = null"), (RESTRICTED,)),
    ("INV-03", "succeeded", STEP.format("status = 'failed'"), (RESTRICTED,)),
    ("INV-03", "succeeded", STEP.format("settled_at = jobs.now()"), (RESTRICTED,)),
    ("INV-04", "running", ROOT.format("progress = 101"), (CHECKED,)),
    ("INV-04", "succeeded", ROOT.format("progress = 99"), (RESTRICTED,)),
    ("INV-04", "running", ROOT.format("activity_at = activity_at - interval '1 second'"), (RESTRICTED,)),
    ("INV-04", "running", STEP.format("attempts = attempts - 1"), (RESTRICTED, CHECKED)),
    ("INV-05", "running", "update jobs.jobs set event_sequence = 9 where id = %(job)s", (RESTRICTED,)),
    ("INV-06", "running", "update jobs.job_events set sentence = 'Otherwise.' where job = %(job)s", (RESTRICTED,)),
    ("INV-06", "running", "delete from jobs.job_events where job = %(job)s", (RESTRICTED,)),
    ("INV-06", "running", "truncate jobs.payments_job_events", (RESTRICTED,)),
    (
        *("INV-06", "running"),
        "insert into jobs.job_events (family, job, sequence, tenant, kind, sentence)"
        " values ('payments', %(job)s, 1, 'acme', 'progress', 'Again.')",
        (TAKEN,),
    ),
    (
        *("INV-06", "running"),
        "insert into jobs.job_events (family, job, sequence, tenant, kind, sentence)"
        " values ('payments', %(job)s, 0, 'acme', 'progress', 'Never.')",
        (CHECKED,),
    ),
    (
        *("INV-07", "running"),
        ROOT.format("status = 'succeeded', progress = 100, settled_at = jobs.now()"),
        (RESTRICTED,),
    ),
    ("INV-10", "running", _copy(retry_of="id", lineage="lineage"), (RESTRICTED,)),
    ("INV-10", "failed", _copy(retry_of="id"), (RESTRICTED, CHECKED)),
    ("INV-03", "pending", ROOT.format("inputs = '{\"pages\": 9}'"), (RESTRICTED,)),
    ("INV-03", "pending", ROOT.format("submission_identity = 'other'"), (RESTRICTED,)),
)


@pytest.mark.requirement("INV-01", "INV-02", "INV-03", "INV-04", "INV-05", "INV-06", "INV-07", "INV-10")
async def test_every_violation_is_refused_under_every_role(
    stage: JobStage, jobs: dict[str, str], connections: dict[str, psycopg.Connection[Any]]
) -> None:
    answered: dict[str, set[str]] = {}
    for invariant, which, query, errors in REFUSED:
        for role, connection in connections.items():
            allowed: tuple[type[Exception], ...] = errors if role == "jobs_owner" else (*errors, DENIED)
            try:
                with connection.transaction():
                    touched = connection.execute(query, {"job": jobs[which], "new": NEW}).rowcount
                assert (role, touched) == ("jobs_api", 0), query  # its policies hide the row from it
            except allowed as error:
                answered.setdefault(invariant, set()).add(f"{role}: {type(error).__name__}")
    assert {each[0] for each in REFUSED} == set(answered)
    assert any("RestrictViolation" in each for each in answered["INV-07"] if "worker" in each)


FORWARD = "update jobs.jobs set version = version + 1, progress = 50, fence = 5, event_sequence = 5 where id = %(job)s"
BACK = (
    # of a job that runs, half done, under the fifth fence; and of one that failed
    ("INV-04", "running", ROOT.format("progress = 49"), "progress falls from 50 to 49"),
    ("INV-03", "running", ROOT.format("status = 'pending', started_at = null, holder = null"), "has begun"),
    ("INV-06", "running", ROOT.format("event_sequence = 4"), "sequence, fence and version rise"),
    ("INV-03", "running", ROOT.format("fence = 4"), "sequence, fence and version rise"),
    ("INV-03", "running", "update jobs.jobs set progress = 51 where id = %(job)s", "sequence, fence and version rise"),
    ("INV-03", "failed", ROOT.format("failure_summary = 'Otherwise.'"), "is settled as failed"),
    ("INV-03", "failed", ROOT.format("activity_at = activity_at + interval '1 s'"), "is settled as failed"),
)


@pytest.mark.requirement("INV-03", "INV-04", "INV-06")
async def test_a_job_goes_only_forward_whoever_writes(
    stage: JobStage, jobs: dict[str, str], connections: dict[str, psycopg.Connection[Any]]
) -> None:
    """Each by the wall that is there for it, and by no other."""
    owner = connections["jobs_owner"]
    for invariant, which, query, said in BACK:
        with owner.transaction(force_rollback=True):
            if which == "running":
                assert owner.execute(FORWARD, {"job": jobs[which]}).rowcount == 1
            with pytest.raises(RESTRICTED) as refused, owner.transaction():
                owner.execute(query, {"job": jobs[which]})
            assert said in str(refused.value), (invariant, query)
    settles = ROOT.format(
        "status = 'failed', settled_at = activity_at, failure_summary = 'So.', failure_reference = 'r'"
    )
    with owner.transaction(force_rollback=True):
        owner.execute(settles, {"job": jobs["running"]})
        held = owner.execute("select holder from jobs.jobs where id = %s", (jobs["running"],)).fetchone()
    assert (stage.row(jobs["running"])["holder"] is None, held) == (False, (None,)), "nobody runs what has ended"


SUBMITTED = {
    "kind": "'t.other'",
    "kind_version": "kind_version + 1",
    "moves": "'money'",
    "carrier": "'plan'",
    "inputs_digest": "sha256('x')",
    "requester": "'k.rao'",
    "requested_at": "requested_at - interval '1 s'",
    "lineage": "jobs.uuid7()",
    "retry_of": "jobs.uuid7()",
    "plan": "jobs.uuid7()",
    "recovery": "jobs.uuid7()",
    "subject": "'Otherwise'",
    "customer": "'CUST-8'",
    "workspace": "'W-8'",
    "failure_effect": "'t.other'",
}


@pytest.mark.requirement("INV-03")
@pytest.mark.parametrize("column", SUBMITTED)
async def test_a_job_stays_what_was_submitted(
    jobs: dict[str, str], connections: dict[str, psycopg.Connection[Any]], column: str
) -> None:
    """What it does, for whom, and who is asked for the code: nobody turns it to something else under way."""
    change = ROOT.format(f"{column} = {SUBMITTED[column]}")
    with pytest.raises(RESTRICTED, match="stays what was submitted"):
        connections["jobs_owner"].execute(change, {"job": jobs["running"]})


STEP_BACK = (
    ("attempts = 2", "attempts and progress only rise"),
    ("progress = 49", "attempts and progress only rise"),
    ("sent_at = null", "attempts and progress only rise"),
    ("label = 'Otherwise'", "stays what was submitted"),
    ("use_case = 'payments.other'", "stays what was submitted"),
)


@pytest.mark.requirement("INV-03", "INV-04", "steps")
@pytest.mark.parametrize(("change", "said"), STEP_BACK)
async def test_a_step_goes_only_forward_and_keeps_its_definition(
    jobs: dict[str, str], connections: dict[str, psycopg.Connection[Any]], change: str, said: str
) -> None:
    owner, job = connections["jobs_owner"], {"job": jobs["running"]}
    with owner.transaction(force_rollback=True):
        assert owner.execute(STEP.format("attempts = 3, progress = 50, sent_at = jobs.now()"), job).rowcount == 1
        with pytest.raises(RESTRICTED, match=said), owner.transaction():
            owner.execute(STEP.format(change), job)


@pytest.mark.requirement("INV-10")
@pytest.mark.parametrize(
    ("column", "other"), [("tenant", "'globex'"), ("kind", "'t.other'"), ("lineage", f"'{NEW}'::uuid")]
)
async def test_a_retry_is_of_the_tenant_kind_and_lineage_of_what_it_retries(
    jobs: dict[str, str], connections: dict[str, psycopg.Connection[Any]], column: str, other: str
) -> None:
    named, values = _copy(retry_of="id", lineage="lineage").split(" select ")
    retry = f"{named} select {values.replace(f' {column},', f' {other},', 1)}"
    with pytest.raises(RESTRICTED, match="what it is a retry of"):
        connections["jobs_owner"].execute(retry, {"job": jobs["failed"], "new": NEW})


@pytest.mark.requirement("INV-10")
async def test_a_second_unsettled_retry_is_refused(
    jobs: dict[str, str], connections: dict[str, psycopg.Connection[Any]]
) -> None:
    first = _copy(retry_of="id", lineage="lineage")
    for connection in connections.values():
        with connection.transaction(force_rollback=True):
            connection.execute(first, {"job": jobs["failed"], "new": NEW})
            second = first.replace("'C-1'", "'C-2'")
            with pytest.raises(TAKEN, match=r"one_retry|lineage"), connection.transaction():
                connection.execute(second, {"job": jobs["failed"], "new": NEW[:-1] + "8"})


@pytest.mark.requirement("INV-10")
async def test_a_job_and_its_ended_retry_are_not_retried_side_by_side(
    jobs: dict[str, str], connections: dict[str, psycopg.Connection[Any]]
) -> None:
    owner, retry = connections["jobs_owner"], _copy(retry_of="id", lineage="lineage")
    with owner.transaction(force_rollback=True):
        owner.execute(retry, {"job": jobs["failed"], "new": NEW})
        owner.execute(
            ROOT.format(
                "status = 'cancelled', settled_at = jobs.now(), activity_at = jobs.now(), cancel_asked_at = jobs.now(),"
                " cancel_reason = 'enough', event_sequence = event_sequence"
            ),
            {"job": NEW},
        )
        owner.execute(retry.replace("'C-1'", "'C-2'"), {"job": jobs["failed"], "new": NEW[:-1] + "8"})
        with pytest.raises(TAKEN, match="lineage"), owner.transaction():
            owner.execute(retry.replace("'C-1'", "'C-3'"), {"job": NEW, "new": NEW[:-1] + "7"})


@pytest.mark.requirement("INV-11")
async def test_a_notice_is_one_an_outcome_and_what_was_delivered_is_not_claimed_again(
    stage: JobStage, jobs: dict[str, str], connections: dict[str, psycopg.Connection[Any]]
) -> None:
    worker = connections["jobs_worker"]
    again = (
        "insert into jobs.job_notices (tenant, family, job, outcome, person, subject, text)"
        " values ('acme', 'payments', %s, 'succeeded', 'o.lind', 's', 't')"
    )
    with pytest.raises(TAKEN):
        worker.execute(again, (jobs["succeeded"],))
    claim = (
        "update jobs.job_notices set state = 'claimed', holder = gen_random_uuid(), expires_at = jobs.now()"
        " where job = %s and outcome = 'succeeded'"
    )
    ends = (
        sql.SQL(
            "state = 'delivered', holder = null, expires_at = null, delivered_at = jobs.now(), ended_at = jobs.now()"
        ),
        sql.SQL("state = 'suppressed', holder = null, expires_at = null, ended_at = jobs.now(), reason = 'No'"),
    )
    for end in ends:
        with worker.transaction(force_rollback=True):
            worker.execute(claim, (jobs["succeeded"],))
            worker.execute(sql.SQL("update jobs.job_notices set {} where job = %s").format(end), (jobs["succeeded"],))
            with pytest.raises(RESTRICTED), worker.transaction():
                worker.execute(claim, (jobs["succeeded"],))


async def test_the_api_s_role_submits_and_cancels_and_no_more(
    stage: JobStage, jobs: dict[str, str], connections: dict[str, psycopg.Connection[Any]]
) -> None:
    api = connections["jobs_api"]
    for query, which in (
        (ROOT.format("status = 'running'"), "pending"),
        (ROOT.format("progress = 50"), "running"),
        (ROOT.format("holder = null, fence = 9"), "running"),
        (ROOT.format("failure_summary = 'x'"), "failed"),
        (ROOT.format("resolution = 'retried', resolved_at = jobs.now()"), "failed"),
        (ROOT.format("execution_handle = 'another'"), "pending"),
        (STEP.format("result = '{}'"), "running"),
        (STEP.format("status = 'cancelled', settled_at = jobs.now()"), "running"),
        ("delete from jobs.jobs where id = %(job)s", "pending"),
        (
            "insert into jobs.job_notices (tenant, family, job, outcome, person, subject, text) values"
            " ('acme', 'payments', %(job)s, 'succeeded', 'o.lind', 's', 't')",
            "pending",
        ),
    ):
        before = (stage.row(jobs[which]), stage.steps(jobs[which]))
        try:
            with api.transaction():
                api.execute(query, {"job": jobs[which]})
        except (RESTRICTED, DENIED, CHECKED):
            pass
        after = (stage.row(jobs[which]), stage.steps(jobs[which]))
        assert [after[0] | {"version": 0}, after[1]] == [before[0] | {"version": 0}, before[1]], query
        assert stage.notices(jobs["pending"]) == []
    api.execute("select set_config('jobs.tenant', 'globex', false)")
    assert api.execute("select count(*) from jobs.jobs").fetchone() == (0,)
