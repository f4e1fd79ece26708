"""Owns the statements that warn of what is odd in a plan (MONEY.md 11). The order of kinds and their sentences are the
statement's; decides nothing about who may answer."""

from __future__ import annotations

from collections.abc import Mapping

from psycopg.types.json import Jsonb

from jobservice.store.database import Transaction

UNUSUAL_TIMES = 5
"""From so many times the largest payment before on, an amount is far outside a payee's history."""


async def payees(transaction: Transaction, plan: str) -> list[tuple[str, str]]:
    """Id and name of every payee of the plan, each name once."""
    rows = await transaction.rows("plan_warnings/payees", plan=plan)
    return [(row["payee_id"], row["payee_name"]) for row in rows]


async def make(
    transaction: Transaction, plan: str, *, alike: Mapping[str, str], above: Mapping[str, int], seconds: float
) -> None:
    """Write the warnings of a plan as it is frozen now, and on its rows; answers of before stay with the items that stay.

    `alike`: payee id to the name it looks like; `above`: minor units by currency from which a warning must be answered;
    `seconds`: how far back changes of account and equal payments count.
    """
    await transaction.run(
        "plan_warnings/make",
        plan=plan,
        alike=Jsonb(dict(alike)),
        above=Jsonb(dict(above)),
        seconds=seconds,
        times=UNUSUAL_TIMES,
    )
