"""Owns submitting a job over the API: who may, for whom, and what is answered. The submission itself: `job_submission.py`."""

from __future__ import annotations

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.jobs import JobSummary, SubmitJob, Submitted
from jobcontract.permissions import Permission
from jobservice.records import RecordSet
from jobservice.store import hints
from jobservice.store import items as item_store
from jobservice.store import job_listing as lines
from jobservice.store.database import Transaction
from jobservice.store.items import Reach
from jobservice.store.job_listing import FIRST, Wanted
from jobservice.usecases.actor import Actor
from jobservice.usecases.audit import record
from jobservice.usecases.idempotency import Answered, Deed, Once, act_once
from jobservice.usecases.items import reach
from jobservice.usecases.job_listing import summary
from jobservice.usecases.job_submission import Submission, submit_in
from jobservice.usecases.service import Service


async def submit(service: Service, actor: Actor, order: SubmitJob, once: Once) -> Answered:
    """Submit a job (201, `Submitted`); of an identity that is there already with the same inputs, that job.

    Refusal PERMISSION_MISSING without job.submit, NOT_FOUND (no such kind; a customer or workspace out of reach),
    JOB_INPUTS_UNFIT, JOB_IDENTITY_TAKEN, NEEDS_PLAN.
    """

    async def work(transaction: Transaction) -> Answered:
        _refuse_foreign(actor, order)
        submission = Submission(
            kind=order.kind,
            submission_identity=order.submission_identity,
            inputs=order.inputs,
            requester=actor.person,
            subject=order.subject,
            customer=order.customer,
            workspace=order.workspace,
        )
        try:
            submitted = await submit_in(transaction, service.records, submission)
        except Refusal as refusal:
            there = refusal.extra.get("job")
            if isinstance(there, str) and await line_of(transaction, service.records, reach(actor), there) is None:
                raise _unseen(order) from None
            raise
        if submitted.first:
            detail = {"kind": order.kind, "submission_identity": order.submission_identity}
            await record(transaction, actor, "submit-job", submitted.id, detail)
            await hints.add_jobs(transaction, ((actor.tenant, submitted.kind, submitted.id),))
        job = await line_of(transaction, service.records, reach(actor), submitted.id)
        if job is None:
            raise _unseen(order)
        answer = Submitted(job=job, first=submitted.first, now=await item_store.now(transaction))
        return Answered(status=201, body=answer.model_dump(mode="json"))

    deed = Deed(action="submit-job", subject=order.submission_identity, permission=Permission.JOB_SUBMIT)
    # Planning each statement anew, those of triggers and keys too, costs as much again as the submission.
    return await act_once(service, actor, deed, once, work, planned_once=True)


def _unseen(order: SubmitJob) -> Refusal:
    """Where the identity is a job out of reach: neither its id nor what it was submitted with is told."""
    return Refusal(
        ErrorCode.JOB_IDENTITY_TAKEN,
        f"{order.submission_identity} is another job of this kind already, which you may not see. Take a new identity.",
    )


def _refuse_foreign(actor: Actor, order: SubmitJob) -> None:
    """Refusal NOT_FOUND where the job would be of somebody that the actor does not see."""
    for what, named, seen in (
        ("customer", order.customer, actor.customers),
        ("workspace", order.workspace, actor.workspaces),
    ):
        if seen is None or named in seen:
            continue
        said = f"There is no {what} {named[:80]!r} that you may see." if named else f"Name the {what} that it is for."
        raise Refusal(ErrorCode.NOT_FOUND, f"{said} Yours: {', '.join(seen[:20]) or 'none'}.")


async def line_of(transaction: Transaction, records: RecordSet, seen: Reach, job: str) -> JobSummary | None:
    """A job as a line of a listing; None where it is out of reach."""
    page = await lines.page(transaction, Wanted(reach=seen, words=(job,)), before=FIRST, most=1)
    return summary(records, page.rows[0]) if page.rows else None
