"""The list of operations is the contract's; what is true of every request: sign-in, tenants, problems, references."""

from __future__ import annotations

import json
from typing import Any

import pytest
import structlog
from fastapi.routing import APIRoute

from jobcontract import routes
from jobcontract.errors import ErrorCode
from jobcontract.permissions import GRANTS, Permission, missing
from jobcontract.routes import ROUTES, Route
from jobcontract.states import Role
from jobservice.api.app import ENDPOINTS, create_app
from jobservice.api.problems import problem
from jobservice.usecases import items
from jobservice.usecases.service import Service
from tests.api.conftest import SIGNING_KEY, Api, key_header, payout, problem_of
from tests.conftest import CAST

ITEM = "0199a0c0-0000-7000-8000-000000000000"
PERSON_OF = {Role(role): person for person, (_, tenant, role) in CAST.items() if tenant == "acme"}
SIGNED_IN = [route for route in ROUTES if not route.public]


def path_of(route: Route) -> str:
    path = route.path.replace("{key:path}", "K-1").replace("{queue}", "payments.payouts").replace("{item}", ITEM)
    return path.replace("{use_case}", "payments.note")


def test_the_operations_are_the_contracts(api: Api) -> None:
    served = {
        (route.name, method, route.path)
        for route in api.app.routes
        if isinstance(route, APIRoute)
        for method in route.methods or ()
    }
    assert served == {(route.name, route.method, route.path) for route in ROUTES}
    assert [endpoint.route.name for endpoint in ENDPOINTS] == list(dict.fromkeys(e.route.name for e in ENDPOINTS))


def test_no_other_page_is_served(api: Api) -> None:
    others = [getattr(route, "path", None) for route in api.app.routes if not isinstance(route, APIRoute)]
    assert others == ["/v1/openapi.json"]


@pytest.mark.requirement("MONEY-24")
@pytest.mark.parametrize("role", Role)
async def test_every_role_may_do_what_the_one_table_says(api: Api, role: Role) -> None:
    client = await api.of(PERSON_OF[role])
    for route in SIGNED_IN:
        if route.permission is None:
            continue
        # No body and no key: a role that may is told of those, so it got past the permission; nothing is changed.
        answer = await client.request(route.method, path_of(route))
        if route.permission in GRANTS[role] or (route.name == "job-kinds" and Permission.JOB_SUBMIT in GRANTS[role]):
            assert answer.status_code != 403, (route.name, answer.text)
            continue
        found = problem_of(answer, 403, "permission-missing")
        assert (route.name, found["permission"]) == (route.name, route.permission)
        assert found["detail"] == missing(route.permission, "acme")
        assert "Ask an administrator of acme to have it granted on the server." in found["detail"]


async def test_a_refused_act_is_in_the_audit_trail_and_a_refused_look_is_not(api: Api) -> None:
    operator = await api.of("o.lind")
    await operator.post(f"/v1/items/{ITEM}/acts/payments.note", json={}, headers={"Jobs-Reference": "ref-12345"})
    await (await api.of("p.push")).get("/v1/queues")
    trail = (await (await api.of("s.audit")).get("/v1/audit")).json()["entries"]
    assert [(row["person"]["id"], row["action"], row["subject"], row["outcome"]) for row in trail] == [
        ("o.lind", "payments.note", ITEM, "refused")
    ]
    assert trail[0]["detail"]["code"] == "permission-missing"


async def test_what_never_became_an_acting_request_is_no_row_of_the_trail(api: Api) -> None:
    clerk = await api.of("m.ito")
    path, key = f"/v1/items/{ITEM}/claim", {"Idempotency-Key": "k-1"}
    problem_of(await clerk.post(path, json={}), 400, "idempotency-key-missing")
    problem_of(await clerk.post(path, content=b"{", headers=key), 422, "invalid-request")
    auditor = await api.of("s.audit")
    assert (await auditor.get("/v1/audit")).json()["entries"] == []
    problem_of(await clerk.post(path, json={}, headers=key), 404, "not-found")
    assert [row["outcome"] for row in (await auditor.get("/v1/audit")).json()["entries"]] == ["refused"]


async def test_nobody_gets_in_without_a_token(api: Api) -> None:
    for headers in (
        {},
        {"Authorization": "Basic bTppdG8="},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer x"},
    ):
        client = await api.of(None, **headers)
        for route in SIGNED_IN:
            answer = await client.request(route.method, path_of(route))
            problem_of(answer, 401, "unauthenticated")
            assert answer.headers["WWW-Authenticate"].startswith("Bearer"), route.name


