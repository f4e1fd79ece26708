"""Confirming over HTTP: pressed twice, repeated after a lost answer, tried with a stolen token (BULK-04, HTTP-03)."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import Any

import httpx
import pytest

from jobcontract import routes
from jobcontract.routes import ROUTES, Route
from jobservice.api.answers import REPLAYED_HEADER
from jobservice.store.database import Database
from tests.api.conftest import Api, MakeApp, key_header, problem_of
from tests.conftest import CAST, Clock, People
from tests.usecases.desk import NOTES, PAYOUTS, RELEASE_MANY, payout
from tests.usecases.money_desk import WRONG, MoneyDesk, money_desk

pytestmark = pytest.mark.requirement("confirm-bulk-money-actions-out-of-band")


@pytest.fixture
def money(database: Database, people: People) -> MoneyDesk:
    """The desk of money, with phones of finance."""
    return money_desk(database, people)


@pytest.fixture
def api(make_app: MakeApp, money: MoneyDesk, stack: AsyncExitStack) -> Api:
    """The application over that desk's service."""
    return Api(app=make_app(service=money.service), people=money.people, stack=stack)


def order(money: MoneyDesk, plan: dict[str, Any], code: str | None) -> dict[str, Any]:
    return {"digest": money.digest(plan), **({} if code is None else {"code": code})}


@pytest.mark.requirement("BULK-04")
@pytest.mark.parametrize("keys", ["equal", "different"])
async def test_pressing_twice_confirms_once(api: Api, money: MoneyDesk, keys: str) -> None:
    plan = await money.plan(await money.pushed(3))
    client, body, key = await api.of("m.ito"), order(money, plan, money.code()), key_header()
    path = f"/v1/plans/{plan['id']}/confirm"
    answers = await asyncio.gather(
        *(client.post(path, json=body, headers=key if keys == "equal" else key_header()) for _ in range(4))
    )
    good = [answer for answer in answers if answer.status_code == 200]
    assert good
    assert len([answer for answer in good if REPLAYED_HEADER not in answer.headers]) == 1
    assert {answer.json()["id"] for answer in good} == {plan["id"]}
    for answer in answers:
        if answer.status_code != 200:
            problem = problem_of(answer, 409, "plan-state")
            assert (problem["plan"], problem["state"]) == (plan["id"], "applying")
    assert len(good) == (4 if keys == "equal" else 1)
    assert money.moved() == (1, 3, 1, 0, 0)
    assert money.rows("select count(*) from jobs.audit where action = 'code-accepted'") == [(1,)]
    assert money.rows("select count(*) from jobs.code_failures") == [(0,)]


@pytest.mark.requirement("HTTP-03")
async def test_a_repeat_after_a_lost_answer_gets_the_first_one_with_whatever_code(
    api: Api, money: MoneyDesk, clock: Clock
) -> None:
    plan = await money.plan(await money.pushed(1))
    client, key, path = await api.of("m.ito"), key_header(), f"/v1/plans/{plan['id']}/confirm"
    first = await client.post(path, json=order(money, plan, money.code()), headers=key)
    assert first.status_code == 200, first.text
    spent = money.spent()
    clock.advance(60)
    for code in (money.code(), WRONG):
        again = await client.post(path, json=order(money, plan, code), headers=key)
        assert (again.status_code, again.json()) == (200, first.json())
        assert again.headers[REPLAYED_HEADER] == "true"
    assert money.spent() == spent
    assert money.rows("select count(*) from jobs.code_failures") == [(0,)]


@pytest.mark.requirement("OTP-05", "MONEY-15")
async def test_a_wrong_code_says_how_many_tries_are_left(api: Api, money: MoneyDesk) -> None:
    plan = await money.plan(await money.pushed(1))
    client = await api.of("m.ito")
    answer = await client.post(f"/v1/plans/{plan['id']}/confirm", json=order(money, plan, WRONG), headers=key_header())
    problem = problem_of(answer, 409, "code-wrong")
    assert problem["detail"] == "That code is not right. 4 tries left."
    assert (problem["tries_left"], problem["locked_until"]) == (4, None)


