"""Items are scored where they are pushed and changed, in the same transaction, and stand in the order of their scores."""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from jobcontract.errors import ErrorCode
from jobcontract.items import Item, NewItem
from jobservice.usecases.listings import Asked, list_items
from tests.usecases.desk import NOTES, REFRESH, SCORED, Desk, payout, refused_with

pytestmark = pytest.mark.requirement("order-queue-items-by-score")


async def aged(desk: Desk, key: str, days: float, **more: Any) -> dict[str, Any]:
    """A scored item that is so many days old."""
    row = desk.people.connection.execute("select jobs.now()").fetchone()
    return await desk.push(SCORED, payout(key, created=row[0] - timedelta(days=days), **more))


def ordered(desk: Desk) -> list[str]:
    """Business keys of the scored queue, in the order of the index that listings and claim next walk."""
    rows = desk.people.connection.execute(
        "select business_key from jobs.items where queue = %s and closed_at is null order by rank, created, id",
        (SCORED,),
    )
    return [key for (key,) in rows]


@pytest.mark.requirement("show-the-score-beside-each-item")
async def test_a_pushed_item_is_stored_with_rule_version_inputs_parts_and_time(desk: Desk) -> None:
    item = await aged(desk, "P-1", 6, minor=100_000, inputs={"proof": "lease"})
    score = item["score"]
    assert (score["value"], score["rule"], score["version"], score["failure"]) == (62, "t.urgency", 1, None)
    assert [(part["input"], part["shown"], part["points"], part["words"]) for part in score["parts"]] == [
        ("amount", "GBP 1,000.00", 50, "large"),
        ("age", "6 days old", 12, "2 a day"),
        ("proof", "proof lease", 0, "proof"),
    ]
    assert item["rank"] == -62
    row = desk.people.connection.execute(
        "select score_inputs, scored_at = pushed_at or scored_at between pushed_at - interval '5 s' and pushed_at +"
        " interval '5 s', extract(epoch from rescore_at - scored_at), created from jobs.items"
    ).fetchone()
    inputs = {"amount": "GBP 100000", "age": row[3].astimezone(UTC).isoformat(), "proof": "lease"}
    assert row[:3] == (inputs, True, REFRESH)


async def test_a_change_of_an_input_places_anew_and_a_change_of_what_is_no_input_does_not(desk: Desk) -> None:
    item = await aged(desk, "P-1", 1, inputs={"proof": "lease"})
    await aged(desk, "P-2", 2)

    def placed() -> Any:
        return desk.people.connection.execute(
            "select rank, placed_xid, money_version from jobs.items where business_key = 'P-1'"
        ).fetchone()

    first = placed()
    assert ordered(desk) == ["P-2", "P-1"]
    renamed = await desk.change("P-1", 1, title="Another title", inputs={"proof": "lease"})
    assert (renamed["title"], renamed["score"]["value"]) == ("Another title", item["score"]["value"])
    second = placed()
    assert (second[0], second[2]) == (first[0], 2)
    await desk.change("P-1", 2, title="Another title", inputs={"proof": "lease"}, payload={"line": 7})
    assert placed() == second, "it was scored again, and stands where it stood"
    changed = await desk.change("P-1", 2, minor=900_000)
    assert (changed["score"]["value"], changed["rank"], changed["money_version"]) == (62, -62, 3)
    assert placed()[1] > first[1]
    assert ordered(desk) == ["P-1", "P-2"]


async def test_a_refused_change_leaves_the_score_with_its_inputs(desk: Desk) -> None:
    item = await desk.push(SCORED, payout("P-1"))
    await refused_with(ErrorCode.VERSION_CHANGED, desk.change("P-1", 7, minor=900_000))
    assert (await desk.detail(item["id"])).item == Item.model_validate(item)


@pytest.mark.parametrize(
    ("proof", "failure"),
    [
        ("raises", "t.urgency went wrong (ZeroDivisionError)"),
        ("cannot", "the register does not know this proof"),
        ("lies", "t.urgency has to give one part for each of its inputs, and gave none"),
    ],
)
async def test_what_cannot_be_scored_stands_first_says_why_and_is_handed_out_next(
    desk: Desk, proof: str, failure: str
) -> None:
    await aged(desk, "P-1", 300, minor=900_000)
    parked = await desk.push(SCORED, payout("P-2", inputs={"proof": proof}))
    assert (parked["score"]["value"], parked["score"]["failure"], parked["score"]["parts"]) == (None, failure, [])
    assert ordered(desk) == ["P-2", "P-1"]
    taken = (await desk.next("m.ito", SCORED)).body["item"]
    assert (taken["key"], taken["score"]["failure"]) == ("P-2", failure)
    mended = await desk.change("P-2", 1, inputs={"proof": "lease"})
    assert mended["score"]["value"] == 0
    assert (mended["holder"]["id"], mended["fence"]) == ("m.ito", taken["fence"]), "the claim stays"


@pytest.mark.requirement("MONEY-03")
async def test_amounts_of_two_currencies_are_compared_with_their_own_thresholds(desk: Desk) -> None:
    yen = await desk.push(SCORED, payout("Y-1", 150_000, "JPY"))
    euro = await desk.push(SCORED, payout("E-1", 1_840_000, "EUR"))
    pounds = await desk.push(SCORED, payout("G-1", 150_000, "GBP"))
    assert [each["score"]["value"] for each in (yen, euro, pounds)] == [10, None, 60]
    assert euro["score"]["failure"] == "t.urgency states no thresholds for EUR"


@pytest.mark.requirement("order-unscored-queues-by-age")
async def test_a_queue_without_a_rule_has_no_scores(desk: Desk) -> None:
    item = await desk.push(NOTES, NewItem(key="N-1", title="A note"))
    assert (item["score"], item["rank"]) == (None, 0)


async def test_the_order_is_score_then_age_then_id(desk: Desk) -> None:
    chance, day = random.Random(3), datetime(2026, 3, 2, 9, tzinfo=UTC)  # noqa: S311  # the same items every time
    pushed = []
    for number in range(40):
        inputs = chance.choice([{}, {}, {"proof": "lease"}, {"proof": "raises"}])
        created = day - timedelta(days=chance.randrange(3))
        pushed.append(
            await desk.push(
                SCORED, payout(f"R-{number}", chance.choice([1, 99_999, 100_000]), created=created, inputs=inputs)
            )
        )
    best = [each["key"] for each in sorted(pushed, key=promised)]
    assert len({promised(each)[:3] for each in pushed}) < len(pushed), "some are alike in all but their ids"
    asked = Asked(queue=SCORED, limit=7)
    listed: list[str] = []
    mark = None
    while len(listed) < len(pushed):
        page = await list_items(desk.service, desk.actor("m.ito"), asked, mark=mark)
        listed += [each["key"] for each in json.loads(page.json)]
        mark = page.next
    assert listed == best
    taken = [(await desk.next(person, SCORED)).body["item"]["key"] for person in ("m.ito", "k.rao", "m.ito")]
    assert taken == best[:3]


def promised(item: dict[str, Any]) -> tuple[bool, int, str, str]:
    """The promised order: what could not be scored, then the highest score, the oldest, the id."""
    value = item["score"]["value"]
    return value is not None, -(value or 0), item["created"], item["id"]
