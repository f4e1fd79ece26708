"""Owns the headless twins of recoveries up to their confirmation: making one, reading it, changing it, confirming it. What
follows: `cli_recovery_steering`. Each runs the function of `client/` that the screen runs.

A recovery is named by its id or its name (tern-42). A code is never an argument (`cli_codes`).
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeVar

import click
from pydantic import ValidationError

from jobconsole.cli_bulk_steering import KEY, REASON, key_or_new
from jobconsole.cli_codes import code_options
from jobconsole.cli_confirming import code_for, confirmed, refuse_unfit
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
from jobconsole.cli_recovery_steering import RECOVERY, STEERING, found, shown_recovery
from jobconsole.cli_schedules import instant_of, more_lines, paged
from jobconsole.client import recoveries as client
from jobconsole.client.recovery_confirming import ConfirmingRecovery
from jobconsole.present import plain_recoveries as plain
from jobconsole.present.times import read_instant
from jobcontract.ids import FILTER_MAX, KEY_MAX, PAGE_MAX
from jobcontract.operating import RecoveryAct, RecoveryState
from jobcontract.recoveries import RecoveryLeftOuts, RecoveryOrder, RecoveryRows
from jobcontract.states import DeadCause

C = TypeVar("C", bound=Callable[..., Any])


def _each(ctx: click.Context, parameter: click.Parameter, texts: tuple[str, ...]) -> tuple[str, ...]:
    for text in texts:
        within(KEY_MAX)(ctx, parameter, text)
    return texts


SCHEDULES = click.option(
    "--schedule",
    "schedules",
    multiple=True,
    callback=_each,
    help="Of this one; several may be named.",
)
OCCURRENCES = click.option(
    "--occurrence",
    "occurrences",
    multiple=True,
    callback=_each,
    help="This one, by id or SCHEDULE@INSTANT; several may be named, instead of a stretch of time.",
)
FROM = click.option("--from", "since", metavar="WHEN", help="Scheduled not before this: yesterday 00:00, -12h.")
TO = click.option("--to", "until", metavar="WHEN", help="Scheduled before this; else now.")
CAUSES = click.option(
    "--cause",
    "causes",
    multiple=True,
    type=click.Choice([cause.value for cause in DeadCause]),
    help="Dead letters of this cause.",
)
JOBS = click.option("--job", "jobs", multiple=True, callback=_each, help="This job, by id; several may be named.")
JOB_FILTER = click.option(
    "--filter",
    "job_filter",
    callback=within(FILTER_MAX, empty=True),
    help="All jobs that this finds, instead of names: status:failed kind:payments.export age<2d.",
)


def _together(*options: Callable[[C], C]) -> Callable[[C], C]:
    """Several options as one decorator, the first on top."""

    def on(callback: C) -> C:
        for option in reversed(options):
            callback = option(callback)
        return callback

    return on


DEAD_LETTERS = _together(SCHEDULES, OCCURRENCES, FROM, TO, CAUSES, REASON, KEY)
"""What says which dead letters, and why."""
OF_JOBS = _together(JOBS, JOB_FILTER, REASON, KEY)
"""What says which jobs, and why."""


@click.group("recoveries", epilog=EPILOG, invoke_without_command=True)
@connection_options
@click.pass_context
def recoveries(ctx: click.Context, /, **options: Any) -> None:
    """Replays, requeues, discards, disables, retries and cancels of many: plan, show, confirm, watch. Alone: the list."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(recoveries.commands["list"], live=False, limit=100, cursor=None, everything=False, **options)
    hand_down(ctx, options)


@click.option("--live", is_flag=True, help="Only those of which something may still come.")
@paged
@twin
async def list_recoveries(at: SignedIn, live: bool, limit: int, cursor: str | None, everything: bool) -> Shown:
    """The recoveries of the tenant, the latest first."""
    page = await client.recoveries(at.service, live=live, cursor=cursor, limit=PAGE_MAX if everything else limit)
    rows = list(page.recoveries)
    while everything and page.next is not None:
        page = await client.recoveries(at.service, live=live, cursor=page.next, limit=PAGE_MAX)
        rows += page.recoveries
    answer = page.model_copy(update={"recoveries": tuple(rows)})
    return Shown(answer=answer, lines=[*plain.recoveries_lines(rows, at.settings.zone), *more_lines(page.next)])


