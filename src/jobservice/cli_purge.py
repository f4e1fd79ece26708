"""Owns the command that removes what is past its retention, under the database role of its own (MONEY.md 31).

It says what went and what stays; a signal ends it after the batch it is at, and the next run goes on there.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from jobservice.settings import APPLICATION, DATABASE_URL, SEALS, StartRefused, required

if TYPE_CHECKING:
    from jobservice.delivery.heads import Heads
    from jobservice.store.database import Database
    from jobservice.usecases.purge import Keeping, Purged

ROLE = "jobs_purge"


@click.command("purge")
@click.option("--dry-run", is_flag=True, help="Only say what would go.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of sentences.")
@click.option(
    "--seals",
    "folder",
    envvar=SEALS,
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help=f"Compare the trail also with the heads in this folder before any of it goes. From {SEALS} where that is set.",
)
@click.option(
    "--set",
    "assignments",
    multiple=True,
    metavar="ID=VALUE",
    help="A retention in this run alone, like jobs.keep=P30D. Repeatable.",
)
def purge(dry_run: bool, as_json: bool, folder: Path | None, assignments: tuple[str, ...]) -> None:
    """Remove what is past its retention, under the database role jobs_purge: jobs, plans, recoveries, keys, notices, alarms, the trail."""
    values = required(os.environ, DATABASE_URL, APPLICATION)
    from jobservice.bootstrap.process import load_application, load_records, parse_overrides
    from jobservice.delivery.heads import Heads
    from jobservice.usecases.purge import Keeping

    if folder is not None and not folder.is_dir():
        raise StartRefused(f"There is no folder {folder}: --seals names the one that a Worker writes heads into.")
    records = load_records(load_application(values[APPLICATION]), parse_overrides(assignments))
    keeping = Keeping.of(records.settings)
    heads = None if folder is None else Heads(folder=folder)
    purged, whole = asyncio.run(_purge(values, keeping, heads, dry_run=dry_run))
    for line in [_json(purged, whole, dry_run)] if as_json else _lines(purged, keeping, whole, dry_run):
        click.echo(line)
    if not whole:
        sys.exit(1)


async def _purge(
    values: Mapping[str, str], keeping: Keeping, heads: Heads | None, *, dry_run: bool
) -> tuple[Purged, bool]:
    """What went (or would), and whether the run came to its end."""
    from jobservice.bootstrap.process import reach
    from jobservice.store.database import Database

    await reach(values[DATABASE_URL])
    database = await Database.open(values[DATABASE_URL], name="jobservice purge", most=2)
    try:
        return await _as_purge(database, keeping, heads, dry_run=dry_run)
    finally:
        await database.close()


async def _as_purge(database: Database, keeping: Keeping, heads: Heads | None, *, dry_run: bool) -> tuple[Purged, bool]:
    from jobservice.store.purge import alone
    from jobservice.store.revisions import code_version
    from jobservice.usecases.deployment import check_login
    from jobservice.usecases.purge import Purging, TrailBroken, would_purge

    findings = await check_login(database, service_role=ROLE, version=code_version())
    if findings:
        raise StartRefused(*findings)
    if dry_run:
        return await would_purge(database, keeping), True
    session = await database.connect()
    try:
        if not await alone(session):
            raise StartRefused("Another purge is running on this database. Let it end, or stop it, and run this again.")
        stop = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        purging = Purging(database=database, keeping=keeping, heads=heads, stopping=stop.is_set)
        try:
            await purging.run()
        except TrailBroken as broken:
            raise StartRefused(
                f"The trail is not as it was sealed, and nothing of it was removed: {broken}",
                "Keep this database and the heads as they are, and run: jobservice audit verify.",
                *([] if not purging.purged.total else [f"What else went: {_went(purging.purged)}."]),
            ) from None
        return purging.purged, not stop.is_set()
    finally:
        await session.close()


def _went(purged: Purged) -> str:
    named = {
        "jobs": ("job", "jobs"),
        "plans": ("plan", "plans"),
        "recoveries": ("recovery", "recoveries"),
        "idempotency_keys": ("idempotency key", "idempotency keys"),
        "notices": ("notice", "notices"),
        "alarms": ("alarm", "alarms"),
        "entries": ("entry of the trail", "entries of the trail"),
    }
    counts = asdict(purged)
    return ", ".join(f"{counts[what]:,} {names[counts[what] != 1]}" for what, names in named.items())


def _lines(purged: Purged, keeping: Keeping, whole: bool, dry_run: bool) -> list[str]:
    kept = (
        f"Kept: jobs for {_days(keeping.jobs)} after they settled, plans and recoveries for {_days(keeping.plans)} after "
        f"they ended, notices for {_days(keeping.notices)}, alarms for {_days(keeping.alarms)} after they were over, the trail "
        f"for {_days(keeping.audit)}. A plan of which something was sent stays whole, for ever."
    )
    if dry_run:
        return [f"Would go: {_went(purged)}.", kept, "Nothing was removed."]
    lines = [f"Gone: {_went(purged)}.", kept]
    if purged.entries:
        lines.append("Verifying the trail begins behind the last entry that went; its head is kept.")
    if not whole:
        lines.append("It was interrupted: what else is past its retention goes with the next run.")
    return lines


def _days(seconds: float) -> str:
    days = seconds / 86_400
    return "1 day" if days == 1 else f"{days:,.4g} days"


def _json(purged: Purged, whole: bool, dry_run: bool) -> str:
    return json.dumps({**asdict(purged), "dry_run": dry_run, "whole": whole}, indent=2)
