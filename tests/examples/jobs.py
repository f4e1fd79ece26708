"""Owns what jobs of the example are run against in tests: a selection over releases and items given, a call that records.

Both keep to the promises of the seam: pages in order, [since, until), one item a business key.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from examples.payments import application
from jobcontract.money import Money
from jobservice.application import JobItem, NewWorkItem, Outcome, Released, WorkItem, release_key

AT = datetime(2026, 10, 26, 1, 30, tzinfo=UTC)
"""The instant of the run where a test names none."""


@dataclass
class GivenSelecting:
    """A run at `scheduled_at` over what is given; `looks` counts the pages that were asked for."""

    scheduled_at: datetime = AT
    previous_at: datetime | None = AT - timedelta(days=1)
    releases: Sequence[Released] = ()
    items: Sequence[WorkItem] = ()
    tenant: str = "leeds"
    schedule: str = "statements.nightly"
    looks: int = 0

    async def released(self, *, since: datetime, until: datetime, after: str | None, limit: int) -> Sequence[Released]:
        self.looks += 1
        found = sorted((each for each in self.releases if since <= each.at < until), key=release_key)
        return [each for each in found if after is None or release_key(each) > after][:limit]

    async def waiting(self, queue: str, *, after: str | None, limit: int) -> Sequence[WorkItem]:
        self.looks += 1
        found = sorted((each for each in self.items if each.queue == queue), key=lambda item: item.id)
        return [each for each in found if after is None or each.id > after][:limit]


@dataclass
class RecordingCall:
    """A call in leeds; `pushed` is what the use case pushed, by queue and business key."""

    scheduled_at: datetime = AT
    tenant: str = "leeds"
    schedule: str = "statements.nightly"
    attempt: int = 1
    now: datetime = AT
    scope: str = "statements.nightly@2026-10-26T01:30:00Z/item"
    pushed: dict[tuple[str, str], NewWorkItem] = field(default_factory=dict)

    async def push(self, queue: str, item: NewWorkItem) -> str:
        self.pushed.setdefault((queue, item.key), item)
        return f"{queue}/{item.key}"

    async def wait(self, seconds: float) -> None:
        raise AssertionError(f"waits {seconds} s")


def release(
    number: int, at: datetime, minor: int, *, currency: str = "GBP", payee: str = "S-1", name: str = "Acme Ltd"
) -> Released:
    """A payout that went out."""
    return Released(
        item=f"00000000-0000-7000-8000-{number:012d}",
        queue="payments.payouts",
        at=at,
        money=Money(minor=minor, currency=currency),
        payee_id=payee,
        payee_name=name,
    )


async def every(selection: str, selecting: GivenSelecting, *, limit: int = 2) -> list[JobItem]:
    """All that a registered selection gives, batch by batch, as a run asks for it."""
    function = application.selections[selection]
    found: list[JobItem] = []
    while batch := await function(selecting, found[-1].key if found else None, limit):
        found += batch
        assert len(batch) <= limit
        assert len({item.key for item in found}) == len(found), "it gives a key again"
    return found


async def run(use_case: str, items: Sequence[JobItem], call: RecordingCall) -> list[Outcome]:
    """Run a registered use case on each item."""
    return [await application.use_cases[use_case](call, item) for item in items]
