"""Owns the commands about scores: why an item stands where it stands (place `explain`), and what-if."""

from __future__ import annotations

from jobconsole.commands.command import Command
from jobconsole.commands.situation import Situation
from jobcontract.permissions import Permission


def _selected(situation: Situation) -> str | None:
    return None if situation.item is not None else "nothing is selected"


def _supposable(situation: Situation) -> str | None:
    if situation.item is None:
        return _selected(situation)
    if situation.rule is None:
        return "this queue has no rule: its oldest item is first, and no input moves it"
    if situation.item.state.closed:
        return f"the item is {situation.item.state}: it has no place in the order any more"
    return None if situation.connected else "not while disconnected: the service counts"


SCORE_COMMANDS: tuple[Command, ...] = (
    Command(
        id="item.explain",
        title="Why here",
        help="Explains the item's place: every part of its score, the items above and below, what would let one "
        "overtake the other, and the rule in its own words.",
        keys=("w",),
        places=("queues", "item"),
        permission=Permission.QUEUE_READ,
        twin="queues explain ITEM",
        hint="why",
        rank=18,
        judge=_selected,
    ),
    Command(
        id="item.what-if",
        title="What if …",
        help="Asks which score and which place the item would have with another amount, age or input. Nothing is saved.",
        keys=("W",),
        places=("queues", "item", "explain"),
        permission=Permission.QUEUE_READ,
        twin="queues what-if ITEM --input INPUT --amount AMOUNT --age AGE",
        hint="what if",
        rank=19,
        judge=_supposable,
    ),
)
"""Every command about scores, as a reader would look for them."""
