"""Recoveries over HTTP: each role, cursors, the same request again, and a stretch with money in it."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from datetime import timedelta
from typing import Any

import pytest

from jobservice.api.answers import REPLAYED_HEADER
from jobservice.store.database import Database
from tests.api.conftest import Api, MakeApp, key_header, problem_of
from tests.conftest import CAST, People
from tests.usecases.recovery_desk import HOURLY, MONEY, NIGHT, NIGHTLY, SINCE, UNTIL, RecoveryDesk, recovery_desk

HOUR = timedelta(hours=1)
STRETCH = {"act": "replay", "reason": "A missed night", "since": SINCE.isoformat(), "until": UNTIL.isoformat()}
READS = frozenset({"finance", "operator", "auditor"})
MAKES = frozenset({"finance", "operator", "support"})
JOBS_ALONE = "support"
"""Sees recoveries of jobs, and no other."""


@pytest.fixture
def desk(database: Database, people: People) -> RecoveryDesk:
    """Schedules of every kind, and phones of finance."""
    made = recovery_desk(database, people)
    made.planned()
    return made


@pytest.fixture
def api(make_app: MakeApp, desk: RecoveryDesk, stack: AsyncExitStack) -> Api:
    """The application over that desk's service."""
    return Api(app=make_app(service=desk.service), people=desk.money.people, stack=stack)


async def post(api: Api, person: str | None, path: str, body: dict[str, Any], **headers: str) -> Any:
    """An acting request of its own."""
    client = await api.of(person)
    return await client.post(path, json=body, headers={**key_header(), **headers})


@pytest.mark.requirement("MONEY-1", "provide-operational-recovery-procedures")
async def test_a_stretch_with_money_leaves_it_out_for_an_operator_and_asks_finance_for_the_code(
    api: Api, desk: RecoveryDesk
) -> None:
    money, plain = desk.dead(MONEY), desk.dead()
    theirs = (await post(api, "o.lind", "/v1/recoveries", STRETCH)).json()["recovery"]
    path = f"/v1/recoveries/{theirs['id']}"
    operator = await api.of("o.lind")
    detail = (await operator.get(path)).json()
    assert [row["key"] for row in detail["rows"]] == [plain]
    (left,) = (await operator.get(f"{path}/left-out")).json()["left_out"]
    assert (left["reason"], left["name"]) == ("money", f"{MONEY}@2026-11-28T01:00:00Z")
    assert left["sentence"] == f"{MONEY} moves money: a person with payout.release (finance) replays it."
    confirmed = await post(api, "o.lind", f"{path}/confirm", {"digest": desk.digest(theirs)})
    assert confirmed.json()["recovery"]["state"] == "applying"
    mine = (await post(api, "m.ito", "/v1/recoveries", STRETCH)).json()["recovery"]
    path = f"/v1/recoveries/{mine['id']}"
    assert [row["key"] for row in (await (await api.of("m.ito")).get(path)).json()["rows"]] == [money]
    assert (mine["moves"], mine["confirm_by"]) == ("money", "totp")
    body = {"digest": desk.digest(mine)}
    problem_of(await post(api, "m.ito", f"{path}/confirm", body), 409, "code-wrong")
    problem_of(await post(api, "o.lind", f"{path}/confirm", body), 403, "permission-missing")
    good = await post(api, "m.ito", f"{path}/confirm", {**body, "code": desk.money.code()})
    assert good.json()["recovery"]["state"] == "applying"
    assert desk.digest(mine) not in good.text


@pytest.mark.parametrize("person", [person for person, (_, tenant, _) in CAST.items() if tenant == "acme"])
async def test_each_role_may_what_the_table_says(api: Api, desk: RecoveryDesk, person: str) -> None:
    desk.dead()
    made = await desk.make()
    role = CAST[person][2]
    client = await api.of(person)
    path = f"/v1/recoveries/{made['id']}"
    for address in ("/v1/recoveries", path, f"{path}/rows", f"{path}/left-out"):
        unseen = 403 if role != JOBS_ALONE else 200 if address == "/v1/recoveries" else 404
        answer = await client.get(address)
        assert answer.status_code == (200 if role in READS else unseen), address
        assert role in READS or not answer.json().get("recoveries"), address
    for address, body in (
        ("/v1/recoveries", STRETCH),
        (f"{path}/take-out", {"keys": ["x"]}),
        (f"{path}/drop", {"reason": "r"}),
        (f"{path}/confirm", {"digest": "0" * 64}),
        (f"{path}/pause", {"reason": "r"}),
        (f"{path}/resume", {"reason": "r"}),
        (f"{path}/abort", {"reason": "r"}),
    ):
        answer = await client.post(address, json=body, headers=key_header())
        if role == JOBS_ALONE and address == "/v1/recoveries":
            assert problem_of(answer, 403, "permission-missing")["permission"] == "occurrence.replay"
        elif role == JOBS_ALONE:
            problem_of(answer, 404, "not-found")
        elif role in MAKES:
            assert answer.json().get("permission") != "recovery.make", address
        else:
            assert problem_of(answer, 403, "permission-missing")["permission"] == "recovery.make"
    missing = desk.one(
        "select count(*) from jobs.audit where person = %s and outcome = 'refused' and detail ->> 'code' = %s"
        " and detail ->> 'sentence' like '%%recovery.make%%'",
        person,
        "permission-missing",
    )
    assert missing == (0 if role in MAKES else 7)


