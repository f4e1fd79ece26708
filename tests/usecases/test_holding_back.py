"""Who loses access, their role or their last token has nothing left that could be confirmed, and nothing that goes on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from jobcontract.states import Role
from jobservice.store.database import Database
from jobservice.usecases import people as people_
from tests.usecases.desk import PAYOUTS
from tests.usecases.money_desk import MoneyDesk, money_desk
from tests.usecases.recovery_desk import DAY, MONEY, NIGHT, recovery_desk

pytestmark = pytest.mark.requirement("MONEY-21")


@pytest.fixture
def money(database: Database, people: Any) -> MoneyDesk:
    """Finance people with phones."""
    return money_desk(database, people)


async def _disable(owner: Database) -> None:
    await people_.disable_person(owner, person="m.ito")


async def _withdraw(owner: Database) -> None:
    await people_.withdraw(owner, person="m.ito", tenant="acme")


async def _another_role(owner: Database) -> None:
    await people_.grant(owner, people_.Grant(person="m.ito", tenant="acme", role=Role.AUDITOR))


async def _less_of_it(owner: Database) -> None:
    await people_.grant(owner, people_.Grant(person="m.ito", tenant="acme", role=Role.FINANCE, customers=("C-1",)))


async def _last_token(owner: Database) -> None:
    made = await people_.create_token(owner, person="m.ito", label="only")
    await people_.revoke_token(owner, token=made.id)


@pytest.mark.parametrize(
    ("happens", "reason"),
    [
        (_disable, "m.ito was disabled."),
        (_withdraw, "m.ito is nothing in acme any more."),
        (_another_role, "m.ito is auditor in acme now."),
        (_less_of_it, "m.ito sees less of acme now."),
        (_last_token, "The last token of m.ito was revoked."),
    ],
)
async def test_what_was_not_confirmed_is_void_and_what_was_is_paused(
    money: MoneyDesk, owner_database: Database, happens: Callable[[Database], Awaitable[None]], reason: str
) -> None:
    applied, colleague = await money.confirmed(1), await money.plan(await money.pushed(1), "k.rao")
    opened = await money.plan(await money.pushed(2))
    before = money.rows("select version from jobs.plans where id = %s", opened["id"])[0][0]
    await happens(owner_database)
    assert dict(money.rows("select name, state from jobs.plans")) == {
        opened["name"]: "voided",
        applied["name"]: "paused",
        colleague["name"]: "open",
    }
    assert money.rows(
        "select version, reason, ended_at is not null, ended_by from jobs.plans where id = %s", opened["id"]
    ) == [(before + 1, reason, True, None)]
    assert money.rows("select reason, ended_at from jobs.plans where id = %s", applied["id"]) == [(reason, None)]
    # What the void plan took is free again; what was confirmed is still held.
    assert money.rows("select holder, plan_name, held from jobs.items order by held, holder nulls first") == [
        (None, None, False),
        (None, None, False),
        ("k.rao", colleague["name"], False),
        ("m.ito", applied["name"], True),
    ]
    hints = money.rows("select topic, ref from jobs.hints where topic in ('plan', 'items') order by id desc limit 3")
    assert sorted(hints) == sorted([("items", PAYOUTS), ("plan", applied["id"]), ("plan", opened["id"])])


async def test_recoveries_of_a_person_who_left_begin_nothing_more(
    database: Database, people: Any, owner_database: Database
) -> None:
    desk = recovery_desk(database, people)
    desk.planned()
    desk.dead(MONEY)
    desk.dead()
    going = await desk.confirm(await desk.make(person="m.ito"), "m.ito", code=desk.money.code())
    desk.dead(MONEY, NIGHT + DAY)
    opened, other = await desk.make(person="m.ito"), await desk.confirm(await desk.make())
    await _disable(owner_database)
    assert dict(desk.rows("select name, state || coalesce(': ' || why, '') from jobs.recoveries")) == {
        going["name"]: "paused: m.ito was disabled.",
        opened["name"]: "dropped: m.ito was disabled.",
        other["name"]: "applying",
    }
    acts = "select action, person from jobs.audit where subject = any(%s) order by id desc limit 2"
    assert sorted(desk.rows(acts, [going["id"], opened["id"]])) == [("drop-recovery", None), ("pause-recovery", None)]


async def _one_of_two_tokens(owner: Database) -> None:
    await people_.create_token(owner, person="m.ito", label="stays")
    await _last_token(owner)


async def _the_same_role(owner: Database) -> None:
    await people_.grant(owner, people_.Grant(person="m.ito", tenant="acme", role=Role.FINANCE))


async def _elsewhere(owner: Database) -> None:
    await people_.grant(owner, people_.Grant(person="m.ito", tenant="globex", role=Role.FINANCE))
    await people_.withdraw(owner, person="m.ito", tenant="globex")


async def _a_colleague(owner: Database) -> None:
    await people_.disable_person(owner, person="k.rao")


@pytest.mark.parametrize("happens", [_one_of_two_tokens, _the_same_role, _elsewhere, _a_colleague])
async def test_what_takes_nothing_away_holds_nothing_back(
    money: MoneyDesk, owner_database: Database, happens: Callable[[Database], Awaitable[None]]
) -> None:
    await money.confirmed(1)
    await money.plan(await money.pushed(1))
    await happens(owner_database)
    assert sorted(money.rows("select state from jobs.plans")) == [("applying",), ("open",)]
