"""Owns reading when a job runs, and what becomes of instants that were missed: `schedule`, `misfire`, `misfireAfter`.

Computes no instants: `rules/` does. What cannot be computed is a finding here, before a Worker ever sees it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from jobcontract.ids import REASON_MAX
from jobcontract.states import MisfirePolicy, Repeated, Skipped
from jobservice.records.durations import duration, instant, interval
from jobservice.records.forms import Form, nearest
from jobservice.records.job_windows import UTC_ZONE
from jobservice.rules.cron import BadExpressionError, Expression, parse
from jobservice.rules.rhythms import Cron, Every, Rhythm
from jobservice.rules.schedules import MISFIRE_AFTER, Misfire
from jobservice.rules.zones import names, version

EVERY_MOST = 8_784 * 3_600
"""Seconds: a leap year."""
NEWEST_MOST = 1_000
MISFIRE_AFTER_MOST = 86_400
"""Seconds."""
_INVALID = "schedule-invalid"
_ALIASES = ("Etc/UTC", "Etc/UCT", "Etc/Universal", "Etc/Zulu", "UCT", "Universal", "Zulu")
"""Other names of UTC in the time zone database."""
_FIELDS = 5
_FIELD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedRhythm:
    """A rhythm, and the business-local need of a zone other than UTC."""

    rhythm: Rhythm
    reason: str | None


def read_rhythm(job: Form) -> StatedRhythm | None:
    """The rhythm of a job; None after a finding."""
    wanted = "say `every` with its anchor, or `cron` with its zone"
    form = job.form("schedule", missing=_INVALID, form=wanted)
    if form is None:
        return None
    if ("every" in form) is ("cron" in form):
        said = "says both `every` and `cron`; keep one" if "every" in form else f"says neither; {wanted}"
        job.found(_INVALID, job.line_of("schedule"), f"`schedule` {said}.")
        return None
    stated = _every(form) if "every" in form else _cron(form)
    form.finish()
    return stated


def _every(form: Form) -> StatedRhythm | None:
    seconds = _interval(form)
    anchor = _anchor(form)
    odd = [
        _left_out(form, name, "an `every` counts seconds and has no wall clock")
        for name in ("reason", "skipped", "repeated")
        if name in form
    ]
    zone = form.written("zone") if "zone" in form else UTC_ZONE
    if zone not in (None, UTC_ZONE):
        form.invalid("zone", "is UTC with `every`, which has no wall clock; say a local time as a cron")
        return None
    if seconds is None or anchor is None or zone is None or odd:
        return None
    return StatedRhythm(rhythm=Every(seconds=seconds, anchor=anchor), reason=None)


def _left_out(form: Form, name: str, why: str) -> str:
    form.node(name, required=False)
    form.invalid(name, f"has no place here: {why}; leave it out")
    return name


def _interval(form: Form) -> int | None:
    written = form.written("every")
    if written is None:
        return None
    try:
        seconds = interval(written)
    except ValueError as error:
        form.found(_INVALID, form.line_of("every"), f"`schedule.every`: {error}.")
        return None
    if not 1 <= seconds <= EVERY_MOST:
        sentence = f"`schedule.every`: {written} is not from PT1S to PT{EVERY_MOST // 3_600}H."
        form.found(_INVALID, form.line_of("every"), sentence)
        return None
    return seconds


def _anchor(form: Form) -> datetime | None:
    wanted = "an `every` is counted from an instant: say which, such as 2026-01-05T01:00:00Z"
    written = form.written("anchor", missing=_INVALID, form=wanted)
    if written is None:
        return None
    try:
        return instant(written)
    except ValueError as error:
        form.found(_INVALID, form.line_of("anchor"), f"`schedule.anchor`: {error}.")
        return None


def _cron(form: Form) -> StatedRhythm | None:
    if "anchor" in form:
        _left_out(form, "anchor", "only an `every` is counted from an instant")
        return None
    expression, named = _expression(form), _zone(form)
    if named is None:
        for name in ("reason", "skipped", "repeated"):
            form.node(name, required=False)
        return None
    if named == UTC_ZONE:
        odd = [
            _left_out(form, name, "UTC needs no reason and has no changes of the clock")
            for name in ("reason", "skipped", "repeated")
            if name in form
        ]
        if expression is None or odd:
            return None
        rhythm = Cron(expression=expression.text, zone=UTC_ZONE, skipped=Skipped.SKIP, repeated=Repeated.BOTH)
        return StatedRhythm(rhythm=rhythm, reason=None)
    return _local(form, expression, named)


def _local(form: Form, expression: Expression | None, named: str) -> StatedRhythm | None:
    """A cron of another zone than UTC."""
    wanted = "a time in another zone than UTC has a business-local need: say which, or use UTC"
    reason = form.text("reason", most=REASON_MAX, missing="zone-unreasoned", form=wanted)
    skipped = form.choice("skipped", Skipped, unstated="clock-change-unstated")
    repeated = form.choice("repeated", Repeated, unstated="clock-change-unstated")
    if expression is None or reason is None or skipped is None or repeated is None:
        return None
    if expression.hour_varies and repeated is not Repeated.BOTH:
        sentence = (
            f"`schedule.repeated`: {repeated} leaves a hole of an hour, since the hour {expression.fields[1]} means each "
            "one as it comes; say both, or name hours."
        )
        form.found("hour-varies", form.line_of("repeated"), sentence)
        return None
    rhythm = Cron(expression=expression.text, zone=named, skipped=skipped, repeated=repeated)
    return StatedRhythm(rhythm=rhythm, reason=reason)


def _expression(form: Form) -> Expression | None:
    written = form.written("cron")
    if written is None:
        return None
    try:
        return parse(written)
    except BadExpressionError as error:
        column = _column(written)
        place = "" if column is None else f"column {column}: "
        form.found(_INVALID, form.line_of("cron"), f"`schedule.cron`: {place}{error}")
        return None


def _column(written: str) -> int | None:
    """Where the first item stands that is not right by itself, from 1; None where each one is."""
    fields = list(_FIELD.finditer(written))
    if len(fields) != _FIELDS:
        return None
    for place, field in enumerate(fields):
        start = field.start()
        for item in field[0].split(","):
            if not _fits(" ".join(["*"] * place + [item] + ["*"] * (_FIELDS - 1 - place))):
                return start + 1
            start += len(item) + 1
    return None


def _fits(text: str) -> bool:
    try:
        parse(text)
    except BadExpressionError:
        return False
    return True


def _zone(form: Form) -> str | None:
    wanted = "a cron names times of a wall clock: say UTC, or the IANA name of another zone with its reason"
    written = form.written("zone", missing="zone-unstated", form=wanted)
    if written is None or written == UTC_ZONE:
        return written
    if written in _ALIASES:
        form.found("zone-unknown", form.line_of("zone"), f"`schedule.zone`: {written} is UTC by another name; say UTC.")
        return None
    if written not in names():
        same = {each.lower(): each for each in names()}.get(written.lower())
        hint = nearest(written, names()) if same is None else f" Did you mean `{same}`?"
        sentence = f"`schedule.zone`: {written[:40]!r} is not in the time zone database {version()}.{hint}"
        form.found("zone-unknown", form.line_of("zone"), sentence)
        return None
    return written


def read_misfire(job: Form) -> Misfire | None:
    """What becomes of missed instants; None after a finding."""
    after = MISFIRE_AFTER if job.node("misfireAfter", required=False) is None else _after(job)
    wanted = f"say {{policy: POLICY}} with one of {', '.join(MisfirePolicy)}"
    form = job.form("misfire", missing="misfire-unstated", form=wanted)
    if form is None:
        return None
    policy = form.choice("policy", MisfirePolicy, unstated="misfire-unstated")
    newest, bounded = _newest(form, policy)
    form.finish()
    if policy is None or after is None or not bounded:
        return None
    return Misfire(policy=policy, after_seconds=after, newest=newest)


def _after(job: Form) -> float | None:
    seconds = duration(job, "misfireAfter", least=1, most=MISFIRE_AFTER_MOST)
    return None if seconds is None else float(seconds)


def _newest(form: Form, policy: MisfirePolicy | None) -> tuple[int | None, bool]:
    """How many missed instants run, and whether that is stated as it has to be: with each-interval, and only there."""
    if policy is MisfirePolicy.EACH_INTERVAL:
        wanted = f"a long downtime must not run for ever: say for how many of the newest, 1 to {NEWEST_MOST:,}"
        newest = form.count("newest", least=1, most=NEWEST_MOST, missing="misfire-unbounded", form=wanted)
        return newest, newest is not None
    if form.node("newest", required=False) is not None and policy is not None:
        _left_out(form, "newest", f"{policy} runs {'one' if policy is MisfirePolicy.ONCE else 'none'} of them")
        return None, False
    return None, True