@pytest.mark.requirement("OTP-03")
@pytest.mark.parametrize("code", ["47164", "abcdef", "", 47164, "1" * 33])
async def test_what_is_no_code_is_refused_and_not_counted(api: Api, money: MoneyDesk, code: object) -> None:
    plan = await money.plan(await money.pushed(1))
    client = await api.of("m.ito")
    body = {"digest": money.digest(plan), "code": code}
    answer = await client.post(f"/v1/plans/{plan['id']}/confirm", json=body, headers=key_header())
    problem = problem_of(answer, 422, "invalid-request")
    assert str(code) not in problem["detail"] or code == ""
    assert money.rows("select count(*) from jobs.code_failures") == [(0,)]


@pytest.mark.requirement("MONEY-20")
async def test_a_plan_is_paused_resumed_and_aborted_and_money_stopped_and_started(api: Api, money: MoneyDesk) -> None:
    plan = await money.confirmed()
    operator, finance = await api.of("o.lind"), await api.of("k.rao")

    async def post(client: httpx.AsyncClient, path: str, body: dict[str, Any]) -> dict[str, Any]:
        answer = await client.post(f"/v1/{path}", json=body, headers=key_header())
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    path = f"plans/{plan['id']}"
    assert (await post(operator, f"{path}/pause", {"reason": "Odd"}))["state"] == "paused"
    assert (await post(finance, f"{path}/resume", {"code": money.code("k.rao")}))["state"] == "applying"
    assert (await post(operator, f"{path}/abort", {"reason": "Wrong"}))["state"] == "aborted"
    assert (await post(operator, "money/stop", {"reason": "A fraud"}))["stopped"]["by"]["id"] == "o.lind"
    body = {"reason": "All well", "code": money.code("k.rao", steps=1)}
    assert (await post(finance, "money/start", body))["stopped"] is None
    assert (await finance.get("/v1/money")).json()["released"][0]["day_count"] == 2


@pytest.mark.requirement("MONEY-5")
async def test_an_uncertain_payout_is_ended_by_a_person(api: Api, money: MoneyDesk) -> None:
    plan = await money.confirmed()
    client = await api.of("k.rao")
    payout_id, review = await money.review(plan)
    answer = await client.post(
        f"/v1/items/{review['id']}/was-not-paid",
        json={"fence": review["fence"], "reason": "Nothing there", "code": money.code("k.rao")},
        headers=key_header(),
    )
    assert (answer.status_code, answer.json()["item"], answer.json()["turn"]) == (200, payout_id, "failed")
    again = await client.post(
        f"/v1/items/{review['id']}/was-paid",
        json={"fence": review["fence"], "reference": "B-1", "reason": "It came"},
        headers=key_header(),
    )
    problem_of(again, 409, "item-closed")


TAKES_CODE = (routes.CONFIRM_PLAN, routes.RESUME_PLAN, routes.START_MONEY, routes.WAS_NOT_PAID)
ACTING = (*TAKES_CODE, *(route for route in ROUTES if route.method != "GET" and route not in TAKES_CODE))
HOLDERS = {role: person for person, (_, tenant, role) in CAST.items() if tenant == "acme"}
HOLDERS["finance"] = "m.ito"  # the owner of the plans: the token that could do most


