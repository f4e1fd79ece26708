"""Owns doing what a step asked for, in the transaction of its report: pushing items, submitting jobs. Commits nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import psycopg

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.states import Role
from jobservice.engine.step_call import WantedJob, WantedPush
from jobservice.records import RecordSet
from jobservice.store.database import Transaction
from jobservice.usecases.actor import Actor
from jobservice.usecases.content import push
from jobservice.usecases.inbox import draft_of
from jobservice.usecases.job_reports import Begun
from jobservice.usecases.job_submission import Submission, Submitter, submit_in
from jobservice.usecases.scoring import Scorer
from jobservice.usecases.service import find_queue


class Unfit(Exception):
    """What a step asked for cannot even be tried, however often: its cause says why, and is for the log alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effects:
    """Does effects, by a set of records."""

    records: RecordSet
    scorer: Scorer

    async def do(
        self, transaction: Transaction, job: str, begun: Begun, wanted: Sequence[WantedPush | WantedJob]
    ) -> None:
        """All of them, of a step of `job`, in their order. An item whose key was used is there already, and so is a job of the same identity.
        Refusal where one is not right, Unfit where it is not even of the types that it should be: none of them is to stay
        then."""
        try:
            for each in wanted:
                if isinstance(each, WantedPush):
                    await self._push(transaction, begun, each)
                else:
                    await self._submit(transaction, job, begun, each)
        except (Refusal, psycopg.OperationalError, psycopg.InterfaceError):
            raise
        except Exception as error:  # the application's values: what they break here is the step's, and ends no run
            raise Unfit from error

    async def _push(self, transaction: Transaction, begun: Begun, wanted: WantedPush) -> None:
        queue = find_queue(self.records.queues, wanted.queue)
        tenant = transaction.tenant
        assert tenant is not None  # noqa: S101  # a report's transaction is its tenant's
        actor = Actor(person=f"job:{begun.kind}", tenant=tenant, role=Role.PUSHER)
        try:
            await push(transaction, self.records, self.scorer, actor, queue, draft_of(wanted.item))
        except Refusal as refusal:
            if refusal.kind is not ErrorCode.KEY_TAKEN:
                raise

    async def _submit(self, transaction: Transaction, job: str, begun: Begun, wanted: WantedJob) -> None:
        submission = Submission(
            kind=wanted.kind,
            submission_identity=wanted.submission_identity,
            inputs=wanted.inputs,
            requester=begun.requester,
            subject=begun.subject,
            customer=begun.customer,
            workspace=begun.workspace,
            submitter=Submitter(job=job, depth=begun.depth),
        )
        await submit_in(transaction, self.records, submission)
