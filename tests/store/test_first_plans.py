"""A new connection of the API knows the plans by which the list of jobs opens; what it cannot plan keeps nobody from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import psycopg
import pytest

from jobservice.store import first_plans, job_listing
from jobservice.store.database import Database
from jobservice.usecases.job_listing import Asked, count_jobs, list_jobs
from tests.usecases.desk import desk

PREPARED = "select statement from pg_prepared_statements where statement like '%jobs.job%' order by 1"


async def prepared(database: Database) -> list[str]:
    """The statements about jobs that the only connection of a pool has planned."""
    async with database.transaction("acme") as transaction:
        rows = await (await transaction.connection.execute(PREPARED)).fetchall()
    return [row["statement"] for row in rows]


async def test_the_list_of_jobs_opens_with_plans_that_its_connection_has(
    database: Database, people: Any, database_url: Callable[[str], str]
) -> None:
    fresh = await Database.open(database_url("jobs_api"), name="test", most=1, ready=first_plans.plan_jobs)
    try:
        known = await prepared(fresh)
        assert len(known) == 4
        service = replace(desk(database, people).service, database=fresh)
        actor = desk(database, people).actor("o.lind")
        await list_jobs(service, actor, Asked())
        await count_jobs(service, actor, Asked())
        assert await prepared(fresh) == known
    finally:
        await fresh.close()


@pytest.mark.parametrize("error", [psycopg.errors.UndefinedTable("no such table"), psycopg.OperationalError("gone")])
async def test_what_cannot_be_planned_keeps_nobody_from_a_connection(
    database_url: Callable[[str], str], monkeypatch: pytest.MonkeyPatch, error: psycopg.Error
) -> None:
    async def fails(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(job_listing, "page", fails)
    fresh = await Database.open(database_url("jobs_api"), name="test", most=1, ready=first_plans.plan_jobs)
    try:
        assert await prepared(fresh) == []
    finally:
        await fresh.close()
