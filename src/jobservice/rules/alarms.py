"""Owns every decision about alarms: what is one, in which words, which open, stay and are over (issue 6). Pure.

What was found by looking goes in; which rows to open, refresh and clear comes out. Who flaps opens few: an alarm of what
comes and goes is over only after it was not found for a while, and that while doubles with each time it came back
within a day. The words hold no text of a person or an application: they go to others by webhook.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from jobcontract.operating import AlarmKind, StopScope
from jobservice.rules.settings import Settings

ONE_BY_ONE = 20
"""So many subjects of one kind in a tenant have an alarm each; of the others, one tells how many there are."""
QUIET_MOST = timedelta(hours=1)
"""However often an alarm came back, it is over after it was gone for so long."""
MISSING_MOST = timedelta(days=1)
"""A Worker that is silent for longer is not missed any more."""
SEEN_EVERY = timedelta(seconds=15)
"""An open alarm that is found again says so at least so often."""
COMES_AND_GOES = frozenset({AlarmKind.LATE, AlarmKind.SPIKE, AlarmKind.WORKER_MISSING})
"""Kinds that are measured; the others are facts, which are over when they are."""
URGENCY = tuple(kind.value for kind in AlarmKind)
"""Kinds, the most urgent first."""
NO_WORKER = "no-worker"
"""Id of the alarm that nobody could write: no Worker lives. It is found when alarms are read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """What the settings say, in seconds and counts."""

    late_after: float
    missed_for: float
    spike_least: int
    spike_factor: int
    silent_after: float
    quiet_after: float


