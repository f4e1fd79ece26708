"""Owns putting text on a clipboard, and saying truthfully what became of it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping

_SECONDS = 2.0


def local_tool(environ: Mapping[str, str] | None = None) -> list[str] | None:
    """The command of this desktop that takes text on its standard input; None where there is no desktop."""
    around = os.environ if environ is None else environ
    found: list[list[str]] = []
    if sys.platform == "darwin":
        found.append(["pbcopy"])
    if around.get("WAYLAND_DISPLAY"):
        found.append(["wl-copy"])
    if around.get("DISPLAY"):
        found.extend((["xclip", "-selection", "clipboard"], ["xsel", "--clipboard", "--input"]))
    return next((command for command in found if shutil.which(command[0])), None)


def give(text: str, command: list[str]) -> bool:
    """Hands `text` to `command`; whether it took it. Blocks for at most two seconds: call it in a thread."""
    try:
        done = subprocess.run(  # noqa: S603  one of the fixed commands of `local_tool`
            command, input=text.encode(), capture_output=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
