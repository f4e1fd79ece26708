"""A process's first look at its database: what may pass by itself is waited for, what a person has to mend is refused."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from jobcontract.errors import ErrorCode, Refusal
from jobservice.bootstrap import first_look
from jobservice.bootstrap.first_look import DatabaseAway, FirstLook, answers
from jobservice.settings import StartRefused
from tests.conftest import Server

pytestmark = pytest.mark.requirement("treat-unavailable-schedule-stores-as-outages")
REFUSES = """
import socketserver, struct, sys

class Refusal(socketserver.StreamRequestHandler):
    def handle(self):
        while True:
            head = self.rfile.read(8)
            if len(head) < 8:
                return
            length, first = struct.unpack("!ii", head)
            self.rfile.read(length - 8)
            if first != 80877103:  # with that number a client asks for TLS
                break
            self.wfile.write(b"N")
        told = ((b"S", "FATAL"), (b"C", sys.argv[1]), (b"M", sys.argv[2]))
        fields = b"".join(kind + text.encode() + b"\\0" for kind, text in told) + b"\\0"
        self.wfile.write(b"E" + struct.pack("!i", len(fields) + 4) + fields)

with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Refusal) as server:
    print(server.server_address[1], flush=True)
    server.serve_forever()
"""
"""A server that lets nobody in, and says why: a process of its own, since the client's library blocks this one."""


@contextmanager
def server_that_says(code: str, words: str) -> Iterator[str]:
    """The address of such a server; it knows no TLS."""
    with subprocess.Popen([sys.executable, "-c", REFUSES, code, words], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield f"postgresql://a:s3cret@127.0.0.1:{int(server.stdout.readline())}/d"
        finally:
            server.kill()


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("57P03", "das Datenbanksystem startet"),
        ("57P03", "the database system is shutting down"),
        ("53300", "sorry, too many clients already"),
    ],
)
async def test_a_server_that_cannot_let_anybody_in_just_now_is_away(code: str, words: str) -> None:
    with server_that_says(code, words) as url, pytest.raises(DatabaseAway, match=words) as away:
        await answers(url)
    assert "s3cret" not in str(away.value)


@pytest.mark.parametrize("code", ["28P01", "28000", "3D000"])
async def test_a_server_that_refuses_whoever_asks_is_not_waited_for(code: str) -> None:
    said = pytest.raises(StartRefused, match=r"cannot be reached: .*Passwort-Authentifizierung")
    with server_that_says(code, "Passwort-Authentifizierung fehlgeschlagen") as url, said as refused:
        await answers(url)
    assert "s3cret" not in str(refused.value)


async def test_a_server_that_one_must_not_talk_to_in_clear_is_not_waited_for() -> None:
    with server_that_says("57P03", "never said") as url, pytest.raises(StartRefused, match="SSL was required"):
        await answers(f"{url}?sslmode=require")


async def test_a_role_and_a_database_that_are_not_there_are_refused(server: Server) -> None:
    with pytest.raises(StartRefused, match='role "nobody" does not exist'):
        await answers(server.url("nobody", "postgres"))
    with pytest.raises(StartRefused, match='database "nothing" does not exist'):
        await answers(server.url("postgres", "nothing"))
    await answers(server.url("postgres", "postgres"))


async def test_nobody_there_is_away_and_nonsense_is_refused(tmp_path: Path) -> None:
    for address in (f"@/d?host={tmp_path}", "@127.0.0.1:1/d", "@nowhere.invalid/d"):
        with pytest.raises(DatabaseAway) as away:
            await answers(f"postgresql://a:s3cret{address}")
        assert "s3cret" not in str(away.value)
    with pytest.raises(StartRefused, match="cannot be reached"):
        await answers("nonsense s3cret")


async def _right() -> None:
    pass


def looking(url: str, check: Callable[[], Any] = _right) -> FirstLook:
    """A look at that address."""
    return FirstLook(url=url, check=check)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses that a test can wait for."""
    monkeypatch.setattr(first_look, "with_jitter", lambda pause: pause / 50)


@pytest.mark.usefixtures("quick")
async def test_what_goes_away_again_before_it_was_judged_is_waited_for(server: Server) -> None:
    answers_of_it = iter([ErrorCode.DATABASE_AWAY, ErrorCode.TIMED_OUT])

    async def check() -> None:
        if kind := next(answers_of_it, None):
            raise Refusal(kind, f"{kind.code}.")

    with capture_logs() as logs:
        assert await looking(server.url("postgres", "postgres"), check).until_taken(asyncio.Event())
    assert [(line["event"], line["reason"]) for line in logs] == [
        ("database-away", "database-away."),
        ("database-away", "timed-out."),
        ("database-there-again", "timed-out."),
    ]


async def test_a_finding_is_raised_and_not_waited_for(server: Server) -> None:
    async def check() -> None:
        raise StartRefused("It is wrong.")

    look = looking(server.url("postgres", "postgres"), check)
    for taking in (look.is_right(), look.until_taken(asyncio.Event())):
        with pytest.raises(StartRefused, match="It is wrong"):
            await taking


@pytest.mark.usefixtures("quick")
async def test_the_same_reason_is_said_once_in_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stop = asyncio.Event()
    look = looking(f"postgresql://a@/d?host={tmp_path}")
    with capture_logs() as logs:
        asyncio.get_running_loop().call_later(0.4, stop.set)
        assert not await look.until_taken(stop)
    assert [line["event"] for line in logs] == ["database-away"]
    assert logs[0]["log_level"] == "warning"
    monkeypatch.setattr(first_look, "SAY_SECONDS", 0.0)
    stop.clear()
    with capture_logs() as logs:
        asyncio.get_running_loop().call_later(0.4, stop.set)
        assert not await look.until_taken(stop)
    assert len(logs) > 2, "and again when long enough has passed"


async def test_a_stop_ends_the_wait_for_an_answer() -> None:
    """Of a server that takes the connection and says nothing."""

    async def say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.read()
        finally:
            writer.close()
            hung_up.set()

    hung_up = asyncio.Event()
    silent = await asyncio.start_server(say_nothing, "127.0.0.1", 0)
    async with silent:
        url = f"postgresql://a@127.0.0.1:{silent.sockets[0].getsockname()[1]}/d"
        stop = asyncio.Event()
        asyncio.get_running_loop().call_later(0.1, stop.set)
        async with asyncio.timeout(5):
            assert not await looking(url).until_taken(stop)
            await hung_up.wait()
