"""Telling of alarms by webhook: in order, at least once, under the same id, and never in a transaction that waits."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import structlog

from jobservice.delivery import NotDelivered
from jobservice.store import duties as rows
from jobservice.store.database import Database
from jobservice.worker.fenced import Lease, LeaseLost, take
from jobservice.worker.telling import TRIES_MOST, Hook, Telling
from tests.conftest import Clock, People
from tests.delivery.hooks import OK, a_receiver, a_webhook
from tests.delivery.servers import a_certificate

HOLDER, OTHER = UUID(int=7), UUID(int=8)


@dataclass
class Ears:
    """A way that keeps what it is told, or says why not."""

    heard: list[tuple[str, str]] = field(default_factory=list)
    data: list[Mapping[str, object]] = field(default_factory=list)
    error: NotDelivered | None = None

    async def tell(self, event: str, /, *, kind: str, data: Mapping[str, object], **_when: datetime) -> None:
        """Keep it."""
        self.heard.append((event, kind))
        self.data.append(data)
        if self.error is not None:
            raise self.error


@dataclass(slots=True)
class Desk:
    """A Worker that tells, and the alarms that there are."""

    database: Database
    people: People
    stop: asyncio.Event = field(default_factory=asyncio.Event)

    def alarm(self, subject: str = "s.one") -> str:
        """An alarm that opened, to be told; its id."""
        return str(
            self.rows(
                "insert into jobs.alarms (tenant, kind, subject, schedule, sentence, telling, told, tell_at) values"
                " ('acme', 'late', %s, %s, '1 run is late.', 'opened', 'waiting', jobs.now()) returning id",
                subject,
                subject,
            )[0][0]
        )

    def rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        cursor = self.people.connection.execute(query.encode(), values)
        return [tuple(row) for row in cursor.fetchall()] if cursor.description else []

    def state(self, alarm: str) -> tuple[str, str, str | None, int]:
        """What is told of it now, how that stands, the last failure, tries."""
        (row,) = self.rows("select telling, told, told_words, tries from jobs.alarms where id = %s", alarm)
        return row[0], row[1], row[2], row[3]

    def acknowledge(self, alarm: str) -> None:
        """As the API writes it."""
        from jobservice.store.statements import statement

        self.people.connection.execute(
            statement("alarms/acknowledge"),
            {"tenant": "acme", "id": alarm, "by": "o.lind", "note": "On it", "version": self.version(alarm)},
        )

    def version(self, alarm: str) -> int:
        return int(self.rows("select version from jobs.alarms where id = %s", alarm)[0][0])

    async def clear(self, alarm: str) -> None:
        """As the duty writes it."""
        from jobservice.store.statements import statement

        async with self.database.transaction(None) as transaction:
            await rows.add_duty(transaction, "alarms")
            await transaction.connection.execute(
                "update jobs.duties set holder = %s, fence = 1, expires_at = jobs.now() where name = 'alarms'",
                (HOLDER,),
            )
            await transaction.connection.execute(
                statement("alarms/clear"), {"ids": [alarm], "name": "alarms", "holder": HOLDER, "fence": 1}
            )

    async def lease(self, holder: UUID = HOLDER) -> Lease:
        self.rows("update jobs.duties set holder = null, expires_at = null where name = 'alarms-told'")
        lease = await take(self.database, Telling(hook=None, every=0.0), holder, self.stop.is_set)
        assert lease is not None
        return lease

    async def run(self, hook: Hook | None, **other: Any) -> dict[str, int]:
        """One run of the duty."""
        return dict(await Telling(hook=hook, **other).run_once(await self.lease()))


@pytest.fixture
async def desk(worker_database: Database, people: People) -> Desk:
    """A Worker that knows the duty."""
    async with worker_database.transaction(None) as transaction:
        await rows.add_duty(transaction, "alarms-told")
    return Desk(worker_database, people)


async def test_what_happens_to_an_alarm_is_told_in_its_order_each_once(desk: Desk) -> None:
    alarm, ears = desk.alarm(), Ears()
    assert await desk.run(ears) == {"sent": 1}
    assert desk.state(alarm)[:2] == ("opened", "sent")
    desk.acknowledge(alarm)
    assert desk.state(alarm)[:2] == ("acknowledged", "waiting")
    assert await desk.run(ears) == {"sent": 1}
    desk.acknowledge(alarm)
    assert await desk.run(ears) == {}, "another note is told to nobody"
    await desk.clear(alarm)
    assert await desk.run(ears) == {"sent": 1}
    assert await desk.run(ears) == {}
    assert ears.heard == [(f"{alarm}.{what}", f"alarm.{what}") for what in ("opened", "acknowledged", "cleared")]
    assert {**ears.data[0], "opened_at": "", "look": ""} == {
        "id": alarm,
        "tenant": "acme",
        "kind": "late",
        "subject": "s.one",
        "schedule": "s.one",
        "sentence": "1 run is late.",
        "count": 1,
        "opened_at": "",
        "look": "",
    }


async def test_a_run_is_wanted_while_something_waits_to_be_told(desk: Desk) -> None:
    ears = Ears()
    assert not await Telling(hook=ears).wanted(desk.database, HOLDER)
    desk.alarm()
    assert await Telling(hook=ears).wanted(desk.database, HOLDER)
    await desk.run(ears)
    assert not await Telling(hook=ears).wanted(desk.database, HOLDER)


async def test_what_happened_before_the_first_message_arrived_is_told_after_it(desk: Desk) -> None:
    alarm, ears = desk.alarm(), Ears(error=NotDelivered("hooks.test is away."))
    assert await desk.run(ears) == {"failed": 1}
    desk.acknowledge(alarm)
    await desk.clear(alarm)
    assert desk.state(alarm)[:2] == ("opened", "waiting")
    ears.error = None
    desk.rows("update jobs.alarms set tell_at = jobs.now()")
    assert await desk.run(ears) == {"sent": 3}
    assert [kind for _, kind in ears.heard] == [
        "alarm.opened",
        "alarm.opened",
        "alarm.acknowledged",
        "alarm.cleared",
    ]


async def test_a_failure_is_tried_again_under_the_same_id_after_pauses_that_double(desk: Desk, clock: Clock) -> None:
    alarm, ears = desk.alarm(), Ears(error=NotDelivered("hooks.test answered 500."))
    for tries, pause in enumerate((10, 20, 40, 50, 50), 1):
        with structlog.testing.capture_logs() as logs:
            assert await desk.run(ears, longest_pause=50.0) == {"failed": 1}
        assert desk.state(alarm) == ("opened", "waiting", "hooks.test answered 500.", tries)
        assert [line["event"] for line in logs] == ["alarm-not-told"]
        clock.advance(pause - 1)
        assert await desk.run(ears) == {}
        clock.advance(1.5)
    ears.error = None
    assert await desk.run(ears) == {"sent": 1}
    assert {event for event, _ in ears.heard} == {f"{alarm}.opened"}
    assert desk.state(alarm)[:3] == ("opened", "sent", None)


@pytest.mark.parametrize(("tries", "for_good"), [(0, True), (TRIES_MOST - 1, False)])
async def test_it_is_given_up_for_good_or_after_many_tries_and_what_comes_next_is_told(
    desk: Desk, tries: int, for_good: bool
) -> None:
    alarm, ears = desk.alarm(), Ears(error=NotDelivered("hooks.test answered 410.", for_good=for_good))
    desk.rows("update jobs.alarms set tries = %s", tries)
    with structlog.testing.capture_logs() as logs:
        assert await desk.run(ears) == {"given_up": 1}
    assert desk.state(alarm)[:3] == ("opened", "given-up", "hooks.test answered 410.")
    assert [(line["event"], line["alarm"]) for line in logs] == [("alarm-telling-given-up", True)]
    await desk.clear(alarm)
    ears.error = None
    assert await desk.run(ears) == {"sent": 1}
    assert ears.heard[-1] == (f"{alarm}.cleared", "alarm.cleared")


async def test_a_worker_that_is_killed_between_answer_and_write_leaves_it_due_under_the_same_id(
    desk: Desk, tmp_path: Path, clock: Clock
) -> None:
    certificate = a_certificate(tmp_path)
    alarm = desk.alarm()
    async with a_receiver(certificate) as receiver:
        hook = a_webhook(certificate, receiver.port)
        lease = await desk.lease()

        class Dies:
            async def tell(self, event: str, /, **told: Any) -> None:
                await hook.tell(event, **told)
                # The answer was heard; before it is written another Worker has the duty.
                desk.rows("update jobs.duties set fence = fence + 1, holder = %s where name = 'alarms-told'", OTHER)

        with pytest.raises(LeaseLost):
            await Telling(hook=Dies()).run_once(lease)
        assert desk.state(alarm)[:2] == ("opened", "waiting")
        clock.advance(11)
        assert dict(await Telling(hook=hook).run_once(await desk.lease(OTHER))) == {"sent": 1}
    first, again = receiver.received
    assert first.headers["webhook-id"] == again.headers["webhook-id"] == f"{alarm}.opened"
    assert first.body == again.body
    assert first.headers["webhook-timestamp"] != again.headers["webhook-timestamp"]


async def test_a_server_that_fails_and_then_takes_it_gets_the_same_id_twice(
    desk: Desk, tmp_path: Path, clock: Clock
) -> None:
    certificate = a_certificate(tmp_path)
    desk.alarm()
    async with a_receiver(certificate, b"HTTP/1.1 500 Oops\r\n\r\n", OK) as receiver:
        hook = a_webhook(certificate, receiver.port)
        assert await desk.run(hook) == {"failed": 1}
        clock.advance(11)
        assert await desk.run(hook) == {"sent": 1}
    first, again = receiver.received
    assert first.headers["webhook-id"] == again.headers["webhook-id"]


async def test_no_transaction_stands_open_while_the_server_thinks(desk: Desk) -> None:
    alarm = desk.alarm()
    seen: list[tuple[Any, ...]] = []

    class Looks:
        async def tell(self, _event: str, /, **_told: Any) -> None:
            seen.extend(
                desk.rows(
                    "select pid, query from pg_stat_activity where usename = 'jobs_worker' and"
                    " datname = current_database() and state like 'idle in transaction%%' and pid <> %s",
                    0,
                )
            )
            desk.people.connection.execute("select 1 from jobs.alarms where id = %s for update nowait", (alarm,))

    assert await desk.run(Looks()) == {"sent": 1}
    assert seen == []


async def test_a_worker_that_stops_lets_go_of_a_server_that_thinks(desk: Desk) -> None:
    alarm = desk.alarm()
    begun = asyncio.Event()

    class Thinks:
        async def tell(self, _event: str, /, **_told: Any) -> None:
            begun.set()
            await asyncio.Event().wait()

    running = asyncio.create_task(desk.run(Thinks()))
    await begun.wait()
    desk.stop.set()
    assert await running == {"broken_off": 1}
    assert desk.state(alarm)[:2] == ("opened", "waiting")


async def test_without_a_webhook_what_waits_is_said_once(desk: Desk) -> None:
    telling = Telling(hook=None)
    with structlog.testing.capture_logs() as logs:
        assert dict(await telling.run_once(await desk.lease())) == {}
    assert [line["event"] for line in logs] == []
    desk.alarm()
    telling = Telling(hook=None)
    with structlog.testing.capture_logs() as logs:
        for _ in range(2):
            await telling.run_once(await desk.lease())
    assert [(line["event"], line["waiting"]) for line in logs] == [("alarms-wait", 1)]
