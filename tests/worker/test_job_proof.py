"""What the Worker believes of a job that moves money: what a confirmed plan submitted, and nothing written past the service."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from unittest.mock import AsyncMock
from uuid import uuid4

import pytest

from jobcontract.operating import RecoveryAct
from jobcontract.recoveries import RecoveryOrder
from jobservice.rules.keys import PublicKeys
from jobservice.usecases import recoveries
from jobservice.worker.job_proof import proven_job
from jobservice.worker.recovery_proof import ConfirmedRow, RecoveryProof
from tests.store.test_roles import as_role
from tests.usecases.desk import RELEASE_MANY, Desk, once
from tests.usecases.money_desk import KEYS, MoneyDesk
from tests.usecases.recovery_desk import RecoveryDesk
from tests.usecases.schedule_desk import ScheduleDesk
from tests.worker.plan_jobs_stage import FILE, FILING, filing, jobs_of
from tests.worker.plans_stage import Stage

pytestmark = pytest.mark.requirement("MONEY-1", "MONEY-19")

FAIL = (
    "update jobs.jobs set status = 'failed', settled_at = jobs.now(), activity_at = jobs.now(), started_at = jobs.now(),"
    " failure_summary = 'The bank refused it.', failure_reference = 'abcd1234', version = version + 1 where id = %s"
)


async def why_not(stage: Stage, job: str, keys: PublicKeys | None = None, **records: Any) -> str | None:
    """Why it is not believed, in the Worker's role."""
    async with stage.database.transaction("acme") as transaction:
        return await proven_job(
            transaction,
            family="payments",
            job=job,
            records=replace(FILING, **records),
            proof=RecoveryProof(KEYS.public if keys is None else lambda: keys),
        )


async def submitted(stage: Stage) -> tuple[dict[str, Any], str]:
    """A plan that released two payouts, and the job that it submitted."""
    plan = await filing(stage).desk.confirmed(2)
    await filing(stage).apply()
    return plan, str(jobs_of(stage, FILE)[0]["id"])


async def test_the_job_that_a_confirmed_plan_submitted_is_believed(stage: Stage) -> None:
    _, job = await submitted(stage)
    assert await why_not(stage, job) is None
    assert "signature" in str(await why_not(stage, job, PublicKeys(keys={})))
    bulk = {RELEASE_MANY: replace(FILING.bulk[RELEASE_MANY], submits="t.other")}
    assert "submits no job of kind t.file" in str(await why_not(stage, job, bulk=bulk))
    assert "nobody could confirm it" in str(await why_not(stage, job, job_kinds={}))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("update jobs.plans set signature = decode(repeat('00', 64), 'hex') where id = %s", "signature"),
        ("update jobs.plans set digest = decode(repeat('00', 32), 'hex') where id = %s", "signature"),
        ("update jobs.plans set command = 't.other' where id = %s", "t.other"),
        ("update jobs.plans set owner = 'k.rao' where id = %s", "digest differs"),
        ("update jobs.plan_items set amount_minor = 999999 where number = 2 and plan = %s", "digest differs"),
        ("update jobs.plan_items set account = 'GB00EVIL0000000000' where number = 1 and plan = %s", "another account"),
        ("update jobs.plans set count = 3 where id = %s", "2 rows, and 3 were confirmed"),
        ("update jobs.plans set accounted_at = null where id = %s", "has not ended"),
    ],
)
async def test_a_plan_that_is_not_what_was_confirmed_moves_nothing(stage: Stage, change: str, told: str) -> None:
    plan, job = await submitted(stage)
    stage.change(change, plan)
    assert told in str(await why_not(stage, job))


NEW = (
    "insert into jobs.jobs (family, id, tenant, kind, kind_version, moves, carrier, submission_identity, inputs,"
    " inputs_digest, lineage, plan, recovery, retry_of, retry_reason) select 'payments', i, 'acme', %(kind)s, 1, 'money',"
    " 'engine', %(identity)s, %(inputs)s::jsonb, decode(repeat('00', 32), 'hex'), coalesce(%(lineage)s::uuid, i),"
    " %(plan)s::uuid, %(recovery)s::uuid, %(retry_of)s::uuid, %(reason)s from (select jobs.uuid7() as i) as x"
    " returning id::text"
)


def forge(url: str, **columns: Any) -> str:
    """A job written by whoever has the Worker's role, without the service; its id."""
    given: dict[str, Any] = dict.fromkeys(("lineage", "plan", "recovery", "retry_of", "reason"))
    given |= {"kind": FILE, "inputs": "{}", "identity": f"forged-{uuid4()}", **columns}
    with as_role(url, "acme") as connection:
        row = connection.execute(NEW, given).fetchone()
    assert row is not None
    return str(row[0])


