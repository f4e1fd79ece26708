"""Claims and acts over HTTP: keys that act once, and fifty callers at once."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest

from jobcontract.items import Acted, Claimed, ItemDetail
from tests.api.conftest import Api, key_header, problem_of

ITEMS = "/v1/queues/payments.payouts/items"


async def claim(client: httpx.AsyncClient, item: str, key: str | None = None) -> httpx.Response:
    return await client.post(f"/v1/items/{item}/claim", json={}, headers=key_header(key))


async def reject(client: httpx.AsyncClient, item: str, fence: int, key: str | None = None) -> httpx.Response:
    order = {"money_version": 1, "fence": fence, "inputs": {"reason": "Not ours"}}
    return await client.post(f"/v1/items/{item}/acts/payments.reject", json=order, headers=key_header(key))


async def test_a_payout_is_claimed_kept_and_rejected(api: Api) -> None:
    item = (await api.push("K-1"))["id"]
    client = await api.of("m.ito")
    taken = Claimed.model_validate_json((await claim(client, item)).content)
    assert taken.item is not None
    assert taken.item.holder is not None
    assert (taken.item.holder.id, taken.item.fence) == ("m.ito", 1)
    held = {"fence": 1}
    renewed = await client.post(f"/v1/items/{item}/renew-claim", json=held, headers=key_header())
    assert renewed.status_code == 200, renewed.text
    acted = Acted.model_validate_json((await reject(client, item, 1)).content)
    assert (acted.outcome, acted.item.state, acted.item.holder) == ("done", "rejected", None)
    detail = ItemDetail.model_validate_json((await client.get(f"/v1/items/{item}")).content)
    assert [(record.fence, record.renewals, record.ending) for record in detail.claims] == [(1, 1, "acted")]
    assert [record.use_case for record in detail.acts] == ["payments.reject"]


async def test_a_colleague_is_refused_with_the_holder_named(api: Api) -> None:
    item = (await api.push("K-1"))["id"]
    await claim(await api.of("m.ito"), item)
    colleague = await api.of("k.rao")
    assert "Mina Ito" in problem_of(await claim(colleague, item), 409, "claim-held")["detail"]
    problem_of(await reject(colleague, item, 1), 409, "claim-held")


async def test_a_colleague_breaks_a_claim_with_a_reason(api: Api) -> None:
    item = (await api.push("K-1"))["id"]
    first = await api.of("m.ito")
    await claim(first, item)
    colleague = await api.of("k.rao")
    order = {"fence": 1, "reason": "Ill today"}
    taken = await colleague.post(f"/v1/items/{item}/break-claim", json=order, headers=key_header())
    assert taken.status_code == 200, taken.text
    lost = problem_of(await reject(first, item, 1), 409, "claim-lost")
    assert "Kiran Rao" in lost["detail"]


async def test_a_released_item_is_free(api: Api) -> None:
    item = (await api.push("K-1"))["id"]
    client = await api.of("m.ito")
    await claim(client, item)
    released = await client.post(f"/v1/items/{item}/release-claim", json={"fence": 1}, headers=key_header())
    assert released.json()["item"]["holder"] is None
    assert (await claim(await api.of("k.rao"), item)).json()["item"]["fence"] == 2


@pytest.mark.requirement("HTTP-03")
async def test_one_key_acts_once_however_often_it_is_sent(api: Api) -> None:
    item = (await api.push("K-1"))["id"]
    client = await api.of("m.ito")
    first = await claim(client, item, "claim-key")
    again = await claim(client, item, "claim-key")
    assert again.json() == first.json()
    assert ("Idempotency-Replayed" in first.headers, again.headers["Idempotency-Replayed"]) == (False, "true")
    done = await reject(client, item, 1, "act-key")
    repeated = [await reject(client, item, 1, "act-key") for _ in range(3)]
    assert [answer.json() for answer in repeated] == [done.json()] * 3
    detail = (await client.get(f"/v1/items/{item}")).json()
    assert (len(detail["claims"]), len(detail["acts"])) == (1, 1)


class CutOff(httpx.AsyncBaseTransport):
    """Lets the service act, then loses its answer: a connection reset after the fact."""

    def __init__(self, inner: httpx.AsyncBaseTransport, losses: int) -> None:
        self._inner = inner
        self.losses = losses

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        answer = await self._inner.handle_async_request(request)
        await answer.aread()
        if self.losses:
            self.losses -= 1
            raise httpx.ReadError("reset", request=request)
        return answer


@pytest.mark.requirement("HTTP-03")
async def test_an_answer_lost_after_acting_is_found_with_the_same_key(api: Api) -> None:
    item = (await api.push("K-1"))["id"]
    transport = CutOff(httpx.ASGITransport(app=api.app), losses=1)
    headers = {"Authorization": f"Bearer {api.people.token('m.ito')}"}
    async with httpx.AsyncClient(transport=transport, base_url="http://api.test", headers=headers) as client:
        with pytest.raises(httpx.ReadError):
            await claim(client, item, "claim-key")
        found = await claim(client, item, "claim-key")
        assert (found.status_code, found.json()["item"]["fence"]) == (200, 1)
        transport.losses = 1
        with pytest.raises(httpx.ReadError):
            await reject(client, item, 1, "act-key")
        assert (await reject(client, item, 1, "act-key")).json()["outcome"] == "done"
        detail = (await client.get(f"/v1/items/{item}")).json()
    assert (len(detail["claims"]), len(detail["acts"])) == (1, 1)


async def test_a_key_is_needed_and_has_a_form(api: Api) -> None:
    item = (await api.push("K-1"))["id"]
    client = await api.of("m.ito")
    answer = await client.post(f"/v1/items/{item}/claim", json={})
    assert "Idempotency-Key" in problem_of(answer, 400, "idempotency-key-missing")["detail"]
    for odd in ("a b", "k" * 201, "\x7f", "é".encode().decode("latin-1")):
        answer = await client.post(
            f"/v1/items/{item}/claim", json={}, headers=[(b"Idempotency-Key", odd.encode("latin-1"))]
        )
        problem_of(answer, 400, "idempotency-key-missing")
    assert (await claim(client, item, "k" * 200)).status_code == 200


async def test_a_filter_that_is_too_long_is_told_in_characters(api: Api) -> None:
    client = await api.of("m.ito")
    answer = await client.post(
        "/v1/queues/payments.payouts/claim-next", json={"filter": "a" * 501}, headers=key_header()
    )
    problem = problem_of(answer, 422, "invalid-request")
    assert problem["detail"] == "body.filter has 501 characters; at most 500 are allowed."


async def test_a_key_of_another_body_is_refused(api: Api) -> None:
    item = (await api.push("K-1"))["id"]
    client = await api.of("m.ito")
    await claim(client, item)
    assert (await reject(client, item, 1, "one-key")).status_code == 200
    problem_of(await reject(client, item, 2, "one-key"), 422, "idempotency-key-reused")


async def test_a_key_tells_nothing_to_those_who_may_not_act(api: Api) -> None:
    """Permission comes before the key is looked up, and before the item is (MONEY.md 32)."""
    item = (await api.push("K-1"))["id"]
    api.people.add("m.ito", "globex", "auditor")
    mine = await api.of("m.ito", **{"Jobs-Tenant": "acme"})
    assert (await claim(mine, item, "one-key")).status_code == 200
    problem_of(await claim(await api.of("s.audit"), item, "one-key"), 403, "permission-missing")
    problem_of(
        await claim(await api.of("m.ito", **{"Jobs-Tenant": "globex"}), item, "one-key"), 403, "permission-missing"
    )
    problem_of(await claim(await api.of("s.audit"), "nothing"), 403, "permission-missing")
    # A colleague's key of the same text is another key: it is judged anew, and told what is so.
    problem_of(await claim(await api.of("k.rao"), item, "one-key"), 409, "claim-held")


async def test_money_does_not_move_yet(api: Api) -> None:
    item = (await api.push("K-1"))["id"]
    client = await api.of("m.ito")
    await claim(client, item)
    order = {"money_version": 1, "fence": 1, "inputs": {}}
    answer = await client.post(f"/v1/items/{item}/acts/payments.release", json=order, headers=key_header())
    problem_of(answer, 409, "needs-plan")


@pytest.mark.requirement("state-the-claim-mode")
async def test_fifty_callers_at_once_get_fifty_items(api: Api) -> None:
    for number in range(50):
        await api.push(f"K-{number}")
    people = [f"clerk.{number}" for number in range(10)]
    for person in people:
        api.people.add(person, "acme", "finance")
    clients = [await api.of(person) for person in people]

    async def take(at: int) -> dict[str, Any]:
        client = clients[at % len(clients)]
        answer = await client.post("/v1/queues/payments.payouts/claim-next", json={}, headers=key_header())
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()["item"]
        return found

    taken = await asyncio.gather(*map(take, range(50)))
    assert len({item["id"] for item in taken}) == 50
    assert {item["fence"] for item in taken} == {1}
    last = await clients[0].post("/v1/queues/payments.payouts/claim-next", json={}, headers=key_header())
    assert (last.status_code, last.json()["item"]) == (200, None)


@pytest.mark.requirement("MONEY-32")
async def test_an_item_has_one_address_so_a_key_acts_once(api: Api) -> None:
    item = (await api.push("K-1"))["id"]
    client = await api.of("m.ito")
    await claim(client, item)

    async def note(address: str) -> httpx.Response:
        order = {"money_version": 1, "fence": 1, "inputs": {"text": "Rang them"}}
        return await client.post(f"/v1/items/{address}/acts/payments.note", json=order, headers=key_header("k-1"))

    assert (await note(item)).status_code == 200
    problem_of(await note(item.upper()), 404, "not-found")
    again = await note(item)
    assert (again.status_code, again.headers["Idempotency-Replayed"]) == (200, "true")
    assert len((await client.get(f"/v1/items/{item}")).json()["acts"]) == 1
