"""Attacks on plans and their confirmation that take more than one person at once."""

from __future__ import annotations

import asyncio
from typing import Any

import psycopg
import pytest

from jobcontract.errors import ErrorCode
from jobservice.rules import codes as rules
from jobservice.store.database import Database
from jobservice.usecases import people as people_
from tests.conftest import Clock
from tests.usecases.desk import refused_with
from tests.usecases.money_desk import MoneyDesk

pytestmark = pytest.mark.requirement("confirm-bulk-money-actions-out-of-band")
WAITING = "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"


@pytest.mark.requirement("MONEY-21")
async def test_revoking_waits_in_a_ring_with_nobody_who_plans(
    money: MoneyDesk, owner_database: Database, superuser: psycopg.Connection[Any]
) -> None:
    first, second = await money.pushed(2)
    for item in (second, first):  # the plan that is locked first has the item that is locked last
        await money.plan([item])
    lock = "select 1 from jobs.items where id = %s for update"
    with superuser.transaction():
        superuser.execute(lock, (first,))
        revoking = asyncio.create_task(people_.disable_person(owner_database, person="m.ito"))
        while not money.rows(WAITING):  # noqa: ASYNC110 - what is waited for is seen in the database alone
            await asyncio.sleep(0.01)
        superuser.execute(f"{lock} nowait", (second,))
    await revoking
    assert money.rows("select distinct state from jobs.plans") == [("voided",)]
    assert money.rows("select count(*) from jobs.items where holder is not null") == [(0,)]


@pytest.mark.requirement("MONEY-16")
async def test_a_code_of_the_phone_of_before_counts_for_nothing_while_another_is_enrolled(
    money: MoneyDesk, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = await money.confirmed(1)
    await money.pause(plan)
    compared = rules.matching_step

    def enrolled_meanwhile(*given: Any) -> int | None:
        clock.advance(1)
        money.people.connection.execute(
            "update jobs.codes set enrolled_at = jobs.now(), rests_until = jobs.now() + interval '1 day'"
            " where person = 'k.rao'"
        )
        return compared(*given)

    monkeypatch.setattr(rules, "matching_step", enrolled_meanwhile)
    await refused_with(ErrorCode.CODE_WRONG, money.resume(plan))
    assert money.spent("k.rao") == 0
    assert money.rows("select state from jobs.plans") == [("paused",)]
