"""Owns the headless twins about occurrences and about the Workers that run them. Each runs the function of `client/` that
the screen runs.

An occurrence is named by its id, or as `statements.nightly@2026-10-26T01:30:00Z`.
"""

from __future__ import annotations

import re
from typing import Any

import click

from jobconsole.cli_bulk_steering import KEY, REASON, key_or_new
from jobconsole.cli_connection import (
    EPILOG,
    USAGE,
    Shown,
    SignedIn,
    connection_options,
    fail,
    hand_down,
    sure,
    twin,
    within,
)
from jobconsole.cli_schedules import instant_of, more_lines, paged
from jobconsole.client import occurrences as client
from jobconsole.client import schedules as schedules_client
from jobconsole.client import workers as workers_client
from jobconsole.present import plain_schedules as plain
from jobconsole.present.schedules import At
from jobconsole.present.times import utc
from jobcontract.ids import KEY_MAX, PAGE_MAX
from jobcontract.occurrence_names import read_occurrence_name
from jobcontract.states import OccurrenceState

_NAMED = re.compile(r"[^@/]+@\S+|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
EXAMPLE = "statements.nightly@2026-10-26T01:30:00Z"


def _named(ctx: click.Context, parameter: click.Parameter, text: str) -> str:
    within(2 * KEY_MAX)(ctx, parameter, text)
    if not _NAMED.fullmatch(text):
        raise click.BadParameter(f"{text} names no occurrence: it takes an id, or SCHEDULE@INSTANT like {EXAMPLE}.")
    if "@" in text and read_occurrence_name(text) is None:
        raise click.BadParameter(
            f"{text} names no instant: after the @ it takes a whole one with Z or an offset, like {EXAMPLE}."
        )
    return text


OCCURRENCE = click.argument("occurrence", callback=_named)


@click.group("occurrences", epilog=EPILOG, invoke_without_command=True)
@connection_options
@click.pass_context
def occurrences(ctx: click.Context, /, **options: Any) -> None:
    """Runs of schedules: list, show, cancel. Alone: the latest."""
    if ctx.invoked_subcommand is None:
        given = {"schedule": None, "states": (), "since": None, "until": None, "limit": 100, "cursor": None}
        ctx.invoke(occurrences.commands["list"], everything=False, **given, **options)
    hand_down(ctx, options)


@click.option("--schedule", metavar="ID", callback=within(KEY_MAX), help="Of this schedule; else of all.")
@click.option(
    "--state",
    "states",
    multiple=True,
    type=click.Choice([state.value for state in OccurrenceState]),
    help="In this state; may be given several times.",
)
@click.option("--since", metavar="WHEN", help="Scheduled not before this.")
@click.option("--until", metavar="WHEN", help="Scheduled before this.")
@paged
@twin
async def list_occurrences(
    at: SignedIn,
    schedule: str | None,
    states: tuple[str, ...],
    since: str | None,
    until: str | None,
    limit: int,
    cursor: str | None,
    everything: bool,
) -> Shown:
    """Occurrences, the latest scheduled first. WHEN: 2026-10-25T00:30:00Z, 2026-10-25 01:30 in your zone, 2026-10-25 from
    its midnight on, yesterday, -2h."""
    wanted = tuple(OccurrenceState(state) for state in states)
    first, last = instant_of(at, "--since", since), instant_of(at, "--until", until)
    if first is not None and last is not None and first > last:
        fail(f"--since {utc(first)} is later than --until {utc(last)}: nothing is scheduled in between.", USAGE)
    asked = (at.service, schedule, wanted, first, last)
    page = await client.occurrences(*asked, cursor, PAGE_MAX if everything else limit)
    if not page.occurrences and schedule is not None:
        await schedules_client.schedule(
            at.service, schedule
        )  # one that was mistyped must not read as one that never ran
    if everything and page.next is not None:
        rows = [each async for each in client.every_occurrence(*asked, limit=PAGE_MAX)]
        page = page.model_copy(update={"occurrences": tuple(rows), "next": None})
    lines = plain.occurrences_lines(page.occurrences, At(now=page.now, zone=at.settings.zone))
    return Shown(
        answer=page, lines=[*(lines if page.occurrences else ["No occurrence is like that."]), *more_lines(page.next)]
    )


@OCCURRENCE
@click.option("--items", is_flag=True, help="Every item of the run, what failed first.")
@twin
async def show(at: SignedIn, occurrence: str, items: bool) -> Shown:
    """One OCCURRENCE: where it stands, its attempts, refused late writes, and the first of its items."""
    zone = at.settings.zone
    if items:
        page = await client.occurrence_items(at.service, occurrence, limit=PAGE_MAX)
        rows = list(page.items)
        while page.next is not None:
            page = await client.occurrence_items(at.service, occurrence, page.next, PAGE_MAX)
            rows += page.items
        answer = page.model_copy(update={"items": tuple(rows), "next": None})
        return Shown(answer=answer, lines=plain.items_lines(rows, zone) if rows else ["No item of it is listed."])
    detail = await client.occurrence(at.service, occurrence)
    more = ["", f"There are more items: jobconsole occurrences show {detail.occurrence.id} --items"]
    return Shown(answer=detail, lines=[*plain.detail_lines(detail, zone), *(more if detail.items_next else [])])


@OCCURRENCE
@REASON
@KEY
@twin
async def cancel(at: SignedIn, occurrence: str, reason: str, key: str | None) -> Shown:
    """Cancel an OCCURRENCE: what waits is not started, what runs is stopped; nothing tries it again."""
    once = key_or_new(key)
    answer = await sure(client.cancel_occurrence(at.service, occurrence, reason, once), once)
    return Shown(answer=answer, lines=plain.cancelled_lines(answer.occurrence, at.settings.zone), acted=True)


for _name, _callback in (("list", list_occurrences), ("show", show), ("cancel", cancel)):
    occurrences.add_command(click.command(_name, epilog=EPILOG)(_callback))


@click.group("workers", epilog=EPILOG, invoke_without_command=True)
@connection_options
@click.pass_context
def workers(ctx: click.Context, /, **options: Any) -> None:
    """Worker processes. Alone: the list."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(workers.commands["list"], **options)
    hand_down(ctx, options)


@workers.command("list", epilog=EPILOG)
@twin
async def list_workers(at: SignedIn) -> Shown:
    """The Workers that live, and those that stopped within the last day."""
    answer = await workers_client.workers(at.service)
    return Shown(answer=answer, lines=plain.workers_lines(answer.workers, at.settings.zone))
