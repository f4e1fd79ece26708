"""The fake service explains and supposes as the real one does: every test here runs against both."""

from __future__ import annotations

from datetime import timedelta

import pytest

from jobconsole.client import queues as client
from jobconsole.client.scores import explanation, what_if
from jobconsole.client.service import Service
from jobconsole.client.session import me
from jobcontract.items import Explanation, Item, NewAmount, Placement, Supposed, WhatIf
from jobcontract.states import ItemView
from tests.client.stage import AUDITOR, FIRST, PUSHER, Stage
from tests.client.test_conformance import DISPUTES, PAYOUTS, claimed, key, order, refused, three

pytestmark = pytest.mark.requirement("order-queue-items-by-score", "show-the-score-beside-each-item")


def around(placement: Placement | None) -> tuple[int, str | None, str | None]:
    """How many are before, and the ids of the neighbours."""
    assert placement is not None
    assert placement.ahead.exact
    above, below = (None if each is None else each.id for each in (placement.above, placement.below))
    return placement.ahead.count, above, below


async def place_in_list(service: Service, item: str) -> tuple[int, str | None, str | None]:
    """The same, read off the listing."""
    ids: list[str | None] = [row.id for row in (await client.items(service, PAYOUTS)).items]
    place = ids.index(item)
    return place, [None, *ids][place], [*ids, None][place + 1]


async def test_a_scored_queue_names_its_rule_and_its_rows_carry_scores_that_add_up(stage: Stage) -> None:
    await three(stage)
    service = stage.sign_in(FIRST)
    rules = {queue.id: queue.score for queue in (await client.queues(service)).queues}
    assert (rules[PAYOUTS], rules[DISPUTES]) == ("payout.release-score", "dispute.urgency-score")
    rows = (await client.items(service, PAYOUTS)).items
    for row in rows:
        assert row.score is not None
        assert row.score.rule == "payout.release-score"
        assert row.score.value == sum(part.points for part in row.score.parts) == -row.rank
        assert [part.input for part in row.score.parts] == ["amount", "age", "invoice"]
    assert [row.rank for row in rows] == sorted(row.rank for row in rows)


async def test_an_explanation_is_what_the_list_shows(stage: Stage) -> None:
    ids = await three(stage)
    service = stage.sign_in(AUDITOR)
    for item in ids:
        found = await explanation(service, item)
        assert isinstance(found, Explanation)
        assert found.item == (await client.item(service, item)).item
        assert around(found.placement) == await place_in_list(service, item)
        assert found.rule is not None
        assert found.item.score is not None
        assert (found.rule.id, found.rule.version) == (found.item.score.rule, found.item.score.version)
        assert [each.name for each in found.rule.inputs] == [part.input for part in found.item.score.parts]
        assert {each.currency for each in found.rule.thresholds} >= {"GBP", "JPY", "KWD"}
        assert found.rule.formula
    assert await refused(explanation(service, "00000000-0000-0000-0000-00000000ffff")) == "not-found"
    assert await refused(explanation(stage.sign_in(PUSHER), ids[0])) == "permission-missing"


async def test_what_does_not_wait_has_no_place(stage: Stage) -> None:
    ids = await three(stage)
    service = stage.sign_in(FIRST)
    until = ((await me(service)).now + timedelta(hours=2)).isoformat()
    for item, verb, inputs in (
        (ids[0], "set-aside", {"until": until, "reason": "asked"}),
        (ids[1], "reject", {"reason": "twice"}),
    ):
        held = await claimed(service, item)
        await client.act(service, item, f"payments.{verb}", order(held, **inputs), key())
        assert (await explanation(service, item)).placement is None
    assert around((await explanation(service, ids[2])).placement) == (0, None, None)
    assert await refused(what_if(service, ids[1], WhatIf())) == "item-closed"
    assert around((await what_if(service, ids[0], WhatIf())).placement) == (0, None, ids[2])


async def test_what_if_is_what_it_would_become_and_saves_nothing(stage: Stage) -> None:
    ids = await three(stage)
    service = stage.sign_in(FIRST)
    before = await rows(service)
    now = (await me(service)).now
    same = await what_if(service, ids[2], WhatIf())
    assert isinstance(same, Supposed)
    assert around(same.placement) == (2, ids[1], None)
    assert same.score.value == sum(part.points for part in same.score.parts)
    large = await what_if(service, ids[2], WhatIf(amount=NewAmount(minor=9_000_000_00, currency="GBP")))
    assert around(large.placement) == (0, None, ids[0])
    assert (large.score.value or 0) > (same.score.value or 0)
    older = await what_if(service, ids[2], WhatIf(created=now - timedelta(days=6)))
    assert around(older.placement)[0] == 1
    unknown = await what_if(service, ids[2], WhatIf(amount=NewAmount(minor=5, currency="CHF")))
    assert (unknown.score.value, unknown.score.failure) == (
        None,
        "payout.release-score states no thresholds for CHF",
    )
    assert around(unknown.placement) == (0, None, ids[0]), "what cannot be scored stands before all that could"
    assert await rows(service) == before


async def rows(service: Service) -> list[Item]:
    return list((await client.items(service, PAYOUTS, view=ItemView.WAITING)).items)


@pytest.mark.parametrize(
    ("supposed", "code"),
    [
        ({"inputs": {"colour": "red"}}, "invalid-request"),
        ({"inputs": {"invoice": 5}}, "invalid-request"),
        ({"inputs": {"invoice": "  "}}, "invalid-request"),
        ({"inputs": {"invoice": "x" * 41}}, "invalid-request"),
        ({"amount": {"minor": 0, "currency": "GBP"}}, "invalid-request"),
        ({"amount": {"minor": 5, "currency": "QQQ"}}, "invalid-request"),
        ({"created": "2150-01-01T00:00:00Z"}, "invalid-request"),
        ({"created": "1066-10-14T00:00:00Z"}, "invalid-request"),
    ],
)
async def test_what_cannot_be_supposed(stage: Stage, supposed: dict[str, object], code: str) -> None:
    ids = await three(stage)
    assert await refused(what_if(stage.sign_in(FIRST), ids[0], WhatIf.model_validate(supposed))) == code
