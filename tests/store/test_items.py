"""The statements of items under the API's role: the page walks its index however many rows there are."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any, NamedTuple

import psycopg
import pytest
from psycopg.types.json import Jsonb

from jobcontract.ids import PAGE_MAX
from jobcontract.money import EXPONENTS
from jobcontract.states import ItemView
from jobservice.store import items
from jobservice.store.items import Reach
from jobservice.store.statements import statement

MANY = 20_000
FILL = """
insert into jobs.items
    (tenant, queue, business_key, title, created, amount_minor, currency, payee_id, payee_name, account,
     inputs, pushed_by, changed_by, holder, taken_at, expires_at)
select 'acme', case when n %% 10 = 0 then 't.other' else 't.payouts' end, 'K-' || n, 'Item ' || n,
       jobs.now() - make_interval(secs => n), n, 'GBP', 's', 'S', 'ACCT1234', '{"invoice": "I"}', 'p.push', 'p.push',
       case when %(held)s then 'm.ito' end, case when %(held)s then jobs.now() end,
       case when %(held)s then jobs.now() + interval '1 hour' end
from generate_series(1, %(many)s) as n
"""


class Scan(NamedTuple):
    """How a plan reads jobs.items once."""

    node: str
    walked: str | None
    condition: str
    filter: str


def fill(superuser: psycopg.Connection[Any], *, held: bool = False) -> None:
    superuser.execute(FILL, {"many": MANY, "held": held})
    superuser.execute("analyze jobs.items")


async def scans(database: Any, name: str, **parameters: object) -> list[Scan]:
    """How a statement reads jobs.items, as the API's role in acme: node type, index, index condition."""
    async with database.transaction("acme") as transaction:
        cursor = await transaction.connection.execute(
            "explain (format json) " + statement(name), {"tenant": "acme", **parameters}
        )
        return _scans(await cursor.fetchone())


def _scans(row: Any) -> list[Scan]:
    nodes, found = [row["QUERY PLAN"][0]["Plan"]], []
    while nodes:
        node = nodes.pop()
        nodes += node.get("Plans", [])
        if node.get("Relation Name") == "items":
            found.append(
                Scan(node["Node Type"], node.get("Index Name"), node.get("Index Cond", ""), node.get("Filter", ""))
            )
    return found


FIRST_PAGE: dict[str, object] = {
    "queue": "t.payouts",
    "now": datetime.now(UTC),
    "filter": None,
    "currency": None,
    "after_rank": -(2**63),
    "after_created": "-infinity",
    "after_id": "00000000-0000-0000-0000-000000000000",
    "most": 100,
    "exponents": Jsonb(dict(EXPONENTS)),
    "customers": None,
    "workspaces": None,
}


VIEWS = (("waiting", "items_waiting"), ("set-aside", "items_set_aside"), ("closed", "items_closed"))
FREE: dict[str, object] = {
    "queue": "t.payouts",
    "now": datetime.now(UTC),
    "filter": None,
    "currency": None,
    "customers": None,
    "workspaces": None,
}
ANYWHERE = Reach(customers=None, workspaces=None)


@pytest.mark.requirement("order-unscored-queues-by-age")
async def test_pages_of_twenty_thousand_rows_walk_their_index_and_hold_each_row_once_oldest_first(
    database: Any, people: Any, superuser: psycopg.Connection[Any]
) -> None:
    fill(superuser)
    for view, index in VIEWS:
        (scan,) = await scans(database, "items/page", view=view, **FIRST_PAGE)
        assert (scan.node, scan.walked) == ("Index Scan", index)
        assert "ROW(rank, created, id) > ROW(" in scan.condition, "one row comparison"
    seen: list[tuple[str, str]] = []
    after: items.Place | None = None
    async with database.transaction("acme") as transaction:
        while True:
            page = await items.page(transaction, "t.payouts", ItemView.WAITING, ANYWHERE, after=after, limit=PAGE_MAX)
            seen += [(each["created"], each["id"]) for each in json.loads(page.json)]
            if not page.more:
                break
            after = page.last
        assert await _generic_plans(transaction) == 0, "a plan that knows no values sorts the whole queue"
    assert len(seen) == len(set(seen)) == MANY * 9 // 10
    assert seen == sorted(seen)


async def _generic_plans(transaction: Any) -> int:
    """How often the prepared page ran by a plan that knows no values."""
    cursor = await transaction.connection.execute(
        "select custom_plans, generic_plans from pg_prepared_statements where statement like %s",
        ("-- One page of a view%",),
    )
    row = await cursor.fetchone()
    assert row["custom_plans"] > 5, "PostgreSQL had a reason to try another plan"
    return int(row["generic_plans"])


async def test_claim_next_walks_the_free_items_alone(
    database: Any, people: Any, superuser: psycopg.Connection[Any]
) -> None:
    fill(superuser, held=True)
    found = await scans(database, "claims/next_free", **FREE)
    assert [(each.node, each.walked) for each in found] == [("Index Scan", "items_free")]


async def test_no_tenant_no_rows(database: Any, people: Any, superuser: psycopg.Connection[Any]) -> None:
    superuser.execute(FILL, {"many": 1, "held": False})
    for tenant in (None, "globex"):
        async with database.transaction(tenant) as transaction:
            cursor = await transaction.connection.execute("select count(*) as n from jobs.items")
            assert (await cursor.fetchone()) == {"n": 0}
