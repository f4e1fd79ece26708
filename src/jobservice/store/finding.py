"""Owns the statements that find what a text names, one a noun, all sent at once. Decides nothing about who sees what but
reach, which is part of the statements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from jobcontract.job_states import FoundNoun
from jobservice.store.database import Row, Transaction
from jobservice.store.items import Reach

FEW = 10
"""Most jobs that are shown of a person who asked for them."""
DEEP = 13
"""Fewest characters of an id's beginning of which the tables are looked through that have an index of ids over all
tenants: they stand for one millisecond."""
BEGINNING = 8
_NOTHING = (UUID(int=1), UUID(int=0))
_STATEMENTS: Mapping[FoundNoun, str] = {
    FoundNoun.JOB: "finding/jobs",
    FoundNoun.ITEM: "finding/items",
    FoundNoun.PLAN: "finding/plans",
    FoundNoun.RECOVERY: "finding/recoveries",
    FoundNoun.SCHEDULE: "finding/schedules",
    FoundNoun.OCCURRENCE: "finding/occurrences",
    FoundNoun.PERSON: "finding/people",
    FoundNoun.AUDIT: "finding/audit",
    FoundNoun.WORKER: "finding/workers",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sought:
    """A text and what it may be: `schedule` and `instant` of an occurrence's name, `number` of an entry of the trail."""

    text: str
    schedule: str | None = None
    instant: datetime | None = None
    number: int | None = None


async def find(
    transaction: Transaction,
    sought: Sought,
    nouns: Sequence[FoundNoun],
    *,
    reach: Reach,
    plans_of: str | None,
    most: int,
) -> dict[FoundNoun, list[Row]]:
    """At most `most` rows of each noun. `plans_of`: plans of that person alone; None: of anybody."""
    first, last = ids_from(sought.text)
    deep = (first, last) if len(sought.text) >= DEEP else _NOTHING
    values: dict[str, Any] = {
        "text": sought.text,
        "name": sought.text.lower(),
        "person": sought.text.lower(),
        "first": first,
        "last": last,
        "deep_first": deep[0],
        "deep_last": deep[1],
        "schedule": sought.schedule,
        "instant": sought.instant,
        "number": sought.number,
        "owner": plans_of,
        "few": FEW,
        "most": most,
        **reach.parameters(),
    }
    found = await transaction.together([(_STATEMENTS[noun], values) for noun in nouns])
    return {noun: list(rows) for noun, rows in zip(nouns, found, strict=True)}


def ids_from(text: str) -> tuple[UUID, UUID]:
    """The ids that begin with a text, the first and the last of them; an empty range where it is no beginning of one, or
    one of fewer than `BEGINNING` characters."""
    begins = text.lower()
    digits = begins.replace("-", "")
    if len(digits) < BEGINNING or len(digits) > 32:
        return _NOTHING
    try:
        first, last = UUID(hex=digits.ljust(32, "0")), UUID(hex=digits.ljust(32, "f"))
    except ValueError:
        return _NOTHING
    return (first, last) if str(first).startswith(begins) else _NOTHING
