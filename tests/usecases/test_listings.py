"""Listings as people read them: the order, where a page may begin, both ways, and what a walk promises while others work."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest
from pydantic import TypeAdapter

from jobcontract.errors import ErrorCode
from jobcontract.items import Item
from jobcontract.states import ItemView
from jobservice.usecases import listings
from jobservice.usecases.listings import Asked, ListedPage, Mark, list_items
from tests.usecases.desk import PAYOUTS, SCORED, Desk, in_days, payout, refused_with

pytestmark = pytest.mark.requirement("order-queue-items-by-score")

ROWS = TypeAdapter(tuple[Item, ...])
XID = "pg_current_xact_id()::text::bigint"
FILL = """
insert into jobs.items (tenant, queue, business_key, title, created, amount_minor, currency, payee_id, payee_name,
    account, pushed_by, changed_by, rank)
select 'acme', %(queue)s, 'K-' || n, 'Item ' || n, jobs.now() - make_interval(mins => n), n, 'GBP', 's', 'S', 'ACCT1234',
    'p.push', 'p.push', -(n %% 10)
from generate_series(1, %(many)s) as n
returning id::text
"""


async def page(desk: Desk, mark: Mark | None = None, *, start: str | None = None, **asked: Any) -> ListedPage:
    """One page, as m.ito sees it."""
    wanted = Asked(**({"queue": SCORED} | asked))
    return await list_items(desk.service, desk.actor("m.ito"), wanted, start=start, mark=mark)


def keys(found: ListedPage) -> list[str | None]:
    """Business keys of a page's rows."""
    return [row.key for row in ROWS.validate_json(found.json)]


def ids(found: ListedPage) -> list[str]:
    """Ids of a page's rows."""
    return [row.id for row in ROWS.validate_json(found.json)]


async def walk(
    desk: Desk, between: Callable[[int], None] = lambda _: None, **asked: Any
) -> tuple[list[str], list[str]]:
    """Follow `next` to its end, and let others work before each further page: ids of the pages, and of the catch-up."""
    rows: list[str] = []
    moved: list[str] = []
    found = await page(desk, **asked)
    number = 0
    while True:
        (moved if found.catch_up else rows).extend(ids(found))
        if found.next is None:
            return rows, moved
        number += 1
        between(number)
        found = await page(desk, found.next, **asked)


def fill(superuser: psycopg.Connection[Any], many: int, queue: str = SCORED) -> list[str]:
    """So many items with ten scores, older ones later in the numbers; their ids."""
    return [row[0] for row in superuser.execute(FILL, {"queue": queue, "many": many}).fetchall()]


def place(connection: psycopg.Connection[Any], ranks: dict[str, int]) -> None:
    """Give items other ranks, as everything that scores does."""
    connection.execute(
        f"update jobs.items as i set rank = g.rank, placed_xid = {XID}"
        " from unnest(%s::uuid[], %s::bigint[]) as g (id, rank) where i.id = g.id",
        (list(ranks), list(ranks.values())),
    )


@contextmanager
def colleague(database_url: Callable[[str], str]) -> Iterator[psycopg.Connection[Any]]:
    """Another connection, with a transaction that only ends when it is told to."""
    with psycopg.connect(database_url("jobs_owner")) as connection:
        connection.execute("select set_config('jobs.tenant', 'acme', false)")
        yield connection


async def test_the_highest_score_is_first_then_the_oldest_then_the_id(desk: Desk) -> None:
    days = {"old": 9, "older": 20, "new": 1, "large": 1}
    for key, age in days.items():
        created = datetime.fromisoformat(in_days(-age, datetime.now(UTC)))
        await desk.push(SCORED, payout(key, 200_000 if key == "large" else 5, created=created))
    assert keys(await page(desk)) == ["large", "older", "old", "new"]
    same = datetime(2026, 1, 1, tzinfo=UTC)
    twins = sorted([(await desk.push(SCORED, payout(f"twin-{n}", created=same)))["id"] for n in range(3)])
    assert [each for each in ids(await page(desk)) if each in twins] == twins


