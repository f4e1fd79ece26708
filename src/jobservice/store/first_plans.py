"""Owns what a connection of the API knows before its first request: the catalogue of jobs, of their partitions and indexes,
and the plans of the statements by which the list of jobs opens. A new connection reads some three thousand pages of the
catalogue for the first of them, and whoever asked first waited for that. Finds nothing, writes nothing.
"""

from __future__ import annotations

import psycopg
import structlog

from jobcontract.ids import PAGE_MAX
from jobservice.store import job_listing as listing
from jobservice.store.database import Transaction
from jobservice.store.items import Reach
from jobservice.store.job_listing import FIRST, Wanted
from jobservice.store.patience import PatientConnection

_log = structlog.get_logger("jobservice.store")

PLAN_SECONDS = 5.0
"""How long a new connection may take for it."""
_WHOLE = Wanted(reach=Reach(customers=None, workspaces=None))
_UNRESOLVED = Wanted(reach=_WHOLE.reach, resolutions=("none",))


async def plan_jobs(connection: PatientConnection) -> None:
    """Plan the statements on a connection that nobody has yet, as no tenant, who has no jobs. Where one cannot be planned,
    that is left to whoever runs it."""
    connection.patience = PLAN_SECONDS
    transaction = Transaction(connection, None)
    transaction.prepare = True
    try:
        async with connection.transaction():  # a rollback lets the driver forget what it has prepared
            await transaction.run("job_listing/by_index")
            await listing.page(transaction, _UNRESOLVED, before=FIRST, most=PAGE_MAX)
            await listing.tallies(transaction, _WHOLE)
            await listing.unresolved(transaction, most=PAGE_MAX)
            await listing.statuses(transaction, _WHOLE, most=PAGE_MAX)
    except psycopg.Error as error:
        _log.warning("jobs-not-planned", reason=str(error))
