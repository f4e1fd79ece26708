"""Why an item stands where it stands, and what-if: exact places, true neighbours, and nothing saved."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from psycopg import sql

from jobcontract.errors import ErrorCode
from jobcontract.items import Item, NewAmount, NewItem, WhatIf
from jobservice.usecases import explanations
from jobservice.usecases.explanations import explain, suppose
from tests.conftest import Clock
from tests.usecases.desk import NOTES, SCORED, URGENCY, Desk, in_days, payout, refused_with

pytestmark = pytest.mark.requirement("order-queue-items-by-score", "show-the-score-beside-each-item")

UNKNOWN = "00000000-0000-0000-0000-00000000ffff"


def now_of(desk: Desk) -> datetime:
    (now,) = desk.people.connection.execute("select jobs.now()").fetchone()
    return now.astimezone(UTC)  # type: ignore[no-any-return]  # a cell of the test's own connection


@pytest.fixture
async def ranked(desk: Desk) -> dict[str, dict[str, Any]]:
    """Five scored items by key, the first first: parked, 70, 30, 20, and 20 again with a younger date."""
    now = now_of(desk)
    drawn = {
        "parked": (1, 0, {"proof": "raises"}),
        "large": (100_000, 5, {}),
        "old": (1, 10, {}),
        "first-of-two": (1, 5.02, {}),
        "second-of-two": (1, 5.01, {}),
    }
    return {
        key: await desk.push(SCORED, payout(key, minor, created=now - timedelta(days=days), inputs=inputs))
        for key, (minor, days, inputs) in drawn.items()
    }


def keys(*items: Item | None) -> list[str | None]:
    return [None if each is None else each.key for each in items]


async def test_a_place_is_told_with_the_rule_the_count_before_it_and_its_neighbours(
    desk: Desk, ranked: dict[str, dict[str, Any]]
) -> None:
    order = list(ranked)
    for place, key in enumerate(order):
        found = await explain(desk.service, desk.actor("m.ito"), ranked[key]["id"])
        assert found.item == Item.model_validate(ranked[key])
        assert found.placement is not None
        assert (found.placement.ahead.count, found.placement.ahead.exact) == (place, True)
        above, below = [None, *order][place], [*order, None][place + 1]
        assert keys(found.placement.above, found.placement.below) == [above, below]
        for neighbour in (found.placement.above, found.placement.below):
            assert neighbour is None or neighbour == Item.model_validate(ranked[neighbour.key or ""])
    assert found.rule is not None
    assert (found.rule.id, found.rule.version, found.rule.formula) == ("t.urgency", 1, URGENCY.formula)
    assert [(each.name, each.type, each.unit) for each in found.rule.inputs] == [
        ("amount", "money", None),
        ("age", "age", "days"),
        ("proof", "text", None),
    ]
    thresholds = [(each.currency, each.name, each.minor, each.exponent) for each in found.rule.thresholds]
    assert thresholds == [("GBP", "large", 100_000, 2), ("JPY", "large", 200_000, 0)]
    assert found.rule.refresh_seconds == 60


async def test_what_does_not_wait_has_no_place_and_nobody_stands_beside_it(
    desk: Desk, ranked: dict[str, dict[str, Any]]
) -> None:
    aside = (await desk.claim("m.ito", ranked["large"]["id"])).body["item"]
    await desk.act("m.ito", aside, "set-aside", until=in_days(1, now_of(desk)), reason="later")
    closed = (await desk.claim("m.ito", ranked["first-of-two"]["id"])).body["item"]
    await desk.act("m.ito", closed, "reject", reason="no")
    for key in ("large", "first-of-two"):
        found = await explain(desk.service, desk.actor("m.ito"), ranked[key]["id"])
        assert (found.placement, found.item.state.value) == (None, "set-aside" if key == "large" else "rejected")
        assert found.rule is not None
    old = await explain(desk.service, desk.actor("m.ito"), ranked["old"]["id"])
    assert old.placement is not None
    assert old.placement.ahead.count == 1
    assert keys(old.placement.above, old.placement.below) == ["parked", "second-of-two"]
    back = await suppose(desk.service, desk.actor("m.ito"), ranked["large"]["id"], WhatIf())
    assert back.placement.ahead.count == 1, "where it would stand, if it waited"
    await refused_with(
        ErrorCode.ITEM_CLOSED, suppose(desk.service, desk.actor("m.ito"), ranked["first-of-two"]["id"], WhatIf())
    )


async def test_a_queue_without_a_rule_is_placed_by_age(desk: Desk) -> None:
    now = now_of(desk)
    items = [
        await desk.push(NOTES, NewItem(key=f"N-{days}", title="A note", created=now - timedelta(days=days)))
        for days in (3, 2, 1)
    ]
    found = await explain(desk.service, desk.actor("m.ito"), items[1]["id"])
    assert found.placement is not None
    assert (found.rule, found.item.score, found.placement.ahead.count) == (None, None, 1)
    assert keys(found.placement.above, found.placement.below) == ["N-3", "N-1"]
    refusal = await refused_with(
        ErrorCode.USE_CASE_UNFIT, suppose(desk.service, desk.actor("m.ito"), items[1]["id"], WhatIf())
    )
    assert refusal.detail == "Notes has no rule: its oldest item is first, and no input moves it."


@pytest.mark.requirement("MONEY-23")
async def test_only_what_is_within_reach_is_counted_shown_and_explained(desk: Desk) -> None:
    for number in range(4):
        await desk.push(SCORED, payout(f"A-{number}", customer="north" if number % 2 else "south"))
    await desk.push(SCORED, payout("G-0"), by="g.push")
    rows = desk.people.connection.execute("select business_key, id::text from jobs.items").fetchall()
    ids = dict(rows)
    northern = desk.actor("clerk-1", customers=("north",))
    found = await explain(desk.service, northern, ids["A-3"])
    assert found.placement is not None
    assert (found.placement.ahead.count, *keys(found.placement.above, found.placement.below)) == (1, "A-1", None)
    supposed = await suppose(desk.service, northern, ids["A-3"], WhatIf(inputs={"proof": "lease"}))
    assert (supposed.placement.ahead.count, *keys(supposed.placement.above)) == (1, "A-1")
    for foreign in (ids["A-0"], ids["G-0"], UNKNOWN, "nonsense", ids["A-3"].upper()):
        refusals = [
            await refused_with(ErrorCode.NOT_FOUND, call)
            for call in (explain(desk.service, northern, foreign), suppose(desk.service, northern, foreign, WhatIf()))
        ]
        assert {each.detail for each in refusals} == {f"There is no item {foreign!r} that you may see."}


async def test_looking_needs_the_permission(desk: Desk) -> None:
    item = (await desk.push(SCORED))["id"]
    support = desk.actor("s.bell")
    for call in (explain(desk.service, support, item), suppose(desk.service, support, item, WhatIf())):
        await refused_with(ErrorCode.PERMISSION_MISSING, call)
    await explain(desk.service, desk.actor("s.audit"), item)


async def test_more_before_it_than_are_counted_is_said_so(
    desk: Desk, ranked: dict[str, dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    for most, told in ((4, (4, True)), (3, (3, False))):
        monkeypatch.setattr(explanations, "AHEAD_MOST", most)
        found = await explain(desk.service, desk.actor("m.ito"), ranked["second-of-two"]["id"])
        assert found.placement is not None
        assert (found.placement.ahead.count, found.placement.ahead.exact) == told


@pytest.mark.parametrize(
    ("key", "supposed", "value", "ahead", "beside"),
    [
        ("large", {}, 70, 1, ("parked", "old")),
        ("large", {"amount": ("JPY", 150_000)}, 20, 4, ("second-of-two", None)),
        ("large", {"amount": ("GBP", -5)}, 20, 4, ("second-of-two", None)),
        ("old", {"amount": ("GBP", 100_000)}, 80, 1, ("parked", "large")),
        ("old", {"days": 0}, 10, 4, ("second-of-two", None)),
        ("second-of-two", {"days": 400}, 810, 1, ("parked", "large")),
        ("second-of-two", {"inputs": {"proof": "lease"}}, 10, 4, ("first-of-two", None)),
        ("parked", {"inputs": {"proof": ""}}, 10, 4, ("second-of-two", None)),
    ],
)
async def test_what_if_tells_the_score_and_the_place_among_the_others(
    desk: Desk,
    ranked: dict[str, dict[str, Any]],
    key: str,
    supposed: dict[str, Any],
    value: int,
    ahead: int,
    beside: tuple[str | None, str | None],
) -> None:
    asked: dict[str, Any] = {"inputs": supposed.get("inputs", {})}
    if "amount" in supposed:
        currency, minor = supposed["amount"]
        asked["amount"] = NewAmount(minor=minor, currency=currency)
    if "days" in supposed:
        asked["created"] = now_of(desk) - timedelta(days=supposed["days"])
    found = await suppose(desk.service, desk.actor("m.ito"), ranked[key]["id"], WhatIf(**asked))
    assert (found.score.value, found.score.failure, found.score.scored_at) == (value, None, found.as_of)
    assert sum(part.points for part in found.score.parts) == value
    assert (found.placement.ahead.count, found.placement.ahead.exact) == (ahead, True)
    assert tuple(keys(found.placement.above, found.placement.below)) == beside


@pytest.mark.parametrize(
    ("supposed", "failure"),
    [
        ({"inputs": {"proof": "raises"}}, "t.urgency went wrong (ZeroDivisionError)"),
        ({"inputs": {"proof": "cannot"}}, "the register does not know this proof"),
        ({"amount": NewAmount(minor=5, currency="KWD")}, "t.urgency states no thresholds for KWD"),
    ],
)
async def test_a_supposed_failure_is_an_answer(
    desk: Desk, ranked: dict[str, dict[str, Any]], supposed: dict[str, Any], failure: str
) -> None:
    found = await suppose(desk.service, desk.actor("m.ito"), ranked["old"]["id"], WhatIf(**supposed))
    assert (found.score.value, found.score.parts, found.score.failure) == (None, (), failure)
    assert found.placement.ahead.count == 0, "older than the one that is parked already"
    assert keys(found.placement.above, found.placement.below) == [None, "parked"]


@pytest.mark.parametrize(
    ("supposed", "sentence"),
    [
        ({"inputs": {"colour": "red"}}, "`colour` is not an input here; there is proof, pages."),
        ({"inputs": {"proof": 5}}, "`proof` is text, without NUL or lone surrogates."),
        ({"inputs": {"proof": "x" * 21}}, "`proof` has 21 characters; at most 20 are allowed."),
        ({"inputs": {"pages": "many"}}, "`pages` is a whole number of at most 63 bits."),
        ({"inputs": {"pages": True}}, "`pages` is a whole number of at most 63 bits."),
        ({"amount": NewAmount(minor=0, currency="GBP")}, "`amount`: an amount of zero pays nobody anything."),
        ({"amount": NewAmount(minor=5, currency="QQQ")}, "QQQ"),
        ({"created": datetime(1066, 10, 14, tzinfo=UTC)}, "`created` is an instant with an offset, from 1901 to 2199."),
        ({"created": datetime(2150, 1, 1, tzinfo=UTC)}, "`created` is in the future: now is 2"),
    ],
)
async def test_what_cannot_be_supposed_is_said(desk: Desk, supposed: dict[str, Any], sentence: str) -> None:
    item = (await desk.push(SCORED))["id"]
    refusal = await refused_with(
        ErrorCode.INVALID_REQUEST, suppose(desk.service, desk.actor("m.ito"), item, WhatIf(**supposed))
    )
    assert sentence in refusal.detail


async def test_everything_that_is_wrong_is_said_at_once_and_money_needs_an_item_with_money(desk: Desk) -> None:
    item = (await desk.push(SCORED))["id"]
    wrong = WhatIf(
        amount=NewAmount(minor=0, currency="GBP"),
        created=datetime(2150, 1, 1, tzinfo=UTC),
        inputs={"proof": 5, "colour": "red"},
    )
    refusal = await refused_with(ErrorCode.INVALID_REQUEST, suppose(desk.service, desk.actor("m.ito"), item, wrong))
    for name in ("`amount`", "`created`", "`proof`", "`colour`"):
        assert name in refusal.detail


async def test_an_input_that_is_left_out_stays_also_one_that_its_queue_would_refuse_today(desk: Desk) -> None:
    item = (await desk.push(SCORED, payout("K-1", inputs={"proof": "lease"})))["id"]
    desk.people.connection.execute("update jobs.items set inputs = inputs || '{\"gone\": 1}'")
    found = await suppose(desk.service, desk.actor("m.ito"), item, WhatIf(inputs={"pages": 3}))
    assert [part.shown for part in found.score.parts] == ["GBP 12.34", "0 days old", "proof lease"]


async def test_nothing_of_what_was_asked_is_saved(desk: Desk, ranked: dict[str, dict[str, Any]], clock: Clock) -> None:
    def everything() -> dict[str, Any]:
        names = ("items", "item_versions", "claims", "acts", "audit", "hints", "idempotency_keys")
        rows = "select coalesce(jsonb_agg(to_jsonb(t) || jsonb_build_object('xmin', t.xmin::text)), '[]') from jobs.{} as t"
        return {
            name: desk.people.connection.execute(sql.SQL(rows).format(sql.Identifier(name))).fetchone()
            for name in names
        }

    clock.advance(86_400)
    before = everything()
    asked = WhatIf(amount=NewAmount(minor=5, currency="JPY"), inputs={"proof": "lease"}, created=now_of(desk))
    for each in ranked.values():
        await suppose(desk.service, desk.actor("m.ito"), each["id"], asked)
        await explain(desk.service, desk.actor("m.ito"), each["id"])
    await refused_with(
        ErrorCode.INVALID_REQUEST,
        suppose(desk.service, desk.actor("m.ito"), ranked["old"]["id"], WhatIf(inputs={"colour": "red"})),
    )
    assert everything() == before, "not one row, not even touched"


async def test_time_that_passed_is_seen_in_the_supposed_score_before_the_stored_one(
    desk: Desk, ranked: dict[str, dict[str, Any]], clock: Clock
) -> None:
    clock.advance(3 * 86_400)
    found = await explain(desk.service, desk.actor("m.ito"), ranked["old"]["id"])
    assert found.item.score is not None
    assert found.item.score.value == 30
    assert found.as_of - found.item.score.scored_at > timedelta(days=2), "it says when it was scored"
    supposed = await suppose(desk.service, desk.actor("m.ito"), ranked["old"]["id"], WhatIf())
    assert supposed.score.value == 36
