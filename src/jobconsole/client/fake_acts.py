"""Owns single acts on schedules, occurrences and Workers in the fake service: the refusals of the real one, in its order.

    fake.acts.closed["t.by-hand"] = "Its guard opens on Mon 08:00 UTC."     # run now: guard-refused
    fake.acts.elsewhere["t.by-hand"] = "It runs in night alone."            # run now: runs-elsewhere

Computes instants of `every` alone: what enabling makes up for of any other rhythm is the service's to say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta

from jobconsole.client.fake_asked import Asked, Handler
from jobconsole.client.fake_schedules import FakeJobs
from jobcontract.acts import (
    DisableOrder,
    DiscardOrder,
    DrainOrder,
    EnableOrder,
    Enabling,
    MadeUp,
    ReplayOrder,
    RunOrder,
    ScheduleChanged,
    WorkerChanged,
)
from jobcontract.errors import ErrorCode, Refusal
from jobcontract.occurrences import Occurrence, OccurrenceChanged, Replay
from jobcontract.schedules import Disabled, Schedule
from jobcontract.states import (
    MisfirePolicy,
    Moves,
    OccurrenceOrigin,
    OccurrenceState,
    OutcomeKind,
    ScheduleStanding,
    ScheduleType,
    SkipPolicy,
    WorkerStanding,
)
from jobcontract.workers import Worker

YEAR = timedelta(days=366)


class FakeActs:
    """The acts over one tenant's schedules, occurrences and Workers."""

    def __init__(self, now: Callable[[], datetime], jobs: FakeJobs) -> None:
        self._now = now
        self._jobs = jobs
        self.closed: dict[str, str] = {}
        """Sentence by schedule whose guard does not allow it now."""
        self.elsewhere: dict[str, str] = {}
        """Sentence by schedule that does not run in this deployment."""

    def handlers(self) -> Mapping[str, Handler]:
        """The routes of single acts."""
        return {
            "run-schedule": self._run,
            "disable-schedule": self._disable,
            "enable-schedule": self._enable,
            "enabling": lambda asked: self._enabling(self._jobs.schedule(asked)),
            "replay-occurrence": self._replay,
            "discard-occurrence": self._discard,
            "drain-worker": self._drain,
            "undrain-worker": self._undrain,
        }

    # Schedules

    def _run(self, asked: Asked) -> OccurrenceChanged:
        RunOrder.model_validate_json(asked.request.content)
        name, found = asked.parts["schedule"], self._jobs.schedule(asked)
        if name in self.elsewhere:
            raise Refusal(ErrorCode.RUNS_ELSEWHERE, self.elsewhere[name])
        if found.type is not ScheduleType.MANUAL:
            raise Refusal(ErrorCode.SCHEDULE_UNFIT, f"{name} runs by itself: only a manual schedule is run by hand.")
        if found.moves is Moves.MONEY:
            raise Refusal(ErrorCode.NEEDS_PLAN, f"{name} moves money: only a confirmed recovery runs it.")
        if found.disabled is not None:
            raise Refusal(ErrorCode.SCHEDULE_DISABLED, _off(name, found.disabled))
        if name in self.closed:
            raise Refusal(ErrorCode.GUARD_REFUSED, self.closed[name])
        identifier = self._jobs.plan(name, self._now(), origin=OccurrenceOrigin.MANUAL)
        return OccurrenceChanged(occurrence=self._jobs.occurrences[identifier], now=self._now())

    def _disable(self, asked: Asked) -> ScheduleChanged:
        order, found = DisableOrder.model_validate_json(asked.request.content), self._jobs.schedule(asked)
        now = self._now()
        if order.until is not None and not now < order.until <= now + YEAR:
            raise Refusal(ErrorCode.INVALID_REQUEST, "`until` is a time to come, at most a year ahead.")
        off = found.disabled
        if off is not None and (off.until is None or (order.until is not None and order.until <= off.until)):
            raise Refusal(ErrorCode.SCHEDULE_DISABLED, _off(found.id, off))
        off = Disabled(at=now if off is None else off.at, until=order.until, by=asked.person, reason=order.reason)
        return self._changed(found, disabled=off, standing=ScheduleStanding.DISABLED)

    def _enable(self, asked: Asked) -> ScheduleChanged:
        EnableOrder.model_validate_json(asked.request.content)
        found = self._jobs.schedule(asked)
        if found.disabled is None:
            raise Refusal(ErrorCode.SCHEDULE_NOT_DISABLED, f"{found.id} is not disabled.")
        on = ScheduleStanding.MANUAL if found.type is ScheduleType.MANUAL else ScheduleStanding.ON_TIME
        return self._changed(found, disabled=None, standing=on)

    def _changed(self, found: Schedule, **more: object) -> ScheduleChanged:
        kept = self._jobs.schedules[found.id]
        self._jobs.schedules[found.id] = kept.model_copy(update={"version": kept.version + 1, **more})
        self._jobs.changed(found.id)
        return ScheduleChanged(schedule=self._jobs.schedules[found.id], now=self._now())

    def _enabling(self, found: Schedule) -> Enabling:
        off, now = found.disabled, self._now()
        missed = _instants(found, off.at, now) if off is not None else []
        runs, skips = _decided(found, missed, now)
        coming = self._jobs.ahead(found, now)
        words = f"Makes up for {sum(each.count for each in runs)} and skips {sum(each.count for each in skips)}."
        return Enabling(
            schedule=found.id,
            disabled=off is not None,
            since=off.at if off is not None else None,
            words=words if missed else "Nothing was missed: it goes on with its next time.",
            runs=runs,
            skips=skips,
            next=coming[0] if coming else None,
            now=now,
        )

    # Occurrences

    def _replay(self, asked: Asked) -> OccurrenceChanged:
        order, found = ReplayOrder.model_validate_json(asked.request.content), self._jobs.find(asked)
        if not found.state.ended:
            doing = "runs" if found.state is OccurrenceState.PROCESSING else "waits for its turn"
            raise Refusal(
                ErrorCode.OCCURRENCE_NOT_ENDED,
                f"{found.name} {doing}: only what has ended is run again. Cancel it first, or wait for its end.",
            )
        schedule = self._jobs.schedules.get(found.schedule)
        if schedule is None:
            raise Refusal(ErrorCode.SCHEDULE_UNFIT, f"The records have no {found.schedule} that runs here any more.")
        if schedule.moves is Moves.MONEY:
            raise Refusal(ErrorCode.NEEDS_PLAN, f"{found.schedule} moves money: it is replayed by a recovery.")
        if schedule.disabled is not None:
            raise Refusal(ErrorCode.SCHEDULE_DISABLED, _off(found.schedule, schedule.disabled))
        _same(found, order.version)
        items = self._jobs.items.get(found.id, [])
        again = [each for each in items if each.outcome is not OutcomeKind.DONE]
        fresh = {"outcome": None, "attempts": 0, "try_at": None, "ended_at": None}
        self._jobs.items[found.id] = [each.model_copy(update=fresh) if each in again else each for each in items]
        self._keep_replay(asked, found, order.reason, len(again))
        return self._acted(
            found,
            state=OccurrenceState.SCHEDULED,
            due_at=max(self._now(), found.scheduled_at),
            attempts=0,
            replays=found.replays + 1,
            started_at=None,
            ended_at=None,
            cause=None,
            error=None,
            cancel_asked_at=None,
            cancelled_by=None,
            cancel_reason=None,
            discarded_at=None,
            discarded_by=None,
            discard_reason=None,
        )

    def _keep_replay(self, asked: Asked, found: Occurrence, reason: str, not_done: int) -> None:
        replay = Replay(
            replay=found.replays + 1,
            at=self._now(),
            person=asked.person,
            reason=reason,
            recovery=None,
            state_before=found.state,
            cause_before=found.cause,
            ended_before=found.ended_at or self._now(),
            attempts_before=found.attempts,
            not_done=not_done,
        )
        self._jobs.replays.setdefault(found.id, []).append(replay)

    def _discard(self, asked: Asked) -> OccurrenceChanged:
        order, found = DiscardOrder.model_validate_json(asked.request.content), self._jobs.find(asked)
        if found.state is not OccurrenceState.DEAD_LETTER:
            raise Refusal(ErrorCode.NOT_DEAD_LETTER, f"{found.name} is {found.state}: only a dead letter is discarded.")
        if found.discarded_at is not None:
            by = found.discarded_by.name if found.discarded_by is not None else "somebody"
            raise Refusal(ErrorCode.NOT_DEAD_LETTER, f"{found.name} was discarded by {by}.")
        _same(found, order.version)
        return self._acted(found, discarded_at=self._now(), discarded_by=asked.person, discard_reason=order.reason)

    def _acted(self, found: Occurrence, **more: object) -> OccurrenceChanged:
        self._jobs.change(found.id, **more)
        return OccurrenceChanged(occurrence=self._jobs.shown(found.id), now=self._now())

    # Workers

    def _drain(self, asked: Asked) -> WorkerChanged:
        order, found = DrainOrder.model_validate_json(asked.request.content), self._worker(asked)
        others = [
            each
            for each in self._jobs.workers
            if each.incarnation != found.incarnation
            and each.standing is WorkerStanding.LIVE
            and each.drain_asked_at is None
        ]
        if found.drain_asked_at is not None:
            return WorkerChanged(worker=found, now=self._now())
        if not others:
            raise Refusal(
                ErrorCode.WORKER_LAST,
                f"Worker {found.incarnation[:8]} on {found.host} is the last one that takes work: start another one first.",
            )
        more = {"drain_asked_at": self._now(), "drain_asked_by": asked.person, "drain_reason": order.reason}
        return self._worker_changed(found, standing=WorkerStanding.DRAINING, draining_at=self._now(), **more)

    def _undrain(self, asked: Asked) -> WorkerChanged:
        DrainOrder.model_validate_json(asked.request.content)
        none = {"drain_asked_at": None, "drain_asked_by": None, "drain_reason": None, "draining_at": None}
        return self._worker_changed(self._worker(asked), standing=WorkerStanding.LIVE, **none)

    def _worker(self, asked: Asked) -> Worker:
        named = asked.parts["worker"]
        found = next((each for each in self._jobs.workers if each.incarnation == named), None)
        if found is None:
            raise Refusal(ErrorCode.NOT_FOUND, f"There is no Worker {named!r}.")
        if found.stopped_at is not None:
            raise Refusal(ErrorCode.WORKER_ENDED, f"Worker {named[:8]} on {found.host} has stopped.")
        return found

    def _worker_changed(self, found: Worker, **more: object) -> WorkerChanged:
        told = found.model_copy(update=more)
        self._jobs.workers[self._jobs.workers.index(found)] = told
        return WorkerChanged(worker=told, now=self._now())


