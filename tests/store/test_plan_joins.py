"""Statements about all rows of a plan never compare each row with each item, whatever the statistics were made of."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import psycopg
import pytest

from jobcontract.plans import DropPlan, PlanOrder, TakeOut
from jobservice.store import confirming, leases
from jobservice.store import plans as plan_store
from jobservice.store.database import Transaction
from jobservice.store.statements import statement
from jobservice.usecases import plans
from tests.usecases.desk import PAYOUTS, RELEASE_MANY, Desk, once, payout
from tests.usecases.desk import desk as new_desk

pytestmark = [pytest.mark.requirement("MONEY-6"), pytest.mark.requirement("MONEY-18")]
ITEMS = 60
WHOLE = frozenset({"plan_rows/give_back", "plan_rows/take_out", "plan_rows/renumber", "plan_rows/extend"})
HELD = frozenset({"confirming/hold_items", "confirming/give_back", "plan_leases/let_go"})


@pytest.fixture
def desk(database: Any, people: Any) -> Desk:
    return new_desk(database, people)


@pytest.fixture
def planned(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The plan of each of the statements, as it was when it ran, by name."""
    seen: dict[str, str] = {}

    def explaining(run: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def explained(self: Transaction, name: str, /, **values: object) -> Any:
            if name in WHOLE | HELD:
                text = "explain " + statement(name)
                rows = await (await self.connection.execute(text, {"tenant": self.tenant, **values})).fetchall()
                seen[name] = "\n".join(row["QUERY PLAN"] for row in rows)
            return await run(self, name, **values)

        return explained

    for method in ("row", "run"):
        monkeypatch.setattr(Transaction, method, explaining(getattr(Transaction, method)))
    return seen


async def a_plan(desk: Desk) -> dict[str, Any]:
    """One of many items, made after statistics were gathered while nobody held anything and there was no plan."""
    for number in range(ITEMS):
        await desk.push(new=payout(f"K-{number}", 500 + number))
    with psycopg.connect(desk.people.connection.info.dsn, autocommit=True) as connection:
        connection.execute("vacuum (analyze) jobs.items, jobs.plan_items")
    order = PlanOrder(command=RELEASE_MANY, filter="")
    return dict((await plans.make(desk.service, desk.actor("m.ito"), PAYOUTS, order, once())).body)


def compares_each_with_each(plan: str) -> bool:
    """Whether two sides are joined by a filter over every pair of them."""
    return any("Join Filter" in line and ".item" in line for line in plan.splitlines())


async def test_taking_out_and_dropping_join_by_hash(desk: Desk, planned: dict[str, str]) -> None:
    plan = await a_plan(desk)
    row = desk.people.connection.execute("select item::text from jobs.plan_items where number = 2").fetchone()
    assert row is not None
    actor = desk.actor("m.ito")
    await plans.take_out(desk.service, actor, plan["id"], TakeOut(items=(row[0],)), once())
    await plans.drop(desk.service, actor, plan["id"], DropPlan(), once())
    assert planned.keys() == WHOLE
    assert [name for name, text in planned.items() if compares_each_with_each(text)] == []
    held = desk.people.connection.execute("select count(*) from jobs.items where holder is not null").fetchone()
    assert held == (0,)


async def test_holding_and_giving_back_join_by_hash(desk: Desk, planned: dict[str, str]) -> None:
    plan = await a_plan(desk)
    async with desk.service.database.transaction("acme") as transaction:
        found = await plan_store.lock(transaction, plan["id"])
        assert found is not None
        assert await confirming.hold(transaction, found, until=transaction.began_at.replace(year=2090)) == ITEMS
        assert await confirming.give_back(transaction, found) == ITEMS
        await leases.let_go(transaction, found.id, owner=found.owner)
        assert planned.keys() == HELD
        assert [name for name, text in planned.items() if compares_each_with_each(text)] == []
        row = await (
            await transaction.connection.execute(
                "select current_setting('enable_nestloop') as nested, current_setting('enable_mergejoin') as merged"
            )
        ).fetchone()
        assert row == {"nested": "on", "merged": "on"}, "what comes after is planned as ever"
