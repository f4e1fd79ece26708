"""Owns opening the console on this terminal, or saying why it cannot be: one sentence, with the headless twin."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from jobconsole.app import Console
from jobconsole.commands.keymap import KeymapError, keymap_of
from jobconsole.paths import config_file
from jobconsole.present.text import block
from jobconsole.settings import SettingsError, load
from jobconsole.tokens import take_from_environment

REFUSED = 2
"""Exit status where the console cannot be opened here."""
TWIN = "Without one, use the same commands by name, e.g. `jobconsole queues --json`; `jobconsole --help` lists them."


def refusal(terminals: tuple[bool, bool], environ: Mapping[str, str]) -> str | None:
    """Why no console can be opened: whether standard input and standard error are terminals, and the environment."""
    stdin, stderr = terminals
    if not stdin or not stderr:
        name = "input" if not stdin else "error"
        return f"jobconsole needs a terminal, and standard {name} is none. {TWIN}"
    if environ.get("TERM", "") in {"", "dumb"} and sys.platform != "win32":
        return f'jobconsole needs a terminal that can be painted; TERM is "{environ.get("TERM", "")}". {TWIN}'
    return None


def open_console(profile: str | None) -> int:
    """Opens the console and gives the exit status: 0, `crash.FAILED` after a crash, 2 where it could not be opened."""
    token = take_from_environment()
    reason = refusal((sys.stdin.isatty(), sys.stderr.isatty()), os.environ)
    if reason is not None:
        sys.stderr.write(reason + "\n")
        return REFUSED
    try:
        settings = load({"profile": profile}, file=config_file())
        keymap = keymap_of(settings)
    except (SettingsError, KeymapError) as error:
        sys.stderr.write(f"{block(error)}\n")
        return REFUSED
    console = Console(settings, keymap, token=token)
    console.run()
    return console.return_code or 0
