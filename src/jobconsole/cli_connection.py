"""Owns what all headless twins share: where they connect, how they print, and their exit codes. Decides nothing else.

Exit codes: 0 done, 1 refused or not done, 2 wrong usage, 3 the service is away or the outcome is unknown, 4 sign in,
5 the answer came and could not be written, 70 the console itself failed (`crash.FAILED`).
`--json` prints the answer of the service as it is on the wire; all else is plain aligned text. A token is never an
argument (MONEY.md 26): it comes from JOBCONSOLE_TOKEN or from the keyring that `jobconsole login` filled.
"""

from __future__ import annotations

import asyncio
import functools
import json
import os
import shlex
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, TypeVar

import click
from pydantic import BaseModel, SecretStr

from jobconsole.client.errors import (
    ClientError,
    ConnectionUnfit,
    OutcomeUnknown,
    PlanUnfit,
    PlanUnknown,
    ServiceAway,
    ServiceRefused,
    SignInAgain,
)
from jobconsole.client.service import Service
from jobconsole.client.session import me
from jobconsole.crash import FAILED
from jobconsole.paths import config_file
from jobconsole.present.text import block, line
from jobconsole.settings import Settings, SettingsError, load
from jobconsole.tokens import VARIABLE, Keyring, KeyringAway, take_from_environment
from jobcontract.ids import KEY_MAX, REASON_MAX, storable, visible
from jobcontract.permissions import IN_NO_TENANT
from jobcontract.session import Session

DONE, REFUSED, USAGE, AWAY, SIGN_IN, UNWRITTEN = range(6)
EPILOG = (
    "Exit codes: 0 done, 1 refused, 2 usage, 3 service away or outcome unknown, 4 sign in, "
    f"5 answer not written, {FAILED} the console itself failed."
)
CURSOR_MAX = 2_000
"""Most characters of a cursor; the service's own are far shorter."""

A = TypeVar("A")


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedIn:
    """The connection of one twin: the service, who it is signed in as, and the settings of the run."""

    service: Service
    session: Session
    settings: Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What a twin prints: the answer, its plain lines, and the exit code where the answer itself says no."""

    answer: BaseModel
    lines: Sequence[str]
    code: int = DONE
    acted: bool = False
    """Whether the answer is that of an act, which stays done however the answer fares."""


Twin = Callable[..., Awaitable[Shown]]

_OPTIONS = (
    click.option("--json", "as_json", is_flag=True, help="Print the service's answer as JSON."),
    click.option("--profile", metavar="NAME", help="Which profile of the configuration."),
    click.option("--url", metavar="URL", help="Address of the service."),
    click.option("--tenant", metavar="TENANT", help="Which tenant; else the profile's, else your first."),
)


def twin(function: Twin) -> Callable[..., None]:
    """Make a click callback of `async def f(signed_in, **options) -> Shown`: connects, runs, prints, exits."""

    @functools.wraps(function)
    def run(as_json: bool, profile: str | None, url: str | None, tenant: str | None, **options: Any) -> None:
        typed = {"profile": profile, "url": url, "tenant": tenant}
        shown = attempt(lambda: asyncio.run(_connected(function, typed, options)))
        write(as_text(shown, as_json), shown.code, acted=shown.acted)

    return connection_options(run)


def within(most: int, *, empty: bool = False) -> Callable[[click.Context, click.Parameter, str | None], str | None]:
    """A click callback: text that is there (unless it may be `empty`), of at most `most` characters that can be sent;
    anything else is wrong usage."""

    def check(_ctx: click.Context, _parameter: click.Parameter, text: str | None) -> str | None:
        if text is None:
            return None
        if not (text or empty) or len(text) > most:
            raise click.BadParameter(f"it has {len(text):,} characters; it must have {0 if empty else 1} to {most:,}.")
        if not storable(text) or line(text) != text:
            raise click.BadParameter("it holds a control character, or bytes that are no UTF-8.")
        return text

    return check


def same_key(ctx: click.Context, parameter: click.Parameter, text: str | None) -> str | None:
    """A click callback: an idempotency key, as a header carries it; else wrong usage."""
    within(KEY_MAX)(ctx, parameter, text)
    if text is not None and not all("!" <= sign <= "~" for sign in text):
        raise click.BadParameter("it holds a blank, or a character that is not ASCII.")
    return text


def why(_ctx: click.Context, _parameter: click.Parameter, text: str) -> str:
    """A click callback: a reason, which says something and is as short as the service takes it; else wrong usage."""
    said = text.strip()
    if not said or len(said) > REASON_MAX:
        raise click.BadParameter(f"it has {len(said):,} characters besides blanks; it must have 1 to {REASON_MAX:,}.")
    if not storable(said):
        raise click.BadParameter("it holds a control character, or bytes that are no UTF-8.")
    if not visible(said):
        raise click.BadParameter("nobody would see anything of it.")
    return said


def item_id(ctx: click.Context, parameter: click.Parameter, text: str) -> str:
    """A click callback: the id of one item. A key with a slash, which reaches no item's address, is wrong usage."""
    within(KEY_MAX)(ctx, parameter, text)
    if "/" in text:
        start = shlex.quote(f"item:{text}")
        raise click.BadParameter(
            f"{text} is a key; it takes an item's id, which this lists first: jobconsole queues items QUEUE "
            f"--limit 1 --start {start}"
        )
    return text


