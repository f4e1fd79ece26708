"""Owns leading from elsewhere to the queue of uncertain payouts, with a way back to where one was."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jobconsole.client import queues as client
from jobconsole.screens.queues import QueuesScreen

if TYPE_CHECKING:
    from jobconsole.screens.place import PlaceScreen
    from jobcontract.queues import Queue


async def open_uncertain(screen: PlaceScreen, command: str | None = None) -> None:
    """Shows the queue in which a person says whether payouts of the bulk command were paid; None: of any."""
    found = (await client.queues(screen.shell.service)).queues
    queue = _uncertain(found, command)
    if queue is None:
        screen.say("No queue of uncertain payouts is one that you see.", error=True)
        return
    queues = QueuesScreen()
    queues.wanted = queue.id
    screen.app.push_screen(queues)


def _uncertain(queues: tuple[Queue, ...], command: str | None) -> Queue | None:
    asking = [queue for queue in queues if queue.uncertain_of]
    return next((queue for queue in asking if command is None or command in queue.uncertain_of), None)
