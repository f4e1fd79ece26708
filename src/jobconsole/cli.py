"""Owns the command line of the console: the group, its typed options, and the list of commands. Each command is in a
`cli_*` file of its own."""

from __future__ import annotations

import sys
from typing import Any

import click

from jobconsole.cli_console import config, keys, profiles
from jobconsole.cli_doctor import doctor
from jobconsole.cli_sign_in import login, logout
from jobconsole.cli_twins import TWINS
from jobconsole.demo import demo
from jobconsole.opening import open_console

COMMANDS: tuple[click.Command, ...] = (login, logout, profiles, doctor, keys, config, demo, *TWINS)
"""Every command, in the order of the help."""


class _InOrder(click.Group):
    """Lists commands as they were written down, not by the alphabet."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  click's interface
        return list(self.commands)


@click.group(
    cls=_InOrder,
    invoke_without_command=True,
    context_settings={"help_option_names": ["--help", "-h"]},
    epilog="Without a command the console opens. The token is never an argument: it comes from JOBCONSOLE_TOKEN, the "
    "keyring, or a prompt.",
)
@click.option("--profile", "-p", metavar="NAME", help="Which profile of the configuration.")
@click.version_option(package_name="jobconsole")
@click.pass_context
def cli(ctx: click.Context, profile: str | None) -> None:
    """A terminal console for the people who keep work moving."""
    if profile is not None:
        ctx.default_map = _profile_for(cli, profile)
    if ctx.invoked_subcommand is None:
        sys.exit(open_console(profile))


def _profile_for(group: click.Group, profile: str) -> dict[str, Any]:
    """`--profile` before a command's name counts for the command, however deep it stands."""
    return {
        "profile": profile,
        **{
            name: _profile_for(command, profile) if isinstance(command, click.Group) else {"profile": profile}
            for name, command in group.commands.items()
        },
    }


for command in COMMANDS:
    cli.add_command(command)
