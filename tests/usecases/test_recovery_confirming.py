"""Confirming and steering recoveries: what is compared, in which order it is refused, who may, and with which code."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from jobcontract.errors import ErrorCode, Refusal
from jobservice.rules.keys import Signature
from tests.conftest import Clock
from tests.usecases.desk import once, refused_with
from tests.usecases.money_desk import KEYS, WRONG
from tests.usecases.recovery_desk import DAY, HOURLY, MONEY, NIGHT, NIGHTLY, RecoveryDesk, recovery_desk

HOUR = timedelta(hours=1)


@pytest.fixture
def desk(database: Any, people: Any) -> RecoveryDesk:
    made = recovery_desk(database, people)
    made.planned()
    return made


def audited(desk: RecoveryDesk, action: str) -> list[tuple[Any, ...]]:
    """Outcome and code of what the trail has of an action."""
    return desk.rows(
        "select person, outcome, coalesce(detail ->> 'code', '') from jobs.audit where action = %s order by id", action
    )


def only_change(refusal: Refusal) -> dict[str, Any]:
    """The one change that it tells of."""
    changes: Any = refusal.extra["changes"]
    (change,) = changes
    return dict(change)


async def test_an_operator_confirms_without_a_code_and_nothing_is_done_by_it(desk: RecoveryDesk) -> None:
    dead = desk.dead()
    made = await desk.make()
    refusal = await refused_with(ErrorCode.INVALID_REQUEST, desk.confirm(made, code="123456"))
    assert "takes no code" in refusal.detail
    confirmed = await desk.confirm(made)
    assert (confirmed["state"], confirmed["account"]) == ("applying", [{"turn": "not-started", "count": 1}])
    assert desk.rows("select state, replays, version from jobs.occurrences where id = %s", dead) == [
        ("dead-letter", 0, 1)
    ]
    assert desk.rows("select signature, signing_key from jobs.recoveries") == [(None, None)]
    assert desk.rows("select count(*) from jobs.notices") == [(0,)]
    assert audited(desk, "confirm-recovery") == [
        ("o.lind", "refused", "invalid-request"),
        ("o.lind", "done", "none needed"),
    ]


@pytest.mark.requirement("MONEY-1", "MONEY-13")
async def test_what_moves_money_takes_the_code_is_signed_and_told(desk: RecoveryDesk) -> None:
    desk.dead(MONEY)
    made = await desk.make(person="m.ito")
    refusal = await refused_with(ErrorCode.CODE_WRONG, desk.confirm(made, "m.ito"))
    assert "none came" in refusal.detail
    await refused_with(ErrorCode.CODE_WRONG, desk.confirm(made, "m.ito", code=WRONG))
    assert desk.rows("select state, signature from jobs.recoveries") == [("open", None)]
    confirmed = await desk.confirm(made, "m.ito", code=desk.money.code())
    assert (confirmed["state"], confirmed["moves"], confirmed["confirm_by"]) == ("applying", "money", "totp")
    ((key, signature, digest),) = desk.rows("select signing_key, signature, digest from jobs.recoveries")
    signed = Signature(key_id=key, signature=bytes(signature))
    assert KEYS.public().verify(made["id"], bytes(digest), signed)
    assert not KEYS.public().verify(made["id"], bytes(32), signed)
    ((person, kind, text),) = desk.rows("select person, kind, text from jobs.notices")
    assert (person, kind) == ("m.ito", "recovery-confirmed")
    assert f"jobconsole recoveries abort {made['name']}" in text
    assert desk.digest(made) not in text


@pytest.mark.requirement("MONEY-13")
async def test_the_first_refusal_is_named_and_a_code_is_judged_last(desk: RecoveryDesk, clock: Clock) -> None:
    """Permission, state, digest, rows, stop, code: each hides what comes after, and what was right before is right still."""
    money = desk.dead(MONEY)
    made = await desk.make(person="m.ito")
    wrong: Any = {"code": WRONG, "digest": "0" * 64}
    await refused_with(ErrorCode.PERMISSION_MISSING, desk.confirm(made, "o.lind", **wrong))
    await refused_with(ErrorCode.PERMISSION_MISSING, desk.confirm(made, "k.rao", **wrong))
    assert desk.rows("select sum(in_a_row) from jobs.codes") == [(0,)]
    await desk.money.stop()
    desk.one("update jobs.occurrences set version = 2 where id = %s returning 1", money)
    await refused_with(ErrorCode.PLAN_DIGEST, desk.confirm(made, "m.ito", **wrong))
    await refused_with(ErrorCode.PLAN_CHANGED, desk.confirm(made, "m.ito", code=WRONG))
    desk.one("update jobs.occurrences set version = 1 where id = %s returning 1", money)
    await refused_with(ErrorCode.MONEY_STOPPED, desk.confirm(made, "m.ito", code=WRONG))
    clock.advance(1_801)
    await refused_with(ErrorCode.PLAN_STATE, desk.confirm(made, "m.ito", **wrong))


async def test_every_change_since_it_was_frozen_is_named(desk: RecoveryDesk) -> None:
    gone, again, off = desk.dead(), desk.dead(at=NIGHT + DAY), desk.dead(HOURLY)
    desk.skipped(NIGHT + 2 * HOUR, NIGHT + 2 * HOUR, 1)
    made = await desk.make(skipped=True)
    assert made["count"] == 4
    desk.one("delete from jobs.occurrences where id = %s returning 1", gone)
    desk.one(
        "update jobs.occurrences set version = 2, state = 'completed', cause = null where id = %s returning 1", again
    )
    desk.one(
        "update jobs.schedules set disabled_at = jobs.now(), disabled_by = 'k.rao', disabled_reason = 'x'"
        " where schedule = %s returning 1",
        HOURLY,
    )
    refusal = await refused_with(ErrorCode.PLAN_CHANGED, desk.confirm(made))
    changes: Any = refusal.extra["changes"]
    assert [(each["item"], each["field"], each["before"], each["after"]) for each in changes] == [
        (off, "schedule", "enabled", "disabled by Kiran Rao"),
        (gone, "state", "dead-letter", "removed"),
        (f"{HOURLY}@2026-11-28T03:00:00Z", "schedule", "enabled", "disabled by Kiran Rao"),
        (again, "state", "dead-letter", "completed"),
    ]
    assert refusal.extra["count"] == 4
    assert refusal.detail.startswith("4 rows are not as the recovery shows: ")
    assert refusal.detail.endswith(" and more. Make a new one.")


async def test_what_retention_came_past_meanwhile_is_removed(desk: RecoveryDesk) -> None:
    gone = desk.dead()
    made = await desk.make()
    desk.one("update jobs.schedules set floor_at = %s where schedule = %s returning 1", NIGHT, NIGHTLY)
    refusal = await refused_with(ErrorCode.PLAN_CHANGED, desk.confirm(made))
    changes: Any = refusal.extra["changes"]
    (change,) = changes
    assert (change["item"], change["field"], change["after"]) == (gone, "state", "removed")


@pytest.mark.requirement("MONEY-13")
async def test_a_code_of_a_step_before_it_was_frozen_is_spent_and_refused(desk: RecoveryDesk, clock: Clock) -> None:
    clock.advance(30 - desk.money.now().timestamp() % 30)  # the step before is over, and still within the drift
    desk.dead(MONEY)
    made = await desk.make(person="m.ito")
    await refused_with(ErrorCode.CODE_USED, desk.confirm(made, "m.ito", code=desk.money.code(steps=-1)))
    assert (await desk.shown(made, "m.ito")).recovery.state == "open"
    assert (await desk.confirm(made, "m.ito", code=desk.money.code()))["state"] == "applying"


async def test_a_skipped_instant_that_was_made_meanwhile_is_a_change(desk: RecoveryDesk) -> None:
    desk.skipped(NIGHT, NIGHT, 1)
    made = await desk.make(skipped=True)
    desk.hand.occurrence(HOURLY, NIGHT)
    refusal = await refused_with(ErrorCode.PLAN_CHANGED, desk.confirm(made))
    change = only_change(refusal)
    assert (change["before"], change["after"]) == ("skipped", "scheduled")


async def test_a_schedule_that_changed_is_not_disabled_unseen(desk: RecoveryDesk) -> None:
    made = await desk.make("disable", schedules=(NIGHTLY, HOURLY))
    desk.one("update jobs.schedules set version = version + 1 where schedule = %s returning 1", NIGHTLY)  # it ran
    desk.one("update jobs.schedules set switched = 2 where schedule = %s returning 1", HOURLY)
    refusal = await refused_with(ErrorCode.PLAN_CHANGED, desk.confirm(made))
    change = only_change(refusal)
    assert (change["item"], change["field"], change["before"], change["after"]) == (HOURLY, "version", "1", "2")


@pytest.mark.requirement("MONEY-1")
async def test_the_money_that_waits_is_shown_hashed_and_compared(desk: RecoveryDesk) -> None:
    """What confirmed plans of the schedule's bulk command hold waiting: changed, the confirmation is refused."""
    plan = await desk.money.confirmed(3)
    desk.one(
        "with one as (update jobs.plans set state = 'applying' where id = %s) update jobs.plan_items"
        " set turn = 'waiting' where plan = %s and number <= 2 returning 1",
        plan["id"],
        plan["id"],
    )
    desk.dead(MONEY)
    made = await desk.make(person="k.rao")
    assert made["money"] == [{"currency": "GBP", "exponent": 2, "out_minor": 2_000, "count": 2}]
    desk.one("update jobs.plan_items set turn = 'waiting' where plan = %s and number = 3 returning 1", plan["id"])
    refusal = await refused_with(ErrorCode.PLAN_CHANGED, desk.confirm(made, "k.rao", code=desk.money.code("k.rao")))
    change = only_change(refusal)
    assert (change["field"], change["before"], change["after"]) == ("money", "GBP 20.00 in 2", "GBP 30.00 in 3")
    before = desk.digest(made)
    await desk.steer("drop", made, "k.rao")
    again = await desk.make(person="k.rao")
    assert desk.digest(again) != before
    confirmed = await desk.confirm(again, "k.rao", code=desk.money.code("k.rao", steps=1))
    assert confirmed["state"] == "applying"
    assert "GBP 30.00 in 3" in desk.one("select text from jobs.notices where kind = 'recovery-confirmed'")


