"""Monitoring views over the tables of real engines: what they show, to whom, and that nothing else can be read."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row

from jobservice.monitoring_views import WantedViews, install_views
from jobservice.settings import StartRefused
from tests.conftest import Server
from tests.engines import run_dbos, run_procrastinate

DATABASE = "engines"


@pytest.fixture(scope="module")
def engines(server: Server, worker_id: str) -> Iterator[str]:
    """Name of a database in which both engines ran their jobs."""
    name = f"{DATABASE}_{worker_id}"
    server.create_database(name)
    url = server.url("jobs_owner", name)

    async def fill() -> None:
        await asyncio.gather(run_procrastinate(url), run_dbos(url))

    asyncio.run(fill())
    yield name
    server.drop_database(name)


def _rows(server: Server, database: str, sql: str, role: str = "jobs_views") -> list[dict[str, Any]]:
    with psycopg.connect(server.url(role, database), row_factory=dict_row) as connection:
        return connection.execute(sql.encode()).fetchall()


@pytest.mark.requirement("families")
def test_jobs_of_procrastinate(server: Server, engines: str) -> None:
    wanted = WantedViews(engine="procrastinate", tenant="acme", customer_field="customer")
    first = install_views(server.url("jobs_owner", engines), wanted)
    again = install_views(server.url("jobs_owner", engines), wanted)
    assert first == again
    assert (first.schema, first.engine_schema, first.jobs) == ("procrastinate_views", "public", 3)

    rows = _rows(server, engines, "select * from procrastinate_views.cross_job_query order by position")
    assert [(row["status"], row["customer"], row["kind"], row["tenant"]) for row in rows] == [
        ("succeeded", "c-1", "mail.send", "acme"),
        ("failed", "nobody", "mail.send", "acme"),
        ("pending", "c-2", "mail.send", "acme"),
    ]
    assert rows[1]["failure_summary"] == "The task failed after 1 attempts."
    assert all(row["requested_at"] <= row["activity_at"] for row in rows)
    assert "hidden" not in str(rows)
    steps = _rows(server, engines, "select * from procrastinate_views.cross_job_steps order by job")
    assert [(step["status"], step["attempts"]) for step in steps] == [("succeeded", 1), ("failed", 1), ("queued", 0)]
    events = _rows(
        server, engines, "select * from procrastinate_views.cross_job_events where job = '2' order by sequence"
    )
    assert [event["kind"] for event in events] == ["submitted", "step-started", "settled"]


@pytest.mark.requirement("families")
def test_workflows_of_dbos(server: Server, engines: str) -> None:
    done = install_views(
        server.url("jobs_owner", engines), WantedViews(engine="dbos", tenant="acme", application="shop")
    )
    assert (done.schema, done.jobs) == ("dbos_views", 3)
    rows = _rows(server, engines, "select * from dbos_views.cross_job_query order by position, job")
    assert [(row["status"], row["kind"], row["last_step"], row["family"]) for row in rows] == [
        ("succeeded", "order", "charge", "shop"),
        ("succeeded", "order", "charge", "shop"),
        ("failed", "order", "charge", "shop"),
    ]
    assert rows[2]["failure_summary"] == "The workflow ended with an error."
    assert all(row["requested_at"] <= row["started_at"] <= row["settled_at"] for row in rows)
    steps = _rows(server, engines, "select * from dbos_views.cross_job_steps")
    assert sorted(step["status"] for step in steps) == ["failed", "succeeded", "succeeded"]
    events = _rows(server, engines, "select * from dbos_views.cross_job_events order by job, sequence")
    assert [event["kind"] for event in events] == ["submitted", "settled"] * 3
    assert "secret" not in str([rows, steps, events])


@pytest.mark.requirement("families")
def test_the_reader_has_the_views_and_nothing_else(server: Server, engines: str) -> None:
    install_views(server.url("jobs_owner", engines), WantedViews(engine="procrastinate", tenant="acme"))
    for statement in (
        "select args from public.procrastinate_jobs",
        "select * from procrastinate_views.cross_job_source",
        "update procrastinate_views.cross_job_query set kind = 'x'",
        "delete from procrastinate_views.cross_job_events",
        "create table procrastinate_views.mine (a integer)",
    ):
        with pytest.raises((psycopg.errors.InsufficientPrivilege, psycopg.errors.ObjectNotInPrerequisiteState)):
            _rows(server, engines, statement)


@pytest.mark.requirement("families")
@pytest.mark.parametrize(
    ("wanted", "sentence"),
    [
        (WantedViews(engine="celery", tenant="acme"), "No views are known for celery. Engines: dbos, procrastinate."),
        (
            WantedViews(engine="dbos", tenant="acme", schema="jobs_engine"),
            "The schema jobs_engine is this service's own: its jobs are listed already, under their own ids. "
            "Name that of another dbos.",
        ),
        (WantedViews(engine="dbos", tenant="Acme Ltd"), "'Acme Ltd' is no id of a tenant, like acme."),
        (
            WantedViews(engine="dbos", tenant="acme", customer_field="customer"),
            "dbos keeps arguments in a form that no view can read: leave --customer-field out.",
        ),
        (
            WantedViews(engine="dbos", tenant="acme", into="jobs"),
            "The schema jobs has the service's own views: name another one with --into.",
        ),
        (
            WantedViews(engine="procrastinate", tenant="acme", schema="elsewhere"),
            "The schema elsewhere of this database has no table procrastinate_jobs: procrastinate keeps its jobs elsewhere. "
            "Here it is in public: name that with --schema.",
        ),
    ],
)
def test_what_cannot_be_installed_is_said(server: Server, engines: str, wanted: WantedViews, sentence: str) -> None:
    with pytest.raises(StartRefused) as refused:
        install_views(server.url("jobs_owner", engines), wanted)
    assert refused.value.sentences == (sentence,)


def test_tables_of_another_version_are_refused_whole(server: Server, engines: str) -> None:
    with psycopg.connect(server.url("jobs_owner", engines), autocommit=True) as connection:
        connection.execute("create schema old; create table old.workflow_status (workflow_uuid text)")
        connection.execute("create table old.operation_outputs (workflow_uuid text)")
    with pytest.raises(StartRefused, match="are not those of a dbos that views are known for") as refused:
        install_views(
            server.url("jobs_owner", engines), WantedViews(engine="dbos", tenant="acme", schema="old", into="x")
        )
    assert "Nothing was changed." in refused.value.sentences[0]
    found = _rows(server, engines, "select 1 from pg_namespace where nspname = 'x'", role="jobs_owner")
    assert not found
