"""Owns the act of the headless walk about background jobs: a failure found by its reference, understood, retried and
resolved; a job submitted twice and once; a cancellation; many retried as one recovery; money that only a plan submits. Each
outcome is compared with what it must be; uses the functions of `client/` that screens and twins use.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from jobconsole.client import finding, recoveries
from jobconsole.client import jobs as client
from jobconsole.client.queues import new_key
from jobconsole.client.service import Service
from jobconsole.demo_desk import FIRST, OPERATOR, SUPPORT, Desk, must, refused
from jobcontract.errors import ErrorCode
from jobcontract.job_states import FoundNoun, JobResolution, JobStatus, JobView, StepStatus
from jobcontract.jobs import Job, JobSummary, SubmitJob
from jobcontract.operating import RecoveryAct
from jobcontract.recoveries import RecoveryOrder
from jobcontract.states import Turn

ACTIVATE, ARCHIVE, BANK_FILE, REFRESH = (
    "workspace.activate",
    "payments.archive-statements",
    "payments.bank-file",
    "access.refresh",
)
PATIENCE = 60.0
"""Seconds in which a job must come to where it is waited for."""
REASON = "The walk tries it."
LICENCE = {"licence": "standard", "seats": 3}


async def _until(service: Service, job: str, reached: Callable[[Job], bool], what: str) -> Job:
    loop = asyncio.get_running_loop()
    end = loop.time() + PATIENCE
    while not reached(found := await client.job(service, job)):
        must(loop.time() < end, f"job {job} is {found.summary.status} {PATIENCE:g} s later, not {what}")
        await asyncio.sleep(0.2)
    return found


async def _settled(service: Service, job: str, status: JobStatus) -> Job:
    found = await _until(service, job, lambda each: each.summary.status.final, "settled")
    must(found.summary.status is status, f"job {job} is {found.summary.status}: {found.summary.failure_summary}")
    return found


async def _failures(desk: Desk, part: str) -> list[JobSummary]:
    return [row async for row in client.every_job(desk.people[part])]


async def unresolved(desk: Desk) -> str:
    """Support sees the unresolved failures of its own customers, and no others; the operator sees all."""
    loop = asyncio.get_running_loop()
    end = loop.time() + PATIENCE
    while len(mine := await _failures(desk, SUPPORT)) < 3:  # a fresh demo's jobs are still failing
        must(loop.time() < end, f"only {len(mine)} failures of support's customers")
        await asyncio.sleep(0.5)
    everyone = await _failures(desk, OPERATOR)
    customers = {row.customer for row in mine}
    must(None not in customers, "support sees a job of no customer")
    must({row.id for row in mine} < {row.id for row in everyone}, "the operator does not see more than support")
    must(all(row.status is JobStatus.FAILED for row in mine), "something that did not fail is listed")
    return f"{len(mine)} of {len(everyone)}: those of {', '.join(sorted(filter(None, customers)))}"


async def find_failure(desk: Desk) -> str:
    """A customer reads the reference aloud: it leads to the job, and to nothing beyond support's reach."""
    service = desk.people[SUPPORT]
    mine = (await _failures(desk, SUPPORT))[0]
    must(mine.failure_reference is not None, "the failure has no reference")
    told = await finding.find(service, mine.failure_reference or "")
    must([(row.noun, row.id) for row in told.found] == [(FoundNoun.JOB, mine.id)], f"it leads to {told.found}")
    within = {row.id for row in await _failures(desk, SUPPORT)}
    hidden = next(row for row in await _failures(desk, OPERATOR) if row.id not in within)
    beyond = await finding.find(service, hidden.failure_reference or "")
    must(beyond.found == (), "support finds a job beyond its reach")
    await refused(client.job(service, hidden.id), ErrorCode.NOT_FOUND)
    return f"{mine.failure_reference} is {mine.kind_label}, {mine.subject}"


async def understand(desk: Desk) -> str:
    """The step that failed, with its attempts; inputs stay masked until somebody looks, which is written down."""
    service = desk.people[SUPPORT]
    mine = (await _failures(desk, SUPPORT))[0]
    job = await client.job(service, mine.id)
    failed = [step for step in job.steps if step.status is StepStatus.FAILED]
    must(len(failed) == 1 and failed[0].attempts > 0, f"{len(failed)} steps failed")
    must(all(row.masked and row.value is None for row in job.inputs), "an input is not masked")
    seen = await client.reveal_job(service, mine.id, REASON, new_key())
    must(all(not row.masked for row in seen.inputs) and len(seen.inputs) == len(job.inputs), "they are still masked")
    desk.done.append((desk.name(SUPPORT), "reveal-job", mine.id, "done"))
    return failed[0].sentence or failed[0].label


async def retry(desk: Desk) -> str:
    """A retry is a new job, linked to the first; asked for twice it is one. This one fails again, and is acknowledged."""
    service = desk.people[SUPPORT]
    mine = (await _failures(desk, SUPPORT))[0]
    first = await client.retry_job(service, mine.id, REASON, new_key())
    must(first.first and first.job.retry_of == mine.id, "the retry is not linked to the failure")
    desk.done.append((desk.name(SUPPORT), "retry-job", mine.id, "done"))
    again = await client.retry_job(service, mine.id, REASON, new_key())
    must(again.job.id == first.job.id or again.first, "two retries of one failure at a time")
    for job in dict.fromkeys((mine.id, first.job.id, again.job.id)):
        ended = await _until(service, job, lambda each: each.summary.status.final, "settled")
        must({row.id for row in ended.lineage} >= {mine.id, first.job.id}, "its lineage is not whole")
        await client.resolve_job(service, job, REASON, new_key(), ticket="HELP-7")
    left = {row.id for row in await _failures(desk, SUPPORT)}
    must(not left & {mine.id, first.job.id}, "what was acknowledged is still listed")
    told = await client.job(service, mine.id)
    must(told.resolved is not None and told.resolved.resolution is JobResolution.ACKNOWLEDGED, "it is not acknowledged")
    return f"{mine.id[:8]} and {first.job.id[:8]}: acknowledged, {told.resolved.ticket if told.resolved else None}"


