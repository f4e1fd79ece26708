"""Owns the acts on what has ended: running an occurrence again, putting a dead letter away."""

from __future__ import annotations

from fastapi import Response

from jobcontract import operating_routes as routes
from jobcontract.acts import DiscardOrder, ReplayOrder
from jobcontract.errors import ErrorCode
from jobcontract.occurrences import OccurrenceChanged
from jobservice.api.admission import Admitted
from jobservice.api.answers import of_acting
from jobservice.api.endpoints import Endpoint
from jobservice.usecases import replays


async def replay_occurrence(admitted: Admitted, occurrence: str, order: ReplayOrder) -> Response:
    """Run an ended occurrence again: every item of it that is not done."""
    return of_acting(await replays.replay(admitted.context.service, admitted.actor, occurrence, order, admitted.once))


async def discard_occurrence(admitted: Admitted, occurrence: str, order: DiscardOrder) -> Response:
    """Put a dead letter away: it stays to be read, and asks for nothing any more."""
    return of_acting(await replays.discard(admitted.context.service, admitted.actor, occurrence, order, admitted.once))


ENDPOINTS = (
    Endpoint(
        route=routes.REPLAY_OCCURRENCE,
        function=replay_occurrence,
        answer=OccurrenceChanged,
        summary="Run an ended occurrence again",
        refusals=(
            ErrorCode.NOT_FOUND,
            ErrorCode.OCCURRENCE_NOT_ENDED,
            ErrorCode.OCCURRENCE_REMOVED,
            ErrorCode.SCHEDULE_UNFIT,
            ErrorCode.SCHEDULE_DISABLED,
            ErrorCode.NEEDS_PLAN,
            ErrorCode.VERSION_CHANGED,
        ),
    ),
    Endpoint(
        route=routes.DISCARD_OCCURRENCE,
        function=discard_occurrence,
        answer=OccurrenceChanged,
        summary="Discard a dead letter",
        refusals=(
            ErrorCode.NOT_FOUND,
            ErrorCode.NOT_DEAD_LETTER,
            ErrorCode.OCCURRENCE_REMOVED,
            ErrorCode.VERSION_CHANGED,
        ),
    ),
)
