"""A crash: one short report without locals or secrets, status 70, the terminal restored, no core (TUI-07, MONEY.md 26)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from jobconsole.crash import FAILED, report
from tests.terminal import Terminal

SECRET = "jc_a_token_that_no_report_may_print_01234567"

CRASHING = f"""
import sys
from pathlib import Path
from jobconsole.app import Console
from jobconsole.commands.keymap import default_keymap
from jobconsole.settings import load
from jobconsole.tokens import Token

class Crashing(Console):
    def key_x(self):
        secret, code = "{SECRET}", "490154"
        raise RuntimeError(f"cannot use {{secret}} with {{code}}")

app = Crashing(load(file=Path("/nonexistent/none.toml"), environ={{}}), default_keymap(), token=None)
app.run()
sys.exit(app.return_code or 0)
"""


def test_a_report_names_what_and_where_and_no_secret() -> None:
    try:
        code = "490154"
        raise ValueError(f"bad \x1b[31m {SECRET} Bearer {SECRET} code {code}, as shown {code[:3]} {code[3:]}")
    except ValueError as error:
        said = report(error)
    assert "ValueError: bad" in said
    assert f"{Path(__file__).name}:" in said
    assert SECRET not in said
    assert "490154" not in said.replace(" ", "")
    assert "\x1b" not in said


def test_a_report_without_an_error_is_a_sentence() -> None:
    assert report(None).endswith(".")


@pytest.mark.requirement("TUI-07")
@pytest.mark.requirement("MONEY-26")
def test_a_crash_prints_no_local_restores_the_terminal_and_fails(tmp_path: Path) -> None:
    environ = {
        "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
        "XDG_CONFIG_HOME": str(tmp_path),
        "TERM": "xterm-256color",
    }
    with Terminal((sys.executable, "-c", CRASHING), environ=environ) as terminal:
        terminal.see("Sign in")
        terminal.type(b"\x1b")
        terminal.see("Nobody is signed in")
        terminal.type(b"x")
        assert terminal.ended() == FAILED == 70
        said = terminal.text()
        assert "jobconsole stopped because of an error in itself: RuntimeError" in said
        assert SECRET not in said
        assert "490154" not in said
        assert "locals" not in said
        assert terminal.restored()


def test_an_error_outside_the_screen_is_reported_the_same_way() -> None:
    program = (
        "import sys; from jobconsole.crash import excepthook; sys.excepthook = excepthook\n"
        f"def f():\n    secret = '{SECRET}'\n    raise OSError(secret)\nf()"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == FAILED
    assert "OSError" in done.stderr
    assert SECRET not in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.requirement("MONEY-26")
def test_no_core_is_written() -> None:
    program = (
        "import resource; from jobconsole.crash import forbid_cores\n"
        "forbid_cores(); print(resource.getrlimit(resource.RLIMIT_CORE))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "(0, 0)"


@pytest.mark.requirement("MONEY-26")
@pytest.mark.parametrize(("first", "written"), [("jobconsole.__main__", False), ("textual", True)])
def test_the_log_that_textual_can_write_is_not_written(tmp_path: Path, first: str, written: bool) -> None:
    file = tmp_path / "textual.log"
    program = f"import {first}, jobconsole.__main__; from textual import log; log(key='490154')"
    environ = {**os.environ, "TEXTUAL_LOG": str(file)}
    subprocess.run([sys.executable, "-c", program], env=environ, timeout=60, check=True)
    assert file.exists() is written