@RECOVERY
@click.option("--rows", is_flag=True, help="Every row, with its key.")
@click.option("--left-out", is_flag=True, help="What is not in it, and why.")
@twin
async def show(at: SignedIn, recovery_name: str, rows: bool, left_out: bool) -> Shown:
    """A RECOVERY, or a part of it: its rows, what it leaves out."""
    if rows and left_out:
        raise click.UsageError("one of --rows and --left-out at a time.")
    of = await found(at, recovery_name)
    if rows:
        every = tuple([row async for row in client.every_row(at.service, of.id)])
        page = RecoveryRows(edition=of.edition, rows=every, next=None, now=of.frozen_at)
        return Shown(answer=page, lines=plain.rows_lines(every, at.settings.zone))
    if left_out:
        out = tuple([each async for each in client.every_left_out(at.service, of.id)])
        answer = RecoveryLeftOuts(left_out=out, next=None, now=of.frozen_at)
        return Shown(answer=answer, lines=plain.left_out_lines(out))
    return shown_recovery(at, of, acted=False)


@SCHEDULES
@OCCURRENCES
@FROM
@TO
@CAUSES
@click.option("--skipped", is_flag=True, help="Also instants that a misfire policy skipped.")
@REASON
@KEY
@twin
async def replay(at: SignedIn, since: str | None, until: str | None, key: str | None, **given: Any) -> Shown:
    """Freeze what ended in a stretch of time, or named occurrences, to run again: what of it is not done."""
    named = bool(given["occurrences"])
    if named and (since or until or given["skipped"]):
        raise click.UsageError("name either occurrences or a stretch of time (--from, --to, --skipped), not both.")
    if not named and since is None:
        raise click.UsageError("say from when: --from, or name occurrences with --occurrence.")
    first, last = instant_of(at, "--from", since), instant_of(at, "--to", until)
    if not named and last is None:
        last = at.service.clock.server_now() or at.session.now
    return await _made(at, RecoveryAct.REPLAY, key, since=first, until=last, **given)


@DEAD_LETTERS
@twin
async def requeue(at: SignedIn, since: str | None, until: str | None, key: str | None, **given: Any) -> Shown:
    """Freeze dead letters to run again."""
    return await _dead(at, RecoveryAct.REQUEUE, since, until, key, given)


@DEAD_LETTERS
@twin
async def discard(at: SignedIn, since: str | None, until: str | None, key: str | None, **given: Any) -> Shown:
    """Freeze dead letters to be discarded: they stay to be read, and ask for nothing any more."""
    return await _dead(at, RecoveryAct.DISCARD, since, until, key, given)


async def _dead(
    at: SignedIn, act: RecoveryAct, since: str | None, until: str | None, key: str | None, given: dict[str, Any]
) -> Shown:
    if given["occurrences"] and (since or until):
        raise click.UsageError("name either occurrences or a stretch of time (--from, --to), not both.")
    first, last = instant_of(at, "--from", since), instant_of(at, "--to", until)
    return await _made(at, act, key, since=first, until=last, **given)


@SCHEDULES
@click.option("--until", "again", metavar="WHEN", help="Enabled again by themselves then: tomorrow 9:00, +2h.")
@REASON
@KEY
@twin
async def disable(at: SignedIn, schedules: tuple[str, ...], again: str | None, reason: str, key: str | None) -> Shown:
    """Freeze schedules to be switched off."""
    if not schedules:
        raise click.UsageError("name the schedules: --schedule, once for each.")
    instant: datetime | None = None
    if again is not None:
        typed = read_instant(again, at.settings.zone, at.service.clock.server_now() or at.session.now)
        if typed.instant is None:
            fail(f"--until: {typed.sentence}", USAGE)
        instant = typed.instant
    return await _made(at, RecoveryAct.DISABLE, key, schedules=schedules, disable_until=instant, reason=reason)


@OF_JOBS
@twin
async def retry(at: SignedIn, jobs: tuple[str, ...], job_filter: str | None, reason: str, key: str | None) -> Shown:
    """Freeze settled jobs, each of which is to be made anew: named ones, or all failures that a filter finds."""
    return await _of_jobs(at, RecoveryAct.RETRY, jobs, job_filter, reason, key)


