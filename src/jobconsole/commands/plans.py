"""Owns the commands of plans: making one from a queue's list (place `queues`), and looking at one (place `plan`)."""

from __future__ import annotations

from jobconsole.commands.command import Command, Danger
from jobconsole.commands.situation import SelectedPlan, Situation
from jobcontract.permissions import Permission
from jobcontract.states import PlanState

LIST = ("queues",)
PLAN = ("plan",)
BOTH = ("plan", "progress")


def _plannable(situation: Situation) -> str | None:
    if situation.queue is None:
        return "no queue is shown"
    if not situation.bulk:
        return "this queue has no bulk command"
    if situation.marked or situation.all_marked:
        return None
    item = situation.item
    if item is None:
        return "nothing is selected"
    if item.state.closed:
        return f"the item is {item.state}"
    if item.plan_held:
        return f"it is held by plan {item.plan} until its turn"
    if item.holder is not None and not item.mine:
        return f"{item.holder} holds it"
    return None


def _plan(situation: Situation) -> str | None:
    return None if situation.plan is not None else "no plan is shown"


def _row(situation: Situation) -> str | None:
    return None if situation.plan is not None and situation.plan.row else "nothing is selected"


def _own_open(plan: SelectedPlan | None) -> str | None:
    if plan is None:
        return "no plan is shown"
    if plan.state is not PlanState.OPEN:
        return f"the plan is {plan.state}"
    return None if plan.mine else f"it is {plan.owner}'s plan"


def _droppable(situation: Situation) -> str | None:
    return _own_open(situation.plan)


def _removable(situation: Situation) -> str | None:
    return _own_open(situation.plan) or _row(situation)


def _answerable(situation: Situation) -> str | None:
    plan = situation.plan
    if plan is None or _own_open(plan) is not None:
        return _own_open(plan)
    if plan.warning is None:
        return "no warning is selected"
    return None if plan.warning else "the warning has its answer"


def _confirmable(situation: Situation) -> str | None:
    plan = situation.plan
    if plan is None or _own_open(plan) is not None:
        return _own_open(plan)
    if plan.unfit:
        return plan.unfit
    if not plan.count:
        return "nothing is left in it"
    if plan.checked < plan.count:
        return f"checked {plan.checked:,} of {plan.count:,}"
    if plan.to_answer:
        waits = "1 warning waits" if plan.to_answer == 1 else f"{plan.to_answer:,} warnings wait"
        return f"{waits} for an answer"
    return None if plan.shown else "not while the plan was never shown"


def _renewable(situation: Situation) -> str | None:
    plan = situation.plan
    if plan is None or not plan.mine:
        return _own_open(plan) if plan is None or plan.state is PlanState.OPEN else f"it is {plan.owner}'s plan"
    if plan.state.confirmed or plan.state in (PlanState.DONE, PlanState.ABORTED, PlanState.LAPSED):
        return f"the plan is {plan.state}"
    return None


def _read(situation: Situation) -> str | None:
    plan = situation.plan
    if plan is None or plan.checked >= plan.count or plan.unfit:
        return _plan(situation)
    return f"not before every row was read ({plan.checked:,} of {plan.count:,})"


PLAN_COMMANDS: tuple[Command, ...] = (
    Command(
        id="plan.make",
        title="Plan the release of payouts …",
        help="Freezes the marked rows, all that match, or the row under the cursor as a plan to look at. It releases "
        "nothing: that takes a code from your phone.",
        keys=("P",),
        places=LIST,
        danger=Danger.CLAIMS,
        permission=Permission.PAYOUT_RELEASE,
        twin="bulk plan QUEUE ITEM",
        hint="plan release…",
        rank=12,
        judge=_plannable,
    ),
    Command(
        id="plan.keep",
        title="Answer the warning: keep it in",
        help="Answers the warning under the cursor, or the first open one of the row, with the reason why it stays in.",
        keys=("a",),
        places=PLAN,
        danger=Danger.ACTS,
        permission=Permission.PAYOUT_RELEASE,
        twin="bulk keep-in PLAN WARNING --reason REASON",
        hint="answer",
        rank=10,
        judge=_answerable,
    ),
    Command(
        id="plan.take-out",
        title="Take the item out",
        help="Takes the item out of the plan and gives its claim back; the plan is frozen anew under its name.",
        keys=("t",),
        places=PLAN,
        danger=Danger.CLAIMS,
        permission=Permission.PAYOUT_RELEASE,
        twin="bulk take-out PLAN ITEM",
        hint="take out",
        rank=11,
        judge=_removable,
    ),
    Command(
        id="plan.confirm",
        title="Confirm with a code …",
        help="Asks for the six digits from your phone, and releases exactly what the plan shows. Every row must have "
        "been checked and every warning answered.",
        keys=("C",),
        places=PLAN,
        danger=Danger.ACTS,
        permission=Permission.PAYOUT_RELEASE,
        twin="bulk confirm PLAN",
        hint="confirm with code",
        rank=12,
        judge=_confirmable,
    ),
    Command(
        id="plan.export",
        title="Export the plan",
        help="Writes every row to a new CSV file in the folder in which the console was started; the service records it.",
        keys=("x",),
        places=BOTH,
        permission=Permission.PLAN_READ,
        twin="bulk show PLAN --csv",
        hint="export",
        rank=13,
        judge=_plan,
    ),
    Command(
        id="plan.drop",
        title="Drop the plan …",
        help="Gives the plan up after asking; the claims that it took are given back. Nothing was released.",
        keys=("X",),
        places=PLAN,
        danger=Danger.ACTS,
        permission=Permission.PAYOUT_RELEASE,
        twin="bulk drop PLAN",
        hint="drop plan",
        rank=14,
        judge=_droppable,
    ),
    Command(
        id="plan.make-anew",
        title="New plan of the same set",
        help="Freezes the same items, or what matches the same filter now, as a new plan; an open one is dropped first.",
        keys=("n",),
        places=PLAN,
        danger=Danger.CLAIMS,
        permission=Permission.PAYOUT_RELEASE,
        rank=15,
        judge=_renewable,
    ),
    Command(
        id="plan.list",
        title="Next list",
        help="Goes from the items of the plan to what is excluded and why, to its warnings, and back.",
        keys=("tab",),
        places=PLAN,
        permission=Permission.PLAN_READ,
        twin="bulk show PLAN --exclusions --warnings",
        rank=16,
        judge=_plan,
    ),
    Command(
        id="plan.show-row",
        title="Go to the row",
        help="Goes from a warning to the row that it is about.",
        keys=("enter",),
        places=PLAN,
        rank=17,
        judge=_row,
    ),
    Command(
        id="plan.sort",
        title="Sort",
        help="Goes on to the next order: by number, largest first, by payee, warnings first.",
        keys=("s",),
        places=PLAN,
        permission=Permission.PLAN_READ,
        hint="sort",
        rank=20,
        judge=_read,
    ),
    Command(
        id="plan.search",
        title="Search the plan …",
        help="Leaves the rows that hold what you type in payee, title, key, last four or amount. Back clears it.",
        keys=("/",),
        places=PLAN,
        permission=Permission.PLAN_READ,
        hint="search",
        rank=21,
        judge=_read,
    ),
)
"""Every command of plans, as a reader would look for them."""
