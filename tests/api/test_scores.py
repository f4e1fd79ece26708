"""Explanations and what-if over HTTP: one round trip each, bounded like listings, and no key."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from typing import Any

import httpx
import pytest

from jobcontract.items import Explanation, Item, Supposed
from jobcontract.queues import Queues
from jobservice.api.context import context_of
from tests.api.conftest import Api, problem_of

pytestmark = pytest.mark.requirement("show-the-score-beside-each-item")


@pytest.mark.requirement("order-queue-items-by-score")
async def test_an_explanation_and_a_what_if_are_as_the_contract_says(api: Api) -> None:
    first, second = await api.push("K-1", created="2026-03-02T09:00:00Z"), await api.push("K-2")
    client = await api.of("m.ito")
    answer = await client.get(f"/v1/items/{second['id']}/explanation")
    assert answer.status_code == 200, answer.text
    found = Explanation.model_validate_json(answer.content)
    assert found.item == Item.model_validate(second)
    assert found.rule is not None
    assert found.placement is not None
    assert (found.placement.ahead.count, found.placement.above) == (1, Item.model_validate(first))
    asked = {"amount": {"minor": 9_000_000_00, "currency": "USD"}, "inputs": {"invoice": "missing"}}
    supposed = await client.post(f"/v1/items/{second['id']}/what-if", json=asked)
    assert supposed.status_code == 200, supposed.text
    answered = Supposed.model_validate_json(supposed.content)
    assert (answered.placement.ahead.count, answered.placement.below) == (0, Item.model_validate(first))
    assert answered.score.value == sum(part.points for part in answered.score.parts)
    assert "USD 9,000,000.00" in {part.shown for part in answered.score.parts}
    assert "NWBK" not in answer.text + supposed.text, "an account is its last four everywhere"


async def test_the_list_of_queues_names_the_rules(api: Api) -> None:
    queues = Queues.model_validate_json((await (await api.of("m.ito")).get("/v1/queues")).content).queues
    assert {queue.id: queue.score for queue in queues} == {
        "payments.disputes": "dispute.urgency-score",
        "payments.notes": None,
        "payments.payouts": "payout.release-score",
        "payments.uncertain": None,
    }


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"colour": "red"}, "colour"),
        ({"created": 1_700_000_000}, "created"),
        ({"created": "2026-03-01"}, "created"),
        ({"amount": {"minor": 1.5, "currency": "GBP"}}, "amount.minor"),
        ({"amount": {"minor": 5}}, "amount.currency"),
        ({"inputs": {"invoice": "x\x00"}}, "invoice"),
        ({"inputs": {"colour": "red"}}, "`colour` is not an input here; there is invoice."),
        ([], "object"),
    ],
)
async def test_a_body_that_says_nothing_that_can_be_supposed_is_refused_in_words(
    api: Api, body: Any, words: str
) -> None:
    item = (await api.push("K-1"))["id"]
    answer = await (await api.of("m.ito")).post(f"/v1/items/{item}/what-if", json=body)
    problem_of(answer, 422, "invalid-request")
    assert words in answer.text


async def test_both_are_bounded_like_listings_and_need_the_permission(api: Api) -> None:
    item = (await api.push("K-1"))["id"]
    client = await api.of("m.ito")
    calls: tuple[Callable[[httpx.AsyncClient], Awaitable[httpx.Response]], ...] = (
        lambda who: who.get(f"/v1/items/{item}/explanation"),
        lambda who: who.post(f"/v1/items/{item}/what-if", json={}),
    )
    gate = context_of({"type": "http", "app": api.app}).listings
    most = api.app.state.context.service.records.settings.listings_max
    with ExitStack() as held:
        for _ in range(most):
            held.enter_context(gate.held("m.ito"))
        for call in calls:
            problem_of(await call(client), 429, "too-many-listings")
    for call in calls:
        assert (await call(client)).status_code == 200
        problem_of(await call(await api.of("s.bell")), 403, "permission-missing")
