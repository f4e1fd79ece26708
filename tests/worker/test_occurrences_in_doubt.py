"""Claims in doubt: they were committed and their answer got lost, so that nobody here knows that the rows are its own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from jobcontract.errors import ErrorCode, Refusal
from jobservice.store import occurrence_leases
from jobservice.store.database import Database, Transaction
from jobservice.worker import occurrences
from tests.conftest import Clock, People
from tests.occurrence_rows import OccurrenceRows
from tests.worker.occurrences_stage import SMALL, Stage
from tests.worker.runs_stage import JOB

ONCE = replace(JOB, id="s.one", lock="s.one", attempts=1)
OTHER = replace(JOB, id="s.two", lock="s.two", attempts=1)

pytestmark = pytest.mark.requirement("treat-unavailable-schedule-stores-as-outages")


class Losing:
    """A database that commits, and whose answer gets lost `times` times."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.times = 0
        self.error: Exception = Refusal(ErrorCode.DATABASE_AWAY, "Away.")
        self.only = ""
        """Statement whose transaction it is; empty: any."""

    @asynccontextmanager
    async def transaction(self, tenant: str | None, **how: Any) -> AsyncIterator[Transaction]:
        """As the database's, and then the answer is lost."""
        names: list[str] = []
        async with self._database.transaction(tenant, **how) as transaction:
            rows = transaction.rows

            async def noted(name: str, /, **parameters: object) -> Any:
                names.append(name)
                return await rows(name, **parameters)

            transaction.rows = noted  # type: ignore[method-assign]  # a look at what is asked
            yield transaction
        if self.times and (not self.only or self.only in names):
            self.times -= 1
            raise self.error


@pytest.fixture
def losing(worker_database: Database) -> Losing:
    """The database."""
    return Losing(worker_database)


@pytest.fixture
async def stage(people: People, losing: Losing, clock: Clock) -> AsyncIterator[Stage]:
    """The stage over it."""
    stage = Stage(losing, OccurrenceRows(people.connection), clock)  # type: ignore[arg-type]  # stands for one
    yield stage
    await stage.close()


@pytest.mark.parametrize(
    "error",
    [Refusal(ErrorCode.DATABASE_AWAY, "Away."), Refusal(ErrorCode.TIMED_OUT, "Slow."), RuntimeError("Odd.")],
    ids=["away", "timed-out", "other"],
)
async def test_a_claim_whose_answer_got_lost_is_given_back_uncounted(
    stage: Stage, losing: Losing, error: Exception
) -> None:
    occurrence, work, holder = stage.rows.add(), stage.work(ONCE), stage.rows.worker()
    losing.times, losing.error, losing.only = 1, error, "occurrence_leases/claim"
    with pytest.raises(type(error)):
        await stage.take(work, holder)
    assert (stage.rows.one(occurrence)["state"], losing.times) == ("processing", 0), "committed, and nobody knows"
    (lease,) = await stage.take(work, holder)
    assert (lease.grant.id, lease.grant.fence) == (occurrence, 2)
    await work.carry(lease)
    row = stage.rows.one(occurrence)
    assert (row["state"], row["attempts"]) == ("completed", 1)
    first, second = stage.rows.attempts(occurrence)
    assert (first["ending"], first["error"], first["started_at"]) == (
        "handed-back",
        "Handed back: its Worker did not learn that it had claimed it.",
        None,
    )
    assert second["ending"] == "completed"


async def test_what_is_held_here_or_elsewhere_stays(stage: Stage, losing: Losing) -> None:
    held, work, holder, other = stage.rows.add(), stage.work(ONCE, OTHER), stage.rows.worker(), stage.rows.worker("h2")
    (lease,) = await stage.take(work, holder)
    elsewhere = stage.rows.add("s.two", lock="elsewhere")
    assert await stage.take(stage.work(OTHER), other)
    doubtful = stage.rows.add("s.two")
    losing.times, losing.only = 1, "occurrence_leases/claim"
    with pytest.raises(Refusal):
        await stage.take(work, holder)
    again = await stage.take(work, holder)
    assert {each.grant.id for each in again} == {doubtful}
    assert [stage.rows.one(each)["fence"] for each in (held, elsewhere, doubtful)] == [1, 1, 2]
    assert stage.rows.one(elsewhere)["holder"] == other
    await work.carry(lease)
    assert stage.rows.one(held)["state"] == "completed"


