"""Owns the commands about the console itself: its configuration, its profiles, its keys. They ask no service."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import click

from jobconsole.commands.catalogue import COMMANDS
from jobconsole.commands.keymap import KeymapError, clashes, keymap_of
from jobconsole.paths import config_file
from jobconsole.present.text import line
from jobconsole.settings import SETTINGS, Settings, SettingsError, load

FAULT = 2
"""Exit status where the configuration cannot be used."""

AnyCommand = Callable[..., Any]


def profile_option(command: AnyCommand) -> AnyCommand:
    """`--profile NAME`, also taken from before the command's name."""
    return click.option("--profile", "-p", metavar="NAME", help="Which profile of the configuration.")(command)


def settings_or_exit(profile: str | None, url: str | None = None) -> Settings:
    """The settings; every fault is said on standard error and ends the process with 2."""
    try:
        return load({"profile": profile, "url": url}, file=config_file())
    except SettingsError as error:
        click.echo(line_by_line(error), err=True)
        sys.exit(FAULT)


def line_by_line(error: Exception) -> str:
    """The faults of `error`, one a line, made safe for a terminal: a file's content is in them."""
    return "\n".join(line(fault) for fault in str(error).splitlines())


@click.group("config")
def config() -> None:
    """The configuration of the console."""


@config.command("show")
@profile_option
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def show(profile: str | None, as_json: bool) -> None:
    """Each value and where it came from."""
    settings = settings_or_exit(profile)
    rows = [(setting.name, settings.sources[setting.name], setting.help) for setting in SETTINGS]
    if as_json:
        values = {name: {"value": sourced.value, "source": sourced.source} for name, sourced, _ in rows}
        click.echo(
            json.dumps(
                {
                    "file": str(settings.file),
                    "settings": values,
                    "keymap": dict(settings.keymap),
                    "themes": {theme.name: {"base": theme.base, **theme.colours} for theme in settings.themes},
                },
                indent=2,
            )
        )
        return
    present = "" if settings.file.exists() else " (not there yet)"
    click.echo(f"file {settings.file}{present}\n")
    for name, sourced, about in rows:
        value = "–" if sourced.value is None else json.dumps(sourced.value, ensure_ascii=False).strip('"')
        click.echo(f"{name:<16}{line(value):<28}{line(sourced.source)}")
        click.echo(f"{'':<16}{about}")
    for command, keys_text in settings.keymap.items():
        click.echo(f"keymap          {line(command)} = {line(keys_text)}{_at(settings.keymap_lines.get(command))}")
    for theme in settings.themes:
        changed = ", ".join(theme.colours) or "nothing"
        click.echo(f"theme           {theme.name}: {theme.base} with {changed} changed")


def _at(number: int | None) -> str:
    return "" if number is None else f"  (line {number})"


@click.command("profiles")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def profiles(as_json: bool) -> None:
    """The profiles of the configuration."""
    first = settings_or_exit(None)
    each = [settings_or_exit(name) for name in first.profiles or (first.profile,)]
    if as_json:
        rows = [
            {
                "name": settings.profile,
                "url": settings.url,
                "tenant": settings.tenant,
                "read_only": settings.read_only,
                "production": settings.production,
                "used": settings.profile == first.profile,
            }
            for settings in each
        ]
        click.echo(json.dumps({"profiles": rows}, indent=2))
        return
    for settings in each:
        used = "▸" if settings.profile == first.profile else " "
        marks = " ".join(
            word for word, on in (("PRODUCTION", settings.production), ("READ-ONLY", settings.read_only)) if on
        )
        click.echo(
            f"{used} {settings.profile:<16}{line(settings.url)}  {line(settings.tenant or '')}  {marks}".rstrip()
        )


@click.command("keys")
@profile_option
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def keys(profile: str | None, as_json: bool) -> None:
    """Every command with its keys, and clashes in your keymap (exit status 1)."""
    settings = settings_or_exit(profile)
    try:
        keymap = keymap_of(settings)
    except KeymapError as error:
        click.echo(line_by_line(error), err=True)
        sys.exit(1)
    if as_json:
        rows = [
            {
                "id": command.id,
                "title": command.title,
                "keys": keymap[command.id],
                "default": command.keys,
                "places": command.places,
                "danger": command.danger,
                "permission": command.permission,
                "twin": command.twin,
                "help": command.help,
            }
            for command in COMMANDS
        ]
        click.echo(json.dumps({"keys": rows, "clashes": [str(clash) for clash in clashes(keymap)]}, indent=2))
        return
    for command in COMMANDS:
        shown = " ".join(keymap[command.id]) or "none"
        own = " (yours)" if keymap[command.id] != command.keys else ""
        where = ", ".join(command.places) or f"everywhere{''.join(f' but {place}' for place in command.yields)}"
        click.echo(f"{command.id:<18}{shown + own:<24}{command.title:<30}{where}")
