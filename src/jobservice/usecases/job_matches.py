"""Owns which jobs of this service a filter finds for a person: ids alone, for whoever freezes a set of them. Pages of jobs
with all that is said of them: `job_listing.py`.
"""

from __future__ import annotations

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.job_states import JobView
from jobcontract.jobs import HERE
from jobservice.store import filters as filter_store
from jobservice.store import job_listing as store
from jobservice.store.database import Transaction
from jobservice.store.job_listing import FIRST, LOOKED, Wanted
from jobservice.usecases.actor import Actor
from jobservice.usecases.job_listing import read_filter, wanted_of
from jobservice.usecases.service import Service

ROUNDS = 100
"""Most stretches of jobs that are looked through: a filter that meets so seldom is to name more."""


async def matching_ids(transaction: Transaction, service: Service, actor: Actor, text: str, *, most: int) -> list[str]:
    """Ids of at most `most` + 1 jobs in the actor's reach that the filter finds, resolved or not, the latest first.

    Refusal FILTER_INVALID; PLAN_TOO_LARGE where too many would have to be looked at.
    """
    sources = await service.foreign_sources()
    filter_ = read_filter(text, actor, sources)
    named = filter_.values("source")
    if named is not None and HERE not in named:
        return []
    wanted = await wanted_of(transaction, service, actor, JobView.ALL, filter_, judged=not sources)
    if wanted is None:
        return []
    await filter_store.keep_order(transaction)
    return await _walk(transaction, wanted, most)


async def _walk(transaction: Transaction, wanted: Wanted, most: int) -> list[str]:
    found: list[str] = []
    before = FIRST
    for _ in range(ROUNDS):
        room = min(LOOKED, most + 1 - len(found))
        page = await store.ids(transaction, wanted, before=before, most=room)
        found += [str(row["found"]) for row in page.rows[:room]]
        if len(found) > most:
            return found
        if len(page.rows) > room:
            before = found[-1]
        elif page.horizon is not None:
            before = page.horizon
        else:
            return found
    raise Refusal(
        ErrorCode.PLAN_TOO_LARGE,
        f"More than {ROUNDS * LOOKED:,} jobs would have to be looked at for that filter. Name a kind, an age or a status "
        "in it too.",
    )
