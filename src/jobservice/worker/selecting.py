"""Owns what a selection may look at, and asking one for its next items. Reads only, and one tenant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from jobcontract.ids import NAME_MAX, storable
from jobservice.application import JobItem, Released, SelectionFunction, WorkItem
from jobservice.rules.queues import Queue
from jobservice.rules.rhythms import previous_instant
from jobservice.rules.schedules import Schedule
from jobservice.store import selecting as store
from jobservice.store.database import Transaction
from jobservice.usecases.service import find_queue

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LIMIT_MOST = 1_000
"""Most rows of one look."""


class SelectionUnfit(Exception):
    """A selection gave what no run can work with; the text is a sentence that is safe to show."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSelecting:
    """`jobservice.application.Selecting` in one transaction."""

    transaction: Transaction
    definition: Schedule
    tenant: str
    scheduled_at: datetime
    queues: Mapping[str, Queue]

    @property
    def schedule(self) -> str:
        """Id of the schedule."""
        return self.definition.id

    @property
    def previous_at(self) -> datetime | None:
        """The instant of the rhythm before it, UTC; None where there is none, and of a manual run."""
        if self.definition.rhythm is None:
            return None
        previous = previous_instant(self.definition.rhythm, self.scheduled_at)
        return None if previous is None else previous.at

    async def released(self, *, since: datetime, until: datetime, after: str | None, limit: int) -> Sequence[Released]:
        """Payouts released in [since, until), in their order; ValueError where `after` is no key of a release."""
        place = None if after is None else _place(after)
        return await store.released(self.transaction, since=since, until=until, after=place, limit=_bounded(limit))

    async def waiting(self, queue: str, *, after: str | None, limit: int) -> Sequence[WorkItem]:
        """Waiting items of a queue in the order of their ids; Refusal NOT_FOUND (queue), ValueError (`after`)."""
        place = None if after is None else UUID(after)
        find_queue(self.queues, queue)
        return await store.waiting(self.transaction, queue, after=place, limit=_bounded(limit))


async def select(
    function: SelectionFunction, selecting: RunSelecting, after: str | None, limit: int
) -> tuple[JobItem, ...]:
    """The next items of a selection, checked; SelectionUnfit, or whatever the function raises."""
    found: Sequence[object] = await function(selecting, after, limit)
    items = tuple(item for item in found if isinstance(item, JobItem))
    if len(items) < len(found):
        raise SelectionUnfit("The selection gave something that is no item of a job.")
    if len(items) > limit:
        raise SelectionUnfit(f"The selection gave {len(items):,} items where at most {limit:,} were asked for.")
    keys: set[str] = set()
    for item in items:
        _check(item)
        if item.key in keys:
            raise given_twice(item.key)
        keys.add(item.key)
    if after is not None and after in keys:
        raise SelectionUnfit(
            f"The selection gave {after[:80]!r} again: it does not go on behind the key that it is given."
        )
    return items


def given_twice(key: str) -> SelectionUnfit:
    """What is said of a selection that gave a key again within one run."""
    return SelectionUnfit(f"The selection gave the key {key[:80]!r} twice.")


def _check(item: JobItem) -> None:
    """SelectionUnfit where an item cannot be kept, whatever its types promise."""
    texts: tuple[tuple[str, object], ...] = (("key", item.key), ("label", item.label))
    for what, text in texts:
        if not (isinstance(text, str) and 0 < len(text) <= NAME_MAX and storable(text)):
            raise SelectionUnfit(f"The selection gave an item whose {what} is not text of 1 to {NAME_MAX} characters.")
    given: object = item.given
    if not isinstance(given, Mapping) or not all(_fits(name) and _fits(value) for name, value in given.items()):
        raise SelectionUnfit(f"The selection gave {item.key[:80]!r} something that is no text, number or yes and no.")


def _fits(value: object) -> bool:
    return storable(value) if isinstance(value, str) else isinstance(value, int)


def _place(key: str) -> tuple[datetime, UUID]:
    """What `release_key` made of a release."""
    moment, _, item = key.partition("-")
    return _EPOCH + timedelta(microseconds=int(moment)), UUID(item)


def _bounded(limit: int) -> int:
    return max(0, min(limit, LIMIT_MOST))
