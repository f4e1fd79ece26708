"""Pausing, resuming and aborting a confirmed plan: who may, with what, and what becomes of its items."""

from __future__ import annotations

from typing import Any

import pytest

from jobcontract.errors import ErrorCode
from tests.conftest import Clock
from tests.usecases.desk import refused_with
from tests.usecases.money_desk import WRONG, MoneyDesk

pytestmark = pytest.mark.requirement("MONEY-20")


def failures(money: MoneyDesk) -> int:
    return int(money.rows("select count(*) from jobs.code_failures")[0][0])


async def test_whoever_watches_pauses_and_a_second_finance_person_resumes(money: MoneyDesk) -> None:
    plan = await money.confirmed()
    paused = (await money.pause(plan, reason="Looks odd")).body
    assert (paused["state"], paused["reason"], paused["ended_by"]["id"]) == ("paused", "Looks odd", "o.lind")
    assert paused["apply_until"] == plan["apply_until"], "the window keeps running"
    resumed = (await money.resume(plan, "k.rao")).body
    assert (resumed["state"], resumed["reason"], resumed["ended_by"]) == ("applying", None, None)
    told = money.rows("select person, kind, subject from jobs.notices where kind <> 'plan-confirmed' order by made_at")
    assert told == [
        ("m.ito", "plan-paused", f"Plan {plan['name']} was paused by Olle Lind"),
        ("m.ito", "plan-resumed", f"Plan {plan['name']} was resumed by Kiran Rao"),
    ]
    trail = [(person, action) for person, action, _ in money.audited() if action in ("pause-plan", "resume-plan")]
    assert trail == [("o.lind", "pause-plan"), ("k.rao", "resume-plan")]


async def test_a_paused_plan_that_is_paused_again_keeps_its_first_reason(money: MoneyDesk) -> None:
    plan = await money.confirmed()
    first = (await money.pause(plan, reason="First")).body
    again = (await money.pause(plan, "m.ito", reason="Second")).body
    assert (again["reason"], again["version"]) == ("First", first["version"])


async def test_its_owner_resumes_with_a_fresh_code_alone(money: MoneyDesk, clock: Clock) -> None:
    plan = await money.plan(await money.pushed(1))
    code = money.code()
    await money.confirm(plan, code=code)
    await money.pause(plan)
    await refused_with(ErrorCode.CODE_USED, money.resume(plan, "m.ito", code=code))
    await refused_with(ErrorCode.CODE_WRONG, money.resume(plan, "m.ito", code=WRONG))
    clock.advance(30)
    assert (await money.resume(plan, "m.ito")).body["state"] == "applying"


@pytest.mark.requirement("MONEY-13")
async def test_no_code_is_judged_of_whoever_may_not_resume_or_of_a_plan_that_is_not_paused(money: MoneyDesk) -> None:
    plan = await money.confirmed()
    refusal = await refused_with(ErrorCode.PLAN_STATE, money.resume(plan, "k.rao", code=WRONG))
    assert refusal.detail == f"Plan {plan['name']} is not paused: it is applying. There is nothing to resume."
    await money.pause(plan)
    await refused_with(ErrorCode.PERMISSION_MISSING, money.resume(plan, "o.lind", code=WRONG))
    await refused_with(ErrorCode.NOT_FOUND, money.resume(plan, "g.fin", code=WRONG))
    assert failures(money) == 0


async def test_after_its_window_a_plan_is_not_resumed(money: MoneyDesk, clock: Clock) -> None:
    plan = await money.confirmed()
    await money.pause(plan)
    clock.advance(money.service.records.settings.plan_window + 1)
    refusal = await refused_with(ErrorCode.PLAN_STATE, money.resume(plan, code=WRONG))
    assert refusal.detail.startswith(f"The window of plan {plan['name']} ended at ")
    assert failures(money) == 0


async def test_while_money_is_stopped_a_plan_is_not_resumed_and_the_code_is_spent(money: MoneyDesk) -> None:
    plan = await money.confirmed()
    await money.pause(plan)
    await money.stop()
    refusal = await refused_with(ErrorCode.MONEY_STOPPED, money.resume(plan))
    assert "by Olle Lind: A fraud." in refusal.detail
    assert money.spent("k.rao") > 0


