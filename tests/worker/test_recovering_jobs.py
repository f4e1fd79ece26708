"""Recoveries that retry and cancel jobs, carried out: each job once, what drifted is told, and what is stopped waits."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from jobcontract.job_states import JobStatus
from jobcontract.operating import RecoveryAct
from jobcontract.recoveries import RecoveryOrder
from jobcontract.states import Moves
from jobservice.store import recovering as store
from jobservice.store.database import Database
from jobservice.usecases import recoveries
from jobservice.usecases.job_acts import JobOrder, cancel_in, retry_in
from jobservice.usecases.job_reports import settle_cancelled
from jobservice.usecases.job_submission import Submission, submit_in
from tests.usecases.desk import RELEASE_MANY, once
from tests.usecases.job_desk_stage import KINDS, MONEY, SINGLE, JobStage
from tests.usecases.recovery_desk import RecoveryDesk, recovery_desk
from tests.worker.recoveries_stage import SECOND, RecoveryStage

DONE, FAILED, CANCELLED, RUNNING = JobStatus.SUCCEEDED, JobStatus.FAILED, JobStatus.CANCELLED, JobStatus.RUNNING


@pytest.fixture
def stage(database: Database, worker_database: Database, people: Any) -> RecoveryStage:
    desk = recovery_desk(database, people)
    money = replace(KINDS[MONEY], submitted_by=RELEASE_MANY)
    records = replace(desk.service.records, job_kinds={**KINDS, MONEY: money})
    desk = RecoveryDesk(replace(desk.money, service=replace(desk.service, records=records)), desk.hand)
    return RecoveryStage(desk=desk, database=worker_database)


@pytest.fixture
def work(stage: RecoveryStage) -> JobStage:
    """Submits jobs, and reports of them as a Worker does."""
    return JobStage(stage.desk.service, stage.database, stage.desk.money.people)


async def confirmed(stage: RecoveryStage, act: str, jobs: list[str], person: str = "o.lind") -> dict[str, Any]:
    """A recovery of these jobs, confirmed."""
    order = RecoveryOrder(act=RecoveryAct(act), reason="The bank is back", jobs=tuple(jobs))
    made = (await recoveries.make(stage.desk.service, stage.desk.actor(person), order, once())).body["recovery"]
    code = stage.desk.money.code(person) if made["moves"] == "money" else None
    return await stage.desk.confirm(made, person, code=code)


async def failed(work: JobStage, count: int = 1, kind: str = SINGLE) -> list[str]:
    """So many jobs that failed."""
    jobs = [(await work.submit(kind)).id for _ in range(count)]
    for each in jobs:
        await work.carried(each, FAILED)
    return jobs


def retries(work: JobStage, job: str) -> list[str]:
    """The retries of a job."""
    rows = work.people.connection.execute("select id::text from jobs.jobs where retry_of = %s order by id", [job])
    return [each for (each,) in rows.fetchall()]


@pytest.mark.requirement("INV-10")
async def test_each_job_is_retried_once_and_the_recovery_says_what_had_drifted(
    stage: RecoveryStage, work: JobStage
) -> None:
    retried, resolved, removed, *plain = jobs = await failed(work, 6)
    made = await confirmed(stage, "retry", jobs)
    order = JobOrder(job=retried, person="s.bell", reason="Now")
    async with stage.desk.service.database.transaction("acme") as transaction:
        assert not isinstance(await retry_in(transaction, work.records, order), str)
    work.people.connection.execute(
        "update jobs.jobs set resolution = 'resolved', resolved_at = jobs.now(), resolved_by = 's.bell',"
        " resolution_reason = 'By hand', version = version + 1 where id = %s",
        [resolved],
    )
    work.people.connection.execute("update jobs.recovery_rows set key = 'x' || key where key = %s", [removed])
    assert (await stage.run())["begun"] == 6
    (other,) = retries(work, retried)
    turns = {name: (turn, sentence) for name, turn, sentence in stage.turns(made)}
    assert turns[retried] == ("refused", f"It had been retried meanwhile: {other} is pending.")
    assert turns[resolved] == ("refused", "It had been resolved meanwhile, by Sue Bell.")
    for each in plain:
        (again,) = retries(work, each)
        assert turns[each] == ("done", f"Retried as {again}.")
        row = work.row(again)
        assert (row["status"], str(row["recovery"]), row["retry_reason"]) == ("pending", made["id"], "The bank is back")
        assert row["execution_handle"] is not None
    shown = (await stage.desk.shown(made)).recovery
    assert (shown.state, [(each.turn, each.count) for each in shown.account]) == ("done", [("done", 3), ("refused", 3)])
    assert (
        shown.why == "1 of 6 had been retried meanwhile, 1 had been resolved meanwhile, 1 had been removed meanwhile."
    )
    rows = {row.key: row.made for row in (await stage.desk.shown(made)).rows}
    assert [rows[each] for each in plain] == [retries(work, each)[0] for each in plain]
    assert stage.desk.rows("select detail ->> 'drift' from jobs.audit where action = 'finish-recovery'") == [
        (shown.why,)
    ]
    assert stage.desk.rows(
        "select detail ->> 'recovery', count(*) from jobs.audit where action = 'retry-job' and person = 'o.lind' group by 1"
    ) == [(made["id"], 3)]


async def test_a_cancellation_runs_until_its_job_settled_whichever_way_it_did(
    stage: RecoveryStage, work: JobStage
) -> None:
    jobs = [(await work.submit()).id for _ in range(13)]
    fails, ends, settled, *waiting = jobs
    runs = {each: await work.carried(each, RUNNING) for each in (fails, ends)}
    made = await confirmed(stage, "cancel", jobs)
    await work.carried(settled, DONE)
    # More than run at once, and while everything is stopped: to cancel waits for nothing.
    work.people.connection.execute(
        "insert into jobs.stops (tenant, scope, name, by, reason) values ('acme', 'tenant', 'acme', 'm.ito', 'Fraud')"
    )
    assert made["at_once"] < len(jobs)
    assert await stage.run() == {"begun": 13}
    turns = {name: (turn, sentence) for name, turn, sentence in stage.turns(made)}
    assert turns[fails] == turns[ends] == ("running", "Asked to be cancelled.")
    assert turns[settled] == ("refused", "It had succeeded meanwhile.")
    assert {turns[each] for each in waiting} == {("done", "Cancelled.")}
    shown = (await stage.desk.shown(made)).recovery
    assert (shown.state, shown.why) == ("applying", "1 of 13 had settled meanwhile.")
    assert (await stage.desk.steer("pause", made))["why"] == "To pause. 1 of 13 had settled meanwhile."
    await stage.desk.resume(made)
    work.people.connection.execute(
        "update jobs.jobs set status = 'failed', settled_at = jobs.now(), failure_summary = 'Its Worker was gone.',"
        " version = version + 1 where id = %s",
        [fails],
    )
    async with stage.database.transaction("acme") as transaction:
        await settle_cancelled(transaction, runs[ends])
    assert await stage.run(SECOND) == {"settled": 2, "finished": 1}
    turns = {name: (turn, sentence) for name, turn, sentence in stage.turns(made)}
    assert turns[fails] == ("refused", "It failed before it could be cancelled.")
    assert turns[ends] == ("done", "Cancelled.")
    shown = (await stage.desk.shown(made)).recovery
    assert (shown.state, shown.why) == ("done", "2 of 13 had settled meanwhile.")


@pytest.mark.parametrize("where", ["next_row", "begin", "progress", "finish"])
async def test_killed_at_any_point_no_job_is_retried_twice(
    stage: RecoveryStage, work: JobStage, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    class Killed(BaseException):
        """The process is gone."""

    jobs = await failed(work, 2)
    made = await confirmed(stage, "retry", jobs)
    called = getattr(store, where)

    async def killed(*given: Any, **named: Any) -> Any:
        await called(*given, **named)
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(store, where, killed)
        with pytest.raises(Killed):
            await stage.run()
    await stage.run(SECOND)
    assert [turn for _, turn, _ in stage.turns(made)] == ["done", "done"]
    assert [len(retries(work, each)) for each in jobs] == [1, 1]


@pytest.mark.requirement("MONEY-1", "MONEY-20")
async def test_money_is_retried_by_what_finance_confirmed_alone_and_waits_while_it_is_stopped(
    stage: RecoveryStage, work: JobStage
) -> None:
    async with stage.database.transaction("acme") as transaction:
        plan = "00000000-0000-7000-8000-000000000077"
        first = await submit_in(
            transaction, work.records, Submission(kind=MONEY, submission_identity=plan, inputs={}, plan=plan)
        )
    await work.carried(first.id, FAILED)
    made = await confirmed(stage, "retry", [first.id], "m.ito")
    await stage.desk.money.stop("k.rao", reason="Odd files")
    assert await stage.run() == {}
    work.people.connection.execute(
        "update jobs.money_switches set stopped = false, by = null, reason = null, at = null"
    )
    work.people.connection.execute(
        "insert into jobs.stops (tenant, scope, name, by, reason) values ('acme', 'bulk-command', %s, 'm.ito', 'So')",
        [RELEASE_MANY],
    )
    assert await stage.run() == {}
    work.people.connection.execute("delete from jobs.stops")
    work.people.connection.execute("update jobs.recovery_rows set name = name || '!' where recovery = %s", [made["id"]])
    assert await stage.run() == {}, "a row that was written past the service runs nothing"
    shown = (await stage.desk.shown(made, "m.ito")).recovery
    assert shown.state == "paused"
    assert retries(work, first.id) == []
    work.people.connection.execute(
        "update jobs.recovery_rows set name = rtrim(name, '!') where recovery = %s", [made["id"]]
    )
    await stage.desk.resume(made, "m.ito", stage.desk.money.code(steps=1))
    assert await stage.run() == {"begun": 1, "finished": 1}
    (again,) = retries(work, first.id)
    assert (work.row(again)["moves"], str(work.row(again)["recovery"])) == ("money", made["id"])
    async with stage.database.transaction("acme") as transaction:
        assert stage.proof is not None
        await stage.proof.whole(transaction, made["id"])


@pytest.mark.requirement("MONEY-1")
async def test_what_moved_nothing_when_it_was_confirmed_is_not_retried_once_its_kind_moves_money(
    stage: RecoveryStage, work: JobStage
) -> None:
    (job,) = await failed(work)
    made = await confirmed(stage, "retry", [job])
    kinds = stage.desk.service.records.job_kinds
    records = replace(
        stage.desk.service.records, job_kinds={**kinds, SINGLE: replace(kinds[SINGLE], moves=Moves.MONEY)}
    )
    assert await stage.run(records=records) == {"begun": 1, "finished": 1}
    ((_, turn, sentence),) = stage.turns(made)
    assert (turn, "moves money" in sentence, retries(work, job)) == ("refused", True, [])


async def test_a_job_that_was_cancelled_by_hand_meanwhile_is_told(stage: RecoveryStage, work: JobStage) -> None:
    job = (await work.submit()).id
    made = await confirmed(stage, "cancel", [job])
    async with stage.desk.service.database.transaction("acme") as transaction:
        await cancel_in(transaction, JobOrder(job=job, person="s.bell", reason="By hand"))
    assert await stage.run() == {"begun": 1, "finished": 1}
    assert stage.turns(made) == [(job, "refused", "It had been cancelled meanwhile.")]


@pytest.mark.requirement("INV-10")
async def test_people_who_act_on_the_same_jobs_at_the_same_time_neither_double_nor_block_it(
    stage: RecoveryStage, work: JobStage
) -> None:
    jobs = await failed(work, 12)
    made = await confirmed(stage, "retry", jobs)

    async def by_hand(job: str) -> None:
        order = JobOrder(job=job, person="s.bell", reason="Now")
        async with stage.desk.service.database.transaction("acme") as transaction:
            await retry_in(transaction, work.records, order)

    await asyncio.gather(stage.run(), *(by_hand(each) for each in reversed(jobs)), *map(by_hand, jobs))
    assert [len(retries(work, each)) for each in jobs] == [1] * 12
    shown = (await stage.desk.shown(made)).recovery
    assert (shown.state, sum(each.count for each in shown.account)) == ("done", 12)
    assert {turn for _, turn, _ in stage.turns(made)} <= {"done", "refused"}
