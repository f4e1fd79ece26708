"""A restored backup: money stands still until every payout was compared with the bank, and nothing is paid twice."""

from __future__ import annotations

from dataclasses import replace

import pytest
from psycopg import errors

from jobcontract.errors import ErrorCode
from jobservice.store.database import Database
from jobservice.usecases.deployment import stop_if_restored
from jobservice.usecases.reconciling import Reconciling
from jobservice.worker.settling import Settling
from tests.conftest import People
from tests.usecases.desk import refused_with
from tests.usecases.money_desk import money_desk
from tests.worker.plans_stage import Stage, application_with

pytestmark = pytest.mark.requirement("MONEY-22")

SWITCHES = "select tenant, stopped from jobs.money_switches order by 1"


@pytest.fixture
def stage(database: Database, worker_database: Database, people: People) -> Stage:
    """A desk that confirms, and a Worker's role that applies."""
    return Stage(desk=money_desk(database, people), database=worker_database)


@pytest.fixture
def reconciling(stage: Stage, owner_database: Database) -> Reconciling:
    """The comparison, on the owner's connection, with the stage's bank."""
    application = application_with()
    application.outward("t.release", stage.bank)
    return Reconciling(
        database=owner_database, records=stage.desk.service.records, application=application, person="k.rao", days=7
    )


async def restore(stage: Stage, role: Database) -> None:
    """What the first start in another database, or after a backup was restored, finds."""
    assert not await stop_if_restored(role), "the first start keeps which database it is"
    stage.change("update jobs.marks set value = 'another' where name = 'money-identity'")
    assert await stop_if_restored(role)


@pytest.mark.parametrize("role", ["database", "worker_database"])
async def test_a_restored_database_starts_with_all_money_stopped(
    stage: Stage, role: str, request: pytest.FixtureRequest
) -> None:
    await restore(stage, request.getfixturevalue(role))
    assert stage.rows(SWITCHES) == [("acme", True), ("globex", True)]
    ((reason,),) = stage.rows("select reason from jobs.money_switches where tenant = 'acme'")
    assert "jobservice money reconcile" in reason
    with pytest.raises(errors.RestrictViolation):
        stage.change("update jobs.money_switches set stopped = false, at = null, reason = null")
    stage.change("insert into jobs.tenants (id, name) values ('new', 'New')")
    assert stage.rows("select stopped from jobs.money_switches where tenant = 'new'") == [(True,)]


async def test_the_same_database_starts_as_it_was(stage: Stage, database: Database) -> None:
    for _ in range(2):
        assert not await stop_if_restored(database)
    assert stage.rows(SWITCHES) == [("acme", False), ("globex", False)]


async def test_what_the_bank_has_and_we_do_not_is_held_for_a_person(
    stage: Stage, database: Database, reconciling: Reconciling
) -> None:
    free, claimed, unpaid = await stage.desk.pushed(3)
    await stage.desk.claim("m.ito", claimed)
    for item in (free, claimed):
        stage.bank.book(f"jc-{item}")
    await restore(stage, database)
    acme, globex = await reconciling.run()
    assert sorted(payout.item for payout in acme.held) == sorted((free, claimed))
    assert (acme.asked, globex.asked) == (3, 0)
    assert stage.bank.calls == [], "it asks and never calls"
    for item in (free, claimed):
        row = stage.rows(
            "select held, holder, expires_at > now() + interval '1 year' from jobs.items where id = %s", item
        )
        assert row == [(True, "k.rao", True)]
    assert stage.rows("select held from jobs.items where id = %s", unpaid) == [(False,)]
    turns = "select turn, outward_key, reference is not null from jobs.plan_items order by number"
    assert stage.rows(turns) == [("uncertain", f"jc-{item}", True) for item in sorted((free, claimed))]
    reviews = stage.rows("select about::text from jobs.items where about is not null order by 1")
    assert reviews == [(item,) for item in sorted((free, claimed))]
    assert stage.rows("select ending from jobs.claims") == [("broken",)]
    plan = await stage.desk.plan([unpaid])
    assert plan["count"] == 1
    assert "GBP 10.00 to …6819" in "\n".join(acme.lines())
    again = await reconciling.run()
    assert again[0].held == [], "a second comparison finds them in hand"


async def test_money_can_be_started_after_it_and_a_person_ends_what_was_held(
    stage: Stage, database: Database, reconciling: Reconciling
) -> None:
    (item,) = await stage.desk.pushed(1)
    stage.bank.book(f"jc-{item}")
    await restore(stage, database)
    refusal = await refused_with(ErrorCode.MONEY_STOPPED, stage.desk.start("m.ito"))
    assert "reconcile" in refusal.detail
    await reconciling.run()
    await stage.desk.start("k.rao")
    ((review,),) = stage.rows("select id::text from jobs.items where about is not null")
    claimed = dict((await stage.desk.claim("m.ito", review)).body["item"])
    await stage.desk.was_paid(claimed, "m.ito")
    assert await stage.run_duty(Settling()) == {"settled": 1}
    assert stage.rows("select state from jobs.items where id = %s", item) == [("released",)]
    assert stage.rows("select said_by, person from jobs.releases") == [("m.ito", "k.rao")]


async def test_a_turn_to_come_of_a_confirmed_plan_is_never_paid_again(
    stage: Stage, database: Database, reconciling: Reconciling
) -> None:
    plan = await stage.desk.confirmed(2)
    stage.bank.book(f"jc-{stage.item(plan, 1)['id']}")
    await restore(stage, database)
    await reconciling.run()
    assert stage.turns(plan) == ["uncertain", "not-started"]
    await stage.desk.start("k.rao")
    await stage.apply()
    assert stage.turns(plan) == ["uncertain", "done"]
    assert stage.bank.calls == [f"jc-{stage.item(plan, 2)['id']}"]


async def test_what_we_released_and_the_bank_does_not_know_is_told(
    stage: Stage, database: Database, reconciling: Reconciling
) -> None:
    plan = await stage.desk.confirmed(1)
    await stage.apply()
    stage.bank.booked.clear()
    await restore(stage, database)
    (acme, _) = await reconciling.run()
    assert [payout.item for payout in acme.unknown_there] == [stage.item(plan)["id"]]
    assert stage.item(plan)["state"] == "released"


async def test_a_bank_that_does_not_answer_keeps_money_stopped(
    stage: Stage, database: Database, reconciling: Reconciling
) -> None:
    await stage.desk.pushed(1)
    await restore(stage, database)
    stage.bank.answers = False
    (acme, _) = await reconciling.run()
    assert len(acme.unanswered) == 1
    await refused_with(ErrorCode.MONEY_STOPPED, stage.desk.start("m.ito"))
    stage.bank.answers = True
    await reconciling.run()
    await stage.desk.start("k.rao")


async def test_it_compares_nothing_while_money_moves(stage: Stage, reconciling: Reconciling) -> None:
    refusal = await refused_with(ErrorCode.MONEY_STOPPED, reconciling.run())
    assert "acme, globex" in refusal.detail


async def test_somebody_there_is_answers_for_it(stage: Stage, reconciling: Reconciling) -> None:
    refusal = await refused_with(ErrorCode.NOT_FOUND, replace(reconciling, person="nobody").run())
    assert "nobody" in refusal.detail
