"""The audit trail and the timeline over HTTP: who may, filters and cursors that belong to them, what is no instant, the CSV."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from jobcontract.ids import storable
from jobcontract.timeline import Timeline
from tests.api.conftest import Api, problem_of
from tests.hostile import HOSTILE

AUDITOR = "s.audit"
ROLES = ("m.ito", "o.lind", AUDITOR, "s.bell", "p.push", "a.admin")
SINCE = {"since": "2026-11-01T00:00:00Z", "until": "2026-11-02T00:00:00Z"}


def entries(api: Api, count: int = 3) -> list[int]:
    """Entries of acme and one of globex; ids of acme's."""
    api.people.connection.execute(
        "insert into jobs.audit (tenant, person, action, subject, outcome) select 'acme', 'm.ito', 'claim', n::text, 'done'"
        " from generate_series(1, %s) as n",
        (count,),
    )
    api.people.connection.execute(
        "insert into jobs.audit (tenant, action, subject, outcome) values ('globex', 'claim', 'theirs', 'done')"
    )
    rows = api.people.connection.execute("select id from jobs.audit where tenant = 'acme' order by id").fetchall()
    return [number for (number,) in rows]


def sendable(text: str) -> bool:
    """Whether a client can put it into an address: a lone surrogate has no bytes."""
    return not any("\ud800" <= sign <= "\udfff" for sign in text)


@pytest.mark.requirement("MONEY-31")
async def test_only_who_audits_reads_the_trail_and_more_read_the_timeline(api: Api) -> None:
    (entry,) = entries(api, 1)
    for person in ROLES:
        client = await api.of(person)
        for address in ("/v1/audit", f"/v1/audit/{entry}", "/v1/audit-export"):
            assert (await client.get(address)).status_code == (200 if person == AUDITOR else 403), (person, address)
        told = await client.get("/v1/timeline", params=SINCE)
        assert told.status_code == (200 if person in ROLES[:3] else 403), person
        if told.status_code == 200:
            Timeline.model_validate_json(told.text)


@pytest.mark.requirement("MONEY-33")
async def test_a_cursor_is_good_for_its_filter_and_its_person_alone(api: Api) -> None:
    entries(api)
    client = await api.of(AUDITOR)
    first = (await client.get("/v1/audit", params={"action": "claim", "limit": 2})).json()
    assert [each["subject"] for each in first["entries"]] == ["3", "2"]
    asked = {"action": "claim", "limit": 2, "cursor": first["next"]}
    rest = (await client.get("/v1/audit", params=asked)).json()
    assert ([each["subject"] for each in rest["entries"]], rest["next"]) == (["1"], None)
    for other in ({**asked, "action": "renew-claim"}, {**asked, "person": "m.ito"}, {**asked, "limit": 3}):
        problem_of(await client.get("/v1/audit", params=other), 400, "cursor-invalid")


@pytest.mark.requirement("MONEY-33")
@pytest.mark.parametrize(
    "given",
    [{"since": "yesterday"}, {"until": "1790000000"}, {"person": ""}, {"action": "x" * 201}, {"outcome": ""}],
)
async def test_what_is_no_filter_is_a_sentence(api: Api, given: dict[str, str]) -> None:
    client = await api.of(AUDITOR)
    for address in ("/v1/audit", "/v1/audit-export"):
        assert (await client.get(address, params=given)).status_code == 422


@pytest.mark.requirement("MONEY-33")
async def test_hostile_words_find_nothing_and_break_nothing(api: Api) -> None:
    entries(api)
    client = await api.of(AUDITOR)
    for text in (*(each for each in HOSTILE if sendable(each)), "%", "a\x00b"):
        answer = await client.get("/v1/audit", params={"subject": text[:200]})
        if text and storable(text):
            assert answer.json()["entries"] == [], text
        else:
            assert answer.status_code == 422, text
    for entry in ("0", "9223372036854775807"):
        assert (await client.get(f"/v1/audit/{entry}")).status_code == 404
    for entry in ("-1", "x", "9223372036854775808"):
        assert (await client.get(f"/v1/audit/{entry}")).status_code in (404, 422)


@pytest.mark.requirement("MONEY-28")
async def test_the_export_is_a_file_of_the_tenant_alone(api: Api) -> None:
    entries(api)
    answer = await (await api.of(AUDITOR)).get("/v1/audit-export", params={"action": "claim"})
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert answer.headers["Content-Disposition"] == 'attachment; filename="audit.csv"'
    assert answer.content.startswith(b"\xef\xbb\xbfentry,instant,")
    assert "theirs" not in answer.text


@pytest.mark.parametrize(
    "given",
    [
        {"since": SINCE["since"]},
        {**SINCE, "until": SINCE["since"]},
        {**SINCE, "until": (datetime(2026, 11, 1, tzinfo=UTC) + timedelta(days=31, seconds=1)).isoformat()},
        {**SINCE, "kind": "act,wrong"},
        {**SINCE, "kind": ""},
    ],
)
async def test_what_is_no_stretch_is_a_sentence(api: Api, given: dict[str, str]) -> None:
    assert (await (await api.of("o.lind")).get("/v1/timeline", params=given)).status_code == 422
