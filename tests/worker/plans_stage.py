"""Owns the stage of applying plans in tests: confirmed plans as people make them, a bank in memory, a Worker by hand."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from uuid import UUID

from jobservice.application import Application, Call, Outcome, OutwardOrder, WorkItem, done, uncertain
from jobservice.records import RecordSet
from jobservice.store import duties as duty_rows
from jobservice.store.database import Database
from jobservice.worker.applying import Applying
from jobservice.worker.fenced import FencedDuty, Wanted, give_back, take
from jobservice.worker.leased_work import RowLease
from jobservice.worker.outward_calls import OutwardCalls
from jobservice.worker.plan_run import Pacing
from tests.usecases.desk import application as desk_application
from tests.usecases.money_desk import KEYS, MoneyDesk

FIRST, SECOND = UUID(int=11), UUID(int=12)
LEASE = 30.0
Behaviour = Callable[[OutwardOrder], Awaitable[Outcome]]
Released = Callable[[Call, WorkItem], Awaitable[Outcome]]


@dataclass
class Bank:
    """A bank in memory: books what it is asked to, once a key, unless told to behave otherwise for an item."""

    booked: dict[str, str] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)
    odd: dict[str, Behaviour] = field(default_factory=dict)
    """By business key."""
    answers: bool = True
    """Whether it answers questions."""

    def book(self, key: str) -> str:
        """Book, once."""
        return self.booked.setdefault(key, f"B-{len(self.booked) + 1}")

    async def send(self, order: OutwardOrder) -> Outcome:
        """One call."""
        self.calls.append(order.key)
        behaviour = self.odd.get(order.item.key or "")
        if behaviour is not None:
            return await behaviour(order)
        return done("Paid.", reference=self.book(order.key))

    async def look_up(self, key: str) -> Outcome | None:
        """One question."""
        self.questions.append(key)
        if not self.answers:
            raise ConnectionError("the bank is silent")
        return done("The bank has it.", reference=self.booked[key]) if key in self.booked else None


async def says_done(call: Call, item: WorkItem) -> Outcome:
    """The plain half of a release."""
    return done(f"Released {item.title}.")


def application_with(release: Released = says_done) -> Application:
    """The desk's application, whose release does that."""
    made = Application("t", Path(__file__).parent)
    made.use_cases.update(desk_application.use_cases)
    made.rules.update(desk_application.rules)
    made.use_cases["t.release"] = release
    return made


@dataclass(kw_only=True)
class Stage:
    """A desk that confirms, a bank, and Workers that apply when told to."""

    desk: MoneyDesk
    database: Database
    bank: Bank = field(default_factory=Bank)
    release: Released = says_done
    outward: bool = True
    records: RecordSet | None = None
    at_once: int = 1
    send_seconds: float = 5.0
    tell: float = 0.02
    lease: float = LEASE

    def applying(self) -> Applying:
        """A Worker's way to apply plans, with little patience."""
        calls = OutwardCalls(outward=self.bank, send_seconds=self.send_seconds, ask_seconds=0.5, pauses=(0.0, 0.0))
        return Applying(
            database=self.database,
            records=self.records or self.desk.service.records,
            application=application_with(self.release),
            keys=KEYS.public,
            lease=self.lease,
            act_seconds=0.3,
            pacing=Pacing(at_once=self.at_once, tell=self.tell, look=0.02),
            calls=lambda _: calls if self.outward else None,
        )

    async def take(self, holder: UUID = FIRST, most: int = 1) -> RowLease | None:
        """A lease of the next plan that wants work."""
        asked = time.monotonic()
        for grant in (await self.applying().take(holder, most, {})).grants:
            return RowLease(grant=grant, holder=holder, deadline=asked + LEASE)
        return None

    async def apply(self, holder: UUID = FIRST) -> RowLease:
        """Take the next plan, and apply it as far as it goes."""
        lease = await self.take(holder)
        assert lease is not None, "no plan wants work"
        await self.carry(lease)
        return lease

    async def carry(self, lease: RowLease) -> None:
        """Carry a plan as a Worker does, and give the lease back."""
        applying = self.applying()
        try:
            await applying.carry(lease)
        finally:
            if not lease.over:
                await applying.give_back(lease)

    async def run_duty(self, duty: FencedDuty, holder: UUID = FIRST) -> dict[str, int]:
        """One whole run of a duty, which has to have been wanted where it did something, and not where it did nothing."""
        async with self.database.transaction(None) as transaction:
            await duty_rows.add_duty(transaction, duty.name)
        wanted = await duty.wanted(self.database, holder) if isinstance(duty, Wanted) else None
        lease = await take(self.database, replace(duty, every=0.0), holder)  # type: ignore[type-var]  # a dataclass
        assert lease is not None
        counts = dict(await duty.run_once(lease))
        assert await give_back(lease, whole=True)
        assert wanted in (None, bool(counts))
        return counts

    def turns(self, plan: dict[str, Any]) -> list[str]:
        """The turns of the plan's items, by number."""
        return [row[0] for row in self.rows("select turn from jobs.plan_items where plan = %s order by number", plan)]

    def turn(self, plan: dict[str, Any], number: int = 1) -> dict[str, Any]:
        """One row of a plan, as the table has it."""
        row = self.rows("select to_jsonb(t) from jobs.plan_items as t where plan = %s and number = %s", plan, number)
        return dict(row[0][0])

    def item(self, plan: dict[str, Any], number: int = 1) -> dict[str, Any]:
        """The item of one row of a plan, as the table has it."""
        row = self.rows("select to_jsonb(i) from jobs.items as i where id = %s", self.turn(plan, number)["item"])
        return dict(row[0][0])

    def plan(self, plan: dict[str, Any]) -> dict[str, Any]:
        """The plan's row."""
        return dict(self.rows("select to_jsonb(p) from jobs.plans as p where id = %s", plan)[0][0])

    def key(self, plan: dict[str, Any], number: int = 1) -> str:
        """The business key of one row."""
        return str(self.turn(plan, number)["business_key"])

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """What the database holds; a plan stands for its id."""
        return self.desk.rows(query, *(value["id"] if isinstance(value, dict) else value for value in values))

    def change(self, statement: str, *values: Any) -> None:
        """Write past the service."""
        given = tuple(value["id"] if isinstance(value, dict) else value for value in values)
        self.desk.people.connection.execute(statement, given)

    def counted(self, plan: dict[str, Any]) -> list[tuple[Any, ...]]:
        """What the plan counts for limits."""
        return self.rows("select currency, gross_minor, count from jobs.outgoings where plan = %s order by 1", plan)


def hangs_on(event: asyncio.Event) -> Behaviour:
    """A call that is never answered; `event` is set when it was made."""

    async def behave(order: OutwardOrder) -> Outcome:
        event.set()
        await asyncio.Event().wait()
        raise AssertionError("nobody waits so long")

    return behave


def loses_after(bank: Bank) -> Behaviour:
    """The bank books, and the answer is lost."""

    async def behave(order: OutwardOrder) -> Outcome:
        bank.book(order.key)
        raise ConnectionError("lost")

    return behave


async def loses_before(order: OutwardOrder) -> Outcome:
    """The call is lost before the bank heard of it."""
    raise ConnectionError("lost")


async def does_not_know(order: OutwardOrder) -> Outcome:
    """The call's own answer is that nobody knows."""
    return uncertain("The line broke.", reference=order.key)
