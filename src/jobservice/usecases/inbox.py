"""Owns pushing items inside a transaction that the application opened on its own connection.

Joins it, commits nothing: where the application rolls back, neither item nor hint nor audit row stays.
"""

from __future__ import annotations

from typing import Any

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.ids import NAME_MAX, storable
from jobcontract.states import Role
from jobservice.application import Application, NewWorkItem
from jobservice.records import RecordSet
from jobservice.rules.items import Payment
from jobservice.usecases.actor import Actor
from jobservice.usecases.content import Draft, push
from jobservice.usecases.joining import joined
from jobservice.usecases.scoring import Scorer
from jobservice.usecases.service import find_queue


class ServiceInbox:
    """`jobservice.application.Inbox` over a set of records, scored by the application: hand it to `Application.connect`."""

    def __init__(self, records: RecordSet, application: Application) -> None:
        self._records = records
        self._scorer = Scorer.of(records, application)

    async def push(self, connection: Any, tenant: str, queue: str, item: NewWorkItem, pusher: str) -> str:
        """Add the item inside the open transaction of `connection`, a psycopg `AsyncConnection`; its id.

        TypeError or RuntimeError where the connection is none or has no transaction to join. Refusal NOT_FOUND
        (queue), INVALID_REQUEST, BODY_TOO_LARGE, KEY_TAKEN; the application's transaction goes on after each.
        """
        if not (0 < len(pusher) <= NAME_MAX and storable(pusher)):
            raise Refusal(ErrorCode.INVALID_REQUEST, f"The pusher's id has 1 to {NAME_MAX} characters.")
        found = find_queue(self._records.queues, queue)
        actor = Actor(person=pusher, tenant=tenant, role=Role.PUSHER)
        async with joined(connection, tenant, "push") as transaction:
            return await push(transaction, self._records, self._scorer, actor, found, draft_of(item))


def draft_of(item: NewWorkItem) -> Draft:
    """What an application's item says, as a draft to check."""
    payment = item.payment
    return Draft(
        key=item.key,
        title=item.title,
        created=item.created,
        payment=None
        if payment is None
        else Payment(
            minor=payment.money.minor,
            currency=payment.money.currency,
            payee_id=payment.payee_id,
            payee_name=payment.payee_name,
            account=payment.account,
        ),
        inputs=item.inputs,
        payload=item.payload,
        customer=item.customer,
        workspace=item.workspace,
    )
