"""Owns the statements of confirming and steering a plan: its items locked and compared, held, given back; its state;
what a person says of an uncertain payout. Decides nothing.

All of them work on sets: a plan may have 50,000 items.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from jobcontract.states import ItemState, PlanState, Turn
from jobservice.rules.confirming import ChangedRow
from jobservice.rules.items import Content, Payment, Version
from jobservice.rules.keys import Signature
from jobservice.store.database import Row, Transaction
from jobservice.store.items import LockedItem, content_of
from jobservice.store.plan_joins import whole_plan
from jobservice.store.plans import LockedPlan

WITHOUT_TURN = (Turn.NOT_STARTED, Turn.WAITING)
"""Turns of items that the bank has not been asked to pay: an abort gives them back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedRows:
    """Rows that are no longer as they were frozen, by number, and how many there are of them."""

    rows: tuple[ChangedRow, ...]
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """The uncertain payout that a review item asks about, its plan, and whether a person has answered for it."""

    plan: str
    plan_name: str
    plan_version: int
    owner: str
    queue: str
    item: str
    title: str
    turn: Turn
    answered: bool


async def lock_items(transaction: Transaction, plan: str, turns: Collection[Turn] = (Turn.NOT_STARTED,)) -> None:
    """Lock the items of a locked plan whose turn is one of these, in the order of their ids."""
    await transaction.row("confirming/lock_items", plan=plan, turns=[turn.value for turn in turns])


async def changed_rows(
    transaction: Transaction, plan: LockedPlan, states: Collection[ItemState], *, most: int
) -> ChangedRows:
    """Which items of a plan are no longer as it froze them, or not in one of `states`; look only after `lock_items`."""
    rows = await transaction.rows(
        "confirming/changed_items",
        plan=plan.id,
        queue=plan.queue,
        owner=plan.owner,
        states=[state.value for state in states],
        most=most,
    )
    return ChangedRows(
        rows=tuple(_changed(row, plan.owner) for row in rows), count=int(rows[0]["total"]) if rows else 0
    )


def _changed(row: Row, owner: str) -> ChangedRow:
    after = Version(
        number=row["money_version"],
        state=ItemState(row["state"]),
        set_aside_until=row["set_aside_until"],
        content=content_of(row),
    )
    before = Version(
        number=row["frozen_version"],
        state=ItemState(row["frozen_state"] or row["state"]),
        set_aside_until=row["frozen_set_aside_until"],
        content=Content(
            title=row["frozen_title"],
            payment=Payment(
                minor=row["frozen_minor"],
                currency=row["frozen_currency"],
                payee_id=row["frozen_payee_id"],
                payee_name=row["frozen_payee_name"],
                account=row["frozen_account"],
            ),
            inputs=row["inputs"] if row["frozen_inputs"] is None else row["frozen_inputs"],
        ),
    )
    return ChangedRow(
        number=row["number"],
        item=row["item"],
        title=row["frozen_title"],
        before=before,
        after=after,
        claimed=row["claimed"],
        holder_name=row["holder_name"],
        pushed_by_owner=row["pushed_by"] == owner,
        changed_by_owner=row["payment_changed_by"] == owner,
    )


async def unanswered(transaction: Transaction, plan: str) -> int:
    """How many warnings of a plan wait for an answer."""
    row = await transaction.row("confirming/unanswered", plan=plan)
    return 0 if row is None else int(row["unanswered"])


async def hold(transaction: Transaction, plan: LockedPlan, *, until: datetime) -> int:
    """Move the items of a plan into its hold, under raised fences; how many that were."""
    async with whole_plan(transaction):
        held = await transaction.run("confirming/hold_items", plan=plan.id, owner=plan.owner, until=until)
    await transaction.run("confirming/raise_fences", plan=plan.id)
    return held


async def confirm(
    transaction: Transaction,
    plan: LockedPlan,
    *,
    now: datetime,
    armed_until: datetime | None,
    apply_until: datetime,
    signature: Signature,
) -> int | None:
    """Write that a locked plan was confirmed; its new version, or None where its queue or command is held still."""
    state = PlanState.APPLYING if armed_until is None else PlanState.ARMED
    row = await transaction.row(
        "confirming/confirm",
        plan=plan.id,
        version=plan.version,
        state=state.value,
        now=now,
        armed_until=armed_until,
        apply_until=apply_until,
        signing_key=signature.key_id,
        signature=signature.signature,
    )
    return None if row is None else int(row["version"])


async def steer(
    transaction: Transaction,
    plan: LockedPlan,
    state: PlanState,
    *,
    by: str | None = None,
    reason: str | None = None,
    ended_at: datetime | None = None,
) -> int:
    """Write another state of a locked plan, by whom and why; its new version. RuntimeError where it is not as it was
    locked."""
    row = await transaction.row(
        "confirming/steer",
        plan=plan.id,
        version=plan.version,
        was=plan.state.value,
        state=state.value,
        by=by,
        reason=reason,
        ended_at=ended_at,
    )
    return _written(row, plan)


def _written(row: Row | None, plan: LockedPlan) -> int:
    if row is None:
        raise RuntimeError(f"plan {plan.id} is no longer as it was locked")
    return int(row["version"])


async def give_back(transaction: Transaction, plan: LockedPlan) -> int:
    """Give back the items of an aborted plan that the bank was not asked to pay; how many. After `lock_items`."""
    async with whole_plan(transaction):
        return await transaction.run(
            "confirming/give_back",
            plan=plan.id,
            owner=plan.owner,
            turns=[turn.value for turn in WITHOUT_TURN],
        )


async def review(transaction: Transaction, item: LockedItem) -> Review | None:
    """What a locked review item asks about, locked too; None where it is no review item."""
    row = await transaction.row("confirming/review", item=item.id)
    if row is None:
        return None
    return Review(
        plan=row["plan"],
        plan_name=row["plan_name"],
        plan_version=row["version"],
        owner=row["owner"],
        queue=row["queue"],
        item=row["item"],
        title=row["title"],
        turn=Turn(row["turn"]),
        answered=row["answered"],
    )


async def add_evidence(
    transaction: Transaction, asked: Review, *, person: str, turn: Turn, sentence: str, reference: str | None
) -> None:
    """Keep what a person says became of an uncertain payout; the Worker writes it."""
    await transaction.run(
        "confirming/add_evidence",
        plan=asked.plan,
        item=asked.item,
        person=person,
        outcome=turn.value,
        sentence=sentence,
        reference=reference,
    )
