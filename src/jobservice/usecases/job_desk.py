"""Owns submitting jobs inside a transaction that the application opened on its own connection to this database."""

from __future__ import annotations

from typing import Any

from jobservice.application_jobs import JobInputs
from jobservice.records import RecordSet
from jobservice.usecases.job_submission import SUBMITTER, Submission, submit_in
from jobservice.usecases.joining import joined


class ServiceJobDesk:
    """`jobservice.application_jobs.JobDesk` of this service."""

    def __init__(self, records: RecordSet) -> None:
        self._records = records

    async def submit(
        self,
        connection: Any,
        tenant: str,
        kind: str,
        submission_identity: str,
        inputs: JobInputs,
        *,
        requester: str | None,
        subject: str | None,
        customer: str | None,
        workspace: str | None,
    ) -> str:
        """The job's id, in the caller's open transaction; see `JobDesk.submit`. The application's transaction goes on after
        a refusal. TypeError or RuntimeError where the connection is none or has no transaction to join."""
        submission = Submission(
            kind=kind,
            submission_identity=submission_identity,
            inputs=inputs,
            requester=requester,
            subject=subject,
            customer=customer,
            workspace=workspace,
            submitter=SUBMITTER.get(),
        )
        async with joined(connection, tenant, "submit") as transaction:
            return (await submit_in(transaction, self._records, submission)).id
