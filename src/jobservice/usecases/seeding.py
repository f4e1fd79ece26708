"""Owns putting a demo's example items in by the batch, each checked as any push is, and submitting its example jobs. For
`jobservice dev` alone.

One statement a batch: item by item, the published files (46,000 rows) took minutes.
"""

from __future__ import annotations

from collections.abc import Sequence

from jobservice.application import Application, NewJob, NewWorkItem
from jobservice.records import RecordSet
from jobservice.store import items as store
from jobservice.store.database import Database
from jobservice.usecases.content import checked_content, new_row
from jobservice.usecases.inbox import draft_of
from jobservice.usecases.job_acts import JobOrder, cancel_in
from jobservice.usecases.job_submission import Submission, submit_in
from jobservice.usecases.scoring import Scorer
from jobservice.usecases.service import find_queue

BATCH_SECONDS = 60.0


async def push_examples(
    database: Database,
    records: RecordSet,
    application: Application,
    tenant: str,
    queue: str,
    items: Sequence[NewWorkItem],
    *,
    pusher: str,
) -> int:
    """Add the items in one transaction, scored; how many were new.

    Refusal NOT_FOUND, INVALID_REQUEST, BODY_TOO_LARGE.
    """
    found, scorer = find_queue(records.queues, queue), Scorer.of(records, application)
    async with database.transaction(tenant, statement_seconds=BATCH_SECONDS) as transaction:
        rows = []
        for item in items:
            draft = draft_of(item)
            content = await checked_content(transaction, records, found, draft)
            rows.append(new_row(scorer, found, draft, content, transaction.began_at))
        return len(await store.add(transaction, queue, rows, pusher=pusher, reference=None, each=False))


async def submit_example(
    database: Database, records: RecordSet, tenant: str, job: NewJob, *, requester: str | None
) -> bool:
    """Submit one job as the API does, and cancel it where the example says so; whether it was new. Refusal as `submit_in`."""
    submission = Submission(
        kind=job.kind,
        submission_identity=job.submission_identity,
        inputs=job.inputs,
        requester=requester,
        subject=job.subject,
        customer=job.customer,
        workspace=job.workspace,
    )
    async with database.transaction(tenant) as transaction:
        made = await submit_in(transaction, records, submission)
        if job.cancelled is not None and made.first and requester is not None:
            await cancel_in(transaction, JobOrder(job=made.id, person=requester, reason=job.cancelled))
    return made.first
