"""Owns the headless twins of bulk work up to its confirmation: making a plan, reading it, changing it, confirming it.
What follows: `cli_bulk_steering`. Each runs the function of `client/` that the screen runs.

A plan is named by its id or its name (lark-42). A code is never an argument (`cli_codes`).
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import click

from jobconsole.cli_bulk_steering import KEY, PLAN, REASON, STEERING, found, key_or_new, shown_plan
from jobconsole.cli_codes import code_options
from jobconsole.cli_confirming import code_for, confirmed, refuse_unfit
from jobconsole.cli_connection import (
    EPILOG,
    REFUSED,
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
from jobconsole.cli_connection import item_id as checked_id
from jobconsole.cli_filters import filter_of
from jobconsole.client import plans, queues
from jobconsole.client.plan_reading import PlanReading
from jobconsole.present import plain_plans as plain
from jobconsole.present.text import block, line
from jobcontract.ids import FILTER_MAX, KEY_MAX
from jobcontract.plans import PLAN_PAGE_MOST, ExclusionPage, Plan, PlanItemPage, WarningPage
from jobcontract.queues import BulkCommand
from jobcontract.states import PlanState

FEW = 20
"""How many exclusions and warnings a new plan prints; the rest is counted."""


def _ids(ctx: click.Context, parameter: click.Parameter, texts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(checked_id(ctx, parameter, text) for text in texts)


@click.group("bulk", epilog=EPILOG, invoke_without_command=True)
@connection_options
@click.pass_context
def bulk(ctx: click.Context, /, **options: Any) -> None:
    """Many items at once: plan, show, confirm, watch. Alone: the plans."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(bulk.commands["list"], mine=False, live=False, **options)
    hand_down(ctx, options)


@click.option("--mine", is_flag=True, help="Only yours.")
@click.option("--live", is_flag=True, help="Only those of which something may still come.")
@twin
async def list_plans(at: SignedIn, mine: bool, live: bool) -> Shown:
    """The plans of the tenant, live ones first, newest first."""
    answer = await plans.plans(at.service, mine=mine, live=live)
    return Shown(answer=answer, lines=plain.plans_lines(answer.plans, at.settings.zone))


@click.argument("queue", callback=within(KEY_MAX))
@click.argument("items", nargs=-1, metavar="[ITEM]...", callback=_ids)
@click.option(
    "--filter",
    "filter_text",
    metavar="TEXT",
    callback=within(FILTER_MAX, empty=True),
    help="All that wait and match, as on the screen; the empty text takes the whole queue.",
)
@click.option(
    "--command", "command_id", metavar="ID", callback=within(KEY_MAX), help="Which; else the queue's only one."
)
@KEY
@twin
async def plan(
    at: SignedIn, queue: str, items: tuple[str, ...], filter_text: str | None, command_id: str | None, key: str | None
) -> Shown:
    """Freeze items of QUEUE into a plan: those that are named, or all that match a filter."""
    if bool(items) == (filter_text is not None):
        raise click.UsageError("name either items or --filter: not both, not neither.")
    command = await _command(at, queue, command_id)
    chosen = None if filter_text is None else filter_of(at.settings.profile, queue, filter_text)
    once = key_or_new(key)
    making = plans.make(at.service, queue, command.id, once, items=items or None, filter=chosen)
    made = await sure(making, once)
    return Shown(answer=made, lines=[*plain.plan_lines(made, at.settings.zone), *await _odd(at, made)], acted=True)


async def _command(at: SignedIn, queue: str, wanted: str | None) -> BulkCommand:
    """The bulk command of that id, or the only one; ends the process naming those that there are."""
    known = (await queues.queues(at.service)).queues
    listed = next((each.bulk for each in known if each.id == queue), None)
    if listed is None:
        names = ", ".join(each.id for each in known) or "none"
        fail(f"There is no queue {queue}; there is: {names}", USAGE)
    fits = [each for each in listed if wanted in (None, each.id)]
    if len(fits) == 1:
        return fits[0]
    names = ", ".join(each.id for each in listed) or "none"
    if wanted is None and listed:
        fail(f"{queue} has several bulk commands, say which with --command: {names}", USAGE)
    fail(f"{queue} has no bulk command{f' {wanted}' if wanted else ''}; it has: {names}", USAGE)


async def _odd(at: SignedIn, made: Plan) -> list[str]:
    """The first exclusions and warnings of a plan, and how to see the rest."""
    lines: list[str] = []
    if made.excluded:
        page = await plans.exclusions(at.service, made.id, limit=FEW)
        lines += ["", *plain.exclusions_lines(page.items)]
        lines += [f"There are more: jobconsole bulk show {line(made.name)} --exclusions"] if page.next else []
    if made.warnings:
        odd = await plans.warnings(at.service, made.id, limit=FEW)
        lines += ["", *plain.warnings_lines(odd.warnings)]
        lines += [f"There are more: jobconsole bulk show {line(made.name)} --warnings"] if odd.next else []
    return lines


