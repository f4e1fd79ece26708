"""The pool and the transaction: commit, rollback, one tenant a transaction, and the ground the tests stand on."""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import psycopg
import pytest
from structlog.testing import capture_logs

from jobcontract.errors import ErrorCode, Refusal
from jobservice.store import database as database_module
from jobservice.store.database import Database
from tests.conftest import Clock, People
from tests.fakes.line import Line
from tests.fakes.waiting import eventually


async def test_a_transaction_has_one_tenant_and_the_next_one_another(database: Database, people: People) -> None:
    seen = []
    for tenant in ("acme", "globex", None):
        async with database.transaction(tenant) as transaction:
            cursor = await transaction.connection.execute("select id from jobs.tenants")
            seen.append([row["id"] for row in await cursor.fetchall()])
    assert seen == [["acme"], ["globex"], []]


async def test_an_exception_takes_everything_back(owner_database: Database, superuser: psycopg.Connection[Any]) -> None:
    async def broken() -> None:
        async with owner_database.transaction(None) as transaction:
            await transaction.connection.execute("insert into jobs.tenants (id, name) values ('acme', 'Acme')")
            raise LookupError

    with pytest.raises(LookupError):
        await broken()
    assert superuser.execute("select count(*) from jobs.tenants").fetchone() == (0,)


async def test_a_slow_statement_is_a_refusal(database: Database) -> None:
    with pytest.raises(Refusal) as refused:
        async with database.transaction(None, statement_seconds=0.05) as transaction:
            await transaction.connection.execute("select pg_sleep(5)")
    assert refused.value.kind is ErrorCode.TIMED_OUT


async def test_a_server_that_is_not_there_is_a_refusal(tmp_path: Any) -> None:
    database = await Database.open(
        f"postgresql://jobs_api@/jobs?host={tmp_path}", name="away", most=1, wait_seconds=0.2
    )
    try:
        with capture_logs() as logs:
            for _ in range(2):
                with pytest.raises(Refusal) as refused:
                    await use(database)
                assert refused.value.kind is ErrorCode.DATABASE_AWAY
    finally:
        await database.close()
    away = [(line["pool"], line["reason"]) for line in logs if line["event"] == "database-away"]
    assert away == [("away", "no connection within 0.2 s")]


async def test_a_pool_full_of_dead_connections_serves_the_next_request(
    database_url: Callable[[str], str], superuser: psycopg.Connection[Any]
) -> None:
    """A restarted server kills all idle connections at once; who draws one of them must not wait for the others."""
    database = await Database.open(database_url("jobs_api"), name="many dead", most=20, wait_seconds=2.5)
    try:
        everyone = asyncio.Barrier(20)

        async def hold() -> None:
            async with database.transaction(None):
                await everyone.wait()

        await asyncio.gather(*(hold() for _ in range(20)))
        superuser.execute("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'many dead'")
        for _ in range(3):
            async with database.transaction(None) as transaction:
                await transaction.connection.execute("select 1")
    finally:
        await database.close()


async def use(database: Database) -> None:
    """One transaction with a statement."""
    async with database.transaction(None) as transaction:
        await transaction.connection.execute("select 1")


async def raising(database: Database, sqlstate: str) -> None:
    """A statement that the server refuses so; the connection stays."""
    async with database.transaction(None) as transaction:
        await transaction.connection.execute(
            f"do $$ begin raise exception 'made up' using errcode = '{sqlstate}'; end $$".encode()
        )


async def cancelled_after(database: Database, steps: int) -> None:
    """Cancels a transaction so many steps of the event loop after it began."""
    running = asyncio.create_task(use(database))
    for _ in range(steps):
        await asyncio.sleep(0)
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running


async def test_a_transaction_cancelled_anywhere_leaves_a_pool_that_serves(
    database_url: Callable[[str], str],
) -> None:
    """Psycopg counts a transaction from before its BEGIN: a connection given back in between would serve nobody."""
    database = await Database.open(database_url("jobs_api"), name="cancelled", most=1)
    try:
        for steps in range(12):
            await use(database)
            await cancelled_after(database, steps)
        await use(database)
        assert database.figures()["pool_available"] == database.figures()["pool_size"] == 1
    finally:
        await database.close()


