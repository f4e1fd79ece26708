"""Owns the headless twins that read background jobs: listing and counting, one with its history, the kinds, a summary for
the customer, watching one. Each runs the function of `client/` that the screen runs. Acting on them: `cli_job_acts`.

A job is named by its id; one of another engine also by its source.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import Any

import click

from jobconsole.cli_bulk_steering import wait
from jobconsole.cli_connection import (
    DONE,
    EPILOG,
    REFUSED,
    Shown,
    SignedIn,
    connection_options,
    hand_down,
    twin,
    within,
)
from jobconsole.cli_job_acts import JOB, JOB_ACTS
from jobconsole.cli_schedules import more_lines, paged
from jobconsole.client import jobs as client
from jobconsole.client.errors import ServiceAway
from jobconsole.present import plain_jobs as plain
from jobconsole.present.job_summary import customer_summary
from jobconsole.present.text import line
from jobcontract.ids import FILTER_MAX, KEY_MAX, PAGE_MAX
from jobcontract.job_states import JobStatus, JobView
from jobcontract.jobs import HERE

SOURCE = click.option(
    "--source", default=HERE, show_default=True, callback=within(KEY_MAX), help="Which source the job is of."
)
FILTER = click.option(
    "--filter",
    "filter_text",
    default="",
    callback=within(FILTER_MAX, empty=True),
    help="Only these: status:failed kind:payments.bank-file error:refused age>2d requester:me scope:C-1007.",
)
VIEW = click.option(
    "--view",
    type=click.Choice([view.value for view in JobView]),
    default=JobView.UNRESOLVED.value,
    show_default=True,
    help="Failures that nobody resolved, or all jobs.",
)
OF = click.option("--source", callback=within(KEY_MAX), help="Of this source; else of all.")


@click.group("jobs", epilog=EPILOG, invoke_without_command=True)
@connection_options
@click.pass_context
def jobs(ctx: click.Context, /, **options: Any) -> None:
    """Background jobs: list, show, submit, cancel, retry, resolve. Alone: failures that nobody resolved."""
    if ctx.invoked_subcommand is None:
        given = {"filter_text": "", "view": JobView.UNRESOLVED.value, "source": None, "limit": 100, "cursor": None}
        ctx.invoke(jobs.commands["list"], everything=False, **given, **options)
    hand_down(ctx, options)


@FILTER
@VIEW
@OF
@paged
@twin
async def list_jobs(
    at: SignedIn,
    filter_text: str,
    view: str,
    source: str | None,
    limit: int,
    cursor: str | None,
    everything: bool,
) -> Shown:
    """Jobs, the latest asked for first; of a failure why, and its reference. A source that was not reached is named."""
    wanted, rows = JobView(view), PAGE_MAX if everything else limit
    page = await client.jobs(at.service, filter_text, view=wanted, source=source, cursor=cursor, limit=rows)
    found = list(page.jobs)
    while everything and page.next is not None:
        page = await client.jobs(at.service, filter_text, view=wanted, source=source, cursor=page.next, limit=PAGE_MAX)
        found += page.jobs
    answer = page.model_copy(update={"jobs": tuple(found)})
    none = (
        "No failure waits for anybody." if wanted is JobView.UNRESOLVED and not filter_text else "No job is like that."
    )
    lines = [
        *(plain.jobs_lines(found, at.settings.zone) if found else [none]),
        *plain.looked_lines(page.looked_to, at.settings.zone),
        *plain.sources_lines(page.sources),
        *more_lines(page.next),
    ]
    return Shown(answer=answer, lines=lines)


@FILTER
@VIEW
@OF
@twin
async def counts(at: SignedIn, filter_text: str, view: str, source: str | None) -> Shown:
    """How many jobs a filter finds, and how many there are of each status; what is not exact says so."""
    answer = await client.job_counts(at.service, filter_text, view=JobView(view), source=source)
    return Shown(answer=answer, lines=plain.counts_lines(answer, filter_text, at.settings.zone))


@JOB
@SOURCE
@twin
async def show(at: SignedIn, job: str, source: str) -> Shown:
    """One JOB: where it stands, its steps and history, its retries, notices, masked inputs, and what you may do."""
    answer = await client.job(at.service, job, source)
    where = "" if source == HERE else f" --source {shlex.quote(source)}"
    command = f"jobconsole jobs events {shlex.quote(job)}{where}"
    more = ["", f"There is more of its history: {line(command)}"] if answer.events_next else []
    return Shown(answer=answer, lines=[*plain.job_lines(answer, at.settings.zone), *more])


@JOB
@SOURCE
@paged
@twin
async def events(at: SignedIn, job: str, source: str, limit: int, cursor: str | None, everything: bool) -> Shown:
    """The history of JOB, newest first."""
    page = await client.job_events(at.service, job, source, cursor=cursor, limit=PAGE_MAX if everything else limit)
    rows = list(page.events)
    while everything and page.next is not None:
        page = await client.job_events(at.service, job, source, cursor=page.next, limit=PAGE_MAX)
        rows += page.events
    lines = plain.events_lines(rows, at.settings.zone) if rows else ["Nothing is known of its history."]
    return Shown(answer=page.model_copy(update={"events": tuple(rows)}), lines=[*lines, *more_lines(page.next)])


@twin
async def kinds(at: SignedIn) -> Shown:
    """The kinds of jobs that the application registered: what each takes, its steps, what a failure does."""
    answer = await client.job_kinds(at.service)
    return Shown(answer=answer, lines=plain.kinds_lines(answer.kinds))


@JOB
@SOURCE
@twin
async def summary(at: SignedIn, job: str, source: str) -> Shown:
    """What became of JOB in a few sentences for the customer: nothing internal, no inputs, nobody's name."""
    answer = await client.job(at.service, job, source)
    return Shown(answer=answer, lines=[customer_summary(answer, at.settings.zone)])


@JOB
@SOURCE
@twin
async def watch(at: SignedIn, job: str, source: str) -> Shown:
    """Say how far a JOB is, on standard error, until it is settled; ends with 0 where it succeeded, else 1."""
    of, said = await client.job(at.service, job, source), ""
    while True:
        now = plain.progress_line(of.summary)
        if now != said:
            click.echo(now, err=True)
            said = now
        if of.summary.status.final:
            break
        await wait()
        try:
            of = await client.job(at.service, job, source)
        except ServiceAway as away:
            click.echo(f"still watching: {line(away.sentence)}", err=True)
    code = DONE if of.summary.status is JobStatus.SUCCEEDED else REFUSED
    return Shown(answer=of, lines=plain.summary_lines(of.summary, at.settings.zone), code=code)


_COMMANDS: tuple[tuple[str, Callable[..., Any]], ...] = (
    ("list", list_jobs),
    ("counts", counts),
    ("show", show),
    ("events", events),
    ("summary", summary),
    ("watch", watch),
    ("kinds", kinds),
    *JOB_ACTS,
)
for _name, _callback in _COMMANDS:
    jobs.add_command(click.command(_name, epilog=EPILOG)(_callback))
