"""`jobservice purge`: what goes and what would, in sentences and as JSON; as its own role, one at a time, interruptible."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable

import psycopg
import pytest
from click.testing import CliRunner, Result

from jobservice.cli import commands
from jobservice.store.statements import statement
from tests.conftest import Clock, People

pytestmark = pytest.mark.requirement("MONEY-31")
Run = Callable[..., Result]


@pytest.fixture
def run(database_url: Callable[[str], str]) -> Run:
    """`run(*words, role=...)`: the command with that role's address."""

    def command(*words: str, role: str = "jobs_purge") -> Result:
        environment = {
            "JOBSERVICE_DATABASE_URL": database_url(role),
            "JOBSERVICE_APPLICATION": "examples.payments:application",
        }
        return CliRunner().invoke(commands, ["purge", *words], env=environment)

    return command


@pytest.fixture
def keys(people: People, clock: Clock) -> People:
    """Two keys past their time."""
    for key in ("a", "b"):
        people.connection.execute(
            "insert into jobs.idempotency_keys (tenant, person, method, path, key, digest, status, answer, expires_at)"
            " values ('acme', 'm.ito', 'POST', '/', %s, '', 200, '{}', jobs.now())",
            (key,),
        )
    clock.advance(1)
    return people


def test_what_would_go_is_said_and_stays_and_then_goes(run: Run, keys: People) -> None:
    said = run("--dry-run")
    assert said.stdout.splitlines() == [
        "Would go: 0 jobs, 0 plans, 0 recoveries, 2 idempotency keys, 0 notices, 0 alarms, 0 entries of the trail.",
        "Kept: jobs for 90 days after they settled, plans and recoveries for 365 days after they ended, notices for 90 days, "
        "alarms for 90 days after they were over, the trail for 730 days. A plan of which something was sent stays whole, "
        "for ever.",
        "Nothing was removed.",
    ]
    assert keys.connection.execute("select count(*) from jobs.idempotency_keys").fetchone() == (2,)
    said = run("--set", "jobs.keep=P1D", "--set", "plans.keep=P2D")
    assert (said.exit_code, said.stderr) == (0, "")
    assert said.stdout.startswith(
        "Gone: 0 jobs, 0 plans, 0 recoveries, 2 idempotency keys, 0 notices, 0 alarms, 0 entries of the trail.\n"
    )
    assert "jobs for 1 day after" in said.stdout
    assert json.loads(run("--json").stdout) == {
        "jobs": 0,
        "plans": 0,
        "recoveries": 0,
        "idempotency_keys": 0,
        "notices": 0,
        "alarms": 0,
        "entries": 0,
        "dry_run": False,
        "whole": True,
    }


@pytest.mark.parametrize("role", ["jobs_owner", "jobs_worker", "jobs_api", "postgres"])
def test_it_refuses_to_run_as_another_role(run: Run, keys: People, role: str) -> None:
    said = run(role=role)
    assert said.exit_code == 1
    assert "jobs_purge" in said.stderr
    assert keys.connection.execute("select count(*) from jobs.idempotency_keys").fetchone() == (2,)


def test_two_at_once_are_one(run: Run, keys: People, database_url: Callable[[str], str]) -> None:
    with psycopg.connect(database_url("jobs_purge")) as other:
        other.execute(statement("purge/one_at_a_time"))
        said = run()
    assert (said.exit_code, said.stderr) == (
        1,
        "jobservice: Another purge is running on this database. Let it end, or stop it, and run this again.\n",
    )


def test_a_folder_that_is_not_there_and_a_missing_application_are_sentences(run: Run, keys: People) -> None:
    assert "There is no folder /nowhere" in run("--seals", "/nowhere").stderr
    said = CliRunner().invoke(commands, ["purge"], env={"JOBSERVICE_DATABASE_URL": "postgresql:///x"})
    assert said.stderr == (
        "jobservice: JOBSERVICE_APPLICATION is not set: the application, like examples.payments:application.\n"
    )


@pytest.mark.long
def test_a_signal_ends_it_after_the_batch_it_is_at(keys: People, database_url: Callable[[str], str]) -> None:
    """It waits for a lock on the keys when the signal comes: what it had begun ends whole, and it says that more is left."""
    with psycopg.connect(database_url("jobs_owner")) as held:
        held.execute("lock table jobs.idempotency_keys in access exclusive mode")
        process = subprocess.Popen(
            [sys.executable, "-m", "jobservice", "purge"],
            env={
                **os.environ,
                "JOBSERVICE_DATABASE_URL": database_url("jobs_purge"),
                "JOBSERVICE_APPLICATION": "examples.payments:application",
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        waiting = "select count(*) from pg_stat_activity where usename = 'jobs_purge' and wait_event_type = 'Lock'"
        while keys.connection.execute(waiting).fetchone() == (0,):
            assert process.poll() is None, process.communicate()
        process.send_signal(signal.SIGINT)
        held.rollback()
    said, errors = process.communicate(timeout=30)
    assert (process.returncode, errors) == (1, "")
    assert said.splitlines()[0].startswith("Gone: 0 jobs, 0 plans, 0 recoveries, 2 idempotency keys")
    assert said.splitlines()[-1] == "It was interrupted: what else is past its retention goes with the next run."