def connection_options(callback: Callable[..., None]) -> Callable[..., None]:
    """--json, --profile, --url and --tenant on a callback."""
    for option in reversed(_OPTIONS):
        callback = option(callback)
    return callback


def hand_down(ctx: click.Context, options: Mapping[str, Any]) -> None:
    """What was typed before a subcommand's name counts for the subcommand."""
    typed = {name: value for name, value in options.items() if value}
    if typed and isinstance(ctx.command, click.Group):
        known = ctx.default_map or {}
        ctx.default_map = {name: {**known.get(name, {}), **typed} for name in ctx.command.commands}


def attempt(call: Callable[[], Shown]) -> Shown:
    """What `call` gives; a failure of the client or the configuration becomes its sentence and exit code."""
    try:
        return call()
    except ServiceRefused as error:
        fail(f"refused ({error.code}): {error.sentence}", REFUSED, error, *_changes(error))
    except SignInAgain as error:
        fail(f"sign in again: {error.sentence}", SIGN_IN, error)
    except OutcomeUnknown as error:
        fail(
            f"outcome unknown: {error.sentence}", AWAY, error, f"To repeat it: the same command with --key {error.key}"
        )
    except ServiceAway as error:
        fail(f"not done: {error.sentence}", AWAY, error)
    except (ConnectionUnfit, PlanUnknown, SettingsError) as error:
        fail(str(error), USAGE)
    except PlanUnfit as error:
        fail(error.sentence, REFUSED)
    except KeyboardInterrupt:
        fail("stopped", 130)


def _changes(error: ServiceRefused) -> list[str]:
    """What changed, one line each: of an item, or of rows of a plan."""
    if error.plan_changes:
        return [
            f"  row {row.number} {row.title}, {row.field}: {row.before} -> {row.after}" for row in error.plan_changes
        ]
    return [f"  {change.field}: {change.before} -> {change.after}" for change in error.changes]


async def sure(order: Awaitable[A], key: str, **carried: object) -> A:
    """The answer of an acting call; where it is unknown, say with which options a repeat is the same request."""
    try:
        return await order
    except OutcomeUnknown as error:
        options = {"key": key, **carried}
        given = " ".join(f"--{name} {value}" for name, value in options.items() if value is not None)
        fail(f"outcome unknown: {error.sentence}", AWAY, error, f"To repeat it: the same command with {given}")


def fail(sentence: str, code: int, error: ClientError | None = None, *more: str) -> NoReturn:
    """Say on standard error what is wrong, and end with `code`."""
    reference = f" (reference {error.reference})" if error is not None and error.reference else ""
    click.echo("\n".join(block(text) for text in (sentence + reference, *more)), err=True)
    sys.exit(code)


def connect(typed: Mapping[str, object]) -> tuple[Service, Settings]:
    """The service that options, environment and configuration name, with the person's token. Nothing is sent yet."""
    settings = load(typed, file=config_file())
    token = take_from_environment()
    if token is None:
        try:
            token = Keyring(settings.profile, settings.url).get()
        except KeyringAway as away:
            fail(f"no token: {away} Put one into {VARIABLE}, or sign in with: jobconsole login", SIGN_IN)
    if token is None:
        fail(f"no token: put one into {VARIABLE}, or sign in with: jobconsole login", SIGN_IN)
    return Service(settings.url, SecretStr(token.reveal()), settings.tenant), settings


def as_text(shown: Shown, as_json: bool) -> str:
    """The answer as one text; JSON in ASCII, so that nothing in it can steer a terminal."""
    if not as_json:
        return "\n".join(shown.lines)
    return json.dumps(shown.answer.model_dump(mode="json"), indent=2).replace("\x7f", "\\u007f")


def write(text: str, code: int, *, acted: bool = False) -> NoReturn:
    """Print `text` and end with `code`; a reader that went away (`| head`) is no error.

    Where it cannot be written, end with UNWRITTEN, after saying why on standard error and, where it `acted`, with what
    outcome: whoever sees only the exit code must not take a done act for a refused one.
    """
    try:
        if sys.stdout is None:
            raise OSError("standard output is closed")
        click.echo(text)
        sys.stdout.flush()
    except BrokenPipeError:
        _discard()
    except (OSError, UnicodeError) as error:
        if sys.stdout is not None:
            _discard()
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        outcome = "" if not acted else "It was done; " if code == DONE else "It was not done; "
        told = f"{outcome}the answer could not be written: {line(why)}"
        fail(told[:1].upper() + told[1:], UNWRITTEN)
    sys.exit(code)


def _discard() -> None:
    """What is still buffered goes nowhere, so that the interpreter's own last flush does not fail as well."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


async def _connected(function: Twin, typed: Mapping[str, object], options: Mapping[str, Any]) -> Shown:
    service, settings = connect(typed)
    service.on_checking = lambda _key: click.echo("no answer: unknown, checking", err=True)
    try:
        session = await me(service)
        if service.tenant is None:
            if not session.tenants:
                fail(f"{line(session.person.id)} {IN_NO_TENANT}", REFUSED)
            service.tenant = session.tenants[0].tenant
        return await function(SignedIn(service=service, session=session, settings=settings), **options)
    finally:
        await service.close()
