"""Owns having a Worker take nothing new, and letting it take work again, from a screen: what that does, the reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jobconsole.client import acts as client
from jobconsole.commands.situation import SelectedWorker
from jobconsole.present.acts import SHORT_ID, drain_lines, undrain_lines
from jobconsole.screens.acts import WHY, acted, command_of
from jobconsole.screens.order_form import Order

if TYPE_CHECKING:
    from jobconsole.screens.plan_seen import SeenScreen
    from jobcontract.workers import Worker


def worker_facts(worker: Worker | None) -> SelectedWorker | None:
    """What of a Worker decides which commands can be run."""
    if worker is None:
        return None
    asked_by_a_person = worker.drain_asked_at is not None
    return SelectedWorker(
        stopped=worker.stopped_at is not None,
        drain_asked=asked_by_a_person,
        ending=worker.draining_at is not None and not asked_by_a_person,
    )


async def drain(screen: SeenScreen, worker: Worker) -> Worker | None:
    """Asks for a reason and has it take nothing new; the Worker as it is then, None where it was given up."""
    service, about = screen.shell.service, drain_lines(worker)
    order = Order(
        title="Drain this Worker?",
        act="Drain the Worker",
        back="Leave it on",
        about=lambda: about,
        reason=WHY,
        command=command_of(screen, ("workers", "drain", worker.incarnation)),
        send=lambda given, key: client.drain_worker(service, worker.incarnation, given.reason, key),
    )
    said = f"Worker {worker.incarnation[:SHORT_ID]} takes nothing new; it ends what it has."
    answer = await acted(screen, order, lambda _: said)
    return answer.worker if answer is not None else None


async def undrain(screen: SeenScreen, worker: Worker) -> Worker | None:
    """Asks for a reason and lets it take work again; the Worker as it is then, None where it was given up."""
    service, about = screen.shell.service, undrain_lines(worker, screen.at())
    order = Order(
        title="Let this Worker take work again?",
        act="Let it take work again",
        back="Leave it draining",
        about=lambda: about,
        reason=WHY,
        command=command_of(screen, ("workers", "undrain", worker.incarnation)),
        send=lambda given, key: client.undrain_worker(service, worker.incarnation, given.reason, key),
    )
    answer = await acted(screen, order, lambda _: f"Worker {worker.incarnation[:SHORT_ID]} takes work again.")
    return answer.worker if answer is not None else None
