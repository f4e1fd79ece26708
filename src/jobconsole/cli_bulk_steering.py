"""Owns the headless twins of what follows a confirmation: watching, pausing, resuming, aborting, and saying of an
uncertain payout whether it was paid.

`watch` ends with 0 where every item was done, 3 where somebody has to find out (uncertain), else 1.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import click

from jobconsole.cli_codes import code_options, typed_code
from jobconsole.cli_connection import AWAY, DONE, REFUSED, Shown, SignedIn, item_id, same_key, sure, twin, why, within
from jobconsole.client import money, plans, queues
from jobconsole.client.errors import ServiceAway
from jobconsole.present import plain_plans as plain
from jobconsole.present.text import line
from jobcontract.ids import KEY_MAX
from jobcontract.plans import Plan
from jobcontract.states import Turn

PLAN = click.argument("plan_name", metavar="PLAN", callback=within(KEY_MAX))
REASON = click.option("--reason", required=True, callback=why, help="Why.")
KEY = click.option(
    "--key", metavar="KEY", callback=same_key, help="Idempotency key: repeat an order with its first key."
)
FENCE = click.option("--fence", type=click.IntRange(min=1), help="Fence of your claim on it; else its present one.")
PAUSE = 1.0
"""Seconds between two looks at a plan that is watched."""


async def found(at: SignedIn, name: str) -> Plan:
    """The plan of that id or name."""
    return await plans.find(at.service, name)


def key_or_new(key: str | None) -> str:
    """The key that was given, else a new one."""
    return key or queues.new_key()


def shown_plan(at: SignedIn, answer: Plan, *, acted: bool = True) -> Shown:
    """A plan as it is printed."""
    return Shown(answer=answer, lines=plain.plan_lines(answer, at.settings.zone), acted=acted)


@PLAN
@twin
async def watch(at: SignedIn, plan_name: str) -> Shown:
    """Say how far a PLAN is, on standard error, until it ends; then its account."""
    of = await found(at, plan_name)
    said = ""
    while True:
        now = plain.progress_line(of)
        if now != said:
            click.echo(now, err=True)
            said = now
        if not of.state.live:
            break
        await wait()
        try:
            of = await plans.plan(at.service, of.id)
        except ServiceAway as away:
            click.echo(f"still watching: {line(away.sentence)}", err=True)
    return Shown(answer=of, lines=plain.plan_lines(of, at.settings.zone), code=_ended(of))


async def wait() -> None:
    """Until the next look."""
    await asyncio.sleep(PAUSE)


def _ended(of: Plan) -> int:
    counts = {turn.turn: turn.count for turn in of.account}
    if counts.get(Turn.UNCERTAIN):
        return AWAY
    return DONE if counts.get(Turn.DONE) == of.count else REFUSED


@PLAN
@REASON
@KEY
@twin
async def pause(at: SignedIn, plan_name: str, reason: str, key: str | None) -> Shown:
    """Let no further item of PLAN begin."""
    of, once = await found(at, plan_name), key_or_new(key)
    return shown_plan(at, await sure(plans.pause(at.service, of.id, reason, once), once))


@PLAN
@KEY
@code_options
@twin
async def resume(at: SignedIn, plan_name: str, key: str | None, code_from: str | None) -> Shown:
    """Go on with a paused PLAN, with a code of yours."""
    of, once = await found(at, plan_name), key_or_new(key)
    code = typed_code(code_from, f"Go on with {of.name}: {of.title}, {of.count:,} items")
    return shown_plan(at, await sure(plans.resume(at.service, of.id, code, once), once))


@PLAN
@REASON
@KEY
@twin
async def abort(at: SignedIn, plan_name: str, reason: str, key: str | None) -> Shown:
    """End a confirmed PLAN; items without a turn are given back."""
    of, once = await found(at, plan_name), key_or_new(key)
    return shown_plan(at, await sure(plans.abort(at.service, of.id, reason, once), once))


@click.argument("item", callback=item_id)
@click.option("--reference", required=True, callback=within(KEY_MAX), help="What the bank calls it.")
@REASON
@FENCE
@KEY
@twin
async def was_paid(at: SignedIn, item: str, reference: str, reason: str, fence: int | None, key: str | None) -> Shown:
    """Say of the payout that the review ITEM asks about: it went out."""
    held, once = fence or await _fence(at, item), key_or_new(key)
    saying = money.was_paid(at.service, item, held, reference, reason, once)
    answer = await sure(saying, once, fence=held)
    return Shown(answer=answer, lines=plain.settled_lines(answer), acted=True)


@click.argument("item", callback=item_id)
@REASON
@FENCE
@KEY
@code_options
@twin
async def was_not_paid(
    at: SignedIn, item: str, reason: str, fence: int | None, key: str | None, code_from: str | None
) -> Shown:
    """Say of the payout that the review ITEM asks about: it did not go out. Takes a code of yours, not the owner's."""
    held, once = fence or await _fence(at, item), key_or_new(key)
    code = typed_code(code_from, "This payout was not paid, and may be planned again")
    saying = money.was_not_paid(at.service, item, held, reason, code, once)
    answer = await sure(saying, once, fence=held)
    return Shown(answer=answer, lines=plain.settled_lines(answer), acted=True)


async def _fence(at: SignedIn, item: str) -> int:
    """The fence of the item's present claim; at least 1, so that the service answers for one never claimed."""
    return max((await queues.item(at.service, item)).item.fence, 1)


STEERING: tuple[tuple[str, Callable[..., Any]], ...] = (
    ("watch", watch),
    ("pause", pause),
    ("resume", resume),
    ("abort", abort),
    ("was-paid", was_paid),
    ("was-not-paid", was_not_paid),
)
"""Name and callback of each, for the `bulk` group."""