@pytest.mark.requirement("MONEY-14")
async def test_what_is_left_of_the_armed_time_runs_on_after_a_pause(money: MoneyDesk, clock: Clock) -> None:
    armed = money.with_command(armed_above={"GBP": 1}, armed_seconds=600.0)
    plan = await armed.confirmed()
    assert plan["state"] == "armed"
    await armed.pause(plan)
    assert (await armed.resume(plan)).body["state"] == "armed"
    await armed.pause(plan)
    clock.advance(600)
    assert (await armed.resume(plan)).body["state"] == "applying"


@pytest.mark.requirement("MONEY-18")
async def test_an_abort_gives_back_what_had_no_turn_and_leaves_what_is_running(money: MoneyDesk) -> None:
    plan = await money.confirmed(3)
    turns = money.people.connection.execute
    turns("update jobs.plan_items set turn = 'running', turn_fence = 1 where number = 1")
    turns("update jobs.plan_items set turn = 'waiting', try_at = jobs.now() where number = 2")
    aborted = (await money.abort(plan, reason="Wrong set")).body
    assert (aborted["state"], aborted["reason"], aborted["ended_by"]["id"]) == ("aborted", "Wrong set", "o.lind")
    assert aborted["ended_at"] is not None
    assert [(each["turn"], each["count"]) for each in aborted["account"]] == [
        ("not-started", 1),
        ("running", 1),
        ("waiting", 1),
    ]
    held = money.rows(
        "select t.number, i.held, i.holder from jobs.items i join jobs.plan_items t on t.item = i.id order by 1"
    )
    assert held == [(1, True, "m.ito"), (2, False, None), (3, False, None)]
    free = money.rows("select item::text from jobs.plan_items where number = 3")[0][0]
    assert (await money.claim("k.rao", free)).body["item"]["holder"]["id"] == "k.rao"
    ((detail,),) = money.rows("select detail from jobs.audit where action = 'abort-plan'")
    assert (detail["given_back"], detail["reason"]) == (2, "Wrong set")
    again = (await money.abort(plan, "m.ito", reason="Again")).body
    assert (again["reason"], again["version"]) == ("Wrong set", aborted["version"])


async def test_an_abort_of_a_paused_plan_frees_its_items_for_another_plan(money: MoneyDesk) -> None:
    plan = await money.confirmed()
    await money.pause(plan)
    await money.abort(plan)
    items = [item for (item,) in money.rows("select item::text from jobs.plan_items")]
    assert (await money.plan(items, "k.rao"))["count"] == 2


@pytest.mark.parametrize("order", ["pause", "abort"])
async def test_an_open_plan_is_dropped_by_its_owner_and_not_steered(money: MoneyDesk, order: str) -> None:
    plan = await money.plan(await money.pushed(1))
    refusal = await refused_with(ErrorCode.PLAN_STATE, getattr(money, order)(plan))
    assert refusal.extra["state"] == "open"
    assert refusal.detail == f"Plan {plan['name']} is open: nothing of it runs. Its owner can drop it."


@pytest.mark.parametrize("person", ["s.bell", "s.audit", "p.push", "a.admin"])
async def test_nobody_else_pauses_or_aborts(money: MoneyDesk, person: str) -> None:
    plan = await money.confirmed()
    await refused_with(ErrorCode.PERMISSION_MISSING, money.pause(plan, person))
    await refused_with(ErrorCode.PERMISSION_MISSING, money.abort(plan, person))
    assert money.rows("select state from jobs.plans") == [("applying",)]


async def test_hints_tell_of_the_plan_and_of_items_given_back(money: MoneyDesk) -> None:
    plan = await money.confirmed()
    money.people.connection.execute("delete from jobs.hints")
    aborted: dict[str, Any] = dict((await money.abort(plan)).body)
    found = money.rows("select topic, queue, ref from jobs.hints order by topic")
    assert found == [("items", "t.payouts", "t.payouts"), ("plan", "t.payouts", plan["id"])]
    ((version,),) = money.rows("select version from jobs.hints where topic = 'plan'")
    assert version == aborted["version"]
