"""The API as a process of its own, and its listener: how it stops, and how large and slow a head may be."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from jobservice.api import health
from jobservice.api import server as serving
from jobservice.bootstrap.keyring import make_keyring
from jobservice.migrate import migrate
from jobservice.usecases import claims, queues, readiness
from tests.api.conftest import DEADLINE, Api, Listener, key_header, problem_of, running, until
from tests.conftest import People, Server

STOP_DEADLINE = 3.0
"""Seconds within which the process must have ended after SIGTERM, streams open."""


@pytest.fixture
def own_database(server: Server, worker_id: str) -> Iterator[str]:
    """A database with the true clock, as a process of the service wants it."""
    name = f"api_process_{worker_id}"
    server.create_database(name)
    migrate(server.url("jobs_owner", name), families=("payments",))
    yield name
    server.drop_database(name)


@pytest.fixture
def process(server: Server, own_database: str, tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`jobservice api` on a free port; the process and its address."""
    make_keyring(tmp_path / "keys")
    environment = {
        **os.environ,
        "JOBSERVICE_DATABASE_URL": server.url("jobs_api", own_database),
        "JOBSERVICE_APPLICATION": "examples.payments:application",
        "JOBSERVICE_KEYRING": str(tmp_path / "keys"),
        "JOBSERVICE_DEPLOYMENT": "test",
    }
    command = [sys.executable, "-m", "jobservice", "api", "--port", "0"]
    with (
        (tmp_path / "log").open("w") as log,
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=log, text=True) as child,
    ):
        try:
            assert child.stdout is not None
            line = child.stdout.readline()  # one line once it is ready, or none when it ended
            assert line, (tmp_path / "log").read_text()
            yield child, json.loads(line)["url"]
        finally:
            child.kill()


async def test_sigterm_ends_the_process_within_three_seconds_with_streams_open(
    process: tuple[subprocess.Popen[str], str], server: Server, own_database: str
) -> None:
    child, url = process
    with server.superuser(own_database) as connection:
        connection.execute("insert into jobs.tenants (id, name) values ('acme', 'Acme')")
        people = People(connection)
        for person in ("m.ito", "k.rao"):
            people.add(person, "acme", "finance")
        async with Listener(url, people.token("m.ito")) as first, Listener(url, people.token("k.rao")) as second:
            child.send_signal(signal.SIGTERM)
            await asyncio.to_thread(child.wait, STOP_DEADLINE)
            await until(lambda: first.ended and second.ended)
            # Ended by the process, not by their rights: they come back when it does.
            assert {*first.names(), *second.names()} == {"hints"}
    assert child.returncode == 0


