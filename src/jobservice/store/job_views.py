"""Owns the statements over monitoring views of other schemas and databases: finding them, and reading their jobs.

Read-only: a transaction of these looks into one schema of views, by a login that has nothing else (requirement families).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from jobservice.store.database import Row, Transaction
from jobservice.store.items import Reach

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "cross_job_query": (
        "family",
        "job",
        "tenant",
        "customer",
        "workspace",
        "kind",
        "status",
        "progress",
        "subject",
        "requester",
        "submission_identity",
        "requested_at",
        "started_at",
        "activity_at",
        "settled_at",
        "last_step",
        "last_step_status",
        "failure_summary",
        "failure_reference",
        "retry_of",
        "position",
    ),
    "cross_job_steps": (
        "job",
        "tenant",
        "position",
        "step",
        "label",
        "status",
        "attempts",
        "started_at",
        "settled_at",
        "sentence",
    ),
    "cross_job_events": ("job", "tenant", "sequence", "at", "kind", "step", "status", "progress", "sentence"),
}
"""The columns that views must have to be read: a view may have more."""
LOOK_MOST = 5_000
"""Most jobs of a source that one page looks at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedJobs:
    """What a page of a source holds. None: any. `error` is looked for in the failure's summary."""

    reach: Reach
    statuses: Sequence[str] | None = None
    kinds: Sequence[str] | None = None
    scopes: Sequence[str] | None = None
    requesters: Sequence[str] | None = None
    no_requester: bool = False
    words: Sequence[str] | None = None
    error: str | None = None
    since: datetime | None = None
    until: datetime | None = None


async def discover(transaction: Transaction, never: Sequence[str]) -> list[str]:
    """Schemas with all three views, by name; none of `never`."""
    named = [(view, column) for view, columns in COLUMNS.items() for column in columns]
    rows = await transaction.rows(
        "job_views/discover",
        views=[view for view, _ in named],
        columns=[column for _, column in named],
        never=list(never),
    )
    return [row["views_schema"] for row in rows]


async def may_more(transaction: Transaction) -> list[str]:
    """What this login may do besides reading views: names of the first few; empty: nothing."""
    power = await transaction.rows("job_views/has_power")
    return [row["name"] for row in power or await transaction.rows("job_views/may_more")]


async def look_in(transaction: Transaction, schema: str) -> None:
    """Let the statements of this transaction read the views of `schema`."""
    await transaction.run("job_views/look_in", views_schema=schema)


async def owner(transaction: Transaction) -> Row | None:
    """`family` and `engine` of the newest job; None where there is none."""
    return await transaction.row("job_views/owner")


async def page(
    transaction: Transaction, tenant: str, wanted: WantedJobs, after: tuple[int, str] | None, most: int
) -> Sequence[Row]:
    """Up to `most` jobs behind `after`; a last row without `matches` says where a look at `LOOK_MOST` jobs ended."""
    position, job = after or (None, None)
    return await transaction.rows(
        "job_views/page",
        **{"tenant": tenant},
        after_position=position,
        after_job=job,
        look_most=LOOK_MOST,
        most=most,
        statuses=_array(wanted.statuses),
        kinds=_array(wanted.kinds),
        scopes=_array(wanted.scopes),
        requesters=_array(wanted.requesters),
        no_requester=wanted.no_requester,
        words=_array(wanted.words),
        error=wanted.error,
        since=wanted.since,
        until=wanted.until,
        **wanted.reach.parameters(),
    )


async def job(transaction: Transaction, tenant: str, reach: Reach, identifier: str) -> Row | None:
    """One job; None where there is none in reach."""
    return await transaction.row("job_views/job", **{"tenant": tenant}, job=identifier, **reach.parameters())


async def steps(transaction: Transaction, tenant: str, identifier: str) -> Sequence[Row]:
    """The steps of a job, in their order."""
    return await transaction.rows("job_views/steps", **{"tenant": tenant}, job=identifier)


async def events(
    transaction: Transaction, tenant: str, identifier: str, before: int | None, most: int
) -> Sequence[Row]:
    """Lines of a job's history before a sequence, newest first."""
    return await transaction.rows("job_views/events", **{"tenant": tenant}, job=identifier, before=before, most=most)


def _array(values: Sequence[str] | None) -> list[str] | None:
    return None if values is None else list(values)
