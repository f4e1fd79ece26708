"""Owns the statements by which a schedule brings payouts of confirmed plans forward: which wait, and that the next try of
one is due now. They write nothing else: no turn, no lease of a plan, no money (`turns.py`, `leases.py`)."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from jobcontract.states import PlanState, Turn
from jobservice.store.database import Transaction
from jobservice.store.occurrence_items import RunLease

FIRST = (UUID(int=0), 0)
"""Before every payout."""
DUE_MOST = 5_000
"""Rows of a plan of which one look says that they are due."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingPayout:
    """A payout that waits to be tried again: its place in the order, the plan's name, its title."""

    plan: UUID
    number: int
    name: str
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Who asked for an occurrence: its rhythm (`by_hand` False), or a person, through `recovery` where there is one."""

    replays: int
    recovery: UUID | None
    by_hand: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How a payout that was not brought forward stands."""

    name: str
    state: PlanState
    window_open: bool
    turn: Turn
    money_stopped: bool
    held_still: bool


async def asked(transaction: Transaction, lease: RunLease) -> Asked | None:
    """Who asked for the occurrence; None where the lease is not ours any more."""
    row = await transaction.row("confirmed_turns/asked", **lease.parameters())
    if row is None:
        return None
    by_hand = row["replays"] > 0 or row["origin"] == "manual" or row["recovery"] is not None
    return Asked(replays=row["replays"], recovery=row["recovery"], by_hand=by_hand)


async def waiting(
    transaction: Transaction, command: str, *, after: tuple[UUID, int], limit: int
) -> tuple[WaitingPayout, ...]:
    """Payouts that wait in applying plans of the command, by plan and number, behind `after`."""
    plan, number = after
    rows = await transaction.rows(
        "confirmed_turns/waiting",
        command=command,
        now=transaction.began_at,
        after_plan=plan,
        after_number=number,
        most=limit,
    )
    return tuple(
        WaitingPayout(plan=UUID(row["plan"]), number=row["number"], name=row["name"], title=row["title"])
        for row in rows
    )


async def lock(transaction: Transaction, plan: UUID, number: int) -> bool:
    """Lock a payout behind its plan; False where there is none."""
    return await transaction.row("confirmed_turns/lock", plan=plan, number=number) is not None


async def forward(transaction: Transaction, lease: RunLease, command: str, plan: UUID, number: int) -> str | None:
    """Make the next try of a locked payout due now; the plan's name, None where nothing was written."""
    row = await transaction.row(
        "confirmed_turns/forward", **lease.parameters(), command=command, plan=plan, number=number
    )
    return None if row is None else str(row["name"])


async def standing(transaction: Transaction, command: str, plan: UUID, number: int) -> Standing | None:
    """How a payout stands that was not brought forward; None where there is none."""
    row = await transaction.row("confirmed_turns/standing", command=command, plan=plan, number=number)
    if row is None:
        return None
    return Standing(
        name=row["name"],
        state=PlanState(row["state"]),
        window_open=row["window_open"],
        turn=Turn(row["turn"]),
        money_stopped=row["money_stopped"],
        held_still=row["held_still"],
    )


async def due(transaction: Transaction, plan: str) -> frozenset[str]:
    """Items of a plan whose wait is over by now, whoever ended it: `DUE_MOST` at the most."""
    rows = await transaction.rows("confirmed_turns/due", plan=plan, now=transaction.began_at, most=DUE_MOST)
    return frozenset(row["item"] for row in rows)
