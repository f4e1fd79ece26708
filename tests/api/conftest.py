"""Owns what API tests stand on: the application on a real database, clients of people, a real server for streams."""

from __future__ import annotations

import asyncio
import json
import socket
import uuid
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from httpx_sse import ServerSentEvent, aconnect_sse

from examples.payments import application
from jobcontract.routes import KEY_HEADER
from jobservice import records
from jobservice.api.context import Bounds
from jobservice.api.server import serve
from jobservice.store.database import Database
from jobservice.store.revisions import code_version
from jobservice.usecases.service import Service
from tests.apps import app_over
from tests.conftest import People

SIGNING_KEY = bytes(range(32))
DEADLINE = 20.0
"""Seconds that a test waits for something to be observed before it counts as not coming."""
QUICK = Bounds(beat_seconds=0.3, recheck_seconds=0.3, poll_seconds=0.5, flush_seconds=0.05)

PAYMENT = {
    "amount": {"minor": 123_450, "currency": "GBP"},
    "payee": {"id": "P-1", "name": "Ash & Co", "account": "GB29NWBK60161331926819"},
    "inputs": {"invoice": "INV-1"},
}


def payout(key: str, **changes: Any) -> dict[str, Any]:
    """The body of a push to `payments.payouts`."""
    return {"key": key, "title": f"Payout {key}", "created": "2026-03-02T09:00:00Z", **PAYMENT, **changes}


def key_header(key: str | None = None) -> dict[str, str]:
    """A new idempotency key, or a given one."""
    return {KEY_HEADER: key or uuid.uuid4().hex}


@dataclass(frozen=True, slots=True, kw_only=True)
class Api:
    """The application under test and clients of its people."""

    app: FastAPI
    people: People
    stack: AsyncExitStack

    async def of(self, person: str | None, **headers: str) -> httpx.AsyncClient:
        """A client that is signed in as `person`; None = not signed in."""
        if person is not None:
            headers["Authorization"] = f"Bearer {self.people.token(person)}"
        transport = httpx.ASGITransport(app=self.app)
        client = httpx.AsyncClient(transport=transport, base_url="http://api.test", headers=headers)
        return await self.stack.enter_async_context(client)

    async def push(self, key: str, *, person: str = "p.push", **changes: Any) -> dict[str, Any]:
        """Push a payout; the item."""
        client = await self.of(person)
        answer = await client.post(
            "/v1/queues/payments.payouts/items", json=payout(key, **changes), headers=key_header()
        )
        assert answer.status_code == 201, answer.text
        item: dict[str, Any] = answer.json()["item"]
        return item


@pytest.fixture(scope="session")
def record_set() -> records.RecordSet:
    """The example's records, checked."""
    found, findings = records.check(application)
    assert found is not None, findings
    return found


@pytest.fixture
def service(database: Database, record_set: records.RecordSet) -> Service:
    """The service over this test's database."""
    return Service(database=database, records=record_set, application=application, deployment="test")


def with_settings(service: Service, **changes: Any) -> Service:
    """The same service under other settings."""
    assert isinstance(service.records, records.RecordSet)
    return replace(service, records=replace(service.records, settings=replace(service.records.settings, **changes)))


MakeApp = Callable[..., FastAPI]


@pytest.fixture
def make_app(service: Service) -> MakeApp:
    """`make_app(bounds=..., service=...)`: an application over this test's database."""

    def make(bounds: Bounds = QUICK, service: Service = service) -> FastAPI:
        return app_over(service, signing_key=SIGNING_KEY, schema_version=code_version(), bounds=bounds)

    return make


@pytest.fixture
async def stack() -> AsyncIterator[AsyncExitStack]:
    """Closes at the end of a test what it opened."""
    async with AsyncExitStack() as stack:
        yield stack


@pytest.fixture
def api(make_app: MakeApp, people: People, stack: AsyncExitStack) -> Api:
    """The application with its people."""
    return Api(app=make_app(), people=people, stack=stack)


def problem_of(answer: httpx.Response, status: int, code: str) -> Mapping[str, Any]:
    """The problem details of an answer that must be this failure."""
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json"), answer.text
    problem: dict[str, Any] = answer.json()
    assert problem["code"] == code, problem
    assert problem["status"] == status
    assert problem["reference"] == answer.headers["Jobs-Reference"]
    assert problem["detail"].endswith(".")
    return problem


@asynccontextmanager
async def running(app: FastAPI) -> AsyncIterator[str]:
    """The application under a real uvicorn on a free loopback port; its address."""
    stop = asyncio.Event()
    started = asyncio.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        serving = asyncio.create_task(serve(app, listener, stop=stop, started=started.set))
        try:
            await until(lambda: started.is_set() or serving.done())
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            stop.set()
            await serving


async def until(seen: Callable[[], object]) -> None:
    """Wait until `seen()` is true; TimeoutError after the deadline."""
    async with asyncio.timeout(DEADLINE):
        while not seen():  # noqa: ASYNC110 - what is seen is often another process or the database
            await asyncio.sleep(0.01)


class Listener:
    """A client of the live stream that keeps what it got."""

    def __init__(self, url: str, token: str, *, last_event_id: str | None = None, tenant: str | None = None) -> None:
        self._url = url
        self._headers = {"Authorization": f"Bearer {token}"}
        if last_event_id is not None:
            self._headers["Last-Event-ID"] = last_event_id
        if tenant is not None:
            self._headers["Jobs-Tenant"] = tenant
        self.events: list[ServerSentEvent] = []
        self.ended = False
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Listener:
        self._task = asyncio.create_task(self._listen())
        await until(lambda: self.events or (self._task and self._task.done()))
        if self._task.done():
            self._task.result()
        return self

    async def __aexit__(self, *error: object) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _listen(self) -> None:
        async with (
            httpx.AsyncClient(base_url=self._url, timeout=httpx.Timeout(5, read=None)) as client,
            aconnect_sse(client, "GET", "/v1/events", headers=self._headers) as source,
        ):
            source.response.raise_for_status()
            async for event in source.aiter_sse():
                self.events.append(event)
        self.ended = True

    @property
    def last_id(self) -> str:
        """Where to resume."""
        return self.events[-1].id

    def hints(self) -> list[dict[str, Any]]:
        """Every hint received, in order."""
        return [hint for event in self.events if event.event == "hints" for hint in json.loads(event.data)["hints"]]

    def names(self) -> list[str]:
        """Names of the events received."""
        return [event.event for event in self.events]

    async def heard(self, *ids: str) -> list[dict[str, Any]]:
        """Wait until hints of all these ids came; every hint received."""
        await until(lambda: {hint["id"] for hint in self.hints()} >= set(ids))
        return self.hints()
