"""Owns the commands of the switch that stops money, on the owner's connection (MONEY.md 20).

Stopping needs no code, so that whoever runs the server can. Starting again is no command here: it takes a person's code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from jobcontract.ids import REASON_MAX, storable
from jobservice.cli_people import as_owner
from jobservice.settings import StartRefused

if TYPE_CHECKING:
    from jobcontract.plans import Money


@click.group()
def money() -> None:
    """Whether money of a tenant moves (on the server only)."""


@money.command("stop")
@click.argument("tenant", metavar="TENANT")
@click.option("--reason", required=True, help="Why; everybody who watches over money is told it.")
def money_stop(tenant: str, reason: str) -> None:
    """Stop all money of TENANT at once. A person starts it again: jobconsole money start."""
    said = reason.strip()
    if not said or len(said) > REASON_MAX or not storable(said):
        raise StartRefused(f"--reason needs 1 to {REASON_MAX} characters that can be stored.")
    from jobservice.usecases import money as usecase

    if as_owner(lambda database: usecase.stop_on_server(database, tenant=tenant, reason=said)):
        click.echo(f"Money of {tenant} is stopped. A person in finance starts it again: jobconsole money start.")
    else:
        click.echo(f"Money of {tenant} was stopped already. See: jobservice money status {tenant}.")


@money.command("status")
@click.argument("tenant", metavar="TENANT")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of sentences.")
def money_status(tenant: str, as_json: bool) -> None:
    """Whether money of TENANT moves, and what was released."""
    from jobservice.usecases import money as usecase

    found = as_owner(lambda database: usecase.status_on_server(database, tenant=tenant))
    if as_json:
        click.echo(found.model_dump_json(indent=2))
        return
    for line in _lines(tenant, found):
        click.echo(line)


@money.command("reconcile")
@click.option(
    "--person", required=True, metavar="PERSON", help="Who answers for it; plans of what it holds are theirs."
)
@click.option(
    "--days",
    type=click.IntRange(1, 3_660),
    default=7,
    show_default=True,
    help="Ask also about what was released in so many days.",
)
def money_reconcile(person: str, days: int) -> None:
    """Compare with the bank, or whatever is outside, after a backup was restored. Money stays stopped: then start it.

    Asks about every open payout and those released of late. What is paid there and open here is held, with a review
    item; exit code 1 where a question had no answer.
    """
    import sys

    if not _reconcile(person, days):
        sys.exit(1)


def _reconcile(person: str, days: int) -> bool:
    """Print what comparing found; whether every question had an answer."""
    import os

    from jobservice.bootstrap.process import load_application, load_records
    from jobservice.settings import APPLICATION, required
    from jobservice.usecases.reconciling import Reconciling

    application = load_application(required(os.environ, APPLICATION)[APPLICATION])
    records = load_records(application, {})
    accounts = as_owner(
        lambda database: Reconciling(
            database=database, records=records, application=application, person=person, days=days
        ).run()
    )
    for account in accounts:
        for line in account.lines():
            click.echo(_plain(line))
    if any(account.unanswered for account in accounts):
        click.echo("Not every question had an answer: money cannot be started yet. Run this again.")
        return False
    click.echo("Compared. A person in finance starts money again, with a code: jobconsole money start.")
    return True


def _lines(tenant: str, found: Money) -> list[str]:
    from jobservice.rules.limits import amount

    if found.stopped is None:
        lines = [f"Money of {tenant} moves."]
    else:
        by = "on the server" if found.stopped.by is None else f"by {_plain(found.stopped.by.name)}"
        lines = [
            f"Money of {tenant} is stopped since {found.stopped.at:%Y-%m-%d %H:%M:%S} UTC, {by}: "
            f"{_plain(found.stopped.reason)}"
        ]
    for each in found.released:
        lines.append(
            f"{_plain(each.person.name)}: released today {amount(each.today_minor, each.currency)} in "
            f"{each.today_count:,}; confirmed in the last 24 hours {amount(each.day_minor, each.currency)} in "
            f"{each.day_count:,}."
        )
    lines.append(f"{found.uncertain:,} uncertain payouts wait for a person.")
    return lines


def _plain(text: str) -> str:
    """Without control characters: the terminal of whoever runs the server is not the database's to write on."""
    return "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in text)