async def read_all(url: str, sent: bytes) -> bytes:
    address = urlsplit(url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    writer.write(sent)
    async with asyncio.timeout(DEADLINE):
        answer = await reader.read()
    writer.close()
    return answer


HEAD = b"GET /healthz HTTP/1.1\r\nHost: h\r\nConnection: close\r\n"


@pytest.mark.parametrize(
    "head",
    [
        HEAD + b"X-Long: " + b"x" * serving.HEAD_MOST,
        HEAD + b"X-Long: " + b"x" * serving.HEAD_MOST + b"\r\n\r\n",
        HEAD + b"X-Many: x\r\n" * (serving.HEAD_MOST // 8),
        b"GET /" + b"x" * (serving.HEAD_MOST + 1),
    ],
    ids=["one-endless", "one-long", "many", "address"],
)
async def test_a_head_that_is_too_large_is_refused(api: Api, head: bytes) -> None:
    async with running(api.app) as url:
        assert (await read_all(url, head)).startswith(b"HTTP/1.1 400 ")


async def test_a_head_within_its_bound_is_taken_in_whatever_pieces(api: Api) -> None:
    whole = HEAD + b"X-Long: " + b"x" * (serving.HEAD_MOST - 200) + b"\r\n\r\n"
    async with running(api.app) as url:
        address = urlsplit(url)
        for at in (len(whole) - 3, len(whole) - 1, 10):
            reader, writer = await asyncio.open_connection(address.hostname, address.port)
            writer.write(whole[:at])
            await writer.drain()
            await asyncio.sleep(0)
            writer.write(whole[at:])
            async with asyncio.timeout(DEADLINE):
                assert (await reader.read()).startswith(b"HTTP/1.1 200 ")
            writer.close()


async def test_a_head_that_does_not_arrive_is_given_up(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "HEAD_SECONDS", 0.1)
    async with running(api.app) as url:
        assert await read_all(url, b"GET /healthz HTTP/1.1\r\n") == b""


async def test_a_later_head_on_a_kept_connection_is_given_up_too(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "HEAD_SECONDS", 0.1)
    whole = b"GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n"
    async with running(api.app) as url:
        for first, later in ((whole, b"GET /heal"), (whole, b"\r\n"), (whole + b"GET /heal", b"t")):
            address = urlsplit(url)
            reader, writer = await asyncio.open_connection(address.hostname, address.port)
            writer.write(first)
            async with asyncio.timeout(DEADLINE):
                assert (await reader.readline()).startswith(b"HTTP/1.1 200 ")
                writer.write(later)
                await reader.read()
            writer.close()


async def test_waiting_for_a_head_cuts_no_answer_off(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "HEAD_SECONDS", 0.05)
    waited, go_on = asyncio.Event(), asyncio.Event()
    give_up, ready = serving.BoundedProtocol._give_up, readiness.check_ready

    def noted(protocol: serving.BoundedProtocol) -> None:
        waited.set()
        give_up(protocol)

    async def held(*arguments: Any, **named: Any) -> None:
        await go_on.wait()
        await ready(*arguments, **named)

    monkeypatch.setattr(serving.BoundedProtocol, "_give_up", noted)
    monkeypatch.setattr(health, "check_ready", held)
    async with running(api.app) as url:
        address = urlsplit(url)
        reader, writer = await asyncio.open_connection(address.hostname, address.port)
        writer.write(b"GET /readyz HTTP/1.1\r\nHost: h\r\n\r\nGET /heal")
        async with asyncio.timeout(DEADLINE):
            await waited.wait()
            go_on.set()
            answer = await reader.read()
        writer.close()
    assert answer.startswith(b"HTTP/1.1 200 ")


@pytest.mark.requirement("HTTP-03")
@pytest.mark.parametrize(
    ("method", "path", "says"),
    [
        ("POST", "/v1/items/x/claim", "not known whether this was done. Send it again with the same Idempotency-Key"),
        ("GET", "/v1/queues", "Nothing was changed. Ask again"),
    ],
)
async def test_a_request_that_the_stop_cuts_off_is_told_so(
    api: Api, monkeypatch: pytest.MonkeyPatch, method: str, path: str, says: str
) -> None:
    monkeypatch.setattr(serving, "STOP_SECONDS", 0.1)
    began = asyncio.Event()

    async def endless(*_: object, **__: object) -> None:
        began.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(claims, "claim", endless)
    monkeypatch.setattr(queues, "list_queues", endless)
    headers = {"Authorization": f"Bearer {api.people.token('m.ito')}", **key_header()}
    async with httpx.AsyncClient(headers=headers) as client:
        async with running(api.app) as url:
            asked = asyncio.create_task(client.request(method, url + path, json={} if method == "POST" else None))
            await began.wait()
        answer = await asked
    assert says in problem_of(answer, 503, "stopping")["detail"]
    assert answer.headers["Retry-After"] == "5"


async def test_large_bodies_do_not_count_as_heads(api: Api) -> None:
    async with running(api.app) as url:
        body = b"x" * (3 * serving.HEAD_MOST)
        head = b"POST /v1/queues HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(body)
        assert (await read_all(url, head + body)).startswith(b"HTTP/1.1 405 ")
