"""A database stopped and started during claims loses nothing and does nothing twice, on a server of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.items import ClaimNextOrder
from jobservice.cluster import Cluster
from jobservice.embedded import NEWEST, server_user, wheel_programs
from jobservice.migrate import migrate
from jobservice.store.database import Database
from jobservice.usecases import claims
from jobservice.usecases.idempotency import Answered, Once
from tests.conftest import DATABASE_OWNER, Server
from tests.usecases.desk import PAYOUTS, Desk, once
from tests.usecases.desk import desk as new_desk

CLERKS, EACH = 6, 30
AWAY = (ErrorCode.DATABASE_AWAY, ErrorCode.IDEMPOTENCY_RUNNING, ErrorCode.TIMED_OUT)


@pytest.fixture
def own_server(run_folder: Path) -> Iterator[Server]:
    """A server that this test may stop, with an empty database `restarted`."""
    folder = run_folder / "restart"
    folder.mkdir()
    folder.chmod(0o711)  # whatever the umask is
    cluster = Cluster(folder=folder, programs=wheel_programs(NEWEST), user=server_user())
    cluster.start()
    server = Server(cluster=cluster)
    try:
        with server.superuser() as connection:
            connection.execute(f"create role {DATABASE_OWNER} login createrole")
        server.create_database("restarted")
        migrate(server.url(DATABASE_OWNER, "restarted"))
        yield server
    finally:
        cluster.stop()


def fill(connection: psycopg.Connection[Any]) -> None:
    connection.execute("insert into jobs.tenants (id, name) values ('acme', 'Acme')")
    for number in range(CLERKS):
        connection.execute(
            "insert into jobs.people (id, name, contact) values (%(id)s, %(id)s, 'c')", {"id": f"clerk-{number}"}
        )
        connection.execute(
            "insert into jobs.memberships (person, tenant, role) values (%s, 'acme', 'finance')", (f"clerk-{number}",)
        )
    connection.execute(
        "insert into jobs.items (tenant, queue, business_key, title, created, amount_minor, currency, payee_id,"
        " payee_name, account, pushed_by, changed_by) select 'acme', %s, n::text, n::text, jobs.now(), n, 'GBP', 's',"
        " 'S', 'ACCT1234', 'p', 'p' from generate_series(1, %s) as n",
        (PAYOUTS, CLERKS * EACH),
    )


class Clerk:
    """Claims next again and again, and repeats with the same key whatever it did not hear the answer to."""

    def __init__(self, desk: Desk, person: str, heard: list[tuple[str, str]]) -> None:
        self._desk, self._person, self._heard = desk, person, heard
        self.repeats = 0

    async def work(self) -> None:
        for _ in range(EACH):
            request = once("/next")
            answered = await self._until_heard(request)
            self._heard.append((request.key, answered.body["item"]["id"]))

    async def _until_heard(self, request: Once) -> Answered:
        actor = self._desk.actor(self._person)
        async with asyncio.timeout(90):
            while True:
                try:
                    return await claims.claim_next(self._desk.service, actor, PAYOUTS, ClaimNextOrder(), request)
                except Refusal as refusal:
                    if refusal.kind not in AWAY:
                        raise
                    self.repeats += 1
                    await asyncio.sleep(0.05)


async def _until_heard(heard: list[tuple[str, str]], count: int) -> None:
    async with asyncio.timeout(60):
        while True:
            if len(heard) >= count:
                return
            await asyncio.sleep(0.005)


@pytest.mark.xdist_group("restart")
@pytest.mark.requirement("HTTP-03", "release-claims-past-their-lease")
async def test_nothing_is_lost_and_nothing_done_twice(own_server: Server) -> None:
    with own_server.superuser("restarted") as connection:
        fill(connection)
    database = await Database.open(own_server.url("jobs_api", "restarted"), name="test", most=CLERKS, wait_seconds=1)
    heard: list[tuple[str, str]] = []
    try:
        desk = new_desk(database, None).with_settings(claims_max=1_000)
        clerks = [Clerk(desk, f"clerk-{number}", heard) for number in range(CLERKS)]
        working = asyncio.gather(*(clerk.work() for clerk in clerks))
        for mark in (CLERKS * EACH // 4, CLERKS * EACH // 2):
            await _until_heard(heard, mark)
            await asyncio.to_thread(own_server.cluster.stop)
            await asyncio.to_thread(own_server.cluster.start)
        await working
    finally:
        await database.close()
    assert sum(clerk.repeats for clerk in clerks) > 0, "the stops were felt"
    assert len(heard) == len({item for _, item in heard}) == CLERKS * EACH
    with own_server.superuser("restarted") as connection:
        kept = connection.execute("select key, answer -> 'item' ->> 'id' from jobs.idempotency_keys").fetchall()
        counts = connection.execute(
            "select (select count(*) from jobs.items where holder is not null and fence = 1),"
            " (select count(*) from jobs.claims), (select count(*) from jobs.hints),"
            " (select count(*) from jobs.audit where action = 'claim' and outcome = 'done')"
        ).fetchone()
    assert sorted(kept) == sorted(heard)
    assert counts == (CLERKS * EACH,) * 4
