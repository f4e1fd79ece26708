"""The switch that stops money: who throws it, whose code starts it again, what is told and counted."""

from __future__ import annotations

import asyncio

import pytest

from jobcontract.errors import ErrorCode
from jobservice.store.database import Database
from jobservice.usecases import money as switch
from tests.conftest import Clock
from tests.usecases.desk import refused_with
from tests.usecases.money_desk import WRONG, MoneyDesk

pytestmark = pytest.mark.requirement("MONEY-20")


async def test_an_operator_stops_and_finance_starts_with_a_code(money: MoneyDesk) -> None:
    stopped = (await money.stop(reason="A fraud")).body
    assert (stopped["stopped"]["by"]["name"], stopped["stopped"]["reason"]) == ("Olle Lind", "A fraud")
    assert (await money.start()).body["stopped"] is None
    trail = [(person, action) for person, action, _ in money.audited() if action.endswith("-money")]
    assert trail == [("o.lind", "stop-money"), ("m.ito", "start-money")]
    told = money.rows("select person, kind, text from jobs.notices order by made_at")
    assert [(person, kind) for person, kind, _ in told] == [
        ("k.rao", "money-stopped"),
        ("m.ito", "money-stopped"),
        ("o.lind", "money-stopped"),
        ("k.rao", "money-started"),
        ("m.ito", "money-started"),
        ("o.lind", "money-started"),
    ], "finance and operators of the tenant, and nobody else"
    assert "Olle Lind stopped all money of acme" in told[0][2]
    assert "Reason: A fraud" in told[0][2]
    assert money.rows("select topic, version from jobs.hints where topic = 'money' order by id") == [
        ("money", 2),
        ("money", 3),
    ]


async def test_who_stopped_money_does_not_start_it(money: MoneyDesk) -> None:
    await money.stop("m.ito")
    await refused_with(ErrorCode.PERMISSION_MISSING, money.start("m.ito", WRONG))
    await refused_with(ErrorCode.PERMISSION_MISSING, money.start("o.lind", WRONG))
    assert money.rows("select count(*) from jobs.code_failures") == [(0,)], "nobody's code is judged for that"
    await refused_with(ErrorCode.CODE_WRONG, money.start("k.rao", WRONG))
    assert money.rows("select stopped from jobs.money_switches where tenant = 'acme'") == [(True,)]
    assert (await money.start("k.rao")).body["stopped"] is None


async def test_a_stop_again_keeps_who_and_why(money: MoneyDesk) -> None:
    await money.stop("o.lind", "First")
    again = (await money.stop("m.ito", "Second")).body["stopped"]
    assert (again["by"]["id"], again["reason"]) == ("o.lind", "First")
    assert money.rows("select count(*) from jobs.notices where kind = 'money-stopped'") == [(3,)]


async def test_money_that_moves_is_not_started_and_no_code_is_judged(money: MoneyDesk) -> None:
    assert (await money.start(code=WRONG)).body["stopped"] is None
    assert money.rows("select count(*) from jobs.code_failures") == [(0,)]


async def test_a_stop_is_of_one_tenant_alone(money: MoneyDesk) -> None:
    await money.stop()
    assert (await switch.money(money.service, money.actor("g.fin"))).stopped is None


@pytest.mark.parametrize("person", ["s.bell", "s.audit", "p.push", "a.admin"])
async def test_nobody_else_stops_money(money: MoneyDesk, person: str) -> None:
    await refused_with(ErrorCode.PERMISSION_MISSING, money.stop(person))
    assert money.rows("select bool_or(stopped) from jobs.money_switches") == [(False,)]


async def test_of_many_stops_at_once_one_is_written(money: MoneyDesk) -> None:
    await asyncio.gather(*(money.stop(reason=f"Reason {number}") for number in range(6)))
    assert money.rows("select version from jobs.money_switches where tenant = 'acme'") == [(2,)]
    assert money.rows("select count(*) from jobs.audit where action = 'stop-money'") == [(1,)]


@pytest.mark.requirement("MONEY-10")
async def test_the_status_counts_a_day_by_person_with_its_limits(money: MoneyDesk, clock: Clock) -> None:
    await money.confirmed(2)
    uncertain, _ = await money.review(await money.plan(await money.pushed(1)))
    money.people.connection.execute(
        "insert into jobs.releases (item, tenant, plan, person, amount_minor, currency, payee_id, account, outward_key)"
        " select item, tenant, plan, 'm.ito', amount_minor, currency, payee_id, account, 'jc-' || item"
        " from jobs.plan_items where item = %s",
        (uncertain,),
    )
    found = await switch.money(money.service, money.actor("s.audit"))
    assert found.uncertain == 1
    (one,) = found.released
    assert (one.person.name, one.currency, one.exponent) == ("Mina Ito", "GBP", 2)
    assert (one.today_count, one.today_minor, one.day_count, one.day_minor) == (1, 1_000, 2, 2_000)
    assert (one.day_most_minor, one.day_most_count) == (200_000_000, 100_000)
    clock.advance(2 * 86_400)
    assert (await switch.money(money.service, money.actor("s.audit"))).released == ()


async def test_whoever_runs_the_server_stops_money_too(money: MoneyDesk, owner_database: Database) -> None:
    assert await switch.stop_on_server(owner_database, tenant="acme", reason="The bank called")
    assert not await switch.stop_on_server(owner_database, tenant="acme", reason="Again")
    found = await switch.status_on_server(owner_database, tenant="acme")
    assert found.stopped is not None
    assert (found.stopped.by, found.stopped.reason) == (None, "The bank called")
    assert money.rows("select person from jobs.audit where action = 'stop-money'") == [(None,)]
    assert money.rows("select count(*) from jobs.notices where tenant = 'acme'") == [(3,)]
    await refused_with(ErrorCode.NOT_FOUND, switch.stop_on_server(owner_database, tenant="nowhere", reason="x"))
    assert (await money.start()).body["stopped"] is None


@pytest.mark.requirement("MONEY-22")
async def test_a_restored_database_is_reconciled_before_a_person_starts_money(money: MoneyDesk) -> None:
    await money.stop()
    money.people.connection.execute("insert into jobs.marks (name, value) values ('money-identity', 'another')")
    await refused_with(ErrorCode.MONEY_STOPPED, money.start(code=WRONG))
    assert money.rows("select count(*) from jobs.code_failures") == [(0,)]
