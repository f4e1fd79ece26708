"""Owns opening what was found: the screen of each noun, in front of the list, so that going back comes to it again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

from jobconsole.client import audit as audit_client
from jobconsole.client import plans as plans_client
from jobconsole.client import queues as queues_client
from jobconsole.client import recoveries as recoveries_client
from jobconsole.places import resolve
from jobconsole.present.jobs import EVERY
from jobconsole.screens.audit_entry import AuditEntryScreen
from jobconsole.screens.item import ItemScreen
from jobconsole.screens.job import JobScreen
from jobconsole.screens.occurrence import OccurrenceScreen
from jobconsole.screens.overview_going import open_place
from jobconsole.screens.recovery_making import open_recovery
from jobcontract.job_states import FoundNoun

if TYPE_CHECKING:
    from jobconsole.screens.place import PlaceScreen
    from jobcontract.jobs import Found

OPEN_PLAN = "jobconsole.screens.plans_opening:open_plan"
JOBS = "jobconsole.screens.jobs:JobsScreen"


async def open_found(screen: PlaceScreen, found: Found) -> None:
    """Shows the thing."""
    await _OPENS[found.noun](screen, found)


async def _job(screen: PlaceScreen, found: Found) -> None:
    screen.app.push_screen(JobScreen(found.id, found.source))


async def _item(screen: PlaceScreen, found: Found) -> None:
    service = screen.shell.service
    detail = await queues_client.item(service, found.id)
    queues = (await queues_client.queues(service)).queues
    queue = next((each for each in queues if each.id == (found.queue or "")), None)
    if queue is None:
        screen.say(f"The queue {found.queue or 'of the item'} is none that you see.", error=True)
        return
    screen.app.push_screen(ItemScreen(queue, detail.item, detail))


async def _plan(screen: PlaceScreen, found: Found) -> None:
    resolve(OPEN_PLAN)(screen, await plans_client.find(screen.shell.service, found.id))


async def _recovery(screen: PlaceScreen, found: Found) -> None:
    open_recovery(screen, await recoveries_client.find(screen.shell.service, found.id))


async def _occurrence(screen: PlaceScreen, found: Found) -> None:
    screen.app.push_screen(OccurrenceScreen(found.id))


async def _entry(screen: PlaceScreen, found: Found) -> None:
    detail = await audit_client.entry(screen.shell.service, int(found.id))
    screen.app.push_screen(AuditEntryScreen(detail.entry))


async def _person(screen: PlaceScreen, found: Found) -> None:
    screen.app.push_screen(resolve(JOBS)(f"requester:{found.id}", EVERY))


async def _schedule(screen: PlaceScreen, found: Found) -> None:
    open_place(screen, "schedules", found.id)


async def _worker(screen: PlaceScreen, found: Found) -> None:
    open_place(screen, "workers", found.id)


_OPENS: Mapping[FoundNoun, Callable[[PlaceScreen, Found], Awaitable[None]]] = {
    FoundNoun.JOB: _job,
    FoundNoun.ITEM: _item,
    FoundNoun.PLAN: _plan,
    FoundNoun.RECOVERY: _recovery,
    FoundNoun.SCHEDULE: _schedule,
    FoundNoun.OCCURRENCE: _occurrence,
    FoundNoun.PERSON: _person,
    FoundNoun.AUDIT: _entry,
    FoundNoun.WORKER: _worker,
}
