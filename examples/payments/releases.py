"""Owns how jobs of the example look at payouts that went out: page by page, and what they come to. Pure but for the pages
that it asks for."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from datetime import datetime, timedelta

from jobcontract.money import Money, show
from jobservice.application import Released, Selecting, release_key

PAGE = 500
DAY = timedelta(days=1)
SEEN_AFTER = timedelta(minutes=1)
"""A payout has its time before its transaction ends, and is seen after: one younger than this could still come in behind a
run. The transaction of a release is over sooner, also where its Worker was frozen: the server ends it."""


def stretch(selecting: Selecting) -> tuple[datetime, datetime]:
    """From when until when a run looks: from the instant of its rhythm before it, so that neighbouring runs leave no gap
    (a day where there is none), each less `SEEN_AFTER`."""
    start = selecting.previous_at or selecting.scheduled_at - DAY
    return start - SEEN_AFTER, settled_until(selecting)


def settled_until(selecting: Selecting) -> datetime:
    """Until when everything that went out is certain to be seen by a run."""
    return selecting.scheduled_at - SEEN_AFTER


async def released(selecting: Selecting, start: datetime, end: datetime) -> AsyncIterator[Released]:
    """Every payout released in [start, end), in the order of their time."""
    after: str | None = None
    while page := await selecting.released(since=start, until=end, after=after, limit=PAGE):
        for each in page:
            yield each
        after = release_key(page[-1])


def totals(amounts: Iterable[Money]) -> str:
    """What goes out and what comes back in each currency, each with its count; never netted (`GBP 5.00 out in 2`)."""
    sums: dict[tuple[str, bool], list[int]] = {}
    for money in amounts:
        sums.setdefault((money.currency, money.credit), []).append(money.minor)
    return "; ".join(
        f"{show(Money(minor=sum(minors), currency=currency))} {'back' if credit else 'out'} in {len(minors):,}"
        for (currency, credit), minors in sorted(sums.items())
    )
