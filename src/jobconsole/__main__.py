"""Owns the start of the program: the first frame before anything that is not needed for it. The command line is
imported only where something is typed after `jobconsole`.
"""

from __future__ import annotations

import gc

gc.disable()  # until the first frame; `entrance` enables it again

import os  # noqa: E402  after gc.disable, as every import below
import sys  # noqa: E402  likewise

RECORDERS = ("TEXTUAL", "TEXTUAL_DEBUG", "TEXTUAL_LOG", "TEXTUAL_SCREENSHOT")
"""Variables by which Textual logs every key and message, or keeps the screen: tokens and codes are in them (MONEY.md 26)."""
for _name in RECORDERS:
    os.environ.pop(_name, None)  # here: Textual looks at them when it is imported

from jobconsole.crash import excepthook, forbid_cores  # noqa: E402  likewise

PLAIN = ("--profile", "-p")
"""Options of the bare console, read here without the command-line library."""


def main() -> None:
    """Starts the console, or the command that was typed; ends the process with its status."""
    sys.excepthook = excepthook
    forbid_cores()
    if os.environ.get("NO_COLOR") == "":
        # https://no-color.org: only a value that is not empty counts; Textual looks at its presence.
        del os.environ["NO_COLOR"]
    profile = _bare(sys.argv[1:])
    if profile is not None:
        from jobconsole.opening import open_console

        sys.exit(open_console(profile or None))
    gc.enable()
    from jobconsole.cli import cli

    cli(prog_name="jobconsole")


def _bare(arguments: list[str]) -> str | None:
    """The profile that was typed, empty without one; None where more than that was typed."""
    if not arguments:
        return ""
    if len(arguments) == 2 and arguments[0] in PLAIN and not arguments[1].startswith("-"):
        return arguments[1]
    if len(arguments) == 1 and arguments[0].startswith("--profile="):
        return arguments[0].partition("=")[2]
    return None


if __name__ == "__main__":
    main()
