"""Owns the recoveries of the fake service: making, changing, confirming and steering them, and the Worker that a test
moves by hand. Follows the meaning of the real ones.

    made = fake.recoveries.all[identifier]
    fake.recoveries.step(made)                     # the next row has its turn and is done
    fake.recoveries.step(made, Turn.FAILED, "…")   # or ends otherwise
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from uuid import UUID

from jobconsole.client.fake_asked import TENANT, Asked, Handler
from jobconsole.client.fake_codes import FakeCodes
from jobconsole.client.fake_job_kinds import KINDS
from jobconsole.client.fake_jobs import FakeAccount
from jobconsole.client.fake_occurrence import counted
from jobconsole.client.fake_recovery import (
    FakeRecovery,
    command_of,
    cut,
    in_stretch,
    is_dead,
    occurrence_row,
    out_of,
    schedule_row,
    why_not,
    words_of,
)
from jobconsole.client.fake_recovery_jobs import JOB_ACTS, Ended, FakeRecoveryJobs
from jobconsole.client.fake_schedules import FakeJobs
from jobcontract.errors import ErrorCode, Refusal
from jobcontract.events import Topic
from jobcontract.occurrences import Occurrence
from jobcontract.operating import LeftOut, RecoveryAct, RecoveryState, RecoveryTarget
from jobcontract.permissions import GRANTS, Permission, missing
from jobcontract.plans import PLAN_PAGE_MOST, PlanChange
from jobcontract.recoveries import (
    ConfirmRecovery,
    Recoveries,
    RecoveryChanged,
    RecoveryDetail,
    RecoveryLeftOut,
    RecoveryLeftOuts,
    RecoveryMoney,
    RecoveryOrder,
    RecoveryRow,
    RecoveryRows,
    RecoverySteer,
    ResumeRecovery,
    TakeOutOrder,
)
from jobcontract.session import Person
from jobcontract.states import Moves, ScheduleStanding, Turn

WORDS = ("tern", "plover", "marten", "stoat", "linnet", "dunlin")
FIRST_ROWS = 200


class FakeRecoveries:
    """The recoveries of one tenant. `publish` hears of each change."""

    def __init__(
        self,
        now: Callable[[], datetime],
        jobs: FakeJobs,
        codes: FakeCodes,
        publish: Callable[[Topic, str, str, int], None],
        account: FakeAccount,
    ) -> None:
        self._now = now
        self._jobs = jobs
        self._of_jobs = FakeRecoveryJobs(account)
        self._codes = codes
        self._publish = publish
        self.all: dict[str, FakeRecovery] = {}
        self.money: tuple[RecoveryMoney, ...] = ()
        """What confirmed plans hold, for recoveries that move money; a test may change it."""
        self.most, self.open_most = 50_000, 3
        self.at_once = 8
        self.expiry = timedelta(minutes=30)

    def live(self) -> int:
        """How many something may still come of."""
        self._refresh()
        return sum(not each.state.ended for each in self.all.values())

    def step(self, made: FakeRecovery, turn: Turn = Turn.DONE, sentence: str | None = None) -> bool:
        """Give the next row its turn; False where it lets none begin or none is left."""
        if made.state is not RecoveryState.APPLYING:
            return False
        row = next((each for each in made.rows if not each.turn.ended), None)
        if row is None:
            return False
        now = self._now()
        ended = Ended(turn=turn, sentence=sentence or "")
        if row.target is RecoveryTarget.JOB and turn is Turn.DONE:
            ended = self._of_jobs.do(made, row)
            made.drifted += [ended.drift] if ended.drift is not None else []
        made.put(
            row,
            turn=ended.turn,
            sentence=ended.sentence or None,
            started_at=row.started_at or now,
            ended_at=now if ended.turn.ended else None,
            made=ended.made,
        )
        if all(each.turn.ended for each in made.rows):
            self._end(made, RecoveryState.DONE, None, None)
        else:
            self.changed(made)
        return True

    def changed(self, made: FakeRecovery) -> None:
        """Tell the streams."""
        made.version += 1
        self._publish(Topic.RECOVERY, made.id, made.id, made.version)

    def handlers(self) -> Mapping[str, Handler]:
        """The routes of recoveries."""
        return {
            "make-recovery": self._make,
            "recoveries": self._list,
            "recovery": self._detail,
            "recovery-rows": self._rows,
            "recovery-left-out": self._left_outs,
            "take-out-of-recovery": self._take_out,
            "drop-recovery": self._drop,
            "confirm-recovery": self._confirm,
            "pause-recovery": self._pause,
            "resume-recovery": self._resume,
            "abort-recovery": self._abort,
        }

    # Making

    def _make(self, asked: Asked) -> RecoveryChanged:
        order = RecoveryOrder.model_validate_json(asked.request.content)
        self._refresh()
        mine = [each for each in self.all.values() if (each.owner, each.state) == (asked.person, RecoveryState.OPEN)]
        if len(mine) >= self.open_most:
            raise Refusal(ErrorCode.PLANS_MAX, f"You have {len(mine)} open recoveries. Confirm or drop one first.")
        found = list(self._found(asked, order))
        rows = [row.model_copy(update={"number": at}) for at, row in enumerate(_rows_of(found), 1)]
        left_out = [each for each in found if isinstance(each, RecoveryLeftOut)]
        if not rows:
            told = [{"reason": each.reason.value, "name": each.name} for each in left_out]
            raise Refusal(
                ErrorCode.PLAN_EMPTY, "Nothing can go into the recovery: all of it is left out.", left_out=told
            )
        if len(rows) > self.most:
            raise Refusal(
                ErrorCode.PLAN_TOO_LARGE, f"A recovery has at most {self.most:,} rows; these are {len(rows):,}."
            )
        number, now = len(self.all), self._now()
        made = FakeRecovery(
            id=str(UUID(int=(14 << 120) + number)),
            name=f"{WORDS[number % len(WORDS)]}-{42 + number}",
            tenant=TENANT,
            owner=asked.person,
            order=order,
            words=words_of(order),
            command=command_of(order),
            titles={
                **{each.id: each.title for each in self._jobs.schedules.values()},
                **{each.wire.id: each.wire.label for each in KINDS.values()},
            },
            frozen_at=now,
            expires_at=now + self.expiry,
            at_once=self.at_once,
            rows=rows,
            left_out=left_out,
            money=self.money,
        )
        self.all[made.id] = made
        self.changed(made)
        return self._shown(made)

    def _found(self, asked: Asked, order: RecoveryOrder) -> Iterator[RecoveryRow | RecoveryLeftOut]:
        if order.act in JOB_ACTS:
            return self._of_jobs.frozen(asked, order, self._held())
        return self._disabling(asked, order) if order.act is RecoveryAct.DISABLE else self._runs(asked, order)

    def _runs(self, asked: Asked, order: RecoveryOrder) -> Iterator[RecoveryRow | RecoveryLeftOut]:
        known = sorted(self._jobs.occurrences.values(), key=lambda each: (each.scheduled_at, each.id))
        if order.occurrences is not None:
            named = {name: each for each in known for name in (each.id, each.name)}
            for name in order.occurrences:
                if name not in named:
                    yield out_of(name, "", LeftOut.UNKNOWN, "There is no such occurrence.")
            wanted = [each for each in known if each.id in order.occurrences or each.name in order.occurrences]
        else:
            dead = order.act is not RecoveryAct.REPLAY
            wanted = [each for each in known if in_stretch(each, order) and (not dead or is_dead(each, order))]
        for each in wanted:
            yield self._judged(asked, order, each)

    def _judged(self, asked: Asked, order: RecoveryOrder, row: Occurrence) -> RecoveryRow | RecoveryLeftOut:
        row = counted(row, self._jobs.items.get(row.id, ()))
        schedule = self._jobs.schedules.get(row.schedule)
        reason = why_not(order, row, schedule, GRANTS[asked.role])
        if row.id in self._held() and (reason is None or reason[0] in (LeftOut.MONEY, LeftOut.PERMISSION)):
            reason = LeftOut.IN_RECOVERY, "It is in another recovery, which is not over yet."
        if reason is not None:
            return out_of(row.name, row.schedule, *reason, row.scheduled_at)
        return occurrence_row(0, row, schedule)

    def _disabling(self, asked: Asked, order: RecoveryOrder) -> Iterator[RecoveryRow | RecoveryLeftOut]:
        for name in order.schedules or ():
            schedule = self._jobs.schedules.get(name)
            if schedule is None:
                yield out_of(name, name, LeftOut.UNKNOWN, "There is no such schedule.")
            elif schedule.standing is ScheduleStanding.DISABLED:
                yield out_of(name, name, LeftOut.DISABLED, "It is disabled already.")
            elif Permission.SCHEDULE_DISABLE not in GRANTS[asked.role]:
                yield out_of(name, name, LeftOut.PERMISSION, missing(Permission.SCHEDULE_DISABLE, TENANT))
            else:
                yield schedule_row(0, schedule)

    # Reading

    def _list(self, asked: Asked) -> Recoveries:
        self._refresh()
        found = [each for each in reversed(self.all.values()) if not ("state" in asked.query and each.state.ended)]
        start, limit = _start(asked), asked.limit()
        end = start + limit
        return Recoveries(
            recoveries=tuple(each.shown() for each in found[start:end]),
            next=str(end) if end < len(found) else None,
            now=self._now(),
        )

    def _detail(self, asked: Asked) -> RecoveryDetail:
        made = self._find(asked)
        rows, following = cut(made.rows, 0, FIRST_ROWS)
        return RecoveryDetail(recovery=made.shown(), rows=rows, next=following, now=self._now())

    def _rows(self, asked: Asked) -> RecoveryRows:
        made, turn = self._find(asked), asked.query.get("turn")
        rows, following = cut(
            [each for each in made.rows if turn in (None, each.turn.value)], _start(asked), asked.limit()
        )
        return RecoveryRows(edition=made.edition, rows=rows, next=following, now=self._now())

    def _left_outs(self, asked: Asked) -> RecoveryLeftOuts:
        made, start = self._find(asked), _start(asked)
        end = start + asked.limit()
        following = str(end) if end < len(made.left_out) else None
        return RecoveryLeftOuts(left_out=tuple(made.left_out[start:end]), next=following, now=self._now())

    # Changing

    def _take_out(self, asked: Asked) -> RecoveryChanged:
        made, order = self._own(asked), TakeOutOrder.model_validate_json(asked.request.content)
        gone = [row for row in made.rows if row.key in order.keys]
        if len(gone) < len(set(order.keys)):
            raise Refusal(ErrorCode.NOT_FOUND, "Some of these rows are not in it.")
        if len(gone) == len(made.rows):
            raise Refusal(ErrorCode.PLAN_EMPTY, "Nothing would be left in the recovery: drop it instead.")
        made.left_out += [
            out_of(row.name, row.schedule, LeftOut.TAKEN_OUT, "Its owner took it out.", row.scheduled_at)
            for row in gone
        ]
        kept = [row for row in made.rows if row.key not in order.keys]
        made.rows = [row.model_copy(update={"number": at}) for at, row in enumerate(kept, 1)]
        made.edition += 1
        self.changed(made)
        return self._shown(made)

    def _drop(self, asked: Asked) -> RecoveryChanged:
        made = self._own(asked)
        self._end(
            made, RecoveryState.DROPPED, asked.person, RecoverySteer.model_validate_json(asked.request.content).reason
        )
        return self._shown(made)

    def _confirm(self, asked: Asked) -> RecoveryChanged:
        order, made = ConfirmRecovery.model_validate_json(asked.request.content), self._find(asked)
        made = self._own(asked)
        if order.code is not None and made.moves is not Moves.MONEY:
            raise Refusal(ErrorCode.INVALID_REQUEST, "It moves no money and takes no code.")
        if order.digest != made.digest():
            raise Refusal(ErrorCode.PLAN_DIGEST, "What you looked at is not what the recovery holds. Read it again.")
        changes = [each.model_dump(mode="json") for each in self._changes(made)]
        if changes:
            raise Refusal(ErrorCode.PLAN_CHANGED, "Rows changed since the recovery was frozen.", changes=changes)
        if made.moves is Moves.MONEY:
            if order.code is None:
                raise Refusal(ErrorCode.CODE_WRONG, f"{made.name} takes the six digits from your phone; none came.")
            verdict = self._codes.judge(asked.person.id, order.code.get_secret_value())
            if verdict is not None:
                raise verdict
        made.state, made.confirmed_at, made.started_at = RecoveryState.APPLYING, self._now(), self._now()
        self.changed(made)
        return self._shown(made)

    def _changes(self, made: FakeRecovery) -> Iterator[PlanChange]:
        for row in made.rows:
            if row.target is RecoveryTarget.JOB:
                continue  # a job goes on while a person looks at it: its row says so when it has its turn
            if row.target is RecoveryTarget.SCHEDULE:
                version, state = self._jobs.schedules[row.key].version, ""
            else:
                now = self._jobs.occurrences[row.key]
                version, state = now.version, now.state.value
            if version != row.row_version:
                before = row.state.value if row.state is not None else str(row.row_version)
                after = state or str(version)
                yield PlanChange(
                    number=row.number, item=row.key, title=row.name, field="state", before=before, after=after
                )

    def _pause(self, asked: Asked) -> RecoveryChanged:
        made, order = self._find(asked), RecoverySteer.model_validate_json(asked.request.content)
        if made.state is not RecoveryState.PAUSED:
            self._running(made)
            made.state, made.why, made.ended_by = RecoveryState.PAUSED, order.reason, asked.person
            self.changed(made)
        return self._shown(made)

    def _resume(self, asked: Asked) -> RecoveryChanged:
        made, order = self._find(asked), ResumeRecovery.model_validate_json(asked.request.content)
        if made.state is not RecoveryState.PAUSED:
            raise _wrong_state(made)
        if made.moves is Moves.MONEY:
            verdict = self._codes.judge(asked.person.id, "" if order.code is None else order.code.get_secret_value())
            if verdict is not None:
                raise verdict
        made.state, made.why, made.ended_by = RecoveryState.APPLYING, None, None
        self.changed(made)
        return self._shown(made)

    def _abort(self, asked: Asked) -> RecoveryChanged:
        made, order = self._find(asked), RecoverySteer.model_validate_json(asked.request.content)
        if made.state is not RecoveryState.ABORTED:
            if made.state is not RecoveryState.PAUSED:
                self._running(made)
            self._end(made, RecoveryState.ABORTED, asked.person, order.reason)
        return self._shown(made)

    # Finding

    def _shown(self, made: FakeRecovery) -> RecoveryChanged:
        return RecoveryChanged(recovery=made.shown(), now=self._now())

    def _find(self, asked: Asked) -> FakeRecovery:
        identifier = asked.parts["recovery"]
        if identifier not in self.all:
            raise Refusal(ErrorCode.NOT_FOUND, f"There is no recovery {identifier[:80]} that you may see.")
        self._refresh()
        return self.all[identifier]

    def _own(self, asked: Asked) -> FakeRecovery:
        """The open one of who asks; Refusal PERMISSION_MISSING, PLAN_STATE."""
        made = self._find(asked)
        if made.owner != asked.person:
            raise Refusal(
                ErrorCode.PERMISSION_MISSING, f"{made.name} is {made.owner.name}'s: only its owner does that."
            )
        if made.state is not RecoveryState.OPEN:
            raise _wrong_state(made)
        return made

    def _held(self) -> set[str]:
        live = (each for each in self.all.values() if not each.state.ended)
        return {row.key for each in live for row in each.rows if not row.turn.ended}

    def _running(self, made: FakeRecovery) -> None:
        if made.state is not RecoveryState.APPLYING:
            raise _wrong_state(made)

    def _refresh(self) -> None:
        now = self._now()
        for made in self.all.values():
            if made.state is RecoveryState.OPEN and now >= made.expires_at:
                self._end(made, RecoveryState.EXPIRED, None, "It was not confirmed in time.")

    def _end(self, made: FakeRecovery, state: RecoveryState, person: Person | None, why: str | None) -> None:
        made.state, made.ended_at, made.ended_by, made.why = state, self._now(), person, why
        self.changed(made)


def _rows_of(found: list[RecoveryRow | RecoveryLeftOut]) -> list[RecoveryRow]:
    return [each for each in found if isinstance(each, RecoveryRow)]


def _start(asked: Asked) -> int:
    cursor, limit = asked.query.get("cursor", "0"), asked.limit()
    if not 1 <= limit <= PLAN_PAGE_MOST:
        raise Refusal(ErrorCode.INVALID_REQUEST, f"limit is 1 to {PLAN_PAGE_MOST:,}.")
    if not cursor.isdigit():
        raise Refusal(ErrorCode.CURSOR_INVALID, "The cursor does not belong to this listing.")
    return int(cursor)


def _wrong_state(made: FakeRecovery) -> Refusal:
    return Refusal(ErrorCode.PLAN_STATE, f"{made.name} is {made.state}.", state=made.state.value)
