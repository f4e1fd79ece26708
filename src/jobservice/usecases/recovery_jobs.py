"""Owns freezing the set of a recovery of jobs: which are named or found within a person's reach, what is left out and why.
Everything else about recoveries is the same for all: `recoveries.py`, `recovery_freezing.py`. Does nothing to a job.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from jobcontract.ids import is_slug
from jobcontract.job_states import JobResolution, JobStatus
from jobcontract.jobs import HERE
from jobcontract.operating import LeftOut, RecoveryAct
from jobcontract.permissions import GRANTS, Permission
from jobcontract.recoveries import RecoveryOrder
from jobcontract.states import Moves
from jobservice.rules import recoveries as rules
from jobservice.rules import recovery_jobs as job_rules
from jobservice.store import items as item_store
from jobservice.store import recovery_jobs as store
from jobservice.store.database import Transaction
from jobservice.store.items import readable
from jobservice.store.recovery_jobs import AskedJob, BookedKind, WantedJobs
from jobservice.store.recovery_rows import KeptOut
from jobservice.usecases.actor import Actor
from jobservice.usecases.items import reach
from jobservice.usecases.job_matches import matching_ids
from jobservice.usecases.recovery_freezing import FrozenSet
from jobservice.usecases.service import Service


async def freeze_jobs(
    transaction: Transaction, service: Service, actor: Actor, order: RecoveryOrder, recovery: str
) -> FrozenSet:
    """Write the rows; nothing is written where more are fit than may be. Refusal FILTER_INVALID for what is no filter."""
    most, now = service.records.settings.recovery_max_items, await item_store.now(transaction)
    grants = GRANTS[actor.role]
    if order.jobs is not None:
        named = map(_asked, order.jobs)
        asked = list({each.id or each.text: each for each in named}.values())
    else:
        found = await matching_ids(transaction, service, actor, order.job_filter or "", most=most)
        if len(found) > most:
            return FrozenSet(count=len(found), left_out={}, kept=())
        asked = [AskedJob(text=each, id=each) for each in found]
    frozen = await store.freeze(
        transaction,
        WantedJobs(
            recovery=recovery,
            retries=order.act is RecoveryAct.RETRY,
            book=[
                BookedKind(kind=each.id, moves=each.moves, retryable=each.retryable)
                for each in service.records.job_kinds.values()
            ],
            jobs=asked,
            named=order.jobs is not None,
            reach=reach(actor),
            may_money=Permission.PAYOUT_RELEASE in grants,
            may_others=rules.permission_for(order.act, Moves.NOTHING) in grants,
            now=now,
            most=most,
        ),
    )
    kept = sorted((_kept(each, order.act) for each in frozen.kept), key=lambda each: (_PLACES[each.reason], each.name))
    left_out = {LeftOut(reason): count for reason, count in frozen.left_out.items()}
    return FrozenSet(count=frozen.found, left_out=left_out, kept=kept[: rules.LEFT_KEPT])


_PLACES: Mapping[str, int] = {reason.value: place for place, reason in enumerate(LeftOut)}


def _asked(text: str) -> AskedJob:
    """A job by its id, or as `SOURCE:ID`."""
    source, colon, identifier = text.rpartition(":")
    if colon and source != HERE and is_slug(source):
        return AskedJob(text=text, id=None, elsewhere=True)
    ours = source in ("", HERE) and readable(identifier)
    return AskedJob(text=text, id=identifier if ours else None)


def _kept(found: Mapping[str, Any], act: RecoveryAct) -> KeptOut:
    """A left-out job as the statement tells of it."""
    left = job_rules.LeftJob(
        kind=found["kind"],
        reason=LeftOut(found["reason"]),
        status=None if found["status"] is None else JobStatus(found["status"]),
        resolution=None if found["resolution"] is None else JobResolution(found["resolution"]),
        by=found["by"],
        why=found["why"],
        newest=found["newest"],
        recovery=found["recovery"],
    )
    return KeptOut(
        name=found["name"],
        schedule=found["kind"],
        reason=left.reason.value,
        sentence=job_rules.left_job_sentence(left, act),
        at=None if found["at"] is None else datetime.fromisoformat(found["at"]),
    )
