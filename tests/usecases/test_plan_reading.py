"""Reading plans: the list, pages in every order, search, who may see whose, and the file that leaves."""

from __future__ import annotations

import csv
import io
import json
import uuid
from typing import Any

import pytest

from jobcontract.errors import ErrorCode
from jobcontract.plans import PlanOrder
from jobcontract.states import PlanSort, Turn
from jobservice.usecases import plan_reading, plans
from jobservice.usecases.plan_reading import AskedRows
from tests.usecases.desk import PAYOUTS, RELEASE_MANY, Desk, once, refused_with

pytestmark = pytest.mark.requirement("show-a-preview-before-bulk-money-actions")

ROWS = [
    # title, amount, currency, payee, key
    ("Paper", 500, "GBP", "Zoë Ltd", "R-1"),
    ("Ink", 150_000, "JPY", "Ash & Co", "R-2"),
    ("=SUM(A1)", -300, "GBP", "Ash & Co", None),
    ("Pens", 900, "GBP", "ASH 100% Holding", "R-4"),
]
ADD = """
insert into jobs.items (
    id, tenant, queue, title, created, amount_minor, currency, payee_id, payee_name, business_key, account, pushed_by,
    changed_by, words, customer
)
values (
    %s, 'acme', 't.payouts', %s, jobs.now(), %s, %s, %s, %s, %s, 'GB29NWBK60161331920042', 'p.push', 'p.push', %s, 'north'
)
"""


async def made(desk: Desk, person: str = "m.ito", **more: Any) -> dict[str, Any]:
    """A plan of whatever waits."""
    order = PlanOrder(command=RELEASE_MANY, filter="")
    return dict((await plans.make(desk.service, desk.actor(person, **more), PAYOUTS, order, once())).body)


@pytest.fixture
async def plan(desk: Desk) -> dict[str, Any]:
    """A plan of the rows above, in their order."""
    for number, (title, minor, currency, payee, key) in enumerate(ROWS):
        identifier = uuid.UUID(int=number + 1)  # two made within a millisecond may stand either way round
        words = " " + " ".join(f"{title} {payee} 0042 {key or ''}".casefold().split())
        desk.people.connection.execute(ADD, (identifier, title, minor, currency, payee, payee, key, words))
    return await made(desk)


async def titles(desk: Desk, plan: dict[str, Any], limit: int = 3, **asked: Any) -> list[str]:
    """Titles of all pages."""
    found: list[str] = []
    mark = None
    while True:
        page = await plan_reading.plan_items(
            desk.service, desk.actor("s.audit"), plan["id"], AskedRows(limit=limit, **asked), mark=mark
        )
        found += [each["title"] for each in json.loads(page.json)]
        mark = page.next
        if mark is None:
            assert page.matching == len(found)
            return found


async def test_pages_in_every_order_join_without_gap_or_repetition(desk: Desk, plan: dict[str, Any]) -> None:
    connection = desk.people.connection
    connection.execute("update jobs.plan_items set warned = '{negative,same-here}' where amount_minor < 0")
    connection.execute("update jobs.plan_items set warned = '{same-here}' where number = 4")
    connection.execute("update jobs.plan_items set warned = '{}' where number in (1, 2)")
    connection.execute("update jobs.plan_items set turn = 'uncertain', ended_at = jobs.now() where number = 1")
    by_number = ["Paper", "Ink", "=SUM(A1)", "Pens"]
    wanted = {
        PlanSort.NUMBER: by_number,
        PlanSort.AMOUNT: ["Pens", "Paper", "=SUM(A1)", "Ink"],
        PlanSort.PAYEE: ["Pens", "Ink", "=SUM(A1)", "Paper"],
        PlanSort.WARNINGS: ["=SUM(A1)", "Pens", "Paper", "Ink"],
        PlanSort.TURN: ["Ink", "=SUM(A1)", "Pens", "Paper"],
    }
    for sort, expected in wanted.items():
        for limit in (1, 3, 4, 100):
            assert await titles(desk, plan, limit, sort=sort) == expected, (sort, limit)


async def test_a_search_looks_for_words_in_payee_title_key_and_last_four(desk: Desk, plan: dict[str, Any]) -> None:
    for search, expected in {
        "ash": ["Ink", "=SUM(A1)", "Pens"],
        "co ASH": ["Ink", "=SUM(A1)"],
        "zoë": ["Paper"],
        "r-4": ["Pens"],
        "0042": [row[0] for row in ROWS],
        "%": [],
        "100%": ["Pens"],
        "as_": [],
        "'; drop": [],
        "nobody": [],
    }.items():
        assert await titles(desk, plan, search=search) == expected, search
    assert await titles(desk, plan, turn=Turn.NOT_STARTED, search="ink") == ["Ink"]
    assert await titles(desk, plan, turn=Turn.DONE) == []
    actor = desk.actor("s.audit")
    many = plan_reading.plan_items(desk.service, actor, plan["id"], AskedRows(limit=1, search="a " * 21))
    await refused_with(ErrorCode.FILTER_INVALID, many)


