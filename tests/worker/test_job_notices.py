"""Notices to requesters: each told once where all goes well, at least once else, under the same id; suppressed with a
reason; what was told or suppressed is never claimed again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

import psycopg
import pytest
from psycopg import errors

from jobcontract.job_states import NoticeState
from jobservice.delivery import Delivery, Letter, NotDelivered
from jobservice.store import job_notices as rows
from jobservice.store.database import Database
from jobservice.worker.fenced import Lease
from jobservice.worker.job_notices import ATTEMPTS_MOST, DIED, STOPPED, JobNotices
from jobservice.worker.reconciling_jobs import ReconcilingJobs
from tests.conftest import Clock, People
from tests.worker.jobs_stage import JobStage
from tests.worker.test_delivering import Postbox

pytestmark = pytest.mark.requirement("INV-11")


@dataclass
class Told:
    """A failed job of m.ito's with the notice about it."""

    stage: JobStage
    job: str

    async def run(self, delivery: Delivery | None) -> dict[str, int]:
        """One run."""
        return dict(await self.stage.run(JobNotices(delivery=delivery)))

    def notice(self) -> tuple[str, int, str | None]:
        """State, attempts, reason."""
        (notice,) = self.stage.notices(self.job)
        return notice["state"], notice["attempts"], notice["reason"]

    def attempts(self) -> list[str]:
        """What came of each attempt."""
        found = self.stage.rows("select result from jobs.job_notice_attempts order by attempt")
        return [row["result"] for row in found]


@pytest.fixture
async def told(worker_database: Database, people: People) -> Told:
    stage = JobStage(database=worker_database, people=people)
    job = await stage.quiet("one", "succeeded", "running", engine="SUCCESS")
    await stage.run(ReconcilingJobs())
    return Told(stage=stage, job=job)


async def test_an_outcome_is_told_once(told: Told) -> None:
    box, duty = Postbox(), JobNotices(delivery=Postbox())
    assert await duty.wanted(told.stage.database, UUID(int=7))
    assert await told.run(box) == {"delivered": 1}
    assert await told.run(box) == {}
    assert not await duty.wanted(told.stage.database, UUID(int=7))
    (letter,) = box.letters
    (notice,) = told.stage.notices(told.job)
    assert (letter.id, letter.address) == (notice["id"], "m.ito@example.org")
    assert (notice["state"], notice["holder"], told.attempts()) == ("delivered", None, ["Delivered."])
    for word in (told.job, told.stage.job(told.job)["failure_reference"], "Success refused", "lark-42"):
        assert word in letter.text


async def test_many_are_told_in_one_run(told: Told) -> None:
    for number in range(11):
        await told.stage.quiet(f"more-{number}", "running", engine="ERROR")
    await told.stage.run(ReconcilingJobs())
    assert await told.run(Postbox(error=NotDelivered("the server said 451"))) == {"failed": 8}, "a few, not all of them"
    told.stage.past_the_walls("update jobs.job_notices set try_at = jobs.now()")
    box = Postbox()
    assert await told.run(box) == {"delivered": 12}
    assert len({letter.id for letter in box.letters}) == 12


async def test_what_is_not_delivered_is_tried_again_after_growing_pauses_and_given_up(told: Told, clock: Clock) -> None:
    shut = Postbox(error=NotDelivered("the server said 451"))
    pauses = []
    for _ in range(5):
        assert await told.run(shut) == {"failed": 1}
        assert await told.run(shut) == {}
        row = told.stage.row("select extract(epoch from try_at - jobs.now())::integer as s from jobs.job_notices")
        pauses.append(row["s"])
        clock.advance(3_700)
    assert pauses[:4] == pytest.approx([30, 60, 120, 240], abs=5)
    told.stage.past_the_walls(f"update jobs.job_notices set attempts = {ATTEMPTS_MOST - 1}")
    assert await told.run(shut) == {"given_up": 1}
    assert told.notice() == ("given-up", ATTEMPTS_MOST, "the server said 451")
    assert told.attempts() == ["the server said 451"] * 6


