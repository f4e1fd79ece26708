"""Owns the headless twin of the timeline: what happened in a stretch of time, as lines, as JSON, or as Markdown for a report.
It runs the function of `client/` that the screen runs.
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import click

from jobconsole.cli_audit import write_file
from jobconsole.cli_connection import EPILOG, USAGE, Shown, SignedIn, fail, twin
from jobconsole.cli_schedules import instant_of
from jobconsole.client import timeline as client
from jobconsole.present.timeline import USUAL, Made, Stretch, markdown, plain_timeline
from jobconsole.present.times import utc
from jobcontract.operating import TimelineKind
from jobcontract.timeline import TIMELINE_DAYS, Timeline


@click.command("timeline", epilog=EPILOG)
@click.option(
    "--from", "since", metavar="WHEN", help="It begins then: 2026-12-01 22:00, -12h. Else twelve hours before --to."
)
@click.option("--to", "until", metavar="WHEN", help="It ends before then. Else now.")
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    type=click.Choice([kind.value for kind in TimelineKind]),
    help="Only this kind; may be given several times.",
)
@click.option("--markdown", "as_markdown", is_flag=True, help="As Markdown, for a report.")
@click.option("--out", "file", type=click.Path(path_type=Path), metavar="FILE", help="Into a new file, as Markdown.")
@twin
async def timeline(
    at: SignedIn, since: str | None, until: str | None, kinds: tuple[str, ...], as_markdown: bool, file: Path | None
) -> Shown:
    """What happened in a stretch of time, over all nouns, the earliest first; at most 31 days."""
    stretch = _stretch(at, since, until, kinds)
    asked = (at.service, stretch.since, stretch.until, stretch.kinds)
    entries = [entry async for entry in client.every_entry(*asked)]
    now = at.service.clock.server_now() or at.session.now
    tenant = at.service.tenant or at.session.tenants[0].tenant
    made = Made(tenant=tenant, person=at.session.person.id, at=now, zone=at.settings.zone)
    text = markdown(entries, stretch, made)
    if file is not None:
        return await write_file(file, text.encode())
    answer = Timeline(since=stretch.since, until=stretch.until, entries=tuple(entries), next=None, now=now)
    return Shown(answer=answer, lines=text.splitlines() if as_markdown else plain_timeline(entries, at.settings.zone))


def _stretch(at: SignedIn, since: str | None, until: str | None, kinds: tuple[str, ...]) -> Stretch:
    last = instant_of(at, "--to", until) or at.service.clock.server_now() or at.session.now
    first = instant_of(at, "--from", since) or last - USUAL
    if first >= last:
        fail(f"--from {utc(first)} is not before --to {utc(last)}: nothing is in between.", USAGE)
    if last - first > timedelta(days=TIMELINE_DAYS):
        fail(f"A timeline is of {TIMELINE_DAYS} days at most. Ask for a shorter one.", USAGE)
    return Stretch(since=first, until=last, kinds=tuple(TimelineKind(kind) for kind in kinds))
