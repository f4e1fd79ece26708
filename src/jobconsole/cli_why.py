"""Owns the headless twins of *why is it not running?*, for a schedule and for an occurrence. Each runs the function of
`client/` that the screen runs."""

from __future__ import annotations

import click

from jobconsole.cli_connection import EPILOG, Shown, SignedIn, twin
from jobconsole.cli_occurrences import OCCURRENCE
from jobconsole.cli_schedules import SCHEDULE
from jobconsole.client import why as client
from jobconsole.present.plain_why import why_lines


@SCHEDULE
@twin
async def schedule_why(at: SignedIn, schedule: str) -> Shown:
    """Why SCHEDULE is not running: one sentence, the causes with their evidence, and what was checked."""
    answer = await client.schedule_why(at.service, schedule)
    return Shown(answer=answer, lines=why_lines(answer, at.settings.zone))


@OCCURRENCE
@twin
async def occurrence_why(at: SignedIn, occurrence: str) -> Shown:
    """Why OCCURRENCE is not running; of SCHEDULE@INSTANT also where there is no occurrence."""
    answer = await client.occurrence_why(at.service, occurrence)
    return Shown(answer=answer, lines=why_lines(answer, at.settings.zone))


SCHEDULE_WHY = click.command("why", epilog=EPILOG)(schedule_why)
OCCURRENCE_WHY = click.command("why", epilog=EPILOG)(occurrence_why)
