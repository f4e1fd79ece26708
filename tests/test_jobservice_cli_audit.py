"""`jobservice audit verify`: what holds, what does not, in sentences and as JSON, on the owner's connection alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from jobservice.cli import commands
from jobservice.delivery.heads import Heads
from jobservice.store.database import Database
from tests.conftest import People
from tests.usecases.test_seals import others_ended, sealed, written

pytestmark = pytest.mark.requirement("MONEY-31")
Run = Callable[..., Result]


@pytest.fixture
def run(database_url: Callable[[str], str]) -> Run:
    """`run(*words, role=...)`: a command with that role's address."""

    def command(*words: str, role: str = "jobs_owner") -> Result:
        return CliRunner().invoke(
            commands, ["audit", "verify", *words], env={"JOBSERVICE_DATABASE_URL": database_url(role)}
        )

    return command


@pytest.fixture
async def heads(database: Database, worker_database: Database, people: People, tmp_path: Path) -> Heads:
    """Three sealed entries and one that is not, with the heads outside."""
    heads = Heads(folder=tmp_path / "seals")
    await written(database, 3)
    await others_ended(database)
    await sealed(worker_database, heads=heads)
    await written(database, 1)
    return heads


def test_a_trail_that_holds_is_said_to(run: Run, heads: Heads) -> None:
    said = run("--seals", str(heads.folder))
    assert said.exit_code == 0
    assert said.stdout.splitlines() == [
        "Every sealed entry is as it was sealed: 3 entries in 1 seal.",
        f"Heads outside that agree: 1, in {heads.folder}.",
        "Not sealed yet: 1 entry.",
    ]
    assert "Use --seals" in run().stdout


def test_a_gap_is_named_with_exit_code_1(run: Run, heads: Heads, people: People) -> None:
    with people.connection.transaction():
        people.connection.execute("set local session_replication_role = replica")
        people.connection.execute(
            "update jobs.audit set person = 'k.rao' where id = (select entry from jobs.audit_links where place = 2)"
        )
    said = run("--seals", str(heads.folder))
    assert said.exit_code == 1
    assert "was changed: it is not what was sealed at place 2." in said.stdout
    assert "Everything before it holds: 1 entry." in said.stdout
    told = json.loads(run("--json").stdout)
    assert (told["gap"]["kind"], told["gap"]["place"]) == ("entry-changed", 2)


@pytest.mark.parametrize(
    ("words", "role", "sentence"),
    [
        ((), "jobs_api", "This login may not do that"),
        (("--seals", "/nowhere/at/all"), "jobs_owner", "There is no folder /nowhere/at/all"),
    ],
)
def test_what_cannot_be_verified_is_a_sentence(
    run: Run, heads: Heads, words: tuple[str, ...], role: str, sentence: str
) -> None:
    result = run(*words, role=role)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(f"jobservice: {sentence}")
