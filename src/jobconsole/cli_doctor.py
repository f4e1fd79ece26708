"""Owns `doctor`: what of this machine, terminal and configuration would trouble the console, each with what to do."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

import click
import httpx
from pydantic import SecretStr

from jobconsole import clipboard
from jobconsole.cli_console import line_by_line, profile_option, settings_or_exit
from jobconsole.client.errors import ClientError, ConnectionUnfit
from jobconsole.client.service import Service
from jobconsole.client.session import me
from jobconsole.client.wiring import check_address
from jobconsole.commands.keymap import KeymapError, keymap_of
from jobconsole.present.link import age
from jobconsole.present.text import line
from jobconsole.screens.too_small import LEAST
from jobconsole.settings import Settings
from jobconsole.tokens import VARIABLE, WITHOUT_KEYRING, Keyring, KeyringAway, Token, take_from_environment
from jobcontract.routes import HEALTH
from jobcontract.session import Session

SKEW_SECONDS = 30.0
"""From here on this machine's clock is said to be wrong."""
ESCAPE_MS = 100
"""Longest escape-time of tmux that goes unmentioned."""
SOON_HOURS = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One line of the doctor. `advice` says what to do where it is a problem, or could be better."""

    about: str
    ok: bool
    sentence: str
    advice: str = ""


@click.command("doctor")
@profile_option
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def doctor(profile: str | None, as_json: bool) -> None:
    """Check terminal, keys, keyring, service, clock and token; exit status 1 where something is a problem."""
    settings = settings_or_exit(profile)
    found = [*_terminal(os.environ), _tmux(os.environ), _clipboard(), _keymap(settings), *_service(settings)]
    if as_json:
        click.echo(json.dumps({"findings": [asdict(finding) for finding in found]}, indent=2))
    else:
        for finding in found:
            click.echo(f"{'✓ ok     ' if finding.ok else '✗ problem'}  {finding.about:<10} {line(finding.sentence)}")
            if finding.advice:
                click.echo(f"{'':23}{finding.advice}")
    sys.exit(0 if all(finding.ok for finding in found) else 1)


def _terminal(environ: Mapping[str, str]) -> Iterator[Finding]:
    size = shutil.get_terminal_size(fallback=(0, 0))
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        advice = "Commands by name work without one: see `jobconsole --help`."
        yield Finding(about="terminal", ok=False, sentence="Standard input or error is no terminal.", advice=advice)
    elif environ.get("TERM", "") in {"", "dumb"}:
        advice = "Set TERM to what your terminal is, e.g. xterm-256color."
        yield Finding(about="terminal", ok=False, sentence="TERM says that it cannot be painted.", advice=advice)
    else:
        fits = size.columns >= LEAST.width and size.lines >= LEAST.height
        advice = "" if fits else f"Make it at least {LEAST.width}x{LEAST.height}; 80x24 is comfortable."
        yield Finding(
            about="terminal", ok=fits, sentence=f"{size.columns}x{size.lines}, {environ['TERM']}.", advice=advice
        )
    yield _colours(environ)


def _colours(environ: Mapping[str, str]) -> Finding:
    if environ.get("NO_COLOR"):
        return Finding(about="colours", ok=True, sentence="NO_COLOR is set: greys only, signs and words stay.")
    if environ.get("COLORTERM", "") in {"truecolor", "24bit"}:
        return Finding(about="colours", ok=True, sentence="Full colour.")
    count = "256" if "256" in environ.get("TERM", "") else "16"
    advice = "If your terminal has more, set COLORTERM=truecolor."
    return Finding(about="colours", ok=True, sentence=f"{count} colours.", advice=advice)


def _tmux(environ: Mapping[str, str]) -> Finding:
    if not environ.get("TMUX"):
        return Finding(about="escape", ok=True, sentence="Not inside tmux: escape takes about 0.1 s.")
    try:
        asked = subprocess.run(
            ["tmux", "show-options", "-sv", "escape-time"],  # noqa: S607  the tmux that one is in
            capture_output=True,
            text=True,
            timeout=2,
            check=False,
        )
        delay = int(asked.stdout.strip())
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return Finding(about="escape", ok=True, sentence="Inside tmux, which does not tell its escape-time.")
    advice = "" if delay <= ESCAPE_MS else "Backspace and q go back at once; or: tmux set -s escape-time 10"
    return Finding(about="escape", ok=True, sentence=f"Inside tmux: escape waits {delay} ms.", advice=advice)


def _clipboard() -> Finding:
    command = clipboard.local_tool()
    if command is not None:
        return Finding(about="clipboard", ok=True, sentence=f"{command[0]}, and the terminal (OSC 52).")
    advice = "If nothing arrives, allow OSC 52 in it (tmux: set -s set-clipboard on)."
    return Finding(about="clipboard", ok=True, sentence="The terminal alone (OSC 52).", advice=advice)


def _keymap(settings: Settings) -> Finding:
    try:
        keymap_of(settings)
    except KeymapError as error:
        return Finding(
            about="keys", ok=False, sentence=line_by_line(error), advice=f"Change [keymap] in {settings.file}."
        )
    own = len(settings.keymap)
    return Finding(about="keys", ok=True, sentence=f"No clashes; {own} of your own." if own else "No clashes.")


def _service(settings: Settings) -> Iterator[Finding]:
    token = take_from_environment()
    if token is not None:
        yield Finding(about="token", ok=True, sentence=f"From {VARIABLE}.")
    else:
        finding, token = _keyring(settings)
        yield finding
    if token is None:
        yield _reachable(settings)
        return
    try:
        session, skew = asyncio.run(_ask(settings, token))
    except ClientError as error:
        advice = "See `jobconsole config show` for the address; `jobconsole login` for another token."
        yield Finding(about="service", ok=False, sentence=error.sentence, advice=advice)
        return
    yield Finding(about="service", ok=True, sentence=f"{settings.url} answers ({session.deployment}).")
    yield _skew(skew)
    yield _life(session)


def _reachable(settings: Settings) -> Finding:
    """Whether something answers at the address, without a token."""
    try:
        answer = httpx.get(check_address(settings.url).join(HEALTH.path), timeout=5.0, follow_redirects=False)
    except ConnectionUnfit as error:
        return Finding(about="service", ok=False, sentence=error.sentence, advice="Change url in your configuration.")
    except httpx.HTTPError as error:
        sentence = f"{settings.url} does not answer ({type(error).__name__})."
        return Finding(about="service", ok=False, sentence=sentence, advice="Is the address right, and does it run?")
    sentence = f"{settings.url} answers with {answer.status_code}; who you are was not asked."
    return Finding(about="service", ok=answer.status_code == httpx.codes.OK, sentence=sentence)


def _keyring(settings: Settings) -> tuple[Finding, Token | None]:
    keyring = Keyring(settings.profile, settings.url)
    try:
        name, token = keyring.name(), keyring.get()
    except KeyringAway as away:
        return Finding(about="keyring", ok=False, sentence=str(away), advice=WITHOUT_KEYRING), None
    if token is None:
        sentence = f"{name} has no token of profile {settings.profile}."
        return Finding(about="keyring", ok=False, sentence=sentence, advice="Sign in with: jobconsole login"), None
    return Finding(about="keyring", ok=True, sentence=f"{name} has the token."), token


async def _ask(settings: Settings, token: Token) -> tuple[Session, float]:
    """The session, and how many seconds this machine's clock is ahead of the service's."""
    service = Service(settings.url, SecretStr(token.reveal()), settings.tenant)
    try:
        session = await me(service)
        now = service.clock.server_now() or session.now
        return session, (datetime.now(UTC) - now).total_seconds()
    finally:
        await service.close()


def _skew(seconds: float) -> Finding:
    side = "ahead of" if seconds > 0 else "behind"
    if abs(seconds) < SKEW_SECONDS:
        return Finding(about="clock", ok=True, sentence=f"Within {abs(seconds):.1f} s of the service's.")
    advice = "The console counts by the service's clock; other programs of yours do not. Set this machine's clock."
    return Finding(about="clock", ok=False, sentence=f"{age(abs(seconds))} {side} the service's.", advice=advice)


def _life(session: Session) -> Finding:
    left = (session.token_expires_at - session.now).total_seconds()
    who = f"{session.person.id}; the token ends in {age(left)}."
    soon = left < SOON_HOURS * 3_600
    return Finding(about="sign-in", ok=True, sentence=who, advice="Ask for a new one soon." if soon else "")
