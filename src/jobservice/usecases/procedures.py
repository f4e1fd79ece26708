"""Owns which acts procedures of runbooks do, and which schedule a refused one was about. An act that is done says its
schedule itself, as `schedule` in the detail of its row in the trail."""

from __future__ import annotations

from uuid import UUID

from jobcontract import operating_routes, routes
from jobcontract.occurrence_names import read_occurrence_name
from jobservice.store import runbooks as store
from jobservice.store.database import Transaction

OF_SCHEDULES = frozenset(
    route.name
    for route in (operating_routes.RUN_SCHEDULE, operating_routes.DISABLE_SCHEDULE, operating_routes.ENABLE_SCHEDULE)
)
OF_OCCURRENCES = frozenset(
    route.name
    for route in (
        operating_routes.REPLAY_OCCURRENCE,
        operating_routes.DISCARD_OCCURRENCE,
        routes.CANCEL_OCCURRENCE,
    )
)
ACTIONS = OF_SCHEDULES | OF_OCCURRENCES
"""Acts on one schedule or one of its occurrences, also where a recovery does them row by row."""


async def schedule_of(transaction: Transaction, action: str, subject: str) -> str | None:
    """Which schedule an act was to be on, by its subject: a schedule's id, or an occurrence by id or name; None where the
    act is of another kind, or names none."""
    if action in OF_SCHEDULES:
        return subject
    if action not in OF_OCCURRENCES:
        return None
    if (name := read_occurrence_name(subject)) is not None:
        return name[0]
    try:
        occurrence = UUID(subject)
    except ValueError:
        return None
    return await store.schedule_of(transaction, occurrence)