async def test_nobody_without_a_token_and_nobody_of_another_tenant(api: Api, desk: RecoveryDesk) -> None:
    desk.dead()
    made = await desk.make()
    problem_of(await (await api.of(None)).get("/v1/recoveries"), 401, "unauthenticated")
    stranger = await api.of("g.fin")
    problem_of(await stranger.get(f"/v1/recoveries/{made['id']}"), 404, "not-found")
    body = {"digest": desk.digest(made)}
    problem_of(await post(api, "g.fin", f"/v1/recoveries/{made['id']}/confirm", body), 404, "not-found")
    assert (await stranger.get("/v1/recoveries")).json()["recoveries"] == []


async def test_cursors_are_of_one_listing_of_one_person(api: Api, desk: RecoveryDesk) -> None:
    made = []
    for number in range(2):
        for hour in range(3):
            desk.dead(HOURLY if number else NIGHTLY, NIGHT + hour * HOUR)
        made.append(await desk.make())
    operator, auditor = await api.of("o.lind"), await api.of("s.audit")
    rows = f"/v1/recoveries/{made[0]['id']}/rows"
    page = (await operator.get(rows, params={"limit": 2})).json()
    follow = (await operator.get(rows, params={"limit": 2, "cursor": page["next"]})).json()
    assert [row["number"] for row in (*page["rows"], *follow["rows"])] == [1, 2, 3]
    assert (follow["next"], page["edition"]) == (None, 1)
    cursor = page["next"]
    problem_of(await auditor.get(rows, params={"cursor": cursor}), 400, "cursor-invalid")
    problem_of(await operator.get(rows, params={"cursor": cursor, "turn": "done"}), 400, "cursor-invalid")
    other = f"/v1/recoveries/{made[1]['id']}/rows"
    problem_of(await operator.get(other, params={"cursor": cursor}), 400, "cursor-invalid")
    for forged in (cursor[:-2], cursor[:-1] + ("A" if cursor[-1] != "A" else "B"), "x"):
        problem_of(await operator.get(rows, params={"cursor": forged}), 400, "cursor-invalid")
    listed = (await operator.get("/v1/recoveries", params={"limit": 1})).json()
    rest = (await operator.get("/v1/recoveries", params={"limit": 1, "cursor": listed["next"]})).json()
    assert [each["id"] for each in (*listed["recoveries"], *rest["recoveries"])] == [made[1]["id"], made[0]["id"]]
    problem_of(await operator.get(rows, params={"cursor": listed["next"]}), 400, "cursor-invalid")


@pytest.mark.parametrize("keys", ["equal", "different"])
async def test_pressing_twice_confirms_once(api: Api, desk: RecoveryDesk, keys: str) -> None:
    desk.dead(MONEY)
    made = await desk.make(person="m.ito")
    client, key = await api.of("m.ito"), key_header()
    body = {"digest": desk.digest(made), "code": desk.money.code()}
    path = f"/v1/recoveries/{made['id']}/confirm"
    answers = await asyncio.gather(
        *(client.post(path, json=body, headers=key if keys == "equal" else key_header()) for _ in range(4))
    )
    good = [answer for answer in answers if answer.status_code == 200]
    assert len([answer for answer in good if REPLAYED_HEADER not in answer.headers]) == 1
    assert len(good) == (4 if keys == "equal" else 1)
    assert desk.rows("select count(*) from jobs.audit where action = 'code-accepted'") == [(1,)]
    assert desk.rows("select count(*) from jobs.audit where action = 'confirm-recovery' and outcome = 'done'") == [(1,)]


@pytest.mark.parametrize(
    "body",
    [
        {"act": "replay", "reason": "r"},
        {"act": "replay", "reason": " ", "since": SINCE.isoformat(), "until": UNTIL.isoformat()},
        {"act": "replay", "reason": "r", "since": "2026-11-28T00:00:00", "until": UNTIL.isoformat()},
        {"act": "disable", "reason": "r"},
        {"act": "discard", "reason": "r", "skipped": True},
        {"act": "replay", "reason": "r", "occurrences": ["a"], "since": SINCE.isoformat(), "until": UNTIL.isoformat()},
        {"act": "replay", "reason": "r", "occurrences": []},
        {"act": "remove", "reason": "r"},
        {**STRETCH, "force": True},
        {**STRETCH, "since": UNTIL.isoformat(), "until": SINCE.isoformat()},
    ],
)
async def test_what_is_no_order_is_refused_and_nothing_is_kept(api: Api, desk: RecoveryDesk, body: Any) -> None:
    desk.dead()
    problem_of(await post(api, "o.lind", "/v1/recoveries", body), 422, "invalid-request")
    assert desk.rows("select count(*) from jobs.recoveries") == [(0,)]