async def test_what_can_never_arrive_is_given_up_at_once(told: Told) -> None:
    assert await told.run(Postbox(error=NotDelivered("no such mailbox", for_good=True))) == {"given_up": 1}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("update jobs.people set active = false where id = 'm.ito'", "sign in"),
        ("delete from jobs.memberships where person = 'm.ito'", "not of this tenant"),
        ("update jobs.people set contact = ' ' where id = 'm.ito'", "No address"),
    ],
)
async def test_who_is_not_to_be_told_is_not_and_the_reason_is_kept(told: Told, change: str, reason: str) -> None:
    told.stage.past_the_walls(change)
    box = Postbox()
    assert await told.run(box) == {"suppressed": 1}
    state, attempts, why = told.notice()
    assert (state, attempts, box.letters) == ("suppressed", 1, [])
    assert reason in (why or "")


async def test_a_worker_that_dies_while_it_delivers_leaves_it_to_the_next_under_the_same_id(
    told: Told, clock: Clock
) -> None:
    async with told.stage.database.transaction(None) as transaction:
        (claimed,) = await rows.claim(transaction, holder=UUID(int=1), lease=120.0, most=8)
    box = Postbox()
    assert await told.run(box) == {}, "it is claimed"
    clock.advance(121)
    assert await told.run(box) == {"lapsed": 1, "delivered": 1}
    assert [letter.id for letter in box.letters] == [claimed.id]
    assert told.attempts() == [DIED, "Delivered."]
    async with told.stage.database.transaction("acme") as transaction:
        kept = await rows.settle(
            transaction, claimed, holder=UUID(int=1), state=NoticeState.DUE, result="late", pause=1.0
        )
    assert not kept, "the frozen Worker's word comes too late"
    assert told.notice()[0] == "delivered"


async def test_a_claim_that_was_made_anew_shuts_out_the_one_before_of_the_same_worker(told: Told, clock: Clock) -> None:
    same = UUID(int=7)
    claims: list[rows.ClaimedNotice] = []
    for _ in range(2):
        async with told.stage.database.transaction(None) as transaction:
            await rows.lapse(transaction, result=DIED, most=8)
            claims += await rows.claim(transaction, holder=same, lease=120.0, most=8)
        clock.advance(121)
    for claimed, kept in zip(claims, (False, True), strict=True):
        async with told.stage.database.transaction("acme") as transaction:
            written = await rows.settle(
                transaction, claimed, holder=same, state=NoticeState.DELIVERED, result="Delivered."
            )
        assert written is kept
    assert told.attempts() == [DIED, "Delivered."]


async def test_a_worker_that_stops_gives_its_claim_back(told: Told) -> None:
    class Slow:
        """A server that never answers."""

        async def deliver(self, letter: Letter) -> None:  # noqa: ARG002  # whatever it is
            stop.set()
            await asyncio.Event().wait()

    stop = asyncio.Event()
    duty = JobNotices(delivery=Slow())
    lease = await told.stage.lease(duty)
    stopping = Lease(**{**{name: getattr(lease, name) for name in Lease.__slots__}, "stopping": stop.is_set})
    assert await duty.run_once(stopping) == {"broken_off": 1}
    assert (told.notice()[:2], told.attempts()) == (("due", 1), [STOPPED])


async def test_without_a_way_to_tell_notices_wait_for_an_hour_and_are_suppressed(told: Told, clock: Clock) -> None:
    assert await told.run(None) == {}
    assert told.notice()[0] == "due"
    clock.advance(3_601)
    assert await told.run(None) == {"suppressed": 1}
    assert "JOBSERVICE_DELIVERY_URL" in str(told.notice()[2])
    assert await told.run(Postbox()) == {}


@pytest.mark.parametrize("delivered", [True, False])
async def test_not_even_the_raw_role_claims_again_what_was_told_or_suppressed(
    told: Told, database_url: Callable[[str], str], delivered: bool
) -> None:
    if not delivered:
        told.stage.past_the_walls("update jobs.people set active = false")
    await told.run(Postbox())
    for claim in (
        "update jobs.job_notices set state = 'claimed', holder = gen_random_uuid(), expires_at = jobs.now(),"
        " delivered_at = null, ended_at = null",
        "update jobs.job_notices set state = 'due', delivered_at = null, ended_at = null",
        "insert into jobs.job_notices (tenant, family, job, outcome, person, subject, text)"
        " select tenant, family, job, outcome, person, subject, text from jobs.job_notices",
        "delete from jobs.job_notices",
    ):
        with (
            psycopg.connect(database_url("jobs_worker")) as connection,
            pytest.raises((errors.RestrictViolation, errors.UniqueViolation, errors.InsufficientPrivilege)),
        ):
            connection.execute(claim.encode())
    assert told.notice()[0] == ("delivered" if delivered else "suppressed")
