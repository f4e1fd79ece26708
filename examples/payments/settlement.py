"""Owns the settlement of the example: every payout that went out is settled once, in the order in which they went.

The cursor of the job stands behind the last one that was settled, so nothing is passed over and nothing is done again.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from examples.payments.items import NOTES
from examples.payments.releases import settled_until
from jobcontract.ids import NAME_MAX
from jobcontract.money import show
from jobservice.application import (
    Application,
    JobCall,
    JobItem,
    NewWorkItem,
    Outcome,
    Selecting,
    done,
    release_key,
)

FIRST = datetime(2020, 1, 1, tzinfo=UTC)
"""Before anything that this application ever paid."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


async def unsettled(selecting: Selecting, after: str | None, limit: int) -> Sequence[JobItem]:
    """The payouts that went out behind the cursor, in their order; none that a slower one could still come in before."""
    start, end = FIRST if after is None else _instant(after), settled_until(selecting)
    found = await selecting.released(since=start, until=end, after=after, limit=limit)
    return [
        JobItem(
            key=release_key(each),
            label=f"{show(each.money)} to {each.payee_name}"[:NAME_MAX],
            given={
                "item": each.item,
                "money": show(each.money),
                "payee": each.payee_name,
                "released": f"{each.at:%Y-%m-%d %H:%M:%S %Z}",
            },
        )
        for each in found
    ]


def _instant(key: str) -> datetime:
    """The instant of the payout that a key names: its microseconds stand first."""
    return _EPOCH + timedelta(microseconds=int(key.partition("-")[0]))


async def settle(call: JobCall, item: JobItem) -> Outcome:
    """Keep a note that the payout was settled; where there is one already, it stays the only one."""
    payout, money, payee, when = (str(item.given[name]) for name in ("item", "money", "payee", "released"))
    note = NewWorkItem(
        key=f"settlement-{payout}",
        title=f"Settled: {money} to {payee}"[:NAME_MAX],
        payload={"payout": payout, "released": when, "run": call.scope},
    )
    await call.push(NOTES, note)
    return done(f"Settled: {money}, released {when}")


def register(application: Application) -> None:
    """Register selection and use case under the ids that records name."""
    application.selection("settlement.unsettled")(unsettled)
    application.use_case("payments.settle")(settle)
