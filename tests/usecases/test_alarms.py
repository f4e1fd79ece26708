"""Reading alarms and looking after one: the order of a page, who may, once, and what nobody could write."""

from __future__ import annotations

from typing import Any

import pytest

from jobcontract.alarms import AcknowledgeOrder
from jobcontract.errors import ErrorCode
from jobservice.usecases import alarms
from jobservice.usecases.alarms import ListedAlarms
from jobservice.usecases.idempotency import Answered
from tests.conftest import Clock
from tests.usecases.desk import Desk, once, refused_with

pytestmark = pytest.mark.requirement("provide-operational-recovery-procedures")


def row(desk: Desk, query: str, *values: object) -> Any:
    found = desk.people.connection.execute(query, values).fetchone()
    return found[0] if len(found) == 1 else tuple(found)


def alarm(
    desk: Desk,
    kind: str = "late",
    subject: str = "s.one",
    *,
    ago: int = 0,
    cleared: int | None = None,
    tenant: str = "acme",
) -> str:
    """An alarm that opened, and perhaps was over, so many seconds ago; its id."""
    return str(
        row(
            desk,
            "insert into jobs.alarms (tenant, kind, subject, sentence, opened_at, cleared_at, telling, told, told_at)"
            " values (%s, %s, %s, 'Something is.', jobs.now() - make_interval(secs => %s),"
            " jobs.now() - make_interval(secs => %s), 'opened', 'sent', jobs.now()) returning id",
            tenant,
            kind,
            subject,
            ago,
            cleared,
        )
    )


def alive(desk: Desk) -> None:
    """A Worker lives."""
    desk.people.connection.execute(
        "insert into jobs.workers (incarnation, version, host) values (gen_random_uuid(), 'x', 'h')"
    )


async def listed(desk: Desk, person: str = "o.lind", behind: Any = None, limit: int = 50) -> ListedAlarms:
    return await alarms.list_alarms(desk.service, desk.actor(person), behind, limit)


async def acknowledge(desk: Desk, identifier: str, person: str = "o.lind", note: str = "On it") -> Answered:
    order = AcknowledgeOrder(note=note)
    return await alarms.acknowledge(desk.service, desk.actor(person), identifier, order, once())


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 50])
async def test_open_ones_come_first_by_urgency_and_every_page_goes_on(desk: Desk, limit: int) -> None:
    alive(desk)
    expected = [
        alarm(desk, "stopped", "q", ago=10),
        alarm(desk, "parked", ago=10),
        alarm(desk, "late", "s.old", ago=100),
        alarm(desk, "late", "s.new", ago=5),
        alarm(desk, "leaving", ago=900),
    ]
    expected += [alarm(desk, "late", "s.gone", ago=50, cleared=seconds) for seconds in (1, 2, 30)]
    alarm(desk, "stopped", "q", tenant="globex")
    found: list[str] = []
    behind = None
    for _ in range(20):
        page = await listed(desk, behind=behind, limit=limit)
        assert (page.open, page.unacknowledged) == (5, 5)
        assert len(page.alarms) <= limit
        found += [each.id for each in page.alarms]
        behind = page.last
        if behind is None:
            break
    assert found == expected


@pytest.mark.parametrize(
    ("person", "reads", "may"),
    [
        ("o.lind", True, True),
        ("m.ito", True, True),
        ("s.audit", True, False),
        ("s.bell", False, False),
        ("p.push", False, False),
        ("a.admin", False, False),
        ("g.fin", True, None),
    ],
)
async def test_each_role_reads_and_looks_after_alarms_or_is_refused(
    desk: Desk, person: str, reads: bool, may: bool | None
) -> None:
    alive(desk)
    one = alarm(desk)
    if reads:
        assert len((await listed(desk, person)).alarms) == (0 if person == "g.fin" else 1)
    else:
        await refused_with(ErrorCode.PERMISSION_MISSING, listed(desk, person))
    if may:
        changed = (await acknowledge(desk, one, person)).body
        assert (changed["alarm"]["acknowledged_by"]["id"], changed["alarm"]["note"]) == (person, "On it")
        assert changed["again"] is False
        assert desk.audited() == [(person, "acknowledge-alarm", "done")]
        assert row(desk, "select topic, tenant from jobs.hints") == ("alarms", "acme")
    else:
        code = ErrorCode.NOT_FOUND if may is None else ErrorCode.PERMISSION_MISSING
        await refused_with(code, acknowledge(desk, one, person))
        assert row(desk, "select acknowledged_at is null from jobs.alarms")


async def test_looking_after_it_again_changes_the_note_and_says_so(desk: Desk) -> None:
    alive(desk)
    one = alarm(desk)
    await acknowledge(desk, one, "o.lind", "First")
    again = (await acknowledge(desk, one, "m.ito", "Second")).body
    assert (again["again"], again["alarm"]["note"], again["alarm"]["acknowledged_by"]["id"]) == (
        True,
        "Second",
        "m.ito",
    )
    detail = row(desk, "select detail from jobs.audit order by id desc limit 1")
    assert (detail["note_before"], detail["acknowledged_by_before"]) == ("First", "o.lind")
    page = await listed(desk)
    assert (page.open, page.unacknowledged) == (1, 0)


@pytest.mark.parametrize("identifier", ["nonsense", "01A22E89-B58B-73BF-B67D-748757289E92", "no-worker"])
async def test_what_is_no_alarm_is_not_found(desk: Desk, identifier: str) -> None:
    await refused_with(ErrorCode.NOT_FOUND, acknowledge(desk, identifier))


async def test_what_is_over_needs_nobody(desk: Desk) -> None:
    refusal = await refused_with(ErrorCode.ALARM_CLEARED, acknowledge(desk, alarm(desk, ago=60, cleared=30)))
    assert "is over since" in refusal.detail
    assert row(desk, "select acknowledged_at is null from jobs.alarms")


async def test_that_no_worker_lives_is_found_when_alarms_are_read(desk: Desk, clock: Clock) -> None:
    late = alarm(desk, "stopped", "q")
    alone = await listed(desk, limit=1)
    assert ([each.id for each in alone.alarms], alone.last is None) == (["no-worker"], False)
    assert [each.id for each in (await listed(desk, behind=alone.last, limit=1)).alarms] == [late]
    page = await listed(desk, limit=2)
    assert [(each.id, each.kind.value) for each in page.alarms] == [("no-worker", "worker-missing"), (late, "stopped")]
    assert "None was ever heard of" in page.alarms[0].sentence
    assert (page.open, page.unacknowledged, page.last) == (2, 2, None)
    alive(desk)
    assert [each.id for each in (await listed(desk)).alarms] == [late]
    clock.advance(16)
    silent = (await listed(desk)).alarms[0]
    assert (silent.id, "The last was heard of at" in silent.sentence) == ("no-worker", True)
    desk.people.connection.execute("update jobs.workers set beat_at = jobs.now()")
    assert [each.id for each in (await listed(desk)).alarms] == [late]
    desk.people.connection.execute("update jobs.workers set stopped_at = jobs.now()")
    assert (await listed(desk)).alarms[0].id == "no-worker"
