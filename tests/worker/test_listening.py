"""Hearing that there is work: at once, again after the connection was lost however quietly, and never depended upon."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import psycopg
import pytest
from structlog.testing import capture_logs

from jobcontract.errors import ErrorCode, Refusal
from jobservice.migrate import migrate
from jobservice.store.database import Database
from jobservice.worker.duties import Pauses
from jobservice.worker.listening import Listening
from jobservice.worker.outage import Outage
from tests.conftest import Server
from tests.fakes.line import Line
from tests.fakes.waiting import eventually


@dataclass
class Ear:
    """What was heard: payloads, and None where something may have been lost."""

    listening: Listening
    heard: list[str | None] = field(default_factory=list)

    async def hears(self, payload: str | None, more_than: int = 0) -> None:
        """Wait until it was heard."""
        await eventually(lambda: self.heard.count(payload) > more_than, what=f"{payload} was heard", seconds=20)


@asynccontextmanager
async def listening(url: str) -> AsyncIterator[Ear]:
    """The duty at work, with the outage keeper beside it."""
    database = await Database.open(url, name="listens", most=2, wait_seconds=0.5)
    outage = Outage(database=database, pauses=Pauses(first=0.05, longest=0.2))
    heard: list[str | None] = []
    duty = Listening(
        database=database,
        outage=outage,
        heard=heard.append,
        pauses=Pauses(first=0.05, longest=0.2),
        ask_seconds=0.2,
        answer_seconds=0.5,
    )

    async def loop() -> None:
        while True:
            await asyncio.sleep(await duty.step(woken=False))
            while outage.away:  # noqa: ASYNC110  # as the process's loop does
                await asyncio.sleep(min(await outage.step(woken=True), 0.2))

    running = asyncio.create_task(loop())
    try:
        yield Ear(duty, heard)
    finally:
        running.cancel()
        await asyncio.wait({running})
        await database.close()


def notify(connection: psycopg.Connection[Any], payload: str) -> None:
    """Tell everybody who listens."""
    connection.execute("select pg_notify('jobs_work', %s)", (payload,))


def fill(connection: psycopg.Connection[Any]) -> None:
    """Notify until the server has no room left."""
    for number in range(2_000):
        connection.execute("select pg_notify('other', %s)", (f"{number:05d}" + "x" * 7_000,))


async def test_a_notification_is_heard_at_once_and_all_is_looked_at_first(
    database_url: Callable[[str], str], superuser: psycopg.Connection[Any]
) -> None:
    async with listening(database_url("jobs_worker")) as ear:
        await ear.hears(None)
        notify(superuser, "occurrences")
        await ear.hears("occurrences")
        assert ear.heard[0] is None, "what came before it listened is looked for"
        assert set(ear.heard) == {None, "occurrences"}, "nothing else was told"


async def test_a_connection_that_was_ended_is_made_again(
    database_url: Callable[[str], str], superuser: psycopg.Connection[Any]
) -> None:
    with capture_logs() as logs:
        async with listening(database_url("jobs_worker")) as ear:
            await ear.hears(None)
            superuser.execute(
                "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'listens'"
            )
            await ear.hears(None, more_than=1)
            notify(superuser, "plans")
            await ear.hears("plans")
    assert [line["event"] for line in logs if line["event"] == "work-not-heard"] == ["work-not-heard"]


async def test_a_connection_on_which_nothing_comes_any_more_is_noticed(
    database_url: Callable[[str], str], superuser: psycopg.Connection[Any]
) -> None:
    """No reset, no end: everything just vanishes, as behind a firewall that forgot the connection."""
    with capture_logs() as logs:
        async with Line(database_url("jobs_worker")) as line, listening(line.url) as ear:
            await ear.hears(None)
            with line.swallows():
                notify(superuser, "lost")
                await eventually(lambda: any(each["event"] == "work-not-heard" for each in logs), what="noticed")
                await eventually(lambda: ear.listening.outage.away, what="the outage is known")
            await ear.hears(None, more_than=1)
            notify(superuser, "plans")
            await ear.hears("plans")
            assert "lost" not in ear.heard, "whoever waits for it finds it by looking"
    reasons = [each["reason"] for each in logs if each["event"] == "work-not-heard"]
    given_up = ("no answer within 0.5 s", "consuming input failed")  # whichever is seen first of its own hanging up
    assert reasons[0].startswith(given_up)


async def test_a_queue_of_notifications_that_is_full_is_an_alarm_and_a_refusal_and_no_poison(
    spare_server: Server,
) -> None:
    """Somebody listens in a transaction left open: then nothing can be removed from the server's queue."""
    with spare_server.superuser() as connection:
        connection.execute("alter system set max_notify_queue_pages = 64")
    await asyncio.to_thread(spare_server.cluster.stop)
    await asyncio.to_thread(spare_server.cluster.start)
    migrate(spare_server.url("jobs_owner", "jobs"))
    url = spare_server.url("jobs_worker", "jobs")
    database = await Database.open(url, name="notifies", most=1)

    async def tell() -> None:
        async with database.transaction(None) as transaction:
            await transaction.connection.execute("select pg_notify('jobs_work', 'plans')")

    with capture_logs() as logs, spare_server.superuser("jobs") as left_open, spare_server.superuser("jobs") as fills:
        left_open.execute("listen jobs_work")
        left_open.execute("begin")
        left_open.execute("select 1")
        async with listening(url) as ear:
            await ear.hears(None)
            await tell()
            with pytest.raises(psycopg.errors.ProgramLimitExceeded):
                fill(fills)
            await eventually(lambda: ear.listening.full == 1, what="the alarm")
            with pytest.raises(Refusal) as refused:
                await tell()
            assert refused.value.kind is ErrorCode.TIMED_OUT
            assert "no room for notifications" in refused.value.detail
            async with database.transaction(None) as transaction:
                await transaction.connection.execute("select 1")
            left_open.execute("rollback")
            await eventually(
                lambda: any(line["event"] == "notifications-have-room-again" for line in logs), what="room again"
            )
            await tell()
        left_open.execute("unlisten *")
    await database.close()
    alarms = [line for line in logs if line["event"] == "notifications-nearly-full"]
    assert [(line["alarm"], line["times"]) for line in alarms] == [(True, 1)], "said once, not at each look"
    refusals = [line["sqlstate"] for line in logs if line["event"] == "database-notifications-full"]
    assert refusals == ["54000"]
