"""Owns `jobconsole demo`: the example on this machine, with the console in front of it or the walk through it.

Starts the service as a process of its own and stops it at the end. Never touches another service or configuration.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import shutil
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import click

from jobconsole.app import Console
from jobconsole.client.service import Service
from jobconsole.commands.keymap import KeymapError, keymap_of
from jobconsole.demo_backstage import Backstage
from jobconsole.demo_desk import AUDITOR, FIRST, OPERATOR, PUSHER, SECOND, SUPPORT
from jobconsole.demo_money import JOINED, Till
from jobconsole.demo_service import DemoFailed, DemoPerson, DemoService, checkout, temporary_folder
from jobconsole.demo_walk import walk
from jobconsole.opening import refusal
from jobconsole.paths import config_file
from jobconsole.settings import SettingsError, load
from jobconsole.tokens import Token, take_from_environment

PERSON = "m.ito"
TENANT = "leeds"
CAST: Mapping[str, str] = {
    FIRST: PERSON,
    SECOND: "k.rao",
    AUDITOR: "auditor",
    PUSHER: "pusher",
    OPERATOR: "operator",
    SUPPORT: "support",
}
"""Who plays which part of the walk: a person, or whoever has that role."""
WALK_LEASE = "claims.lease=PT2S"
COVER_MINUTES = 60
"""Later than elsewhere: a made-up person has no token to type when the cover asks for it."""


@click.command("demo")
@click.option("--headless", is_flag=True, help="Walk through the main job without a terminal, and say each outcome.")
@click.option(
    "--env",
    "environment",
    is_flag=True,
    help='For scripts: eval "$(jobconsole demo --env)" signs the shell in to the demo that runs.',
)
@click.option("--as", "person", default=PERSON, show_default=True, metavar="PERSON", help="Who to be.")
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Where the demo keeps its content; else its own place.",
)
def demo(headless: bool, environment: bool, person: str, data: Path | None) -> None:
    """Try the console on an example: starts a service of its own, and stops it at the end.

    Where one runs already, this is a second console on it: `demo --as k.rao` is a colleague of `demo`.

    Without a terminal it walks through the main job instead. Exit codes: 0 done, 1 something differs, 3 no service.
    """
    take_from_environment()  # the demo has tokens of its own; nobody's real one goes along
    try:
        if environment:
            sys.exit(tell_environment(person, data))
        if headless or refusal((sys.stdin.isatty(), sys.stderr.isatty()), os.environ) is not None:
            sys.exit(run_walk(data))
        sys.exit(run_console(person, data))
    except DemoFailed as failed:
        click.echo(str(failed), err=True)
        sys.exit(3)
    except (SettingsError, KeymapError) as wrong:
        click.echo(str(wrong), err=True)
        sys.exit(2)


def tell_environment(person: str, data: Path | None) -> int:
    """Print what points the twins at the demo that runs, as the shell reads it, and lets it find them by name; 0. Never
    onto a terminal: a token."""
    if sys.stdout.isatty():
        raise DemoFailed('This prints a token, so not onto a terminal. Type: eval "$(jobconsole demo --env)"')
    service = DemoService.start(data=data)
    try:
        if service.process is not None:
            raise DemoFailed("No demo runs. Start one in another terminal: jobconsole demo")
        wanted = service.person(person)
        click.echo(f"export JOBCONSOLE_URL={service.url}")
        click.echo(f"export JOBCONSOLE_TOKEN={wanted.token.get_secret_value()}")
        click.echo(f'export PATH={shlex.quote(str(Path(sys.executable).parent))}:"$PATH"')
        return 0
    finally:
        service.stop()


def run_walk(data: Path | None) -> int:
    """Start everything in a fresh folder (or `data`), walk, stop everything; 0, or 1 where an outcome differs."""
    folder = temporary_folder() if data is None else data
    good = False
    try:
        click.echo("Starting embedded PostgreSQL, the API, the Worker and the payments example; claims last 2 s.")
        service = DemoService.start(data=folder / "demo" if data is None else folder, assignments=(WALK_LEASE,))
        if service.process is None:
            raise DemoFailed(f"A demo already runs in {folder}: leave it first, or walk with another --data.")
        try:
            good = asyncio.run(_walk(service))
        finally:
            try:
                service.stop()
            except DemoFailed as failed:
                good = False
                click.echo(str(failed), err=True)
    finally:
        if data is None:
            shutil.rmtree(folder, ignore_errors=True)
    gone = data is not None or not folder.exists()
    click.echo("Everything is stopped" + (f"; {folder} is kept." if data is not None else ", its folder removed."))
    click.echo("All as it must be." if good and gone else "Not as it must be.")
    return 0 if good and gone else 1


def run_console(person: str, data: Path | None) -> int:
    """Start everything, open the console signed in as `person`, stop everything; the console's exit status."""
    settings = load({}, file=config_file())
    keymap = keymap_of(settings)
    service = DemoService.start(data=data, waiting=_tell)
    _tell(None)
    try:
        wanted = service.person(person)
        tenant = TENANT if TENANT in wanted.tenants else next(iter(wanted.tenants), None)
        settings = replace(
            settings,
            profile="demo",
            url=service.url,
            tenant=tenant,
            production=False,
            read_only=False,
            cover_minutes=COVER_MINUTES,
        )
        console = Console(settings, keymap, token=Token(wanted.token.get_secret_value()))
        console.run()
        code = console.return_code or 0
    finally:
        if service.process is not None:
            _say("Stopping the service …", err=True)
        service.stop()
    if service.process is None:
        _say("This was a second console; the demo lives as long as the console that started it.")
        return code
    _say(f"The demo's content stays in {service.data} for the next time.")
    _say(f"To remove it: rm -r {service.data}")
    return code


def _say(sentence: str, *, err: bool = False) -> None:
    """Onto the terminal, if it is still there: one that hung up must not keep the service from being stopped."""
    with contextlib.suppress(OSError):
        click.echo(sentence, err=err)


async def _walk(service: DemoService) -> bool:
    people = {part: _played_by(service, who) for part, who in CAST.items()}
    desks = {part: Service(service.url, person.token, TENANT) for part, person in people.items()}
    joined = Service(service.url, service.person(JOINED).token, TENANT)
    backstage = Backstage(
        url=service.url,
        bank=service.bank,
        tenant=TENANT,
        feed=people[PUSHER].token,
        data=service.data,
        log=service.log,
        checkout=checkout(),
    )
    try:
        return await walk(desks, click.echo, Till(backstage=backstage, joined=joined))
    finally:
        for desk in (*desks.values(), joined):
            await desk.close()


def _played_by(service: DemoService, who: str) -> DemoPerson:
    """The person of that id, else the first of that role in the walk's tenant."""
    for person in service.people:
        if TENANT in person.tenants and who in (person.person, person.role):
            return person
    return service.person(who)


def _tell(seconds: float | None) -> None:
    """One line on the terminal while the service starts; None wipes it."""
    text = "" if seconds is None else f"Starting the demo, or joining the one that runs … {seconds:.0f} s"
    click.echo(f"\r{text:<60}" + ("\r" if seconds is None else ""), nl=False, err=True)
