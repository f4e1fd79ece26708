"""`doctor`, `login` and `logout`: each line says ok or what to do; a token is kept only once the service knew it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from jobconsole import cli_console, cli_doctor, cli_sign_in
from jobconsole.cli import cli
from jobconsole.client.fake import FakeService
from jobconsole.client.service import Service
from jobconsole.tokens import Keyring, Token
from tests.screens.test_sign_in import Store

Run = Callable[..., Result]


@pytest.fixture
def fake() -> FakeService:
    return FakeService()


@pytest.fixture
def store() -> Store:
    return Store()


@pytest.fixture
def run(tmp_path: Path, fake: FakeService, store: Store, monkeypatch: pytest.MonkeyPatch) -> Run:
    def service(url: str, token: Any, tenant: str | None = None) -> Service:
        return Service(url, token, tenant, transport=fake.transport())

    def keyring(profile: str, url: str) -> Keyring:
        return Keyring(profile, url, find=lambda: store)

    monkeypatch.setattr(cli_console, "config_file", lambda: tmp_path / "config.toml")
    for module in (cli_doctor, cli_sign_in):
        monkeypatch.setattr(module, "Service", service)
        monkeypatch.setattr(module, "Keyring", keyring)
    return lambda *arguments: CliRunner().invoke(cli, list(arguments))


def findings(done: Result) -> dict[str, dict[str, Any]]:
    return {found["about"]: found for found in json.loads(done.output)["findings"]}


def test_doctor_names_what_is_wrong_with_what_to_do_and_fails(run: Run) -> None:
    done = run("doctor", "--json")
    assert done.exit_code == 1
    found = findings(done)
    assert not found["terminal"]["ok"]
    assert not found["keyring"]["ok"]
    assert found["keyring"]["advice"] == "Sign in with: jobconsole login"
    for finding in found.values():
        assert finding["ok"] or finding["advice"], finding


def test_doctor_says_how_the_service_clock_and_token_are(run: Run, store: Store) -> None:
    Keyring("default", "http://127.0.0.1:8414", find=lambda: store).keep(Token("jc_m.ito"))
    found = findings(run("doctor", "--json"))
    assert found["service"]["ok"]
    assert not found["clock"]["ok"], "the fake service lives in March 2026"
    assert "the service's" in found["clock"]["sentence"]
    assert found["sign-in"]["sentence"].startswith("m.ito; the token ends in")


def test_doctor_names_a_clash_of_keys(run: Run, tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('[keymap]\n"live.pause" = "r"\n', encoding="utf-8")
    found = findings(run("doctor", "--json"))
    assert not found["keys"]["ok"]
    assert "screen.refresh" in found["keys"]["sentence"]


@pytest.mark.parametrize(("delay", "advised"), [("500", True), ("10", False)])
def test_doctor_knows_what_escape_costs_inside_tmux(delay: str, advised: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    class Asked:
        stdout = f"{delay}\n"

    monkeypatch.setattr(subprocess, "run", lambda *_, **__: Asked)
    finding = cli_doctor._tmux({"TMUX": "x"})
    assert f"{delay} ms" in finding.sentence
    assert ("escape-time 10" in finding.advice) is advised


def test_login_keeps_a_token_that_the_service_knows_and_shows_it_nowhere(
    run: Run, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli_sign_in, "getpass", lambda _: "jc_m.ito")
    monkeypatch.setattr(cli_sign_in, "typed_at_a_terminal", lambda: True)
    done = run("login")
    assert done.exit_code == 0, done.output
    assert "Signed in as Mika Ito" in done.output
    assert "jc_" not in done.output
    assert list(store.kept.values()) == ["jc_m.ito"]
    assert run("logout").output == "The token is removed from the keyring.\n"
    assert store.kept == {}
    assert run("logout").output == "The keyring has no token of this profile.\n"


@pytest.mark.parametrize(("token", "code"), [("jc_nobody", 4), ("", 2), ("not a token", 2)])
def test_login_keeps_nothing_else(
    run: Run, store: Store, monkeypatch: pytest.MonkeyPatch, token: str, code: int
) -> None:
    monkeypatch.setattr(cli_sign_in, "getpass", lambda _: token)
    monkeypatch.setattr(cli_sign_in, "typed_at_a_terminal", lambda: True)
    done = run("login")
    assert done.exit_code == code, done.output
    assert "othing was" in done.output or "token" in done.output
    assert store.kept == {}


def test_login_without_a_terminal_names_the_variable(run: Run, store: Store) -> None:
    done = run("login")
    assert done.exit_code == 2
    assert "JOBCONSOLE_TOKEN" in done.output
    assert store.kept == {}


def test_login_when_the_service_is_away_keeps_nothing(
    run: Run, fake: FakeService, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake.away = True
    monkeypatch.setattr(cli_sign_in, "getpass", lambda _: "jc_m.ito")
    monkeypatch.setattr(cli_sign_in, "typed_at_a_terminal", lambda: True)
    assert run("login").exit_code == 3
    assert store.kept == {}
