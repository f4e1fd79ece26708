"""The service's command line: people and tokens from nothing, checks, and a sentence with exit code 1 for all else."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from jobservice.cli import commands
from tests.conftest import People, Server

Run = Callable[..., Result]


@pytest.fixture
def run(database_url: Callable[[str], str]) -> Run:
    """`run(*words, role=...)`: a command with that role's address."""

    def command(*words: str, role: str | None = "jobs_owner", **environment: str) -> Result:
        own = {} if role is None else {"JOBSERVICE_DATABASE_URL": database_url(role)}
        return CliRunner().invoke(commands, words, env={**own, **environment})

    return command


def refused(result: Result) -> str:
    """The one sentence of a refusal: exit code 1, nothing on stdout, no traceback."""
    assert (result.exit_code, result.stdout) == (1, ""), result.output
    assert "Traceback" not in result.stderr
    lines = result.stderr.splitlines()
    assert len(lines) == 1, lines
    return lines[0]


def test_a_person_from_nothing_to_a_token_that_ends(run: Run) -> None:
    for words in (
        ("tenant", "add", "leeds", "--name", "Leeds"),
        ("person", "add", "m.ito", "--name", "Mina \x1b[31mIto", "--contact", "m@example.org"),
        ("person", "grant", "m.ito", "leeds", "finance", "--customer", "c1", "--customer", "c2"),
    ):
        assert run(*words).exit_code == 0
    made = run("token", "create", "m.ito", "--label", "laptop")
    token = made.stdout.strip()
    assert token.startswith("jc_")
    assert token not in made.stderr
    listed = json.loads(run("token", "list", "--person", "m.ito", "--json").stdout)
    assert [(row["label"], row["state"]) for row in listed] == [("laptop", "live")]
    assert token not in run("token", "list").stdout
    people = run("person", "list")
    assert "\x1b" not in people.stdout
    assert "c1,c2" in people.stdout
    assert run("token", "revoke", listed[0]["id"]).exit_code == 0
    assert "revoked" in run("token", "list").stdout
    assert run("person", "withdraw", "m.ito", "leeds").exit_code == 0
    assert run("person", "disable", "m.ito").exit_code == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("tenant", "add", "acme", "--name", "x"), "There is a tenant acme already"),
        (("tenant", "add", "A B", "--name", "x"), "cannot be a tenant id"),
        (("person", "add", "m.ito", "--name", "x", "--contact", "x"), "There is a person m.ito already"),
        (("person", "grant", "no.one", "acme", "finance"), "There is no person no.one"),
        (("person", "grant", "m.ito", "none", "finance"), "There is no tenant none"),
        (("person", "disable", "no.one"), "There is no person no.one"),
        (("token", "create", "m.ito", "--hours", "721"), "30 days"),
        (("token", "create", "m.ito", "--tenant", "globex"), "never exceeds"),
        (("token", "create", "m.ito", "--role", "operator"), "never exceeds"),
        (("token", "create", "m.ito", "--label", ""), "label needs"),
        (("token", "revoke", "nonsense"), "not a token id"),
        (("token", "list", "--person", "no.one"), "There is no person no.one"),
    ],
)
def test_wrong_input_is_one_sentence(run: Run, people: People, words: tuple[str, ...], said: str) -> None:
    assert said in refused(run(*words))


@pytest.mark.parametrize("role", ["jobs_api", "jobs_worker"])
def test_people_are_the_owners_alone(run: Run, people: People, role: str) -> None:
    assert "must be the owner's" in refused(run("person", "add", "x.y", "--name", "x", "--contact", "x", role=role))
    assert "must be the owner's" in refused(run("token", "list", role=role))


def test_without_an_address_it_says_which_variable(run: Run) -> None:
    assert "JOBSERVICE_DATABASE_URL is not set" in refused(run("person", "list", role=None))


def test_an_unreachable_database_is_a_sentence(run: Run, tmp_path: Path) -> None:
    url = f"postgresql://a:s3cret@/d?host={tmp_path}"
    for words in (("person", "list"), ("migrate",)):
        sentence = refused(run(*words, role=None, JOBSERVICE_DATABASE_URL=url))
        assert "cannot be reached" in sentence
        assert "s3cret" not in sentence


def test_migrate_says_what_it_did(run: Run, server: Server, worker_id: str) -> None:
    name = f"cli_{worker_id}"
    server.create_database(name)
    try:
        url = server.url("jobs_owner", name)
        assert "jobservice migrate" in refused(run("person", "list", role=None, JOBSERVICE_DATABASE_URL=url))
        first = run("migrate", role=None, JOBSERVICE_DATABASE_URL=url)
        assert "Applied 0001_ground.sql." in first.stdout
        again = run("migrate", role=None, JOBSERVICE_DATABASE_URL=url)
        assert again.stdout.splitlines() == [first.stdout.splitlines()[-1]]
    finally:
        server.drop_database(name)


def test_the_examples_records_are_right_as_registered(run: Run) -> None:
    checked = run("check", "examples/payments/records", role=None)
    assert (checked.exit_code, checked.stdout.count("\n")) == (0, 1)
    assert "as payments registers them" in checked.stdout


def test_findings_are_lines_and_exit_code_1(run: Run, tmp_path: Path) -> None:
    (tmp_path / "broken.yaml").write_text("kind: queue\n")
    checked = run("check", str(tmp_path), role=None)
    assert checked.exit_code == 1
    assert "broken.yaml" in checked.stdout
    assert "not a folder" in refused(run("check", str(tmp_path / "none"), role=None))


def test_the_key_ring_is_made(run: Run, tmp_path: Path) -> None:
    ring = tmp_path / "ring"
    assert run("keyring", "init", role=None, JOBSERVICE_KEYRING=str(ring)).exit_code == 0
    assert stat.S_IMODE(ring.stat().st_mode) == 0o700
    ring.chmod(0o755)
    assert "chmod 700" in refused(run("keyring", "init", role=None, JOBSERVICE_KEYRING=str(ring)))


def test_a_mistyped_command_is_exit_code_2(run: Run) -> None:
    assert run("person", "promote", role=None).exit_code == 2
