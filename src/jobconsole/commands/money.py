"""Owns the commands of money beyond one plan's preview: watching and steering a plan (place `progress`), the plans
(`plans`), what was released (`released`), ending an uncertain payout (`queues`, `item`), and the stop from anywhere.
"""

from __future__ import annotations

from jobconsole.commands.command import Command, Danger
from jobconsole.commands.queues import held_away
from jobconsole.commands.situation import SelectedPlan, Situation
from jobcontract.permissions import Permission
from jobcontract.states import PlanState

PROGRESS = ("progress",)
PLANS = ("plans",)
RELEASED = ("released",)
ITEMS = ("queues", "item")
_BEFORE = frozenset({PlanState.OPEN, PlanState.EXPIRED, PlanState.DROPPED, PlanState.VOIDED})
"""States of a plan of which nothing was ever applied."""


def _selected_plan(situation: Situation) -> str | None:
    return None if situation.plan is not None else "no plan is shown"


def _not_running(plan: SelectedPlan) -> str:
    return "it was not confirmed: nothing of it runs" if plan.state in _BEFORE else f"the plan is {plan.state}"


def _pausable(situation: Situation) -> str | None:
    plan = situation.plan
    if plan is None:
        return _selected_plan(situation)
    if plan.state is PlanState.PAUSED:
        return "it is paused already"
    return None if plan.state.confirmed else _not_running(plan)


def _resumable(situation: Situation) -> str | None:
    plan = situation.plan
    if plan is None:
        return _selected_plan(situation)
    if plan.state is not PlanState.PAUSED:
        return "it is not paused" if plan.state.confirmed else _not_running(plan)
    return "all money is stopped" if situation.stopped else None


def _abortable(situation: Situation) -> str | None:
    plan = situation.plan
    if plan is None:
        return _selected_plan(situation)
    return None if plan.state.confirmed else _not_running(plan)


def _is_live(situation: Situation) -> bool:
    return situation.plan is not None and situation.plan.state.confirmed


def _is_paused(situation: Situation) -> bool:
    return situation.plan is not None and situation.plan.state is PlanState.PAUSED


def _runs(situation: Situation) -> bool:
    return _is_live(situation) and not _is_paused(situation)


def _row(situation: Situation) -> str | None:
    return None if situation.plan is not None and situation.plan.row else "nothing is selected"


def _uncertain(situation: Situation) -> str | None:
    return None if situation.uncertain else "no payout is uncertain"


def _has_uncertain(situation: Situation) -> bool:
    return situation.uncertain > 0


def _has_job(situation: Situation) -> bool:
    return situation.plan is not None and situation.plan.job


def _job(situation: Situation) -> str | None:
    return None if _has_job(situation) else "the plan has submitted no job"


def _stoppable(situation: Situation) -> str | None:
    return "it is stopped already" if situation.stopped else None


def _startable(situation: Situation) -> str | None:
    if situation.stopped_by_me:
        return "you stopped it: another person starts it again"
    return "money is not stopped" if situation.stopped is False else None


def _own(situation: Situation) -> str | None:
    return None if situation.live_plans else "no plan of yours is open or running"


def _asks(situation: Situation) -> bool:
    return situation.item is not None and situation.item.about


def _answerable(situation: Situation) -> str | None:
    item = situation.item
    if item is None:
        return "nothing is selected"
    if not item.about:
        return "the item asks about no payout; the uncertain queue has those"
    return f"the item is {item.state}" if item.state.closed else held_away(item)


def _answerable_unpaid(situation: Situation) -> str | None:
    reason = _answerable(situation)
    if reason is None and situation.item is not None and situation.item.own_payout:
        return "the plan was yours: another person in finance says that it was not paid"
    return reason


UNCERTAIN_COMMANDS: tuple[Command, ...] = (
    Command(
        id="payout.was-paid",
        title="It was paid …",
        help="Ends an uncertain payout: the bank did pay it. Asks for the bank's reference and a reason.",
        keys=("+",),
        places=ITEMS,
        danger=Danger.ACTS,
        permission=Permission.PAYOUT_RELEASE,
        twin="bulk was-paid ITEM --reference REFERENCE --reason REASON",
        hint="was paid",
        rank=11,
        concerns=_asks,
        judge=_answerable,
    ),
    Command(
        id="payout.was-not-paid",
        title="It was not paid …",
        help="Ends an uncertain payout: the bank did not pay it. Asks for a reason and the code of a person who did not "
        "make the plan; it can be planned again, under the same outward key.",
        keys=("-",),
        places=ITEMS,
        danger=Danger.ACTS,
        permission=Permission.PAYOUT_RELEASE,
        twin="bulk was-not-paid ITEM --reason REASON",
        hint="was not paid",
        rank=11,
        concerns=_asks,
        judge=_answerable_unpaid,
    ),
)
"""The two answers to *was this paid?*; no third is offered."""

