"""Recoveries of the fake service mean what those of the real one mean: both run every test. The real one believes the
digest that this client computed, or none."""

from __future__ import annotations

from collections.abc import Awaitable
from datetime import timedelta

import pytest
from pydantic import SecretStr

from jobconsole.client import recoveries
from jobconsole.client.errors import PlanUnfit, PlanUnknown, ServiceRefused
from jobconsole.client.queues import new_key
from jobconsole.client.recoveries import RecoveryReading
from jobconsole.client.service import Service
from jobcontract.occurrence_names import occurrence_name
from jobcontract.operating import LeftOut, RecoveryAct, RecoveryState
from jobcontract.recoveries import Recovery, RecoveryOrder
from jobcontract.states import Moves, OccurrenceState, Turn
from tests.client.schedule_stage import HOURLY, MINUTELY, FakeScheduleStage, ScheduleStage, real_schedule_stage
from tests.client.stage import AUDITOR, FIRST, OPERATOR, PUSHER

COMPLETED, DEAD = OccurrenceState.COMPLETED, OccurrenceState.DEAD_LETTER
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
pytestmark = pytest.mark.requirement("audit-manual-replay")


@pytest.fixture(params=["fake", "real"])
def stage(request: pytest.FixtureRequest) -> ScheduleStage:
    """The service under comparison; the real one only where it is asked for, it needs a database."""
    if request.param == "fake":
        return FakeScheduleStage()
    return real_schedule_stage(request.getfixturevalue("database"), request.getfixturevalue("people"))


async def refused(call: Awaitable[object]) -> str:
    """The code with which the call is refused."""
    with pytest.raises(ServiceRefused) as caught:
        await call
    assert caught.value.sentence.endswith(".")
    return caught.value.code


def night(stage: ScheduleStage, count: int = 5) -> list[str]:
    """Dead letters of a night, a minute apart; their names in order."""
    first = stage.now - HOUR
    for number in range(count):
        stage.plan(MINUTELY, first + number * MINUTE, DEAD)
    return [occurrence_name(MINUTELY, first + number * MINUTE) for number in range(count)]


async def made(stage: ScheduleStage, service: Service, **given: object) -> Recovery:
    """A recovery of the last two hours."""
    asked = {"act": RecoveryAct.REPLAY, "since": stage.now - 2 * HOUR, "until": stage.now + HOUR, **given}
    return await recoveries.make(
        service, RecoveryOrder.model_validate({"reason": "A missed night", **asked}), new_key()
    )


async def test_a_stretch_is_frozen_read_to_its_end_and_confirmed_by_the_digest(stage: ScheduleStage) -> None:
    names, service = night(stage), stage.sign_in(OPERATOR)
    stage.plan(HOURLY, stage.now - HOUR)
    found = await made(stage, service)
    assert (found.state, found.count, found.edition, found.moves) == (RecoveryState.OPEN, 5, 1, Moves.NOTHING)
    assert (found.confirm_by, found.account, found.reason) == (None, (), "A missed night")
    assert [(each.schedule, each.count) for each in found.schedules] == [(MINUTELY, 5)]
    assert [(each.reason, each.count) for each in found.left_out] == [(LeftOut.NOT_ENDED, 1)]
    assert found.words.startswith("replay ")
    assert found.command.startswith("jobconsole recoveries replay ")
    detail = await recoveries.recovery(service, found.id)
    assert [row.name for row in detail.rows] == names
    left = [each async for each in recoveries.every_left_out(service, found.id)]
    assert [(each.schedule, each.reason) for each in left] == [(HOURLY, LeftOut.NOT_ENDED)]
    reading = RecoveryReading(service, found, page=2)
    digest = await reading.run()
    assert ([row.name for row in reading.rows], reading.done, reading.checked) == (names, True, 5)
    assert await recoveries.digest_of(service, found) == digest
    other = "0" * 64
    assert await refused(recoveries.confirm(service, found.id, other, None, new_key())) == "plan-digest"
    code = SecretStr("123456")
    assert await refused(recoveries.confirm(service, found.id, digest, code, new_key())) == "invalid-request"
    confirmed = await recoveries.confirm(service, found.id, digest, None, new_key())
    assert confirmed.state is RecoveryState.APPLYING
    assert [(each.turn, each.count) for each in confirmed.account] == [(Turn.NOT_STARTED, 5)]
    assert await refused(recoveries.confirm(service, found.id, digest, None, new_key())) == "plan-state"


async def test_rows_come_in_pages_by_number_and_by_turn(stage: ScheduleStage) -> None:
    names, service = night(stage), stage.sign_in(OPERATOR)
    found = await made(stage, service)
    first = await recoveries.rows(service, found.id, limit=2)
    second = await recoveries.rows(service, found.id, cursor=first.next, limit=2)
    assert [row.number for row in (*first.rows, *second.rows)] == [1, 2, 3, 4]
    assert (first.edition, second.edition) == (1, 1)
    assert [row.name async for row in recoveries.every_row(service, found.id)] == names
    waiting = await recoveries.rows(service, found.id, turn=Turn.NOT_STARTED, limit=9)
    assert (len(waiting.rows), waiting.next) == (5, None)
    assert (await recoveries.rows(service, found.id, turn=Turn.DONE)).rows == ()
    assert await refused(recoveries.rows(service, found.id, cursor="nonsense")) == "cursor-invalid"
    assert await refused(recoveries.recovery(service, "00000000-0000-4000-8000-000000000000")) == "not-found"


