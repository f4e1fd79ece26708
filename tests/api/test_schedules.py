"""Schedules, occurrences and Workers over HTTP: signed cursors, instants in queries, walls between tenants and roles, keys."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from jobcontract.ids import storable
from jobcontract.occurrences import OccurrenceChanged, OccurrenceDetail, OccurrenceItems, Occurrences
from jobcontract.routes import KEY_HEADER
from jobcontract.schedules import NextInstants, ScheduleDetail, Schedules
from jobcontract.states import OutcomeKind
from jobcontract.workers import Workers
from tests.api.conftest import Api, key_header, problem_of
from tests.hostile import HOSTILE
from tests.usecases.desk import Desk
from tests.usecases.schedule_desk import ScheduleDesk

NIGHTLY, SCORES = "statements.nightly", "payouts.rescore"
START = datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
HOUR = timedelta(hours=1)
WALL = pytest.mark.requirement("scope-occurrences-and-leases-by-tenant")
CANCELLING = pytest.mark.requirement("observe-job-cancellation")
OPERATORS, READERS = ("o.lind",), ("m.ito", "k.rao", "o.lind", "s.audit")
OTHERS = ("s.bell", "p.push", "a.admin")


@pytest.fixture
def rows(api: Api, service: Any) -> ScheduleDesk:
    """A hand that writes rows of the example's schedules."""
    return ScheduleDesk(Desk(service, api.people), api.people.connection)


def reads(occurrence: str) -> Mapping[str, Any]:
    """Every address that only reads, with the model of its answer."""
    return {
        "/v1/schedules": Schedules,
        f"/v1/schedules/{NIGHTLY}": ScheduleDetail,
        f"/v1/schedules/{NIGHTLY}/next": NextInstants,
        "/v1/occurrences": Occurrences,
        f"/v1/occurrences/{occurrence}": OccurrenceDetail,
        f"/v1/occurrences/{occurrence}/items": OccurrenceItems,
        "/v1/workers": Workers,
    }


async def test_every_role_may_or_may_not_read_and_cancel(api: Api, rows: ScheduleDesk) -> None:
    found = rows.occurrence(NIGHTLY, START)
    order = {"reason": "wrong file"}
    for person in (*READERS, *OTHERS):
        client = await api.of(person)
        for address, model in reads(found).items():
            answer = await client.get(address)
            if person in READERS:
                assert answer.status_code == 200, (person, address, answer.text)
                model.model_validate_json(answer.text)
            else:
                assert problem_of(answer, 403, "permission-missing")["permission"] == "schedule.read"
        answer = await client.post(f"/v1/occurrences/{found}/cancel", json=order, headers=key_header())
        if person in OPERATORS:
            assert OccurrenceChanged.model_validate_json(answer.text).occurrence.cancel_reason == "wrong file"
        else:
            assert problem_of(answer, 403, "permission-missing")["permission"] == "occurrence.cancel"
            row = api.people.connection.execute(
                "select person, action, subject, outcome from jobs.audit order by id desc limit 1"
            ).fetchone()
            assert row == (person, "cancel-occurrence", found, "refused")
    problem_of(await (await api.of(None)).get("/v1/schedules"), 401, "unauthenticated")


@WALL
async def test_a_foreign_occurrence_answers_as_an_unknown_one(api: Api, rows: ScheduleDesk) -> None:
    mine, stranger = rows.occurrence(NIGHTLY, START), await api.of("g.fin")
    api.people.add("g.ops", "globex", "operator")
    operator = await api.of("g.ops")
    name = f"{NIGHTLY}@2026-10-25T00:30:00Z"
    for foreign, unknown in ((mine, str(uuid.uuid4())), (name, f"{NIGHTLY}@2026-10-25T00:31:00Z")):
        for tail in ("", "/items"):
            answers = [await stranger.get(f"/v1/occurrences/{each}{tail}") for each in (foreign, unknown)]
            details = [problem_of(each, 404, "not-found")["detail"] for each in answers]
            assert details[0].replace(foreign, "") == details[1].replace(unknown, "")
        order = operator.post(f"/v1/occurrences/{foreign}/cancel", json={"reason": "x"}, headers=key_header())
        problem_of(await order, 404, "not-found")
    assert (await stranger.get("/v1/occurrences")).json()["occurrences"] == []
    assert (await stranger.get(f"/v1/schedules/{NIGHTLY}")).json()["schedule"]["recent"] == []


