"""The statements of listings under the API's role: each page walks one index by one row comparison, both ways, however
many rows there are, and the pages join."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from jobcontract.ids import PAGE_MAX
from jobcontract.money import EXPONENTS
from jobcontract.states import ItemView
from jobservice.store import listing as store
from jobservice.store.items import FIRST, Reach
from jobservice.store.listing import LAST, Listing
from tests.store.test_items import MANY, fill, scans

pytestmark = pytest.mark.requirement("order-queue-items-by-score")

ANYWHERE = Reach(customers=None, workspaces=None)
NORTH = Reach(customers=("north",), workspaces=None)
WAITING = Listing(queue="t.payouts", view=ItemView.WAITING, reach=ANYWHERE)
VIEWS = (("waiting", "items_waiting"), ("set-aside", "items_set_aside"), ("closed", "items_closed"))
WAYS = (("items/page", ">="), ("items/page_back", "<="))
REACHES: tuple[dict[str, object], ...] = (
    {"customers": None, "workspaces": None},
    {"customers": ["north"], "workspaces": None},
)


def page_of(view: str, **more: object) -> dict[str, object]:
    """Parameters of a page from the middle."""
    place = {"rank": -50, "created": datetime.now(UTC), "id": "00000000-0000-0000-0000-000000000000"}
    rest = {"now": datetime.now(UTC), "filter": None, "currency": None, "most": 100}
    return {"queue": "t.payouts", "view": view, "exponents": Jsonb(dict(EXPONENTS)), **place, **rest, **more}


def score(superuser: psycopg.Connection[Any]) -> None:
    """Ten thousand filled rows get one of a hundred ranks, so that many are equal; some wait for later or are closed."""
    superuser.execute(
        """
        update jobs.items set rank = -(amount_minor % 100), customer = case when amount_minor % 3 = 0 then 'north' end,
            set_aside_until = case when amount_minor % 7 = 0 then jobs.now() + interval '1 day' end,
            closed_at = case when amount_minor % 11 = 0 then jobs.now() end,
            state = case when amount_minor % 11 = 0 then 'resolved' else state end
        """
    )
    superuser.execute("analyze jobs.items")


async def test_each_page_and_the_catch_up_walk_their_indexes_alone(
    database: Any, people: Any, superuser: psycopg.Connection[Any]
) -> None:
    fill(superuser)
    score(superuser)
    await each_page_walks_one_index_by_one_row_comparison(database)
    await the_catch_up_walks_what_was_placed_anew_and_what_came_back(database)


async def each_page_walks_one_index_by_one_row_comparison(database: Any) -> None:
    for name, sign in WAYS:
        for reach in REACHES:
            for view, index in VIEWS:
                (scan,) = await scans(database, name, **page_of(view, **reach))
                assert (scan.node, scan.walked) == ("Index Scan", index), (name, view, reach)
                assert f"ROW(rank, created, id) {sign} ROW(" in scan.condition
            for view, index in (("waiting", "items_amounts"), ("closed", "items_closed_amounts")):
                by_amount = page_of(view, **reach, currency="GBP") | {"currency": "GBP"}
                (scan,) = await scans(database, name, **by_amount)
                assert (scan.node, scan.walked) == ("Index Scan", index), (name, view, reach)
                assert f"ROW(amount_rank, created, id) {sign} ROW(" in scan.condition


async def the_catch_up_walks_what_was_placed_anew_and_what_came_back(database: Any) -> None:
    since = {"since": "1:1:", "since_at": datetime.now(UTC), "oldest": 2**40, "xid": 0, "id": FIRST[2]}
    for reach in REACHES:
        for view, _ in VIEWS:
            asked = page_of(view, **reach) | since
            found = await scans(database, "items/page_catch_up", **asked)
            by_index = {scan.walked: scan.condition for scan in found}
            assert set(by_index) == {"items_placed", "items_coming_back"}, (view, reach)
            asked["filter"] = Jsonb({"words": "% item%"})
            found = await scans(database, "items/page_catch_up", filtered=True, **asked)
            assert {scan.walked for scan in found} == set(by_index), "a filter makes no part walk the whole queue"
            assert "ROW(placed_xid, id) > ROW(" in by_index["items_placed"]
            assert "placed_xid >= " in by_index["items_placed"]


@pytest.mark.requirement("order-unscored-queues-by-age")
@pytest.mark.parametrize("scored", [False, True])
async def test_pages_of_twenty_thousand_rows_hold_each_once_in_order_both_ways(
    database: Any, people: Any, superuser: psycopg.Connection[Any], scored: bool
) -> None:
    fill(superuser)
    if scored:
        score(superuser)
    async with database.transaction("acme") as transaction:
        forward: list[tuple[int, str, str]] = []
        after: Any = FIRST
        while after is not None:
            page = await store.page(transaction, WAITING, after=after, limit=PAGE_MAX)
            forward += rows_of(page)
            assert page.mark is (after != FIRST)
            after = page.far if page.more else None
        assert await generic_plans(transaction) == 0, "a plan that knows no values sorts the whole queue"
        backward: list[tuple[int, str, str]] = []
        before: Any = LAST
        while before is not None:
            page = await store.page_back(transaction, WAITING, before=before, limit=PAGE_MAX)
            backward = rows_of(page) + backward
            before = page.far if page.more else None
    waiting = superuser.execute(
        "select count(*) from jobs.items where queue = 't.payouts' and closed_at is null and set_aside_until is null"
    ).fetchone()
    assert waiting == (len(forward),)
    assert forward == sorted(set(forward))
    assert backward == forward
    if not scored:
        assert len(forward) == MANY * 9 // 10


def rows_of(page: store.Page) -> list[tuple[int, str, str]]:
    """Rank, own date and id of each row of a page."""
    return [(each["rank"], each["created"], each["id"]) for each in json.loads(page.json)]


async def generic_plans(transaction: Any) -> int:
    """How often the prepared page ran by a plan that knows no values."""
    cursor = await transaction.connection.execute(
        "select custom_plans, generic_plans from pg_prepared_statements where statement like %s",
        ("select%jobs.item_text(%",),
    )
    row = await cursor.fetchone()
    assert row["custom_plans"] > 5, "PostgreSQL had a reason to try another plan"
    return int(row["generic_plans"])


async def test_places_beside_a_place_leave_no_row_between(database: Any, people: Any) -> None:
    place = (-80, "2026-03-01T00:00:00+00:00", "00000000-0000-0000-0000-0000000000ff")
    assert store.just_before(place)[2] == "00000000-0000-0000-0000-0000000000fe"
    assert store.just_after(place)[2] == "00000000-0000-0000-0000-000000000100"
    assert store.just_after(LAST) == LAST
    assert store.just_before(FIRST) == FIRST
