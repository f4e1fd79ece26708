"""Owns what tests of the planner stand on: a planner under a lease, the clock at a date, what is claimable, what is there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import psycopg

from jobservice.rules.schedules import Schedule
from jobservice.store import duties as duty_rows
from jobservice.store.database import Database
from jobservice.worker.fenced import FencedDuty, give_back, take
from jobservice.worker.planner import Planner
from tests.conftest import Clock
from tests.schedules import at

FIRST, SECOND = UUID(int=1), UUID(int=2)
CLAIMABLE = "state = 'scheduled' and due_at <= jobs.now() and (miss_at is null or miss_at > jobs.now()) and cancel_asked_at is null"
"""What the claim of occurrences takes, without fairness and locks."""


def planner(*schedules: Schedule, batch: int = 500) -> Planner:
    """The duty as a Worker with these records has just started it."""
    return Planner(schedules={each.id: each for each in schedules}, deployment="test", batch=batch)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """A database with tenants, its clock, and somebody who looks past the walls."""

    database: Database
    superuser: psycopg.Connection[Any]
    clock: Clock

    def go(self, when: str) -> None:
        """Move the clock to that instant, back as well."""
        (now,) = self.superuser.execute("select jobs.now()").fetchone() or (None,)
        assert now is not None
        self.clock.advance((at(when) - now).total_seconds())

    async def run(self, duty: FencedDuty, holder: UUID = FIRST) -> Mapping[str, int]:
        """One whole run of a duty under a lease of its own; what it did."""
        async with self.database.transaction(None) as transaction:
            await duty_rows.add_duty(transaction, duty.name)
        self.superuser.execute("update jobs.duties set finished_at = null")  # a clock that went back
        lease = await take(self.database, duty, holder, woken=True)
        assert lease is not None
        done = await duty.run_once(lease)
        assert await give_back(lease, whole=True)
        return done

    def rows(self, columns: str, table: str, more: str = "") -> list[tuple[Any, ...]]:
        """What stands in a table."""
        return self.superuser.execute(f"select {columns} from jobs.{table} {more}".encode()).fetchall()

    def occurrences(self, schedule: str, tenant: str = "acme") -> list[datetime]:
        """The instants that are occurrences, in their order."""
        where = f"where tenant = '{tenant}' and schedule = '{schedule}' order by scheduled_at"
        return [each for (each,) in self.rows("scheduled_at", "occurrences", where)]

    def skips(self, schedule: str, tenant: str = "acme") -> list[tuple[Any, ...]]:
        """First, last, count, policy and what it is merged into of each run of skips, in their order."""
        where = f"where tenant = '{tenant}' and schedule = '{schedule}' order by first_at"
        return self.rows("first_at, last_at, count, policy, merged_into", "skipped_instants", where)

    def complete(self, schedule: str) -> list[datetime]:
        """Run what may be claimed now, to its end; the instants, oldest first."""
        found = self.superuser.execute(
            f"update jobs.occurrences set state = 'completed', attempts = 1, fence = fence + 1, miss_at = null,"
            f" started_at = jobs.now(), ended_at = jobs.now() where schedule = %s and {CLAIMABLE} returning scheduled_at",
            (schedule,),
        )
        return sorted(each for (each,) in found)

    def disable(self, schedules: Iterable[str]) -> None:
        """As a person will do it, in part 5."""
        self.superuser.execute(
            "update jobs.schedules set disabled_at = jobs.now(), disabled_by = 'o.lind', disabled_reason = 'quiet'"
            " where schedule = any(%s)",
            (list(schedules),),
        )

    def enable(self) -> None:
        """All of them again."""
        self.superuser.execute(
            "update jobs.schedules set disabled_at = null, disabled_by = null, disabled_reason = null"
        )
