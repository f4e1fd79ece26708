"""Owns putting a demo's example items in by the batch, each checked as any push is. For `jobservice dev` alone.

One statement a batch: item by item, the published files (46,000 rows) took minutes.
"""

from __future__ import annotations

from collections.abc import Sequence

from jobservice.application import NewWorkItem
from jobservice.records import RecordSet
from jobservice.store import deployment
from jobservice.store.database import Database
from jobservice.usecases.content import Draft, checked_content
from jobservice.usecases.inbox import draft_of
from jobservice.usecases.service import find_queue

BATCH_SECONDS = 60.0


async def push_examples(
    database: Database, records: RecordSet, tenant: str, queue: str, items: Sequence[NewWorkItem], *, pusher: str
) -> int:
    """Add the items in one transaction; how many were new. Refusal NOT_FOUND, INVALID_REQUEST, BODY_TOO_LARGE."""
    found = find_queue(records.queues, queue)
    async with database.transaction(tenant, statement_seconds=BATCH_SECONDS) as transaction:
        rows = []
        for item in items:
            draft = draft_of(item)
            content = await checked_content(transaction, records, found, draft)
            rows.append(_row(draft, content.inputs))
        return await deployment.add_items(transaction, queue=queue, pusher=pusher, rows=rows)


def _row(draft: Draft, inputs: object) -> dict[str, object]:
    payment = draft.payment
    return {
        "key": draft.key,
        "title": draft.title,
        "created": None if draft.created is None else draft.created.isoformat(),
        "amount_minor": None if payment is None else payment.minor,
        "currency": None if payment is None else payment.currency,
        "payee_id": None if payment is None else payment.payee_id,
        "payee_name": None if payment is None else payment.payee_name,
        "account": None if payment is None else payment.account,
        "customer": draft.customer,
        "workspace": draft.workspace,
        "inputs": inputs,
        "payload": draft.payload,
    }
