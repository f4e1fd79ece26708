"""Alarms over HTTP: pages with signed cursors, looking after one, walls between tenants."""

from __future__ import annotations

from typing import Any

import pytest

from jobcontract.alarms import AlarmChanged, Alarms
from tests.api.conftest import Api, key_header, problem_of

pytestmark = pytest.mark.requirement("provide-operational-recovery-procedures")


def add(api: Api, kind: str, *, tenant: str = "acme", cleared: bool = False) -> str:
    row: Any = api.people.connection.execute(
        "insert into jobs.alarms (tenant, kind, subject, sentence, cleared_at) values (%s, %s, 's.one', 'Something is.',"
        " case when %s then jobs.now() end) returning id::text",
        (tenant, kind, cleared),
    ).fetchone()
    return str(row[0])


async def test_pages_go_on_behind_a_signed_cursor_of_this_person(api: Api) -> None:
    api.people.connection.execute(
        "insert into jobs.workers (incarnation, version, host) values (gen_random_uuid(), 'x', 'h')"
    )
    expected = [add(api, "late"), add(api, "spike"), add(api, "late", cleared=True), add(api, "late", cleared=True)]
    expected[2:] = reversed(expected[2:])
    client, colleague = await api.of("o.lind"), await api.of("m.ito")
    found: list[str] = []
    asked = "/v1/alarms?limit=1"
    cursor = None
    while True:
        page = Alarms.model_validate_json((await client.get(asked + (f"&cursor={cursor}" if cursor else ""))).text)
        found += [each.id for each in page.alarms]
        if page.next is None:
            break
        cursor = page.next
    assert found == expected
    problem_of(await colleague.get(f"{asked}&cursor={cursor}"), 400, "cursor-invalid")


async def test_an_alarm_is_looked_after_once_a_key_and_a_foreign_one_is_unknown(api: Api) -> None:
    mine, foreign = add(api, "late"), add(api, "late", tenant="globex")
    client = await api.of("o.lind")
    key = key_header()
    first = await client.post(f"/v1/alarms/{mine}/acknowledge", json={"note": " On it "}, headers=key)
    again = await client.post(f"/v1/alarms/{mine}/acknowledge", json={"note": " On it "}, headers=key)
    assert first.json() == again.json()
    changed = AlarmChanged.model_validate_json(first.text)
    assert (changed.alarm.note, changed.again) == ("On it", False)
    answer = await client.post(f"/v1/alarms/{foreign}/acknowledge", json={"note": "x"}, headers=key_header())
    problem_of(answer, 404, "not-found")
    problem_of(
        await client.post(f"/v1/alarms/{mine}/acknowledge", json={"note": " "}, headers=key_header()),
        422,
        "invalid-request",
    )
