"""Owns the commands of work queues: on the list of a queue (place `queues`) and on one item (place `item`)."""

from __future__ import annotations

from collections.abc import Callable

from jobconsole.commands.command import Command, Danger
from jobconsole.commands.situation import SelectedItem, Situation
from jobcontract.permissions import Permission
from jobcontract.states import ClaimMode

LIST = ("queues",)
BOTH = ("queues", "item")
BOARDS = ("overview", "alarms", "stops", "recoveries", "recovery")
"""Places of an operator whose lists belong to no queue."""
ROWS = ("queues", "plan", "progress", "plans", "schedules", "occurrences", "occurrence", "workers", *BOARDS)

VERB_COMMANDS: dict[str, str] = {
    "set-aside": "item.set-aside",
    "reject": "item.reject",
    "note": "item.note",
    "hand-over": "item.hand-over",
    "resolve": "item.resolve",
    "ask-evidence": "item.ask-evidence",
}
"""Verb of a use case to the command that has a key of its own for it; other verbs are reached through the act menu."""


def _queue(situation: Situation) -> str | None:
    return None if situation.queue is not None else "no queue is shown"


def _selected(situation: Situation) -> str | None:
    return None if situation.item is not None else "nothing is selected"


def planned(item: SelectedItem) -> str | None:
    """Why a plan keeps the item from being claimed or acted on, or None. Its owner may act on it while it is open."""
    if item.plan_held:
        return f"it is held by plan {item.plan} until its turn"
    return f"it is in plan {item.plan}" if item.plan is not None and not item.mine else None


def _own_plan(item: SelectedItem) -> str | None:
    if item.plan_held or item.plan is None:
        return planned(item)
    return f"it is in your plan {item.plan}: take it out there, or drop the plan"


def _claims(situation: Situation) -> str | None:
    if situation.claim is ClaimMode.DISABLED:
        return "this queue has no claims: the first act wins"
    return _queue(situation)


def _claim(situation: Situation) -> str | None:
    item = situation.item
    if item is None:
        return _selected(situation)
    if item.state.closed:
        return f"the item is {item.state}"
    if item.claim is ClaimMode.DISABLED:
        return "this queue has no claims: the first act wins"
    if item.plan is not None:
        return planned(item) or _own_plan(item)
    if item.mine:
        return "you hold it already; R renews your claim"
    return f"{item.holder} holds it; B breaks a colleague's claim" if item.holder is not None else None


def _own_claim(situation: Situation) -> str | None:
    item = situation.item
    if item is None:
        return _selected(situation)
    if item.claim is ClaimMode.DISABLED:
        return "this queue has no claims: the first act wins"
    if item.plan is not None and (item.mine or item.plan_held):
        return _own_plan(item)
    if item.mine:
        return None
    return f"{item.holder} holds it, not you" if item.holder is not None else "you do not hold it"


def _colleagues_claim(situation: Situation) -> str | None:
    item = situation.item
    if item is None:
        return _selected(situation)
    if item.plan_held:
        return planned(item)
    if item.mine:
        return "you hold it yourself; u releases your claim"
    return "nobody holds it" if item.holder is None else None


def held_away(item: SelectedItem) -> str | None:
    """Why the claim mode of the item's queue keeps the person from acting on it now, or None."""
    if item.plan_held:
        return planned(item)
    if item.claim is ClaimMode.DISABLED or item.mine:
        return None
    if item.holder is not None:
        return f"{item.holder} holds it"
    return "claim it first (c)" if item.claim is ClaimMode.REQUIRED else None


def verb_unavailable(item: SelectedItem, verb: str) -> str | None:
    """Why the use case with `verb` cannot be run on `item` now, or None."""
    if verb not in item.verbs:
        return "this queue has no such act"
    if verb in item.moving_money:
        return "moves money: that needs a plan; P in the list makes one"
    if verb not in item.fitting:
        return f"not while the item is {item.state}"
    return held_away(item)


def _acting(situation: Situation) -> str | None:
    if situation.item is None:
        return _selected(situation)
    return None if situation.item.verbs else "this queue has no acts"


def _verb(verb: str) -> Callable[[Situation], str | None]:
    def judge(situation: Situation) -> str | None:
        return _selected(situation) if situation.item is None else verb_unavailable(situation.item, verb)

    return judge


def _marked(situation: Situation) -> str | None:
    return None if situation.marked or situation.all_marked else "nothing is marked"


def _markable(situation: Situation) -> str | None:
    return "all that match are marked; U takes that back" if situation.all_marked else _selected(situation)


def _act(verb: str, *, title: str, help: str, keys: tuple[str, ...], rank: int, hint: str = "") -> Command:
    return Command(
        id=VERB_COMMANDS[verb],
        title=title,
        help=help,
        keys=keys,
        places=BOTH,
        danger=Danger.ACTS,
        permission=Permission.QUEUE_ACT,
        twin=f"queues act ITEM {verb}",
        hint=hint,
        rank=rank,
        judge=_verb(verb),
    )


