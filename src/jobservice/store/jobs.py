"""Owns the statements about the root rows of jobs: inserting with steps and first event, locking, writing a transition
with its lines of history. Decides nothing (`rules/jobs.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from jobservice.rules.job_states import JobState
from jobservice.store.database import Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedJob:
    """A job's row and steps, locked until the transaction ends. Never leaves the service: `handle` is the engine's."""

    family: str
    id: str
    tenant: str
    kind: str
    kind_version: int
    state: JobState
    submission_identity: str
    inputs: Mapping[str, Any]
    results: Mapping[str, Mapping[str, Any]]
    """What each step kept, by step."""
    requester: str | None
    requester_active: bool
    subject: str | None
    customer: str | None
    workspace: str | None
    requested_at: datetime
    started_at: datetime | None
    settled_at: datetime | None
    handle: str | None
    holder: str | None
    fence: int
    failure_summary: str | None
    failure_reference: str | None
    failure_effect: str | None
    lineage: str
    retry_of: str | None
    cancel_asked_at: datetime | None
    cancel_asked_by: str | None
    cancel_reason: str | None
    plan: str | None
    recovery: str | None
    version: int
    now: datetime
    """The database's clock after the lock."""


async def lock(transaction: Transaction, family: str, job: str) -> LockedJob | None:
    """The job of the transaction's tenant, locked; None where there is none."""
    raise NotImplementedError