_STEERING = (
    Command(
        id="plan.pause",
        title="Pause the plan …",
        help="Lets no further item begin, with a reason that everybody sees. What is under way goes on to its end.",
        keys=("p",),
        places=PROGRESS,
        danger=Danger.ACTS,
        permission=Permission.PAYOUT_STOP,
        twin="bulk pause PLAN --reason REASON",
        hint="pause",
        rank=10,
        concerns=_runs,
        judge=_pausable,
    ),
    Command(
        id="plan.resume",
        title="Resume the plan …",
        help="Goes on with a paused plan: takes a fresh code of its owner or of a second person in finance.",
        keys=("r",),
        places=PROGRESS,
        danger=Danger.ACTS,
        permission=Permission.PAYOUT_RELEASE,
        twin="bulk resume PLAN",
        hint="resume",
        rank=11,
        concerns=_is_paused,
        judge=_resumable,
    ),
    Command(
        id="plan.abort",
        title="Abort the plan …",
        help="Ends the plan, with a reason. What was released stays released, what is under way goes on to its end, and "
        "items that had no turn are given back.",
        keys=("A",),
        places=PROGRESS,
        danger=Danger.ACTS,
        permission=Permission.PAYOUT_STOP,
        twin="bulk abort PLAN --reason REASON",
        hint="abort",
        rank=12,
        concerns=_is_live,
        judge=_abortable,
    ),
)

_LOOKING = (
    Command(
        id="plan.review",
        title="Review what is uncertain",
        help="Goes to the queue in which a person says whether an uncertain payout was paid.",
        keys=("u",),
        places=(*PROGRESS, *RELEASED),
        permission=Permission.QUEUE_READ,
        twin="queues items QUEUE",
        hint="review uncertain",
        rank=9,
        concerns=_has_uncertain,
        judge=_uncertain,
    ),
    Command(
        id="plan.open-job",
        title="Open the job of the plan",
        help="Shows the job that the end of the plan submitted, for example its bank file: where it stands, why it failed.",
        keys=("o",),
        places=PROGRESS,
        permission=Permission.JOB_READ,
        twin="jobs show JOB",
        hint="its job",
        rank=10,
        concerns=_has_job,
        judge=_job,
    ),
    Command(
        id="plan.open-item",
        title="Open the item",
        help="Shows everything of the item under the cursor: its payment, its history, what plans did about it.",
        keys=("enter",),
        places=PROGRESS,
        permission=Permission.QUEUE_READ,
        twin="queues show ITEM",
        hint="item",
        rank=13,
        judge=_row,
    ),
    Command(
        id="plan.open",
        title="Open the plan",
        help="Shows the preview of an open plan, or how far a confirmed one is and what came of it.",
        keys=("enter",),
        places=PLANS,
        permission=Permission.PLAN_READ,
        twin="bulk show PLAN",
        hint="open",
        rank=10,
        judge=_selected_plan,
    ),
)

_EVERYWHERE = (
    Command(
        id="plan.mine",
        title="Go to my live plan",
        help="Shows your plan that is open or running, from wherever you are; pressed again, your next one.",
        keys=(".",),
        permission=Permission.PLAN_READ,
        twin="bulk list --mine --live",
        rank=78,
        judge=_own,
    ),
    Command(
        id="money.stop",
        title="Stop all money …",
        help="Stops all money of the tenant, with a reason and no code: no item of any plan begins any more.",
        keys=("!",),
        danger=Danger.ACTS,
        permission=Permission.PAYOUT_STOP,
        twin="money stop --reason REASON",
        rank=79,
        judge=_stoppable,
    ),
    Command(
        id="money.start",
        title="Start money again …",
        help="Lets money move again, with a reason: takes the code of another person than the one who stopped it.",
        keys=("G",),
        danger=Danger.ACTS,
        permission=Permission.PAYOUT_RELEASE,
        twin="money start --reason REASON",
        rank=80,
        judge=_startable,
    ),
)

MONEY_COMMANDS: tuple[Command, ...] = (*_STEERING, *_LOOKING, *_EVERYWHERE)
"""Every other command of this file, as a reader would look for them: steering, looking, everywhere."""
