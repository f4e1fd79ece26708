"""Owns the headless twins of stops and of alarms. Each runs the function of `client/` that the screen runs."""

from __future__ import annotations

from typing import Any

import click

from jobconsole.cli_bulk_steering import KEY, REASON, key_or_new
from jobconsole.cli_codes import code_options, typed_code
from jobconsole.cli_connection import EPILOG, Shown, SignedIn, connection_options, hand_down, sure, twin, within
from jobconsole.cli_schedules import more_lines, paged
from jobconsole.client import alarms as alarms_client
from jobconsole.client import stops as client
from jobconsole.present import plain_recoveries as plain
from jobcontract.ids import KEY_MAX, NOTE_MAX, PAGE_MAX
from jobcontract.operating import StopScope
from jobcontract.stops import StopsChanged

SCOPE = click.argument("scope", type=click.Choice([scope.value for scope in StopScope]))
NAME = click.argument("name", callback=within(KEY_MAX))


@click.group("stops", epilog=EPILOG, invoke_without_command=True)
@connection_options
@click.pass_context
def stops(ctx: click.Context, /, **options: Any) -> None:
    """What is held still: a queue, a bulk command, a kind of job, all work of a tenant. Alone: the list."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(stops.commands["list"], **options)
    hand_down(ctx, options)


@stops.command("list", epilog=EPILOG)
@twin
async def list_stops(at: SignedIn) -> Shown:
    """Every stop in force, the latest first."""
    answer = await client.stops(at.service)
    return Shown(answer=answer, lines=plain.stops_lines(answer.stops, at.settings.zone))


@stops.command("stop", epilog=EPILOG)
@SCOPE
@NAME
@REASON
@KEY
@twin
async def stop(at: SignedIn, scope: str, name: str, reason: str, key: str | None) -> Shown:
    """Hold a queue, bulk-command, job-kind or tenant (SCOPE) of that NAME still. What is under way goes on to its end."""
    once = key_or_new(key)
    return _shown(at, await sure(client.stop(at.service, StopScope(scope), name, reason, once), once))


@stops.command("lift", epilog=EPILOG)
@SCOPE
@NAME
@REASON
@KEY
@code_options
@twin
async def lift(at: SignedIn, scope: str, name: str, reason: str, key: str | None, code_from: str | None) -> Shown:
    """Let it go on; what moves money takes a code of yours, who did not stop it."""
    once, of = key_or_new(key), StopScope(scope)
    standing = (await client.stops(at.service)).stops
    held = next((each for each in standing if (each.scope, each.name) == (of, name)), None)
    coded = code_from is not None or (held is not None and held.lifted_by_code)
    code = typed_code(code_from, f"Let {held.title if held is not None else name} go on") if coded else None
    return _shown(at, await sure(client.lift(at.service, of, name, reason, once, code=code), once))


def _shown(at: SignedIn, answer: StopsChanged) -> Shown:
    return Shown(answer=answer, lines=plain.stops_lines(answer.stops, at.settings.zone), acted=True)


@click.group("alarms", epilog=EPILOG, invoke_without_command=True)
@connection_options
@click.pass_context
def alarms(ctx: click.Context, /, **options: Any) -> None:
    """What needs somebody. Alone: the list."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(alarms.commands["list"], limit=100, cursor=None, everything=False, **options)
    hand_down(ctx, options)


@alarms.command("list", epilog=EPILOG)
@paged
@twin
async def list_alarms(at: SignedIn, limit: int, cursor: str | None, everything: bool) -> Shown:
    """Open alarms, the most urgent first; then those that are over, the latest first."""
    page = await alarms_client.alarms(at.service, cursor, PAGE_MAX if everything else limit)
    rows = list(page.alarms)
    while everything and page.next is not None:
        page = await alarms_client.alarms(at.service, page.next, PAGE_MAX)
        rows += page.alarms
    answer = page.model_copy(update={"alarms": tuple(rows)})
    return Shown(answer=answer, lines=[*plain.alarms_lines(rows, at.settings.zone), *more_lines(page.next)])


@alarms.command("acknowledge", epilog=EPILOG)
@click.argument("alarm", callback=within(KEY_MAX))
@click.option("--note", required=True, callback=within(NOTE_MAX), help="What you do about it; everybody reads it.")
@KEY
@twin
async def acknowledge(at: SignedIn, alarm: str, note: str, key: str | None) -> Shown:
    """Say that you look after an ALARM (its id), and what you do."""
    once = key_or_new(key)
    answer = await sure(alarms_client.acknowledge(at.service, alarm, note, once), once)
    return Shown(answer=answer, lines=plain.alarms_lines([answer.alarm], at.settings.zone), acted=True)
