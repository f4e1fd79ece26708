"""Owns the statements of turns: locking what one compares, beginning it, sending, ending it (MONEY.md 3, 4, 18).

Every write carries the plan's lease (holder and fence), the turn's own fence and the item's hold; none written means
that the lease is lost, or that the turn is not what it was. Decides nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from jobcontract.states import ItemState, PlanState, Turn
from jobservice.application import Outcome
from jobservice.rules.items import Content, Payment, Version
from jobservice.rules.turns import Ending, Found, Frozen
from jobservice.store.database import Row, Transaction

ROWS_AT_ONCE = 5_000


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanLease:
    """What every statement under a plan's lease carries."""

    plan: str
    holder: UUID
    fence: int

    def parameters(self) -> dict[str, object]:
        """As parameters of a statement."""
        return {"plan": self.plan, "holder": self.holder, "plan_fence": self.fence}


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRow:
    """A row of a plan: as it was frozen, and how far it is."""

    frozen: Frozen
    turn: Turn
    attempts: int
    turn_fence: int | None
    try_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedTurn:
    """A turn with its item, locked until the transaction ends. `now` was read after the wait."""

    owner: str
    frozen: Frozen
    turn: Turn
    attempts: int
    turn_fence: int | None
    queue: str
    key: str | None
    created: datetime
    version: Version
    pushed_by: str
    payment_changed_by: str | None
    now: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """A turn that was begun, locked again to be ended."""

    turn: Turn
    attempts: int
    turn_fence: int | None


async def rows(transaction: Transaction, plan: str, *, after: int) -> tuple[PlannedRow, ...]:
    """The next rows of a plan after number `after`; none after the last."""
    found = await transaction.rows("turns/rows", plan=plan, after=after, most=ROWS_AT_ONCE)
    return tuple(
        PlannedRow(
            frozen=_frozen(row),
            turn=Turn(row["turn"]),
            attempts=row["attempts"],
            turn_fence=row["turn_fence"],
            try_at=row["try_at"],
        )
        for row in found
    )


async def lock(transaction: Transaction, lease: PlanLease, item: str) -> LockedTurn | None:
    """Lock all that a turn compares and writes, in the order gate, plan, row, item; None where there is no such row."""
    row = await transaction.row("turns/lock", plan=lease.plan, item=item)
    if row is None:
        return None
    return LockedTurn(
        owner=row["owner"],
        frozen=_frozen(row),
        turn=Turn(row["turn"]),
        attempts=row["attempts"],
        turn_fence=row["turn_fence"],
        queue=row["item_queue"],
        key=row["item_key"],
        created=row["item_created"],
        version=Version(
            number=row["item_money_version"],
            state=ItemState(row["item_state"]),
            set_aside_until=row["item_set_aside_until"],
            content=_content(row, "item_"),
        ),
        pushed_by=row["pushed_by"],
        payment_changed_by=row["payment_changed_by"],
        now=row["now"],
    )


async def start(transaction: Transaction, lease: PlanLease, confirmed: Frozen, *, largest: int | None) -> int | None:
    """Begin a locked turn where everything is as it was confirmed; the number of the attempt, else None."""
    payment = confirmed.payment
    row = await transaction.row(
        "turns/start",
        item=confirmed.item,
        number=confirmed.number,
        fence=confirmed.fence,
        money_version=confirmed.money_version,
        business_key=confirmed.key,
        title=confirmed.content.title,
        amount_minor=payment.minor,
        currency=payment.currency,
        payee_id=payment.payee_id,
        payee_name=payment.payee_name,
        account=payment.account,
        largest=largest,
        **lease.parameters(),
    )
    return None if row is None else int(row["attempts"])


async def found(transaction: Transaction, lease: PlanLease, locked: LockedTurn) -> Found | None:
    """All that decides whether a locked turn may begin, to say why it did not; None where the plan is gone."""
    row = await transaction.row("turns/standing", item=locked.frozen.item, **lease.parameters())
    if row is None:
        return None
    return Found(
        plan_state=PlanState(row["plan_state"]),
        plan_ours=bool(row["plan_ours"]),
        window_open=bool(row["window_open"]),
        stopped=row["stopped"],
        held_still=row["held_still"],
        elsewhere=row["elsewhere"],
        owner=locked.owner,
        frozen=locked.frozen,
        turn=locked.turn,
        version=locked.version,
        closed=locked.version.state.closed,
        held=row["held"],
        pushed_by=locked.pushed_by,
        payment_changed_by=locked.payment_changed_by,
    )


