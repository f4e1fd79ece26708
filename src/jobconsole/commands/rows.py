"""Owns the commands of going to a row of a queue's list, wherever in the list it is (place `queues`); its ends in
every list."""

from __future__ import annotations

from jobconsole.commands.command import Command
from jobconsole.commands.queues import BOARDS
from jobconsole.commands.situation import Situation
from jobcontract.permissions import Permission

LIST = ("queues",)
TRAIL = ("audit", "timeline")
JOBS = ("jobs", "job", "find")
RUNS = ("schedules", "occurrences", "occurrence", "workers", "runbook", "simulator", *BOARDS, *TRAIL, *JOBS)
"""Places whose lists belong to no queue."""
ROWS = ("queues", "plan", "progress", "plans", *RUNS)


def _queue(situation: Situation) -> str | None:
    return None if situation.queue is not None else "no queue is shown"


def _list(situation: Situation) -> str | None:
    return None if situation.place in RUNS else _queue(situation)


def _scored(situation: Situation) -> str | None:
    if situation.queue is not None and situation.rule is None:
        return "this queue has no scores: the oldest item is first"
    return _queue(situation)


ROW_COMMANDS: tuple[Command, ...] = (
    Command(
        id="row.first",
        title="First row",
        help="Goes to the first row of the whole list, however long it is.",
        keys=("home", "<"),
        places=ROWS,
        rank=62,
        judge=_list,
    ),
    Command(
        id="row.last",
        title="Last row",
        help="Goes to the last row of the whole list, however long it is.",
        keys=("end", ">"),
        places=ROWS,
        rank=63,
        judge=_list,
    ),
    Command(
        id="row.score",
        title="Go to score …",
        help="Asks for a number and goes to the first row whose score is that or less; :80 does the same.",
        keys=("g",),
        places=LIST,
        permission=Permission.QUEUE_READ,
        rank=37,
        judge=_scored,
    ),
    Command(
        id="row.item",
        title="Go to item …",
        help="Asks for an item's id or key and goes to it in this list.",
        keys=("i",),
        places=LIST,
        permission=Permission.QUEUE_READ,
        twin="queues show ITEM",
        rank=38,
        judge=_queue,
    ),
    Command(
        id="row.back",
        title="Back to where you were",
        help="Goes back to the row on which the cursor was before it was sent elsewhere in this list.",
        keys=("b",),
        places=LIST,
        permission=Permission.QUEUE_READ,
        rank=39,
        judge=_queue,
    ),
)
"""Commands of going, as a reader would look for them: the ends, a score, an item, back."""
