"""Owns `login` and `logout`: a token into the keyring and out of it. It is typed hidden, never an argument, and kept
only once the service knew it."""

from __future__ import annotations

import asyncio
import sys
from getpass import getpass

import click
from pydantic import SecretStr

from jobconsole.cli_connection import AWAY, REFUSED, SIGN_IN, USAGE, fail
from jobconsole.cli_console import profile_option, settings_or_exit
from jobconsole.client.errors import ClientError, ConnectionUnfit, ServiceAway, SignInAgain
from jobconsole.client.service import Service
from jobconsole.client.session import me
from jobconsole.present.text import line
from jobconsole.present.times import both
from jobconsole.settings import Settings
from jobconsole.tokens import VARIABLE, WITHOUT_KEYRING, Keyring, KeyringAway, Token
from jobcontract.session import Session


@click.command("login")
@profile_option
@click.option("--url", metavar="URL", help="Address of the service.")
def login(profile: str | None, url: str | None) -> None:
    """Ask for a token, check it with the service, and keep it in the keyring."""
    settings = settings_or_exit(profile, url)
    keyring = Keyring(settings.profile, settings.url)
    try:
        name = keyring.name()
    except KeyringAway as away:
        fail(f"{away} Nothing was asked or stored. {WITHOUT_KEYRING}", SIGN_IN)
    if not typed_at_a_terminal():
        fail(f"A token is typed at a terminal, hidden, and standard input is none. Use {VARIABLE} instead.", USAGE)
    token = Token(getpass(f"Token for {settings.profile} at {line(settings.url)} (hidden): "))
    if not token:
        fail("No token was typed; nothing was stored.", USAGE)
    session = check(settings, token)
    try:
        keyring.keep(token)
    except KeyringAway as away:
        fail(f"{away} The token is good, but it was not stored. {WITHOUT_KEYRING}", REFUSED)
    ends = both(session.token_expires_at, settings.zone)
    click.echo(f"Signed in as {line(session.person.name)}; the token is kept in {name} and ends {ends}.")


@click.command("logout")
@profile_option
@click.option("--url", metavar="URL", help="Address of the service.")
def logout(profile: str | None, url: str | None) -> None:
    """Remove the token from the keyring. It stays valid until it ends or is revoked on the server."""
    settings = settings_or_exit(profile, url)
    try:
        removed = Keyring(settings.profile, settings.url).forget()
    except KeyringAway as away:
        fail(f"{away} There is nothing to remove.", REFUSED)
    click.echo("The token is removed from the keyring." if removed else "The keyring has no token of this profile.")


def typed_at_a_terminal() -> bool:
    """Whether there is a terminal to type a token at."""
    return sys.stdin.isatty()


def check(settings: Settings, token: Token) -> Session:
    """Who the service says the token is; ends the process with a sentence where it does not."""

    async def ask() -> Session:
        service = Service(settings.url, SecretStr(token.reveal()))
        try:
            return await me(service)
        finally:
            await service.close()

    try:
        return asyncio.run(ask())
    except SignInAgain as error:
        fail(f"{error.sentence} Nothing was stored; `jobservice token create` on the server shows a new one.", SIGN_IN)
    except ServiceAway as error:
        fail(f"{error.sentence} Nothing was stored.", AWAY, error)
    except ConnectionUnfit as error:
        fail(str(error), USAGE)
    except ClientError as error:
        fail(error.sentence, REFUSED, error)