@pytest.mark.requirement("order-unscored-queues-by-age")
async def test_pages_join_both_ways_and_know_their_ends(desk: Desk, superuser: psycopg.Connection[Any]) -> None:
    every = fill(superuser, 10, PAYOUTS)
    superuser.execute("update jobs.items set rank = 0")
    oldest_first = every[::-1]
    first = await page(desk, queue=PAYOUTS, limit=4)
    assert (ids(first), first.previous, first.catch_up) == (oldest_first[:4], None, False)
    second = await page(desk, first.next, queue=PAYOUTS, limit=4)
    last = await page(desk, second.next, queue=PAYOUTS, limit=4)
    assert ids(second) + ids(last) == oldest_first[4:]
    back = await page(desk, last.previous, queue=PAYOUTS, limit=4)
    assert ids(back) == ids(second)
    front = await page(desk, back.previous, queue=PAYOUTS, limit=4)
    assert (ids(front), front.previous) == (oldest_first[:4], None)
    again = await page(desk, front.next, queue=PAYOUTS, limit=4)
    assert ids(again) == ids(second)
    assert await walk(desk, queue=PAYOUTS, limit=4) == (oldest_first, [])
    assert (await page(desk, queue=PAYOUTS, limit=10)).next is None, "nothing can have changed since one snapshot"


async def test_a_page_may_begin_at_the_end_at_a_score_or_at_an_item(
    desk: Desk, superuser: psycopg.Connection[Any]
) -> None:
    fill(superuser, 20)
    whole = keys(await page(desk))
    assert whole[:3] == ["K-19", "K-9", "K-18"]
    assert whole[-2:] == ["K-20", "K-10"]
    last = await page(desk, start="last", limit=3)
    assert (keys(last), last.next) == (whole[-3:], None)
    assert keys(await page(desk, last.previous, limit=3)) == whole[-6:-3]
    scored = await page(desk, start="score:7", limit=3)
    assert keys(scored) == ["K-17", "K-7", "K-16"]
    assert keys(await page(desk, scored.previous, limit=3)) == whole[1:4]
    assert keys(await page(desk, scored.next, limit=3)) == whole[7:10]
    between = await page(desk, start="score:99", limit=3)
    assert (keys(between), between.previous) == (whole[:3], None)
    below = await page(desk, start="score:-1", limit=3)
    assert (keys(below), below.next) == ([], None)
    assert keys(await page(desk, below.previous, limit=3)) == whole[-3:]
    item = await page(desk, start="item:K-16", limit=3)
    assert keys(item) == whole[whole.index("K-16") :][:3]
    assert keys(await page(desk, item.previous, limit=3)) == whole[3:6]
    head = await page(desk, start="item:K-19", limit=3)
    assert (keys(head), head.previous) == (whole[:3], None)
    assert keys(await page(desk, start=f"item:{ids(item)[1]}", limit=1)) == [keys(item)[1]]


async def test_cursors_are_right_after_rows_vanished(desk: Desk, superuser: psycopg.Connection[Any]) -> None:
    every = fill(superuser, 9)
    order = ids(await page(desk))
    assert sorted(order) == sorted(every)
    second = await page(desk, (await page(desk, limit=3)).next, limit=3)
    back = await page(desk, second.previous, limit=3)

    def close(*gone: str) -> None:
        superuser.execute(
            f"update jobs.items set state = 'resolved', closed_at = jobs.now(), placed_xid = {XID}"
            " where id = any(%s::uuid[])",
            (list(gone),),
        )

    close(*order[:3])
    alone = await page(desk, second.previous, limit=3)
    assert (ids(alone), alone.previous) == ([], None), "nothing stands before it any more"
    assert ids(await page(desk, alone.next, limit=3)) == order[3:6]
    again = await page(desk, back.next, limit=3)
    assert (ids(again), again.previous) == (order[3:6], None), "this page begins the list now"
    close(*order[6:])
    tail = await page(desk, second.next, limit=3)
    assert ids(tail) == []
    assert ids(await page(desk, tail.previous, limit=3)) == order[3:6]
    caught = await page(desk, tail.next, limit=3)
    assert (ids(caught), caught.catch_up, caught.next) == ([], True, None)


