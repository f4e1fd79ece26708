"""Owns the list of headless twins that the command line offers, and the two small ones: `whoami` and `audit`."""

from __future__ import annotations

from typing import Any

import click

from jobconsole.cli_bulk import bulk
from jobconsole.cli_connection import CURSOR_MAX, EPILOG, Shown, SignedIn, connection_options, hand_down, twin, within
from jobconsole.cli_money import money
from jobconsole.cli_occurrence_acts import OCCURRENCE_ACTS, WORKER_ACTS
from jobconsole.cli_occurrences import occurrences, workers
from jobconsole.cli_queues import queues
from jobconsole.cli_schedule_acts import SCHEDULE_ACTS
from jobconsole.cli_schedules import schedules
from jobconsole.client import audit as client
from jobconsole.present import plain
from jobcontract.audit import AuditPage
from jobcontract.ids import PAGE_MAX


@click.command("whoami", epilog=EPILOG)
@twin
async def whoami(at: SignedIn) -> Shown:
    """Who you are signed in as, where, and what you may do."""
    return Shown(answer=at.session, lines=plain.session_lines(at.session, at.settings.zone))


@click.group("audit", epilog=EPILOG, invoke_without_command=True)
@connection_options
@click.pass_context
def audit(ctx: click.Context, /, **options: Any) -> None:
    """The audit trail. Alone: its newest entries."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(audit.commands["list"], limit=100, cursor=None, everything=False, **options)
    hand_down(ctx, options)


@audit.command("list", epilog=EPILOG)
@click.option("--limit", type=click.IntRange(1, PAGE_MAX), default=100, show_default=True, help="Rows of the page.")
@click.option("--cursor", metavar="CURSOR", callback=within(CURSOR_MAX), help="`next` of the page before.")
@click.option("--all", "everything", is_flag=True, help="Every page.")
@twin
async def list_audit(at: SignedIn, limit: int, cursor: str | None, everything: bool) -> Shown:
    """The trail, newest first."""
    page = await client.audit(at.service, cursor=cursor, limit=PAGE_MAX if everything else limit)
    if everything and page.next is not None:
        entries = [entry async for entry in client.all_audit(at.service)]
        page = AuditPage(entries=tuple(entries), next=None, as_of=page.as_of)
    more = ["", f"There are more: --cursor {page.next}  (or --all)"] if page.next else []
    return Shown(answer=page, lines=[*plain.audit_lines(page.entries, at.settings.zone), *more])


for _group, _acts in ((schedules, SCHEDULE_ACTS), (occurrences, OCCURRENCE_ACTS), (workers, WORKER_ACTS)):
    for _name, _callback in _acts:
        _group.add_command(click.command(_name, epilog=EPILOG)(_callback))

TWINS: tuple[click.Command, ...] = (queues, bulk, money, schedules, occurrences, workers, audit, whoami)
"""Every headless twin, for `cli.py` to add."""