async def test_one_that_ran_out_in_doubt_is_excused_by_an_outage_alone(stage: Stage, losing: Losing) -> None:
    occurrence, work, holder = stage.rows.add(), stage.work(ONCE), stage.rows.worker()
    losing.times, losing.only, stage.settled = 1, "occurrence_leases/claim", False
    with pytest.raises(Refusal):
        await stage.take(work, holder)
    stage.clock.advance(31)
    (lease,) = await stage.take(work, holder)
    assert (lease.grant.id, stage.rows.one(occurrence)["attempts"]) == (occurrence, 1)


@pytest.mark.parametrize("lane", ["claimed", "taken-over"])
async def test_a_part_of_a_look_in_doubt_is_given_back_by_the_next(stage: Stage, losing: Losing, lane: str) -> None:
    """The rest of the look was well, and is begun; what is in doubt is not run by two."""
    one = replace(ONCE, attempts=3)
    work, holder = stage.work(one, SMALL) if lane == "claimed" else stage.work(one), stage.rows.worker()
    lapsed = stage.rows.add()
    if lane == "taken-over":
        assert await stage.take(stage.work(one), stage.rows.worker("h2"))
        stage.clock.advance(31)
    fine = stage.rows.add("s.small") if lane == "claimed" else stage.rows.add("s.one", lock="another")
    losing.times, losing.only = 1, "occurrence_leases/lose" if lane == "taken-over" else "occurrence_leases/claim"
    first = await stage.take(work, holder)
    assert len(first) == 1, "one part was well"
    missing = ({lapsed, fine} - {first[0].grant.id}).pop()
    fence = stage.rows.one(missing)["fence"]
    second = await stage.take(work, holder)
    assert [(each.grant.id, each.grant.fence) for each in second] == [(missing, fence + 1)]


async def test_a_lease_that_is_being_given_back_is_not_in_doubt(
    stage: Stage, losing: Losing, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its holder asks again once the database is there, and is answered."""
    occurrence, work, holder = stage.rows.add(), stage.work(ONCE, OTHER), stage.rows.worker()
    (lease,) = await stage.take(work, holder)

    async def away(*_given: Any, **_options: Any) -> Any:
        raise Refusal(ErrorCode.DATABASE_AWAY, "Away.")

    with monkeypatch.context() as patch:
        patch.setattr(occurrence_leases, "hand_back", away)
        patch.setattr(occurrence_leases, "look", away)
        with pytest.raises(Refusal):
            await work.give_back(lease)
        with pytest.raises(Refusal):
            await stage.take(work, holder)
    assert await stage.take(work, holder) == []
    assert await work.give_back(lease)
    assert (stage.rows.one(occurrence)["attempts"], stage.rows.refused()) == (0, [])


async def test_a_commit_that_comes_late_is_found_for_a_while(
    stage: Stage, losing: Losing, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server may commit what it was sent after this Worker asked what it had claimed."""
    occurrence, work, holder = stage.rows.add(due=3600), stage.work(ONCE), stage.rows.worker()
    losing.times, losing.only = 1, "occurrence_leases/look"
    with pytest.raises(Refusal):
        await stage.take(work, holder)
    assert await stage.take(work, holder) == []
    late = (
        "update jobs.occurrences set state = 'processing', holder = %s, taken_at = jobs.now(), fence = 1, attempts = 1,"
        " expires_at = jobs.now() + interval '30 seconds' where id = %s returning 1"
    )
    stage.rows.all(late, holder, occurrence)
    assert [each.grant.id for each in await stage.take(work, holder)] == [occurrence], "given back, and due"
    monkeypatch.setattr(occurrences, "DOUBT_SECONDS", 0.0)
    losing.times = 1
    stage.clock.advance(6)
    with pytest.raises(Refusal):
        await work.take(holder, 16, {})
    await work.take(holder, 16, {})
    assert work.in_doubt is None, "then it is known"
