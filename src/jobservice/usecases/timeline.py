"""Owns what a person reads of an incident: what happened in a stretch of time, over all nouns, merged page by page.

Each source gives at most a page, from the mark on; the page is the earliest of all. Looking is not audited.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from datetime import datetime, timedelta

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.ids import PAGE_MAX
from jobcontract.operating import TimelineKind
from jobcontract.permissions import Permission
from jobcontract.session import Person
from jobcontract.timeline import TIMELINE_DAYS, TimelineEntry
from jobservice.rules.timeline import Mark, Source, sources
from jobservice.store import timeline as store
from jobservice.store.database import Row
from jobservice.store.items import Reach
from jobservice.usecases.actor import Actor
from jobservice.usecases.items import reach
from jobservice.usecases.service import Service

STATEMENT_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedTimeline:
    """The stretch (`since` belongs to it, `until` does not), the kinds (empty: all), and rows of a page."""

    since: datetime
    until: datetime
    kinds: frozenset[TimelineKind] = frozenset()
    limit: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedTimeline:
    """One page, the earliest first; `last` is where the next begins, None at the end."""

    entries: tuple[TimelineEntry, ...]
    last: Mark | None
    now: datetime


async def read_timeline(service: Service, actor: Actor, asked: AskedTimeline, after: Mark | None) -> ListedTimeline:
    """One page behind `after`. Refusals: PERMISSION_MISSING without timeline.read, INVALID_REQUEST for a stretch that ends
    before it begins or is longer than `TIMELINE_DAYS`."""
    actor.require(Permission.TIMELINE_READ)
    _refuse_odd(asked)
    most = max(1, min(asked.limit, PAGE_MAX))
    origins = sources(asked.kinds)
    stretches = [_stretch(source, asked, after, reach(actor)) for source in origins]
    async with service.database.transaction(
        actor.tenant, statement_seconds=STATEMENT_SECONDS, by_index=True
    ) as transaction:
        told = await store.stretches(transaction, stretches, until=asked.until, most=most)
        now = transaction.began_at
    found: list[list[tuple[Mark, Source, Row]]] = [
        [((row["at"], source.rank, row["key"]), source, row) for row in rows]
        for source, rows in zip(origins, told, strict=True)
    ]
    # Rows of one source stand in the database's order, which need not be that of Python: instant and rank merge them.
    merged = list(heapq.merge(*found, key=lambda each: each[0][:2]))
    shown = merged[:most]
    return ListedTimeline(
        entries=tuple(_entry(source, row) for _, source, row in shown),
        last=shown[-1][0] if len(merged) > most else None,
        now=now,
    )


def _refuse_odd(asked: AskedTimeline) -> None:
    if asked.until <= asked.since:
        raise Refusal(ErrorCode.INVALID_REQUEST, "The stretch ends before it begins: until has to be later than since.")
    if asked.until - asked.since > timedelta(days=TIMELINE_DAYS):
        raise Refusal(
            ErrorCode.INVALID_REQUEST, f"A timeline is of {TIMELINE_DAYS} days at most. Ask for a shorter one."
        )


def _stretch(source: Source, asked: AskedTimeline, after: Mark | None, seen: Reach) -> store.Stretch:
    """What to ask of a source behind the mark: of the mark's instant, those of a later source, or its own behind the key."""
    begin, key = asked.since, None
    if after is not None:
        at, rank, last = after
        begin = at + timedelta(microseconds=1) if source.rank < rank else at
        key = last if source.rank == rank else None
    more = {**source.asks(asked.kinds), **(seen.parameters() if source.narrowed else {})}
    return store.Stretch(name=source.statement, begin=begin, mark=key, more=more)


def _entry(source: Source, row: Row) -> TimelineEntry:
    told = source.tell(row)
    person = None
    if row.get("person") is not None:
        person = Person(id=row["person"], name=row["person_name"] or row["person"])
    return TimelineEntry(at=row["at"], kind=told.kind, subject=told.subject, person=person, sentence=told.sentence)