async def test_what_cannot_be_a_start_is_refused_saying_where_the_item_is(desk: Desk) -> None:
    async def refusal(start: str, kind: ErrorCode = ErrorCode.NOT_FOUND, **asked: Any) -> Any:
        return await refused_with(kind, page(desk, start=start, **asked))

    waiting = await desk.push(SCORED, payout("W", customer="north"))
    aside, closed = await desk.push(SCORED, payout("A")), await desk.push(SCORED, payout("C"))
    other = await desk.push(PAYOUTS, payout("O"))
    held = (await desk.claim("m.ito", aside["id"])).body["item"]
    await desk.act("m.ito", held, "set-aside", until="2031-05-06T07:08:09Z", reason="later")
    held = (await desk.claim("m.ito", closed["id"])).body["item"]
    await desk.act("m.ito", held, "reject", reason="no")
    found = await refusal("item:A")
    assert found.detail == "'A' is not in this list. It is set aside until 2031-05-06 07:08:09 UTC."
    assert found.extra == {"where": "set-aside"}
    found = await refusal(f"item:{closed['id']}")
    assert found.detail.endswith("It is closed: rejected.")
    assert (await refusal("item:O")).extra == {"where": PAYOUTS}
    assert (await refusal("item:W", view=ItemView.CLOSED)).detail.endswith("It waits.")
    assert "There is no item 'never'" in (await refusal("item:never")).detail
    foreign = list_items(
        desk.service, desk.actor("m.ito", customers=("south",)), Asked(queue=SCORED), start=f"item:{waiting['id']}"
    )
    assert "There is no item" in (await refused_with(ErrorCode.NOT_FOUND, foreign)).detail
    assert keys(await page(desk, start="item:A", view=ItemView.SET_ASIDE)) == ["A"]
    for start in (
        "score:9",
        "score:x",
        "score:",
        "middle",
        "item:",
        "first:",
        "score:99999999999",
        "item:" + "x" * 201,
    ):
        refused = await refusal(start, ErrorCode.INVALID_REQUEST, queue=PAYOUTS if start == "score:9" else SCORED)
        assert refused.detail.endswith("."), start
    await page(desk, start="score:-7")
    assert other["key"] == "O"
    both = page(desk, ("next",), start="first")
    assert "send one of them" in (await refused_with(ErrorCode.INVALID_REQUEST, both)).detail
    for mark in ((), ("next",), ("sideways", 1, "2026-01-01T00:00:00Z", waiting["id"], "1:1:", "2026-01-01T00:00:00Z")):
        await refused_with(ErrorCode.CURSOR_INVALID, page(desk, mark))


