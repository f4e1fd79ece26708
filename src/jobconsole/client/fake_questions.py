"""Owns what an operator asks before acting, in the fake service: why something does not run, what a schedule would do, its
runbooks. Values of a test's own take the place of what is computed here: `whys`, `simulations`, `books`.

Computes instants of `every` alone, and of causes the plain ones: ranking all of them is the service's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta

from jobconsole.client.fake_asked import Asked, Handler
from jobconsole.client.fake_schedules import TZDATA, FakeJobs
from jobcontract.audit import AuditEntry
from jobcontract.errors import ErrorCode, Refusal
from jobcontract.interfaces import interface_of
from jobcontract.occurrences import Occurrence
from jobcontract.operating import Fate, Procedure, WhyKind
from jobcontract.permissions import GRANTS, Permission, missing, roles_with
from jobcontract.runbooks import Runbook, Runbooks, Transcript
from jobcontract.schedules import Schedule
from jobcontract.simulation import (
    DAYS_MOST,
    INSTANTS_MOST,
    Course,
    Down,
    FateCount,
    SimulatedInstant,
    Simulation,
    SimulationOrder,
)
from jobcontract.states import OccurrenceState, WorkerStanding
from jobcontract.stops import Stop
from jobcontract.why import Cause, Evidence, Why

PROCEDURES = {
    Procedure.INSPECT: ("occurrences", "Look at its runs"),
    Procedure.REPLAY: ("replay-occurrence", "Run a dead letter again"),
    Procedure.DISABLE: ("disable-schedule", "Switch it off"),
}


class FakeQuestions:
    """Why, simulator and runbooks of one tenant. `trail`: the audit entries so far; `stopped`: the stop of all work."""

    def __init__(
        self,
        now: Callable[[], datetime],
        jobs: FakeJobs,
        trail: Callable[[], Sequence[AuditEntry]],
        stopped: Callable[[], Stop | None],
    ) -> None:
        self._now = now
        self._stopped = stopped
        self._jobs = jobs
        self._trail = trail
        self.whys: dict[str, Why] = {}
        """By schedule or occurrence id."""
        self.simulations: dict[str, Simulation] = {}
        self.books: dict[str, tuple[Runbook, ...]] = {}

    def handlers(self) -> Mapping[str, Handler]:
        """The routes of these questions."""
        return {
            "schedule-why": self._schedule_why,
            "occurrence-why": self._occurrence_why,
            "simulate": self._simulate,
            "runbooks": self._runbooks,
        }

    # Why

    def _schedule_why(self, asked: Asked) -> Why:
        found = self._jobs.schedule(asked)
        if found.id in self.whys:
            return self.whys[found.id].model_copy(update={"now": self._now()})
        rows = [each for each in self._jobs.occurrences.values() if each.schedule == found.id and not each.state.ended]
        oldest = min(rows, key=lambda each: each.scheduled_at, default=None)
        return self._answer(found.id, found, oldest)

    def _occurrence_why(self, asked: Asked) -> Why:
        found = self._jobs.find(asked)
        if found.id in self.whys:
            return self.whys[found.id].model_copy(update={"now": self._now()})
        schedule = self._jobs.schedules[found.schedule]
        return self._answer(asked.parts["occurrence"], schedule, found)

    def _answer(self, subject: str, schedule: Schedule, one: Occurrence | None) -> Why:
        checked = self._checked(schedule, one)
        causes = [
            Cause(
                kind=kind,
                applies=kind in checked,
                sentence=checked.get(kind, f"Checked: it is not {kind.value}."),
                evidence=_evidence(kind, schedule) if kind in checked else (),
                remedy="Enable it once the cause is gone." if kind in checked and kind is WhyKind.DISABLED else None,
            )
            for kind in WhyKind
        ]
        causes.sort(key=lambda each: not each.applies)
        sentence = causes[0].sentence if causes[0].applies else "It starts once a Worker has a slot for it."
        return Why(
            subject=subject,
            schedule=schedule.id,
            occurrence=one.name if one is not None else None,
            sentence=sentence,
            causes=tuple(causes),
            now=self._now(),
        )

    def _checked(self, schedule: Schedule, one: Occurrence | None) -> dict[WhyKind, str]:
        """The plain causes that apply, each in a sentence."""
        off, stop, manual = schedule.disabled, self._stopped(), schedule.rhythm is None
        found: dict[WhyKind, str] = {}
        if one is not None and one.state.ended:
            return {WhyKind.ENDED: "It has ended."}
        if one is not None and one.state is OccurrenceState.PROCESSING:
            found[WhyKind.RUNNING] = "A Worker holds its lease."
        if one is not None and one.cancel_asked_at is not None and one.cancelled_by is not None:
            found[WhyKind.CANCELLED] = f"{one.cancelled_by.name} asked for it to be cancelled: {one.cancel_reason}"
        if stop is not None:
            found[WhyKind.TENANT_STOPPED] = f"All work of the tenant is stopped by {stop.by.name}: {stop.reason}"
        if off is not None:
            found[WhyKind.DISABLED] = f"It is disabled by {off.by.name}: {off.reason}."
        live = any(each.standing is WorkerStanding.LIVE for each in self._jobs.workers)
        if not live and (one is not None or not manual):
            found[WhyKind.NO_WORKER] = "No Worker takes work: none is live."
        if one is None:
            found |= {WhyKind.MANUAL: "Nothing but a person starts it."} if manual else {}
            found |= {} if manual else {WhyKind.NOT_DUE: "It is not due yet."}
        elif one.state is OccurrenceState.SCHEDULED and one.due_at > self._now():
            kind = WhyKind.BACKING_OFF if one.attempts else WhyKind.NOT_DUE
            found[kind] = f"It waits until {one.due_at:%H:%M:%S} UTC."
        return found

    # Simulator

    def _simulate(self, asked: Asked) -> Simulation:
        order, found = SimulationOrder.model_validate_json(asked.request.content), self._jobs.schedule(asked)
        if found.rhythm is None or found.rhythm.every is None:
            raise Refusal(
                ErrorCode.SCHEDULE_UNFIT,
                f"{found.id} has no rhythm: a person starts it, so there is nothing to simulate.",
            )
        _judge(order)
        if found.id in self.simulations:
            return self.simulations[found.id].model_copy(update={"now": self._now()})
        current = _course(found, order, found.rhythm.every)
        every = order.edit.every if order.edit is not None else None
        edited = _course(found, order, every or found.rhythm.every) if order.edit is not None else None
        differs = _differing(current, edited) if edited is not None else ()
        return Simulation(
            schedule=found.id,
            zone="UTC",
            tzdata=TZDATA,
            since=order.since,
            until=order.until,
            current=current,
            edited=edited,
            differs=differs,
            words="" if edited is None else f"{len(differs):,} instants differ.",
            now=self._now(),
        )

    # Runbooks

    def _runbooks(self, asked: Asked) -> Runbooks:
        found = self._jobs.schedule(asked)
        rows = [each for each in self._jobs.occurrences.values() if each.schedule == found.id]
        ids = {found.id, *(each.id for each in rows), *(each.name for each in rows)}
        done = tuple(
            Transcript(
                at=entry.at,
                person=entry.person,
                action=entry.action,
                subject=entry.subject,
                outcome=entry.outcome,
                sentence=str(entry.detail.get("reason", entry.detail.get("code", ""))),
            )
            for entry in reversed(self._trail())
            if entry.subject in ids
        )
        books = self.books.get(found.id) or tuple(_runbook(each, found.id, asked) for each in Procedure)
        return Runbooks(schedule=found.id, runbooks=books, transcript=done[:20], now=self._now())


def _judge(order: SimulationOrder) -> None:
    """Refusal INVALID_REQUEST of a stretch, a downtime or an edit that is impossible."""
    wrong = None
    if order.until <= order.since:
        wrong = "`until` is not later than `since`."
    elif order.until - order.since > timedelta(days=DAYS_MOST):
        wrong = f"More than {DAYS_MOST:,} days are simulated at no time: name a shorter stretch."
    elif any(not order.since <= down.since < down.until <= order.until for down in order.down):
        wrong = "A downtime ends before it begins, or does not lie within the stretch."
    elif order.edit is not None and order.edit.cron is not None and order.edit.every is not None:
        wrong = "It says both `cron` and `every`; keep one."
    if wrong is not None:
        raise Refusal(ErrorCode.INVALID_REQUEST, wrong)


def _evidence(kind: WhyKind, schedule: Schedule) -> tuple[Evidence, ...]:
    off = schedule.disabled
    if kind is not WhyKind.DISABLED or off is None:
        return ()
    until = (Evidence(label="until", value="", at=off.until),) if off.until is not None else ()
    return (Evidence(label="by", value=off.by.name, at=off.at), *until)


def _course(found: Schedule, order: SimulationOrder, every: int) -> Course:
    step, anchor = timedelta(seconds=every), found.rhythm.anchor if found.rhythm is not None else None
    anchor = anchor or order.since
    first = anchor - ((anchor - order.since) // step) * step
    count = max(0, -((first - order.until) // step))
    instants = [_instant(first + number * step, order.down) for number in range(count)]
    fates = [each.fate for each in instants]
    counts = [FateCount(fate=fate, count=fates.count(fate)) for fate in Fate if fate in fates]
    return Course(
        rhythm=f"every {every} s",
        misfire=found.misfire.words if found.misfire is not None else "",
        instants=tuple(instants[:INSTANTS_MOST]),
        counts=tuple(counts),
        whole=len(instants) <= INSTANTS_MOST,
    )


def _instant(at: datetime, downs: Sequence[Down]) -> SimulatedInstant:
    down = any(each.since <= at < each.until for each in downs)
    return SimulatedInstant(
        at=at,
        last_at=at,
        count=1,
        local=None,
        offset=None,
        abbreviation=None,
        clock=None,
        fate=Fate.SKIPPED if down else Fate.FIRES,
        runs_at=None if down else at,
        merged_into=None,
        words="missed" if down else "",
    )


def _differing(current: Course, edited: Course) -> tuple[datetime, ...]:
    first, second = ({each.at: each.fate for each in course.instants} for course in (current, edited))
    return tuple(sorted(at for at in {*first, *second} if first.get(at) != second.get(at)))


_NEEDED = {Procedure.REPLAY: Permission.OCCURRENCE_REPLAY}
"""What a procedure needs beside its route's permission: whoever has none of it gets an empty recovery."""


def _runbook(procedure: Procedure, schedule: str, asked: Asked) -> Runbook:
    name, title = PROCEDURES[procedure]
    interface = interface_of(name)
    if interface is None or interface.route.permission is None:
        raise LookupError(name)
    route, permission = interface.route, interface.route.permission
    may = permission in GRANTS[asked.role]
    return Runbook(
        id=f"{schedule}.{procedure}",
        title=title,
        procedure=procedure,
        route=route.name,
        request=f"{route.method} {route.path.replace('{schedule}', schedule)}",
        command=f"jobconsole {interface.command.replace('SCHEDULE', schedule)}",
        permission=permission,
        roles=tuple(role for role in roles_with(permission) if _NEEDED.get(procedure, permission) in GRANTS[role]),
        steps=(f"Look at {schedule}.", "Read the error of the last one.", "Act, and say why."),
        claimed="What a Worker has claimed goes on to its end.",
        refused=None if may else missing(permission, "leeds"),
    )
