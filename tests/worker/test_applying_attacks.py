"""Attacks on applying: what is closed, freed or sent again behind the back of an uncertain or aborted payout."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from psycopg import errors

from jobcontract.errors import ErrorCode
from jobcontract.states import Turn
from jobservice.application import Outcome, OutwardOrder, retry
from jobservice.worker.settling import Settling
from tests.conftest import Clock
from tests.store.test_roles import as_role
from tests.usecases.desk import SETTINGS, refused_with
from tests.worker.plans_stage import SECOND, Stage, loses_after, loses_before

pytestmark = pytest.mark.requirement("confirm-bulk-money-actions-out-of-band")


async def uncertain(stage: Stage) -> tuple[dict[str, Any], dict[str, Any]]:
    """A plan whose one item is uncertain, and its review item as k.rao claimed it."""
    plan = await stage.desk.confirmed(1)
    stage.bank.odd = {stage.key(plan): loses_before}
    await stage.apply()
    stage.bank.odd = {}
    ((review,),) = stage.rows("select id::text from jobs.items where about is not null")
    return plan, dict((await stage.desk.claim("k.rao", review)).body["item"])


@pytest.mark.requirement("MONEY-18")
async def test_a_payout_that_is_to_be_retried_is_free_when_its_plan_was_aborted_meanwhile(stage: Stage) -> None:
    plan = await stage.desk.confirmed(1)

    async def aborted_meanwhile(order: OutwardOrder) -> Outcome:
        await stage.desk.abort(plan)
        return retry("Busy.", after_seconds=1)

    stage.bank.odd = {stage.key(plan): aborted_meanwhile}
    await stage.apply()
    assert (stage.turns(plan), stage.plan(plan)["state"]) == (["waiting"], "aborted")
    assert stage.plan(plan)["accounted_at"] is not None
    item = stage.item(plan)
    assert (item["held"], item["holder"], item["plan"]) == (False, None, None)
    assert (await stage.desk.plan([item["id"]]))["count"] == 1


TAMPERED = {
    "let-go": "update jobs.items set held = false, holder = null, taken_at = null, expires_at = null, plan = null,"
    " plan_name = null where id = %s",
    "amount": "update jobs.items set amount_minor = 999 where id = %s",
    "closed": "update jobs.items set state = 'rejected', closed_at = jobs.now(), held = false, holder = null,"
    " taken_at = null, expires_at = null, plan = null, plan_name = null where id = %s",
}


@pytest.mark.requirement("MONEY-5")
@pytest.mark.parametrize("how", sorted(TAMPERED))
async def test_what_a_person_says_is_written_even_where_the_item_was_changed_past_the_service(
    stage: Stage, how: str
) -> None:
    plan, review = await uncertain(stage)
    item = stage.item(plan)["id"]
    stage.change(TAMPERED[how], item)
    await stage.desk.was_paid(review)
    assert await stage.run_duty(Settling()) == {"settled": 1}
    assert stage.turns(plan) == ["done"]
    assert stage.rows("select item::text, amount_minor from jobs.releases") == [(item, 1_000)], "as it was confirmed"
    now = stage.item(plan)
    assert (now["state"], now["held"], now["holder"]) == ("released", False, None)


@pytest.mark.requirement("MONEY-1", "MONEY-5")
@pytest.mark.parametrize("turn", [Turn.UNCERTAIN, Turn.RUNNING])
async def test_a_payout_that_may_be_paid_goes_out_of_no_other_plan(stage: Stage, turn: Turn) -> None:
    plan, _ = await uncertain(stage)
    item = stage.item(plan)["id"]
    if turn is Turn.RUNNING:
        stage.change("update jobs.plan_items set turn = 'running', ended_at = null where plan = %s", plan)
    stage.change(TAMPERED["let-go"], item)
    stage.bank.calls.clear()
    other = await stage.desk.plan([item], "k.rao")
    await stage.desk.confirm(other, person="k.rao")
    await stage.apply(SECOND)
    assert stage.bank.calls == []
    assert stage.turns(other) == ["refused"]
    assert plan["name"] in stage.turn(other)["sentence"]


@pytest.mark.requirement("MONEY-3", "MONEY-5")
async def test_a_key_that_may_have_paid_other_content_pays_nothing_else(stage: Stage) -> None:
    plan, review = await uncertain(stage)
    stage.bank.book(f"jc-{stage.item(plan)['id']}")  # the bank booked it after all, and the person was wrong
    await stage.desk.was_not_paid(review)
    assert await stage.run_duty(Settling()) == {"settled": 1}
    item = stage.item(plan)
    await stage.desk.change(
        item["business_key"], item["money_version"], queue="t.payouts", minor=999_000, inputs={"invoice": "INV-1"}
    )
    again = await stage.desk.plan([item["id"]], "k.rao")
    await stage.desk.confirm(again, person="k.rao", code=stage.desk.code("k.rao", steps=1))
    stage.bank.odd = {stage.key(again): loses_after(stage.bank)}
    await stage.apply(SECOND)
    assert stage.rows("select amount_minor from jobs.releases") == [], "another amount than the bank's counts as paid"
    assert stage.turns(again) == ["refused"]


@pytest.mark.requirement("MONEY-18", "MONEY-19")
@pytest.mark.parametrize(
    "statement",
    [
        "delete from jobs.plan_items",
        "insert into jobs.outgoings (plan, tenant, person, account, currency, gross_minor, count, at)"
        " select id, tenant, owner, 'X', 'GBP', -1000000000, 0, jobs.now() from jobs.plans",
        "insert into jobs.outgoings (plan, tenant, person, account, currency, gross_minor, count, at)"
        " select id, tenant, owner, 'X', 'GBP', 0, -1000, jobs.now() from jobs.plans",
    ],
)
async def test_the_api_forgets_no_turn_and_makes_no_room_under_a_limit(
    stage: Stage, database_url: Callable[[str], str], statement: str
) -> None:
    plan, _ = await uncertain(stage)
    refusals = (errors.InsufficientPrivilege, errors.CheckViolation)
    with as_role(database_url("jobs_api"), "acme") as connection, suppress(*refusals):
        connection.execute(statement.encode())
    assert stage.turns(plan) == ["uncertain"]
    assert stage.rows("select count(*) from jobs.outgoings where account = 'X'") == [(0,)]


@pytest.mark.requirement("MONEY-10")
async def test_what_left_late_counts_for_24_hours_from_when_it_may_have_left(stage: Stage, clock: Clock) -> None:
    stage.desk = stage.desk.with_limits(person={"GBP": 1_000, "EUR": 1, "JPY": 1})
    late = await stage.desk.confirmed(1)
    clock.advance(SETTINGS.plan_window - 60)
    await stage.apply()
    assert stage.turns(late) == ["done"]
    clock.advance(24 * 3_600 - SETTINGS.plan_window + 120)  # 24 hours since it was confirmed, 20 since it went out
    other = await stage.desk.plan(await stage.desk.pushed(1))
    await refused_with(ErrorCode.LIMIT_EXCEEDED, stage.desk.confirm(other))
    clock.advance(SETTINGS.plan_window)
    other = await stage.desk.plan(await stage.desk.pushed(1))
    assert (await stage.desk.confirm(other)).body["state"] == "applying"


async def test_a_tenant_whose_switch_is_gone_is_stopped_and_nobody_turns_in_circles(stage: Stage) -> None:
    plan = await stage.desk.confirmed(1)
    stage.change("delete from jobs.money_switches where tenant = 'acme'")
    assert await stage.take() is None
    assert stage.turns(plan) == ["not-started"]


async def test_a_plan_that_cannot_even_be_read_is_paused_and_not_tried_for_ever(stage: Stage) -> None:
    plan = await stage.desk.confirmed(1)
    stage.change("update jobs.plans set parameters = '[1]' where id = %s", plan)
    await stage.apply()
    assert (stage.plan(plan)["state"], stage.bank.calls) == ("paused", [])
    assert await stage.take() is None
