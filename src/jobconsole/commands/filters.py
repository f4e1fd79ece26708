"""Owns the commands of filtering the list of a queue (place `queues`)."""

from __future__ import annotations

from jobconsole.commands.command import Command
from jobconsole.commands.situation import Situation
from jobcontract.permissions import Permission

LIST = ("queues",)


def _queue(situation: Situation) -> str | None:
    return None if situation.queue is not None else "no queue is shown"


def _filtered(situation: Situation) -> str | None:
    if situation.queue is None:
        return _queue(situation)
    return None if situation.filtered else "no filter is in force"


def _before(situation: Situation) -> str | None:
    if situation.queue is None:
        return _queue(situation)
    return None if situation.filter_before else "no other filter was in force in this queue"


FILTER_COMMANDS: tuple[Command, ...] = (
    Command(
        id="filter.edit",
        title="Filter",
        help="Opens the filter line, e.g. currency:GBP amount>1000; tab completes, enter applies, an empty one clears.",
        keys=("/",),
        places=LIST,
        permission=Permission.QUEUE_READ,
        twin="queues items QUEUE --filter FILTER",
        hint="filter",
        rank=17,
        judge=_queue,
    ),
    Command(
        id="filter.clear",
        title="Clear the filter",
        help="Shows the whole queue again; claim next then takes from all of it.",
        keys=("\\",),
        places=LIST,
        rank=40,
        judge=_filtered,
    ),
    Command(
        id="filter.again",
        title="Filter as before",
        help="Puts the filter in force again that was before the present one, and the other way round.",
        keys=("|",),
        places=LIST,
        permission=Permission.QUEUE_READ,
        rank=41,
        judge=_before,
    ),
    Command(
        id="filter.choose",
        title="Saved filters …",
        help="Lists the filters that you saved, those of this queue first: choose one to put it in force, or delete one.",
        keys=("f",),
        places=LIST,
        permission=Permission.QUEUE_READ,
        twin="queues filters list",
        rank=42,
        judge=_queue,
    ),
    Command(
        id="filter.save",
        title="Save the filter …",
        help="Keeps the filter in force under a name that you give, on this machine, for this profile.",
        keys=("F",),
        places=LIST,
        twin="queues filters save QUEUE NAME FILTER",
        rank=43,
        judge=_filtered,
    ),
)
"""Every command of filters, as a reader would look for them."""