async def test_a_job_that_was_written_past_the_service_moves_nothing(
    stage: Stage, database_url: Callable[[str], str]
) -> None:
    open_plan = await stage.desk.plan(await stage.desk.pushed(1))
    plan, job = await submitted(stage)
    nowhere = "00000000-0000-7000-8000-000000000001"
    forged = [
        ({"plan": plan["id"]}, "not the one job of its plan"),
        ({"plan": open_plan["id"], "identity": open_plan["id"]}, "never confirmed"),
        ({"plan": nowhere, "identity": nowhere}, "never confirmed, or is not there"),
        ({"recovery": nowhere}, "No confirmed plan submitted it"),
        ({"kind": "t.other", "plan": plan["id"], "identity": plan["id"]}, "No bulk command submits"),
        ({"plan": open_plan["id"], "identity": open_plan["id"] + "x", "inputs": '{"amount": 1}'}, "not the one job"),
    ]
    for columns, told in forged:
        assert told in str(await why_not(stage, forge(database_url("jobs_worker"), **columns))), columns
    assert "not there any more" in str(await why_not(stage, nowhere))
    assert await why_not(stage, job) is None


async def test_inputs_that_no_plan_gives_move_nothing(stage: Stage, database_url: Callable[[str], str]) -> None:
    plan = await stage.desk.confirmed(1)
    job = forge(database_url("jobs_worker"), plan=plan["id"], identity=plan["id"], inputs='{"amount": 1}')
    await filing(stage).apply()
    assert "has inputs, and a plan gives none" in str(await why_not(stage, job))


def desk_of(stage: Stage) -> RecoveryDesk:
    """The desk of recoveries over the same people, with the kind."""
    service = replace(stage.desk.service, records=FILING)
    money = MoneyDesk(service, stage.desk.people, stage.desk.numbers)
    return RecoveryDesk(money, ScheduleDesk(Desk(service, stage.desk.people), stage.desk.people.connection))


async def recovery_of(desk: RecoveryDesk, job: str) -> dict[str, Any]:
    """A recovery that retries the job, as m.ito confirmed it with a code."""
    order = RecoveryOrder(act=RecoveryAct.RETRY, reason="The bank is back", jobs=(job,))
    made = (await recoveries.make(desk.service, desk.actor("m.ito"), order, once())).body["recovery"]
    return await desk.confirm(dict(made), "m.ito", code=desk.money.code(steps=1))


async def test_a_retry_is_believed_under_a_confirmed_recovery_of_just_that_job(
    stage: Stage, database_url: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, job = await submitted(stage)
    stage.change(FAIL, {"id": job})
    recovery = await recovery_of(desk_of(stage), job)
    retry = {"lineage": job, "retry_of": job, "reason": "again"}
    url = database_url("jobs_worker")
    alone = forge(url, identity="a", plan=plan["id"], **retry)
    assert "a retry that no recovery made" in str(await why_not(stage, alone))
    stage.change(FAIL, {"id": alone})
    good = forge(url, identity="b", plan=plan["id"], recovery=recovery["id"], **retry)
    assert await why_not(stage, good) is None
    stage.change(FAIL, {"id": good})
    other = forge(url, identity="c", recovery=recovery["id"], lineage=job, retry_of=good, reason="again")
    assert "does not retry the job" in str(await why_not(stage, other))
    stage.change(FAIL, {"id": other})
    moved = forge(url, identity="d", plan=recovery["id"], recovery=recovery["id"], **retry)
    assert "not of the plan" in str(await why_not(stage, moved))
    confirmed = ConfirmedRow(act="retry", target="job", moves="money", turn="done")
    with monkeypatch.context() as patched:
        for other_row in ({"act": "cancel"}, {"target": "schedule"}, {"moves": "nothing"}):
            patched.setattr(RecoveryProof, "row", AsyncMock(return_value=replace(confirmed, **other_row)))
            assert "does not retry the job" in str(await why_not(stage, good)), other_row
    for change in (
        "update jobs.recovery_rows set job = jobs.uuid7() where recovery = %s",
        "update jobs.recoveries set signature = decode(repeat('00', 64), 'hex') where id = %s",
        "update jobs.recovery_rows set name = 'x' where recovery = %s",
        "update jobs.recovery_rows set key = 'x' where recovery = %s",
    ):
        stage.change(change, recovery)
        assert "not what was confirmed with a code" in str(await why_not(stage, good))