@pytest.mark.parametrize("seed", range(4))
async def test_a_walk_shows_what_stayed_once_and_what_moved_at_least_once(
    desk: Desk,
    superuser: psycopg.Connection[Any],
    database_url: Callable[[str], str],
    monkeypatch: pytest.MonkeyPatch,
    seed: int,
) -> None:
    # Many scores change before each page. A colleague's transaction began before the first page, places rows anew all
    # the while, and ends at another moment with each seed: during the pages, during the catch-up, or never.
    rng = random.Random(seed)  # noqa: S311  # not for secrets
    every = fill(superuser, 240)
    steady = set(rng.sample(every[1:], 60))
    theirs: set[str] = set()
    if seed == 3:
        monkeypatch.setattr(listings, "SNAPSHOT_MOST", 5)
    with colleague(database_url) as slow:
        place(slow, {every[0]: 5})
        theirs.add(every[0])

        def work(number: int) -> None:
            free = [each for each in every if each not in steady and each not in theirs]
            if number <= 20:
                moving = rng.sample(free, min(len(free), len(every) * (30 if number <= 12 else 5) // 100))
                place(superuser, {each: -rng.randrange(-2, 12) for each in moving})
            if number == (7, 13, 15, 99)[seed]:
                slow.commit()
            elif number < (7, 13, 15, 99)[seed]:
                taken = rng.sample(free, min(len(free), 3))
                place(slow, {each: -rng.randrange(-2, 12) for each in taken})
                theirs.update(taken)
            else:
                theirs.clear()

        rows, moved = await walk(desk, work, limit=20)
        slow.rollback()
    assert all(rows.count(each) == 1 for each in steady)
    assert not steady & set(moved) or seed == 3, "a walk that remembers less may repeat"
    assert set(rows) != set(every), "without the catch-up, rows were missed"
    assert set(rows) | set(moved) == set(every)


async def test_a_late_commit_of_an_old_transaction_is_caught_up_too(
    desk: Desk, superuser: psycopg.Connection[Any], database_url: Callable[[str], str]
) -> None:
    every = fill(superuser, 8)
    with colleague(database_url) as slow:
        place(slow, {every[0]: 50})  # has its number before the first page, and keeps it
        ids_in_order = ids(await page(desk))
        victim, movers = max(ids_in_order[2:6]), [each for each in ids_in_order[2:6] if each != every[0]]
        found = await page(desk, limit=2)
        place(superuser, dict.fromkeys(movers, -99))  # to the front, behind the reader
        seen: list[str] = ids(found)
        while not found.catch_up:
            found = await page(desk, found.next, limit=2)
            seen += ids(found)
        assert victim not in seen
        place(slow, {victim: -100})  # now it stands under the number of the old transaction, behind the catch-up
        slow.commit()
        while found.next is not None:
            found = await page(desk, found.next, limit=2)
            seen += ids(found)
    assert set(seen) == set(every)


async def test_a_walk_ends_in_a_database_whose_rows_were_restored_from_another_server(
    desk: Desk, superuser: psycopg.Connection[Any]
) -> None:
    # A dump brings the other server's transaction numbers along, and this one has not counted so far yet.
    restored = fill(superuser, 5)
    superuser.execute("update jobs.items set placed_xid = placed_xid + 1000000000")
    moved = restored[3]

    def between(number: int) -> None:
        assert number < 9, "the walk does not end"
        if number == 1:
            place(superuser, {moved: -99})

    rows, caught_up = await walk(desk, between, limit=2)
    assert set(rows) | {moved} == set(restored)
    assert caught_up == [moved]


async def test_what_comes_back_from_set_aside_during_a_walk_is_caught_up(
    desk: Desk, superuser: psycopg.Connection[Any], clock: Any
) -> None:
    every = fill(superuser, 8)
    front = (await page(desk, limit=1)).next
    assert front is not None
    order = ids(await page(desk))
    for index, minutes in ((0, 5), (7, 5), (1, 60)):
        superuser.execute(
            "update jobs.items set set_aside_until = jobs.now() + make_interval(mins => %s) where id = %s",
            (minutes, order[index]),
        )

    def later(number: int) -> None:
        if number == 2:
            clock.advance(301)

    rows, moved = await walk(desk, later, limit=2)
    assert rows == order[2:], "one came back before the reader passed its place"
    assert moved == sorted([order[0], order[7]]), "both came back since"
    assert order[1] not in moved
    assert len(every) == 8


async def test_everything_that_places_an_item_anew_says_so(desk: Desk, superuser: psycopg.Connection[Any]) -> None:
    def placed(key: str) -> int:
        row = superuser.execute("select placed_xid from jobs.items where business_key = %s", (key,)).fetchone()
        assert row is not None
        return int(row[0])

    async def held(key: str) -> dict[str, Any]:
        (row,) = [each for each in ROWS.validate_json((await page(desk)).json) if each.key == key]
        return dict((await desk.claim("m.ito", row.id)).body["item"])

    await desk.push(SCORED, payout("K"))
    before = placed("K")
    item = await held("K")
    item = (await desk.act("m.ito", item, "note", text="seen")).body["item"]
    await desk.release("m.ito", item["id"], item["fence"])
    assert placed("K") == before, "a claim and a note move nothing"
    content: dict[str, Any] = {}
    for more in ({"minor": 2_000}, {"inputs": {"pages": 3}}, {"title": "Other words"}):
        content |= more
        item = await desk.change("K", item["money_version"], **content)
        assert placed("K") > before, more
        before = placed("K")
    acts: dict[str, dict[str, Any]] = {
        "ask-evidence": {"question": "which?"},
        "set-aside": {"until": "2031-01-01T00:00:00Z", "reason": "later"},
    }
    for verb, inputs in acts.items():
        row = (await desk.claim("m.ito", item["id"])).body["item"]
        item = (await desk.act("m.ito", row, verb, **inputs)).body["item"]
        if item["holder"]:
            await desk.release("m.ito", item["id"], item["fence"])
        assert placed("K") > before, verb
        before = placed("K")
    item = (await desk.claim("m.ito", item["id"])).body["item"]
    await desk.act("m.ito", item, "reject", reason="no")
    assert placed("K") > before


async def test_views_other_than_the_waiting_one_are_paged_and_caught_up_too(
    desk: Desk, superuser: psycopg.Connection[Any]
) -> None:
    every = fill(superuser, 6)
    superuser.execute("update jobs.items set state = 'resolved', closed_at = jobs.now()")

    def close_another(number: int) -> None:
        if number == 2:
            superuser.execute(
                "insert into jobs.items (tenant, queue, business_key, title, created, pushed_by, changed_by, rank, state,"
                " closed_at) values ('acme', %s, 'NEW', 'N', jobs.now(), 'p.push', 'p.push', -99, 'resolved', jobs.now())",
                (SCORED,),
            )

    rows, moved = await walk(desk, close_another, limit=2, view=ItemView.CLOSED)
    assert sorted(rows) == sorted(every)
    assert len(moved) == 1