async def test_a_cursor_is_good_for_its_listing_person_and_question_alone(api: Api, rows: ScheduleDesk) -> None:
    for number in range(3):
        found = rows.occurrence(NIGHTLY, START + number * HOUR, "dead-letter")
    other = rows.occurrence(SCORES, START, "dead-letter")
    for each in (found, other):
        rows.items(each, *[OutcomeKind.FAILED] * 3)
    client, colleague = await api.of("m.ito"), await api.of("k.rao")
    asked = f"/v1/occurrences?limit=1&schedule={NIGHTLY}&state=dead-letter"
    cursor = (await client.get(asked)).json()["next"]
    second = await client.get(f"{asked}&cursor={cursor}")
    assert [each["scheduled_at"] for each in second.json()["occurrences"]] == ["2026-10-25T01:30:00Z"]
    items = (await client.get(f"/v1/occurrences/{found}/items?limit=1")).json()["next"]
    by_name = f"/v1/occurrences/{NIGHTLY}@2026-10-25T02:30Z/items?limit=1&cursor={items}"
    assert (await client.get(by_name)).json()["items"][0]["number"] == 2
    schedules = (await client.get("/v1/schedules?limit=1")).json()["next"]
    assert (await client.get(f"/v1/schedules?cursor={schedules}")).status_code == 200
    tampered = ("B" if cursor[0] != "B" else "C") + cursor[1:]
    wrong = (
        (client, f"{asked}&cursor={tampered}"),
        (colleague, f"{asked}&cursor={cursor}"),
        (client, f"/v1/occurrences?limit=1&state=dead-letter&cursor={cursor}"),
        (client, f"/v1/occurrences?limit=1&schedule={NIGHTLY}&cursor={cursor}"),
        (client, f"{asked}&since=2026-01-01T00:00:00Z&cursor={cursor}"),
        (client, f"/v1/occurrences/{other}/items?cursor={items}"),
        (colleague, f"/v1/occurrences/{found}/items?cursor={items}"),
        (client, f"/v1/occurrences/{found}/items?cursor={cursor}"),
        (client, f"/v1/schedules?cursor={cursor}"),
        (colleague, f"/v1/schedules?cursor={schedules}"),
    )
    for who, address in wrong:
        problem_of(await who.get(address), 400, "cursor-invalid")


@pytest.mark.parametrize(
    "address",
    [
        "/v1/occurrences?state=done",
        "/v1/occurrences?state=completed,",
        "/v1/occurrences?since=yesterday",
        "/v1/occurrences?since=1760000000",
        "/v1/occurrences?until=2026-10-25T00:30:00",
        "/v1/occurrences?limit=201",
        "/v1/occurrences?states=completed",
        f"/v1/schedules/{NIGHTLY}/next?count=0",
        f"/v1/schedules/{NIGHTLY}/next?count=101",
        f"/v1/schedules/{NIGHTLY}/next?after=2026-13-01T00:00:00Z",
        f"/v1/schedules/{NIGHTLY}/next?after=9999-01-01T00:00:00Z",
        "/v1/schedules?limit=0",
        "/v1/workers?limit=5",
    ],
)
async def test_what_cannot_be_asked_is_refused_in_words(api: Api, address: str) -> None:
    problem_of(await (await api.of("o.lind")).get(address), 422, "invalid-request")


async def test_texts_of_strangers_find_nothing_and_break_nothing(api: Api, rows: ScheduleDesk) -> None:
    rows.occurrence(NIGHTLY, START)
    client = await api.of("o.lind")
    sent = [each for each in HOSTILE if storable(each)]  # what no client can send is seen where bodies are read
    for text in (*sent, f"{NIGHTLY}@", "@2026-10-25T00:30:00Z", f"{NIGHTLY}@2026-02-30T00:00:00Z", "a@b@c"):
        answer = await client.get("/v1/occurrences", params={"schedule": text})
        assert answer.status_code in (200, 422), text
        assert answer.status_code == 422 or answer.json()["occurrences"] == []
    for named in (f"{NIGHTLY}@", "@2026-10-25T00:30:00Z", f"{NIGHTLY}@0001-01-01T00:00:00%2B14:00", "%27", "x" * 300):
        problem_of(await client.get(f"/v1/occurrences/{named}"), 404, "not-found")
    for named in ("%27", "x" * 300):
        problem_of(await client.get(f"/v1/schedules/{named}"), 404, "not-found")


@CANCELLING
async def test_cancelling_takes_a_key_and_a_reason_and_happens_once(api: Api, rows: ScheduleDesk) -> None:
    found, client = rows.occurrence(NIGHTLY, START, "processing"), await api.of("o.lind")
    there, key = f"/v1/occurrences/{NIGHTLY}@2026-10-25T01:30%2B01:00/cancel", key_header()
    problem_of(await client.post(there, json={"reason": "x"}), 400, "idempotency-key-missing")
    for body in ({}, {"reason": " "}, {"reason": "x", "force": True}):
        problem_of(await client.post(there, json=body, headers=key_header()), 422, "invalid-request")
    first = await client.post(there, json={"reason": "wrong file"}, headers=key)
    again = await client.post(there, json={"reason": "wrong file"}, headers=key)
    assert (again.json(), again.headers["Idempotency-Replayed"]) == (first.json(), "true")
    reused = await client.post(there, json={"reason": "another"}, headers={KEY_HEADER: key[KEY_HEADER]})
    problem_of(reused, 422, "idempotency-key-reused")
    assert first.json()["occurrence"]["id"] == found
    assert first.json()["occurrence"]["cancelled_by"] == {"id": "o.lind", "name": "Olle Lind"}
    ended = rows.occurrence(SCORES, START, "completed")
    refusal = await client.post(f"/v1/occurrences/{ended}/cancel", json={"reason": "x"}, headers=key_header())
    problem = problem_of(refusal, 409, "occurrence-ended")
    assert (problem["state"], problem["cause"], problem["ended_at"]) == (
        "completed",
        None,
        (START + timedelta(seconds=9)).isoformat(),
    )
