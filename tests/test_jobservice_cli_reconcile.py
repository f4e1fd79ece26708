"""`jobservice money reconcile`: the example's payouts beside the example's bank, on the owner's connection."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from click.testing import CliRunner, Result
from psycopg import errors

from examples.payments.bank.outward import URL_NAME
from jobservice.cli import commands
from tests.conftest import People
from tests.examples.bank import an_order, bank_on_a_thread, bank_process

pytestmark = pytest.mark.requirement("MONEY-22")
Run = Callable[..., Result]
START = "update jobs.money_switches set stopped = false, at = null, reason = null"
STOP = "update jobs.money_switches set stopped = true, at = jobs.now(), reason = 'A test'"
ADD = (
    "insert into jobs.items (tenant, queue, business_key, title, created, amount_minor, currency, payee_id, payee_name,"
    " account, pushed_by, changed_by) values ('acme', 'payments.payouts', %s, 'Roof', jobs.now(), 154522, 'GBP', 's-1',"
    " 'Acme Roofing', 'XJ93DEMO00000000001234', 'p.push', 'p.push') returning id::text"
)


@pytest.fixture
def run(database_url: Callable[[str], str]) -> Run:
    """`run(bank, *words)`: the command with the example, and a bank at that address."""

    def command(bank: str, *words: str) -> Result:
        environment = {
            "JOBSERVICE_DATABASE_URL": database_url("jobs_owner"),
            "JOBSERVICE_APPLICATION": "examples.payments:application",
            URL_NAME: bank,
        }
        return CliRunner().invoke(commands, ("money", "reconcile", *words), env=environment)

    return command


def added(people: People, key: str) -> str:
    """A new payout; its id."""
    row: Any = people.connection.execute(ADD, (key,)).fetchone()
    return str(row[0])


def test_what_the_bank_has_is_held_and_everything_is_told(run: Run, people: People, tmp_path: Path) -> None:
    paid, open_one = added(people, "K-1"), added(people, "K-2")
    people.connection.execute(STOP)
    with bank_on_a_thread(tmp_path / "ledger") as bank:
        bank.pay(an_order(key=f"jc-{paid}"))
        result = run(bank.url, "--person", "k.rao")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.splitlines() == [
        "acme: asked about 2 payouts.",
        "  paid there, open here; held, for a person to say: GBP 1,545.22 to …1234, Roof (K-1)",
        "globex: asked about 0 payouts.",
        "Compared. A person in finance starts money again, with a code: jobconsole money start.",
    ]
    held = "select id::text, held from jobs.items where about is null order by held desc"
    assert people.connection.execute(held).fetchall() == [(paid, True), (open_one, False)]


def test_a_restored_database_moves_no_money_before_it_was_compared_with_a_bank_that_is_a_process(
    run: Run, people: People, tmp_path: Path, database_url: Callable[[str], str]
) -> None:
    paid = added(people, "K-1")
    people.connection.execute("insert into jobs.marks (name, value) values ('money-identity', 'of before')")
    with psycopg.connect(database_url("jobs_worker"), autocommit=True) as starting:
        assert starting.execute("select jobs.stop_if_restored()").fetchone() == (True,)
    with bank_process(tmp_path / "ledger") as (bank, process):
        bank.pay(an_order(key=f"jc-{paid}"))
        silent = run("", "--person", "k.rao")
        with pytest.raises(errors.RestrictViolation):
            people.connection.execute(START)
        result = run(bank.url, "--person", "k.rao")
        booked = bank.booked
        process.terminate()
    assert (silent.exit_code, result.exit_code) == (1, 0), result.stderr
    assert "GBP 1,545.22 to …1234, Roof (K-1)" in result.stdout
    assert booked == [f"jc-{paid}"], "it asks and never calls"
    asked = "select queue from jobs.items where about = %s"
    assert people.connection.execute(asked, (paid,)).fetchall() == [("payments.uncertain",)]
    people.connection.execute(START)


def test_a_silent_bank_is_exit_code_one(run: Run, people: People) -> None:
    added(people, "K-1")
    people.connection.execute(STOP)
    result = run("", "--person", "k.rao")
    assert result.exit_code == 1
    assert "  no answer: GBP 1,545.22 to …1234, Roof (K-1)" in result.stdout
    assert "money cannot be started yet" in result.stdout


@pytest.mark.parametrize(
    ("person", "sentence"),
    [("k.rao", "Money of acme, globex moves. Stop it first"), ("nobody", "There is no person nobody.")],
)
def test_what_cannot_be_done_is_a_sentence(run: Run, people: People, person: str, sentence: str) -> None:
    result = run("", "--person", person)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(f"jobservice: {sentence}")