def bodies(money: MoneyDesk, stage: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """What somebody with a token would send, by route."""
    fence = {"fence": stage["review"]["fence"]}
    item = payout("K-99").model_dump(mode="json", exclude_none=True)
    return {
        "confirm-plan": {"digest": money.digest(stage["open"])},
        "resume-plan": {},
        "start-money": {"reason": "x"},
        "was-not-paid": fence | {"reason": "x"},
        "was-paid": fence | {"reason": "x", "reference": "B"},
        "push-item": item,
        "change-item": {name: item[name] for name in ("title", "amount", "payee", "inputs")} | {"money_version": 1},
        "claim-next": {},
        "claim": {},
        "renew-claim": fence,
        "release-claim": fence,
        "break-claim": fence | {"reason": "x"},
        "act": {"money_version": 1, "fence": stage["review"]["fence"], "inputs": {}},
        "what-if": {},
        "make-plan": {"command": RELEASE_MANY, "filter": ""},
        "take-out-plan": {"items": [stage["item"]]},
        "keep-in-plan": {"warning": "w", "reason": "x"},
        "drop-plan": {},
        "pause-plan": {"reason": "x"},
        "abort-plan": {"reason": "x"},
        "stop-money": {"reason": "x"},
        "cancel-occurrence": {"reason": "x"},
        "run-schedule": {"reason": "x"},
        "disable-schedule": {"reason": "x"},
        "enable-schedule": {"reason": "x"},
        "simulate": {"since": "2026-10-25T00:00:00Z", "until": "2026-10-26T00:00:00Z"},
        "replay-occurrence": {"reason": "x"},
        "discard-occurrence": {"reason": "x"},
        "drain-worker": {"reason": "x"},
        "undrain-worker": {"reason": "x"},
        "make-recovery": {"act": "requeue", "reason": "x"},
        "take-out-of-recovery": {"keys": ["x"]},
        "drop-recovery": {"reason": "x"},
        "confirm-recovery": {"digest": "0" * 64},
        "pause-recovery": {"reason": "x"},
        "resume-recovery": {"reason": "x"},
        "abort-recovery": {"reason": "x"},
        "stop-work": {"scope": "queue", "name": NOTES, "reason": "x"},
        "lift-stop": {"scope": "queue", "name": NOTES, "reason": "x"},
        "acknowledge-alarm": {"note": "x"},
        "submit-job": {"kind": "service.plan-apply", "submission_identity": "x"},
        "cancel-job": {"reason": "x"},
        "retry-job": {"reason": "x"},
        "resolve-job": {"reason": "x"},
        "reveal-job": {"reason": "x"},
    }


def paths(route: Route, stage: dict[str, Any]) -> list[str]:
    """The addresses to try: every plan, the payout and its review item."""
    plans = [stage[name]["id"] for name in ("open", "paused")] if "{plan}" in route.path else [""]
    asks = route.name.startswith("was-")
    things = [stage["review"]["id"] if asks else stage["item"]] if "{item}" in route.path else [""]
    path = route.path.replace("{key:path}", "K-1").replace("{queue}", PAYOUTS).replace("{use_case}", "t.release")
    path = path.replace("{occurrence}", stage["item"]).replace("{schedule}", "t.nightly")
    for other in ("{worker}", "{recovery}", "{alarm}", "{job}"):
        path = path.replace(other, stage["item"])
    return [path.replace("{plan}", plan).replace("{item}", item) for plan in plans for item in things]


@pytest.mark.requirement("MONEY-1", "MONEY-13")
@pytest.mark.parametrize("role", sorted(HOLDERS))
async def test_a_stolen_token_alone_moves_no_money_by_any_route(api: Api, money: MoneyDesk, role: str) -> None:
    paused = await money.confirmed()
    item, review = await money.review(paused)
    await money.pause(paused)
    stage = {"paused": paused, "open": await money.plan(await money.pushed(2)), "item": item, "review": review}
    await money.stop()
    client = await api.of(HOLDERS[role])
    sent = bodies(money, stage)
    before = money.moved()
    for route in ACTING:
        for path in paths(route, stage):
            tried = [sent[route.name]]
            if route in TAKES_CODE:
                tried.append(sent[route.name] | {"code": WRONG})
            for body in tried:
                answer = await client.request(route.method, path, json=body, headers=key_header())
                assert answer.status_code < 500, f"{route.name}: {answer.text}"
                if route in TAKES_CODE:
                    assert answer.status_code >= 400, f"{route.name} was done without a code: {answer.text}"
    after = money.moved()
    assert after[0] == before[0], "no plan was confirmed"
    assert after[1] <= before[1], "nothing came into a hold"
    assert after[2:4] == before[2:4], "nothing was counted as going out, nothing was released"
    assert money.rows("select count(*) from jobs.plans where state in ('armed', 'applying')") == [(0,)]
    assert money.rows("select stopped from jobs.money_switches where tenant = 'acme'") == [(True,)]