@OF_JOBS
@twin
async def cancel(at: SignedIn, jobs: tuple[str, ...], job_filter: str | None, reason: str, key: str | None) -> Shown:
    """Freeze jobs that are not settled, to be cancelled: named ones, or all that a filter finds."""
    return await _of_jobs(at, RecoveryAct.CANCEL, jobs, job_filter, reason, key)


async def _of_jobs(
    at: SignedIn, act: RecoveryAct, jobs: tuple[str, ...], job_filter: str | None, reason: str, key: str | None
) -> Shown:
    if bool(jobs) == (job_filter is not None):
        raise click.UsageError("name either jobs (--job, once for each) or a --filter that finds them.")
    return await _made(at, act, key, jobs=jobs, job_filter=job_filter, reason=reason)


async def _made(at: SignedIn, act: RecoveryAct, key: str | None, **members: Any) -> Shown:
    """The recovery as it was frozen, and how it is confirmed."""
    named = {name: value for name, value in members.items() if value not in (None, (), False)}
    try:
        order = RecoveryOrder.model_validate({"act": act, **named})
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        if first["type"] == "too_long":
            most, named_now = first["ctx"]["max_length"], first["ctx"]["actual_length"]
            fail(f"{first['loc'][0]}: at most {most:,} can be named, not {named_now:,}.", USAGE)
        fail(f"{first['msg'].removeprefix('Value error, ')}.", USAGE)
    once = key_or_new(key)
    made = await sure(client.make(at.service, order, once), once)
    lines = plain.recovery_lines(made, at.settings.zone)
    told = f"What is in it: jobconsole recoveries show {made.name} --rows (or --left-out)"
    return Shown(answer=made, lines=[*lines, "", told, plain.confirm_words(made)], acted=True)


@RECOVERY
@click.argument("rows", nargs=-1, required=True, metavar="ROW...", callback=_each)
@KEY
@twin
async def take_out(at: SignedIn, recovery_name: str, rows: tuple[str, ...], key: str | None) -> Shown:
    """Take ROWs (their keys) out of your open RECOVERY; it is frozen anew under its name."""
    of, once = await found(at, recovery_name), key_or_new(key)
    return shown_recovery(at, await sure(client.take_out(at.service, of.id, rows, once), once))


@RECOVERY
@REASON
@KEY
@twin
async def drop(at: SignedIn, recovery_name: str, reason: str, key: str | None) -> Shown:
    """Give your open RECOVERY up; nothing of it was done."""
    of, once = await found(at, recovery_name), key_or_new(key)
    return shown_recovery(at, await sure(client.drop(at.service, of.id, reason, once), once))


@RECOVERY
@KEY
@code_options
@twin
async def confirm(at: SignedIn, recovery_name: str, key: str | None, code_from: str | None) -> Shown:
    """Read every row of your open RECOVERY, show what it does, and confirm it; with a code where it moves money."""
    of = await found(at, recovery_name)
    if key is None:
        refuse_unfit(at, of, "recovery", of.state, opened=of.state is RecoveryState.OPEN)
    reading = client.RecoveryReading(at.service, of)
    digest = await reading.run()
    read = reading.recovery
    click.echo("\n".join(plain.recovery_lines(read, at.settings.zone)), err=True)
    click.echo(f"\n{reading.checked:,} of {reading.count:,} rows read.", err=True)
    code = None
    if read.confirm_by is not None:
        code = await code_for(at, f"{read.words}: {read.name}", code_from, again=key is not None)
    return shown_recovery(at, await confirmed(at, ConfirmingRecovery(read, digest, key=key), code))


_COMMANDS: tuple[tuple[str, Callable[..., Any]], ...] = (
    ("list", list_recoveries),
    ("show", show),
    ("replay", replay),
    ("requeue", requeue),
    ("discard", discard),
    ("disable", disable),
    ("retry", retry),
    ("cancel", cancel),
    ("take-out", take_out),
    ("drop", drop),
    ("confirm", confirm),
    *STEERING,
)
for _name, _callback in _COMMANDS:
    recoveries.add_command(click.command(_name, epilog=EPILOG)(_callback))
