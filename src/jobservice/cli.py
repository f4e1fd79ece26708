"""Owns the service's command line: its processes and its checks. People and tokens are in `cli_people.py`.

A command imports what it runs when it runs, so that `--help` and `check` start fast. A failure is sentences on stderr
and exit code 1, never a traceback.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from jobcontract.errors import Refusal
from jobservice import __version__
from jobservice.cli_audit import audit
from jobservice.cli_codes import keyring, phone, totp
from jobservice.cli_money import money
from jobservice.cli_people import person, tenant, token
from jobservice.cli_purge import purge
from jobservice.cli_views import views
from jobservice.settings import APPLICATION, DATABASE_URL, ProcessSettings, StartRefused, required

SET = click.option(
    "--set",
    "assignments",
    multiple=True,
    metavar="ID=VALUE",
    help="A setting's value in this process alone, like claims.lease=PT2S. Repeatable.",
)
UNTIL_STDIN_CLOSES = click.option(
    "--until-stdin-closes", is_flag=True, help="Also end when standard input ends, as when the starter is gone."
)


class Sentences(click.Group):
    """A group whose refusals are sentences on stderr and exit code 1."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that was typed."""
        try:
            return super().invoke(ctx)
        except StartRefused as refused:
            sentences = refused.sentences
        except Refusal as refusal:
            sentences = (refusal.detail,)
        for sentence in sentences:
            click.echo(f"jobservice: {sentence}", err=True)
        ctx.exit(1)


@click.group(cls=Sentences, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="jobservice")
def commands() -> None:
    """The job service on PostgreSQL: its processes, its people, its checks."""


commands.add_command(tenant)
commands.add_command(person)
commands.add_command(token)
commands.add_command(totp)
commands.add_command(keyring)
commands.add_command(phone)
commands.add_command(money)
commands.add_command(audit)
commands.add_command(purge)
commands.add_command(views)


def listening_options(function: Callable[..., None]) -> Callable[..., None]:
    """Where the API listens, and who ends TLS."""
    for option in reversed(
        (
            click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on."),
            click.option(
                "--port", default=8414, show_default=True, type=click.IntRange(0, 65535), help="0 = any free."
            ),
            click.option("--tls-cert", type=click.Path(path_type=Path), help="Certificate chain, PEM."),
            click.option("--tls-key", type=click.Path(path_type=Path), help="Private key, PEM."),
            click.option("--behind-tls-proxy", is_flag=True, help="A proxy on the way ends TLS."),
            click.option("--descriptor", type=int, hidden=True, help="A listening socket of the starter."),
        )
    ):
        function = option(function)
    return function


@commands.command()
@listening_options
@SET
@UNTIL_STDIN_CLOSES
def api(
    host: str,
    port: int,
    tls_cert: Path | None,
    tls_key: Path | None,
    behind_tls_proxy: bool,
    descriptor: int | None,
    assignments: tuple[str, ...],
    until_stdin_closes: bool,
) -> None:
    """Serve the HTTP API, under the database role jobs_api."""
    settings = ProcessSettings.read(os.environ, keyring=True)
    import uvloop

    from jobservice import logs
    from jobservice.bootstrap.api import Listening, run_api
    from jobservice.bootstrap.process import parse_overrides

    logs.configure()
    listening = Listening(
        host=host,
        port=port,
        certificate=tls_cert,
        key=tls_key,
        behind_tls_proxy=behind_tls_proxy,
        descriptor=descriptor,
    )
    uvloop.run(run_api(settings, listening, parse_overrides(assignments), until_stdin_closes=until_stdin_closes))


@commands.command()
@SET
@UNTIL_STDIN_CLOSES
def worker(assignments: tuple[str, ...], until_stdin_closes: bool) -> None:
    """Run the background duties, under the database role jobs_worker."""
    settings = ProcessSettings.read(os.environ, keyring=False)
    import uvloop

    from jobservice import logs
    from jobservice.bootstrap.process import parse_overrides
    from jobservice.bootstrap.worker import run_worker

    logs.configure()
    uvloop.run(run_worker(settings, parse_overrides(assignments), until_stdin_closes=until_stdin_closes))


@commands.command()
@click.option("--data", type=click.Path(path_type=Path), help="Folder of the embedded PostgreSQL and of the demo.")
@click.option("--port", default=0, show_default=True, type=click.IntRange(0, 65535), help="0 = any free.")
@click.option(
    "--application",
    envvar=APPLICATION,
    default="examples.payments:application",
    show_default=True,
    metavar="MODULE:NAME",
)
@SET
@UNTIL_STDIN_CLOSES
def dev(data: Path | None, port: int, application: str, assignments: tuple[str, ...], until_stdin_closes: bool) -> None:
    """Run everything on this machine: embedded PostgreSQL, demo people, API and Worker as processes of their own."""
    from jobservice import logs

    logs.configure()
    try:
        from jobservice.bootstrap.dev import Dev, run_dev
    except ModuleNotFoundError as error:
        raise StartRefused(
            f"{error.name} is not installed, which the embedded PostgreSQL needs. Install jobconsole[service,embedded]."
        ) from error
    asyncio.run(
        run_dev(
            Dev(data=data, port=port, application=application, assignments=assignments),
            until_stdin_closes=until_stdin_closes,
        )
    )


@commands.command()
def migrate() -> None:
    """Bring the database to this release's version, on its owner's connection. Where JOBSERVICE_APPLICATION is set, its
    kinds of background jobs get their tables, too."""
    url = required(os.environ, DATABASE_URL)[DATABASE_URL]
    from jobservice.bootstrap import process
    from jobservice.migrate import migrate as run
    from jobservice.store.revisions import code_version

    name = os.environ.get(APPLICATION)
    families = process.families_of(process.load_records(process.load_application(name), {})) if name else frozenset()
    migrated = run(url, families=families)
    for role in migrated.roles:
        click.echo(f"Made the role {role}, without a password: give it one, or another way to log in.")
    for name in migrated.applied:
        click.echo(f"Applied {name}.")
    for family in migrated.families:
        click.echo(f"Made the tables for jobs of {family}.")
    click.echo(f"The database is at version {code_version()}.")


@commands.command()
@click.argument("folder", metavar="RECORDS", type=click.Path(path_type=Path))
@click.option(
    "--application",
    envvar=APPLICATION,
    metavar="MODULE:NAME",
    help="Compare with what it registers. Without it: `application` of the package that holds the folder, if any.",
)
def check(folder: Path, application: str | None) -> None:
    """Check a folder of records: code, file, line, sentence for each finding; exit code 1 where there is one."""
    from jobservice.bootstrap.checking import check_records

    report = check_records(folder, application)
    for line in report.lines:
        click.echo(line)
    sys.exit(report.exit_code)
