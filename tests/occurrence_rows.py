"""Owns putting occurrences into the database past the planner, and reading what became of them."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

import psycopg
from psycopg.rows import dict_row

from jobcontract.states import AttemptEnding, DeadCause, OccurrenceState
from jobservice.store import occurrence_leases as store
from jobservice.store.database import Database
from jobservice.store.occurrence_leases import Completion, Runnable, Since, TakenOccurrence, Written

EVERYTHING = Since(tenants={})


@dataclass(slots=True)
class OccurrenceRows:
    """The rows of a test. Schedules are made as they are named; instants are one second apart, the first long ago."""

    connection: psycopg.Connection[Any]
    _second: Any = field(default_factory=lambda: itertools.count(1))

    def add(
        self,
        schedule: str = "s.one",
        *,
        tenant: str = "acme",
        due: float = 0.0,
        lock: str | None = None,
        miss: float | None = None,
    ) -> UUID:
        """One that waits: due so many seconds from now (negative: ago), missed so many from now."""
        self.schedule(schedule, tenant)
        row = self.connection.execute(
            "insert into jobs.occurrences (tenant, schedule, scheduled_at, tzdata, lock, due_at, miss_at) values"
            " (%s, %s, timestamptz '2026-01-01Z' + make_interval(secs => %s), 'test', %s,"
            " jobs.now() + make_interval(secs => %s), jobs.now() + make_interval(secs => %s)) returning id",
            (tenant, schedule, next(self._second), lock or schedule, due, miss),
        ).fetchone()
        assert row is not None
        return UUID(str(row[0]))

    def schedule(self, schedule: str, tenant: str) -> None:
        """A schedule's row."""
        self.connection.execute(
            "insert into jobs.schedules (tenant, schedule, definition, planned_until) values (%s, %s, '', jobs.now())"
            " on conflict do nothing",
            (tenant, schedule),
        )

    def worker(self, host: str = "h1") -> UUID:
        """An incarnation on that host."""
        incarnation = uuid4()
        self.connection.execute(
            "insert into jobs.workers (incarnation, version, host) values (%s, 'test', %s)", (incarnation, host)
        )
        return incarnation

    def cancel(self, occurrence: UUID) -> None:
        """A person asks."""
        self.connection.execute(
            "update jobs.occurrences set cancel_asked_at = jobs.now(), cancelled_by = 'o.lind', cancel_reason = 'test'"
            " where id = %s",
            (occurrence,),
        )

    def one(self, occurrence: UUID) -> dict[str, Any]:
        """Its row."""
        return self.all("select * from jobs.occurrences where id = %s", occurrence)[0]

    def attempts(self, occurrence: UUID) -> list[dict[str, Any]]:
        """Its attempts that ended, by fence."""
        return self.all("select * from jobs.occurrence_attempts where occurrence = %s order by fence", occurrence)

    def refused(self) -> list[tuple[UUID, int, str]]:
        """What came too late: occurrence, fence, what."""
        found = self.all("select occurrence, fence, what from jobs.refused_completions order by id")
        return [(row["occurrence"], row["fence"], row["what"]) for row in found]

    def reached(self, schedule: str = "s.one", tenant: str = "acme") -> dict[str, Any]:
        """A schedule's row."""
        return self.all("select * from jobs.schedules where schedule = %s and tenant = %s", schedule, tenant)[0]

    def all(self, query: str, *values: object) -> list[dict[str, Any]]:
        """Rows of a query."""
        with self.connection.cursor(row_factory=dict_row) as cursor:
            return cursor.execute(query.encode(), values).fetchall()


@dataclass(slots=True)
class Holder:
    """A Worker process, as the store sees it. It runs every schedule that `runnable` names."""

    database: Database
    id: UUID = field(default_factory=uuid4)
    runnable: Runnable = field(default_factory=lambda: Runnable(everywhere=("s.one", "s.two", "s.three")))
    lease: float = 30.0

    async def take(self, *, most: int = 100, tenant: str | None = None) -> list[TakenOccurrence]:
        """Claim whatever waits, of that tenant alone where one is named."""
        async with self.database.transaction(None) as transaction:
            found = await store.look(transaction, self.runnable, EVERYTHING, free=most)
            shares = {each.tenant: most for each in found.waiting if tenant in (None, each.tenant)}
            if not shares:
                return []
            return list(
                await store.claim(transaction, self.runnable, EVERYTHING, shares, holder=self.id, lease=self.lease)
            )

    async def settle(self, *completions: Completion) -> tuple[Written, ...]:
        """Write how attempts ended."""
        async with self.database.transaction(None) as transaction:
            written = await store.settle(transaction, completions, holder=self.id)
            reached = [
                store.Reached(
                    tenant=each.tenant, schedule=each.schedule, began_at=each.began_at, completed_at=each.completed_at
                )
                for each in written
                if each.tenant is not None and each.schedule is not None
            ]
            await store.reach(transaction, reached)
            return written

    async def take_over(self, *, causes: dict[UUID, DeadCause] | None = None) -> list[TakenOccurrence]:
        """Claim whatever lapsed, or end it with its cause."""
        async with self.database.transaction(None) as transaction:
            lapsed = await store.lapsed(transaction, self.runnable, most=100, unknown_after=600)
            losses = [
                store.Loss(id=each.id, fence=each.fence, cause=(causes or {}).get(each.id), error="Worker was lost.")
                for each in lapsed
            ]
            taken, reached = await store.lose(transaction, losses, holder=self.id, lease=self.lease)
            await store.reach(transaction, reached)
            return list(taken)

    async def renew(self, *taken: TakenOccurrence, began_after: float | None = None) -> tuple[store.Kept, ...]:
        """Extend leases."""
        began = {} if began_after is None else {each.id: began_after for each in taken}
        async with self.database.transaction(None) as transaction:
            return await store.renew(
                transaction, {each.id: each.fence for each in taken}, began, holder=self.id, lease=self.lease
            )

    async def hand_back(self, taken: TakenOccurrence, *, expired_too: bool = False) -> bool:
        """Give a lease back."""
        async with self.database.transaction(None) as transaction:
            returned = await store.hand_back(
                transaction, taken, holder=self.id, expired_too=expired_too, began_after=0.0, error="Handed back."
            )
            return returned is not None


def completed(taken: TakenOccurrence, *, began_after: float | None = 0.0) -> Completion:
    """It went well."""
    return Completion(
        id=taken.id,
        tenant=taken.tenant,
        fence=taken.fence,
        ending=AttemptEnding.COMPLETED,
        state=OccurrenceState.COMPLETED,
        began_after=began_after,
        done=1,
    )


def again(taken: TakenOccurrence, *, after: float = 0.0) -> Completion:
    """It is to be tried again."""
    return Completion(
        id=taken.id,
        tenant=taken.tenant,
        fence=taken.fence,
        ending=AttemptEnding.RETRY,
        state=OccurrenceState.SCHEDULED,
        error="Not now.",
        retry_after=after,
        began_after=0.0,
    )
