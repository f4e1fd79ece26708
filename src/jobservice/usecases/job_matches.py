"""Owns which jobs of this service a filter finds for a person: ids alone, for whoever freezes a set of them. Pages of jobs
with all that is said of them: `job_listing.py`.
"""

from __future__ import annotations

from jobservice.store.database import Transaction
from jobservice.usecases.actor import Actor
from jobservice.usecases.service import Service


async def matching_ids(transaction: Transaction, service: Service, actor: Actor, text: str, *, most: int) -> list[str]:
    """Ids of at most `most` + 1 jobs in the actor's reach that the filter finds, resolved or not. Refusal FILTER_INVALID."""
    raise NotImplementedError
