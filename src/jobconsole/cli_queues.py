"""Owns the headless twins of the queue screens: looking at queues and items, and claiming. Acts: `cli_acts.py`.

Each runs the function of `client/` that the screen runs.
"""

from __future__ import annotations

from typing import Any

import click

from jobconsole.cli_acts import ACTS
from jobconsole.cli_connection import (
    CURSOR_MAX,
    EPILOG,
    Shown,
    SignedIn,
    connection_options,
    hand_down,
    item_id,
    same_key,
    sure,
    twin,
    why,
    within,
)
from jobconsole.cli_filters import filter_of, filters
from jobconsole.cli_scores import SCORES
from jobconsole.client import queues as client
from jobconsole.present import plain
from jobcontract.ids import FILTER_MAX, KEY_MAX, PAGE_MAX
from jobcontract.items import Claimed, ItemPage
from jobcontract.starts import START_MAX
from jobcontract.states import ItemView

ITEM = click.argument("item", callback=item_id)
QUEUE = click.argument("queue", callback=within(KEY_MAX))
KEY = click.option(
    "--key", metavar="KEY", callback=same_key, help="Idempotency key: repeat an order with its first key."
)
FILTER = click.option(
    "--filter",
    "filter_text",
    metavar="TEXT",
    default="",
    callback=within(FILTER_MAX, empty=True),
    help="Only what matches, as on the screen (`amount>1000 currency:EUR`), or @ and a saved filter's name.",
)
FENCE = click.option("--fence", type=click.IntRange(min=1), help="Fence of the claim; else the item's present one.")


@click.group("queues", epilog=EPILOG, invoke_without_command=True)
@connection_options
@click.pass_context
def queues(ctx: click.Context, /, **options: Any) -> None:
    """Human work queues: list, show, claim, act. Alone: the list."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(queues.commands["list"], **options)
    hand_down(ctx, options)


@twin
async def list_queues(at: SignedIn) -> Shown:
    """The queues that you may read."""
    answer = await client.queues(at.service)
    return Shown(answer=answer, lines=plain.queues_lines(answer.queues))


@QUEUE
@FILTER
@twin
async def totals(at: SignedIn, queue: str, filter_text: str) -> Shown:
    """What waits in QUEUE, per currency."""
    answer = await client.totals(at.service, queue, filter=filter_of(at.settings.profile, queue, filter_text))
    return Shown(answer=answer, lines=plain.totals_lines(answer, at.settings.zone))


@QUEUE
@click.option(
    "--view", type=click.Choice([view.value for view in ItemView]), default=ItemView.WAITING.value, show_default=True
)
@click.option("--limit", type=click.IntRange(1, PAGE_MAX), default=100, show_default=True, help="Rows of the page.")
@click.option("--cursor", metavar="CURSOR", callback=within(CURSOR_MAX), help="`next` or `previous` of another page.")
@FILTER
@click.option(
    "--start",
    metavar="PLACE",
    callback=within(START_MAX),
    help="Where the page begins: first, last, score:80, or item: and an item's id or key.",
)
@click.option(
    "--all", "everything", is_flag=True, help="Every page, from the first row; what moved meanwhile included."
)
@twin
async def items(
    at: SignedIn,
    queue: str,
    view: str,
    limit: int,
    cursor: str | None,
    filter_text: str,
    start: str | None,
    everything: bool,
) -> Shown:
    """Items of QUEUE in its order: highest score first, where it has scores, else oldest first."""
    wanted, chosen = ItemView(view), filter_of(at.settings.profile, queue, filter_text)
    if everything and (start is not None or cursor is not None):
        raise click.UsageError("--all lists from the first row to the last: leave --start and --cursor away.")
    if everything:
        whole = await client.every_item(at.service, queue, view=wanted, filter=chosen)
        return Shown(answer=whole, lines=plain.items_lines(whole.items, at.settings.zone))
    page = await client.items(at.service, queue, view=wanted, filter=chosen, start=start, cursor=cursor, limit=limit)
    return Shown(answer=page, lines=[*plain.items_lines(page.items, at.settings.zone), *_around(page)])


def _around(page: ItemPage) -> list[str]:
    """How to go on from a page, in words."""
    caught = ["", "These were placed anew since the first page, anywhere in the list."] if page.catch_up else []
    before = [f"Before these: --cursor {page.previous}"] if page.previous else []
    after = [f"There are more: --cursor {page.next}  (or --all)"] if page.next else []
    more = [*before, *after]
    return [*caught, *([""] if more else []), *more]


@ITEM
@twin
async def show(at: SignedIn, item: str) -> Shown:
    """ITEM with its history."""
    answer = await client.item(at.service, item)
    return Shown(answer=answer, lines=plain.detail_lines(answer, at.settings.zone))


@ITEM
@KEY
@twin
async def claim(at: SignedIn, item: str, key: str | None) -> Shown:
    """Claim ITEM."""
    once = key or client.new_key()
    return _claimed(await sure(client.claim(at.service, item, once), once), at)


@QUEUE
@FILTER
@KEY
@twin
async def claim_next(at: SignedIn, queue: str, filter_text: str, key: str | None) -> Shown:
    """Claim the first free item of QUEUE in its order, of those that match the filter."""
    chosen = filter_of(at.settings.profile, queue, filter_text)
    once = key or client.new_key()
    return _claimed(await sure(client.claim_next(at.service, queue, once, filter=chosen), once), at)


@ITEM
@FENCE
@KEY
@twin
async def renew(at: SignedIn, item: str, fence: int | None, key: str | None) -> Shown:
    """Keep your claim on ITEM for another lease."""
    held = fence or await _fence(at, item)
    once = key or client.new_key()
    return _claimed(await sure(client.renew_claim(at.service, item, held, once), once, fence=held), at)


@ITEM
@FENCE
@KEY
@twin
async def release_claim(at: SignedIn, item: str, fence: int | None, key: str | None) -> Shown:
    """Give your claim on ITEM back."""
    held = fence or await _fence(at, item)
    once = key or client.new_key()
    return _claimed(await sure(client.release_claim(at.service, item, held, once), once, fence=held), at)


@ITEM
@click.option("--reason", required=True, callback=why, help="Why; you and your colleague both see it.")
@FENCE
@KEY
@twin
async def break_claim(at: SignedIn, item: str, reason: str, fence: int | None, key: str | None) -> Shown:
    """Take the claim on ITEM from a colleague."""
    held = fence or await _fence(at, item)
    once = key or client.new_key()
    return _claimed(await sure(client.break_claim(at.service, item, held, reason, once), once, fence=held), at)


async def _fence(at: SignedIn, item: str) -> int:
    """The fence of the item's present claim; at least 1, so that the service answers for an item never claimed."""
    return max((await client.item(at.service, item)).item.fence, 1)


def _claimed(answer: Claimed, at: SignedIn) -> Shown:
    return Shown(answer=answer, lines=plain.claimed_lines(answer, at.settings.zone), acted=True)


for _name, _callback in (
    ("list", list_queues),
    ("totals", totals),
    ("items", items),
    ("show", show),
    ("claim", claim),
    ("claim-next", claim_next),
    ("renew-claim", renew),
    ("release-claim", release_claim),
    ("break-claim", break_claim),
    *SCORES,
    *ACTS,
):
    queues.add_command(click.command(_name, epilog=EPILOG)(_callback))
queues.add_command(filters)
