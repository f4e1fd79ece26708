"""The commands of phones and keys, as a person on the server types them."""

from __future__ import annotations

import json
import re
import signal
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest
from click.testing import CliRunner, Result

from jobservice.bootstrap.keyring import make_keyring, read_keys
from jobservice.cli import commands
from jobservice.rules.codes import code_at, new_secret, step_of
from jobservice.usecases.codes import PURPOSE
from tests.conftest import People
from tests.terminal import Terminal
from tests.test_jobservice_cli import refused

Run = Callable[..., Result]
Superuser = psycopg.Connection[tuple[object, ...]]


@pytest.fixture
def environment(database_url: Callable[[str], str], tmp_path: Path) -> dict[str, str]:
    """The variables of the server's own commands, with a key ring."""
    make_keyring(tmp_path / "ring")
    return {
        "JOBSERVICE_DATABASE_URL": database_url("jobs_owner"),
        "JOBSERVICE_KEYRING": str(tmp_path / "ring"),
        "JOBSERVICE_APPLICATION": "examples.payments:application",
        "JOBSERVICE_DEPLOYMENT": "test",
    }


@pytest.fixture
def run(environment: dict[str, str]) -> Run:
    """`run(*words)`: a command of the server."""
    return lambda *words, **more: CliRunner().invoke(commands, words, env={**environment, **more})


def _enrol(superuser: Superuser, environment: dict[str, str], person: str) -> str:
    """Give a person a phone past the command; its secret."""
    secret = new_secret()
    sealed = read_keys(Path(environment["JOBSERVICE_KEYRING"])).seal(person, PURPOSE, secret.encode())
    superuser.execute(
        "insert into jobs.codes (person, key_id, sealed, enrolled_at) values (%s, %s, %s, jobs.now())",
        (person, sealed.key_id, sealed.sealed),
    )
    return secret


@pytest.mark.requirement("MONEY-16", "MONEY-26", "confirm-bulk-money-actions-out-of-band")
def test_a_phone_is_enrolled_at_a_terminal_and_nothing_of_it_stays_there(
    environment: dict[str, str], people: People
) -> None:
    words = (sys.executable, "-m", "jobservice", "totp", "enrol", "m.ito", "--set", "code.rest=PT1H")
    with Terminal(words, columns=80, lines=24, environ=environment) as terminal:
        terminal.see("Code on the phone")
        shown = terminal.output
        assert b"\x1b[?1049h" in shown
        assert "\u2580" * 4 in shown.decode()
        groups = re.findall(r"\b[A-Z2-7]{4}\b", terminal.text())
        secret = "".join(groups[:8])
        step = step_of(_now(people.connection))
        terminal.type(f"{code_at(secret, step)}\r".encode())
        terminal.see("The next code")
        terminal.type(f"{code_at(secret, step + 1)}\r".encode())
        terminal.see("Told: m.ito, k.rao.")
        assert terminal.ended() == 0
        after = terminal.output.partition(b"\x1b[?1049l")
    assert after[0].endswith(b"\x1b[2J\x1b[3J\x1b[H")
    assert b"The phone of m.ito is enrolled." in after[2]
    assert b"No code confirms before" in after[2]
    kept = people.connection.execute("select last_step, pending_sealed, sealed from jobs.codes").fetchone()
    assert kept is not None
    assert kept[:2] == (step + 1, None)
    for place in (after[2], kept[2], str(people.connection.execute("select * from jobs.audit").fetchall()).encode()):
        assert secret.encode() not in place
        assert groups[0].encode() not in place


@pytest.mark.requirement("MONEY-16")
def test_an_enrolment_that_is_broken_off_leaves_nothing(environment: dict[str, str], people: People) -> None:
    words = (sys.executable, "-m", "jobservice", "totp", "enrol", "m.ito")
    with Terminal(words, columns=80, lines=24, environ=environment) as terminal:
        terminal.see("Code on the phone: ")  # with the blank, which is the last thing written before it reads
        terminal.waits()
        terminal.process.send_signal(signal.SIGINT)
        assert terminal.ended() == 1
        assert terminal.output.rstrip().endswith(b"Aborted!")
        assert b"\x1b[2J\x1b[3J\x1b[H\x1b[?1049l" in terminal.output
    assert people.connection.execute("select pending_sealed from jobs.codes").fetchall() == [(None,)]


def _now(connection: Superuser) -> datetime:
    row = connection.execute("select jobs.now()").fetchone()
    assert row is not None
    assert isinstance(row[0], datetime)
    return row[0].astimezone(UTC)


