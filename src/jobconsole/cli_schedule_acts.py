"""Owns the headless twins that act on one schedule, and its runbooks. Each runs the function of `client/` that the dialog
runs; each act takes a reason and a key."""

from __future__ import annotations

import click

from jobconsole.cli_bulk_steering import KEY, REASON, key_or_new
from jobconsole.cli_connection import USAGE, Shown, SignedIn, fail, sure, twin, why
from jobconsole.cli_schedules import SCHEDULE, instant_of
from jobconsole.client import acts as client
from jobconsole.client import runbooks as runbooks_client
from jobconsole.client import schedules as schedules_client
from jobconsole.present import plain_acts as plain


def _why_if_said(ctx: click.Context, parameter: click.Parameter, text: str | None) -> str | None:
    return None if text is None else why(ctx, parameter, text)


@SCHEDULE
@REASON
@KEY
@twin
async def run(at: SignedIn, schedule: str, reason: str, key: str | None) -> Shown:
    """Run a manual SCHEDULE now, under its guard: the occurrence that was made."""
    once = key_or_new(key)
    answer = await sure(client.run_schedule(at.service, schedule, reason, once), once)
    return Shown(answer=answer, lines=plain.made_lines(answer.occurrence, at.settings.zone), acted=True)


@SCHEDULE
@REASON
@click.option("--until", metavar="WHEN", help="Enable it by itself then: +2h, tomorrow 9:00; else a person does.")
@KEY
@twin
async def disable(at: SignedIn, schedule: str, reason: str, until: str | None, key: str | None) -> Shown:
    """Disable a SCHEDULE: nothing of it starts any more; what runs goes on to its end."""
    once, ends = key_or_new(key), instant_of(at, "--until", until)
    answer = await sure(client.disable_schedule(at.service, schedule, reason, once, ends), once)
    return Shown(answer=answer, lines=plain.schedule_lines(answer.schedule, at.settings.zone), acted=True)


@SCHEDULE
@click.option("--reason", callback=_why_if_said, help="Why; needed unless --dry-run.")
@click.option("--dry-run", is_flag=True, help="Only say what it would make up for and skip.")
@KEY
@twin
async def enable(at: SignedIn, schedule: str, reason: str | None, dry_run: bool, key: str | None) -> Shown:
    """Enable a SCHEDULE again; --dry-run says what it would make up for, and changes nothing."""
    once = key_or_new(key)
    if dry_run:
        told = await client.enabling(at.service, schedule)
        found = (await schedules_client.schedule(at.service, schedule)).schedule
        return Shown(answer=told, lines=plain.enabling_lines(told, found.disabled, at.settings.zone))
    if reason is None:
        fail("Say why with --reason, or look first with --dry-run.", USAGE)
    answer = await sure(client.enable_schedule(at.service, schedule, reason, once), once)
    return Shown(answer=answer, lines=plain.schedule_lines(answer.schedule, at.settings.zone), acted=True)


@SCHEDULE
@twin
async def runbook(at: SignedIn, schedule: str) -> Shown:
    """How a SCHEDULE is inspected, replayed and disabled: steps, interface, who may; and what was done before."""
    answer = await runbooks_client.runbooks(at.service, schedule)
    return Shown(answer=answer, lines=plain.runbooks_lines(answer, at.settings.zone))


SCHEDULE_ACTS = (("run", run), ("disable", disable), ("enable", enable), ("runbook", runbook))
"""For the group `schedules`."""
