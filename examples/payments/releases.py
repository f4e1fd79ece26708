"""Owns how jobs of the example look at payouts that went out: page by page, and what they come to. Pure but for the pages
that it asks for."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from datetime import datetime, timedelta

from jobcontract.money import Money, show
from jobservice.application import Released, Selecting, release_key

PAGE = 500
DAY = timedelta(days=1)


def since(selecting: Selecting) -> datetime:
    """From when on a run looks: the instant of its rhythm before it, so that neighbouring runs leave no gap; a day where
    the run has none before it."""
    return selecting.previous_at or selecting.scheduled_at - DAY


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
