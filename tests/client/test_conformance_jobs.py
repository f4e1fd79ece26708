"""Background jobs of the fake service mean what those of the real one mean: both run every test."""

from __future__ import annotations

import pytest

from jobconsole.client import finding, jobs, recoveries
from jobconsole.client.queues import new_key
from jobcontract.job_states import (
    FoundNoun,
    JobEventKind,
    JobStatus,
    JobView,
    StepStatus,
)
from jobcontract.jobs import HERE, SubmitJob
from jobcontract.operating import LeftOut, RecoveryAct, RecoveryState
from jobcontract.recoveries import RecoveryOrder
from jobcontract.states import Moves
from tests.client.job_stage import (
    ACTIVATE,
    BANK_FILE,
    EXPORT,
    INPUTS,
    SUPPORT,
    JobStage,
    code,
    failed,
    refused,
    stage_of,
)
from tests.client.stage import AUDITOR, OPERATOR, PUSHER

FAILED, RUNNING, SUCCEEDED = JobStatus.FAILED, JobStatus.RUNNING, JobStatus.SUCCEEDED
ALL = JobView.ALL
NOBODYS = "00000000-0000-7000-8000-000000000000"


@pytest.fixture(params=["fake", "real"])
def stage(request: pytest.FixtureRequest) -> JobStage:
    """The service under comparison; the real one only where it is asked for, it needs a database."""
    return stage_of(request)


@pytest.mark.requirement("INV-01")
async def test_an_identity_is_one_job_within_its_kind(stage: JobStage) -> None:
    service = stage.sign_in(OPERATOR)
    order = SubmitJob(kind=EXPORT, submission_identity="T-1", inputs=dict(INPUTS[EXPORT]), subject="February")
    first, again = [await jobs.submit_job(service, order, new_key()) for _ in range(2)]
    assert (first.first, again.first, first.job.id) == (True, False, again.job.id)
    row = first.job
    assert (row.status, row.source, row.progress, row.subject) == (JobStatus.PENDING, HERE, 0, "February")
    assert (row.kind_label, row.application, row.moves) == ("Export of a month", "payments", Moves.NOTHING)
    assert (row.requester and row.requester.id, row.submission_identity) == ("o.lind", "T-1")
    other = order.model_copy(update={"inputs": {**INPUTS[EXPORT], "format": "fixed"}})
    taken = await refused(jobs.submit_job(service, other, new_key()))
    assert (taken.code, taken.extra["job"]) == ("job-identity-taken", row.id)
    assert row.id in taken.sentence
    for inputs in ({"month": "2026-02"}, {**INPUTS[EXPORT], "month": 2}, {**INPUTS[EXPORT], "wish": "none"}):
        wrong = SubmitJob(kind=EXPORT, submission_identity="T-2", inputs=inputs)
        assert await code(jobs.submit_job(service, wrong, new_key())) == "job-inputs-unfit"
    for kind, why in (("payments.nothing", "not-found"), (BANK_FILE, "needs-plan")):
        asked = SubmitJob(kind=kind, submission_identity="T-3")
        assert await code(jobs.submit_job(service, asked, new_key())) == why
    assert await code(jobs.submit_job(stage.sign_in(SUPPORT), order, new_key())) == "permission-missing"
    assert (await jobs.submit_job(stage.sign_in(PUSHER), order, new_key())).job.id == row.id


async def test_kinds_are_those_of_the_records(stage: JobStage) -> None:
    known = {each.id: each for each in (await jobs.job_kinds(stage.sign_in(SUPPORT))).kinds}
    assert list(known) == sorted(known)
    assert {EXPORT, ACTIVATE, BANK_FILE, "service.plan-apply"} <= set(known)
    export, file = known[EXPORT], known[BANK_FILE]
    assert [(each.name, each.label, each.type, each.required) for each in export.inputs] == [
        ("month", "Month", "text", True),
        ("format", "Format", "text", True),
        ("store", "Store", "text", True),
    ]
    assert export.steps == ("Check the month", "Write the file", "Deliver it")
    assert (export.moves, export.retryable, file.moves, file.retryable) == (Moves.NOTHING, True, Moves.MONEY, True)
    assert all(each.failure_effect for each in known.values())
    assert not known["service.plan-apply"].retryable
    assert len((await jobs.job_kinds(stage.sign_in(PUSHER))).kinds) == len(
        known
    )  # who submits has to know what they take


