"""Owns leading to a queue from elsewhere: to the one that a word names, and to that of uncertain payouts, with a way back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jobconsole.client import queues as client
from jobconsole.present.queues import means
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


async def queue_named(screen: PlaceScreen, word: str) -> Queue | None:
    """The queue that a person means by `word`, of those that they see; None where it means none."""
    found = (await client.queues(screen.shell.service)).queues
    return next((queue for queue in found if means(queue, word)), None)


def show_at(screen: PlaceScreen, queue: Queue) -> None:
    """Shows the queue on the screen of the queues: at once, or as the first one where it has not read them yet."""
    if isinstance(screen, QueuesScreen) and not screen.go_to_name(queue.id):
        screen.wanted = queue.id


def _uncertain(queues: tuple[Queue, ...], command: str | None) -> Queue | None:
    asking = [queue for queue in queues if queue.uncertain_of]
    return next((queue for queue in asking if command is None or command in queue.uncertain_of), None)
