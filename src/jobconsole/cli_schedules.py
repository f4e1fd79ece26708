"""Owns the headless twins that read schedules: which there are, how one is doing, when it runs next. Each runs the function
of `client/` that the screen runs."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import click

from jobconsole.cli_connection import (
    CURSOR_MAX,
    EPILOG,
    USAGE,
    Shown,
    SignedIn,
    connection_options,
    fail,
    hand_down,
    twin,
    within,
)
from jobconsole.client import schedules as client
from jobconsole.present import plain_schedules as plain
from jobconsole.present.times import read_moment
from jobcontract.ids import KEY_MAX, PAGE_MAX
from jobcontract.schedules import NEXT_MOST

SCHEDULE = click.argument("schedule", callback=within(KEY_MAX))
PAGE_OPTIONS = (
    click.option("--limit", type=click.IntRange(1, PAGE_MAX), default=100, show_default=True, help="Rows of the page."),
    click.option("--cursor", metavar="CURSOR", callback=within(CURSOR_MAX), help="`next` of the page before."),
    click.option("--all", "everything", is_flag=True, help="Every page."),
)


def paged(callback: Any) -> Any:
    """--limit, --cursor and --all on a callback."""
    for option in reversed(PAGE_OPTIONS):
        callback = option(callback)
    return callback


def instant_of(at: SignedIn, option: str, text: str | None) -> datetime | None:
    """The instant that was typed, in the profile's zone where it says none; ends the process where it is none."""
    if text is None:
        return None
    now = at.service.clock.server_now() or at.session.now
    typed = read_moment(text, at.settings.zone, now)
    if typed.instant is None:
        fail(f"{option}: {typed.sentence}", USAGE)
    return typed.instant


def more_lines(following: str | None) -> list[str]:
    """How to see the rows after these."""
    return ["", f"There are more: --cursor {following}  (or --all)"] if following else []


@click.group("schedules", epilog=EPILOG, invoke_without_command=True)
@connection_options
@click.pass_context
def schedules(ctx: click.Context, /, **options: Any) -> None:
    """Jobs that run by themselves. Alone: the list."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(schedules.commands["list"], limit=100, cursor=None, everything=False, **options)
    hand_down(ctx, options)


@paged
@twin
async def list_schedules(at: SignedIn, limit: int, cursor: str | None, everything: bool) -> Shown:
    """The schedules of the tenant, each with how it is doing and when it runs next."""
    page = await client.schedules(at.service, cursor, PAGE_MAX if everything else limit)
    if everything and page.next is not None:
        rows = [each async for each in client.every_schedule(at.service)]
        page = page.model_copy(update={"schedules": tuple(rows), "next": None})
    counts = plain.counts_line(page.total, page.late, page.parked, page.disabled)
    lines = plain.schedules_lines(page.schedules, at.settings.zone) if page.schedules else []
    return Shown(answer=page, lines=[counts, *(["", *lines] if lines else []), *more_lines(page.next)])


@SCHEDULE
@twin
async def show(at: SignedIn, schedule: str) -> Shown:
    """One SCHEDULE: its rhythm and policies, its next five times, what was skipped of late."""
    detail = await client.schedule(at.service, schedule)
    return Shown(answer=detail, lines=plain.schedule_lines(detail, at.settings.zone))


@SCHEDULE
@click.option("--after", metavar="WHEN", help="Later than this: 2026-10-25T00:30:00Z, 2026-10-25 01:30, +2d; else now.")
@click.option("--count", type=click.IntRange(1, NEXT_MOST), default=client.NEXT, show_default=True, help="How many.")
@twin
async def next_times(at: SignedIn, schedule: str, after: str | None, count: int) -> Shown:
    """When SCHEDULE runs next: in UTC, on its zone's clock, and on yours; what a change of the clock does is said."""
    answer = await client.next_instants(at.service, schedule, instant_of(at, "--after", after), count)
    return Shown(answer=answer, lines=plain.next_lines(answer, at.settings.zone))


for _name, _callback in (("list", list_schedules), ("show", show), ("next", next_times)):
    schedules.add_command(click.command(_name, epilog=EPILOG)(_callback))
