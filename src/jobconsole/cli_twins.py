"""Owns the list of headless twins that the command line offers, and the smallest one: `whoami`."""

from __future__ import annotations

import click

from jobconsole.cli_audit import audit
from jobconsole.cli_bulk import bulk
from jobconsole.cli_connection import EPILOG, Shown, SignedIn, twin
from jobconsole.cli_find import find
from jobconsole.cli_jobs import jobs
from jobconsole.cli_money import money
from jobconsole.cli_occurrence_acts import OCCURRENCE_ACTS, WORKER_ACTS
from jobconsole.cli_occurrences import occurrences, workers
from jobconsole.cli_overview import overview
from jobconsole.cli_queues import queues
from jobconsole.cli_recoveries import recoveries
from jobconsole.cli_schedule_acts import SCHEDULE_ACTS
from jobconsole.cli_schedules import schedules
from jobconsole.cli_simulation import SIMULATE
from jobconsole.cli_stops import alarms, stops
from jobconsole.cli_timeline import timeline
from jobconsole.cli_why import OCCURRENCE_WHY, SCHEDULE_WHY
from jobconsole.present import plain


@click.command("whoami", epilog=EPILOG)
@twin
async def whoami(at: SignedIn) -> Shown:
    """Who you are signed in as, where, and what you may do."""
    return Shown(answer=at.session, lines=plain.session_lines(at.session, at.settings.zone))


for _group, _acts in ((schedules, SCHEDULE_ACTS), (occurrences, OCCURRENCE_ACTS), (workers, WORKER_ACTS)):
    for _name, _callback in _acts:
        _group.add_command(click.command(_name, epilog=EPILOG)(_callback))

schedules.add_command(SCHEDULE_WHY)
schedules.add_command(SIMULATE)
occurrences.add_command(OCCURRENCE_WHY)

TWINS: tuple[click.Command, ...] = (
    overview,
    queues,
    bulk,
    money,
    schedules,
    occurrences,
    workers,
    recoveries,
    jobs,
    find,
    stops,
    alarms,
    audit,
    timeline,
    whoami,
)
"""Every headless twin, for `cli.py` to add."""
