"""Switching a schedule off and on: who may, for how long, what stays of it, and what is said before it is done."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from jobcontract.acts import DisableOrder, EnableOrder, ScheduleChanged
from jobcontract.errors import ErrorCode
from jobcontract.states import ScheduleStanding
from jobservice.usecases.audit import list_audit
from jobservice.usecases.idempotency import Answered, Once
from jobservice.usecases.switches import disable, enable, enabling
from tests.usecases.desk import once, refused_with
from tests.usecases.schedule_desk import MINUTELY, NIGHTLY, ScheduleDesk, schedule_desk

pytestmark = pytest.mark.requirement("provide-operational-recovery-procedures")
HOUR = timedelta(hours=1)


@pytest.fixture
def jobs(database: Any, people: Any) -> ScheduleDesk:
    """Schedules of acme, one with a row."""
    desk = schedule_desk(database, people)
    desk.planned(NIGHTLY)
    return desk


async def off(
    jobs: ScheduleDesk,
    until: datetime | None = None,
    *,
    schedule: str = NIGHTLY,
    person: str = "o.lind",
    reason: str = "bank is down",
    request: Once | None = None,
) -> Answered:
    """The answer to switching it off."""
    actor = replace(jobs.desk.actor("o.lind"), person=person) if person == "o.two" else jobs.desk.actor(person)
    order = DisableOrder(reason=reason, until=until)
    return await disable(jobs.service, actor, schedule, order, request or once(f"/{schedule}"))


async def on(jobs: ScheduleDesk, *, schedule: str = NIGHTLY, person: str = "o.lind") -> Answered:
    """The answer to switching it on."""
    return await enable(
        jobs.service, jobs.desk.actor(person), schedule, EnableOrder(reason="it is back"), once(f"/{schedule}")
    )


def row(jobs: ScheduleDesk) -> tuple[Any, ...]:
    """Who switched it off, why, until when, and whether the planner looks at it."""
    found = jobs.connection.execute(
        "select disabled_by, disabled_reason, disabled_until, look_at <= jobs.now() from jobs.schedules"
    ).fetchone()
    assert found is not None
    return tuple(found)


async def test_a_note_that_everyone_sees_and_both_acts_in_the_trail(jobs: ScheduleDesk) -> None:
    until = jobs.now + HOUR
    jobs.connection.execute("listen jobs_work")
    shown = ScheduleChanged.model_validate((await off(jobs, until)).body).schedule
    (notice,) = jobs.connection.notifies(timeout=2, stop_after=1)
    assert notice.payload == "schedules", "planner and claims hear of it at once"
    jobs.connection.execute("unlisten *")
    assert shown.standing is ScheduleStanding.DISABLED
    assert shown.disabled is not None
    assert (shown.disabled.by.name, shown.disabled.reason, shown.disabled.until) == ("Olle Lind", "bank is down", until)
    assert row(jobs) == ("o.lind", "bank is down", until, True)
    entry = (await list_audit(jobs.service, jobs.desk.actor("s.audit"), None, 1)).entries[0]
    assert (entry.action, entry.subject, entry.detail["reason"]) == ("disable-schedule", NIGHTLY, "bank is down")
    before, after = entry.detail["before"], entry.detail["after"]
    assert isinstance(after, dict)
    assert before == {"disabled": False}
    assert (after["disabled"], after["by"], after["until"]) == (True, "o.lind", until.isoformat())
    assert jobs.connection.execute("select topic, ref from jobs.hints").fetchall() == [("schedule", NIGHTLY)]
    back = ScheduleChanged.model_validate((await on(jobs)).body).schedule
    assert back.disabled is None
    assert row(jobs) == (None, None, None, True)
    entry = (await list_audit(jobs.service, jobs.desk.actor("s.audit"), None, 1)).entries[0]
    assert (entry.action, entry.detail["after"]) == ("enable-schedule", {"disabled": False})
    assert entry.detail["before"] == after
    await refused_with(ErrorCode.SCHEDULE_NOT_DISABLED, on(jobs))


async def test_what_is_off_is_kept_off_longer_and_never_shorter(jobs: ScheduleDesk) -> None:
    now = jobs.now
    jobs.operator("o.two")
    request = once("/one")
    first = await off(jobs, now + HOUR, request=request)
    assert (await off(jobs, now + HOUR, request=request)).body == first.body
    since = jobs.one("select disabled_at from jobs.schedules")
    for until in (now + HOUR, now + HOUR / 2):
        refusal = await refused_with(ErrorCode.SCHEDULE_DISABLED, off(jobs, until, person="o.two", reason="other"))
        assert refusal.detail.startswith(f"{NIGHTLY} is disabled by Olle Lind until ")
        assert "bank is down. Enable it first." in refusal.detail
    await off(jobs, now + 2 * HOUR, person="o.two", reason="still down")
    assert row(jobs)[:3] == ("o.two", "still down", now + 2 * HOUR)
    await off(jobs, reason="for good")
    assert row(jobs)[:3] == ("o.lind", "for good", None)
    await refused_with(ErrorCode.SCHEDULE_DISABLED, off(jobs, now + 9 * HOUR))
    await refused_with(ErrorCode.SCHEDULE_DISABLED, off(jobs))
    assert jobs.one("select disabled_at from jobs.schedules") == since, "it was off all the time"


async def test_after_its_time_it_is_on_and_may_be_switched_off_anew(jobs: ScheduleDesk, clock: Any) -> None:
    await off(jobs, jobs.now + HOUR)
    since = jobs.one("select disabled_at from jobs.schedules")
    clock.advance(3_600)
    await refused_with(ErrorCode.SCHEDULE_NOT_DISABLED, on(jobs))
    await off(jobs, jobs.now + HOUR / 2)
    assert jobs.one("select disabled_at from jobs.schedules") > since


async def test_until_is_in_the_future_and_within_a_year(jobs: ScheduleDesk) -> None:
    now = jobs.now
    for until, words in (
        (now - HOUR, "is not later than now"),
        (now + timedelta(days=367), "is more than a year away"),
    ):
        refusal = await refused_with(ErrorCode.INVALID_REQUEST, off(jobs, until))
        assert words in refusal.detail
    assert row(jobs)[0] is None
    await off(jobs, now + timedelta(days=365))


async def test_who_may_switch_and_which_schedules_there_are(jobs: ScheduleDesk) -> None:
    for person in ("m.ito", "s.audit", "p.push"):
        for act in (off(jobs, person=person), on(jobs, person=person)):
            await refused_with(ErrorCode.PERMISSION_MISSING, act)
    for schedule in ("t.never", "t.abroad", "t.elsewhere"):
        await refused_with(ErrorCode.NOT_FOUND, off(jobs, schedule=schedule))
        await refused_with(ErrorCode.NOT_FOUND, on(jobs, schedule=schedule))
        await refused_with(ErrorCode.NOT_FOUND, enabling(jobs.service, jobs.desk.actor("o.lind"), schedule))
    refusal = await refused_with(ErrorCode.SCHEDULE_UNFIT, off(jobs, schedule=MINUTELY))
    assert "No Worker has read the record of" in refusal.detail
    await refused_with(ErrorCode.PERMISSION_MISSING, enabling(jobs.service, jobs.desk.actor("p.push"), NIGHTLY))
    assert row(jobs)[0] is None


async def test_a_look_ahead_changes_nothing_and_says_since_when_it_is_off(jobs: ScheduleDesk) -> None:
    await off(jobs)
    before = jobs.one("select to_jsonb(s) from jobs.schedules as s")
    found = await enabling(jobs.service, jobs.desk.actor("s.audit"), NIGHTLY)
    assert (found.disabled, found.since) == (True, jobs.one("select disabled_at from jobs.schedules"))
    assert found.next is not None
    assert jobs.one("select to_jsonb(s) from jobs.schedules as s") == before
    unread = await enabling(jobs.service, jobs.desk.actor("s.audit"), MINUTELY)
    assert (unread.disabled, unread.runs, unread.skips) == (False, (), ())
    assert unread.words.startswith("No Worker has read its record yet")
