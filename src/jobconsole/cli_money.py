"""Owns the headless twins of the switch that stops all money of a tenant: looking, stopping, starting."""

from __future__ import annotations

from typing import Any

import click

from jobconsole.cli_bulk_steering import KEY, REASON, key_or_new
from jobconsole.cli_codes import code_options, typed_code
from jobconsole.cli_connection import EPILOG, Shown, SignedIn, connection_options, hand_down, sure, twin
from jobconsole.client import money as client
from jobconsole.present import plain_plans as plain
from jobcontract.plans import Money


@click.group("money", epilog=EPILOG, invoke_without_command=True)
@connection_options
@click.pass_context
def money(ctx: click.Context, /, **options: Any) -> None:
    """Whether money moves, and stopping it. Alone: the status."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(money.commands["status"], **options)
    hand_down(ctx, options)


@twin
async def status(at: SignedIn) -> Shown:
    """Whether money moves, what each person released, how many payouts are uncertain."""
    return _shown(at, await client.money(at.service), acted=False)


@REASON
@KEY
@twin
async def stop(at: SignedIn, reason: str, key: str | None) -> Shown:
    """Stop all money of the tenant: no item begins any more."""
    once = key_or_new(key)
    return _shown(at, await sure(client.stop_money(at.service, reason, once), once))


@REASON
@KEY
@code_options
@twin
async def start(at: SignedIn, reason: str, key: str | None, code_from: str | None) -> Shown:
    """Let money move again, with a code of another person than the one who stopped it."""
    once = key_or_new(key)
    code = typed_code(code_from, f"Let all money of {at.service.tenant or 'the tenant'} move again")
    return _shown(at, await sure(client.start_money(at.service, reason, code, once), once))


def _shown(at: SignedIn, answer: Money, *, acted: bool = True) -> Shown:
    return Shown(answer=answer, lines=plain.money_lines(answer, at.settings.zone), acted=acted)


for _name, _callback in (("status", status), ("stop", stop), ("start", start)):
    money.add_command(click.command(_name, epilog=EPILOG)(_callback))
