"""What marking and fencing the rows of a plan writes: no index gets another entry for any of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from psycopg.types.json import Jsonb

from jobcontract.plans import PlanOrder
from jobservice.store.plan_warnings import UNUSUAL_TIMES
from jobservice.store.statements import statement
from jobservice.usecases import plans
from tests.usecases.desk import PAYOUTS, RELEASE_MANY, Desk, once, payout
from tests.usecases.desk import desk as new_desk

pytestmark = [pytest.mark.requirement("MONEY-11"), pytest.mark.requirement("MONEY-18")]
ITEMS = 60

COPY = """
insert into jobs.plan_items (
    plan, item, tenant, number, money_version, fence, title, amount_minor, currency, payee_id, payee_name, account,
    account_mark, inputs
)
select
    %(plan)s, item, tenant, number, money_version, fence, title, amount_minor, currency, payee_id, payee_name, account,
    account_mark, inputs
from jobs.plan_items
where plan = %(of)s
"""
COUNTED = """
select
    pg_stat_get_xact_tuples_updated('jobs.plan_items'::regclass),
    pg_stat_get_xact_tuples_hot_updated('jobs.plan_items'::regclass)
"""


@pytest.fixture
def desk(database: Any, people: Any) -> Desk:
    return new_desk(database, people)


def written(desk: Desk, name: str, values: Mapping[str, object], *, before: str | None = None) -> tuple[int, int]:
    """How many rows of plans a statement wrote, and how many of them without an entry of an index."""
    connection = desk.people.connection
    with connection.transaction():
        if before is not None:
            connection.execute(before.encode(), values)
        first = _counted(connection)  # what earlier transactions wrote is still in it where they are a moment old
        connection.execute(statement(name), values)
        last = _counted(connection)
    return last[0] - first[0], last[1] - first[1]


def _counted(connection: psycopg.Connection[Any]) -> tuple[int, int]:
    row = connection.execute(COUNTED.encode()).fetchone()
    assert row is not None
    return tuple(row)


async def test_what_is_odd_about_a_row_and_the_fence_of_its_hold_are_written_within_its_page(desk: Desk) -> None:
    for number in range(ITEMS):
        await desk.push(new=payout(f"K-{number}", 500 + number))
    order = PlanOrder(command=RELEASE_MANY, filter="")
    made = dict((await plans.make(desk.service, desk.actor("m.ito"), PAYOUTS, order, once())).body)
    values: dict[str, object] = {
        "of": made["id"],
        "plan": uuid4(),
        "tenant": "acme",
        "seconds": 86_400.0,
        "times": UNUSUAL_TIMES,
    }
    values |= {"alike": Jsonb({}), "above": Jsonb({})}
    assert written(desk, "plan_warnings/make", values, before=COPY) == (ITEMS, ITEMS), "a first payment, each"
    assert written(desk, "plan_warnings/make", values) == (0, 0), "each says so already"
    # Of a copy that nothing wrote over: somebody who looks at the first would keep its room for a while.
    assert written(desk, "confirming/raise_fences", values | {"plan": uuid4()}, before=COPY) == (ITEMS, ITEMS)
