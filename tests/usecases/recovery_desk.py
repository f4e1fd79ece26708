"""Owns the desk at which recoveries are made in tests: schedules of every kind, one of which moves money, and every order.

Rows are as planner and Workers leave them, made by the owner's hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic import SecretStr

from jobcontract.operating import RecoveryAct
from jobcontract.recoveries import ConfirmRecovery, RecoveryOrder, RecoverySteer, ResumeRecovery, TakeOutOrder
from jobcontract.states import MisfirePolicy, OccurrenceState
from jobservice.rules.rhythms import Every
from jobservice.rules.schedules import Confirmed, Misfire
from jobservice.usecases import recoveries, recovery_confirming, recovery_reading, recovery_steering
from jobservice.usecases.idempotency import Answered, Once
from jobservice.usecases.service import Service
from tests.usecases.desk import RELEASE_MANY, Desk, once
from tests.usecases.money_desk import MoneyDesk, money_desk
from tests.usecases.schedule_desk import SCHEDULE_RECORDS, ScheduleDesk, schedule

NIGHTLY, HOURLY, BATCH, MONEY, GONE = "r.nightly", "r.hourly", "r.batch", "r.release", "r.gone"
DAY = timedelta(days=1)
NIGHT = datetime(2026, 11, 28, 1, tzinfo=UTC)
"""The first instant of the stretch that these tests speak of: two days."""
SINCE, UNTIL = datetime(2026, 11, 28, tzinfo=UTC), datetime(2026, 11, 30, tzinfo=UTC)
_HOUR = Every(seconds=3_600, anchor=datetime(2026, 1, 1, tzinfo=UTC))
_SKIP = Misfire(policy=MisfirePolicy.SKIP)
SCHEDULES = (
    schedule(NIGHTLY, replace(_HOUR, seconds=86_400, anchor=datetime(2026, 1, 1, 1, tzinfo=UTC)), misfire=_SKIP),
    schedule(HOURLY, _HOUR, misfire=_SKIP),
    replace(schedule(BATCH, _HOUR, misfire=_SKIP), batch_path=True),
    replace(
        schedule(MONEY, replace(_HOUR, seconds=86_400), misfire=_SKIP),
        selection=Confirmed(command=RELEASE_MANY),
        runs="t.release",
    ),
    schedule("r.elsewhere", _HOUR, where=frozenset({"production"})),
)


@dataclass(slots=True)
class RecoveryDesk:
    """A service with schedules, phones of finance, a hand that writes rows, and every order about recoveries."""

    money: MoneyDesk
    hand: ScheduleDesk

    @property
    def service(self) -> Service:
        """The service as the API's role."""
        return self.money.service

    def actor(self, person: str) -> Any:
        """The actor of a person."""
        return self.money.actor(person)

    def one(self, query: str, *values: Any) -> Any:
        """The only value of a query."""
        return self.hand.one(query, *values)

    def rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """What the database holds."""
        return self.money.rows(query, *values)

    def with_settings(self, **changes: Any) -> RecoveryDesk:
        """The same desk under other settings."""
        records = self.service.records
        changed = replace(records, settings=replace(records.settings, **changes))
        service = replace(self.service, records=changed)
        return RecoveryDesk(MoneyDesk(service, self.money.people, self.money.numbers), self.hand)

    def planned(self, *schedules: str, **columns: Any) -> None:
        """Rows of schedules, as the planner keeps them."""
        for each in schedules or tuple(each.id for each in SCHEDULES):
            self.hand.planned(each, **columns)

    def dead(self, schedule: str = NIGHTLY, at: datetime = NIGHT, **columns: Any) -> str:
        """A dead letter with items that failed."""
        return self.hand.occurrence(
            schedule, at, OccurrenceState.DEAD_LETTER, **{"done": 5, "failed": 2, "error": "Two failed.", **columns}
        )

    def completed(self, schedule: str = NIGHTLY, at: datetime = NIGHT, **columns: Any) -> str:
        """A completed one, with every item done unless said otherwise."""
        return self.hand.occurrence(
            schedule, at, OccurrenceState.COMPLETED, **{"done": 7, "selected_all": True, **columns}
        )

    def skipped(self, first: datetime, last: datetime, count: int, schedule: str = HOURLY, **columns: Any) -> None:
        """A run of instants that the misfire policy skipped."""
        given = {"policy": "misfire-skip", "cause": "It was missed.", "zone": "UTC", "tzdata": "2026f", **columns}
        run = {"tenant": "acme", "schedule": schedule, "first_at": first, "last_at": last, "count": count}
        self.hand._add("skipped_instants", {**run, **given})

    async def make(self, act: str = "replay", person: str = "o.lind", **order: Any) -> dict[str, Any]:
        """A recovery, of the two days unless something is named."""
        return dict((await self.making(act, person, **order)).body["recovery"])

    async def making(
        self, act: str = "replay", person: str = "o.lind", *, request: Once | None = None, **order: Any
    ) -> Answered:
        """The answer to making one."""
        named = {"occurrences", "schedules"} & order.keys() and act != "replay"
        if act == "replay" and "occurrences" not in order and not named:
            order = {"since": SINCE, "until": UNTIL, **order}
        given = RecoveryOrder(act=RecoveryAct(act), **{"reason": "A missed night", **order})
        return await recoveries.make(self.service, self.actor(person), given, request or once())

    def digest(self, recovery: dict[str, Any]) -> str:
        """The digest that the service keeps, which a client computes over every page."""
        return bytes(self.one("select digest from jobs.recoveries where id = %s", recovery["id"])).hex()

    async def confirm(
        self,
        recovery: dict[str, Any],
        person: str = "o.lind",
        *,
        code: str | None = None,
        digest: str | None = None,
        request: Once | None = None,
    ) -> dict[str, Any]:
        """Confirm it, without a code unless one is given."""
        order = ConfirmRecovery(digest=digest or self.digest(recovery), code=None if code is None else SecretStr(code))
        answered = await recovery_confirming.confirm(
            self.service, self.actor(person), recovery["id"], order, request or once()
        )
        return dict(answered.body["recovery"])

    async def take_out(self, recovery: dict[str, Any], keys: Sequence[str], person: str = "o.lind") -> dict[str, Any]:
        """Take rows out of it."""
        order = TakeOutOrder(keys=tuple(keys))
        answered = await recoveries.take_out(self.service, self.actor(person), recovery["id"], order, once())
        return dict(answered.body["recovery"])

    async def steer(self, what: str, recovery: dict[str, Any], person: str = "o.lind") -> dict[str, Any]:
        """Drop, pause or abort it."""
        act = {"drop": recoveries.drop, "pause": recovery_steering.pause, "abort": recovery_steering.abort}[what]
        order = RecoverySteer(reason=f"To {what}")
        answered = await act(self.service, self.actor(person), recovery["id"], order, once())
        return dict(answered.body["recovery"])

    async def resume(self, recovery: dict[str, Any], person: str = "o.lind", code: str | None = None) -> dict[str, Any]:
        """Go on with it."""
        order = ResumeRecovery(reason="All well", code=None if code is None else SecretStr(code))
        answered = await recovery_steering.resume(self.service, self.actor(person), recovery["id"], order, once())
        return dict(answered.body["recovery"])

    async def shown(self, recovery: dict[str, Any], person: str = "o.lind") -> recovery_reading.ReadRows:
        """It with its rows, at most a thousand."""
        return await recovery_reading.read_rows(self.service, self.actor(person), recovery["id"], limit=1_000)

    async def left_out(self, recovery: dict[str, Any], person: str = "o.lind") -> dict[str, tuple[str, str]]:
        """What is left out by name: reason and sentence."""
        page = await recovery_reading.read_left_out(self.service, self.actor(person), recovery["id"], limit=1_000)
        return {each.name: (each.reason.value, each.sentence) for each in page.left_out}


def recovery_desk(database: Any, people: Any) -> RecoveryDesk:
    """A desk over a database."""
    money = money_desk(database, people)
    records = replace(
        SCHEDULE_RECORDS,
        schedules={each.id: each for each in SCHEDULES},
        bulk=money.service.records.bulk,
        use_cases=money.service.records.use_cases,
    )
    service = replace(money.service, records=records)
    desk = MoneyDesk(service, people, money.numbers)
    return RecoveryDesk(desk, ScheduleDesk(Desk(service, people), people.connection))
