"""Owns one recovery of the fake service: its frozen rows, what it leaves out, its account, and how the wire says it."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from jobconsole.client.recoveries import head_of, row_of
from jobcontract.ids import PAGE_MAX
from jobcontract.occurrences import Occurrence
from jobcontract.operating import LeftOut, RecoveryAct, RecoveryState, RecoveryTarget
from jobcontract.permissions import Permission, missing
from jobcontract.recoveries import (
    LeftOutCount,
    Recovery,
    RecoveryAccount,
    RecoveryLeftOut,
    RecoveryMoney,
    RecoveryOrder,
    RecoveryRow,
    RecoverySchedule,
)
from jobcontract.recovery_digest import recovery_digest
from jobcontract.schedules import Schedule
from jobcontract.session import Person
from jobcontract.states import ConfirmMethod, Moves, OccurrenceState, ScheduleStanding, Turn


@dataclass(slots=True, kw_only=True)
class FakeRecovery:
    """A recovery and everything of it."""

    id: str
    name: str
    tenant: str
    owner: Person
    order: RecoveryOrder
    words: str
    command: str
    titles: dict[str, str]
    frozen_at: datetime
    expires_at: datetime
    at_once: int
    rows: list[RecoveryRow]
    left_out: list[RecoveryLeftOut]
    money: tuple[RecoveryMoney, ...] = ()
    state: RecoveryState = RecoveryState.OPEN
    edition: int = 1
    confirmed_at: datetime | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    ended_by: Person | None = None
    why: str | None = None
    drifted: list[str] = field(default_factory=list)
    """How jobs were others than had been frozen."""
    version: int = 1

    @property
    def moves(self) -> Moves:
        """Whether one of its rows moves money."""
        return Moves.MONEY if any(row.moves is Moves.MONEY for row in self.rows) else Moves.NOTHING

    @property
    def told(self) -> str | None:
        """Why it was paused or ended, and how many jobs were others than had been frozen."""
        said = drift_words(self.drifted, len(self.rows))
        return self.why if said is None else said if self.why is None else f"{self.why.rstrip('.')}. {said}"

    def row(self, key: str) -> RecoveryRow | None:
        """The row with that key."""
        return next((each for each in self.rows if each.key == key), None)

    def put(self, row: RecoveryRow, **more: object) -> None:
        """One row as it is now."""
        self.rows[row.number - 1] = row.model_copy(update=more)

    def shown(self) -> Recovery:
        """The recovery as the wire has it."""
        counted = Counter((row.schedule, row.moves) for row in self.rows)
        out = Counter(each.reason for each in self.left_out)
        turns = Counter(row.turn for row in self.rows)
        confirmed = self.confirmed_at is not None
        return Recovery(
            id=self.id,
            name=self.name,
            act=self.order.act,
            reason=self.order.reason,
            words=self.words,
            command=self.command,
            tenant=self.tenant,
            owner=self.owner,
            state=self.state,
            edition=self.edition,
            moves=self.moves,
            confirm_by=ConfirmMethod.TOTP if self.moves is Moves.MONEY else None,
            disable_until=self.order.disable_until,
            frozen_at=self.frozen_at,
            expires_at=self.expires_at,
            confirmed_at=self.confirmed_at,
            started_at=self.started_at,
            ended_at=self.ended_at,
            ended_by=self.ended_by,
            why=self.told,
            count=len(self.rows),
            schedules=tuple(
                RecoverySchedule(schedule=name, title=self.titles.get(name, name), moves=moves, count=count)
                for (name, moves), count in sorted(counted.items())
            ),
            money=self.money if self.moves is Moves.MONEY else (),
            left_out=tuple(LeftOutCount(reason=reason, count=out[reason]) for reason in LeftOut if out[reason]),
            account=tuple(RecoveryAccount(turn=turn, count=turns[turn]) for turn in Turn if turns[turn])
            if confirmed
            else (),
            at_once=self.at_once,
            version=self.version,
        )

    def digest(self) -> str:
        """The digest over the frozen rows."""
        return recovery_digest(head_of(self.shown()), [row_of(row) for row in self.rows])


def occurrence_row(number: int, row: Occurrence, schedule: Schedule | None) -> RecoveryRow:
    """An occurrence as it is frozen."""
    return RecoveryRow(
        number=number,
        key=row.id,
        target=RecoveryTarget.OCCURRENCE,
        name=row.name,
        schedule=row.schedule,
        moves=Moves.NOTHING if schedule is None else schedule.moves,
        scheduled_at=row.scheduled_at,
        state=row.state,
        cause=row.cause,
        error=row.error,
        items=row.items,
        row_version=row.version,
        turn=Turn.NOT_STARTED,
        sentence=None,
        started_at=None,
        ended_at=None,
    )


def why_not(
    order: RecoveryOrder, row: Occurrence, schedule: Schedule | None, may: Collection[Permission]
) -> tuple[LeftOut, str] | None:
    """Why an occurrence is left out, with its sentence; None where it goes in."""
    if not row.state.ended:
        return LeftOut.NOT_ENDED, f"It is {row.state} still."
    if order.act is not RecoveryAct.REPLAY and row.state is not OccurrenceState.DEAD_LETTER:
        return LeftOut.NOT_DEAD, "It is no dead letter."
    left = row.items.refused + row.items.failed + row.items.unfinished
    done = row.state is OccurrenceState.COMPLETED and row.items.selected_all and not left
    if order.occurrences is None and done:
        return LeftOut.ALL_DONE, "It was completed and every item of it is done."
    if row.discarded_at is not None:
        return LeftOut.DISCARDED, "It was discarded."
    if schedule is None:
        return LeftOut.UNRUNNABLE, "The records do not have its schedule any more."
    return _not_allowed(order, schedule, may)


def _not_allowed(order: RecoveryOrder, schedule: Schedule, may: Collection[Permission]) -> tuple[LeftOut, str] | None:
    runs, money = order.act is not RecoveryAct.DISCARD, schedule.moves is Moves.MONEY
    if runs and schedule.standing is ScheduleStanding.DISABLED:
        return LeftOut.DISABLED, "Its schedule is disabled: enable it first."
    if runs and money and Permission.PAYOUT_RELEASE not in may:
        return LeftOut.MONEY, "It moves money: a person with payout.release (finance) replays it."
    needs = Permission.OCCURRENCE_REPLAY if runs else Permission.OCCURRENCE_DISCARD
    if not (money and runs) and needs not in may:
        return LeftOut.PERMISSION, missing(needs, schedule.tenant)
    return None


def schedule_row(number: int, schedule: Schedule) -> RecoveryRow:
    """A schedule as it is frozen."""
    return RecoveryRow(
        number=number,
        key=schedule.id,
        target=RecoveryTarget.SCHEDULE,
        name=schedule.id,
        schedule=schedule.id,
        moves=Moves.NOTHING,
        scheduled_at=None,
        state=None,
        cause=None,
        error=None,
        items=None,
        row_version=schedule.version,
        turn=Turn.NOT_STARTED,
        sentence=None,
        started_at=None,
        ended_at=None,
    )


def command_of(order: RecoveryOrder) -> str:
    """The headless command that makes the same one."""
    words = ["jobconsole", "recoveries", order.act.value]
    named = (("--schedule", order.schedules), ("--occurrence", order.occurrences), ("--job", order.jobs))
    for option, names in named:
        for name in names or ():
            words += [option, name]
    for option, instant in (("--from", order.since), ("--to", order.until), ("--until", order.disable_until)):
        if instant is not None:
            words += [option, instant.isoformat().replace("+00:00", "Z")]
    for cause in order.causes or ():
        words += ["--cause", cause.value]
    words += ["--skipped"] if order.skipped else []
    words += ["--filter", order.job_filter] if order.job_filter is not None else []
    return shlex.join([*words, "--reason", order.reason])


def words_of(order: RecoveryOrder) -> str:
    """What was asked for, in words."""
    told = [order.act.value]
    if order.jobs is not None or order.job_filter is not None:
        return f"{order.act} {_jobs_words(order)}"
    if order.occurrences is not None:
        told.append(f"{len(order.occurrences):,} named occurrences")
    else:
        told.append(", ".join(order.schedules) if order.schedules else "every schedule")
    if order.since is not None and order.until is not None:
        told.append(f"{order.since:%-d %b %H:%M} to {order.until:%-d %b %H:%M} UTC")
    return f"{told[0]} {', '.join(told[1:])}{', skipped instants too' if order.skipped else ''}"


def _jobs_words(order: RecoveryOrder) -> str:
    if order.jobs is not None:
        return f"{len(order.jobs):,} named jobs" if len(order.jobs) > 1 else f"job {order.jobs[0]}"
    return f"the jobs that {order.job_filter!r} finds" if order.job_filter else "every job"


def cut(rows: Sequence[RecoveryRow], start: int, limit: int) -> tuple[tuple[RecoveryRow, ...], str | None]:
    """A page from `start` on, and the cursor of the next."""
    end = start + min(limit, PAGE_MAX * 5)
    return tuple(rows[start:end]), str(end) if end < len(rows) else None


def in_stretch(row: Occurrence, order: RecoveryOrder) -> bool:
    """Whether it lies in the stretch, and is of one of the schedules."""
    return (
        (order.schedules is None or row.schedule in order.schedules)
        and (order.since is None or row.scheduled_at >= order.since)
        and (order.until is None or row.scheduled_at < order.until)
    )


def is_dead(row: Occurrence, order: RecoveryOrder) -> bool:
    """Whether it is a dead letter of one of the causes."""
    dead = row.state is OccurrenceState.DEAD_LETTER and row.discarded_at is None
    return dead and (order.causes is None or row.cause in order.causes)


def out_of(name: str, schedule: str, reason: LeftOut, sentence: str, at: datetime | None = None) -> RecoveryLeftOut:
    """Something that is left out."""
    return RecoveryLeftOut(name=name, schedule=schedule, reason=reason, sentence=sentence, scheduled_at=at)


def drift_words(drifted: Collection[str], count: int) -> str | None:
    """`3 of 412 had settled meanwhile.`; None where nothing had drifted."""
    words = {"settled": "had settled", "retried": "had been retried", "resolved": "had been resolved"}
    told = [(sum(each == name for each in drifted), said) for name, said in words.items()]
    told = [each for each in told if each[0]]
    if not told:
        return None
    first, *more = told
    head = f"{first[0]:,} of {count:,} {first[1]} meanwhile"
    return ", ".join([head, *(f"{number:,} {said} meanwhile" for number, said in more)]) + "."
