"""Owns simulating a schedule: what it does in a stretch of time by its record, and by an edit that nobody has saved. Acts on
nothing, reads no row, and is not audited.

The rules and the check of records decide; here their answers become words of the wire.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from jobcontract import simulation as wire
from jobcontract.errors import ErrorCode, Refusal
from jobcontract.permissions import Permission
from jobcontract.simulation import DAYS_MOST, INSTANTS_MOST, Simulation, SimulationOrder
from jobservice.records.job_edits import Edited, JobEdit, Unfit, edit
from jobservice.rules import simulation as rules
from jobservice.rules.misfires import TICK
from jobservice.rules.planned import EARLIEST, LATEST
from jobservice.rules.rhythms import CannotCompute, tzdata_version
from jobservice.rules.rhythms import words as rhythm_words
from jobservice.rules.schedules import Schedule
from jobservice.rules.simulation import Course, Downtime, Row, Way
from jobservice.usecases import schedule_words as words
from jobservice.usecases.actor import Actor
from jobservice.usecases.schedules import find_schedule
from jobservice.usecases.service import Service


async def simulate(service: Service, actor: Actor, identifier: str, order: SimulationOrder) -> Simulation:
    """What a schedule does from `since` on and before `until`, with what an edit makes different.

    Refusal PERMISSION_MISSING, NOT_FOUND, SCHEDULE_UNFIT of one that a person starts or that cannot be computed,
    INVALID_REQUEST for an impossible stretch, downtime or edit, each named at its field.
    """
    actor.require(Permission.SCHEDULE_READ)
    schedule = find_schedule(service, actor, identifier)
    downtimes = _downtimes(order)
    edited = None if order.edit is None else _edited(schedule, order.edit, order.since)
    if schedule.rhythm is None or schedule.misfire is None:
        raise Refusal(
            ErrorCode.SCHEDULE_UNFIT,
            f"{schedule.id} has no rhythm: a person starts it, so there is nothing to simulate.",
        )
    async with service.database.transaction(actor.tenant) as transaction:
        now = transaction.began_at
    # Ten years of minutes take a few tenths of a second: the loop goes on meanwhile.
    return await asyncio.to_thread(_simulated, schedule, order, downtimes, edited, now)


def _simulated(
    schedule: Schedule, order: SimulationOrder, downtimes: Sequence[Downtime], edited: Edited | None, now: datetime
) -> Simulation:
    try:
        current = _course(schedule, order, downtimes)
    except CannotCompute as why:
        if edited is None:
            raise Refusal(ErrorCode.SCHEDULE_UNFIT, f"The instants of {schedule.id} cannot be computed: {why}") from why
        current = Course(rows=(), counts={}, whole=True)
    other, told = None, ""
    differs: tuple[datetime, ...] = ()
    if edited is not None:
        changed = replace(schedule, rhythm=edited.rhythm, misfire=edited.misfire)
        course = _course(changed, order, downtimes)
        differs = rules.differences(current, course)
        told = rules.words(current, course, len(differs))
        other = _told(changed, course)
    return Simulation(
        schedule=schedule.id,
        zone=words.zone_of(schedule),
        tzdata=tzdata_version(),
        since=order.since,
        until=order.until,
        current=_told(schedule, current),
        edited=other,
        differs=differs[:INSTANTS_MOST],
        words=told,
        now=now,
    )


def _course(schedule: Schedule, order: SimulationOrder, downtimes: Sequence[Downtime]) -> Course:
    assert schedule.rhythm is not None  # noqa: S101  # refused before
    assert schedule.misfire is not None  # noqa: S101  # refused before
    way = Way(rhythm=schedule.rhythm, misfire=schedule.misfire, kept_seconds=schedule.retention_seconds)
    return rules.course(way, order.since, order.until, downtimes, most=INSTANTS_MOST)


def _downtimes(order: SimulationOrder) -> tuple[Downtime, ...]:
    """The downtimes in order and apart. Refusal INVALID_REQUEST where stretch or downtimes are impossible."""
    if order.until <= order.since:
        raise _invalid("until", f"{_at(order.until)} is not later than `since`, {_at(order.since)}.")
    if order.until - order.since > timedelta(days=DAYS_MOST):
        raise _invalid("until", f"More than {DAYS_MOST:,} days are simulated at no time: name a shorter stretch.")
    if order.since < EARLIEST or order.until > LATEST:
        raise _invalid("since", f"A simulation lies between {EARLIEST:%Y} and {LATEST:%Y}.")
    for number, down in enumerate(order.down):
        shown = f"The downtime {_at(down.since)} to {_at(down.until)}"
        if down.until <= down.since:
            raise _invalid(f"down.{number}", f"{shown} ends before it begins.")
        if down.since < order.since or down.until > order.until:
            raise _invalid(
                f"down.{number}",
                f"{shown} does not lie within {_at(order.since)} to {_at(order.until)}: what is missed is decided when "
                "it ends. Name a longer stretch.",
            )
    return rules.together(Downtime(since=down.since, until=down.until) for down in order.down)


def _edited(schedule: Schedule, changes: wire.Edit, since: datetime) -> Edited:
    """The rhythm and policy that the edit makes. Refusal INVALID_REQUEST with what the check of records finds."""
    if changes.cron is not None and changes.every is not None:
        raise _invalid("edit.every", "It says both `cron` and `every`; keep one.")
    if changes.anchor is not None and not EARLIEST <= changes.anchor <= LATEST:
        raise _invalid("edit.anchor", f"An anchor lies between {EARLIEST:%Y} and {LATEST:%Y}.")
    found = edit(schedule, JobEdit(**changes.model_dump()), since - TICK)
    if isinstance(found, Edited):
        return found
    raise _unfit(found)


def _unfit(found: Sequence[Unfit]) -> Refusal:
    errors = [{"where": f"body.edit.{each.field}".rstrip("."), "sentence": each.sentence} for each in found]
    return Refusal(ErrorCode.INVALID_REQUEST, " ".join(each.sentence for each in found), errors=errors)


def _invalid(field: str, sentence: str) -> Refusal:
    return Refusal(ErrorCode.INVALID_REQUEST, sentence, errors=[{"where": f"body.{field}", "sentence": sentence}])


def _told(schedule: Schedule, course: Course) -> wire.Course:
    misfire = words.misfire(schedule)
    return wire.Course(
        rhythm=_rhythm(schedule),
        misfire="" if misfire is None else misfire.words,
        instants=tuple(map(_row, course.rows)),
        counts=tuple(wire.FateCount(fate=fate, count=count) for fate, count in course.counts.items()),
        whole=course.whole,
    )


def _rhythm(schedule: Schedule) -> str:
    assert schedule.rhythm is not None  # noqa: S101  # refused before
    try:
        return rhythm_words(schedule.rhythm)
    except CannotCompute as why:
        return f"cannot be computed: {why}"


def _row(row: Row) -> wire.SimulatedInstant:
    return wire.SimulatedInstant(
        at=row.at,
        last_at=row.last_at,
        count=row.count,
        local=row.local,
        offset=row.offset,
        abbreviation=row.abbreviation,
        clock=row.clock,
        fate=row.fate,
        runs_at=row.runs_at,
        merged_into=row.merged_into,
        words=row.words,
    )


def _at(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%S%z}".replace("+0000", "Z")
