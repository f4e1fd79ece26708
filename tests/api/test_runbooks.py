"""Runbooks over HTTP: of the example's schedules, by who may read schedules, filled in for who asks."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from jobcontract.operating import Procedure
from jobcontract.runbooks import Runbooks
from tests.api.conftest import Api, key_header, problem_of
from tests.usecases.desk import Desk
from tests.usecases.schedule_desk import ScheduleDesk

NIGHTLY, OPENS = "statements.nightly", "releases.bank-opens"
START = datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
pytestmark = pytest.mark.requirement("provide-operational-recovery-procedures")


async def test_whoever_reads_schedules_reads_their_runbooks_and_what_was_done(api: Api, service: Any) -> None:
    rows = ScheduleDesk(Desk(service, api.people), api.people.connection)
    occurrence = rows.occurrence(NIGHTLY, START)
    operator = await api.of("o.lind")
    address, order = f"/v1/occurrences/{occurrence}/cancel", {"reason": "wrong file"}
    assert (await operator.post(address, json=order, headers=key_header())).status_code == 200
    for person in ("o.lind", "m.ito", "k.rao", "s.audit"):
        answer = await (await api.of(person)).get(f"/v1/schedules/{NIGHTLY}/runbooks")
        assert answer.status_code == 200, (person, answer.text)
        found = Runbooks.model_validate_json(answer.text)
        assert [each.procedure for each in found.runbooks] == list(Procedure)
        assert [each.refused is None for each in found.runbooks] == [True, person == "o.lind", person == "o.lind"]
        assert [(each.action, each.sentence) for each in found.transcript] == [("cancel-occurrence", "wrong file")]
    for person in ("s.bell", "p.push", "a.admin"):
        answer = await (await api.of(person)).get(f"/v1/schedules/{NIGHTLY}/runbooks")
        assert problem_of(answer, 403, "permission-missing")["permission"] == "schedule.read"
    problem_of(await operator.get("/v1/schedules/statements.nighly/runbooks"), 404, "not-found")


@pytest.mark.requirement("scope-occurrences-and-leases-by-tenant")
async def test_another_tenant_sees_its_own_acts_alone(api: Api, service: Any) -> None:
    rows = ScheduleDesk(Desk(service, api.people), api.people.connection)
    occurrence = rows.occurrence(NIGHTLY, START)
    operator = await api.of("o.lind")
    await operator.post(f"/v1/occurrences/{occurrence}/cancel", json={"reason": "ours"}, headers=key_header())
    stranger = await (await api.of("g.fin")).get(f"/v1/schedules/{NIGHTLY}/runbooks")
    assert Runbooks.model_validate_json(stranger.text).transcript == ()


@pytest.mark.requirement("MONEY-1")
async def test_the_schedule_that_moves_money_is_replayed_by_finance_alone(api: Api) -> None:
    for person, may in (("o.lind", False), ("m.ito", True)):
        client = await api.of(person)
        answer = await client.get(f"/v1/schedules/{OPENS}/runbooks")
        replay = Runbooks.model_validate_json(answer.text).runbooks[1]
        assert (replay.procedure, replay.route) == (Procedure.REPLAY, "make-recovery")
        assert (replay.refused is None) is may
        shown = (await client.get(f"/v1/schedules/{OPENS}")).json()["schedule"]
        assert (shown["moves"], shown["runs_title"]) == ("money", "Release")
        assert shown["selection"] == "payouts that wait in confirmed plans of Release payouts"