def thresholds_of(settings: Settings) -> Thresholds:
    """As the setting records say."""
    return Thresholds(
        late_after=settings.alarm_late_after,
        missed_for=settings.alarm_missed_for,
        spike_least=settings.alarm_spike_least,
        spike_factor=settings.alarm_spike_factor,
        silent_after=settings.alarm_silent_after,
        quiet_after=settings.alarm_quiet_after,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """Something that is an alarm now."""

    tenant: str
    kind: AlarmKind
    subject: str
    schedule: str | None = None
    count: int
    sentence: str

    @property
    def key(self) -> tuple[str, AlarmKind, str]:
        """Of which one alarm may be open."""
        return self.tenant, self.kind, self.subject


@dataclass(frozen=True, slots=True, kw_only=True)
class Open:
    """An alarm that is open. `openings`: how often the same one was open and over within the last day."""

    id: str
    tenant: str
    kind: AlarmKind
    subject: str
    count: int
    sentence: str
    seen_at: datetime
    acknowledged: bool
    openings: int

    @property
    def key(self) -> tuple[str, AlarmKind, str]:
        """As that of its condition."""
        return self.tenant, self.kind, self.subject


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """An open alarm that was found again; `changed`: people see a difference."""

    id: str
    tenant: str
    count: int
    sentence: str
    changed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """What one look changes."""

    opened: tuple[Condition, ...] = ()
    found: tuple[Found, ...] = ()
    cleared: tuple[Open, ...] = ()


def decide(conditions: Iterable[Condition], opened: Sequence[Open], now: datetime, thresholds: Thresholds) -> Decided:
    """Which alarms open, which are found again, which are over."""
    standing = {each.key: each for each in opened}
    wanted = _few(conditions, standing)
    return Decided(
        opened=tuple(each for key, each in wanted.items() if key not in standing),
        found=tuple(
            found for key, each in wanted.items() if (found := _found(standing.get(key), each, now)) is not None
        ),
        cleared=tuple(
            each for key, each in standing.items() if key not in wanted and _is_over(each, now, thresholds.quiet_after)
        ),
    )


def _found(standing: Open | None, condition: Condition, now: datetime) -> Found | None:
    if standing is None:
        return None
    changed = (standing.count, standing.sentence) != (condition.count, condition.sentence)
    if not changed and now - standing.seen_at < SEEN_EVERY:
        return None
    return Found(
        id=standing.id,
        tenant=standing.tenant,
        count=condition.count,
        sentence=condition.sentence,
        changed=changed,
    )


def quiet(kind: AlarmKind, openings: int, quiet_after: float) -> timedelta:
    """How long an alarm has to be gone before it is over."""
    doubled = openings if kind in COMES_AND_GOES else openings - 1
    if doubled < 0 or kind is AlarmKind.STOPPED:  # what a person sets and lifts is over at their word
        return timedelta(0)
    return min(timedelta(seconds=quiet_after * float(1 << min(doubled, 20))), QUIET_MOST)


def _is_over(standing: Open, now: datetime, quiet_after: float) -> bool:
    return now - standing.seen_at >= quiet(standing.kind, standing.openings, quiet_after)


def _few(
    conditions: Iterable[Condition], standing: Mapping[tuple[str, AlarmKind, str], Open]
) -> dict[tuple[str, AlarmKind, str], Condition]:
    """One condition a key; of many of a kind in a tenant some by themselves, those that are open already first, then the
    largest, and one for the others."""
    groups: dict[tuple[str, AlarmKind], dict[str, Condition]] = {}
    for each in conditions:
        of_kind = groups.setdefault((each.tenant, each.kind), {})
        before = of_kind.get(each.subject)
        of_kind[each.subject] = each if before is None else replace(before, count=before.count + each.count)
    wanted: dict[tuple[str, AlarmKind, str], Condition] = {}
    for (tenant, kind), of_kind in groups.items():
        ordered = sorted(of_kind.values(), key=lambda each: (each.key not in standing, -each.count, each.subject))
        wanted.update((each.key, each) for each in ordered[:ONE_BY_ONE])
        if rest := ordered[ONE_BY_ONE:]:
            others = _others(tenant, kind, rest)
            wanted[others.key] = others
    return wanted


_OTHERS = {
    AlarmKind.STOPPED: "are stopped",
    AlarmKind.WORKER_MISSING: "Workers are missing",
    AlarmKind.PARKED: "schedules cannot be computed",
    AlarmKind.DEAD_LETTER: "schedules have dead letters",
    AlarmKind.LATE: "schedules are late",
    AlarmKind.SPIKE: "schedules fail far more than they do as a rule",
    AlarmKind.MISSED: "schedules missed instants",
    AlarmKind.LEAVING: "schedules have dead letters that retention removes within a day",
}


def _others(tenant: str, kind: AlarmKind, rest: Sequence[Condition]) -> Condition:
    more = f"{len(rest):,} more {_OTHERS[kind]}, beside the {ONE_BY_ONE} that have an alarm each."
    return Condition(tenant=tenant, kind=kind, subject=tenant, count=len(rest), sentence=more)


def late(tenant: str, schedule: str, count: int, since: datetime) -> Condition:
    """Runs that are due for too long and did not start."""
    are = "1 run is" if count == 1 else f"{count:,} runs are"
    sentence = f"{are} due and not started of {schedule}, the first since {_at(since)}."
    return _of_schedule(tenant, AlarmKind.LATE, schedule, count, sentence)


def missed(tenant: str, schedule: str, count: int, merged: int, at: datetime) -> Condition:
    """Instants that the misfire policy had to decide about."""
    were = "1 instant was" if count == 1 else f"{count:,} instants were"
    became = "skipped" if not merged else f"{count - merged:,} skipped, {merged:,} done by a later run"
    sentence = f"{were} missed of {schedule}, decided last at {_at(at)}: {became}."
    return _of_schedule(tenant, AlarmKind.MISSED, schedule, count, sentence)


def parked(tenant: str, schedule: str, since: datetime) -> Condition:
    """A schedule that cannot be computed."""
    sentence = (
        f"{schedule} cannot be computed since {_at(since)}: nothing of it is planned. Its record has to be mended."
    )
    return _of_schedule(tenant, AlarmKind.PARKED, schedule, 1, sentence)


def dead_letters(tenant: str, schedule: str, count: int, since: datetime) -> Condition:
    """Occurrences that no machine tries again, and that nobody put away."""
    wait = "1 dead letter waits" if count == 1 else f"{count:,} dead letters wait"
    sentence = f"{wait} for somebody of {schedule}, the first since {_at(since)}: replay or discard."
    return _of_schedule(tenant, AlarmKind.DEAD_LETTER, schedule, count, sentence)


def leaving(tenant: str, schedule: str, count: int, at: datetime) -> Condition:
    """Dead letters that retention removes within a day."""
    leave = "1 dead letter is" if count == 1 else f"{count:,} dead letters are"
    sentence = f"{leave} removed by retention within a day of {schedule}, the first at {_at(at)}."
    return _of_schedule(tenant, AlarmKind.LEAVING, schedule, count, sentence)


def spike(
    tenant: str, schedule: str, *, recent: int, before: int, retrying: int, thresholds: Thresholds
) -> Condition | None:
    """Far more failures than as a rule: `recent` dead letters of the last hour and what waits for another attempt,
    against the hourly mean of `before`, those of the day before that hour. None where it is not."""
    failing = recent + retrying
    if failing < thresholds.spike_least or failing * 24 < thresholds.spike_factor * before:
        return None
    mean = f"{before / 24:.1f}".removesuffix(".0")
    sentence = (
        f"{schedule} fails far more than it does as a rule: {recent:,} dead letters within an hour and {retrying:,} "
        f"waiting for another attempt; the day before that it had {mean} dead letters an hour."
    )
    return _of_schedule(tenant, AlarmKind.SPIKE, schedule, failing, sentence)


def stopped(tenant: str, scope: StopScope | None, name: str, by: str | None, since: datetime) -> Condition:
    """A stop, or the switch of money (no scope), is in force."""
    what = {
        StopScope.QUEUE: f"Queue {name} is",
        StopScope.BULK_COMMAND: f"Bulk command {name} is",
        StopScope.JOB_KIND: f"Job kind {name} is",
        StopScope.TENANT: f"All work of {tenant} is",
        None: f"Money of {tenant} is",
    }[scope]
    who = "whoever runs the server" if by is None else by
    sentence = f"{what} stopped since {_at(since)}, by {who}; what for stands with the stop."
    return Condition(tenant=tenant, kind=AlarmKind.STOPPED, subject=name, count=1, sentence=sentence)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerSeen:
    """A Worker that did not stop in good order."""

    incarnation: str
    host: str
    started_at: datetime
    beat_at: datetime
    draining: bool


def missing(workers: Sequence[WorkerSeen], now: datetime, thresholds: Thresholds) -> tuple[WorkerSeen, ...]:
    """Workers that fell silent without a word and that no other was started in place of: each that was started after one
    fell silent stands for one of them."""
    gone_after = timedelta(seconds=thresholds.silent_after)
    silent = sorted(
        (each for each in workers if not each.draining and gone_after < now - each.beat_at <= MISSING_MOST),
        key=lambda each: each.beat_at,
    )
    fresh = sorted(each.started_at for each in workers if now - each.beat_at <= gone_after)
    left: list[WorkerSeen] = []
    for each in silent:
        place = next((started for started in fresh if started > each.beat_at), None)
        if place is None:
            left.append(each)
        else:
            fresh.remove(place)
    return tuple(left)


def worker_missing(tenant: str, worker: WorkerSeen) -> Condition:
    """A Worker that nobody hears of."""
    sentence = (
        f"The Worker on {worker.host} is silent since {_at(worker.beat_at)}, without having stopped or drained, and no "
        "other was started in its place."
    )
    return Condition(
        tenant=tenant, kind=AlarmKind.WORKER_MISSING, subject=worker.incarnation, count=1, sentence=sentence
    )


def no_worker(last_at: datetime | None) -> str:
    """What is said where no Worker lives: nobody is there to write it."""
    since = "None was ever heard of" if last_at is None else f"The last was heard of at {_at(last_at)}"
    return f"No Worker lives: nothing is planned, started, applied or told. {since}. Start one: jobservice worker."


def _of_schedule(tenant: str, kind: AlarmKind, schedule: str, count: int, sentence: str) -> Condition:
    return Condition(tenant=tenant, kind=kind, subject=schedule, schedule=schedule, count=count, sentence=sentence)


def _at(instant: datetime) -> str:
    return f"{instant:%Y-%m-%d %H:%M:%S} UTC"