async def test_a_token_that_ended_says_so(api: Api) -> None:
    client = await api.of("m.ito")
    api.people.connection.execute("update jobs.tokens set revoked_at = jobs.now()")
    problem_of(await client.get("/v1/me"), 401, "token-expired")


async def test_someone_with_one_tenant_need_not_name_it(api: Api) -> None:
    assert (await (await api.of("m.ito")).get("/v1/queues")).status_code == 200
    named = await api.of("m.ito", **{"Jobs-Tenant": "acme"})
    assert (await named.get("/v1/queues")).status_code == 200


async def test_someone_with_several_tenants_names_one(api: Api) -> None:
    api.people.add("m.ito", "globex", "auditor")
    client = await api.of("m.ito")
    found = problem_of(await client.get("/v1/queues"), 400, "tenant-required")
    assert found["detail"] == "Name one of your tenants with Jobs-Tenant: acme, globex."
    me = (await client.get("/v1/me")).json()
    assert [(one["tenant"], one["role"]) for one in me["tenants"]] == [("acme", "finance"), ("globex", "auditor")]
    # The role is that of the tenant named: an auditor may not claim.
    headers = {"Jobs-Tenant": "globex", **key_header()}
    answer = await client.post(f"/v1/items/{ITEM}/claim", json={}, headers=headers)
    problem_of(answer, 403, "permission-missing")


@pytest.mark.parametrize("tenant", ["globex", "nowhere", "ACME", "acme "])
async def test_a_foreign_tenant_and_one_that_is_none_are_refused_alike(api: Api, tenant: str) -> None:
    client = await api.of("m.ito", **{"Jobs-Tenant": tenant})
    for path in ("/v1/queues", "/v1/me", "/v1/events"):
        answer = await client.get(path)
        if tenant == "acme " and answer.status_code == 200:
            continue  # HTTP trims what stands around a header's value
        problem_of(answer, 403, "tenant-unknown")


async def test_whatever_is_not_there_is_a_problem_too(api: Api) -> None:
    client = await api.of("m.ito")
    problem_of(await client.get("/v2/queues"), 404, "not-found")
    problem_of(await client.get("/v1/queues/"), 404, "not-found")
    answer = await client.delete("/v1/queues")
    problem_of(answer, 405, "method-not-allowed")
    assert answer.headers["Allow"] == "GET"
    problem_of(await client.get(f"/v1/items/{ITEM}"), 404, "not-found")
    problem_of(await client.get("/v1/items/not-an-id"), 404, "not-found")
    problem_of(await client.get("/v1/items/a%00b"), 404, "not-found")
    problem_of(await client.get("/v1/queues/no.such/items"), 404, "not-found")


async def test_query_parameters_are_checked_and_unknown_ones_named(api: Api) -> None:
    client = await api.of("m.ito")
    path = "/v1/queues/payments.payouts/items"
    found = problem_of(await client.get(path, params={"limt": "5"}), 422, "invalid-request")
    assert found["errors"] == [
        {
            "where": "query.limt",
            "sentence": "query.limt is not a parameter of this address (it takes: cursor, filter, limit, start, view).",
        }
    ]
    for name, value in (("limit", "0"), ("limit", "201"), ("limit", "x"), ("view", "all"), ("cursor", "\x00")):
        found = problem_of(await client.get(path, params={name: value}), 422, "invalid-request")
        assert found["errors"][0]["where"] == f"query.{name}"


async def test_what_is_wrong_is_said_without_repeating_it(api: Api) -> None:
    client = await api.of("p.push")
    body = payout("K-1", amount={"minor": "secret-12", "currency": "pounds"}, surprise="secret-34")
    answer = await client.post("/v1/queues/payments.payouts/items", json=body, headers=key_header())
    found = problem_of(answer, 422, "invalid-request")
    assert {error["where"] for error in found["errors"]} == {
        "body.amount.minor",
        "body.amount.currency",
        "body.surprise",
    }
    assert "body.surprise is not a known member." in {error["sentence"] for error in found["errors"]}
    assert found["detail"].endswith("2 more such places are named in errors.")
    assert "secret" not in answer.text


