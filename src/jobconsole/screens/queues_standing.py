"""Owns where a row stands in the list on the screen, from the rows that are loaded around it. Never asks the service."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jobconsole.present.scores import Standing
from jobcontract.states import ItemView

if TYPE_CHECKING:
    from jobconsole.screens.queues_listing import Listing
    from jobcontract.items import Item
    from jobcontract.queues import Queue


def standing_of(listing: Listing, queue: Queue, item: Item, *, filtered: bool) -> Standing:
    """Where the item stands among the rows that are loaded."""
    at = listing.index(item.id)
    return Standing(
        place=at + 1 if at is not None and listing.pages.begun else None,
        above=_near(listing, at, -1),
        below=_near(listing, at, 1),
        scored=queue.score is not None or item.score is not None,
        waits=listing.view is ItemView.WAITING,
        by_score=not listing.by_amount,
        filtered=filtered,
    )


def _near(listing: Listing, at: int | None, by: int) -> Item | None:
    """The row `by` rows further down, where it is loaded and has not gone."""
    if at is None or not 0 <= at + by < len(listing):
        return None
    key = listing.key(at + by)
    return None if listing.departed(key) else listing.item(key)
