"""Owns the alarms of the fake service: what a test raises by hand, and acknowledging one.

alarm = fake.alarms.add(AlarmKind.LATE, "statements.nightly", "Late by 12 min.")
fake.alarms.clear(alarm)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from uuid import UUID

from jobconsole.client.fake_asked import Asked, Handler
from jobcontract.alarms import AcknowledgeOrder, Alarm, AlarmChanged, Alarms
from jobcontract.errors import ErrorCode, Refusal
from jobcontract.events import Topic
from jobcontract.ids import PAGE_MAX
from jobcontract.operating import AlarmKind, AlarmTold

_URGENCY = tuple(AlarmKind)


class FakeAlarms:
    """The alarms of one tenant. `publish` hears of each change."""

    def __init__(self, now: Callable[[], datetime], publish: Callable[[Topic, str, str, int], None]) -> None:
        self._now = now
        self._publish = publish
        self._version = 0
        self.all: dict[str, Alarm] = {}

    def add(self, kind: AlarmKind, subject: str, sentence: str, **more: object) -> str:
        """An alarm that is opened now, with any of its fields given otherwise; its id."""
        now = self._now()
        alarm = Alarm(
            id=str(UUID(int=(10 << 120) + len(self.all))),
            kind=kind,
            subject=subject,
            schedule=None if kind in (AlarmKind.STOPPED, AlarmKind.WORKER_MISSING) else subject,
            sentence=sentence,
            count=1,
            opened_at=now,
            seen_at=now,
            cleared_at=None,
            acknowledged_at=None,
            acknowledged_by=None,
            note=None,
            told=AlarmTold.NOBODY,
            told_at=None,
            told_words=None,
            version=1,
        )
        self._set(alarm.model_copy(update=more))
        return alarm.id

    def clear(self, identifier: str) -> None:
        """What it tells of is over."""
        self._set(self.all[identifier].model_copy(update={"cleared_at": self._now()}))

    def unacknowledged(self) -> list[Alarm]:
        """Open ones that nobody looks after, the most urgent first."""
        return [each for each in self.listed() if each.cleared_at is None and each.acknowledged_at is None]

    def open(self) -> int:
        """How many are open."""
        return sum(each.cleared_at is None for each in self.all.values())

    def listed(self) -> list[Alarm]:
        """Open ones first, the most urgent first; then cleared ones, the latest first."""
        alive = [each for each in self.all.values() if each.cleared_at is None]
        alive.sort(key=lambda each: (_URGENCY.index(each.kind), each.opened_at, each.id))
        over = [each for each in self.all.values() if each.cleared_at is not None]
        over.sort(key=lambda each: (each.cleared_at or each.opened_at, each.id), reverse=True)
        return [*alive, *over]

    def handlers(self) -> Mapping[str, Handler]:
        """The routes of alarms."""
        return {"alarms": self._alarms, "acknowledge-alarm": self._acknowledge}

    def _alarms(self, asked: Asked) -> Alarms:
        limit, cursor = asked.limit(), asked.query.get("cursor", "0")
        if not 1 <= limit <= PAGE_MAX:
            raise Refusal(ErrorCode.INVALID_REQUEST, f"limit is 1 to {PAGE_MAX:,}.")
        if not cursor.isdigit():
            raise Refusal(ErrorCode.CURSOR_INVALID, "The cursor does not belong to this listing.")
        rows, end = self.listed(), int(cursor) + limit
        return Alarms(
            alarms=tuple(rows[int(cursor) : end]),
            open=self.open(),
            unacknowledged=len(self.unacknowledged()),
            next=str(end) if end < len(rows) else None,
            now=self._now(),
        )

    def _acknowledge(self, asked: Asked) -> AlarmChanged:
        order = AcknowledgeOrder.model_validate_json(asked.request.content)
        alarm = self.all.get(asked.parts["alarm"])
        if alarm is None:
            raise Refusal(ErrorCode.NOT_FOUND, f"There is no alarm {asked.parts['alarm'][:80]}.")
        if alarm.cleared_at is not None:
            raise Refusal(ErrorCode.ALARM_CLEARED, "The alarm is over: there is nothing left to look after.")
        said = {"acknowledged_at": self._now(), "acknowledged_by": asked.person, "note": order.note}
        changed = self._set(alarm.model_copy(update=said))
        return AlarmChanged(alarm=changed, again=alarm.acknowledged_at is not None, now=self._now())

    def _set(self, alarm: Alarm) -> Alarm:
        self._version += 1
        told = alarm.model_copy(update={"version": alarm.version + 1})
        self.all[alarm.id] = told
        self._publish(Topic.ALARMS, "alarms", "alarms", self._version)
        return told