async def test_a_cancellation_that_comes_with_the_connection_is_not_lost(database_url: Callable[[str], str]) -> None:
    """Who ends a task by cancelling it waits for it: one that went on would be waited for without end."""
    database = await Database.open(database_url("jobs_api"), name="cancelled waiting", most=1)
    went_on: list[int] = []

    async def wait_in_line(steps: int) -> None:
        async with database.transaction(None):
            went_on.append(steps)

    try:
        for steps in range(3):
            async with database.transaction(None):
                waiting = asyncio.create_task(wait_in_line(steps))
                while not database.figures()["requests_waiting"]:  # noqa: ASYNC110 - the pool has no event for it
                    await asyncio.sleep(0)
            for _ in range(steps):
                await asyncio.sleep(0)
            waiting.cancel()
            with suppress(asyncio.CancelledError):
                await waiting
        assert went_on == []
        await use(database)
        assert database.figures()["pool_available"] == database.figures()["pool_size"] == 1
    finally:
        await database.close()


async def test_a_transaction_cancelled_while_it_meets_dead_connections_loses_none_of_their_places(
    database_url: Callable[[str], str], superuser: psycopg.Connection[Any]
) -> None:
    database = await Database.open(database_url("jobs_api"), name="cancelled dead", most=2)
    everyone = asyncio.Barrier(2)

    async def hold() -> None:
        async with database.transaction(None):
            await everyone.wait()

    try:
        for steps in (0, 1, 2, 3, 5, 8, 13):
            await asyncio.gather(hold(), hold())
            superuser.execute(
                "select pg_terminate_backend(pid, 5000) from pg_stat_activity where application_name = 'cancelled dead'"
            )
            await cancelled_after(database, steps)
        await asyncio.gather(hold(), hold())
    finally:
        await database.close()


@pytest.mark.parametrize("sqlstate", ["40P01", "40001", "55P03"])
async def test_who_gave_way_to_another_transaction_is_told_to_try_again(database: Database, sqlstate: str) -> None:
    with capture_logs() as logs, pytest.raises(Refusal) as refused:
        await raising(database, sqlstate)
    assert refused.value.kind is ErrorCode.TIMED_OUT
    assert refused.value.detail == "Others worked on the same at the same time. Nothing was done. Try again."
    assert [(line["event"], line["sqlstate"]) for line in logs] == [("database-gave-way", sqlstate)]


@pytest.mark.parametrize("sqlstate", ["53100", "53200", "54001", "55006", "58030"])
async def test_what_the_server_refuses_for_a_reason_of_its_own_is_not_called_away(
    database: Database, sqlstate: str
) -> None:
    with capture_logs() as logs, pytest.raises(psycopg.OperationalError) as raised:
        await raising(database, sqlstate)
    assert raised.value.sqlstate == sqlstate
    assert logs == []
    await use(database)


@pytest.mark.parametrize("sqlstate", ["08006", "57P01", "57P02", "57P03"])
async def test_a_server_that_goes_away_is_away_and_why_is_logged(database: Database, sqlstate: str) -> None:
    with capture_logs() as logs, pytest.raises(Refusal) as refused:
        await raising(database, sqlstate)
    assert refused.value.kind is ErrorCode.DATABASE_AWAY
    assert [(line["event"], line["sqlstate"], line["reason"]) for line in logs] == [
        ("database-away", sqlstate, "made up")
    ]
    with capture_logs() as logs:
        await use(database)
        await use(database)
    assert [line["event"] for line in logs] == ["database-there-again"]


async def test_a_mistake_in_the_use_of_a_connection_is_not_called_away(database: Database) -> None:
    with pytest.raises(psycopg.OperationalError, match="made up"):
        async with database.transaction(None):
            raise psycopg.OperationalError("made up")


async def test_the_clock_moves_only_for_this_test(database: Database, clock: Clock) -> None:
    async def ahead() -> float:
        async with database.transaction(None) as transaction:
            cursor = await transaction.connection.execute(
                "select extract(epoch from jobs.now() - clock_timestamp())::float8 as ahead"
            )
            row = await cursor.fetchone()
            assert row is not None
            return float(row["ahead"])

    assert abs(await ahead()) < 1
    clock.advance(3600)
    assert abs(await ahead() - 3600) < 1


