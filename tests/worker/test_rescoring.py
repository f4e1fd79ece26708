"""Rescoring: what time changes is scored anew at its rule's refresh; claims, versions and others' work stay untouched."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest
import structlog

from jobcontract.states import ItemState
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
from tests.usecases.desk import RECORDS, REFRESH, SCORED, URGENCY, Desk, application, payout, urgency
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
    done = dict(await duty.run_once(lease))
    assert await give_back(lease, whole=True)
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


MOVED = {"rank", "placed_xid", "row_version", "score", "score_parts", "scored_at", "rescore_at"}
"""Columns that rescoring may change while the rule stays what it is."""


@pytest.mark.requirement("show-the-score-beside-each-item")
async def test_time_passes_and_the_duty_places_an_item_anew(
    desk: Desk, duty: Rescoring, leased: Take, people: People, clock: Clock
) -> None:
    item = (await desk.push(SCORED))["id"]
    before = row(people, item)
    assert await turn(duty, leased) == {}
    assert row(people, item) == before, "nothing was due"
    clock.advance(2 * DAY)
    told = len(hints(people))
    assert await turn(duty, leased) == {"scored": 1, "placed": 1}
    after = row(people, item)
    assert {name for name in after if after[name] != before[name]} == MOVED
    assert (before["score"], after["score"], after["rank"]) == (10, 14, -14)
    assert [part["shown"] for part in after["score_parts"]] == ["GBP 12.34", "2 days old", "no proof"]
    assert after["scored_at"] - before["scored_at"] >= timedelta(days=2)
    assert after["rescore_at"] - after["scored_at"] == timedelta(seconds=REFRESH)
    assert hints(people)[told:] == [(item, before["row_version"] + 1)]
    assert people.connection.execute("select count(*) from jobs.audit where action <> 'push-item'").fetchone() == (0,)


async def test_where_nothing_that_people_see_changed_nobody_is_told(
    desk: Desk, duty: Rescoring, leased: Take, people: People, clock: Clock
) -> None:
    item = (await desk.push(SCORED))["id"]
    before, told = row(people, item), hints(people)
    clock.advance(REFRESH + 1)
    assert await turn(duty, leased) == {"scored": 1}
    after = row(people, item)
    assert {name for name in after if after[name] != before[name]} == {"scored_at", "rescore_at"}
    assert hints(people) == told


async def test_every_item_of_every_tenant_is_scored_once_a_refresh_and_each_batch_tells_once(
    desk: Desk, duty: Rescoring, leased: Take, people: People, clock: Clock, database_url: Any
) -> None:
    for number in range(5):
        await desk.push(SCORED, payout(f"A-{number}"))
    await desk.push(SCORED, payout("G-1"), by="g.push")
    clock.advance(DAY)
    with psycopg.connect(database_url("jobs_api"), autocommit=True) as listener:
        listener.execute("listen jobs_hints")
        assert await turn(duty, leased) == {"scored": 6, "placed": 6}
        told = [notification.payload for notification in listener.notifies(timeout=0.2)]
    assert sorted(told) == ["acme", "acme", "acme", "globex"], "one notification a batch of two, never one an item"
    assert await turn(duty, leased) == {}
    tenants = people.connection.execute(
        "select tenant, count(*) from jobs.items where rank = -12 group by 1 order by 1"
    )
    assert tenants.fetchall() == [("acme", 5), ("globex", 1)]


async def test_an_item_pushed_while_nothing_is_due_is_found_a_refresh_later(
    desk: Desk, duty: Rescoring, leased: Take, clock: Clock
) -> None:
    assert await turn(duty, leased) == {}, "it may look away from here on for a refresh"
    clock.advance(REFRESH / 2)
    await desk.push(SCORED)
    for seconds, done in ((REFRESH / 2 + 1, {}), (REFRESH / 2, {"scored": 1})):
        clock.advance(seconds)
        assert await turn(duty, leased) == done


@pytest.mark.requirement("MONEY-7")
async def test_a_run_between_claim_and_act_touches_neither(
    desk: Desk, duty: Rescoring, leased: Take, people: People, clock: Clock
) -> None:
    item = await desk.push(SCORED)
    clock.advance(3 * DAY)
    held = (await desk.claim("m.ito", item["id"])).body["item"]
    before = row(people, item["id"])
    assert await turn(duty, leased) == {"scored": 1, "placed": 1}
    after = row(people, item["id"])
    assert {name for name in after if after[name] != before[name]} == MOVED
    assert (after["holder"], after["fence"], after["money_version"]) == ("m.ito", held["fence"], held["money_version"])
    acted = await desk.act("m.ito", held, "reject", reason="not ours")
    assert acted.body["outcome"] == "done", "what was on the screen before the run still acts"


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


async def test_a_row_that_somebody_works_on_is_skipped_and_scored_in_the_next_run(
    desk: Desk, duty: Rescoring, leased: Take, people: People, clock: Clock, database_url: Any
) -> None:
    items = [(await desk.push(SCORED, payout(f"A-{number}")))["id"] for number in range(3)]
    clock.advance(DAY)
    with psycopg.connect(database_url("jobs_owner")) as working:
        working.execute("select 1 from jobs.items where id = %s for update", (items[0],))
        assert await turn(duty, leased) == {"scored": 2, "placed": 2}
        assert await turn(duty, leased) == {}
    assert row(people, items[0])["rank"] == -10
    assert await turn(duty, leased) == {"scored": 1, "placed": 1}


async def test_an_input_that_changed_after_it_was_read_keeps_the_score_of_its_change(
    desk: Desk, duty: Rescoring, leased: Take, people: People, clock: Clock
) -> None:
    item = (await desk.push(SCORED, payout("A-1")))["id"]
    clock.advance(DAY)
    lease = await leased(duty)
    async with lease.transaction("acme") as transaction:
        standing = await read_and_scored(transaction, duty)
    await desk.change("A-1", 1, minor=500_000)
    changed = row(people, item)
    assert changed["score"] == 62
    async with lease.transaction("acme") as transaction:
        assert await rows.rescore(transaction, lease.key, [standing]) == rows.Written(scored=0, placed=0)
    assert row(people, item) == changed


@pytest.mark.parametrize("seen", [{"money_version": 2}, {"scored_at": None}, {"id": UUID(int=1)}])
async def test_only_what_is_still_as_it_was_read_is_written(
    desk: Desk, duty: Rescoring, leased: Take, people: People, clock: Clock, seen: dict[str, Any]
) -> None:
    item = (await desk.push(SCORED))["id"]
    clock.advance(DAY)
    before = row(people, item)
    lease = await leased(duty)
    async with lease.transaction("acme") as transaction:
        read, standing = await read_and_scored(transaction, duty)
        stale = replace(read, **seen)
        assert await rows.rescore(transaction, lease.key, [(stale, standing)]) == rows.Written(scored=0, placed=0)
        assert await rows.rescore(transaction, lease.key, [(read, standing)]) == rows.Written(scored=1, placed=1)
    assert row(people, item)["rank"] == before["rank"] - 2


async def test_a_closed_item_keeps_the_score_it_was_closed_with(
    desk: Desk, duty: Rescoring, leased: Take, people: People, clock: Clock
) -> None:
    item = await desk.push(SCORED)
    held = (await desk.claim("m.ito", item["id"])).body["item"]
    await desk.act("m.ito", held, "reject", reason="not ours")
    assert row(people, item["id"])["state"] == ItemState.REJECTED
    before = row(people, item["id"])
    clock.advance(DAY)
    assert await turn(duty, leased) == {}
    assert row(people, item["id"]) == before


def with_rule(change: Callable[[Rule], Rule], function: Any = urgency) -> Rescoring:
    """The duty of a Worker that started with another record of the rule, and a function that agrees."""
    rule = change(URGENCY)
    fresh = Application("t", application.records)
    fresh.rule(rule.id, version=rule.version)(function)
    scorer = Scorer.of(replace(RECORDS, rules={rule.id: rule}), fresh)
    return Rescoring(scorer=scorer, queues=RECORDS.queues, batch=2, stretch=3)


async def test_a_new_version_of_a_rule_scores_everything_once_after_a_start(
    desk: Desk, leased: Take, people: People, clock: Clock
) -> None:
    for number in range(7):
        await desk.push(SCORED, payout(f"A-{number}", minor=100_000 * (number % 2) + 1))
    newer = with_rule(lambda rule: replace(rule, version=2))
    assert await turn(newer, leased) == {"scored": 7}
    assert await turn(newer, leased) == {}
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
    desk: Desk, leased: Take, people: People, clock: Clock
) -> None:
    for number in range(5):
        await desk.push(SCORED, payout(f"A-{number}"))

    def broken(*_: object) -> Any:
        raise KeyError("secret /path of the application")

    duty = with_rule(lambda rule: rule, broken)
    clock.advance(DAY)
    with structlog.testing.capture_logs() as logs:
        assert await turn(duty, leased) == {"scored": 5, "placed": 5}
    assert [(each["event"], each["rule"], each["faults"]) for each in logs] == [("rule-failed", "t.urgency", 5)]
    parked = people.connection.execute("select distinct score, score_failure, rank < -1000000 from jobs.items")
    assert parked.fetchall() == [(None, "t.urgency went wrong (KeyError)", True)]
    repaired = Rescoring(scorer=Scorer.of(RECORDS, application), queues=RECORDS.queues, batch=2, stretch=3)
    assert await turn(repaired, leased) == {"scored": 5, "placed": 5}, "a start tries them again, before they are due"


async def test_a_stopping_worker_ends_after_its_batch(desk: Desk, duty: Rescoring, leased: Take, clock: Clock) -> None:
    for number in range(5):
        await desk.push(SCORED, payout(f"A-{number}"))
    assert await turn(duty, leased) == {}
    clock.advance(DAY)
    answers = iter((False, *[True] * 9))
    lease = replace(await leased(duty), stopping=lambda: next(answers))
    assert await duty.run_once(lease) == {"scored": 2, "placed": 2}
