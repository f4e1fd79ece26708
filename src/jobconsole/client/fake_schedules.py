"""Owns schedules, occurrences and Workers of the fake service: its routes, and what a test puts there by hand.

    fake.jobs.add("t.minutely", every=60)              # or every=None: a manual one
    occurrence = fake.jobs.plan("t.minutely", at, OccurrenceState.PROCESSING, attempts=2)
    fake.jobs.put_items(occurrence, OutcomeKind.DONE, OutcomeKind.FAILED, None)
    fake.jobs.end(occurrence, OccurrenceState.COMPLETED)
    fake.jobs.workers.append(worker)

Computes instants of `every` alone: what a change of the clock does is the service's to say.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from jobconsole.client.fake_asked import TENANT, Asked, Handler
from jobconsole.client.fake_occurrence import counted, ended_words, occurrence, of_run, scheduled
from jobcontract.errors import ErrorCode, Refusal
from jobcontract.events import Topic
from jobcontract.occurrence_names import read_instant, read_occurrence_name
from jobcontract.occurrences import (
    Attempt,
    CancelOrder,
    Lease,
    Occurrence,
    OccurrenceChanged,
    OccurrenceDetail,
    OccurrenceItem,
    OccurrenceItems,
    Occurrences,
    RefusedCompletion,
    Replay,
)
from jobcontract.schedules import (
    NEXT_MOST,
    RECENT,
    NextInstants,
    Planned,
    Recent,
    Schedule,
    ScheduleDetail,
    Schedules,
    SkippedInstants,
)
from jobcontract.states import OccurrenceState, OutcomeKind, ScheduleStanding
from jobcontract.workers import Worker, Workers

LATE_AFTER = timedelta(seconds=5)
TZDATA = "2026f"
ITEMS = 50
"""Items that an occurrence shows with itself."""
BY_HAND = "A person starts it: it has no instants of its own."
_EARLIEST, _LATEST = datetime(1900, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)
R = TypeVar("R")


class FakeJobs:
    """Schedules, occurrences and Workers of one tenant. `publish` hears of each change."""

    def __init__(self, now: Callable[[], datetime], publish: Callable[[Topic, str, str, int], None]) -> None:
        self._now = now
        self._publish = publish
        self._version = 0
        self.schedules: dict[str, Schedule] = {}
        self.occurrences: dict[str, Occurrence] = {}
        self.items: dict[str, list[OccurrenceItem]] = {}
        self.attempts: dict[str, list[Attempt]] = {}
        self.refused: dict[str, list[RefusedCompletion]] = {}
        self.replays: dict[str, list[Replay]] = {}
        self.skipped: dict[str, list[SkippedInstants]] = {}
        self.workers: list[Worker] = []

    def add(self, identifier: str, *, every: int | None, title: str | None = None) -> Schedule:
        """A schedule that a Worker knows, every so many seconds from 2026-01-01T00:00Z on; None: a person starts it."""
        schedule = scheduled(identifier, TENANT, every=every, title=title)
        self.schedules[identifier] = schedule
        self.changed(identifier)
        return schedule

    def plan(
        self, schedule: str, at: datetime, state: OccurrenceState = OccurrenceState.SCHEDULED, **more: object
    ) -> str:
        """An occurrence of a schedule, with any of its fields given otherwise; its id."""
        row = occurrence(str(uuid.uuid4()), schedule, TENANT, at, state, self._now())
        self.occurrences[row.id] = row.model_copy(update=more)
        self.changed(schedule)
        return row.id

    def lease(self, identifier: str, lease: Lease | None) -> None:
        """Who works on it now."""
        self.change(identifier, lease=lease)

    def end(self, identifier: str, state: OccurrenceState, **more: object) -> None:
        """Let it end."""
        self.change(identifier, state=state, ended_at=self._now(), lease=None, **more)

    def put_items(self, identifier: str, *outcomes: OutcomeKind | None) -> None:
        """Items of its run, numbered from 1."""
        self.items[identifier] = of_run(outcomes, self._now())
        self.changed(self.occurrences[identifier].schedule)

    def all_shown(self) -> list[Schedule]:
        """Every schedule as it stands, by id."""
        return [self._shown(each) for each in sorted(self.schedules)]

    def changed(self, schedule: str) -> None:
        """Tell the streams."""
        self._version += 1
        self._publish(Topic.SCHEDULE, schedule, schedule, self._version)

    def handlers(self) -> Mapping[str, Handler]:
        """The routes of schedules, occurrences and Workers."""
        return {
            "schedules": self._schedules,
            "schedule": self._schedule,
            "next-instants": self._next_instants,
            "occurrences": self._occurrences,
            "occurrence": self._occurrence,
            "occurrence-items": self._occurrence_items,
            "cancel-occurrence": self._cancel,
            "workers": lambda _: Workers(workers=tuple(self.workers), now=self._now()),
        }

    def _schedules(self, asked: Asked) -> Schedules:
        shown = self.all_shown()
        page, following = _page(shown, asked, default=100, listing="schedules")
        standings = [each.standing for each in shown]
        return Schedules(
            schedules=tuple(page),
            next=following,
            total=len(shown),
            late=standings.count(ScheduleStanding.LATE),
            parked=standings.count(ScheduleStanding.PARKED),
            disabled=standings.count(ScheduleStanding.DISABLED),
            now=self._now(),
        )

    def _schedule(self, asked: Asked) -> ScheduleDetail:
        found = self.schedule(asked)
        instants, words = self._ahead(found, self._now(), 5)
        return ScheduleDetail(
            schedule=found,
            next=instants,
            next_words=words,
            tzdata=TZDATA,
            skipped=tuple(self.skipped.get(found.id, ())),
            now=self._now(),
        )

    def _next_instants(self, asked: Asked) -> NextInstants:
        found = self.schedule(asked)
        count = _number(asked, "count", 5, most=NEXT_MOST)
        after = _instant(asked, "after") or self._now()
        if not _EARLIEST <= after <= _LATEST:
            raise Refusal(ErrorCode.INVALID_REQUEST, "A look ahead begins from 1900 to 2200.")
        instants, words = self._ahead(found, after, count)
        return NextInstants(
            schedule=found.id,
            rhythm=found.rhythm,
            zone="UTC" if found.rhythm is None else found.rhythm.zone,
            tzdata=TZDATA,
            after=after,
            instants=instants,
            words=words,
            now=self._now(),
        )

    def _occurrences(self, asked: Asked) -> Occurrences:
        states = asked.query["state"].split(",") if "state" in asked.query else list(OccurrenceState)
        if not set(states) <= set(OccurrenceState):
            raise Refusal(ErrorCode.INVALID_REQUEST, "query.state names no state of an occurrence.")
        since, until = _instant(asked, "since"), _instant(asked, "until")
        if since is not None and until is not None and since > until:
            raise Refusal(ErrorCode.INVALID_REQUEST, f"since, {since}, is later than until, {until}.")
        rows = [
            each
            for each in self.occurrences.values()
            if asked.query.get("schedule") in (None, each.schedule)
            and each.state in states
            and (since is None or each.scheduled_at >= since)
            and (until is None or each.scheduled_at < until)
        ]
        rows.sort(key=lambda each: (each.scheduled_at, each.id), reverse=True)
        listing = "|".join(["occurrences", asked.query.get("schedule", ""), *sorted(states), str(since), str(until)])
        page, following = _page(rows, asked, default=50, listing=listing)
        return Occurrences(occurrences=tuple(page), next=following, now=self._now())

    def _occurrence(self, asked: Asked) -> OccurrenceDetail:
        found = self.find(asked)
        items = self._items_of(found.id)
        return OccurrenceDetail(
            occurrence=counted(found, items),
            attempts=tuple(reversed(self.attempts.get(found.id, ()))),
            refused=tuple(reversed(self.refused.get(found.id, ()))),
            replays=tuple(reversed(self.replays.get(found.id, ()))),
            items=tuple(items[:ITEMS]),
            items_next=_cursor(found.id, ITEMS) if len(items) > ITEMS else None,
            now=self._now(),
        )

    def _occurrence_items(self, asked: Asked) -> OccurrenceItems:
        found = self.find(asked)
        page, following = _page(self._items_of(found.id), asked, default=ITEMS, listing=found.id)
        return OccurrenceItems(items=tuple(page), next=following, now=self._now())

    def _cancel(self, asked: Asked) -> OccurrenceChanged:
        order = CancelOrder.model_validate_json(asked.request.content)
        found = self.find(asked)
        if found.state.ended:
            raise Refusal(
                ErrorCode.OCCURRENCE_ENDED,
                f"{found.name} {ended_words(found)}: there is nothing left to cancel.",
                state=found.state.value,
                cause=None if found.cause is None else found.cause.value,
            )
        if found.cancel_asked_at is None:
            asking = {"cancelled_by": asked.person, "cancel_reason": order.reason}
            self.change(found.id, cancel_asked_at=self._now(), **asking)
        changed = counted(self.occurrences[found.id], self._items_of(found.id))
        return OccurrenceChanged(occurrence=changed, now=self._now())

    def change(self, identifier: str, **more: object) -> None:
        """An occurrence has these fields otherwise, under its next version."""
        row = self.occurrences[identifier]
        self.occurrences[identifier] = row.model_copy(update={"version": row.version + 1, **more})
        self.changed(row.schedule)

    def schedule(self, asked: Asked) -> Schedule:
        """The schedule that is asked about, as it stands; Refusal NOT_FOUND."""
        name = asked.parts["schedule"]
        if name not in self.schedules:
            known = ", ".join(sorted(self.schedules)) or "none"
            raise Refusal(ErrorCode.NOT_FOUND, f"There is no schedule {name!r}. Schedules: {known}.")
        return self._shown(name)

    def shown(self, identifier: str) -> Occurrence:
        """An occurrence with its items counted."""
        return counted(self.occurrences[identifier], self._items_of(identifier))

    def ahead(self, schedule: Schedule, after: datetime) -> Sequence[Planned]:
        """Its next instants."""
        return self._ahead(schedule, after, 1)[0]

    def find(self, asked: Asked) -> Occurrence:
        """The occurrence that is asked about; Refusal NOT_FOUND."""
        named = asked.parts["occurrence"]
        name = read_occurrence_name(named)
        for each in self.occurrences.values():
            if each.id == named or (each.schedule, each.scheduled_at) == name:
                return each
        raise Refusal(ErrorCode.NOT_FOUND, f"There is no occurrence {named!r}.")

    def _items_of(self, identifier: str) -> list[OccurrenceItem]:
        """Failed and uncertain ones, then open ones, then the others, each by number."""
        kinds = {OutcomeKind.FAILED: 0, OutcomeKind.UNCERTAIN: 0, None: 1}
        return sorted(self.items.get(identifier, ()), key=lambda each: (kinds.get(each.outcome, 2), each.number))

    def _shown(self, name: str) -> Schedule:
        """A schedule as it stands; one that a test parked or disabled stays so."""
        schedule, now = self.schedules[name], self._now()
        rows = sorted(
            (each for each in self.occurrences.values() if each.schedule == name), key=lambda each: each.scheduled_at
        )
        waiting = [each for each in rows if _waits(each) and each.due_at <= now]
        instants, _ = self._ahead(schedule, now, 1)
        past = [each for each in rows if each.scheduled_at <= now][-RECENT:]
        standing = schedule.standing
        if standing not in (ScheduleStanding.PARKED, ScheduleStanding.DISABLED):
            standing = _standing(schedule, rows, waiting, now)
        return schedule.model_copy(
            update={
                "standing": standing,
                "next_at": instants[0].at if instants and standing is not ScheduleStanding.PARKED else None,
                "waiting": len(waiting),
                "dead": sum(each.state is OccurrenceState.DEAD_LETTER and each.discarded_at is None for each in rows),
                "recent": tuple(
                    Recent(id=each.id, scheduled_at=each.scheduled_at, state=each.state, attempts=each.attempts)
                    for each in past
                ),
            }
        )

    def _ahead(self, schedule: Schedule, after: datetime, count: int) -> tuple[tuple[Planned, ...], str]:
        rhythm = schedule.rhythm
        if rhythm is None or rhythm.every is None or rhythm.anchor is None:
            return (), BY_HAND
        step = timedelta(seconds=rhythm.every)
        first = rhythm.anchor + ((after - rhythm.anchor) // step + 1) * step
        return tuple(
            Planned(
                at=first + number * step,
                local=None,
                offset=None,
                abbreviation=None,
                clock=None,
                runs=True,
                words="",
            )
            for number in range(count)
        ), ""


def _waits(row: Occurrence) -> bool:
    """Whether it has not started."""
    return row.state is OccurrenceState.SCHEDULED and row.started_at is None


def _standing(
    schedule: Schedule, rows: Sequence[Occurrence], waiting: Sequence[Occurrence], now: datetime
) -> ScheduleStanding:
    """The most urgent that is true."""
    if any(each.due_at < now - LATE_AFTER and each.cancel_asked_at is None for each in waiting):
        return ScheduleStanding.LATE
    if any(each.state is OccurrenceState.SCHEDULED and each.started_at is not None for each in rows):
        return ScheduleStanding.RETRYING
    if any(each.state is OccurrenceState.PROCESSING for each in rows):
        return ScheduleStanding.RUNNING
    return ScheduleStanding.MANUAL if schedule.rhythm is None else ScheduleStanding.ON_TIME


def _page(rows: Sequence[R], asked: Asked, *, default: int, listing: str) -> tuple[Sequence[R], str | None]:
    """The page that the request asks for, and the cursor of the next; Refusal CURSOR_INVALID for another listing's."""
    limit = _number(asked, "limit", default, most=200)
    cursor = asked.query.get("cursor", _cursor(listing, 0))
    place, _, start = cursor.rpartition("#")
    if place != listing or not start.isdecimal():
        raise Refusal(ErrorCode.CURSOR_INVALID, "The cursor is not one of this listing.")
    end = int(start) + limit
    return rows[int(start) : end], _cursor(listing, end) if len(rows) > end else None


def _cursor(listing: str, place: int) -> str:
    return f"{listing}#{place}"


def _number(asked: Asked, name: str, default: int, *, most: int) -> int:
    text = asked.query.get(name, str(default))
    if not text.isdecimal() or not 1 <= int(text) <= most:
        raise Refusal(ErrorCode.INVALID_REQUEST, f"query.{name} is a number from 1 to {most}.")
    return int(text)


def _instant(asked: Asked, name: str) -> datetime | None:
    if name not in asked.query:
        return None
    found = read_instant(asked.query[name])
    if found is None:
        raise Refusal(ErrorCode.INVALID_REQUEST, f"query.{name} is not an instant with its offset.")
    return found
