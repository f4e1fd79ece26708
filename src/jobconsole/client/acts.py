"""Owns the calls of single acts: run, disable and enable a schedule, replay and discard an occurrence, drain a Worker.
Screens and headless twins run these. Acts on many at once are recoveries.

An occurrence is named by its id, or as a person types it: `statements.nightly@2026-10-26T01:30:00Z`. Each act takes a
reason and a key: repeated under the same key it is the same act, and is done once.
"""

from __future__ import annotations

from datetime import datetime

from jobconsole.client.service import Service
from jobcontract.acts import (
    DisableOrder,
    DiscardOrder,
    DrainOrder,
    EnableOrder,
    Enabling,
    ReplayOrder,
    RunOrder,
    ScheduleChanged,
    WorkerChanged,
)
from jobcontract.occurrences import OccurrenceChanged
from jobcontract.operating_routes import (
    DISABLE_SCHEDULE,
    DISCARD_OCCURRENCE,
    DRAIN_WORKER,
    ENABLE_SCHEDULE,
    ENABLING,
    REPLAY_OCCURRENCE,
    RUN_SCHEDULE,
    UNDRAIN_WORKER,
)


async def run_schedule(service: Service, schedule: str, reason: str, key: str) -> OccurrenceChanged:
    """Run a manual schedule now, under its guard: the occurrence that was made.

    Refused with *guard-refused* (outside its window: the sentence names the next), *runs-elsewhere*, *schedule-disabled*,
    *schedule-unfit* where it runs by itself, *needs-plan* where it moves money.
    """
    order = RunOrder(reason=reason)
    return await service.post(RUN_SCHEDULE, order, OccurrenceChanged, key=key, parts={"schedule": schedule})


async def disable_schedule(
    service: Service, schedule: str, reason: str, key: str, until: datetime | None = None
) -> ScheduleChanged:
    """Switch a schedule off; with `until` (aware, at most a year ahead) it is switched on again by itself then.

    What runs goes on to its end. One that is off is kept off longer, with the new reason; refused with *schedule-disabled*
    where it is off for as long already: enable it first.
    """
    order = DisableOrder(reason=reason, until=until)
    return await service.post(DISABLE_SCHEDULE, order, ScheduleChanged, key=key, parts={"schedule": schedule})


async def enable_schedule(service: Service, schedule: str, reason: str, key: str) -> ScheduleChanged:
    """Switch a schedule on again; what it makes up for then is what `enabling` said. Refused with *schedule-not-disabled*."""
    order = EnableOrder(reason=reason)
    return await service.post(ENABLE_SCHEDULE, order, ScheduleChanged, key=key, parts={"schedule": schedule})


async def enabling(service: Service, schedule: str) -> Enabling:
    """What enabling a schedule now would make up for and skip, and when it runs next. Changes nothing."""
    return await service.get(ENABLING, Enabling, parts={"schedule": schedule})


async def replay_occurrence(
    service: Service, id_or_name: str, reason: str, key: str, version: int | None = None
) -> OccurrenceChanged:
    """Run an ended occurrence again: every item of it that is not done. `version`: of it as it was seen.

    Refused with *occurrence-not-ended*, *occurrence-removed*, *version-changed*, *schedule-disabled*, *schedule-unfit*
    (the records do not have it any more), *needs-plan* where it moves money: a recovery replays that.
    """
    order = ReplayOrder(reason=reason, version=version)
    return await service.post(REPLAY_OCCURRENCE, order, OccurrenceChanged, key=key, parts={"occurrence": id_or_name})


async def discard_occurrence(
    service: Service, id_or_name: str, reason: str, key: str, version: int | None = None
) -> OccurrenceChanged:
    """Put a dead letter away: it stays to be read. Refused with *not-dead-letter*, *occurrence-removed*, *version-changed*."""
    order = DiscardOrder(reason=reason, version=version)
    return await service.post(DISCARD_OCCURRENCE, order, OccurrenceChanged, key=key, parts={"occurrence": id_or_name})


async def drain_worker(service: Service, worker: str, reason: str, key: str) -> WorkerChanged:
    """Have a Worker (its incarnation) take nothing new and end what it has; it stays alive.

    Refused with *worker-last* where no other one would take work, *worker-ended*.
    """
    order = DrainOrder(reason=reason)
    return await service.post(DRAIN_WORKER, order, WorkerChanged, key=key, parts={"worker": worker})


async def undrain_worker(service: Service, worker: str, reason: str, key: str) -> WorkerChanged:
    """Let a Worker that was asked to drain take work again. Refused with *worker-ended*."""
    order = DrainOrder(reason=reason)
    return await service.post(UNDRAIN_WORKER, order, WorkerChanged, key=key, parts={"worker": worker})