async def test_what_is_taken_out_makes_another_edition_and_a_reading_starts_over(stage: ScheduleStage) -> None:
    names, service = night(stage), stage.sign_in(OPERATOR)
    found = await made(stage, service)
    rows = (await recoveries.recovery(service, found.id)).rows
    before = await recoveries.digest_of(service, found)
    taken = await recoveries.take_out(service, found.id, [rows[0].key], new_key())
    assert (taken.edition, taken.count) == (2, 4)
    assert (LeftOut.TAKEN_OUT, 1) in [(each.reason, each.count) for each in taken.left_out]
    stale = RecoveryReading(service, found)
    digest = await stale.run()
    assert (stale.recovery.edition, [row.name for row in stale.rows]) == (2, names[1:])
    assert digest != before
    assert await refused(recoveries.confirm(service, found.id, before, None, new_key())) == "plan-digest"
    assert await refused(recoveries.take_out(service, found.id, ["stranger"], new_key())) == "not-found"
    rest = [row.key for row in stale.rows]
    assert await refused(recoveries.take_out(service, found.id, rest, new_key())) == "plan-empty"
    assert (await recoveries.confirm(service, found.id, digest, None, new_key())).state is RecoveryState.APPLYING


async def test_rows_of_two_editions_are_never_mixed(stage: ScheduleStage, monkeypatch: pytest.MonkeyPatch) -> None:
    night(stage)
    service = stage.sign_in(OPERATOR)
    found = await made(stage, service)
    monkeypatch.setattr(recoveries, "PLAN_PAGE_MOST", 2)
    rows = recoveries.every_row(service, found.id)
    first = [await anext(rows), await anext(rows)]
    await recoveries.take_out(service, found.id, [first[0].key], new_key())
    with pytest.raises(PlanUnfit, match="frozen anew"):
        await anext(rows)


async def test_it_is_steered_and_dropped_with_reasons(stage: ScheduleStage) -> None:
    night(stage)
    service = stage.sign_in(OPERATOR)
    found = await made(stage, service)
    assert await refused(recoveries.pause(service, found.id, "Too early", new_key())) == "plan-state"
    digest = await recoveries.digest_of(service, found)
    await recoveries.confirm(service, found.id, digest, None, new_key())
    assert await refused(recoveries.drop(service, found.id, "Too late", new_key())) == "plan-state"
    paused = await recoveries.pause(service, found.id, "Odd", new_key())
    assert (paused.state, paused.why) == (RecoveryState.PAUSED, "Odd")
    resumed = await recoveries.resume(service, found.id, "Fine", None, new_key())
    assert resumed.state is RecoveryState.APPLYING
    aborted = await recoveries.abort(service, found.id, "Wrong night", new_key())
    assert (aborted.state, aborted.why) == (RecoveryState.ABORTED, "Wrong night")
    assert aborted.ended_by is not None
    assert await refused(recoveries.resume(service, found.id, "No", None, new_key())) == "plan-state"
    again = await made(stage, service)
    assert again.count == 5
    dropped = await recoveries.drop(service, again.id, "Not needed", new_key())
    assert (dropped.state, dropped.why) == (RecoveryState.DROPPED, "Not needed")
    listed = await recoveries.recoveries(service)
    assert [each.id for each in listed.recoveries] == [again.id, found.id]
    assert (await recoveries.recoveries(service, live=True)).recoveries == ()
    assert (await recoveries.find(service, found.name)).id == found.id
    with pytest.raises(PlanUnknown, match="no recovery auk-0"):
        await recoveries.find(service, "auk-0")


async def test_who_may_not_make_one_looks_or_not_even_that(stage: ScheduleStage) -> None:
    night(stage)
    found = await made(stage, stage.sign_in(OPERATOR))
    auditor, pusher, finance = (stage.sign_in(part) for part in (AUDITOR, PUSHER, FIRST))
    assert (await recoveries.recovery(auditor, found.id)).recovery.id == found.id
    assert await refused(made(stage, auditor)) == "permission-missing"
    assert await refused(recoveries.abort(auditor, found.id, "No", new_key())) == "permission-missing"
    assert await refused(recoveries.recovery(pusher, found.id)) == "permission-missing"
    assert await refused(recoveries.drop(finance, found.id, "Theirs", new_key())) == "permission-missing"
    assert await refused(made(stage, finance)) == "plan-empty"


async def test_a_row_is_in_one_open_recovery_and_a_person_has_three(stage: ScheduleStage) -> None:
    names, service = night(stage), stage.sign_in(OPERATOR)
    for name in names[:3]:
        assert (await made(stage, service, since=None, until=None, occurrences=(name,))).count == 1
    assert await refused(made(stage, service)) == "plans-max"
    listed = (await recoveries.recoveries(service, live=True)).recoveries
    await recoveries.drop(service, listed[0].id, "Again", new_key())
    found = await made(stage, service)
    assert [(each.reason, each.count) for each in found.left_out] == [(LeftOut.IN_RECOVERY, 2)]
    assert found.count == 3


async def test_dead_letters_are_requeued_and_discarded_as_a_set(stage: ScheduleStage) -> None:
    names, service = night(stage, 2), stage.sign_in(OPERATOR)
    whole = stage.now - 2 * HOUR
    stage.plan(HOURLY, whole, COMPLETED)
    for act in (RecoveryAct.REQUEUE, RecoveryAct.DISCARD):
        found = await made(stage, service, act=act, since=None, until=None)
        assert [row.name for row in (await recoveries.recovery(service, found.id)).rows] == names
        await recoveries.drop(service, found.id, "Next", new_key())
        asked = (names[0], occurrence_name(HOURLY, whole), occurrence_name(HOURLY, whole + 9 * HOUR))
        named = await made(stage, service, act=act, since=None, until=None, occurrences=asked)
        assert {each.reason for each in named.left_out} == {LeftOut.NOT_DEAD, LeftOut.UNKNOWN}
        await recoveries.drop(service, named.id, "Next", new_key())
