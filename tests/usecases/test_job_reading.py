"""Reading one job: all that belongs to it, what may be done with it and why not, and what no answer holds."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

from jobcontract.errors import ErrorCode
from jobcontract.job_states import JobEventKind, JobStatus, JobView, StepStatus
from jobcontract.jobs import HERE, CancelJob, RetryJob
from jobservice.application import failed, retry
from jobservice.usecases import job_acts
from jobservice.usecases.job_listing import Asked, list_jobs
from jobservice.usecases.job_reading import list_events, list_kinds, read_job
from tests.usecases.desk import once, refused_with
from tests.usecases.job_desk_stage import LOUD, MONEY, SYNC, JobStage, job_stage


@pytest.fixture
def stage(database: Any, worker_database: Any, people: Any) -> JobStage:
    return job_stage(database, worker_database, people)


async def failed_job(stage: JobStage) -> str:
    """Its first step was tried twice and failed."""
    inputs = {"month": "2026-11", "pages": 7}
    job = await stage.submit(SYNC, "night-1", inputs=inputs, customer="C-1", subject="November")
    taken = await stage.take_up(job.id)
    await stage.step(taken.run, 1, retry("The bank is busy.", after_seconds=0))
    await stage.step(taken.run, 1, failed("The bank closed the account."))
    row = stage.row(job.id)
    if row["status"] != "failed":  # it has attempts left
        await stage.step(taken.run, 1, failed("The bank closed the account."))
    return job.id


@pytest.mark.requirement("INV-12")
async def test_a_job_is_read_with_all_that_belongs_to_it_and_nothing_of_the_engine(stage: JobStage) -> None:
    job = await failed_job(stage)
    support = stage.people.actor("s.bell", customers=("C-1",))
    answered = await job_acts.retry(stage.service, support, job, RetryJob(reason="The account is open again."), once())
    made = answered.body["job"]["id"]
    await job_acts.cancel(stage.service, support, made, CancelJob(reason="Not today."), once())

    stage.people.connection.execute(  # whatever a line of history was given
        "insert into jobs.job_events (family, job, tenant, sequence, at, kind, sentence, detail)"
        " select family, id, tenant, event_sequence + 1, jobs.now(), 'progress', 'So.', '{\"handle\": \"h\", \"n\": 1}'"
        " from jobs.jobs where id = %s",
        (made,),
    )

    read = (await read_job(stage.service, support, job)).job
    assert (read.summary.status, read.summary.subject, read.summary.retried_by) == (JobStatus.FAILED, "November", made)
    assert [step.status for step in read.steps][:1] == [StepStatus.FAILED]
    assert read.steps[0].attempts > 1
    assert read.events[0].kind is JobEventKind.RETRIED
    assert read.events[-1].kind is JobEventKind.SUBMITTED
    assert [each.sequence for each in read.events] == list(range(read.changes, 0, -1))
    assert [(each.outcome, each.person.name) for each in read.notices] == [(JobStatus.FAILED, "Olle Lind")]
    assert [(each.name, each.label, each.value, each.masked) for each in read.inputs] == [
        ("month", "Month", None, True),
        ("pages", "Pages", None, True),
    ]
    assert [(each.id, each.retry_of, each.reason) for each in read.lineage] == [
        (job, None, None),
        (made, job, "The account is open again."),
    ]
    again = (await read_job(stage.service, support, made)).job
    assert again.cancellation is not None
    assert (again.cancellation.person.id, again.cancellation.reason) == ("s.bell", "Not today.")  # type: ignore[union-attr]  # a person did

    rows = [stage.row(each) for each in (job, made)]
    listed = await list_jobs(stage.service, support, Asked(view=JobView.ALL))
    answers = [read.model_dump_json(), again.model_dump_json(), *(each.model_dump_json() for each in listed.jobs)]
    for text in answers:
        for row in rows:
            assert row["execution_handle"]
            assert str(row["execution_handle"]) not in text
        assert "2026-11" not in text  # what an input is
        assert not {"execution_handle", "handle", "version", "row_version", "fence"} & _members(json.loads(text))


def _members(value: Any) -> set[str]:
    if isinstance(value, dict):
        return set(value).union(*map(_members, value.values()))
    return set().union(*map(_members, value)) if isinstance(value, list) else set()


async def test_what_may_be_done_says_why_not(stage: JobStage) -> None:
    pending = (await stage.submit(SYNC)).id
    lost = await failed_job(stage)
    support, auditor = stage.people.actor("s.bell"), stage.people.actor("s.audit")

    acts = (await read_job(stage.service, support, pending)).job.acts
    assert acts.cancel is None
    assert "only a settled one is retried" in str(acts.retry)
    assert "only a failed one is resolved" in str(acts.resolve)
    assert acts.reveal == "The job has no inputs."
    acts = (await read_job(stage.service, support, lost)).job.acts
    assert (acts.retry, acts.resolve, acts.reveal) == (None, None, None)
    assert "nothing to cancel" in str(acts.cancel)
    acts = (await read_job(stage.service, auditor, lost)).job.acts
    assert all("Ask an administrator" in str(each) for each in (acts.cancel, acts.retry, acts.resolve, acts.reveal))
    await job_acts.cancel(stage.service, support, pending, CancelJob(reason="No."), once())
    assert "cancelled it already" in str((await read_job(stage.service, support, pending)).job.acts.cancel)


async def test_a_job_out_of_reach_is_unknown(stage: JobStage) -> None:
    mine = (await stage.submit(SYNC, customer="C-1")).id
    nobodys = (await stage.submit(SYNC)).id
    support = stage.people.actor("s.bell", customers=("C-2",))
    for job in (mine, nobodys, str(uuid4()), "' or 1"):
        for asking in (
            read_job(stage.service, support, job),
            list_events(stage.service, support, job, before=None, limit=5),
        ):
            refusal = await refused_with(ErrorCode.NOT_FOUND, asking)
            assert refusal.detail == f"There is no job {job!r}."
    await refused_with(ErrorCode.NOT_FOUND, read_job(stage.service, stage.people.actor("g.fin"), mine))
    await refused_with(ErrorCode.NOT_FOUND, read_job(stage.service, support, mine, source="shop"))


async def test_history_is_paged_from_the_newest_back(stage: JobStage) -> None:
    job = await failed_job(stage)
    actor = stage.people.actor("o.lind")
    found: list[int] = []
    before = None
    while True:
        page = await list_events(stage.service, actor, job, before=before, limit=2)
        found += [each.sequence for each in page.events]
        if page.last is None:
            break
        assert len(page.events) == 2
        before = page.last
    assert found == list(range(len(stage.events(job)), 0, -1))


async def test_a_job_tells_the_failure_effect_that_its_kind_declared_when_it_was_submitted(stage: JobStage) -> None:
    loud = (await stage.submit(LOUD)).id
    kinds = stage.service.records.job_kinds
    quiet = replace(kinds[LOUD], failure_effect=None, no_effect="Nothing is done any more.")
    records = replace(stage.service.records, job_kinds={**kinds, LOUD: quiet})
    later = replace(stage.service, records=records)
    job = (await read_job(later, stage.people.actor("s.bell"), loud)).job
    assert job.failure_effect == (await read_job(stage.service, stage.people.actor("s.bell"), loud)).job.failure_effect
    assert job.failure_effect != "Nothing is done any more."


async def test_kinds_say_what_a_failure_does_and_what_they_take(stage: JobStage) -> None:
    kinds = {each.id: each for each in (await list_kinds(stage.service, stage.people.actor("p.push"))).kinds}
    assert kinds[SYNC].failure_effect == "Nothing depends on it."
    assert [each.name for each in kinds[MONEY].inputs] == ["month", "pages", "dry"]
    assert list(kinds) == sorted(kinds)
    await refused_with(ErrorCode.PERMISSION_MISSING, list_kinds(stage.service, stage.people.actor("a.admin")))


class Elsewhere:
    """Another engine that cannot be read, or does not answer."""

    name, engine, application = "shop", "procrastinate", "shop"

    def __init__(self, *, silent: bool) -> None:
        self.silent = silent

    async def _fail(self, *_: Any) -> Any:
        if self.silent:
            await asyncio.Event().wait()
        raise RuntimeError("password=secret")

    page = count = job = events = _fail


@pytest.mark.parametrize("silent", [False, True])
async def test_another_engine_that_fails_is_told_in_a_sentence(
    stage: JobStage, monkeypatch: pytest.MonkeyPatch, silent: bool
) -> None:
    monkeypatch.setattr("jobservice.usecases.job_reading.SOURCE_SECONDS", 0.02)
    sources, actor = (Elsewhere(silent=silent),), stage.people.actor("o.lind")
    refusal = await refused_with(
        ErrorCode.TIMED_OUT, read_job(stage.service, actor, "1", source="shop", sources=sources)
    )
    assert refusal.detail.startswith("shop ")
    assert "secret" not in refusal.detail
    assert HERE != "shop"
