"""What the Worker checks at every item: whatever was written past the service, or changed since, releases nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import psycopg
import pytest
from psycopg import errors
from structlog.testing import capture_logs

from jobservice.application import Outcome, OutwardOrder, done
from tests.store.test_roles import as_role
from tests.usecases.desk import BULK
from tests.worker.plans_stage import Stage, loses_before

pytestmark = pytest.mark.requirement("confirm-bulk-money-actions-out-of-band")

FORGERIES = {
    "amount": "update jobs.plan_items set amount_minor = 999 where number = 2",
    "account": "update jobs.plan_items set account = 'GB00FRAUD00000000001' where number = 2",
    "payee": "update jobs.plan_items set payee_name = 'Another Ltd' where number = 2",
    "title": "update jobs.plan_items set title = 'Another' where number = 2",
    "row": "delete from jobs.plan_items where number = 2",
    "signature": "update jobs.plans set signature = signature || '\\x00'",
    "key": "update jobs.plans set signing_key = 'k2'",
    "owner": "update jobs.plans set owner = 'k.rao'",
    "digest": "update jobs.plans set digest = sha256('other')",
    "outgoings": "delete from jobs.outgoings",
}


@pytest.mark.requirement("MONEY-19")
@pytest.mark.parametrize("forgery", sorted(FORGERIES))
async def test_a_plan_that_is_not_what_was_confirmed_is_paused_with_an_alarm(stage: Stage, forgery: str) -> None:
    plan = await stage.desk.confirmed(2)
    stage.change(FORGERIES[forgery])
    with capture_logs() as logs:
        await stage.apply()
    assert stage.bank.calls == []
    paused = stage.plan(plan)
    assert (paused["state"], paused["holder"]) == ("paused", None)
    assert paused["reason"]
    assert [line["event"] for line in logs if line.get("alarm")] == ["plan-not-applied"]
    told = {row[0] for row in stage.rows("select person from jobs.notices where kind = 'plan-not-applied'")}
    assert told == {"m.ito", "k.rao", "o.lind"}, "its owner, finance and operations"
    assert await stage.take() is None, "nobody takes it until a person resumes it"


@pytest.mark.requirement("MONEY-19")
async def test_a_row_that_is_changed_while_the_plan_runs_is_seen_at_its_turn(stage: Stage) -> None:
    plan = await stage.desk.confirmed(3)

    async def meanwhile(order: OutwardOrder) -> Outcome:
        stage.change("update jobs.plan_items set amount_minor = 999 where number = 2")
        stage.change("update jobs.items set amount_minor = 999 where business_key = %s", stage.key(plan, 2))
        return done("Paid.", reference=stage.bank.book(order.key))

    stage.bank.odd = {stage.key(plan, 1): meanwhile}
    await stage.apply()
    assert stage.turns(plan) == ["done", "not-started", "not-started"]
    assert len(stage.bank.calls) == 1
    assert stage.plan(plan)["state"] == "paused"
    assert "Row 2" in stage.plan(plan)["reason"]


CHANGES = {
    "amount_minor = 5000": "amount GBP 10.00 → GBP 50.00",
    "payee_name = 'Another Ltd'": "payee A Supplier Ltd (sup-1) → Another Ltd (sup-1)",
    "account = 'GB00OTHER00000000001234'": "account …6819 → …1234",
    "money_version = money_version + 1": "version 1 → 2",
    "state = 'rejected', closed_at = jobs.now(), holder = null, taken_at = null, expires_at = null, plan = null,"
    " plan_name = null, held = false": "the item is rejected",
    "fence = fence + 1": "does not hold the item",
    "pushed_by = 'm.ito'": "owner of the plan pushed it",
}


@pytest.mark.requirement("MONEY-12", "MONEY-18")
@pytest.mark.parametrize("change", sorted(CHANGES))
async def test_an_item_that_is_not_what_was_confirmed_is_refused_with_before_and_after(
    stage: Stage, change: str
) -> None:
    plan = await stage.desk.confirmed(2)
    stage.change(f"update jobs.items set {change} where business_key = %s", stage.key(plan))
    await stage.apply()
    assert stage.turns(plan) == ["refused", "done"]
    assert CHANGES[change] in stage.turn(plan)["sentence"]
    assert len(stage.bank.calls) == 1
    assert stage.counted(plan) == [("GBP", 1_000, 1)]
    if "fence" not in change and "state" not in change:
        assert stage.item(plan)["holder"] is None, "it is free again"


@pytest.mark.requirement("MONEY-12")
async def test_an_item_whose_payment_the_owner_changed_last_is_refused(stage: Stage) -> None:
    plan = await stage.desk.confirmed(1)
    stage.change("update jobs.items set payment_changed_by = 'm.ito'")
    await stage.apply()
    assert stage.turns(plan) == ["refused"]


@pytest.mark.requirement("MONEY-10", "MONEY-19")
@pytest.mark.parametrize("limit", ["item", "plan", "person", "account"])
async def test_limits_are_compared_with_the_workers_own_records(stage: Stage, limit: str) -> None:
    plan = await stage.desk.confirmed(2)
    tight: dict[str, Any] = {limit: {"GBP": 999, "EUR": 1, "JPY": 1}}
    limits = replace(BULK.limits, **tight)
    stage.records = replace(stage.desk.service.records, bulk={BULK.id: replace(BULK, limits=limits)})
    await stage.apply()
    assert stage.bank.calls == []
    assert stage.plan(plan)["state"] == "paused"
    assert "GBP 9.99" in stage.plan(plan)["reason"]


@pytest.mark.requirement("MONEY-10")
async def test_what_a_plan_counts_itself_is_not_counted_twice(stage: Stage) -> None:
    plan = await stage.desk.confirmed(2)
    limits = replace(BULK.limits, person={"GBP": 2_000, "EUR": 1, "JPY": 1})
    stage.records = replace(stage.desk.service.records, bulk={BULK.id: replace(BULK, limits=limits)})
    await stage.apply()
    assert stage.turns(plan) == ["done", "done"]


async def test_a_plan_of_another_version_of_its_use_case_is_paused(stage: Stage) -> None:
    plan = await stage.desk.confirmed(1)
    records = stage.desk.service.records
    newer = {name: replace(each, version=each.version + 1) for name, each in records.use_cases.items()}
    stage.records = replace(records, use_cases=newer)
    await stage.apply()
    assert stage.plan(plan)["state"] == "paused"
    assert "version 1" in stage.plan(plan)["reason"]


ROLE_WALLS = [
    ("jobs_api", "update jobs.items set state = 'released', closed_at = jobs.now(), holder = null, expires_at = null,"
     " taken_at = null, plan = null, plan_name = null, held = false"),
    ("jobs_api", "update jobs.items set holder = null, expires_at = null, taken_at = null, plan = null,"
     " plan_name = null, held = false"),
    ("jobs_api", "update jobs.plan_items set turn = 'done', ended_at = jobs.now()"),
    ("jobs_api", "insert into jobs.releases (item, tenant, plan, person, amount_minor, currency, payee_id, account,"
     " outward_key) select item, tenant, plan, 'm.ito', 1, 'GBP', 'p', 'a', 'k' from jobs.plan_items"),
    ("jobs_api", "update jobs.outgoings set gross_minor = 0"),
    ("jobs_worker", "update jobs.items set amount_minor = 1"),
    ("jobs_worker", "update jobs.items set account = 'GB00FRAUD00000000001'"),
    ("jobs_worker", "update jobs.items set payee_id = 'me'"),
    ("jobs_worker", "update jobs.plan_items set amount_minor = 1"),
    ("jobs_worker", "update jobs.plan_items set account = 'a'"),
    ("jobs_worker", "update jobs.plans set digest = digest"),
    ("jobs_worker", "update jobs.plans set signature = signature"),
    ("jobs_worker", "update jobs.plans set owner = 'k.rao'"),
    ("jobs_worker", "delete from jobs.releases"),
    ("jobs_worker", "insert into jobs.items (tenant, queue, title, created, pushed_by, changed_by, amount_minor,"
     " currency, payee_id, payee_name, account) values ('acme', 'q', 't', jobs.now(), 'x', 'x', 1, 'GBP', 'p', 'P', 'a')"),
    ("jobs_worker", "select sealed from jobs.codes"),
]  # fmt: skip


@pytest.mark.requirement("MONEY-1", "MONEY-19")
@pytest.mark.parametrize(("role", "statement"), ROLE_WALLS)
async def test_neither_role_can_do_the_others_part(
    stage: Stage, database_url: Callable[[str], str], role: str, statement: str
) -> None:
    await stage.desk.confirmed(1)
    refusals = (errors.InsufficientPrivilege, errors.RestrictViolation)
    with as_role(database_url(role), "acme") as connection, pytest.raises(refusals):
        connection.execute(statement.encode())


@pytest.mark.requirement("MONEY-1")
async def test_a_release_without_a_plan_cannot_be_written_at_all(
    stage: Stage, superuser: psycopg.Connection[Any]
) -> None:
    (item,) = await stage.desk.pushed(1)
    insert = (
        "insert into jobs.releases (item, tenant, plan, person, amount_minor, currency, payee_id, account, outward_key)"
        " values (%s, 'acme', {}, 'm.ito', 1, 'GBP', 'p', 'a', 'k')"
    )
    with pytest.raises(errors.NotNullViolation):
        superuser.execute(insert.format("null").encode(), (item,))
    with pytest.raises(errors.ForeignKeyViolation):
        superuser.execute(insert.format("jobs.uuid7()").encode(), (item,))


@pytest.mark.requirement("MONEY-18")
async def test_the_api_cannot_touch_what_nobody_knows_to_be_paid(
    stage: Stage, database_url: Callable[[str], str]
) -> None:
    plan = await stage.desk.confirmed(1)
    stage.bank.odd = {stage.key(plan): loses_before}
    await stage.apply()
    assert stage.plan(plan)["state"] == "done"
    with as_role(database_url("jobs_api"), "acme") as connection, pytest.raises(errors.RestrictViolation):
        connection.execute("update jobs.items set holder = 'k.rao' where held")