async def test_a_reference_is_echoed_and_made_where_there_is_none(api: Api) -> None:
    client = await api.of("m.ito")
    given = await client.get("/v1/me", headers={"Jobs-Reference": "console-0001"})
    assert given.headers["Jobs-Reference"] == "console-0001"
    made = {(await client.get("/v1/me")).headers["Jobs-Reference"] for _ in range(2)}
    assert len(made) == 2
    for odd in ("x", "y" * 65, "a b c d e f", "\x1b[31mredred"):
        assert (await client.get("/v1/me", headers={"Jobs-Reference": odd})).headers["Jobs-Reference"] != odd


async def test_a_fault_tells_nothing_of_its_inside(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: object, **__: object) -> None:
        raise KeyError("secret-56")

    monkeypatch.setattr(items, "read_item", broken)
    client = await api.of("m.ito")
    with structlog.testing.capture_logs() as log:
        answer = await client.get(f"/v1/items/{ITEM}")
    found = problem_of(answer, 500, "internal")
    faults = [line for line in log if line["event"] == "fault"]
    assert [(line["reference"], line["error"]) for line in faults] == [(found["reference"], "builtins.KeyError")]
    assert "secret-56" not in answer.text + json.dumps(log)


async def test_log_lines_have_the_reference_and_no_secret(api: Api) -> None:
    client = await api.of("p.push")
    with structlog.testing.capture_logs() as log:
        answer = await client.post(
            "/v1/queues/payments.payouts/items", json=payout("K-1", title="secret-78"), headers=key_header("k-secret")
        )
    lines = [line for line in log if line["event"] == "request"]
    assert [(line["route"], line["status"], line["reference"]) for line in lines] == [
        ("push-item", 201, answer.headers["Jobs-Reference"])
    ]
    text = json.dumps(log)
    assert api.people.token("p.push") not in text
    assert "secret" not in text


async def test_every_answer_is_kept_out_of_caches_and_other_origins(api: Api) -> None:
    client = await api.of("m.ito")
    for answer in (await client.get("/v1/me", headers={"Origin": "http://evil.test"}), await client.get("/v1/nothing")):
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert "Access-Control-Allow-Origin" not in answer.headers


def test_a_problem_carries_what_a_refusal_adds_but_not_over_its_own_members() -> None:
    scope: dict[str, Any] = {"jobs.reference": "r"}
    answer = problem(scope, ErrorCode.CLAIM_HELD, "Held.", {"holder": {"id": "k.rao"}, "status": 200})
    body = json.loads(bytes(answer.body))
    assert (body["holder"], body["status"], body["type"]) == ({"id": "k.rao"}, 409, "urn:jobs:problem:claim-held")


async def test_a_short_signing_key_is_refused(service: Service) -> None:
    with pytest.raises(ValueError, match="signing key"):
        create_app(service, signing_key=SIGNING_KEY[:31], schema_version="1")


async def test_the_document_describes_every_operation(api: Api) -> None:
    client = await api.of(None)
    document: dict[str, Any] = (await client.get("/v1/openapi.json")).json()
    assert document["openapi"].startswith("3.1")
    described = {
        operation["operationId"]: operation for path in document["paths"].values() for operation in path.values()
    }
    assert described.keys() == {route.name for route in ROUTES}
    for route in SIGNED_IN:
        operation = described[route.name]
        assert operation["security"] == [{"token": []}]
        assert {"401", "503", "422"} <= operation["responses"].keys()
        unlike = [
            status
            for status, answer in operation["responses"].items()
            if int(status) >= 400 and list(answer["content"]) != ["application/problem+json"]
        ]
        assert unlike == []
        headers = {one["name"]: one["required"] for one in operation["parameters"] if one["in"] == "header"}
        assert headers.get("Idempotency-Key") is (True if route.acts else None)
        assert headers["Jobs-Tenant"] is False
    answer = described["queue-items"]["responses"]["200"]["content"]["application/json"]["schema"]
    assert answer == {"$ref": "#/components/schemas/ItemPage"}
    assert routes.QUEUE_ITEMS.permission == Permission.QUEUE_READ


async def test_the_document_leads_nowhere_else(api: Api) -> None:
    """Every reference in the document is to something in it."""
    document = (await (await api.of(None)).get("/v1/openapi.json")).json()

    def references(value: Any) -> list[str]:
        if isinstance(value, dict):
            own = [value["$ref"]] if isinstance(value.get("$ref"), str) else []
            return own + [found for member in value.values() for found in references(member)]
        if isinstance(value, list):
            return [found for member in value for found in references(member)]
        return []

    known = {f"#/components/schemas/{name}" for name in document["components"]["schemas"]}
    assert set(references(document)) <= known
