"""What a service role that runs any statement it likes still cannot do to occurrences and recoveries (MONEY.md 1, 19, 29):
have money's schedule run again, undo what a person confirmed, or write how something went."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from psycopg import errors

from jobservice.store.database import Database
from tests.conftest import People
from tests.store.test_roles import as_role
from tests.usecases.recovery_desk import DAY, MONEY, NIGHT, NIGHTLY, RecoveryDesk, recovery_desk

REFUSED = (errors.InsufficientPrivilege, errors.RestrictViolation)
RUNS = "set state = 'scheduled', due_at = jobs.now(), ended_at = null, cause = null, error = null, attempts = 0"


@pytest.fixture
def desk(database: Database, people: People) -> RecoveryDesk:
    desk = recovery_desk(database, people)
    desk.planned()
    return desk


COURSES = (
    f"update jobs.occurrences {RUNS}",
    f"update jobs.occurrences {RUNS}, version = version + 1",
    f"update jobs.occurrences {RUNS}, version = version + 1, replays = replays + 2, fence_base = fence",
    f"update jobs.occurrences {RUNS}, version = version + 1, replays = replays + 1, fence_base = fence, recovery = RECOVERY",
    "update jobs.occurrences set state = 'completed', cause = null, version = version + 1",
    "update jobs.occurrences set recovery = RECOVERY, version = version + 1",
    "update jobs.occurrences set replays = replays + 1, version = version + 1",
    "update jobs.occurrences set version = version - 1",
    "update jobs.occurrences set failed = 0, version = version + 1",
    "update jobs.occurrences set done = 0",
    "update jobs.occurrences set fence = 0",
    "update jobs.occurrence_items set outcome = 'done', ended_at = jobs.now()",
    "update jobs.occurrence_items set outcome = null, ended_at = null where outcome = 'done' returning 1",
)


@pytest.mark.requirement("MONEY-1", "MONEY-19", "MONEY-29")
async def test_no_statement_of_the_api_has_money_run_or_writes_how_a_run_went(
    desk: RecoveryDesk, database_url: Callable[[str], str]
) -> None:
    dead = desk.dead(MONEY)
    for number, outcome in enumerate(("done", "failed"), 1):
        desk.hand.connection.execute(
            "insert into jobs.occurrence_items (occurrence, key, tenant, number, label, outcome, ended_at)"
            " values (%s, %s, 'acme', %s, 'x', %s, jobs.now())",
            (dead, outcome, number, outcome),
        )
    made = await desk.confirm(await desk.make(person="m.ito"), "m.ito", code=desk.money.code())
    before = standing(desk)
    for forged in COURSES:
        attempt(database_url("jobs_api"), forged.replace("RECOVERY", f"'{made['id']}'"))
        assert standing(desk) == before, forged


def attempt(url: str, statement: str) -> None:
    """Run a statement as a service role; it is refused, or finds nothing that it may change."""
    with suppress(*REFUSED), as_role(url, "acme") as connection:
        connection.execute(statement.encode())


def standing(desk: RecoveryDesk) -> Any:
    return desk.rows("select * from jobs.occurrences order by id"), desk.rows(
        "select * from jobs.occurrence_items order by occurrence, number"
    )


STEPS = (
    "update jobs.recovery_rows set turn = 'not-started', sentence = null, started_at = null, ended_at = null",
    "update jobs.recovery_rows set row_version = row_version + 1",
    "update jobs.recovery_rows set number = number + 7",
    "delete from jobs.recovery_rows",
    "insert into jobs.recovery_rows (recovery, number, tenant, key, target, name, schedule, moves, row_version)"
    " select id, 99, tenant, 'x', 'occurrence', 'x', 'r.nightly', 'nothing', 1 from jobs.recoveries",
    "update jobs.recoveries set state = 'open', confirmed_at = null, signature = null, signing_key = null",
    "update jobs.recoveries set state = 'done', ended_at = jobs.now()",
    "update jobs.recoveries set count = count + 1",
    "update jobs.recoveries set digest = sha256('x')",
    "update jobs.recoveries set version = version - 1",
    "update jobs.recoveries set at_once = 50000",
    "update jobs.recoveries set owner = 'k.rao'",
    "insert into jobs.recoveries (tenant, name, act, reason, asked, owner, state, moves, digest, count, frozen_at,"
    " valid_until, confirmed_at) values ('acme', 'forged', 'replay', 'x', '{}', 'o.lind', 'applying', 'nothing',"
    " sha256('x'), 1, jobs.now(), jobs.now(), jobs.now())",
)


@pytest.mark.requirement("MONEY-1", "MONEY-19", "MONEY-29")
async def test_what_was_confirmed_stays_as_it_was_confirmed(
    desk: RecoveryDesk, database_url: Callable[[str], str]
) -> None:
    desk.dead()
    desk.dead(NIGHTLY, NIGHT + DAY)
    made = await desk.confirm(await desk.make())
    before = kept(desk)
    for forged in STEPS:
        attempt(database_url("jobs_api"), forged)
        assert kept(desk) == before, forged
    assert (await desk.steer("abort", made))["state"] == "aborted"
    before = kept(desk)
    with as_role(database_url("jobs_api"), "acme") as connection, pytest.raises(errors.RestrictViolation):
        connection.execute(
            "update jobs.recoveries set state = 'applying', ended_at = null, ended_by = null, why = null"
        )
    assert kept(desk) == before


def kept(desk: RecoveryDesk) -> Any:
    return desk.rows("select * from jobs.recoveries order by id"), desk.rows(
        "select * from jobs.recovery_rows order by recovery, number"
    )
