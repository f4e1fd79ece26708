"""Owns what a person reads of occurrences, and asking that one be cancelled. Looking is not audited. Replaying and
discarding: `usecases/replays.py`.

Cancelling only asks: the Worker ends what runs and what waits, under its own walls.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.occurrence_names import occurrence_name, read_occurrence_name
from jobcontract.occurrences import (
    Attempt,
    CancelOrder,
    ItemCounts,
    Lease,
    Occurrence,
    OccurrenceChanged,
    OccurrenceItem,
    RefusedCompletion,
    Replay,
)
from jobcontract.permissions import Permission
from jobcontract.session import Person
from jobcontract.states import DeadCause, OccurrenceState
from jobservice.store import hints
from jobservice.store import items as item_store
from jobservice.store import occurrences as store
from jobservice.store.database import Row, Transaction
from jobservice.store.occurrences import FIRST_ITEM, ItemPlace, Place, Wanted
from jobservice.usecases.actor import Actor
from jobservice.usecases.audit import record, safe_subject
from jobservice.usecases.idempotency import Answered, Deed, Once, act_once
from jobservice.usecases.service import Service

ATTEMPTS = 200
"""Most attempts that an occurrence shows, the newest."""
REPLAYS = 100
"""Most replays that it shows, the newest."""
REFUSED = 100
"""Most refused completions that it shows, the newest."""
ITEMS = 50
"""Items that it shows with itself."""
ItemMark = tuple[str, int, int]
"""Where a page of items begins: the occurrence, and the place of the item before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Which occurrences a listing holds; no states = all of them. `since` is included, `until` is not."""

    schedule: str | None
    states: Collection[OccurrenceState]
    since: datetime | None
    until: datetime | None
    limit: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedOccurrences:
    """A page, the latest scheduled first; `last` is where the next begins, None where there is none."""

    occurrences: tuple[Occurrence, ...]
    last: Place | None
    now: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedItems:
    """A page of the items of a run; `last` is where the next begins, None where there is none."""

    items: tuple[OccurrenceItem, ...]
    last: ItemMark | None
    now: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOccurrence:
    """An occurrence with its attempts and refused completions, newest first, and the first of its items."""

    occurrence: Occurrence
    attempts: tuple[Attempt, ...]
    refused: tuple[RefusedCompletion, ...]
    items: ListedItems
    replays: tuple[Replay, ...]
    """The latest first."""


async def list_occurrences(service: Service, actor: Actor, asked: Asked, behind: Place | None) -> ListedOccurrences:
    """One page of the tenant's occurrences. A schedule that the records do not have any more may be asked for too.

    Refusal PERMISSION_MISSING without schedule.read, INVALID_REQUEST where the range ends before it begins.
    """
    actor.require(Permission.SCHEDULE_READ)
    if asked.since is not None and asked.until is not None and asked.since > asked.until:
        raise Refusal(
            ErrorCode.INVALID_REQUEST,
            f"since, {asked.since.isoformat()}, is later than until, {asked.until.isoformat()}: nothing is scheduled in "
            "between.",
        )
    wanted = Wanted(
        schedule=asked.schedule,
        states=tuple(sorted(asked.states)) or tuple(OccurrenceState),
        since=asked.since,
        until=asked.until,
    )
    async with service.database.transaction(actor.tenant) as transaction:
        rows = await store.page(transaction, wanted, behind=behind, most=asked.limit)
        now = transaction.began_at
    page = rows[: asked.limit]
    return ListedOccurrences(
        occurrences=tuple(_occurrence(service, row) for row in page),
        last=(page[-1]["scheduled_at"], page[-1]["id"]) if len(rows) > len(page) else None,
        now=now,
    )


async def read_occurrence(service: Service, actor: Actor, named: str) -> ReadOccurrence:
    """One occurrence by its id or its name, its items counted as they are now. Refusal PERMISSION_MISSING, NOT_FOUND."""
    actor.require(Permission.SCHEDULE_READ)
    async with service.database.transaction(actor.tenant) as transaction:
        found = await find_occurrence(transaction, named)
        identifier = str(found["id"])
        counted = await store.counted(transaction, identifier) or {}
        attempts = await store.attempts(transaction, identifier, most=ATTEMPTS)
        refused = await store.refused(transaction, identifier, most=REFUSED)
        replays = await store.replays(transaction, identifier, most=REPLAYS) if found["replays"] else ()
        items = await _items(transaction, identifier, FIRST_ITEM, ITEMS)
    return ReadOccurrence(
        occurrence=_occurrence(service, {**found, **counted}),
        attempts=tuple(Attempt.model_validate(row) for row in attempts),
        refused=tuple(RefusedCompletion.model_validate(row) for row in refused),
        items=items,
        replays=tuple(map(_replay, replays)),
    )


async def list_items(service: Service, actor: Actor, named: str, behind: ItemMark | None, limit: int) -> ListedItems:
    """One page of the items of a run: what failed first. Refusal PERMISSION_MISSING, NOT_FOUND, CURSOR_INVALID."""
    actor.require(Permission.SCHEDULE_READ)
    async with service.database.transaction(actor.tenant) as transaction:
        found = await find_occurrence(transaction, named)
        identifier = str(found["id"])
        if behind is not None and behind[0] != identifier:
            raise Refusal(
                ErrorCode.CURSOR_INVALID, "The cursor is one of another occurrence. Start again from the first page."
            )
        return await _items(transaction, identifier, FIRST_ITEM if behind is None else behind[1:], limit)


async def cancel(service: Service, actor: Actor, named: str, order: CancelOrder, once: Once) -> Answered:
    """Ask that an occurrence be cancelled (`OccurrenceChanged`): it is not started, or it is stopped, by a Worker.

    Asking again changes nothing and says who asked first. Refusal PERMISSION_MISSING without occurrence.cancel,
    NOT_FOUND, OCCURRENCE_ENDED with how it ended.
    """

    async def work(transaction: Transaction) -> Answered:
        named_row = await find_occurrence(transaction, named)
        identifier = str(named_row["id"])
        found = await store.lock(transaction, identifier)
        if found is None:
            raise unknown_occurrence(named)
        name = occurrence_name(found["schedule"], found["scheduled_at"])
        _refuse_ended(name, found)
        if found["cancel_asked_at"] is None:
            version = await store.cancel(transaction, identifier, person=actor.person, reason=order.reason)
            if version is None:
                raise RuntimeError("a locked occurrence is as it was read")
            detail = {"occurrence": name, "schedule": found["schedule"], "state": found["state"]}
            await record(transaction, actor, "cancel-occurrence", identifier, {**detail, "reason": order.reason})
            now = await item_store.now(transaction)
            # Hints of a schedule come from its occurrences and from itself: the instant alone rises over all of them.
            await hints.add_schedule(transaction, schedule=found["schedule"], version=int(now.timestamp() * 1_000_000))
        changed = await occurrence_changed(transaction, service, identifier)
        return Answered(status=200, body=changed.model_dump(mode="json"))

    deed = Deed(action="cancel-occurrence", subject=safe_subject(named), permission=Permission.OCCURRENCE_CANCEL)
    return await act_once(service, actor, deed, once, work)


async def occurrence_changed(transaction: Transaction, service: Service, identifier: str) -> OccurrenceChanged:
    """How an occurrence that this transaction has locked stands after an order."""
    shown = await store.of_id(transaction, identifier)
    if shown is None:
        raise RuntimeError("a locked occurrence is there")
    counted = await store.counted(transaction, identifier) or {}
    return OccurrenceChanged(
        occurrence=_occurrence(service, {**shown, **counted}), now=await item_store.now(transaction)
    )


def _refuse_ended(name: str, found: Row) -> None:
    """Refusal OCCURRENCE_ENDED, naming how it ended."""
    state = OccurrenceState(found["state"])
    if not state.ended:
        return
    cause = None if found["cause"] is None else DeadCause(found["cause"])
    at = f"{found['ended_at']:%Y-%m-%d %H:%M:%S} UTC"
    if cause is DeadCause.CANCELLED:
        by = f" as {found['cancelled_by_name']} asked" if found["cancelled_by_name"] else ""
        how = f"was cancelled at {at}{by}"
    elif cause is not None:
        how = f"became a dead letter at {at} ({cause})"
    else:
        how = f"was completed at {at}"
    raise Refusal(
        ErrorCode.OCCURRENCE_ENDED,
        f"{name} {how}: there is nothing left to cancel.",
        state=state.value,
        cause=None if cause is None else cause.value,
        ended_at=found["ended_at"].isoformat(),
    )


async def find_occurrence(transaction: Transaction, named: str) -> Row:
    """The occurrence of that id or name in the tenant. Refusal NOT_FOUND."""
    name = read_occurrence_name(named)
    if name is None:
        found = await store.of_id(transaction, named)
    else:
        schedule, at = name
        found = await store.of_instant(transaction, schedule, at)
    if found is None:
        raise unknown_occurrence(named)
    return found


def unknown_occurrence(named: str) -> Refusal:
    """The refusal of an occurrence that the tenant does not have."""
    how = "Name it by its id, or by schedule and instant"
    if "@" in named and read_occurrence_name(named) is None:
        how = "After the @ it takes a whole instant with Z or an offset"
    like = "like statements.nightly@2026-10-26T01:30:00Z"
    return Refusal(ErrorCode.NOT_FOUND, f"There is no occurrence {named[:120]!r}. {how}, {like}.")


async def _items(transaction: Transaction, occurrence: str, behind: ItemPlace, limit: int) -> ListedItems:
    rows = await store.items(transaction, occurrence, behind=behind, most=limit)
    page = rows[:limit]
    return ListedItems(
        items=tuple(OccurrenceItem.model_validate(row) for row in page),
        last=(occurrence, page[-1]["kind"], page[-1]["number"]) if len(rows) > len(page) else None,
        now=transaction.began_at,
    )


def _occurrence(service: Service, row: Row) -> Occurrence:
    schedule = service.records.schedules.get(row["schedule"])
    return Occurrence(
        id=row["id"],
        name=occurrence_name(row["schedule"], row["scheduled_at"]),
        schedule=row["schedule"],
        tenant=row["tenant"],
        scheduled_at=row["scheduled_at"],
        local=row["local"],
        zone=row["zone"],
        clock=row["clock"],
        clock_policy=row["clock_policy"],
        tzdata=row["tzdata"],
        origin=row["origin"],
        state=row["state"],
        due_at=row["due_at"],
        attempts=row["attempts"],
        attempts_most=None if schedule is None else schedule.attempts,
        started_at=row["started_at"],
        ended_at=row["ended_at"],
        lease=_lease(row),
        items=ItemCounts(
            done=row["done"],
            refused=row["refused"],
            failed=row["failed"],
            unfinished=row["unfinished"],
            selected_all=row["selected_all"],
        ),
        cause=row["cause"],
        error=row["error"],
        cancel_asked_at=row["cancel_asked_at"],
        cancelled_by=None
        if row["cancelled_by"] is None
        else Person(id=row["cancelled_by"], name=row["cancelled_by_name"]),
        cancel_reason=row["cancel_reason"],
        version=row["version"],
        replays=row["replays"],
        discarded_at=row["discarded_at"],
        discarded_by=None
        if row["discarded_by"] is None
        else Person(id=row["discarded_by"], name=row["discarded_by_name"]),
        discard_reason=row["discard_reason"],
    )


def _replay(row: Row) -> Replay:
    told = {**row, "person": Person(id=row["person"], name=row["person_name"])}
    del told["person_name"]
    return Replay.model_validate(told)


def _lease(row: Row) -> Lease | None:
    if row["holder"] is None:
        return None
    return Lease(
        worker=row["holder"],
        host=row["host"],
        fence=row["fence"],
        taken_at=row["taken_at"],
        expires_at=row["expires_at"],
        renewals=row["renewals"],
    )