async def test_a_connection_on_which_nothing_comes_any_more_hangs_nobody_up_for_ever(
    database_url: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half-open: what is sent vanishes, and no limit of the server's is heard of."""
    monkeypatch.setattr(database_module, "ANSWER_SECONDS", 0.3)
    async with Line(database_url("jobs_api")) as line:
        database = await Database.open(line.url, name="half open", most=1, wait_seconds=5.0)

        async def vanishes() -> None:
            async with database.transaction(None, statement_seconds=0.2) as transaction:
                with line.swallows():
                    await transaction.connection.execute("select 1")

        try:
            await use(database)
            asked = time.monotonic()
            with pytest.raises(Refusal) as refused:
                await vanishes()
            assert refused.value.kind is ErrorCode.DATABASE_AWAY
            await use(database)
            with line.swallows():
                pass  # the idle connection is dead from now on
            await use(database)
            assert time.monotonic() - asked < 8
        finally:
            await database.close()


async def test_who_cancels_what_hangs_on_a_dead_connection_gets_the_task_back(
    database_url: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_module, "ANSWER_SECONDS", 0.3)
    async with Line(database_url("jobs_api")) as line:
        database = await Database.open(line.url, name="half open", most=1, wait_seconds=0.5)
        try:
            await use(database)
            with line.swallows():
                pass
            using = asyncio.create_task(use(database))
            await asyncio.sleep(0.05)
            using.cancel()
            done, _ = await asyncio.wait({using}, timeout=4)
            assert done == {using}
        finally:
            await database.close()


async def test_a_transaction_that_stands_still_is_ended_and_its_locks_with_it(
    worker_database: Database, superuser: psycopg.Connection[Any]
) -> None:
    """A process that was frozen in the middle of one would hold them for as long as it is frozen."""
    superuser.execute("insert into jobs.duties (name) values ('frozen')")

    def locked() -> bool:
        found = superuser.execute("select 1 from jobs.duties for update skip locked").fetchall()
        return found == []

    async def stands_still() -> None:
        async with worker_database.transaction(None, idle_seconds=0.2) as transaction:
            await transaction.connection.execute("select 1 from jobs.duties for update")
            assert locked()
            await eventually(lambda: not locked(), what="the locks were freed")
            await transaction.connection.execute("select 1")

    with pytest.raises(Refusal) as refused:
        await stands_still()
    assert refused.value.kind is ErrorCode.TIMED_OUT
    assert "stood still" in refused.value.detail


async def test_every_transaction_has_such_a_limit_and_every_tcp_connection_is_watched(
    database_url: Callable[[str], str],
) -> None:
    async with Line(database_url("jobs_worker")) as line:
        database = await Database.open(f"{line.url}?keepalives_idle=7", name="limits", most=1)
        try:
            async with database.transaction(None) as transaction:
                row = await (
                    await transaction.connection.execute("show idle_in_transaction_session_timeout")
                ).fetchone()
                said = transaction.connection.info.get_parameters()
                sock = transaction.connection.fileno()
                with socket.socket(fileno=os.dup(sock)) as held:
                    assert held.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
                    assert held.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 15_000
                    assert held.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == 7, (
                        "the address's own word counts"
                    )
            assert row is not None
            assert row["idle_in_transaction_session_timeout"] == "30s"
            assert said["tcp_user_timeout"] == "15000"
        finally:
            await database.close()


async def test_what_an_index_finds_is_planned_once_and_never_by_reading_a_whole_table(
    worker_database: Database,
) -> None:
    async def ways(**asked: Any) -> list[str]:
        async with worker_database.transaction(None, **asked) as transaction:
            rows = [
                await (await transaction.connection.execute(show)).fetchone()
                for show in ("show plan_cache_mode", "show enable_seqscan")
            ]
        return [word for row in rows if row is not None for word in row.values()]

    assert await ways(by_index=True) == ["force_generic_plan", "off"]
    assert await ways() == ["force_custom_plan", "on"]


async def test_statements_that_go_together_are_answered_each_by_its_own_rows(
    database: Database, people: People
) -> None:
    async with database.transaction("acme", planned_once=True) as transaction:
        for _ in range(5):  # the driver prepares a statement from its fourth run on
            clock, tenants, none = await transaction.together(
                [("items/now", {}), ("alarms/clock", {}), ("alarms/open", {})]
            )
            assert (list(clock[0]), tenants[0]["tenants"], none) == (["now"], ["acme"], [])

    async def broken() -> None:
        async with database.transaction("acme") as transaction:
            stretch = {"begin": "noon", "mark": None, "until": "noon", "most": 1}
            await transaction.together([("items/now", {}), ("timeline/parked", stretch), ("items/now", {})])

    with pytest.raises(psycopg.errors.InvalidDatetimeFormat):
        await broken()
    await use(database)


async def test_statements_that_go_together_are_all_sent_before_the_first_answer(
    database_url: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_module, "ANSWER_SECONDS", 0.3)
    sent: list[str] = []

    def told(name: str) -> str:
        sent.append(name)
        return "select 1"

    monkeypatch.setattr(database_module, "statement", told)
    async with Line(database_url("jobs_api")) as line:
        database = await Database.open(line.url, name="together", most=1, wait_seconds=5.0)

        async def vanish() -> None:
            async with database.transaction(None, statement_seconds=0.2) as transaction:
                with line.swallows():
                    await transaction.together([("one", {}), ("two", {}), ("three", {})])

        try:
            with pytest.raises(Refusal):
                await vanish()
        finally:
            await database.close()
    assert sent == ["one", "two", "three"]