_CLAIM_COMMANDS = (
    Command(
        id="item.claim",
        title="Claim",
        help="Makes the item yours for the length of a lease; colleagues see it and cannot act on it meanwhile.",
        keys=("c",),
        places=BOTH,
        danger=Danger.CLAIMS,
        permission=Permission.QUEUE_CLAIM,
        twin="queues claim ITEM",
        hint="claim",
        rank=11,
        judge=_claim,
    ),
    Command(
        id="claim.release",
        title="Release claim",
        help="Gives your claim back, so that a colleague can take the item. It moves no money.",
        keys=("u",),
        places=BOTH,
        danger=Danger.CLAIMS,
        permission=Permission.QUEUE_CLAIM,
        twin="queues release-claim ITEM",
        hint="release claim",
        rank=12,
        judge=_own_claim,
    ),
    Command(
        id="claim.renew",
        title="Renew claim",
        help="Keeps your claim for another lease, up to the longest that a claim may last. Only this key renews.",
        keys=("R",),
        places=BOTH,
        danger=Danger.CLAIMS,
        permission=Permission.QUEUE_CLAIM,
        twin="queues renew-claim ITEM",
        rank=21,
        judge=_own_claim,
    ),
    Command(
        id="claim.next",
        title="Claim next",
        help="Claims the first free item of the list on screen, its filter included, and goes to it.",
        keys=("n",),
        places=LIST,
        danger=Danger.CLAIMS,
        permission=Permission.QUEUE_CLAIM,
        twin="queues claim-next QUEUE",
        rank=20,
        judge=_claims,
    ),
    Command(
        id="claim.break",
        title="Break a colleague's claim",
        help="Takes the claim that a colleague holds, with a reason that you both see.",
        keys=("B",),
        places=BOTH,
        danger=Danger.ACTS,
        permission=Permission.QUEUE_CLAIM_BREAK,
        twin="queues break-claim ITEM",
        rank=22,
        judge=_colleagues_claim,
    ),
)

_ACT_COMMANDS = (
    Command(
        id="item.act",
        title="Act …",
        help="Lists everything that can be done to the item in this queue, and why some of it cannot be done now.",
        keys=("a",),
        places=BOTH,
        danger=Danger.ACTS,
        permission=Permission.QUEUE_ACT,
        twin="queues act ITEM USE-CASE",
        hint="act …",
        rank=14,
        judge=_acting,
    ),
    _act(
        "set-aside",
        title="Set aside",
        help="Takes the item out of the waiting list until a time that you name, with a reason.",
        keys=("s",),
        rank=14,
    ),
    _act(
        "reject",
        title="Reject",
        help="Closes the item without doing what it asks for, with a reason that stays in its history.",
        keys=("x",),
        rank=15,
    ),
    _act("note", title="Note", help="Adds a note to the item's history.", keys=("m",), rank=23),
    _act(
        "hand-over",
        title="Hand over",
        help="Gives your claim to a colleague, with a reason; they hold the item from then on.",
        keys=("h",),
        rank=24,
    ),
    _act("resolve", title="Resolve", help="Closes the item as settled, with a reason.", keys=("o",), rank=25),
    _act(
        "ask-evidence",
        title="Ask for evidence",
        help="Asks for what is missing; the item stays open and says so.",
        keys=("e",),
        rank=26,
    ),
)

_LIST_COMMANDS = (
    Command(
        id="item.open",
        title="Open",
        help="Shows everything of the item: its payment, history of claims and acts, and what was sent along.",
        keys=("enter",),
        places=LIST,
        permission=Permission.QUEUE_READ,
        twin="queues show ITEM",
        hint="open",
        rank=10,
        judge=_selected,
    ),
    Command(
        id="mark.toggle",
        title="Mark",
        help="Marks the row, or takes its mark away. Marks stay on their items through every refresh and every filter.",
        keys=("space",),
        places=LIST,
        hint="mark",
        rank=13,
        judge=_markable,
    ),
    Command(
        id="mark.range",
        title="Mark up to here",
        help="Marks every row from the last one marked to the cursor.",
        keys=("M",),
        places=LIST,
        rank=30,
        judge=_markable,
    ),
    Command(
        id="mark.all",
        title="Mark all that match",
        help="Marks everything that waits and matches the filter, loaded or not; the service counts and freezes it.",
        keys=("*",),
        places=LIST,
        rank=30,
        judge=_queue,
    ),
    Command(
        id="mark.clear",
        title="Clear marks",
        help="Takes every mark away; so does going back while rows are marked.",
        keys=("U",),
        places=LIST,
        rank=31,
        judge=_marked,
    ),
    Command(
        id="view.next",
        title="Next view",
        help="Goes from what is waiting to what is set aside, to what is closed, and back.",
        keys=("v",),
        places=LIST,
        permission=Permission.QUEUE_READ,
        twin="queues items QUEUE --view VIEW",
        hint="view",
        rank=32,
        judge=_queue,
    ),
    Command(
        id="detail.fold",
        title="Fold the detail",
        help="Hides the detail of the item under the cursor, or shows it again; the row keeps its inputs.",
        keys=("d",),
        places=LIST,
        rank=33,
    ),
    Command(
        id="queue.next",
        title="Next queue",
        help="Shows the next queue.",
        keys=("]",),
        places=LIST,
        permission=Permission.QUEUE_READ,
        twin="queues",
        rank=34,
        judge=_queue,
    ),
    Command(
        id="queue.previous",
        title="Previous queue",
        help="Shows the queue before.",
        keys=("[",),
        places=LIST,
        permission=Permission.QUEUE_READ,
        twin="queues",
        rank=35,
        judge=_queue,
    ),
    Command(
        id="row.next",
        title="Next row",
        help="Moves the cursor down, as the arrow does.",
        keys=("j",),
        places=ROWS,
        rank=60,
    ),
    Command(
        id="row.previous",
        title="Previous row",
        help="Moves the cursor up, as the arrow does.",
        keys=("k",),
        places=ROWS,
        rank=61,
    ),
    Command(
        id="item.copy-id",
        title="Copy the item's id",
        help="Puts the id of the item on the clipboard of your terminal (OSC 52), and shows it.",
        keys=("y",),
        places=BOTH,
        rank=36,
        judge=_selected,
    ),
)

QUEUE_COMMANDS: tuple[Command, ...] = (*_LIST_COMMANDS, *_CLAIM_COMMANDS, *_ACT_COMMANDS)
"""Every command of the queues, as a reader would look for them: looking, claiming, acting."""
