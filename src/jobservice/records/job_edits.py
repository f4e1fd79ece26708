"""Owns checking an edit of a job's rhythm and misfire policy that nobody has saved, by the reading of records itself: what
the check of records would find is found here, in its words. Writes no record.

What the edit does not name stays as the record says.
"""

from __future__ import annotations

import re
from collections.abc import Mapping as Names
from dataclasses import dataclass
from datetime import UTC, datetime

from jobcontract.states import MisfirePolicy, Repeated, Skipped
from jobservice.records.durations import shown
from jobservice.records.findings import Finding
from jobservice.records.forms import Form
from jobservice.records.job_rhythms import read_misfire, read_rhythm
from jobservice.records.job_windows import UTC_ZONE, catch_up_seconds
from jobservice.records.yaml import Mapping, Node, Scalar
from jobservice.rules.rhythms import CannotCompute, Cron, Every, Rhythm, next_instant
from jobservice.rules.schedules import Misfire, Schedule

_REASON = "It is simulated."
"""A simulation of another zone needs no reason; a record does."""
_FIELDS = ("cron", "every", "anchor", "zone", "skipped", "repeated", "misfire", "misfire_after", "newest")
"""What an edit may name; the place in it is the line that a finding bears."""
_NAMED = re.compile(r"`(?:schedule\.|misfire\.)?(\w+)`")
_PLACES: Names[str, str] = {"policy": "misfire", "misfireAfter": "misfire_after"}
"""Names of the record that an edit says in other words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobEdit:
    """What is to be different; None: as the record says. Durations are seconds."""

    cron: str | None = None
    every: int | None = None
    anchor: datetime | None = None
    zone: str | None = None
    skipped: Skipped | None = None
    repeated: Repeated | None = None
    misfire: MisfirePolicy | None = None
    misfire_after: float | None = None
    newest: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfit:
    """What is wrong with an edit: the field of it, empty where it is none alone, and a sentence."""

    field: str
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Edited:
    """A rhythm and misfire policy that a record may have."""

    rhythm: Rhythm
    misfire: Misfire


def edit(schedule: Schedule, changes: JobEdit, after: datetime) -> Edited | tuple[Unfit, ...]:
    """The schedule's rhythm and misfire policy with the changes, or all that is wrong with them. One that never fires
    later than `after` is wrong, too."""
    findings: list[Finding] = []
    form = Form("", _record(schedule, changes), findings)
    stated, misfire = read_rhythm(form), read_misfire(form)
    if stated is None or misfire is None:
        return tuple(Unfit(field=_field(each), sentence=each.sentence) for each in findings)
    try:
        fires = next_instant(stated.rhythm, after) is not None
    except CannotCompute as why:
        return (Unfit(field="cron", sentence=str(why)),)
    if not fires:
        return (Unfit(field="cron", sentence="`schedule.cron` never fires: no such time comes."),)
    needed = catch_up_seconds(stated.rhythm, misfire)
    if schedule.retention_seconds < needed:
        kept, wanted = shown(int(schedule.retention_seconds)), shown(needed)
        sentence = f"{schedule.retention} keeps occurrences for {kept}, but missed ones may be made up for {wanted}."
        return (Unfit(field="newest", sentence=sentence),)
    return Edited(rhythm=stated.rhythm, misfire=misfire)


def _field(finding: Finding) -> str:
    """The field of the edit that a finding is about: as its sentence names it, even one that is missing; else its place."""
    named = _NAMED.match(finding.sentence)
    name = "" if named is None else _PLACES.get(named[1], named[1])
    if name in _FIELDS:
        return name
    return _FIELDS[finding.line] if finding.line >= 0 else ""


def _record(schedule: Schedule, changes: JobEdit) -> Mapping:
    """The job record with the changes, as far as it says when it runs."""
    rhythm, misfire = _rhythm(schedule, changes), _misfire(schedule, changes)
    entries: list[tuple[str, Node]] = [("schedule", _mapping(rhythm)), ("misfire", _mapping(misfire))]
    after = changes.misfire_after
    if after is None and schedule.misfire is not None:
        after = schedule.misfire.after_seconds
    if after is not None:
        entries.append(("misfireAfter", _scalar("misfireAfter", f"PT{after:.15g}S")))
    return Mapping(
        entries=tuple((Scalar(text=name, plain=True, line=_line(name)), node) for name, node in entries), line=-1
    )


def _rhythm(schedule: Schedule, changes: JobEdit) -> dict[str, str]:
    """The fields of `schedule`: cron and every take each other's place, and what belongs to the other goes with it."""
    kept = schedule.rhythm
    said = {name: str(given) for name in ("cron", "zone", "skipped", "repeated") if (given := getattr(changes, name))}
    if changes.every is not None:
        said["every"] = f"PT{changes.every}S"
    if changes.anchor is not None:
        said["anchor"] = changes.anchor.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(kept, Every) and "cron" not in said:
        said = {"every": f"PT{kept.seconds}S", "anchor": _instant(kept.anchor)} | said
    if isinstance(kept, Cron) and "every" not in said:
        said = {"cron": kept.expression, "zone": kept.zone} | said
        if kept.zone != UTC_ZONE and said["zone"] != UTC_ZONE:
            said = {"skipped": str(kept.skipped), "repeated": str(kept.repeated)} | said
    if "cron" in said and said.get("zone", UTC_ZONE) != UTC_ZONE:
        said["reason"] = schedule.reason or _REASON
    return said


def _misfire(schedule: Schedule, changes: JobEdit) -> dict[str, str]:
    """The fields of `misfire`; how many of the newest run goes with the policy."""
    kept = schedule.misfire
    policy = changes.misfire or (None if kept is None else kept.policy)
    newest = changes.newest
    if newest is None and kept is not None and policy is kept.policy:
        newest = kept.newest
    said = {} if policy is None else {"policy": policy.value}
    return said if newest is None else said | {"newest": str(newest)}


def _instant(at: datetime) -> str:
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _mapping(fields: Names[str, str]) -> Mapping:
    entries = [(Scalar(text=name, plain=True, line=_line(name)), _scalar(name, text)) for name, text in fields.items()]
    return Mapping(entries=tuple(entries), line=-1)


def _scalar(name: str, text: str) -> Scalar:
    return Scalar(text=text, plain=name in ("newest",), line=_line(name))


def _line(name: str) -> int:
    """The place of a field among those of an edit; -1 of what it cannot name."""
    name = _PLACES.get(name, name)
    return _FIELDS.index(name) if name in _FIELDS else -1