async def submit(desk: Desk) -> str:
    """The same identity is the same job; with other inputs it is a conflict that names the first; its end submits the one
    refresh of access."""
    service = desk.people[OPERATOR]
    order = SubmitJob(
        kind=ACTIVATE, submission_identity="walk/1", inputs=LICENCE, workspace="walk/one", customer="otley-library"
    )
    first = await client.submit_job(service, order, new_key())
    again = await client.submit_job(service, order, new_key())
    must(first.first and not again.first and again.job.id == first.job.id, "one identity made two jobs")
    desk.done.append((desk.name(OPERATOR), "submit-job", first.job.id, "done"))
    other = order.model_copy(update={"inputs": {**LICENCE, "seats": 4}})
    said = await refused(client.submit_job(service, other, new_key()), ErrorCode.JOB_IDENTITY_TAKEN)
    must(first.job.id in said, f"the conflict does not name the first job: {said}")
    done = await _settled(service, first.job.id, JobStatus.SUCCEEDED)
    must(all(step.status is StepStatus.SUCCEEDED for step in done.steps), "a step is not done")
    must(
        [event.sequence for event in reversed(done.events)] == list(range(1, len(done.events) + 1)), "history has holes"
    )
    refreshes = client.every_job(service, f"kind:{REFRESH} age<1h", view=JobView.ALL)
    must([row async for row in refreshes] != [], "no refresh of access was submitted")
    return f"{done.summary.subject}: {len(done.steps)} steps, {len(done.events)} lines of history"


async def cancel(desk: Desk) -> str:
    """What runs is cancelled within moments, with who and why; a settled job is not."""
    service = desk.people[OPERATOR]
    order = SubmitJob(kind=ARCHIVE, submission_identity="walk/slow", inputs={"statements": 6_000})
    slow = await client.submit_job(service, order, new_key())
    await _until(service, slow.job.id, lambda each: each.summary.progress > 0, "under way")
    await client.cancel_job(service, slow.job.id, REASON, new_key())
    desk.done.append((desk.name(OPERATOR), "cancel-job", slow.job.id, "done"))
    job = await _settled(service, slow.job.id, JobStatus.CANCELLED)
    asked = job.cancellation
    must(asked is not None and asked.reason == REASON and asked.person is not None, "it does not say who and why")
    done = (await client.jobs(service, "status:succeeded", view=JobView.ALL, limit=1)).jobs[0]
    await refused(client.cancel_job(service, done.id, REASON, new_key()), ErrorCode.JOB_SETTLED)
    return f"{job.summary.subject} at {job.summary.progress} %"


async def retry_many(desk: Desk) -> str:
    """Every unresolved failure of a kind retried as one recovery: read whole, confirmed, each with its outcome."""
    service = desk.people[OPERATOR]
    order = RecoveryOrder(act=RecoveryAct.RETRY, reason=REASON, job_filter="kind:payments.export is:unresolved")
    made = await recoveries.make(service, order, new_key())
    must(made.count >= 1, "nothing is in it")
    digest = await recoveries.digest_of(service, made)
    await refused(recoveries.confirm(service, made.id, "0" * len(digest), None, new_key()), ErrorCode.PLAN_DIGEST)
    await recoveries.confirm(service, made.id, digest, None, new_key())
    loop = asyncio.get_running_loop()
    end = loop.time() + PATIENCE
    while not (found := (await recoveries.recovery(service, made.id)).recovery).state.ended:
        must(loop.time() < end, f"{made.name} is {found.state} {PATIENCE:g} s later")
        await asyncio.sleep(0.2)
    account = {row.turn: row.count for row in found.account if row.count}
    must(account == {Turn.DONE: made.count}, f"its account is {account}")
    return f"{made.name}: {made.count} retried"


async def money(desk: Desk) -> str:
    """A kind that moves money is submitted by a confirmed plan alone: nobody else can, and the walk's plan did."""
    order = SubmitJob(kind=BANK_FILE, submission_identity="walk/money")
    await refused(client.submit_job(desk.people[FIRST], order, new_key()), ErrorCode.PERMISSION_MISSING)
    said = await refused(client.submit_job(desk.people[OPERATOR], order, new_key()), ErrorCode.NEEDS_PLAN)
    files = [row async for row in client.every_job(desk.people[FIRST], f"kind:{BANK_FILE}", view=JobView.ALL)]
    must(len(files) >= 1, "the walk's plan submitted no bank file")
    job = await _settled(desk.people[FIRST], files[0].id, JobStatus.SUCCEEDED)
    must(job.plan is not None, "the bank file names no plan")
    return f"{said}\nthe bank file of {job.plan} succeeded"


STEPS: Sequence[tuple[str, Callable[[Desk], Awaitable[str]]]] = (
    ("unresolved failures, within reach", unresolved),
    ("find a failure by its reference", find_failure),
    ("what failed, and a look at its inputs", understand),
    ("retry it; acknowledge it with a ticket", retry),
    ("submit a job twice, and once", submit),
    ("cancel what runs", cancel),
    ("retry many as a recovery", retry_many),
    ("money is submitted by a plan alone", money),
)
"""This act, in order."""
