"""Owns the headless twins of the audit trail: its entries under a filter, one with before and after, the whole as CSV. Each
runs the function of `client/` that the screen runs.
"""

from __future__ import annotations

import asyncio
from datetime import datetime
from pathlib import Path
from typing import Any

import click
from pydantic import BaseModel

from jobconsole.cli_connection import (
    EPILOG,
    UNWRITTEN,
    USAGE,
    Shown,
    SignedIn,
    connection_options,
    fail,
    hand_down,
    twin,
    within,
)
from jobconsole.cli_schedules import instant_of, more_lines, paged
from jobconsole.client import audit as client
from jobconsole.exports import ExportError, write_at
from jobconsole.present import plain
from jobconsole.present.audit import audit_entry_lines
from jobconsole.present.schedules import At
from jobconsole.present.times import utc
from jobcontract.audit import AuditPage
from jobcontract.ids import KEY_MAX, PAGE_MAX

FILTER = (
    click.option("--since", metavar="WHEN", help="Written then or later: 2026-12-01T09:00Z, 2026-12-01 09:00, -2h."),
    click.option("--until", metavar="WHEN", help="Written before then."),
    click.option(
        "--person", metavar="ID", callback=within(KEY_MAX), help="Of this person; - : of the service by itself."
    ),
    click.option("--action", metavar="ACTION", callback=within(KEY_MAX), help="Like claim or confirm-plan."),
    click.option("--subject", metavar="ID", callback=within(KEY_MAX), help="What was acted on."),
    click.option("--outcome", metavar="OUTCOME", callback=within(KEY_MAX), help="Like done or refused."),
    click.option("--schedule", metavar="ID", callback=within(KEY_MAX), help="About this schedule."),
)
_NONE = {
    "since": None,
    "until": None,
    "person": None,
    "action": None,
    "subject": None,
    "outcome": None,
    "schedule": None,
}


class Written(BaseModel):
    """A file that a twin wrote."""

    file: str
    bytes: int


def filtered(callback: Any) -> Any:
    """The options of the filter on a callback."""
    for option in reversed(FILTER):
        callback = option(callback)
    return callback


@click.group("audit", epilog=EPILOG, invoke_without_command=True)
@connection_options
@click.pass_context
def audit(ctx: click.Context, /, **options: Any) -> None:
    """The audit trail. Alone: its newest entries."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(audit.commands["list"], limit=100, cursor=None, everything=False, **_NONE, **options)
    hand_down(ctx, options)


@audit.command("list", epilog=EPILOG)
@filtered
@paged
@twin
async def list_audit(at: SignedIn, limit: int, cursor: str | None, everything: bool, **words: str | None) -> Shown:
    """The trail, newest first: entries that are all of what is asked for."""
    asked = _asked(at, words)
    page = await client.audit(at.service, asked=asked, cursor=cursor, limit=PAGE_MAX if everything else limit)
    if everything and page.next is not None:
        entries = [entry async for entry in client.all_audit(at.service, asked=asked)]
        page = AuditPage(entries=tuple(entries), next=None, as_of=page.as_of)
    back = "" if page.looked_to is None else f" back to {page.looked_to.isoformat()}"
    lines = plain.audit_lines(page.entries, at.settings.zone) if page.entries else [f"No entry{back} is like that."]
    return Shown(answer=page, lines=[*lines, *more_lines(page.next)])


@audit.command("show", epilog=EPILOG)
@click.argument("entry", type=click.IntRange(0, 2**63 - 1))
@twin
async def show_entry(at: SignedIn, entry: int) -> Shown:
    """One ENTRY by its number: before and after, what else was kept, how it is sealed."""
    detail = await client.entry(at.service, entry)
    return Shown(answer=detail, lines=audit_entry_lines(detail, At(now=detail.now, zone=at.settings.zone)))


@audit.command("export", epilog=EPILOG)
@filtered
@click.option("--out", "file", type=click.Path(path_type=Path), required=True, metavar="FILE", help="A new file.")
@twin
async def export(at: SignedIn, file: Path, **words: str | None) -> Shown:
    """What is asked for as CSV into a new FILE, newest first; the service records it."""
    return await write_file(file, await client.export(at.service, asked=_asked(at, words)))


async def write_file(file: Path, content: bytes) -> Shown:
    """Write a file for whoever asked, and say so; ends the process where it cannot be."""
    try:
        await asyncio.to_thread(write_at, file, content)
    except ExportError as error:
        fail(str(error), UNWRITTEN)
    return Shown(
        answer=Written(file=str(file), bytes=len(content)), lines=[f"Written: {file} ({len(content):,} bytes)"]
    )


def _asked(at: SignedIn, words: dict[str, str | None]) -> client.Asked:
    since, until = instant_of(at, "--since", words.pop("since")), instant_of(at, "--until", words.pop("until"))
    _refuse_turned(since, until)
    return client.Asked(since=since, until=until, **words)


def _refuse_turned(since: datetime | None, until: datetime | None) -> None:
    if since is not None and until is not None and since >= until:
        fail(f"--since {utc(since)} is not before --until {utc(until)}: nothing is in between.", USAGE)
