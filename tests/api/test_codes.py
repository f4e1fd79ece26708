"""Codes over HTTP: how somebody stands, and that a code is a text which nothing repeats or keeps."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest
from fastapi import FastAPI

from jobservice.api.bodies import to_digest
from tests.api.conftest import Api, key_header

pytestmark = pytest.mark.requirement("confirm-bulk-money-actions-out-of-band")
START = "/v1/money/start"


async def test_finance_may_ask_how_their_codes_stand(api: Api) -> None:
    answer = await (await api.of("m.ito")).get("/v1/me/code")
    assert (answer.status_code, answer.json()) == (
        200,
        {"enrolled": False, "tries_left": 5, "locked_until": None, "locked_for_good": False, "rests_until": None},
    )
    assert (await (await api.of("o.lind")).get("/v1/me/code")).status_code == 403


@pytest.mark.requirement("OTP-03", "OTP-05", "MONEY-26")
@pytest.mark.parametrize("code", [547164, 547164.0, True, ["547164"], {"code": "547164"}, "5" * 33, "5471６4", "54716"])
async def test_a_code_that_is_none_is_422_and_nowhere_repeated(
    api: Api, code: Any, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    stopped = await (await api.of("o.lind")).post("/v1/money/stop", json={"reason": "odd"}, headers=key_header())
    assert stopped.status_code == 200, stopped.text
    body = {"reason": "all is well", "code": code}
    answer = await (await api.of("m.ito")).post(START, json=body, headers=key_header())
    assert answer.status_code == 422, answer.text
    assert "code" in answer.json()["detail"]
    printed = capsys.readouterr()
    everything = answer.text + caplog.text + printed.out + printed.err + str(_kept(api))
    assert all(form not in everything for form in ("547164", "5471６4", "54716"))
    assert "5" * 7 not in everything


def _kept(api: Api) -> list[tuple[Any, ...]]:
    return api.people.connection.execute(
        "select (select json_agg(a)::text from jobs.audit a), (select json_agg(k)::text from jobs.idempotency_keys k)"
    ).fetchall()


@pytest.mark.requirement("MONEY-32")
def test_the_digest_of_a_body_leaves_the_code_out() -> None:
    def digested(body: dict[str, Any]) -> bytes:
        return to_digest(json.dumps(body).encode(), body)

    first = digested({"reason": "so", "code": "168705"})
    assert first == digested({"code": "140418", "reason": "so"})
    assert b"168705" not in first
    assert first != digested({"reason": "other", "code": "168705"})
    assert first != digested({"reason": "so"})
    assert digested({"reason": "so"}) == b'{"reason": "so"}'
    assert to_digest(b"[1]", [1]) == b"[1]"


def test_no_answer_is_described_with_a_code_or_a_secret(api: Api) -> None:
    app: FastAPI = api.app
    schemas = app.openapi()["components"]["schemas"]
    with_code = {name for name, schema in schemas.items() if "code" in schema.get("properties", {})}
    orders = {"Confirm", "ResumePlan", "StartMoney", "WasNotPaid", "ConfirmRecovery", "ResumeRecovery", "LiftOrder"}
    assert with_code <= {*orders, "Problem"}
    for name in with_code - {"Problem"}:
        described = json.dumps(schemas[name]["properties"]["code"])
        assert '"writeOnly": true' in described
        assert '"format": "password"' in described