async def send(transaction: Transaction, lease: PlanLease, confirmed: Frozen) -> bool:
    """Write that the item goes out now, under its outward key; whether it was written."""
    key = confirmed.outward_key
    return await transaction.run("turns/send", item=confirmed.item, outward_key=key, **lease.parameters()) > 0


async def lock_sent(transaction: Transaction, plan: str, item: str) -> Begun | None:
    """Lock a turn and its item, to write how it ended."""
    row = await transaction.row("turns/lock_sent", plan=plan, item=item)
    if row is None:
        return None
    return Begun(turn=Turn(row["turn"]), attempts=row["attempts"], turn_fence=row["turn_fence"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a locked turn is to end: under which fence it stands, whose word that is, and what the trail calls it."""

    plan: str
    item: str
    was: Turn
    turn_fence: int | None
    action: str
    outward_key: str
    lease: PlanLease | None = None
    said_by: str | None = None
    """Who said so, where it was uncertain; else the lease counts."""

    def parameters(self) -> dict[str, object]:
        """As parameters of a statement."""
        return {
            "plan": self.plan,
            "item": self.item,
            "was": self.was.value,
            "turn_fence": self.turn_fence,
            "action": self.action,
            "outward_key": self.outward_key,
            "said_by": self.said_by,
            "holder": None if self.lease is None else self.lease.holder,
            "plan_fence": None if self.lease is None else self.lease.fence,
        }


async def end(transaction: Transaction, ended: Ended, ending: Ending) -> bool:
    """Write how a locked turn ended, with all that follows on its item; whether it was written."""
    told = {"sentence": ending.sentence, "reference": ending.reference, **ended.parameters()}
    if ending.turn is Turn.DONE:
        return await transaction.run("turns/release", **told) > 0
    return await transaction.run("turns/settle", turn=ending.turn.value, after=ending.after_seconds, **told) > 0


async def ask(transaction: Transaction, plan: str, item: str, *, queue: str) -> bool:
    """Add the item that asks people whether an uncertain payout was paid; whether there was none yet."""
    return await transaction.run("turns/ask", plan=plan, item=item, queue=queue) > 0


async def add_evidence(transaction: Transaction, lease: PlanLease, item: str, outcome: Outcome, *, source: str) -> None:
    """Keep an answer that came too late to count."""
    await transaction.run(
        "turns/add_evidence",
        plan=lease.plan,
        item=item,
        worker=lease.holder,
        fence=lease.fence,
        source=source,
        outcome=outcome.kind.value,
        sentence=outcome.sentence,
        reference=outcome.reference,
    )


async def said(transaction: Transaction, *, most: int) -> Sequence[Row]:
    """What people said of payouts that are uncertain: plan, item, person, person_name, outcome, sentence, reference."""
    return await transaction.rows("turns/said", most=most)


async def row_version(transaction: Transaction, item: str) -> int:
    """The version of an item's row; 0 where there is none."""
    row = await transaction.row("turns/row_version", item=item)
    return 0 if row is None else int(row["row_version"])


def _frozen(row: Row) -> Frozen:
    return Frozen(
        item=row["item"],
        number=row["number"],
        key=row["business_key"],
        content=_content(row, ""),
        money_version=row["money_version"],
        fence=row["fence"],
        account_mark=row["account_mark"],
    )


def _content(row: Row, prefix: str) -> Content:
    payment = None
    if row[f"{prefix}amount_minor"] is not None:
        payment = Payment(
            minor=row[f"{prefix}amount_minor"],
            currency=row[f"{prefix}currency"],
            payee_id=row[f"{prefix}payee_id"],
            payee_name=row[f"{prefix}payee_name"],
            account=row[f"{prefix}account"],
        )
    return Content(title=row[f"{prefix}title"], payment=payment, inputs=row[f"{prefix}inputs"])
