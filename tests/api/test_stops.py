"""Stops over HTTP: each role, the refusal that names the stop, keys, and no money going on without a code."""

from __future__ import annotations

import pytest

from jobcontract.queues import Queues
from jobcontract.stops import Stops, StopsChanged
from tests.api.conftest import Api, key_header, problem_of

pytestmark = pytest.mark.requirement("provide-operational-recovery-procedures")
PAYOUTS, COMMAND = "payments.payouts", "payments.release-many"


def order(scope: str, name: str, **more: str) -> dict[str, str]:
    return {"scope": scope, "name": name, "reason": "Odd payouts", **more}


async def test_a_stop_is_set_seen_refuses_by_name_and_is_lifted(api: Api) -> None:
    item = await api.push("INV-1")
    operator, clerk, support = await api.of("o.lind"), await api.of("m.ito"), await api.of("s.bell")
    key = key_header()
    first = await operator.post("/v1/stops/stop", json=order("queue", PAYOUTS), headers=key)
    again = await operator.post("/v1/stops/stop", json=order("queue", PAYOUTS), headers=key)
    assert StopsChanged.model_validate_json(first.text).stops[0].title
    assert first.json() == again.json()
    (seen,) = Stops.model_validate_json((await support.get("/v1/stops")).text).stops
    assert (seen.scope, seen.name, seen.by.name, seen.reason) == ("queue", PAYOUTS, "Olle Lind", "Odd payouts")
    problem = problem_of(
        await clerk.post(f"/v1/items/{item['id']}/claim", json={}, headers=key_header()), 409, "work-stopped"
    )
    assert (problem["stop"]["by"], problem["stop"]["reason"]) == ("Olle Lind", "Odd payouts")
    await api.push("INV-2")
    queues = Queues.model_validate_json((await clerk.get("/v1/queues")).text).queues
    assert [each.id for each in queues if each.stopped] == [PAYOUTS]
    lifted = await operator.post("/v1/stops/lift", json=order("queue", PAYOUTS), headers=key_header())
    assert lifted.json()["stops"] == []
    assert (await clerk.post(f"/v1/items/{item['id']}/claim", json={}, headers=key_header())).status_code == 200


async def test_a_command_that_moves_money_goes_on_with_a_code_alone(api: Api) -> None:
    operator, clerk = await api.of("o.lind"), await api.of("m.ito")
    stopped = await operator.post("/v1/stops/stop", json=order("bulk-command", COMMAND), headers=key_header())
    assert stopped.json()["stops"][0]["lifted_by_code"] is True
    lift = order("bulk-command", COMMAND)
    answer = await operator.post("/v1/stops/lift", json=lift, headers=key_header())
    assert problem_of(answer, 403, "permission-missing")["permission"] == "payout.release"
    problem_of(await clerk.post("/v1/stops/lift", json=lift, headers=key_header()), 409, "work-stopped")
    wrong = lift | {"code": "12345678901234567890123456789012345"}
    problem_of(await clerk.post("/v1/stops/lift", json=wrong, headers=key_header()), 422, "invalid-request")


@pytest.mark.parametrize("person", ["s.bell", "s.audit", "p.push", "a.admin"])
async def test_others_stop_nothing_and_it_is_written_down(api: Api, person: str) -> None:
    client = await api.of(person)
    for path in ("stop", "lift"):
        answer = await client.post(f"/v1/stops/{path}", json=order("queue", PAYOUTS), headers=key_header())
        assert problem_of(answer, 403, "permission-missing")["permission"] == "work.stop"
    rows = api.people.connection.execute("select person, action, outcome from jobs.audit order by id").fetchall()
    assert rows == [(person, "stop-work", "refused"), (person, "lift-stop", "refused")]
