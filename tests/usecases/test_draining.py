"""Having a Worker take nothing new: never the last one, also where two ask at once."""

from __future__ import annotations

import asyncio
import uuid
from datetime import timedelta
from typing import Any

import pytest

from jobcontract.acts import DrainOrder, WorkerChanged
from jobcontract.errors import ErrorCode, Refusal
from jobcontract.states import WorkerStanding
from jobservice.usecases.audit import list_audit
from jobservice.usecases.draining import drain, undrain
from jobservice.usecases.idempotency import Answered, Once
from jobservice.usecases.workers import list_workers
from tests.usecases.desk import once, refused_with
from tests.usecases.schedule_desk import ScheduleDesk, schedule_desk

pytestmark = pytest.mark.requirement("provide-operational-recovery-procedures")


@pytest.fixture
def jobs(database: Any, people: Any) -> ScheduleDesk:
    """A service without Workers."""
    return schedule_desk(database, people)


async def drained(
    jobs: ScheduleDesk, worker: object, *, person: str = "o.lind", request: Once | None = None
) -> Answered:
    """The answer to draining it."""
    order = DrainOrder(reason="new kernel")
    return await drain(jobs.service, jobs.desk.actor(person), str(worker), order, request or once(f"/{worker}"))


async def let(jobs: ScheduleDesk, worker: object, *, person: str = "o.lind") -> Answered:
    """The answer to letting it take again."""
    order = DrainOrder(reason="kernel is there")
    return await undrain(jobs.service, jobs.desk.actor(person), str(worker), order, once(f"/{worker}"))


async def test_a_worker_is_asked_once_and_everybody_sees_by_whom_and_why(jobs: ScheduleDesk) -> None:
    first, _ = jobs.worker("a7"), jobs.worker("b2")
    jobs.connection.execute("listen jobs_work")
    request = once("/w")
    answer = await drained(jobs, first, request=request)
    (notice,) = jobs.connection.notifies(timeout=2, stop_after=1)
    assert notice.payload == "drain"
    jobs.connection.execute("unlisten *")
    assert (await drained(jobs, first, request=request)).replayed
    shown = WorkerChanged.model_validate(answer.body).worker
    assert (shown.incarnation, shown.host, shown.standing) == (str(first), "a7", WorkerStanding.LIVE)
    assert (shown.drain_asked_by and shown.drain_asked_by.name, shown.drain_reason) == ("Olle Lind", "new kernel")
    again = WorkerChanged.model_validate((await drained(jobs, first)).body).worker
    assert again == shown, "asked before: nothing changed"
    listed = {each.host: each for each in (await list_workers(jobs.service, jobs.desk.actor("s.audit"))).workers}
    assert (listed["a7"].drain_reason, listed["b2"].drain_reason) == ("new kernel", None)
    entry = (await list_audit(jobs.service, jobs.desk.actor("s.audit"), None, 1)).entries[0]
    assert (entry.action, entry.subject, entry.detail["reason"]) == ("drain-worker", str(first), "new kernel")
    back = WorkerChanged.model_validate((await let(jobs, first)).body).worker
    assert (back.drain_asked_at, back.drain_asked_by, back.drain_reason) == (None, None, None)
    await let(jobs, first)  # nobody asked: nothing changes
    assert [each[1:] for each in jobs.desk.audited()] == [("drain-worker", "done"), ("undrain-worker", "done")]
    assert jobs.connection.execute("select distinct topic from jobs.hints").fetchall() == [("schedules",)]


@pytest.mark.parametrize("other", ["none", "silent", "stopped", "draining", "asked"])
async def test_the_last_one_that_takes_work_is_never_drained(jobs: ScheduleDesk, other: str) -> None:
    first, now = jobs.worker("a7"), jobs.now
    stand: dict[str, dict[str, Any]] = {
        "silent": {"beat_at": now - timedelta(seconds=16)},
        "stopped": {"stopped_at": now},
        "draining": {"draining_at": now},
        "asked": {"drain_asked_at": now, "drain_asked_by": "o.lind", "drain_reason": "x"},
    }
    if other != "none":
        jobs.worker("b2", **stand[other])
    refusal = await refused_with(ErrorCode.WORKER_LAST, drained(jobs, first))
    assert "on a7" in refusal.detail
    assert jobs.one("select drain_asked_at from jobs.workers where host = 'a7'") is None
    jobs.worker("c3")
    await drained(jobs, first)


async def test_two_who_drain_at_once_leave_one_worker(jobs: ScheduleDesk) -> None:
    workers = [jobs.worker(host) for host in ("a7", "b2")]
    for _ in range(5):
        both = await asyncio.gather(*(drained(jobs, each) for each in workers), return_exceptions=True)
        assert sorted(isinstance(each, Answered) for each in both) == [False, True]
        (refusal,) = (each for each in both if isinstance(each, BaseException))
        assert isinstance(refusal, Refusal)
        assert refusal.kind is ErrorCode.WORKER_LAST
        jobs.connection.execute(
            "update jobs.workers set drain_asked_at = null, drain_asked_by = null, drain_reason = null"
        )


async def test_one_that_ended_one_that_nobody_knows_and_who_may(jobs: ScheduleDesk) -> None:
    ended, live = jobs.worker("a7", stopped_at=jobs.now), jobs.worker("b2")
    for act in (drained, let):
        await refused_with(ErrorCode.WORKER_ENDED, act(jobs, ended))
        for unknown in (uuid.uuid4(), "a7", "'"):
            await refused_with(ErrorCode.NOT_FOUND, act(jobs, unknown))
        for person in ("m.ito", "s.audit", "p.push"):
            await refused_with(ErrorCode.PERMISSION_MISSING, act(jobs, live, person=person))