async def test_a_page_names_the_edition_so_that_a_reader_notices_a_freeze(desk: Desk, plan: dict[str, Any]) -> None:
    actor, asked = desk.actor("m.ito"), AskedRows(limit=2)
    first = await plan_reading.plan_items(desk.service, actor, plan["id"], asked)
    desk.people.connection.execute("update jobs.plans set edition = 2")
    second = await plan_reading.plan_items(desk.service, actor, plan["id"], asked, mark=first.next)
    assert (first.edition, second.edition) == (1, 2)


@pytest.mark.requirement("MONEY-23")
async def test_whoever_reads_plans_sees_those_of_the_tenant_and_the_narrowed_their_own(
    desk: Desk, plan: dict[str, Any]
) -> None:
    for person in ("k.rao", "o.lind", "s.audit"):
        assert (await plan_reading.read_plan(desk.service, desk.actor(person), plan["id"])).name == plan["name"]
    for person in ("s.bell", "p.push", "a.admin"):
        await refused_with(
            ErrorCode.PERMISSION_MISSING, plan_reading.read_plan(desk.service, desk.actor(person), plan["id"])
        )
    narrowed = desk.people.actor("k.rao", customers=("north",))
    for stranger in (desk.actor("g.fin"), narrowed):
        for reading in (
            plan_reading.read_plan(desk.service, stranger, plan["id"]),
            plan_reading.plan_items(desk.service, stranger, plan["id"], AskedRows(limit=1)),
            plan_reading.plan_exclusions(desk.service, stranger, plan["id"], limit=1),
            plan_reading.plan_warnings(desk.service, stranger, plan["id"], limit=1),
            plan_reading.export_plan(desk.service, stranger, plan["id"]),
        ):
            await refused_with(ErrorCode.NOT_FOUND, reading)
        assert (await plan_reading.list_plans(desk.service, stranger, own=False, live=False)).plans == ()
    await desk.push()
    order = PlanOrder(command=RELEASE_MANY, filter="")
    desk.people.connection.execute("update jobs.items set customer = 'north'")
    own = (await plans.make(desk.service, narrowed, PAYOUTS, order, once())).body
    listed = (await plan_reading.list_plans(desk.service, narrowed, own=False, live=True)).plans
    assert [each.id for each in listed] == [own["id"]]


async def test_live_plans_come_first_the_newest_first_among_them(desk: Desk, plan: dict[str, Any], clock: Any) -> None:
    clock.advance(901)
    await desk.push()
    second = await made(desk, "k.rao")
    await desk.push()
    third = await made(desk)
    actor = desk.actor("m.ito")

    async def names(**asked: bool) -> list[str]:
        found = await plan_reading.list_plans(desk.service, actor, **({"own": False, "live": False} | asked))
        return [each.name for each in found.plans]

    assert await names() == [third["name"], second["name"], plan["name"]]
    assert await names(own=True) == [third["name"], plan["name"]]
    assert await names(live=True) == [third["name"], second["name"]]
    assert await names(own=True, live=True) == [third["name"]]


@pytest.mark.requirement("MONEY-8", "MONEY-28", "MONEY-31")
async def test_the_file_has_every_row_amounts_as_numbers_and_of_accounts_the_last_four(
    desk: Desk, plan: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan_reading, "_CHUNK", 3)
    file = await plan_reading.export_plan(desk.service, desk.actor("s.audit"), plan["id"])
    assert file.name == f"{plan['name']}.csv"
    text = file.content.decode("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    assert [(row["number"], row["title"], row["amount"], row["currency"], row["key"]) for row in rows] == [
        ("1", "Paper", "5.00", "GBP", "R-1"),
        ("2", "Ink", "150000", "JPY", "R-2"),
        ("3", "'=SUM(A1)", "-3.00", "GBP", ""),
        ("4", "Pens", "9.00", "GBP", "R-4"),
    ]
    assert {row["account"] for row in rows} == {"…0042"}
    assert "GB29" not in text
    assert "negative" in rows[2]["warnings"]
    assert desk.audited()[-1] == ("s.audit", "export-plan", "done")
