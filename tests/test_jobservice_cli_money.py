"""`jobservice money`: stopping at once and saying how it stands, on the owner's connection alone."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from click.testing import CliRunner, Result

from jobservice.cli import commands
from tests.conftest import People

pytestmark = pytest.mark.requirement("MONEY-20")
Run = Callable[..., Result]


@pytest.fixture
def run(database_url: Callable[[str], str]) -> Run:
    """`run(*words, role=...)`: a command with that role's address."""

    def command(*words: str, role: str = "jobs_owner") -> Result:
        return CliRunner().invoke(commands, words, env={"JOBSERVICE_DATABASE_URL": database_url(role)})

    return command


def test_money_is_stopped_and_its_status_says_why(run: Run, people: People) -> None:
    assert run("money", "status", "acme").stdout.splitlines()[0] == "Money of acme moves."
    stopped = run("money", "stop", "acme", "--reason", " The bank \x1b[31mcalled ")
    assert stopped.stdout == "Money of acme is stopped. A person in finance starts it again: jobconsole money start.\n"
    again = run("money", "stop", "acme", "--reason", "Again")
    assert again.stdout == "Money of acme was stopped already. See: jobservice money status acme.\n"
    said = run("money", "status", "acme").stdout
    assert "\x1b" not in said
    assert "on the server: The bank \N{REPLACEMENT CHARACTER}[31mcalled" in said
    assert said.splitlines()[-1] == "0 uncertain payouts wait for a person."
    told = json.loads(run("money", "status", "acme", "--json").stdout)
    assert (told["stopped"]["by"], told["released"], told["uncertain"]) == (None, [], 0)
    assert run("money", "status", "globex").stdout.startswith("Money of globex moves.")


@pytest.mark.parametrize(
    ("words", "role", "sentence"),
    [
        (("stop", "nowhere", "--reason", "x"), "jobs_owner", "There is no tenant 'nowhere'."),
        (("stop", "acme", "--reason", "  "), "jobs_owner", "--reason needs 1 to"),
        (("stop", "acme", "--reason", "x"), "jobs_worker", "This login may not do that"),
    ],
)
def test_what_cannot_be_done_is_a_sentence(
    run: Run, people: People, words: tuple[str, ...], role: str, sentence: str
) -> None:
    result = run("money", *words, role=role)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(f"jobservice: {sentence}")
    assert "Traceback" not in result.stderr
