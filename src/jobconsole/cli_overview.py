"""Owns the headless twin of the overview. It runs the function of `client/` that the screen runs."""

from __future__ import annotations

import click

from jobconsole.cli_connection import EPILOG, Shown, SignedIn, twin
from jobconsole.client import overview as client
from jobconsole.present.plain_overview import overview_lines


@click.command("overview", epilog=EPILOG)
@twin
async def overview(at: SignedIn) -> Shown:
    """What needs somebody now: schedules, dead letters, alarms, stops, Workers, queues, and the last day by hour."""
    answer = await client.overview(at.service)
    return Shown(answer=answer, lines=overview_lines(answer, at.settings.zone))