@PLAN
@click.option("--items", is_flag=True, help="Every row.")
@click.option("--exclusions", is_flag=True, help="What is not in it, and why.")
@click.option("--warnings", is_flag=True, help="What is odd, with the ids that keep-in takes.")
@click.option("--csv", is_flag=True, help="Every row as the file that the service makes.")
@twin
async def show(at: SignedIn, plan_name: str, **parts: bool) -> Shown:
    """A PLAN, or a part of it: its rows, what it leaves out, what is odd."""
    wanted = [name for name, given in parts.items() if given]
    if len(wanted) > 1:
        raise click.UsageError("one of --items, --exclusions, --warnings and --csv at a time.")
    of = await found(at, plan_name)
    return await _PARTS[wanted[0]](at, of) if wanted else shown_plan(at, of, acted=False)


async def _rows(at: SignedIn, of: Plan) -> Shown:
    page = await _every_row(at, of)
    return Shown(answer=page, lines=plain.items_lines(page.items))


async def _exclusions(at: SignedIn, of: Plan) -> Shown:
    out = tuple([each async for each in plans.every_exclusion(at.service, of.id)])
    return Shown(answer=ExclusionPage(items=out, next=None, as_of=of.as_of), lines=plain.exclusions_lines(out))


async def _warnings(at: SignedIn, of: Plan) -> Shown:
    odd = tuple([each async for each in plans.every_warning(at.service, of.id)])
    answer = WarningPage(edition=of.edition, warnings=odd, next=None, as_of=of.as_of)
    return Shown(answer=answer, lines=plain.warnings_lines(odd))


async def _csv(at: SignedIn, of: Plan) -> Shown:
    return Shown(answer=of, lines=_file(await plans.export(at.service, of.id)))


_PARTS: Mapping[str, Callable[[SignedIn, Plan], Awaitable[Shown]]] = {
    "items": _rows,
    "exclusions": _exclusions,
    "warnings": _warnings,
    "csv": _csv,
}


async def _every_row(at: SignedIn, of: Plan) -> PlanItemPage:
    """All rows as one page, in the order of their numbers."""
    page = await plans.items(at.service, of.id, limit=PLAN_PAGE_MOST)
    rows = list(page.items)
    while page.next is not None:
        page = await plans.items(at.service, of.id, cursor=page.next, limit=PLAN_PAGE_MOST)
        rows += page.items
    return page.model_copy(update={"items": tuple(rows), "next": None})


def _file(content: bytes) -> Sequence[str]:
    """The file as it came, where it goes into one; at a terminal no sign of it may steer that."""
    text = content.decode("utf-8", errors="replace")
    if sys.stdout.isatty():
        return block(text.lstrip("\ufeff")).splitlines()
    return [text.removesuffix("\n")]


@PLAN
@click.argument("items", nargs=-1, required=True, metavar="ITEM...", callback=_ids)
@KEY
@twin
async def take_out(at: SignedIn, plan_name: str, items: tuple[str, ...], key: str | None) -> Shown:
    """Take ITEMs out of your open PLAN; it is frozen anew under its name."""
    of, once = await found(at, plan_name), key_or_new(key)
    return shown_plan(at, await sure(plans.take_out(at.service, of.id, items, once), once))


@PLAN
@click.argument("warning", callback=within(KEY_MAX))
@REASON
@KEY
@twin
async def keep_in(at: SignedIn, plan_name: str, warning: str, reason: str, key: str | None) -> Shown:
    """Answer a WARNING of your open PLAN: its item stays in, and why."""
    of, once = await found(at, plan_name), key_or_new(key)
    return shown_plan(at, await sure(plans.keep_in(at.service, of.id, warning, reason, once), once))


@PLAN
@KEY
@twin
async def drop(at: SignedIn, plan_name: str, key: str | None) -> Shown:
    """Give your open PLAN up; its items are free again."""
    of, once = await found(at, plan_name), key_or_new(key)
    return shown_plan(at, await sure(plans.drop(at.service, of.id, once), once))


@PLAN
@KEY
@code_options
@twin
async def confirm(at: SignedIn, plan_name: str, key: str | None, code_from: str | None) -> Shown:
    """Read every row of your open PLAN, show its totals, and confirm it with the code from your phone."""
    of = await found(at, plan_name)
    if key is None:
        _refuse(at, of)
    reading = PlanReading(at.service, of)
    digest = await reading.run()
    read = reading.plan
    click.echo("\n".join(plain.plan_lines(read, at.settings.zone)), err=True)
    click.echo(f"\n{reading.checked:,} of {reading.count:,} rows read.", err=True)
    code = None
    if read.confirm_by is not None:
        code = await code_for(at, f"{read.title}: {read.name}", code_from, again=key is not None)
    return shown_plan(at, await confirmed(at, plans.Confirming(read, digest, key=key), code))


def _refuse(at: SignedIn, of: Plan) -> None:
    """Ends the process where the service would refuse for certain, before fifty thousand rows are read for it."""
    refuse_unfit(at, of, "plan", of.state, opened=of.state is PlanState.OPEN)
    if of.to_answer:
        wait = "1 warning waits" if of.to_answer == 1 else f"{of.to_answer:,} warnings wait"
        say = f"{wait} for an answer: take the item out, or keep it in. See: jobconsole bulk show {of.name} --warnings"
        fail(say, REFUSED)


for _name, _callback in (
    ("list", list_plans),
    ("plan", plan),
    ("show", show),
    ("take-out", take_out),
    ("keep-in", keep_in),
    ("drop", drop),
    ("confirm", confirm),
    *STEERING,
):
    bulk.add_command(click.command(_name, epilog=EPILOG)(_callback))
