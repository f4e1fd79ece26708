"""Owns the commands of finding whatever a text leads to (place `find`)."""

from __future__ import annotations

from jobconsole.commands.command import Command

FIND = ("find",)

FIND_COMMANDS: tuple[Command, ...] = (
    Command(
        id="find.open",
        title="Open what was found",
        help="Opens the job, the item in its queue, the plan, the recovery, the schedule, the entry of the trail; of a "
        "person the jobs.",
        keys=("enter", "i"),
        places=FIND,
        hint="open",
        rank=10,
        judge=lambda situation: None if situation.line else "nothing is selected",
    ),
    Command(
        id="find.again",
        title="Look up something else …",
        help="Asks for another text.",
        keys=("/",),
        places=FIND,
        hint="something else",
        rank=11,
    ),
    Command(
        id="find.ask",
        title="Find …",
        help="Looks up an id, a submission identity, a payout or failure reference, a person, over everything that you may "
        "read; :find TEXT does the same. Whole words, no parts of them.",
        keys=("ctrl+f",),
        twin="find TEXT",
        hint="find",
        rank=93,
        concerns=lambda situation: situation.place in ("jobs", "job", *FIND),
        judge=lambda situation: None if situation.signed_in else "sign in first",
    ),
)
"""Every command of finding, as a reader would look for them."""
