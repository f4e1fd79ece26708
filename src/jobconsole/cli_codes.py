"""Owns how a twin gets the six digits from a person: asked for at the terminal without echo, or one line of standard
input with `--code -`. Never an argument: it would stay in the shell's history and in the list of processes (MONEY.md 26).
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from getpass import getpass
from typing import Any

import click
from pydantic import SecretStr

from jobconsole.cli_connection import USAGE, fail
from jobconsole.present.text import line

FROM_INPUT = "-"
_READ_MOST = 64
"""Most characters that are read of standard input."""
_NO_ARGUMENT = (
    "a code is never an argument: it would stay in the shell's history and in the list of processes. Leave it away to "
    "be asked, or write --code - to read it from standard input."
)


def code_options(callback: Callable[..., Any]) -> Callable[..., Any]:
    """`--code -` on a callback; whatever else looks like a code on the command line is refused, and not repeated."""

    @functools.wraps(callback)
    def run(extra: tuple[str, ...], **options: Any) -> Any:
        if extra:
            raise click.UsageError(_NO_ARGUMENT)
        return callback(**options)

    option = click.option(
        "--code",
        "code_from",
        metavar="-",
        callback=_only_input,
        help="Read the code from standard input; else asked for.",
    )
    return option(click.argument("extra", nargs=-1, metavar="")(run))


def typed_code(code_from: str | None, prompt: str) -> SecretStr:
    """The code that the person gives now; ends the process with a sentence where none comes."""
    if code_from is not None:
        text = sys.stdin.readline(_READ_MOST)
    elif not at_a_terminal():
        fail("A code is typed at a terminal, and standard input is none: pipe it in and write --code -.", USAGE)
    else:
        text = ask(f"{line(prompt)}\nThe six digits from your phone (hidden): ")
    if not text.strip():
        fail("No code was given; nothing was sent.", USAGE)
    return SecretStr(text.strip()[:_READ_MOST])


def at_a_terminal() -> bool:
    """Whether there is a terminal to type a code at."""
    return sys.stdin.isatty()


def ask(prompt: str) -> str:
    """What is typed at the terminal, hidden."""
    return getpass(prompt)


def _only_input(_ctx: click.Context, _parameter: click.Parameter, text: str | None) -> str | None:
    if text not in (None, FROM_INPUT):
        raise click.UsageError(_NO_ARGUMENT)
    return text
