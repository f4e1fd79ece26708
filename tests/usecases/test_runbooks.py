"""Runbooks as a person reads them: filled in for the schedule, who may and why not, what was done before."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from jobcontract.acts import DiscardOrder, ReplayOrder
from jobcontract.errors import ErrorCode
from jobcontract.interfaces import interface_of
from jobcontract.operating import Procedure
from jobcontract.permissions import Permission
from jobcontract.runbooks import Runbook
from jobcontract.states import Role
from jobservice.rules.runbooks import RunbookRule
from jobservice.rules.schedules import Confirmed, Schedule
from jobservice.usecases.replays import discard, replay
from jobservice.usecases.runbooks import LATEST, read_runbooks
from tests.usecases.desk import once, refused_with
from tests.usecases.schedule_desk import MINUTELY, NIGHTLY, SCHEDULE_RECORDS, ScheduleDesk, schedule_desk

START = datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
pytestmark = pytest.mark.requirement("provide-operational-recovery-procedures")


def rule(schedule: str, procedure: Procedure, route: str) -> RunbookRule:
    """A runbook of these tests."""
    interface = interface_of(route)
    assert interface is not None
    assert interface.route.permission is not None
    return RunbookRule(
        id=f"{schedule}.{procedure}",
        schedule=schedule,
        procedure=procedure,
        title=procedure.title(),
        interface=interface,
        may=interface.route.permission,
        steps=("Look.",),
        claimed="It goes on.",
    )


def three(schedule: str) -> dict[Procedure, RunbookRule]:
    """Inspect, replay by a recovery, disable."""
    routes = {
        Procedure.INSPECT: "occurrences",
        Procedure.REPLAY: "make-recovery",
        Procedure.DISABLE: "disable-schedule",
    }
    return {procedure: rule(schedule, procedure, route) for procedure, route in routes.items()}


@pytest.fixture
def jobs(database: Any, people: Any) -> ScheduleDesk:
    """Schedules of acme with runbooks; the minutely one brings payouts forward."""
    desk = schedule_desk(database, people)
    for each in (NIGHTLY, MINUTELY):
        desk.planned(each)
    money: Schedule = replace(SCHEDULE_RECORDS.schedules[MINUTELY], selection=Confirmed(command="t.many"))
    records = replace(
        SCHEDULE_RECORDS,
        schedules={**SCHEDULE_RECORDS.schedules, MINUTELY: money},
        runbooks={each: three(each) for each in (NIGHTLY, MINUTELY)},
    )
    return ScheduleDesk(replace(desk.desk, service=replace(desk.service, records=records)), desk.connection)


async def read(jobs: ScheduleDesk, person: str, schedule: str = NIGHTLY) -> dict[Procedure, Runbook]:
    """The runbooks as a person has them, by procedure, in the order in which they come."""
    found = await read_runbooks(jobs.service, jobs.desk.actor(person), schedule)
    return {each.procedure: each for each in found.runbooks}


@pytest.mark.requirement("MONEY-1")
async def test_a_runbook_says_what_is_typed_who_may_and_why_not(jobs: ScheduleDesk) -> None:
    mine = await read(jobs, "o.lind")
    assert tuple(mine) == tuple(Procedure)
    assert [each.refused for each in mine.values()] == [None, None, None]
    replaying = mine[Procedure.REPLAY]
    assert replaying.command == f"recoveries replay --schedule {NIGHTLY} --from FROM --to TO --reason REASON"
    assert (replaying.request, replaying.permission) == ("POST /v1/recoveries", Permission.RECOVERY_MAKE)
    assert replaying.roles == (Role.OPERATOR,)  # finance may make recoveries, but not with what moves nothing
    assert mine[Procedure.DISABLE].request == f"POST /v1/schedules/{NIGHTLY}/disable"
    auditor = await read(jobs, "s.audit")
    assert auditor[Procedure.INSPECT].refused is None
    assert "needs schedule.disable (operator)" in (auditor[Procedure.DISABLE].refused or "")
    money = await read(jobs, "o.lind", MINUTELY)
    assert "needs payout.release (finance)" in (money[Procedure.REPLAY].refused or "")
    assert money[Procedure.REPLAY].roles == (Role.FINANCE,)
    finance = await read(jobs, "m.ito", MINUTELY)
    assert finance[Procedure.REPLAY].refused is None
    assert "needs occurrence.replay" in ((await read(jobs, "m.ito"))[Procedure.REPLAY].refused or "")


async def test_who_may_not_read_and_what_is_not_there(jobs: ScheduleDesk) -> None:
    service = jobs.service
    await refused_with(ErrorCode.PERMISSION_MISSING, read_runbooks(service, jobs.desk.actor("s.bell"), NIGHTLY))
    await refused_with(ErrorCode.NOT_FOUND, read_runbooks(service, jobs.desk.actor("o.lind"), "t.abroad"))


@pytest.mark.requirement("audit-manual-replay")
async def test_the_transcript_has_what_was_done_and_refused_on_the_schedule_alone(jobs: ScheduleDesk) -> None:
    service, operator, finance = jobs.service, jobs.desk.actor("o.lind"), jobs.desk.actor("m.ito")
    mine = jobs.occurrence(NIGHTLY, START, "dead-letter")
    other = jobs.occurrence(MINUTELY, START, "dead-letter")
    name = f"{NIGHTLY}@2026-10-25T00:30:00Z"
    order = ReplayOrder(reason="the bank was down")
    await refused_with(ErrorCode.PERMISSION_MISSING, replay(service, finance, name, order, once("/by-name")))
    await refused_with(ErrorCode.PERMISSION_MISSING, replay(service, finance, mine, order, once("/by-id")))
    await discard(service, operator, other, DiscardOrder(reason="sent by hand"), once("/other"))
    await replay(service, operator, mine, order, once("/mine"))
    found = await read_runbooks(service, operator, NIGHTLY)
    said = [
        (each.action, each.outcome, each.person.id if each.person else None, each.subject) for each in found.transcript
    ]
    assert said == [
        ("replay-occurrence", "done", "o.lind", name),
        ("replay-occurrence", "refused", "m.ito", mine),
        ("replay-occurrence", "refused", "m.ito", name),
    ]
    assert found.transcript[0].sentence == "the bank was down"
    assert found.transcript[1].sentence.startswith("That needs occurrence.replay")
    (only,) = (await read_runbooks(service, operator, MINUTELY)).transcript
    assert (only.action, only.sentence) == ("discard-occurrence", "sent by hand")


async def test_a_refused_act_on_what_there_is_not_belongs_to_no_schedule(jobs: ScheduleDesk) -> None:
    operator, order = jobs.desk.actor("o.lind"), ReplayOrder(reason="the bank was down")
    for named in ("t.nowhere@2026-10-25T00:30:00Z", "0193a1b2-0000-7000-8000-000000000000", "neither"):
        await refused_with(ErrorCode.NOT_FOUND, replay(jobs.service, operator, named, order, once(f"/{named}")))
    assert jobs.one("select count(*) from jobs.audit where schedule is not null") == 0
    assert jobs.one("select count(*) from jobs.audit where outcome = 'refused'") == 3


async def test_only_the_latest_acts_of_procedures_are_shown(jobs: ScheduleDesk) -> None:
    add = (
        "insert into jobs.audit (tenant, person, action, subject, outcome, detail) select 'acme', 'o.lind', %s, 's',"
        " 'done', jsonb_build_object('schedule', %s::text, 'reason', n::text) from generate_series(1, %s) as n"
    )
    jobs.connection.execute(add, ("cancel-occurrence", NIGHTLY, LATEST + 5))
    jobs.connection.execute(add, ("look-at-it", NIGHTLY, 3))
    found = (await read_runbooks(jobs.service, jobs.desk.actor("o.lind"), NIGHTLY)).transcript
    assert [each.sentence for each in found] == [str(number) for number in range(LATEST + 5, 5, -1)]