def _off(name: str, off: Disabled) -> str:
    until = "" if off.until is None else f" until {off.until:%Y-%m-%d %H:%M:%S} UTC"
    return f"{name} is disabled by {off.by.name}{until}: {off.reason.rstrip('.')}. Enable it first."


def _same(found: Occurrence, seen: int | None) -> None:
    if seen is not None and seen != found.version:
        raise Refusal(
            ErrorCode.VERSION_CHANGED,
            f"{found.name} changed since you looked: it is {found.state} by now. Look at it again.",
        )


def _instants(found: Schedule, since: datetime, until: datetime) -> list[datetime]:
    """The instants of `every` later than `since`, not later than `until`."""
    rhythm = found.rhythm
    if rhythm is None or rhythm.every is None or rhythm.anchor is None:
        return []
    step = timedelta(seconds=rhythm.every)
    first = rhythm.anchor + ((since - rhythm.anchor) // step + 1) * step
    return [first + number * step for number in range(max(0, (until - first) // step + 1))]


def _decided(
    found: Schedule, missed: Sequence[datetime], now: datetime
) -> tuple[tuple[MadeUp, ...], tuple[MadeUp, ...]]:
    """What runs of them and what is skipped, by the misfire policy."""
    misfire = found.misfire
    if misfire is None or not missed:
        return (), ()
    late = [each for each in missed if (now - each).total_seconds() > misfire.after]
    fresh = list(missed[len(late) :])
    newest = {MisfirePolicy.SKIP: 0, MisfirePolicy.ONCE: 1}.get(misfire.policy, misfire.newest or 1)
    kept = late[max(0, len(late) - newest) :] if newest else []
    policies = {MisfirePolicy.SKIP: SkipPolicy.MISFIRE_SKIP, MisfirePolicy.ONCE: SkipPolicy.MISFIRE_ONCE}
    policy = policies.get(misfire.policy, SkipPolicy.MISFIRE_EACH_INTERVAL)
    left = late[: len(late) - len(kept)]
    return _together([*kept, *fresh], None, "made up for"), _together(left, policy, misfire.words)


def _together(instants: Sequence[datetime], policy: SkipPolicy | None, words: str) -> tuple[MadeUp, ...]:
    if not instants:
        return ()
    return (MadeUp(first_at=instants[0], last_at=instants[-1], count=len(instants), policy=policy, words=words),)
