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
