"""Delivering notices: each once where all goes well, at least once else; growing pauses, an end, and nothing in silence."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import pytest
from structlog.testing import capture_logs

from jobservice.bootstrap.outside import delivery_of
from jobservice.delivery import Delivery, Letter, NotDelivered, delivery_from
from jobservice.settings import ProcessSettings, StartRefused
from jobservice.store import duties as rows
from jobservice.store.database import Database
from jobservice.worker.delivering import ATTEMPTS_MOST, Delivering
from jobservice.worker.fenced import Lease, take
from tests.conftest import Clock, People
from tests.delivery.servers import a_mail_server

pytestmark = pytest.mark.requirement("MONEY-14")

HOLDER = UUID(int=7)


@dataclass
class Postbox:
    """A way that keeps what it is given, or says why not."""

    letters: list[Letter] = field(default_factory=list)
    error: NotDelivered | None = None

    async def deliver(self, letter: Letter) -> None:
        """Keep it."""
        if self.error is not None:
            raise self.error
        self.letters.append(letter)


@dataclass(slots=True)
class Office:
    """The Worker's database, and what the tests ask of it."""

    database: Database
    people: People
    stop: asyncio.Event = field(default_factory=asyncio.Event)

    def notice(self, person: str = "m.ito", subject: str = "Plan lark-42 was confirmed", tenant: Any = "acme") -> UUID:
        """Leave a notice; its id."""
        row = self.people.connection.execute(
            "insert into jobs.notices (tenant, person, kind, subject, text)"
            " values (%s, %s, 'plan-confirmed', %s, 'secret text') returning id",
            (tenant, person, subject),
        ).fetchone()
        assert row is not None
        identifier: UUID = row[0]
        return identifier

    def state(self, notice: UUID) -> tuple[int, bool, bool, str | None]:
        """Attempts, whether sent, whether given up, the last failure."""
        row = self.people.connection.execute(
            "select attempts, sent_at is not null, given_up_at is not null, failure from jobs.notices where id = %s",
            (notice,),
        ).fetchone()
        assert row is not None
        return row[0], row[1], row[2], row[3]

    async def run(self, delivery: Delivery | None, **other: Any) -> dict[str, int]:
        """One run of the duty."""
        duty = Delivering(delivery=delivery, **other)
        lease = await self.lease()
        wanted = await duty.wanted(self.database, HOLDER)
        done = dict(await duty.run_once(lease))
        assert delivery is None or wanted == bool(done)
        return done

    async def lease(self) -> Lease:
        """The duty's lease, taken anew: the clock of a test goes faster than any run."""
        lease = await take(self.database, Delivering(delivery=None), HOLDER, self.stop.is_set)
        assert lease is not None
        return lease


@pytest.fixture
async def office(worker_database: Database, people: People) -> Office:
    """A Worker that knows the duty."""
    async with worker_database.transaction(None) as transaction:
        await rows.add_duty(transaction, Delivering(delivery=None).name)
    return Office(worker_database, people)


async def test_what_is_due_goes_to_each_persons_contact_once_whatever_their_tenant(office: Office) -> None:
    ids = [office.notice(), office.notice("g.fin", tenant="globex"), office.notice("k.rao", tenant=None)]
    postbox = Postbox()
    assert await office.run(postbox) == {"sent": 3}
    assert await office.run(postbox) == {}
    told = {letter.id: letter.address for letter in postbox.letters}
    assert told == dict(zip(ids, ("m.ito@example.org", "g.fin@example.org", "k.rao@example.org"), strict=True))
    assert len(postbox.letters) == 3
    assert office.state(ids[0]) == (1, True, False, None)


async def test_somebody_who_lost_their_last_role_is_still_told(office: Office) -> None:
    office.notice()
    office.people.connection.execute("delete from jobs.memberships where person = 'm.ito'")
    assert await office.run(Postbox()) == {"sent": 1}


async def test_a_real_server_takes_it_with_the_notices_id(office: Office) -> None:
    notice = office.notice()
    async with a_mail_server() as server:
        way = delivery_from(f"smtp://127.0.0.1:{server.port}/?from=jobs@example.org&starttls=none")
        assert await office.run(way) == {"sent": 1}
    assert [message["Message-ID"] for message in server.received] == [f"<notice-{notice}@example.org>"]


