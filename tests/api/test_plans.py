"""Plans over HTTP: making one of many ids, pages with signed cursors, walls between tenants and roles, hostile texts, the
file that leaves."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from typing import Any

import httpx
import pytest

from jobcontract.plans import PLAN_ITEMS_MOST, ExclusionPage, Plan, PlanItemPage, WarningPage
from tests.api.conftest import Api, key_header, problem_of
from tests.hostile import HOSTILE

pytestmark = pytest.mark.requirement("show-a-preview-before-bulk-money-actions")

PLANS = "/v1/queues/payments.payouts/plans"
COMMAND = "payments.release-many"


async def make(client: httpx.AsyncClient, **what: Any) -> Mapping[str, Any]:
    """The plan of whatever waits, or of what is named; validated by the contract."""
    answer = await client.post(PLANS, json={"command": COMMAND, **(what or {"filter": ""})}, headers=key_header())
    assert answer.status_code == 201, answer.text
    Plan.model_validate_json(answer.text)
    plan: dict[str, Any] = answer.json()
    return plan


@pytest.mark.requirement("MONEY-9")
async def test_a_plan_is_made_read_page_by_page_changed_exported_and_dropped(api: Api) -> None:
    for number in range(5):
        await api.push(f"K-{number}", amount={"minor": (number - 1) * 100 or 50, "currency": "GBP"})
    client = await api.of("m.ito")
    plan = await make(client)
    there = f"/v1/plans/{plan['id']}"
    assert (await client.get(there)).json()["name"] == plan["name"]
    assert [each["id"] for each in (await client.get("/v1/plans?owner=me&state=live")).json()["plans"]] == [plan["id"]]
    seen: list[str] = []
    cursor = ""
    while True:
        page = PlanItemPage.model_validate_json((await client.get(f"{there}/items?limit=2{cursor}")).text)
        assert (page.edition, page.matching) == (1, 5)
        seen += [row.item for row in page.items]
        if page.next is None:
            break
        cursor = f"&cursor={page.next}"
    assert seen == sorted(seen)
    warned = WarningPage.model_validate_json((await client.get(f"{there}/warnings?limit=3")).text)
    assert warned.next is not None
    rest = await client.get(f"{there}/warnings?limit=3&cursor={warned.next}")
    assert {each["id"] for each in rest.json()["warnings"]}.isdisjoint(each.id for each in warned.warnings)
    kept = {"warning": warned.warnings[0].id, "reason": "As agreed"}
    assert (await client.post(f"{there}/keep-in", json=kept, headers=key_header())).status_code == 200
    out = await client.post(f"{there}/take-out", json={"items": seen[:1]}, headers=key_header())
    assert (out.json()["edition"], out.json()["count"]) == (2, 4)
    left = ExclusionPage.model_validate_json((await client.get(f"{there}/exclusions")).text)
    assert [(each.item, each.reason) for each in left.items] == [(seen[0], "taken-out")]
    digest = api.people.connection.execute("select encode(digest, 'hex') from jobs.plans").fetchone()
    for answer in (out, await client.get(there), await client.get(f"{there}/items"), await client.get("/v1/plans")):
        assert digest is not None
        assert digest[0] not in answer.text, "whoever confirms has read every page"
    file = await client.get(f"{there}/export")
    assert file.headers["content-type"] == "text/csv; charset=utf-8"
    assert file.headers["content-disposition"] == f'attachment; filename="{plan["name"]}.csv"'
    assert len(file.text.splitlines()) == 5
    dropped = await client.post(f"{there}/drop", json={}, headers=key_header())
    assert dropped.json()["state"] == "dropped"
    problem_of(await client.post(f"{there}/drop", json={}, headers=key_header()), 409, "plan-state")


@pytest.mark.requirement("MONEY-33")
async def test_a_cursor_is_good_for_its_listing_person_and_question_alone(api: Api) -> None:
    for number in range(3):
        await api.push(f"K-{number}")
    client = await api.of("m.ito")
    plan = await make(client)
    there = f"/v1/plans/{plan['id']}"
    cursor = (await client.get(f"{there}/items?limit=1&sort=payee")).json()["next"]
    assert (await client.get(f"{there}/items?limit=1&sort=payee&cursor={cursor}")).status_code == 200
    middle = len(cursor) // 2
    tampered = cursor[:middle] + ("A" if cursor[middle] != "A" else "B") + cursor[middle + 1 :]
    wrong = [
        await client.get(f"{there}/items?limit=1&sort=payee&cursor={tampered}"),
        await client.get(f"{there}/items?limit=1&sort=number&cursor={cursor}"),
        await client.get(f"{there}/items?limit=2&sort=payee&cursor={cursor}"),
        await client.get(f"{there}/items?limit=1&sort=payee&search=ash&cursor={cursor}"),
        await client.get(f"{there}/items?limit=1&sort=payee&turn=done&cursor={cursor}"),
        await client.get(f"{there}/warnings?limit=1&cursor={cursor}"),
        await client.get(f"{there}/exclusions?limit=1&cursor={cursor}"),
        await client.get(f"{there}/items?limit=1&sort=payee&cursor=x"),
        await (await api.of("k.rao")).get(f"{there}/items?limit=1&sort=payee&cursor={cursor}"),
    ]
    for answer in wrong:
        problem_of(answer, 400, "cursor-invalid")


async def test_who_may_do_what_and_foreign_plans_answer_as_unknown(api: Api) -> None:
    item = await api.push("K-1")
    plan = await make(await api.of("m.ito"))
    there = f"/v1/plans/{plan['id']}"
    reads = ("", "/items", "/exclusions", "/warnings", "/export")
    for person in ("k.rao", "o.lind", "s.audit"):
        client = await api.of(person)
        assert [(await client.get(there + read)).status_code for read in reads] == [200] * len(reads)
    kept: dict[str, Any] = {"warning": "x", "reason": "y"}
    orders: tuple[tuple[str, dict[str, Any]], ...] = (
        ("take-out", {"items": [item["id"]]}),
        ("keep-in", kept),
        ("drop", {}),
    )
    for person in ("o.lind", "s.audit", "k.rao"):
        client = await api.of(person)
        for name, body in orders:
            problem_of(await client.post(f"{there}/{name}", json=body, headers=key_header()), 403, "permission-missing")
    for person in ("s.bell", "p.push", "a.admin"):
        problem_of(await (await api.of(person)).get(there), 403, "permission-missing")
    stranger = await api.of("g.fin")
    for read in reads:
        foreign = problem_of(await stranger.get(there + read), 404, "not-found")
        unknown = problem_of(await stranger.get(f"/v1/plans/{uuid.uuid4()}{read}"), 404, "not-found")
        assert foreign["detail"].partition("'")[0] == unknown["detail"].partition("'")[0]
    for name, body in orders:
        problem_of(await stranger.post(f"{there}/{name}", json=body, headers=key_header()), 404, "not-found")
    assert (await stranger.get("/v1/plans")).json()["plans"] == []
    empty = await stranger.post(PLANS, json={"command": COMMAND, "items": [item["id"]]}, headers=key_header())
    assert problem_of(empty, 422, "plan-empty")["excluded"] == [{"reason": "unknown", "count": 1}]


@pytest.mark.parametrize(
    "body",
    [
        {"command": COMMAND},
        {"command": COMMAND, "filter": "", "items": [str(uuid.uuid4())]},
        {"command": COMMAND, "items": []},
        {"command": COMMAND, "items": ["K-1"]},
        {"command": COMMAND, "items": [str(uuid.uuid4()).upper()]},
        {"command": COMMAND, "items": ["{" + str(uuid.uuid4()) + ",null}"]},
        {"command": COMMAND, "items": [str(uuid.uuid4()) + "\n"]},
        {"command": COMMAND, "filter": "x" * 501},
        {"command": "", "filter": ""},
    ],
)
async def test_an_order_that_cannot_be_read_is_refused_with_its_place(api: Api, body: dict[str, Any]) -> None:
    answer = await (await api.of("m.ito")).post(PLANS, json=body, headers=key_header())
    assert problem_of(answer, 422, "invalid-request")["errors"]


async def test_a_body_names_as_many_ids_as_a_plan_can_have_and_no_more(api: Api) -> None:
    client = await api.of("m.ito")
    item = await api.push("K-1")
    ids = [item["id"], str(uuid.UUID(int=1))] * (PLAN_ITEMS_MOST // 2)
    text = json.dumps({"command": COMMAND, "items": ids}, indent=2)
    headers = {**key_header(), "Content-Type": "application/json"}
    answer = await client.post(PLANS, content=text, headers=headers)
    assert answer.status_code == 201, answer.text[:300]
    assert (answer.json()["count"], answer.json()["excluded"]) == (1, [{"reason": "unknown", "count": 1}])
    more = {"command": COMMAND, "items": [*ids, str(uuid.UUID(int=PLAN_ITEMS_MOST))]}
    problem_of(await client.post(PLANS, json=more, headers=key_header()), 422, "invalid-request")
    large = await client.post(PLANS, content=text + " " * 4_200_000, headers={**headers, **key_header()})
    problem_of(large, 413, "body-too-large")
    small = await client.post(f"/v1/items/{item['id']}/claim", content=text, headers={**headers, **key_header()})
    problem_of(small, 413, "body-too-large")


async def test_texts_are_searched_and_sorted_by_as_they_are(api: Api) -> None:
    await api.push("K-1", title="Ünïcode ‮ Öl", payee={"id": "P", "name": "\U0001f4b7" * 200, "account": "GB29NWBK60"})
    await api.push("K-2", payee={"id": "Q", "name": "\U0001f4b7" * 199 + "x", "account": "GB29NWBK60"})
    client = await api.of("m.ito")
    plan = await make(client)
    there = f"/v1/plans/{plan['id']}/items"
    for text in HOSTILE:
        if "\x00" in text or any("\ud800" <= sign <= "\udfff" for sign in text) or len(text) > 500:
            continue
        answer = await client.get(there, params={"search": text})
        assert answer.status_code == 200, (text, answer.text)
    assert (await client.get(there, params={"search": "öl"})).json()["matching"] == 1
    first = (await client.get(there, params={"sort": "payee", "limit": 1})).json()
    second = await client.get(there, params={"sort": "payee", "limit": 1, "cursor": first["next"]})
    assert {first["items"][0]["key"], second.json()["items"][0]["key"]} == {"K-1", "K-2"}