@pytest.mark.requirement("MONEY-16", "MONEY-17")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("totp", "enrol", "m.ito"), "needs a terminal: nothing secret is written to a pipe"),
        (("totp", "reset", "m.ito"), "No phone of m.ito is enrolled."),
        (("totp", "reset", "no.one"), "There is no person no.one"),
        (("totp", "unlock", "m.ito"), "nothing is locked"),
        (("totp", "status", "no.one"), "There is no person no.one"),
        (("keyring", "retire", "seal-0009-000000"), "The ring has no such key. Keys: seal-0001-"),
        (("keyring", "retire", "../x"), "The ring has no such key"),
        (("keyring", "public", "--out", "/nonexistent/x"), "cannot be written"),
        (("phone", "--data", "/nonexistent"), "There is no demo in /nonexistent"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(run: Run, people: People, words: tuple[str, ...], said: str) -> None:
    assert said in refused(run(*words))


@pytest.mark.requirement("MONEY-29")
@pytest.mark.parametrize("role", ["jobs_api", "jobs_worker"])
def test_phones_and_keys_are_the_owners_alone(
    run: Run, environment: dict[str, str], people: People, database_url: Callable[[str], str], role: str
) -> None:
    ring = Path(environment["JOBSERVICE_KEYRING"])
    before = sorted(ring.iterdir())
    _enrol(people.connection, environment, "m.ito")
    for words in (("totp", "reset", "m.ito"), ("totp", "unlock", "m.ito"), ("keyring", "rotate")):
        assert "must be the owner's" in refused(run(*words, JOBSERVICE_DATABASE_URL=database_url(role)))
    assert sorted(ring.iterdir()) == before


@pytest.mark.requirement("MONEY-15", "MONEY-16")
def test_how_a_phone_stands_is_said_without_its_secret(run: Run, environment: dict[str, str], people: People) -> None:
    secret = _enrol(people.connection, environment, "m.ito")
    people.connection.execute("update jobs.codes set locked_for_good = true, in_a_row = 3")
    said = json.loads(run("totp", "status", "m.ito", "--json").stdout)[0]
    assert (said["person"], said["locked_for_good"], said["tries_left"]) == ("m.ito", True, 0)
    assert secret not in run("totp", "status", "m.ito").output
    assert run("totp", "unlock", "m.ito").stdout == "The codes of m.ito are unlocked.\n"
    assert json.loads(run("totp", "status", "m.ito", "--json").stdout)[0]["tries_left"] == 5
    reset = run("totp", "reset", "m.ito", "--set", "code.rest=PT24H")
    assert "No code confirms before" in reset.stdout
    assert "Told: m.ito, k.rao." in reset.stdout


@pytest.mark.requirement("MONEY-17", "MONEY-19")
def test_keys_are_rotated_and_retired(run: Run, environment: dict[str, str], people: People, tmp_path: Path) -> None:
    ring = Path(environment["JOBSERVICE_KEYRING"])
    _enrol(people.connection, environment, "m.ito")
    old = read_keys(ring)
    assert "is the current key. First: jobservice keyring rotate." in refused(
        run("keyring", "retire", f"seal-{old.current_seal}")
    )
    rotated = run("keyring", "rotate")
    assert rotated.exit_code == 0, rotated.output
    assert "Secrets sealed anew: 1." in rotated.stdout
    new = read_keys(ring)
    assert people.connection.execute("select key_id from jobs.codes").fetchall() == [(new.current_seal,)]
    out = tmp_path / "public.json"
    assert run("keyring", "public", "--out", str(out)).exit_code == 0
    assert out.read_text() == run("keyring", "public").stdout
    assert json.loads(out.read_text())["keys"].keys() == new.sign_keys.keys()
    people.connection.execute("update jobs.codes set key_id = %s", (old.current_seal,))
    assert "still seals the secrets of m.ito" in refused(run("keyring", "retire", f"seal-{old.current_seal}"))
    assert (ring / f"seal-{old.current_seal}.key").exists()
    people.connection.execute("update jobs.codes set key_id = %s", (new.current_seal,))
    for key in (f"seal-{old.current_seal}", f"sign-{old.current_sign}.key"):
        assert run("keyring", "retire", key).exit_code == 0
    assert read_keys(ring).seal_keys.keys() == {new.current_seal}
    actions = people.connection.execute("select action, subject from jobs.audit order by id").fetchall()
    assert actions == [
        ("keyring-rotated", new.current_seal),
        ("key-retired", f"seal-{old.current_seal}"),
        ("key-retired", f"sign-{old.current_sign}"),
    ]


@pytest.mark.requirement("MONEY-35")
def test_the_demos_phone_gives_one_code_and_nothing_else(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "people"
    folder.mkdir(mode=0o700)
    file = folder / "phone.json"
    secrets = {person: new_secret() for person in ("m.ito", "k.rao")}
    people = [{"person": person, "name": person, "secret": secret} for person, secret in secrets.items()]
    file.write_text(json.dumps({"people": people}))
    file.chmod(0o600)
    assert "Add --person with one of: m.ito, k.rao." in refused(run("phone", "--data", str(tmp_path), "--once"))
    assert "needs a terminal" in refused(run("phone", "--data", str(tmp_path)))
    given = run("phone", "--data", str(tmp_path), "--person", "k.rao", "--once")
    assert re.fullmatch(r"[0-9]{6}\n", given.stdout)
    with Terminal((sys.executable, "-m", "jobservice", "phone", "--data", str(tmp_path))) as terminal:
        terminal.see("ctrl+c ends")
        terminal.see("k.rao")
        assert re.search(r"m\.ito  m\.ito  [0-9]{3} [0-9]{3}  [ 0-9][0-9] s", terminal.text())
        terminal.process.send_signal(signal.SIGINT)
        assert terminal.ended() == 0
        assert terminal.output.endswith(b"\x1b[2J\x1b[3J\x1b[H\x1b[?1049l")
