"""The statements of items under the API's role: claim next walks the free ones alone, and no tenant sees no rows."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, NamedTuple

import psycopg
import pytest

from jobservice.store.filters import keep_order
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


async def scans(database: Any, name: str, *, filtered: object = False, **parameters: object) -> list[Scan]:
    """How a statement reads jobs.items, as the API's role in acme: node type, index, index condition.

    `filtered`: in a transaction that has read a filter.
    """
    async with database.transaction("acme") as transaction:
        if filtered:
            await keep_order(transaction)
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


FREE: dict[str, object] = {
    "queue": "t.payouts",
    "now": datetime.now(UTC),
    "filter": None,
    "currency": None,
    "customers": None,
    "workspaces": None,
}


@pytest.mark.requirement("order-queue-items-by-score")
async def test_claim_next_walks_the_free_items_alone(
    database: Any, people: Any, superuser: psycopg.Connection[Any]
) -> None:
    fill(superuser, held=True)
    for reach in ({}, {"customers": ["north"]}):
        found = await scans(database, "claims/pick_next", **FREE | reach)
        assert [(each.node, each.walked) for each in found] == [("Index Scan", "items_free")]


async def test_no_tenant_no_rows(database: Any, people: Any, superuser: psycopg.Connection[Any]) -> None:
    superuser.execute(FILL, {"many": 1, "held": False})
    for tenant in (None, "globex"):
        async with database.transaction(tenant) as transaction:
            cursor = await transaction.connection.execute("select count(*) as n from jobs.items")
            assert (await cursor.fetchone()) == {"n": 0}
