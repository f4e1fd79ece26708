"""Where the console opens and where it refuses: terminals, TERM, redirections, signals."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from jobconsole.opening import refusal
from tests.terminal import Terminal

CONSOLE = (sys.executable, "-m", "jobconsole")


def around(folder: Path, **more: str) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "XDG_CONFIG_HOME": str(folder),
        "HOME": str(folder),
        "TERM": "xterm-256color",
        "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
        "LANG": "C.UTF-8",
        **more,
    }


@pytest.mark.parametrize(
    ("terminals", "environ", "words"),
    [
        ((False, True), {"TERM": "xterm"}, "standard input is none"),
        ((True, False), {"TERM": "xterm"}, "standard error is none"),
        ((True, True), {"TERM": "dumb"}, 'TERM is "dumb"'),
        ((True, True), {}, 'TERM is ""'),
    ],
)
def test_each_refusal_is_a_sentence_that_names_the_twin(
    terminals: tuple[bool, bool], environ: Mapping[str, str], words: str
) -> None:
    said = refusal(terminals, environ)
    assert said is not None
    assert words in said
    assert "jobconsole queues --json" in said


def test_a_terminal_that_can_be_painted_is_not_refused() -> None:
    assert refusal((True, True), {"TERM": "xterm-256color"}) is None


def test_without_a_terminal_it_ends_with_2_and_paints_nothing(tmp_path: Path) -> None:
    done = subprocess.run(
        CONSOLE, stdin=subprocess.DEVNULL, capture_output=True, env=around(tmp_path), timeout=60, check=False
    )
    assert done.returncode == 2
    assert done.stdout == b""
    assert b"\x1b" not in done.stderr
    assert b"needs a terminal" in done.stderr


@pytest.mark.requirement("TUI-05")
def test_without_a_token_or_keyring_it_asks_and_leaves_in_order(tmp_path: Path) -> None:
    with Terminal(CONSOLE, environ=around(tmp_path)) as terminal:
        terminal.see("There is no keyring here")
        terminal.type(b"\x11")
        assert terminal.ended() == 0
        assert terminal.restored()
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.mark.requirement("TUI-05")
def test_the_token_of_the_environment_reaches_no_file_argument_or_screen(tmp_path: Path) -> None:
    secret = "jc_a_token_that_nobody_may_see_anywhere_0001"
    environ = around(tmp_path, JOBCONSOLE_TOKEN=secret, JOBCONSOLE_URL="http://127.0.0.1:9")
    with Terminal(CONSOLE, environ=environ) as terminal:
        terminal.see("Trying again in")
        arguments = Path(f"/proc/{terminal.process.pid}/cmdline")
        if arguments.exists():
            assert secret.encode() not in arguments.read_bytes()
        terminal.type(b"\x11")
        assert terminal.ended() == 0
        assert secret not in terminal.output.decode("utf-8", "replace")
    assert not any(secret in path.read_text("utf-8", "replace") for path in tmp_path.rglob("*") if path.is_file())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_stop_restores_the_terminal(tmp_path: Path, number: signal.Signals) -> None:
    with Terminal(CONSOLE, environ=around(tmp_path)) as terminal:
        terminal.see("Sign in")
        terminal.process.send_signal(number)
        assert terminal.ended() == 128 + number
        assert terminal.restored()


@pytest.mark.requirement("TUI-04")
@pytest.mark.parametrize(("columns", "lines"), [(1, 1), (40, 10), (200, 60)])
def test_it_opens_and_leaves_at_every_size(tmp_path: Path, columns: int, lines: int) -> None:
    with Terminal(CONSOLE, columns=columns, lines=lines, environ=around(tmp_path)) as terminal:
        terminal.see("Sign in" if columns >= 40 else "T")
        terminal.type(b"\x11")
        assert terminal.ended() == 0


def test_a_faulty_configuration_is_a_sentence_and_status_2(tmp_path: Path) -> None:
    folder = tmp_path / "jobconsole"
    folder.mkdir()
    (folder / "config.toml").write_text('[keymap]\n"live.pause" = "r"\n', encoding="utf-8")
    with Terminal(CONSOLE, environ=around(tmp_path)) as terminal:
        assert terminal.ended() == 2
        assert "runs both screen.refresh" in terminal.text()


def test_no_color_set_but_empty_leaves_the_colours(tmp_path: Path) -> None:
    for value, coloured in (("", True), ("1", False)):
        with Terminal(CONSOLE, environ=around(tmp_path, NO_COLOR=value, COLORTERM="truecolor")) as terminal:
            terminal.see("There is no keyring here")
            painted = terminal.output
            terminal.type(b"\x11")
            terminal.ended()
        assert (b"95;168;211" in painted) is coloured, "the border's blue"
