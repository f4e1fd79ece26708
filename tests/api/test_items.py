"""Items over HTTP: pages, cursors, pushes, their bounds, what may be sent and what may not."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from jobcontract.items import ItemPage
from jobservice.api.context import Bounds
from tests.api.conftest import Api, MakeApp, key_header, payout, problem_of, until, with_settings
from tests.conftest import People

ITEMS = "/v1/queues/payments.payouts/items"


async def pages(api: Api, person: str, limit: int) -> list[dict[str, Any]]:
    client = await api.of(person)
    found: list[dict[str, Any]] = []
    cursor: dict[str, str] = {}
    while True:
        answer = await client.get(ITEMS, params={"limit": str(limit), **cursor})
        assert answer.status_code == 200, answer.text
        page = answer.json()
        found += page["items"]
        if page["next"] is None:
            return found
        cursor = {"cursor": page["next"]}


async def test_the_page_that_postgresql_built_is_the_contracts(api: Api) -> None:
    for number, currency in enumerate(("GBP", "JPY", "KWD")):
        await api.push(f"K-{number}", amount={"minor": -1234, "currency": currency}, title='Ä "q" \\ \u2028')
    await api.push("K-9", created="2026-03-02T09:00:00.123456+05:30")
    payee = {"id": '"P"', "name": '{"a": [\\]}', "account": "GB29NWBK60161331926819"}
    await api.push('"}, ', created="2026-03-01T09:00:00Z", payee=payee, inputs={"invoice": '"\\\u2029'})
    answer = await (await api.of("m.ito")).get(ITEMS)
    page = ItemPage.model_validate_json(answer.content, strict=True)
    assert answer.headers["content-type"] == "application/json"
    assert [(item.key, item.amount and (item.amount.minor, item.amount.exponent)) for item in page.items] == [
        ('"}, ', (123450, 2)),
        ("K-9", (123450, 2)),
        ("K-0", (-1234, 2)),
        ("K-1", (-1234, 0)),
        ("K-2", (-1234, 3)),
    ]
    hostile = page.items[0]
    assert (hostile.payee and hostile.payee.name, hostile.inputs) == (payee["name"], {"invoice": '"\\\u2029'})
    assert page.items[2].title == 'Ä "q" \\ \u2028'
    assert page.next is None


async def test_pages_show_every_item_once(api: Api) -> None:
    # Equal dates: the order among them must hold over pages too.
    pushed = [(await api.push(f"K-{number}"))["id"] for number in range(7)]
    assert [item["id"] for item in await pages(api, "m.ito", 2)] == pushed


async def test_a_cursor_is_good_for_its_listing_person_tenant_and_filter_alone(api: Api) -> None:
    for number in range(3):
        await api.push(f"K-{number}")
    api.people.add("m.ito", "globex", "finance")
    mine = await api.of("m.ito", **{"Jobs-Tenant": "acme"})
    asked = {"limit": "1"}
    cursor = (await mine.get(ITEMS, params=asked)).json()["next"]
    assert (await mine.get(ITEMS, params={**asked, "cursor": cursor})).status_code == 200
    other_tenant = await api.of("m.ito", **{"Jobs-Tenant": "globex"})
    tries = [
        (await api.of("k.rao"), ITEMS, asked),
        (other_tenant, ITEMS, asked),
        (mine, ITEMS, {"limit": "2"}),
        (mine, ITEMS, {"limit": "1", "view": "closed"}),
        (mine, "/v1/queues/payments.disputes/items", asked),
        (await api.of("s.audit"), "/v1/audit", asked),
    ]
    for client, path, params in tries:
        problem_of(await client.get(path, params={**params, "cursor": cursor}), 400, "cursor-invalid")
    for forged in ("", "x", cursor[:-1], cursor + "A", cursor[1:]):
        problem_of(await mine.get(ITEMS, params={**asked, "cursor": forged}), 400, "cursor-invalid")


@pytest.mark.requirement("order-queue-items-by-score")
async def test_pages_go_both_ways_and_end_with_what_moved(api: Api) -> None:
    for number in range(5):
        await api.push(f"K-{number}")
    client = await api.of("m.ito")

    async def page(**params: str) -> ItemPage:
        answer = await client.get(ITEMS, params={"limit": "2", **params})
        return ItemPage.model_validate_json(answer.content, strict=True)

    async def keys(cursor: str | None) -> list[str | None]:
        assert cursor is not None
        return [item.key for item in (await page(cursor=cursor)).items]

    last = await page(start="last")
    assert ([item.key for item in last.items], last.next) == (["K-3", "K-4"], None)
    assert await keys(last.previous) == ["K-1", "K-2"]
    found = await page(start="item:K-1")
    assert await keys(found.previous) == ["K-0"]
    rest = await page(cursor=str(found.next))
    await api.push("OLD", created="2020-01-01T00:00:00Z")
    caught = await page(cursor=str(rest.next))
    assert ([item.key for item in caught.items], caught.catch_up) == (["OLD"], True)
    assert (caught.previous, caught.next) == (None, None)


async def test_what_a_page_cannot_be_asked_for_is_refused(api: Api) -> None:
    await api.push("K-1")
    client = await api.of("m.ito")
    cursor = (await client.get(ITEMS, params={"limit": "1", "start": "score:-900"})).json()["previous"]
    for params, status, code in (
        ({"start": "middle"}, 422, "invalid-request"),
        ({"start": "last", "cursor": cursor, "limit": "1"}, 422, "invalid-request"),
        ({"start": "item:nothing"}, 404, "not-found"),
        ({"start": "x" * 300}, 422, "invalid-request"),
        ({"filter": "x" * 501}, 422, "invalid-request"),
        ({"filter": "amount>1 currency:"}, 422, "filter-invalid"),
        ({"cursor": cursor, "limit": "1", "filter": "k"}, 400, "cursor-invalid"),
        ({"filter_text": "k"}, 422, "invalid-request"),
    ):
        problem_of(await client.get(ITEMS, params=params), status, code)
    assert [
        item["key"] for item in (await client.get(ITEMS, params={"limit": "1", "cursor": cursor})).json()["items"]
    ] == ["K-1"]


async def test_pages_of_the_audit_trail_join(api: Api) -> None:
    for number in range(5):
        await api.push(f"K-{number}")
    auditor = await api.of("s.audit")
    whole = (await auditor.get("/v1/audit")).json()["entries"]
    found: list[dict[str, Any]] = []
    cursor: dict[str, str] = {}
    while True:
        page = (await auditor.get("/v1/audit", params={"limit": "2", **cursor})).json()
        found += page["entries"]
        if page["next"] is None:
            break
        cursor = {"cursor": page["next"]}
    assert len(whole) == 5
    assert found == whole


@pytest.mark.requirement("MONEY-01")
async def test_yen_are_pushed_and_shown_in_their_own_unit(api: Api) -> None:
    item = await api.push("JPY-1", amount={"minor": 1234, "currency": "JPY"})
    assert item["amount"] == {"minor": 1234, "currency": "JPY", "exponent": 0}
    client = await api.of("m.ito")
    assert (await client.get(f"/v1/items/{item['id']}")).json()["item"]["amount"] == item["amount"]
    totals = (await client.get("/v1/queues/payments.payouts/totals")).json()
    assert [(one["currency"], one["exponent"], one["out_minor"]) for one in totals["totals"]] == [("JPY", 0, 1234)]


BAD: dict[str, dict[str, Any]] = {
    "float-amount": {"amount": {"minor": 1234.5, "currency": "GBP"}},
    "whole-float-amount": {"amount": {"minor": 1234.0, "currency": "GBP"}},
    "text-amount": {"amount": {"minor": "1234", "currency": "GBP"}},
    "true-amount": {"amount": {"minor": True, "currency": "GBP"}},
    "no-such-currency": {"amount": {"minor": 1, "currency": "XXY"}},
    "lower-case-currency": {"amount": {"minor": 1, "currency": "gbp"}},
    "nul-title": {"title": "a\x00b"},
    "surrogate-title": {"title": "a\ud800"},
    "nul-in-payload": {"payload": {"a": ["\x00"]}},
    "surrogate-name-in-payload": {"payload": {"\udc00": 1}},
    "deep-payload": {"payload": {"a": [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}},
    "no-instant": {"created": "yesterday"},
    "early-instant": {"created": "0000-01-01T00:00:00Z"},
    "no-offset": {"created": "2026-03-02T09:00:00"},
    "empty-key": {"key": ""},
    "long-key": {"key": "k" * 201},
    "not-a-key": {"key": 5},
    "inputs-list": {"inputs": ["invoice"]},
    "unknown-input": {"inputs": {"invoice": "I", "surprise": "x"}},
    "account": {"payee": {"id": "P", "name": "n", "account": "GB29 NWBK"}},
}


@pytest.mark.requirement("MONEY-01")
@pytest.mark.parametrize("name", BAD)
async def test_what_cannot_be_right_is_refused_in_words(api: Api, name: str) -> None:
    client = await api.of("p.push")
    body = json.dumps(payout("K-1") | BAD[name])  # escapes, so that what is no character can be sent
    headers = {**key_header(), "Content-Type": "application/json"}
    answer = await client.post(ITEMS, content=body, headers=headers)
    found = problem_of(answer, 422, "invalid-request")
    assert len(found["detail"].split()) >= 4
    assert (await pages(api, "m.ito", 10)) == []


@pytest.mark.parametrize("body", [b"", b"null", b"[]", b"7", b'"x"', b"{]", b"\xff\xfe", b"[" * 30_000, b"9" * 5_000])
async def test_what_is_no_item_at_all_is_refused_in_words(api: Api, body: bytes) -> None:
    client = await api.of("p.push")
    headers = {**key_header(), "Content-Type": "application/json"}
    problem_of(await client.post(ITEMS, content=body, headers=headers), 422, "invalid-request")


@pytest.mark.requirement("PG-01")
async def test_large_payloads_are_kept_whole_up_to_the_setting(make_app: MakeApp, service: Any, api: Api) -> None:
    client = await api.of("m.ito")
    for number, text in enumerate(("x" * 7_900, "x" * 8_100, "x" * 200_000, "é" * 4_100)):
        item = await api.push(f"K-{number}", payload={"text": text})
        assert (await client.get(f"/v1/items/{item['id']}")).json()["payload"] == {"text": text}
    most = service.records.settings.payload_most
    pusher = await api.of("p.push")
    answer = await pusher.post(ITEMS, json=payout("K-9", payload={"text": "x" * most}), headers=key_header())
    assert problem_of(answer, 413, "body-too-large")["detail"].startswith(f"The body is larger than {most:,} bytes")


async def test_a_push_may_be_as_large_as_the_setting_says_and_no_larger(
    make_app: MakeApp, service: Any, people: People, api: Api
) -> None:
    small = Api(app=make_app(service=with_settings(service, payload_most=2_000)), people=people, stack=api.stack)
    client = await small.of("p.push")
    room = 2_000 - len(client.build_request("POST", ITEMS, json=payout("K-1", payload={"t": ""})).content)
    fits = await client.post(ITEMS, json=payout("K-1", payload={"t": "x" * room}), headers=key_header())
    assert fits.status_code == 201, fits.text
    too_large = await client.post(ITEMS, json=payout("K-2", payload={"t": "x" * (room + 1)}), headers=key_header())
    assert problem_of(too_large, 413, "body-too-large")["most"] == 2_000

    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield b" " * 1_000

    headers = {**key_header(), "Content-Type": "application/json"}
    problem_of(await client.post(ITEMS, content=endless(), headers=headers), 413, "body-too-large")


async def test_other_bodies_are_small(api: Api) -> None:
    item = await api.push("K-1")
    client = await api.of("m.ito")
    answer = await client.post(f"/v1/items/{item['id']}/claim", content=b" " * 65_537, headers=key_header())
    problem_of(answer, 413, "body-too-large")


async def test_an_item_is_changed_under_its_version_by_any_business_key(api: Api) -> None:
    await api.push("2026/03 a b?#%")
    client = await api.of("p.push")
    path = f"{ITEMS}/2026%2F03%20a%20b%3F%23%25"
    body = {name: value for name, value in payout("x", title="Changed").items() if name not in ("key", "created")}
    changed = await client.put(path, json={**body, "money_version": 1})
    assert (changed.status_code, changed.json()["item"]["title"]) == (200, "Changed"), changed.text
    assert (await client.put(path, json={**body, "money_version": 1})).json() == changed.json()  # the same once more
    late = {**body, "title": "Late", "money_version": 1}
    stale = problem_of(await client.put(path, json=late), 409, "version-changed")
    assert {"field": "title", "before": "Payout 2026/03 a b?#%", "after": "Changed"} in stale["changes"]
    problem_of(await client.put(f"{ITEMS}/nothing", json={**body, "money_version": 1}), 404, "not-found")


async def test_a_held_item_is_changed_too_and_the_document_says_no_other(api: Api) -> None:
    item = await api.push("K-1")
    await (await api.of("m.ito")).post(f"/v1/items/{item['id']}/claim", json={}, headers=key_header())
    client = await api.of("p.push")
    body = {name: value for name, value in payout("x", title="Changed").items() if name not in ("key", "created")}
    changed = (await client.put(f"{ITEMS}/K-1", json={**body, "money_version": 1})).json()["item"]
    assert (changed["title"], changed["holder"]["id"]) == ("Changed", "m.ito")
    document = (await client.get("/v1/openapi.json")).json()
    conflicts = document["paths"]["/v1/queues/{queue}/items/{key}"]["put"]["responses"]["409"]["description"]
    codes = [each.partition(":")[0] for each in conflicts.split("; ")]
    assert codes == ["`version-changed`", "`item-closed`", "`in-plan`"]


async def test_nobody_sees_or_touches_the_other_tenant(api: Api) -> None:
    item = await api.push("K-1")
    stranger = await api.of("g.fin")
    assert await pages(api, "g.fin", 10) == []
    unknown = "0199a0c0-0000-7000-8000-000000000000"
    for identifier in (item["id"], unknown):
        path = f"/v1/items/{identifier}"
        answers = [await stranger.get(path)]
        for order, body in (
            ("claim", {}),
            ("renew-claim", {"fence": 1}),
            ("release-claim", {"fence": 1}),
            ("break-claim", {"fence": 1, "reason": "r"}),
            ("acts/payments.note", {"money_version": 1, "inputs": {"text": "t"}}),
        ):
            answers.append(await stranger.post(f"{path}/{order}", json=body, headers=key_header()))
        details = {problem_of(answer, 404, "not-found")["detail"].replace(identifier, "ID") for answer in answers}
        assert len(details) <= 2, details
    # The same business key is free in the other tenant.
    assert (await api.push("K-1", person="g.push"))["id"] != item["id"]
    assert [one["key"] for one in await pages(api, "m.ito", 10)] == ["K-1"]


async def test_only_so_many_listings_at_once_a_person(
    make_app: MakeApp, service: Any, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = make_app(service=with_settings(service, listings_max=2))
    narrow = Api(app=app, people=api.people, stack=api.stack)
    client, colleague = await narrow.of("m.ito"), await narrow.of("k.rao")
    # Hold the table against reading: what is asked now waits, so that all are open at once.
    with api.people.connection.transaction():
        api.people.connection.execute("lock table jobs.items in access exclusive mode")
        waiting = [asyncio.create_task(client.get(ITEMS)) for _ in range(2)]
        await until(lambda: app.state.context.listings.open == 2)
        refused = await client.get(ITEMS)
        assert problem_of(refused, 429, "too-many-listings")["most"] == 2
        assert int(refused.headers["Retry-After"]) > 0
        other = asyncio.create_task(colleague.get(ITEMS))
        await until(lambda: app.state.context.listings.open == 3)
    answers = await asyncio.gather(*waiting, other)
    assert [answer.status_code for answer in answers] == [200, 200, 200]
    assert (await client.get(ITEMS)).status_code == 200


async def test_a_request_that_takes_too_long_is_stopped(make_app: MakeApp, api: Api) -> None:
    hasty = Api(app=make_app(bounds=Bounds(request_seconds=0.3)), people=api.people, stack=api.stack)
    client, pusher = await hasty.of("m.ito"), await hasty.of("p.push")
    with api.people.connection.transaction():
        api.people.connection.execute("lock table jobs.items in access exclusive mode")
        answer = await client.get(ITEMS)
        assert problem_of(answer, 503, "timed-out")["detail"].endswith("Try again.")
        key = key_header()
        answer = await pusher.post(ITEMS, json=payout("K-1"), headers=key)
        assert "with the same Idempotency-Key" in problem_of(answer, 503, "timed-out")["detail"]
        assert answer.headers["Retry-After"] == "5"
    again = await pusher.post(ITEMS, json=payout("K-1"), headers=key)
    assert again.status_code == 201
