"""Pushing inside the application's own transaction: it joins, commits nothing, and leaves the transaction usable."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import psycopg
import pytest
from psycopg import AsyncConnection

from jobcontract.errors import ErrorCode
from jobcontract.money import Money
from jobservice.application import Application, NewPayment, NewWorkItem
from jobservice.usecases.inbox import ServiceInbox
from tests.usecases.desk import NOTES, PAYOUTS, RECORDS, Desk, refused_with

PAYMENT = NewPayment(money=Money(minor=3_702, currency="JPY"), payee_id="s", payee_name="S", account="GB00TEST1234")
ITEM = NewWorkItem(key="A-1", title="One", payment=PAYMENT, inputs={"invoice": "I"}, payload={"row": 1})


@pytest.fixture
def inbox(tmp_path: Any) -> Application:
    application = Application("t", tmp_path)
    application.connect(ServiceInbox(RECORDS, application))
    return application


def counts(desk: Desk) -> tuple[int, ...]:
    row = desk.people.connection.execute(
        "select (select count(*) from jobs.items), (select count(*) from jobs.item_versions),"
        " (select count(*) from jobs.hints), (select count(*) from jobs.audit)"
    ).fetchone()
    return tuple(row)


async def connection(database_url: Any) -> AsyncConnection[Any]:
    return await AsyncConnection.connect(database_url("jobs_api"))


@pytest.mark.parametrize("ending", ["commit", "rollback"])
async def test_what_is_pushed_shares_the_fate_of_the_callers_transaction(
    desk: Desk, inbox: Application, database_url: Any, ending: str
) -> None:
    async with await connection(database_url) as own:
        item = await inbox.push(own, tenant="acme", queue=PAYOUTS, item=ITEM, pusher="payments")
        assert counts(desk) == (0, 0, 0, 0), "nothing is seen before the caller commits"
        await getattr(own, ending)()
    assert counts(desk) == ((1, 1, 1, 1) if ending == "commit" else (0, 0, 0, 0))
    if ending == "commit":
        detail = await desk.detail(item)
        assert (detail.pushed_by.id, detail.item.amount.minor) == ("payments", 3_702)
        assert desk.audited() == [("payments", "push-item", "done")]


async def test_a_taken_key_is_refused_and_the_callers_transaction_goes_on(
    desk: Desk, inbox: Application, database_url: Any
) -> None:
    async with await connection(database_url) as own:
        first = await inbox.push(own, tenant="acme", queue=PAYOUTS, item=ITEM, pusher="payments")
        refusal = await refused_with(
            ErrorCode.KEY_TAKEN, inbox.push(own, tenant="acme", queue=PAYOUTS, item=ITEM, pusher="payments")
        )
        assert refusal.extra["item"] == first
        await refused_with(
            ErrorCode.INVALID_REQUEST,
            inbox.push(own, tenant="acme", queue=NOTES, item=ITEM, pusher="payments"),
        )
        await refused_with(
            ErrorCode.NOT_FOUND, inbox.push(own, tenant="acme", queue="t.none", item=ITEM, pusher="payments")
        )
        second = replace(ITEM, key="A-2")
        await inbox.push(own, tenant="acme", queue=PAYOUTS, item=second, pusher="payments")
        await own.commit()
    assert counts(desk) == (2, 2, 2, 2)


async def test_the_callers_own_tenant_setting_comes_back(desk: Desk, inbox: Application, database_url: Any) -> None:
    async with await connection(database_url) as own:
        await own.execute("select set_config('jobs.tenant', 'globex', true)")
        await inbox.push(own, tenant="acme", queue=PAYOUTS, item=ITEM, pusher="payments")
        row = await (await own.execute("select jobs.tenant()")).fetchone()
        assert row == ("globex",)
        await own.rollback()


async def test_without_a_transaction_to_join_nothing_is_pushed(
    desk: Desk, inbox: Application, database_url: Any, superuser: psycopg.Connection[Any]
) -> None:
    async with await AsyncConnection.connect(database_url("jobs_api"), autocommit=True) as own:
        with pytest.raises(RuntimeError, match="open a transaction first"):
            await inbox.push(own, tenant="acme", queue=PAYOUTS, item=ITEM, pusher="payments")
        async with own.transaction():
            await inbox.push(own, tenant="acme", queue=PAYOUTS, item=ITEM, pusher="payments")
    with pytest.raises(TypeError, match="AsyncConnection"):
        await inbox.push(superuser, tenant="acme", queue=PAYOUTS, item=ITEM, pusher="payments")
    assert counts(desk) == (1, 1, 1, 1)


async def test_a_transaction_that_failed_already_says_so(desk: Desk, inbox: Application, database_url: Any) -> None:
    async with await connection(database_url) as own:
        with pytest.raises(psycopg.errors.DivisionByZero):
            await own.execute("select 1 / 0")
        with pytest.raises(RuntimeError, match="has failed already"):
            await inbox.push(own, tenant="acme", queue=PAYOUTS, item=ITEM, pusher="payments")
        await own.rollback()


@pytest.mark.requirement("PG-01")
async def test_hundreds_of_items_in_one_transaction(desk: Desk, inbox: Application, database_url: Any) -> None:
    async with await connection(database_url) as own:
        for number in range(400):
            item = replace(ITEM, key=f"B-{number}", payload={"text": "é" * 4_100 if number % 100 == 0 else ""})
            await inbox.push(own, tenant="acme", queue=PAYOUTS, item=item, pusher="payments")
        await own.commit()
    assert counts(desk) == (400, 400, 400, 400)
    assert (await desk.next("m.ito")).body["item"]["key"].startswith("B-"), "workable at once"
