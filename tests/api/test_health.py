"""Alive, ready, figures; and what is told while the database is away."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

import httpx
import pytest
from psycopg import sql

from jobservice.api.app import create_app
from jobservice.store.database import Database
from jobservice.store.revisions import code_version
from jobservice.usecases.service import Service
from tests.api.conftest import DEADLINE, QUICK, SIGNING_KEY, Api, Listener, MakeApp, problem_of, running, with_settings
from tests.conftest import Server


async def test_alive_and_ready_need_no_token(api: Api) -> None:
    client = await api.of(None)
    for path, text in (("/healthz", "alive\n"), ("/readyz", "ready\n")):
        answer = await client.get(path)
        assert (answer.status_code, answer.text) == (200, text)


async def test_a_database_of_another_version_is_not_ready(api: Api, service: Service) -> None:
    app = create_app(service, signing_key=SIGNING_KEY, schema_version="9999")
    client = await Api(app=app, people=api.people, stack=api.stack).of(None)
    found = problem_of(await client.get("/readyz"), 503, "database-away")
    assert found["detail"] == (
        f"The database's schema is {code_version()}, this service needs 9999. Run `jobservice migrate`."
    )
    assert (await client.get("/healthz")).status_code == 200


async def test_figures_count_requests_by_route_and_nothing_of_people(api: Api) -> None:
    item = await api.push("K-secret")
    client = await api.of("m.ito")
    await client.get(f"/v1/items/{item['id']}")
    await client.get("/v1/nowhere/secret")
    text = (await client.get("/metrics")).text
    assert 'jobs_api_requests_total{route="push-item",status="201"} 1.0' in text
    assert 'jobs_api_requests_total{route="item",status="200"} 1.0' in text
    assert 'jobs_api_requests_total{route="unknown",status="404"} 1.0' in text
    assert 'jobs_api_request_seconds_count{route="item"} 1.0' in text
    assert "jobs_api_pool_size" in text
    for word in ("secret", "acme", "m.ito", item["id"], "payments"):
        assert word not in text


async def test_figures_that_a_worker_counted_are_shown_and_no_others(api: Api) -> None:
    client = await api.of(None)
    assert "jobs_schedules_parked" not in (await client.get("/metrics")).text, "nobody counted: not zero"
    api.people.connection.execute(
        "insert into jobs.figures (name, value) values ('schedules-parked', 3), ('occurrences-late', 17),"
        " ('dead-letters', 0), ('something-else', 9)"
    )
    text = (await client.get("/metrics")).text
    for gauge in ("jobs_schedules_parked 3.0", "jobs_occurrences_late 17.0", "jobs_dead_letters 0.0"):
        assert gauge in text.splitlines()
    assert "something" not in text


async def test_figures_count_streams_and_hints(api: Api) -> None:
    async with running(api.app) as url, Listener(url, api.people.token("m.ito")) as listener:
        item = await api.push("K-1")
        await listener.heard(item["id"])
        async with httpx.AsyncClient(base_url=url) as client:
            text = (await client.get("/metrics")).text
    assert "jobs_api_streams_open 1.0" in text
    assert "jobs_api_hints_sent_total 1.0" in text


@pytest.fixture
async def lonely(database_url: Callable[[str], str]) -> AsyncIterator[Database]:
    """A pool of its own, which may lose its database."""
    database = await Database.open(database_url("jobs_api"), name="lonely", most=4, wait_seconds=0.5)
    yield database
    await database.close()


async def test_while_the_database_is_away_it_is_said_and_then_all_is_well_again(
    api: Api, service: Service, lonely: Database, server: Server, database_name: str
) -> None:
    with_own = with_settings(service)
    app = create_app(
        Service(database=lonely, records=with_own.records, application=with_own.application, deployment="test"),
        signing_key=SIGNING_KEY,
        schema_version=code_version(),
        bounds=QUICK,
    )
    allow = sql.SQL("alter database {} with allow_connections {}")
    cut = "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'lonely'"
    async with running(app) as url, Listener(url, api.people.token("m.ito")) as listener:
        headers = {"Authorization": f"Bearer {api.people.token('m.ito')}"}
        async with httpx.AsyncClient(base_url=url, headers=headers, timeout=DEADLINE) as client:
            with server.superuser() as outside:
                outside.execute(allow.format(sql.Identifier(database_name), sql.Literal(False)))
                try:
                    outside.execute(cut)
                    ready, *away = await asyncio.gather(*map(client.get, ("/readyz", "/v1/queues", "/v1/events")))
                finally:
                    outside.execute(allow.format(sql.Identifier(database_name), sql.Literal(True)))
            problem_of(ready, 503, "database-away")
            for answer in away:
                found = problem_of(answer, 503, "database-away")
                assert found["detail"] == "The database cannot be reached just now. Try again in a few seconds."
                assert answer.headers["Retry-After"] == "5"
            async with asyncio.timeout(DEADLINE):
                while (await client.get("/readyz")).status_code != 200:  # noqa: ASYNC110 - the service is asked
                    await asyncio.sleep(0.1)
            assert (await client.get("/v1/queues")).status_code == 200
        item = await api.push("K-1")
        assert [hint["id"] for hint in await listener.heard(item["id"])] == [item["id"]]
        assert listener.names() == ["hints"] * len(listener.events)


async def test_a_signing_in_is_not_asked_of_those_who_keep_it_running(make_app: MakeApp) -> None:
    """They hold no tenant's anything, so whoever reaches the listener may look (see jobservice.api.metrics)."""
    transport = httpx.ASGITransport(app=make_app())
    async with httpx.AsyncClient(transport=transport, base_url="http://api.test") as client:
        assert (await client.get("/metrics")).headers["content-type"].startswith("text/plain")
