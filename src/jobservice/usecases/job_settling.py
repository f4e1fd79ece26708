"""Owns settling a job, in one place: its last status, steps that were left, history, what a failure asks for (effect,
cause), telling the requester, and what the success of a retry means for what it is a retry of.

Everything is the caller's transaction, which has locked the job (`store.jobs.lock`). A settled job stays as it is (INV-03).
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from jobcontract.job_states import JobStatus
from jobservice.store.database import Transaction
from jobservice.store.jobs import LockedJob


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """How the job stands now. `refused`: why a success was not kept, in words: `success refused: step 4 (submit) is still
    running`. `here` False: it was settled before, and nothing was written."""

    status: JobStatus
    sentence: str
    here: bool
    refused: str | None = None


def new_reference() -> str:
    """A failure reference: short enough to be read out."""
    return secrets.token_hex(4)


async def settle(
    transaction: Transaction,
    job: LockedJob,
    status: JobStatus,
    *,
    sentence: str,
    reference: str | None = None,
    step: str | None = None,
    reconciled: str | None = None,
    person: str | None = None,
) -> Settled:
    """Settle a locked job.

    `succeeded` while a step has not succeeded is settled as failed, naming the step (INV-07). `sentence`: how it ended; of
    a failure its safe summary. `reference`: of a failure (None = a new one); `step`: the id of the step that failed.
    `reconciled`: what was found where the account and the engine disagreed: a line of history of its own, before.
    `person`: who did it, where a person did. ValueError for a status that is not final.
    """
    raise NotImplementedError