async def test_the_list_shows_unresolved_failures_or_all_in_pages_the_latest_first(stage: JobStage) -> None:
    service = stage.sign_in(SUPPORT)
    bad = await failed(stage, 3)
    running, waiting = await stage.submit(EXPORT, "running"), await stage.submit(ACTIVATE, "waiting")
    await stage.go(running, RUNNING)
    first = await jobs.jobs(service, limit=2)
    second = await jobs.jobs(service, limit=2, cursor=first.next)
    assert [each.id for each in (*first.jobs, *second.jobs)] == bad[::-1]
    assert (second.next, [each.name for each in first.sources]) == (None, [HERE])
    assert [each.id async for each in jobs.every_job(service, view=ALL, limit=2)] == [waiting, running, *bad[::-1]]
    for text, found in (
        ("status:running", [running]),
        (f"kind:{ACTIVATE}", [waiting]),
        ("status:pending,running age<1h", [waiting, running]),
        ("age>1h", []),
        ("requester:o.lind is:unresolved", bad[::-1]),
        ("requester:me", []),
        ("requester:none", []),
        ("failed-1", [bad[1]]),
        (bad[0], [bad[0]]),
        ('error:"went wrong"', bad[::-1]),
        ("error:nonesuch", []),
        ("source:here status:failed failed-2", [bad[2]]),
    ):
        listed = await jobs.jobs(service, text, view=ALL)
        assert [each.id for each in listed.jobs] == found, text
    counted = await jobs.job_counts(service, f"kind:{EXPORT}", view=ALL)
    assert (counted.listed.count, counted.listed.exact, counted.unresolved.count) == (4, True, 3)
    assert {status: each.count for status, each in counted.statuses.items() if each.count} == {
        JobStatus.PENDING: 1,
        RUNNING: 1,
        FAILED: 3,
    }


async def test_what_is_no_filter_no_source_no_cursor_of_the_list_is_refused(stage: JobStage) -> None:
    service = stage.sign_in(SUPPORT)
    await failed(stage, 2)
    wrong = await refused(jobs.jobs(service, "status:failed state:x"))
    assert (wrong.code, wrong.extra["at"], wrong.extra["length"]) == ("filter-invalid", 14, 5)
    assert await code(jobs.job_counts(service, "kind:no.such")) == "filter-invalid"
    assert await code(jobs.jobs(service, "tenant:york")) == "filter-invalid"
    assert await code(jobs.jobs(service, source="elsewhere")) == "not-found"
    assert await code(jobs.jobs(service, cursor="nonsense")) == "cursor-invalid"
    assert await code(jobs.jobs(service, limit=201)) == "invalid-request"
    assert await code(jobs.jobs(stage.sign_in(PUSHER))) == "permission-missing"


@pytest.mark.requirement("INV-06", "INV-12")
async def test_a_job_is_read_whole_with_masked_inputs_and_its_history_in_pages(stage: JobStage) -> None:
    service = stage.sign_in(SUPPORT)
    identifier = await stage.submit(EXPORT, "E-1", customer="C-1", subject="For C-1")
    await stage.go(identifier, FAILED, "There is no room.")
    job = await jobs.job(service, identifier)
    row = job.summary
    assert (row.status, row.subject, row.customer) == (FAILED, "For C-1", "C-1")
    assert row.failure_summary == "Check the month: There is no room."
    assert row.failure_reference
    assert (row.last_step, row.last_step_label, row.last_step_status) == ("check", "Check the month", StepStatus.FAILED)
    assert [(each.position, each.step, each.status) for each in job.steps] == [
        (1, "check", StepStatus.FAILED),
        (2, "render", StepStatus.CANCELLED),
        (3, "deliver", StepStatus.CANCELLED),
    ]
    assert (job.steps[0].attempts, job.steps[0].failure_reference) == (1, row.failure_reference)
    assert {(each.name, each.value, each.masked) for each in job.inputs} == {
        (name, None, True) for name in INPUTS[EXPORT]
    }
    assert (job.retryable, job.carrier, job.worker, job.cancellation, job.resolved) == (
        True,
        "engine",
        None,
        None,
        None,
    )
    assert [each.id for each in job.lineage] == [identifier]
    sequences = [each.sequence for each in job.events]
    assert sequences == list(range(len(sequences), 0, -1))
    assert (job.changes, job.events[-1].kind) == (len(sequences), JobEventKind.SUBMITTED)
    assert JobEventKind.SETTLED in {each.kind for each in job.events}
    page = await jobs.job_events(service, identifier, limit=2)
    assert [each.sequence for each in page.events] == sequences[:2]
    assert [each.sequence async for each in jobs.every_event(service, identifier, limit=2)] == sequences
    assert [(each.outcome, each.person.id) for each in job.notices] == [(FAILED, "o.lind")]
    acts = job.acts
    assert (acts.retry, acts.resolve, acts.reveal) == (None, None, None)
    assert acts.cancel
    looked = (await jobs.job(stage.sign_in(AUDITOR), identifier)).acts
    assert all((looked.cancel, looked.retry, looked.resolve, looked.reveal))
    assert await code(jobs.job(service, NOBODYS)) == "not-found"
    assert await code(jobs.job(service, identifier, "elsewhere")) == "not-found"
    assert await code(jobs.job_events(service, identifier, cursor="nonsense")) == "cursor-invalid"