async def test_fifty_confirmations_at_once_are_one(desk: RecoveryDesk) -> None:
    desk.dead()
    made = await desk.make()
    answers = await asyncio.gather(*(desk.confirm(made) for _ in range(50)), return_exceptions=True)
    refusals = [each for each in answers if isinstance(each, Refusal)]
    assert len(refusals) == 49
    assert {each.kind for each in refusals} == {ErrorCode.PLAN_STATE}
    assert desk.rows("select state, version from jobs.recoveries") == [("applying", 2)]
    assert [outcome for _, outcome, _ in audited(desk, "confirm-recovery")].count("done") == 1


async def test_the_same_request_confirms_once_and_burns_one_code(desk: RecoveryDesk) -> None:
    desk.dead(MONEY)
    made = await desk.make(person="m.ito")
    request, code = once(), desk.money.code()
    first = await desk.confirm(made, "m.ito", code=code, request=request)
    again = await desk.confirm(made, "m.ito", code=code, request=request)
    assert first == again
    await refused_with(ErrorCode.PLAN_STATE, desk.confirm(made, "m.ito", code=code))


async def test_it_is_paused_resumed_and_aborted_and_each_step_is_kept(desk: RecoveryDesk) -> None:
    desk.dead()
    made = await desk.make()
    for what in ("pause", "abort"):
        refusal = await refused_with(ErrorCode.PLAN_STATE, desk.steer(what, made))
        assert "is open: nothing of it runs" in refusal.detail
    await desk.confirm(made)
    await refused_with(ErrorCode.PLAN_STATE, desk.resume(made))
    paused = await desk.steer("pause", made, "m.ito")
    assert (paused["state"], paused["why"], paused["ended_at"]) == ("paused", "To pause", None)
    assert (await desk.steer("pause", made))["version"] == paused["version"]
    await refused_with(ErrorCode.PERMISSION_MISSING, desk.resume(made, "m.ito"))
    await refused_with(ErrorCode.INVALID_REQUEST, desk.resume(made, code="123456"))
    resumed = await desk.resume(made)
    assert (resumed["state"], resumed["why"]) == ("applying", None)
    aborted = await desk.steer("abort", made)
    assert (aborted["state"], aborted["why"], aborted["ended_by"]["id"]) == ("aborted", "To abort", "o.lind")
    assert (await desk.steer("abort", made))["version"] == aborted["version"]
    await refused_with(ErrorCode.PLAN_STATE, desk.steer("pause", made))
    await refused_with(ErrorCode.PLAN_STATE, desk.resume(made))
    assert desk.rows("select action from jobs.audit where outcome = 'done' order by id") == [
        (f"{what}-recovery",) for what in ("make", "confirm", "pause", "resume", "abort")
    ]
    await refused_with(ErrorCode.PERMISSION_MISSING, desk.steer("abort", made, "s.audit"))
    await refused_with(ErrorCode.NOT_FOUND, desk.steer("abort", made, "s.bell"))


@pytest.mark.requirement("MONEY-13")
async def test_money_is_resumed_with_a_code_of_finance_alone(desk: RecoveryDesk) -> None:
    desk.dead(MONEY)
    made = await desk.make(person="m.ito")
    await desk.confirm(made, "m.ito", code=desk.money.code())
    await desk.steer("pause", made)
    await refused_with(ErrorCode.PERMISSION_MISSING, desk.resume(made))
    await refused_with(ErrorCode.CODE_WRONG, desk.resume(made, "k.rao"))
    await refused_with(ErrorCode.CODE_USED, desk.resume(made, "m.ito", code=desk.money.code()))
    assert (await desk.resume(made, "k.rao", code=desk.money.code("k.rao")))["state"] == "applying"
    await desk.steer("pause", made)
    await desk.money.stop()
    await refused_with(ErrorCode.MONEY_STOPPED, desk.resume(made, "k.rao", code=WRONG))
