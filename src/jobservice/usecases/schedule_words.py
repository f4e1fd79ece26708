"""Owns how a job record is told to people: rhythm, misfire policy, selection, what it runs. Reads records, no rows."""

from __future__ import annotations

from datetime import time, timedelta

from jobcontract.schedules import Misfire, Rhythm, RunGuard
from jobcontract.states import MisfirePolicy
from jobservice.records import RecordSet
from jobservice.rules.rhythms import CannotCompute, Every
from jobservice.rules.rhythms import words as rhythm_words
from jobservice.rules.schedules import RESCORE, Confirmed, Itself, Registered, Schedule, Window
from jobservice.rules.standing import lasting

RESCORE_TITLE = "Score items anew"
_DAYS = ("", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
"""By ISO number."""


def rhythm(schedule: Schedule) -> Rhythm | None:
    """When it runs; None of a manual one. One that cannot be computed is told as it was written."""
    found = schedule.rhythm
    if found is None:
        return None
    try:
        told = rhythm_words(found)
    except CannotCompute:
        told = found.definition()
    if isinstance(found, Every):
        return Rhythm(
            words=told,
            every=found.seconds,
            anchor=found.anchor,
            cron=None,
            zone="UTC",
            reason=None,
            skipped=None,
            repeated=None,
        )
    return Rhythm(
        words=told,
        every=None,
        anchor=None,
        cron=found.expression,
        zone=found.zone,
        reason=schedule.reason,
        skipped=found.skipped,
        repeated=found.repeated,
    )


def zone_of(schedule: Schedule) -> str:
    """The zone of its rhythm; UTC where it has none."""
    found = schedule.rhythm
    return "UTC" if found is None or isinstance(found, Every) else found.zone


def guard(schedule: Schedule) -> RunGuard | None:
    """Who may run it, when and where; None of one that runs by itself."""
    found = schedule.guard
    if found is None:
        return None
    windows = " · ".join(_window(each) for each in found.windows)
    return RunGuard(
        permission=found.permission,
        windows=f"{windows} UTC" if windows else "at any time",
        where=tuple(sorted(schedule.runs_where or ())),
    )


def _window(window: Window) -> str:
    """`Mon to Fri 08:00 to 18:00`, `Mon, Wed 22:00 to 24:00`: days that follow each other as a stretch."""
    days = sorted(window.days)
    run = days[-1] - days[0] == len(days) - 1 and len(days) > 2
    named = f"{_DAYS[days[0]]} to {_DAYS[days[-1]]}" if run else ", ".join(_DAYS[day] for day in days)
    end = "24:00" if window.end == time.max else f"{window.end:%H:%M}"
    return f"{named} {window.start:%H:%M} to {end}"


def misfire(schedule: Schedule) -> Misfire | None:
    """What becomes of missed instants; None of a manual one."""
    found = schedule.misfire
    if found is None:
        return None
    missed = f"not started {lasting(timedelta(seconds=found.after_seconds))} past its time"
    told = {
        MisfirePolicy.SKIP: f"An instant {missed} is skipped.",
        MisfirePolicy.ONCE: f"Of the instants {missed} the latest runs, and the earlier ones are merged into it.",
        MisfirePolicy.EACH_INTERVAL: f"Of the instants {missed} the newest {found.newest or 1:,} run, and the earlier"
        " ones are skipped.",
    }[found.policy]
    return Misfire(policy=found.policy, after=found.after_seconds, newest=found.newest, words=told)


def runs_title(records: RecordSet, schedule: Schedule) -> str:
    """The title of the use case that it runs; its id where the records have none."""
    if schedule.runs == RESCORE:
        return RESCORE_TITLE
    found = (records.use_cases if schedule.moves_money else records.job_use_cases).get(schedule.runs)
    return schedule.runs if found is None else found.title


def selection(records: RecordSet, schedule: Schedule) -> str:
    """What it works through."""
    found = schedule.selection
    if isinstance(found, Itself):
        return "once, for the occurrence itself"
    if isinstance(found, Registered):
        return f"what {found.id} selects"
    if isinstance(found, Confirmed):
        command = records.bulk.get(found.command)
        return f"payouts that wait in confirmed plans of {found.command if command is None else command.title}"
    queue = records.queues.get(found.queue)
    return f"open items of {found.queue if queue is None else queue.title} whose scores are due"
