"""The look after a start: what another rule or version scored is scored anew, once; what time changes is not its work."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

import psycopg
import pytest
import structlog

from jobservice.application import Application
from jobservice.rules.queues import Queue
from jobservice.rules.scores import Rule
from jobservice.store import duties as duty_rows
from jobservice.store import scores as rows
from jobservice.store.database import Database, Transaction
from jobservice.store.items import Standing
from jobservice.usecases.scoring import Scorer
from jobservice.worker.fenced import Lease, LeaseLost, give_back, take
from jobservice.worker.rescoring import Rescoring
from tests.conftest import Clock, People
from tests.usecases.desk import RECORDS, SCORED, URGENCY, Desk, application, payout, urgency
from tests.usecases.desk import desk as new_desk

Superuser = psycopg.Connection[Any]
FIRST, SECOND = UUID(int=7), UUID(int=8)
DAY = 86_400.0
Take = Callable[..., Awaitable[Lease]]

pytestmark = pytest.mark.requirement("order-queue-items-by-score")


@pytest.fixture
def desk(database: Database, people: People) -> Desk:
    """Pushers and clerks of the scored queue."""
    return new_desk(database, people)


@pytest.fixture
def duty() -> Rescoring:
    """The duty as a Worker has just started it, with small batches."""
    return Rescoring(scorer=Scorer.of(RECORDS, application), queues=RECORDS.queues, batch=2, stretch=3)


@pytest.fixture
async def leased(worker_database: Database) -> Take:
    """A lease of the duty, taken now."""
    async with worker_database.transaction(None) as transaction:
        await duty_rows.add_duty(transaction, "rescoring")

    async def taken(duty: Rescoring, holder: UUID = FIRST) -> Lease:
        lease = await take(worker_database, replace(duty, every=0.0), holder)
        assert lease is not None
        return lease

    return taken


async def turn(duty: Rescoring, leased: Take) -> dict[str, int]:
    """One whole run under a lease of its own; what it did."""
    lease = await leased(duty)
    wanted = await duty.wanted(lease.database, FIRST)
    done = dict(await duty.run_once(lease))
    assert await give_back(lease, whole=True)
    assert wanted or not done
    return done


def row(people: People, item: str) -> dict[str, Any]:
    """The whole row, past the walls."""
    with people.connection.cursor(row_factory=psycopg.rows.dict_row) as cursor:
        found = cursor.execute("select * from jobs.items where id = %s", (item,)).fetchone()
    assert found is not None
    return found


def hints(people: People) -> list[tuple[str, int]]:
    """(item, version) of every hint, oldest first."""
    return [tuple(each) for each in people.connection.execute("select ref, version from jobs.hints order by id")]


async def read_and_scored(transaction: Transaction, duty: Rescoring) -> tuple[rows.ToScore, Standing]:
    """The one item that is due, as the duty read it, and its standing as the duty computes it."""
    now = transaction.began_at
    (item,) = await rows.due(transaction, SCORED, until=now, after=None, batch=10)
    return item, duty.scorer.stand(RECORDS.queues[SCORED], item.content, item.created, now)


async def test_what_time_alone_changes_is_left_to_the_runs_of_a_schedule(
    desk: Desk, duty: Rescoring, leased: Take, people: People, clock: Clock
) -> None:
    item = (await desk.push(SCORED))["id"]
    before = row(people, item)
    for _ in range(2):
        clock.advance(DAY)
        assert await turn(duty, leased) == {}
    assert row(people, item) == before


@pytest.mark.parametrize("lost", ["lapsed", "taken over", "another holder's", "an old fence"])
async def test_a_duty_that_lost_its_lease_writes_nothing(
    desk: Desk, duty: Rescoring, leased: Take, people: People, clock: Clock, lost: str
) -> None:
    item = (await desk.push(SCORED))["id"]
    clock.advance(DAY)
    lease = await leased(duty)
    if lost in ("lapsed", "taken over"):
        clock.advance(duty.lease + 1)
    if lost == "taken over":
        await leased(duty, SECOND)
    before = row(people, item)
    if lost in ("lapsed", "taken over"):
        with pytest.raises(LeaseLost):
            await duty.run_once(lease)
    else:  # the statement itself is fenced: even inside a transaction that was opened in good faith
        stale = {**lease.key, "fence": lease.fence - 1} if lost == "an old fence" else {**lease.key, "holder": SECOND}
        async with lease.transaction("acme") as transaction:
            standing = await read_and_scored(transaction, duty)
            assert await rows.rescore(transaction, stale, [standing]) == rows.Written(scored=0, placed=0)
    assert row(people, item) == before


def with_rule(change: Callable[[Rule], Rule], function: Any = urgency) -> Rescoring:
    """The duty of a Worker that started with another record of the rule, and a function that agrees."""
    rule = change(URGENCY)
    fresh = Application("t", application.records)
    fresh.rule(rule.id, version=rule.version)(function)
    scorer = Scorer.of(replace(RECORDS, rules={rule.id: rule}), fresh)
    return Rescoring(scorer=scorer, queues=RECORDS.queues, batch=2, stretch=3)


async def test_a_new_version_of_a_rule_scores_everything_once_after_a_start(
    desk: Desk, leased: Take, people: People, worker_database: Database, clock: Clock
) -> None:
    for number in range(7):
        await desk.push(SCORED, payout(f"A-{number}", minor=100_000 * (number % 2) + 1))
    newer = with_rule(lambda rule: replace(rule, version=2))
    assert await turn(newer, leased) == {"scored": 7}
    assert await turn(newer, leased) == {}
    assert not await newer.wanted(worker_database, FIRST)
    assert people.connection.execute("select distinct score_version from jobs.items").fetchall() == [(2,)]
    assert len(hints(people)) == 14, "each push, and each item whose version people see"


async def test_items_of_before_and_of_a_queue_without_its_rule_are_found_after_a_start(
    desk: Desk, duty: Rescoring, leased: Take, people: People, database_url: Any
) -> None:
    unscored = Queue(**{name: getattr(RECORDS.queues[SCORED], name) for name in Queue.__slots__} | {"score": None})
    before = Desk(replace(desk.service, records=replace(RECORDS, queues={**RECORDS.queues, SCORED: unscored})), people)
    items = [(await before.push(SCORED, payout(f"A-{number}")))["id"] for number in range(5)]
    assert row(people, items[0])["score_rule"] is None
    with psycopg.connect(database_url("jobs_owner")) as working:
        working.execute("select 1 from jobs.items where id = %s for update", (items[1],))
        assert await turn(duty, leased) == {"scored": 4, "placed": 4}
        assert await turn(duty, leased) == {}
    assert await turn(duty, leased) == {"scored": 1, "placed": 1}, "what was left out is looked for again"
    assert people.connection.execute("select distinct rank, score from jobs.items").fetchall() == [(-10, 10)]
    ruleless = Rescoring(scorer=duty.scorer, queues={SCORED: unscored}, batch=2, stretch=3)
    assert await turn(ruleless, leased) == {"scored": 5, "placed": 5}
    left = people.connection.execute("select distinct rank, score, score_rule, rescore_at, scored_at from jobs.items")
    assert left.fetchall() == [(0, None, None, None, None)]


async def test_a_rule_that_raises_parks_its_items_and_is_logged_once_a_run(
    desk: Desk, leased: Take, people: People
) -> None:
    for number in range(5):
        await desk.push(SCORED, payout(f"A-{number}"))

    def broken(*_: object) -> Any:
        raise KeyError("secret /path of the application")

    duty = with_rule(lambda rule: replace(rule, version=2), broken)
    with structlog.testing.capture_logs() as logs:
        assert await turn(duty, leased) == {"scored": 5, "placed": 5}
    assert [(each["event"], each["rule"], each["faults"]) for each in logs] == [("rule-failed", "t.urgency", 5)]
    parked = people.connection.execute("select distinct score, score_failure, rank < -1000000 from jobs.items")
    assert parked.fetchall() == [(None, "t.urgency went wrong (KeyError)", True)]
    repaired = with_rule(lambda rule: replace(rule, version=2))
    assert await turn(repaired, leased) == {"scored": 5, "placed": 5}, "a start tries them again, before they are due"


async def test_a_stopping_worker_ends_after_its_batch(desk: Desk, leased: Take) -> None:
    for number in range(5):
        await desk.push(SCORED, payout(f"A-{number}", minor=100_000))
    newer = replace(with_rule(lambda rule: replace(rule, version=2)), queues={SCORED: RECORDS.queues[SCORED]})
    answers = iter((False, False, *[True] * 9))
    lease = replace(await leased(newer), stopping=lambda: next(answers))
    assert await newer.run_once(lease) == {"scored": 2}
    assert await give_back(lease, whole=True)
    assert await turn(newer, leased) == {"scored": 3}, "the next look goes on"