async def test_a_failure_is_tried_again_after_pauses_that_double_and_end_at_the_longest(
    office: Office, clock: Clock
) -> None:
    notice = office.notice()
    postbox = Postbox(error=NotDelivered("mail.test is away."))
    for pause in (30, 60, 120, 200, 200):
        assert await office.run(postbox, longest_pause=200.0) == {"failed": 1}
        clock.advance(pause - 5)
        assert await office.run(postbox) == {}
        clock.advance(5.5)
    postbox.error = None
    assert await office.run(postbox) == {"sent": 1}
    assert office.state(notice) == (6, True, False, None)


async def test_one_that_fails_does_not_keep_the_others_for_longer_than_a_run(office: Office) -> None:
    first, second = office.notice(), office.notice()
    assert await office.run(Postbox(error=NotDelivered("Not now."))) == {"failed": 1}
    assert await office.run(Postbox()) == {"sent": 1}
    assert [office.state(notice)[1] for notice in (first, second)] == [False, True]


@pytest.mark.parametrize("for_good", [True, False])
async def test_one_that_nobody_takes_is_given_up_and_said_without_what_it_says(office: Office, for_good: bool) -> None:
    notice = office.notice()
    if not for_good:
        office.people.connection.execute("update jobs.notices set attempts = %s", (ATTEMPTS_MOST - 1,))
    with capture_logs() as logs:
        assert await office.run(Postbox(error=NotDelivered("550 No.", for_good=for_good))) == {"given_up": 1}
    attempts = 1 if for_good else ATTEMPTS_MOST
    assert office.state(notice) == (attempts, False, True, "550 No.")
    assert logs == [
        {
            "event": "notice-given-up",
            "log_level": "warning",
            "notice": str(notice),
            "person": "m.ito",
            "kind": "plan-confirmed",
            "attempts": attempts,
            "reason": "550 No.",
        }
    ]
    assert await office.run(Postbox()) == {}


async def test_a_worker_that_stops_does_not_wait_for_a_server_that_hangs(office: Office, clock: Clock) -> None:
    notice = office.notice()

    class Hanging:
        async def deliver(self, letter: Letter) -> None:
            assert letter.id == notice
            office.stop.set()
            await asyncio.Event().wait()

    assert await office.run(Hanging()) == {"broken_off": 1}
    assert office.state(notice) == (1, False, False, None)
    office.stop.clear()
    clock.advance(31)
    assert await office.run(Postbox()) == {"sent": 1}


async def test_without_a_way_notices_wait_and_that_is_said_once_an_hour(office: Office) -> None:
    notice = office.notice()
    duty = Delivering(delivery=None)
    with capture_logs() as logs:
        assert await duty.wanted(office.database, HOLDER)
        await duty.run_once(await office.lease())
        assert not await duty.wanted(office.database, HOLDER)
        await duty.run_once(await office.lease())
    assert [(line["event"], line["log_level"], line["waiting"]) for line in logs] == [("notices-wait", "warning", 1)]
    assert "JOBSERVICE_DELIVERY_URL is not set" in logs[0]["reason"]
    duty.complain_every = 0.0
    with capture_logs() as logs:
        await duty.run_once(await office.lease())
    assert len(logs) == 1
    assert office.state(notice) == (0, False, False, None)


async def test_two_that_look_at_once_never_take_the_same_notice(office: Office, worker_database: Database) -> None:
    office.notice()
    async with worker_database.transaction(None) as first:
        held = await first.row("notices/take_due", first=30.0, longest=60.0)
        async with worker_database.transaction(None) as second:
            assert await second.row("notices/take_due", first=30.0, longest=60.0) is None
    assert held is not None


def test_an_address_that_cannot_be_used_stops_the_start_and_is_not_repeated() -> None:
    settings = ProcessSettings(
        database_url="x", application="a:b", deployment="x", delivery_url="smtp://jobs:s3cret@mail.test/"
    )
    assert "s3cret" not in repr(settings)
    with pytest.raises(StartRefused, match=r"^JOBSERVICE_DELIVERY_URL is not taken: It says with `from=`") as refused:
        delivery_of(settings)
    assert "s3cret" not in str(refused.value)
