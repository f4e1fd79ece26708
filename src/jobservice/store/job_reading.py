"""Owns the statements that read one background job with all that belongs to it. Decides nothing.

Reads neither the engine's name of the workflow nor the row's version: both never leave the service (INV-12).
"""

from __future__ import annotations

from dataclasses import dataclass

from jobservice.store.database import Row, Transaction

LAST = 2**63 - 1
"""Behind every line of history."""
LINEAGE = 200
"""Most jobs of a lineage that are shown, the latest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A job with its steps in order, the latest of its history (one line more than asked for where there is more), its
    notices and its lineage."""

    head: Row
    steps: tuple[Row, ...]
    events: tuple[Row, ...]
    notices: tuple[Row, ...]
    lineage: tuple[Row, ...]


async def read(transaction: Transaction, family: str, job: str, *, events: int) -> Found | None:
    """A job of the tenant, in one trip; None where there is none."""
    of = {"family": family, "job": job}
    heads, steps, history, notices, lineage = await transaction.together(
        [
            ("job_reading/head", of),
            ("job_reading/steps", of),
            ("job_reading/events", {**of, "before": LAST, "most": events}),
            ("job_reading/notices", of),
            ("job_reading/lineage", {**of, "most": LINEAGE}),
        ]
    )
    if not heads:
        return None
    return Found(
        head=heads[0], steps=tuple(steps), events=tuple(history), notices=tuple(notices), lineage=tuple(lineage)
    )


async def events(transaction: Transaction, family: str, job: str, *, before: int, most: int) -> list[Row]:
    """At most `most` + 1 lines of a job's history before a sequence, the newest first."""
    return list(await transaction.rows("job_reading/events", family=family, job=job, before=before, most=most))