async def test_a_person_who_sees_some_customers_sees_their_jobs_and_no_others(stage: JobStage) -> None:
    mine, theirs = await stage.submit(EXPORT, "mine", customer="C-1"), await stage.submit(EXPORT, "T-2", customer="C-2")
    nobodys = await stage.submit(EXPORT, "nobodys")
    for job in (mine, theirs, nobodys):
        await stage.go(job, FAILED)
    stage.narrow(SUPPORT, ("C-1",))
    service = stage.sign_in(SUPPORT)
    assert [each.id for each in (await jobs.jobs(service, view=ALL)).jobs] == [mine]
    counted = await jobs.job_counts(service)
    assert (counted.listed.count, counted.unresolved.count, counted.statuses[FAILED].count) == (1, 1, 1)
    for job in (theirs, nobodys):
        assert await code(jobs.job(service, job)) == "not-found"
        assert await code(jobs.job_events(service, job)) == "not-found"
        for act in (jobs.cancel_job, jobs.retry_job, jobs.resolve_job, jobs.reveal_job):
            assert await code(act(service, job, "Curious", new_key())) == "not-found"
    assert (await finding.find(service, "T-2")).found == ()
    order = RecoveryOrder(act=RecoveryAct.RETRY, reason="All", job_filter="status:failed")
    assert (await recoveries.make(service, order, new_key())).count == 1
    assert [each.id for each in (await jobs.jobs(stage.sign_in(OPERATOR), "scope:C-2")).jobs] == [theirs]


async def test_finding_leads_from_whole_words_to_what_one_may_read(stage: JobStage) -> None:
    service, (job,) = stage.sign_in(SUPPORT), await failed(stage, subject="February")
    reference = (await jobs.job(service, job)).summary.failure_reference
    assert reference is not None
    words = {job: "id", job[:13]: "id", "failed-0": "submission identity", f"  {reference} ": "failure reference"}
    for text, matched in words.items():
        found = await finding.find(service, text)
        assert [(each.noun, each.id, each.state, each.source, each.matched) for each in found.found] == [
            (FoundNoun.JOB, job, "failed", HERE, matched)
        ], text
        assert (found.found[0].title, found.more) == ("Export of a month: February", False)
    assert FoundNoun.JOB in found.looked
    assert not {FoundNoun.ITEM, FoundNoun.AUDIT} & set(found.looked)
    assert (await finding.find(service, "failed-")).found == ()
    people = (await finding.find(service, "o.lind")).found
    assert {(each.noun, each.matched) for each in people} == {(FoundNoun.JOB, "requester"), (FoundNoun.PERSON, "id")}
    assert await code(finding.find(service, "x")) == "invalid-request"
    assert FoundNoun.JOB not in (await finding.find(stage.sign_in(PUSHER), job)).looked


@pytest.mark.requirement("audit-manual-replay")
async def test_a_set_of_jobs_is_frozen_to_be_retried_or_cancelled(stage: JobStage) -> None:
    service = stage.sign_in(SUPPORT)
    one, two, three = await failed(stage, 3)
    waiting, over = await stage.submit(EXPORT, "waiting"), await stage.submit(EXPORT, "over")
    await stage.go(over, SUCCEEDED)
    await jobs.resolve_job(service, three, "By hand", new_key())
    order = RecoveryOrder(act=RecoveryAct.RETRY, reason="There is room", job_filter=f"kind:{EXPORT}")
    made = await recoveries.make(service, order, new_key())
    assert (made.state, made.count, made.moves, made.confirm_by) == (RecoveryState.OPEN, 2, Moves.NOTHING, None)
    assert {each.reason: each.count for each in made.left_out} == {
        LeftOut.NOT_SETTLED: 1,
        LeftOut.SUCCEEDED: 1,
        LeftOut.RESOLVED: 1,
    }
    rows = (await recoveries.recovery(service, made.id)).rows
    assert [(row.key, row.state, row.schedule) for row in rows] == [(one, FAILED, EXPORT), (two, FAILED, EXPORT)]
    await jobs.retry_job(service, one, "By hand, meanwhile", new_key())
    digest = await recoveries.digest_of(service, made)
    confirmed = await recoveries.confirm(service, made.id, digest, None, new_key())
    assert confirmed.state is RecoveryState.APPLYING  # a job that moved on is told when its row has its turn
    named = RecoveryOrder(act=RecoveryAct.RETRY, reason="Named", jobs=(one, two, three, NOBODYS))
    again = await recoveries.make(service, named, new_key())
    assert again.count == 1
    assert {each.reason: each.count for each in again.left_out} == {
        LeftOut.RETRIED: 1,
        LeftOut.IN_RECOVERY: 1,
        LeftOut.UNKNOWN: 1,
    }
    stop = RecoveryOrder(act=RecoveryAct.CANCEL, reason="Not wanted", jobs=(waiting, over))
    ending = await recoveries.make(service, stop, new_key())
    assert (ending.count, [each.reason for each in ending.left_out]) == (1, [LeftOut.SETTLED])
    wrong = RecoveryOrder(act=RecoveryAct.CANCEL, reason="x", job_filter="status:")
    assert await code(recoveries.make(stage.sign_in(OPERATOR), wrong, new_key())) == "filter-invalid"
