"""Owns the hourly tally of the example: what went out in an hour, one note for each currency of it.

An hour that was missed is made up for as that hour: its key and its amounts are those of its own instant.
"""

from __future__ import annotations

from collections.abc import Sequence

from examples.payments.items import NOTES
from examples.payments.releases import released, stretch, totals
from jobcontract.money import Money
from jobservice.application import Application, JobCall, JobItem, NewWorkItem, Outcome, Selecting, done


async def by_currency(selecting: Selecting, after: str | None, limit: int) -> Sequence[JobItem]:
    """The currencies in which money went out since the run before, each with its total; none where nothing did."""
    start, end = stretch(selecting)
    amounts: dict[str, list[Money]] = {}
    async for each in released(selecting, start, end):
        if after is None or each.money.currency > after:
            amounts.setdefault(each.money.currency, []).append(each.money)
    return [
        JobItem(
            key=currency,
            label=currency,
            given={
                "from": f"{start:%Y-%m-%dT%H:%M}Z",
                "until": f"{end:%Y-%m-%dT%H:%M}Z",
                "totals": totals(amounts[currency]),
            },
        )
        for currency in sorted(amounts)[:limit]
    ]


async def tally(call: JobCall, item: JobItem) -> Outcome:
    """Keep the tally of one hour and currency as a note; where there is one already, it stays the only one."""
    start, end, sums = (str(item.given[name]) for name in ("from", "until", "totals"))
    note = NewWorkItem(
        key=f"tally-{start}-{item.key}",
        title=f"Released from {start} to {end}: {sums}",
        payload={"from": start, "until": end, "totals": sums, "run": call.scope},
    )
    await call.push(NOTES, note)
    return done(f"From {start} to {end}: {sums}")


def register(application: Application) -> None:
    """Register selection and use case under the ids that records name."""
    application.selection("releases.by-currency")(by_currency)
    application.use_case("payments.tally")(tally)
