"""Owns how many background jobs there are: counted by an index up to a bound, about as many as the tallies say above it, or
that many and more. Never scans, and never counts past the reach of whoever asks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from jobcontract.job_states import JobStatus
from jobcontract.jobs import JobCount
from jobservice.store import job_listing as store
from jobservice.store.database import Transaction
from jobservice.store.job_listing import Wanted

COUNTED = 1_000
"""Counts are exact up to so many."""
SURELY = 2
"""Where the tallies say so many times that, there are more, however old they are: it is not counted to find that out."""


def count_of(many: int, as_of: datetime, *, exact: bool = True, at_least: bool = False) -> JobCount:
    """A count as it goes over the wire."""
    return JobCount(count=many, exact=exact, at_least=at_least, as_of=as_of)


def with_foreign(here: JobCount, elsewhere: Sequence[int | None]) -> JobCount:
    """The count of our own jobs and of those of other engines; None: one of them does not know."""
    known = [many for many in elsewhere if many is not None]
    unsure = len(known) < len(elsewhere) or max(known, default=0) > COUNTED
    many = here.count + sum(min(each, COUNTED) for each in known)
    return count_of(many, here.as_of, exact=here.exact and not unsure, at_least=here.at_least or unsure)


async def counted(transaction: Transaction, wanted: Wanted) -> JobCount:
    """How many jobs are wanted: by the tallies where they know, and it is many; else counted."""
    now = transaction.began_at
    if wanted.of_reach and wanted.resolutions is not None:
        return _of_those(now, *await store.reach_unresolved(transaction, wanted, most=COUNTED))
    if wanted.of_reach:
        each, cut = await store.reach_statuses(transaction, wanted, most=COUNTED)
        return _of_those(now, sum(each[status] for status in wanted.statuses or each if status in each), cut)
    if wanted.tallied:
        tallies = [
            each
            for each in await store.tallies(transaction, wanted)
            if (wanted.statuses is None or each.status in wanted.statuses)
            and (wanted.resolutions is None or each.unresolved)
        ]
        many = sum(each.many for each in tallies)
        if many > SURELY * COUNTED:
            return _about(tallies, now)
        if wanted.resolutions is None:
            counted = sum((await store.statuses(transaction, wanted, most=COUNTED)).values())
            return count_of(counted, now) if counted <= COUNTED else _about(tallies, now)
    found = await store.count(transaction, wanted, most=COUNTED)
    if len(found.rows) > COUNTED:
        return _about(tallies, now) if wanted.tallied else count_of(COUNTED, now, exact=False, at_least=True)
    if found.horizon is not None:
        return count_of(len(found.rows), now, exact=False, at_least=True)
    return count_of(len(found.rows), now)


def _of_those(now: datetime, many: int, cut: bool) -> JobCount:
    """A count of a reach: exact unless one of its customers or workspaces has more."""
    more = cut or many > COUNTED
    return count_of(min(many, COUNTED), now, exact=not more, at_least=more)


def _about(tallies: Sequence[store.Tally], now: datetime) -> JobCount:
    """What the tallies say: about so many, as of when they were true. Never fewer than were counted."""
    folded = [each.folded_at for each in tallies if each.folded_at is not None]
    many = sum(each.many for each in tallies)
    if many <= COUNTED:
        return count_of(COUNTED, now, exact=False, at_least=True)
    return count_of(many, min(folded, default=now), exact=False)


async def of_each(transaction: Transaction, wanted: Wanted) -> tuple[dict[JobStatus, JobCount], JobCount]:
    """How many jobs of each status are in reach, and how many failures are unresolved."""
    now = transaction.began_at
    if wanted.reach.customers is None and wanted.reach.workspaces is None:
        tallies = await store.tallies(transaction, wanted)
        by_status = {status: [each for each in tallies if each.status == status] for status in JobStatus}
        few = [status for status, some in by_status.items() if sum(each.many for each in some) <= SURELY * COUNTED]
        counted = await store.statuses(transaction, replace(wanted, statuses=tuple(few)), most=COUNTED) if few else {}
        of_status = {
            status: count_of(counted[status], now) if counted.get(status, COUNTED + 1) <= COUNTED else _about(some, now)
            for status, some in by_status.items()
        }
        open_ = [each for each in tallies if each.unresolved]
        if sum(each.many for each in open_) > SURELY * COUNTED:
            return of_status, _about(open_, now)
        many = await store.unresolved(transaction, most=COUNTED)
        return of_status, count_of(many, now) if many <= COUNTED else _about(open_, now)
    if wanted.of_reach:
        many_of, cut = await store.reach_statuses(transaction, wanted, most=COUNTED)
        open_of, cut_open = await store.reach_unresolved(transaction, wanted, most=COUNTED)
        of_status = {status: _of_those(now, many_of.get(status, 0), cut) for status in JobStatus}
        return of_status, _of_those(now, open_of, cut_open)
    found = await store.count(transaction, wanted, most=COUNTED)
    whole = found.horizon is None and len(found.rows) <= COUNTED
    each = {status: sum(row["found_status"] == status for row in found.rows) for status in JobStatus}
    unresolved = sum(bool(row["found_unresolved"]) for row in found.rows)
    return (
        {status: count_of(count, now, exact=whole, at_least=not whole) for status, count in each.items()},
        count_of(unresolved, now, exact=whole, at_least=not whole),
    )
