"""Runs that score anew what time changes; claims, versions and others' work stay untouched."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest

from jobcontract.states import ItemState, OccurrenceState
from jobservice.application import Application
from jobservice.rules.schedules import RESCORE, ScoresDue
from jobservice.store import scores as rows
from jobservice.store.database import Database, Transaction
from jobservice.store.items import Standing
from jobservice.store.occurrence_items import RunLease
from jobservice.usecases.scoring import Scorer
from jobservice.worker import run_scores, score_batches
from jobservice.worker.run_ending import Ending, RunLost
from tests.conftest import Clock, People
from tests.usecases.desk import RECORDS, REFRESH, SCORED, Desk, application, payout
from tests.usecases.desk import desk as new_desk
from tests.worker.runs_stage import AT, HOUR, JOB, LEASE, SECOND, RunStage

SCORES = replace(JOB, selection=ScoresDue(queue=SCORED), runs=RESCORE, batch_path=True, batch_size=2)
SCORER = Scorer.of(RECORDS, application)
DAY = 86_400.0
MOVED = {"rank", "placed_xid", "row_version", "score", "score_parts", "scored_at", "rescore_at"}
"""Columns that scoring anew may change while the rule stays what it is."""

pytestmark = pytest.mark.requirement("order-queue-items-by-score")


@dataclass(slots=True)
class Scores:
    """Pushers and clerks of the scored queue, and the schedule that scores it."""

    desk: Desk
    runs: RunStage
    people: People
    number: int = 0

    async def turn(self, tenant: str = "acme") -> int:
        """One whole run, settled; how many it scored."""
        self.number += 1
        ending = await self.runs.attempt(self.runs.due(at=AT + self.number * HOUR, tenant=tenant))
        assert ending.state is OccurrenceState.COMPLETED
        return ending.counts.done

    def row(self, item: str) -> dict[str, Any]:
        """The whole row, past the walls."""
        with self.people.connection.cursor(row_factory=psycopg.rows.dict_row) as cursor:
            found = cursor.execute("select * from jobs.items where id = %s", (item,)).fetchone()
        assert found is not None
        return found

    def hints(self) -> list[tuple[str, int]]:
        """(item, version) of every hint, oldest first."""
        return [tuple(each) for each in self.runs.rows("select ref, version from jobs.hints order by id")]


@pytest.fixture
def scores(database: Database, people: People, runs: RunStage) -> Scores:
    """Everything, with batches of two."""
    runs.schedule = SCORES
    return Scores(new_desk(database, people), runs, people)


async def read_and_scored(transaction: Transaction) -> tuple[rows.ToScore, Standing]:
    """The one item that is due, as a run read it, and its standing as a run computes it."""
    now = transaction.began_at
    (item,) = await rows.due(transaction, SCORED, until=now, after=None, batch=10)
    return item, SCORER.stand(RECORDS.queues[SCORED], item.content, item.created, now)


@pytest.mark.requirement("show-the-score-beside-each-item")
async def test_time_passes_and_a_run_places_an_item_anew(scores: Scores, clock: Clock) -> None:
    item = (await scores.desk.push(SCORED))["id"]
    before = scores.row(item)
    assert await scores.turn() == 0
    assert scores.row(item) == before, "nothing was due"
    clock.advance(2 * DAY)
    told = len(scores.hints())
    assert await scores.turn() == 1
    after = scores.row(item)
    assert {name for name in after if after[name] != before[name]} == MOVED
    assert (before["score"], after["score"], after["rank"]) == (10, 14, -14)
    assert [part["shown"] for part in after["score_parts"]] == ["GBP 12.34", "2 days old", "no proof"]
    assert after["scored_at"] - before["scored_at"] >= timedelta(days=2)
    assert after["rescore_at"] - after["scored_at"] == timedelta(seconds=REFRESH)
    assert scores.hints()[told:] == [(item, before["row_version"] + 1)]
    assert scores.runs.rows("select count(*) from jobs.audit where action <> 'push-item'") == [(0,)]
    assert scores.runs.rows("select count(*) from jobs.occurrence_items") == [(0,)]


async def test_where_nothing_that_people_see_changed_nobody_is_told(scores: Scores, clock: Clock) -> None:
    item = (await scores.desk.push(SCORED))["id"]
    before, told = scores.row(item), scores.hints()
    clock.advance(REFRESH + 1)
    assert await scores.turn() == 1
    after = scores.row(item)
    assert {name for name in after if after[name] != before[name]} == {"scored_at", "rescore_at"}
    assert scores.hints() == told


@pytest.mark.requirement("scope-occurrences-and-leases-by-tenant")
async def test_every_item_of_the_tenant_is_scored_once_and_each_batch_tells_once(
    scores: Scores, clock: Clock, database_url: Any
) -> None:
    for number in range(5):
        await scores.desk.push(SCORED, payout(f"A-{number}"))
    await scores.desk.push(SCORED, payout("G-1"), by="g.push")
    clock.advance(DAY)
    with psycopg.connect(database_url("jobs_api"), autocommit=True) as listener:
        listener.execute("listen jobs_hints")
        assert await scores.turn() == 5
        assert await scores.turn("globex") == 1
        told = [notification.payload for notification in listener.notifies(timeout=0.2)]
    assert sorted(told) == ["acme", "acme", "acme", "globex"], "one notification a batch of two, never one an item"
    assert (await scores.turn(), await scores.turn("globex")) == (0, 0)
    assert scores.runs.rows("select tenant, count(*) from jobs.items where rank = -12 group by 1 order by 1") == [
        ("acme", 5),
        ("globex", 1),
    ]


@pytest.mark.requirement("MONEY-7")
async def test_a_run_between_claim_and_act_touches_neither(scores: Scores, clock: Clock) -> None:
    item = await scores.desk.push(SCORED)
    clock.advance(3 * DAY)
    held = (await scores.desk.claim("m.ito", item["id"])).body["item"]
    before = scores.row(item["id"])
    assert await scores.turn() == 1
    after = scores.row(item["id"])
    assert {name for name in after if after[name] != before[name]} == MOVED
    assert (after["holder"], after["fence"], after["money_version"]) == ("m.ito", held["fence"], held["money_version"])
    acted = await scores.desk.act("m.ito", held, "reject", reason="not ours")
    assert acted.body["outcome"] == "done", "what was on the screen before the run still acts"


async def test_a_row_that_somebody_works_on_is_skipped_and_scored_in_the_next_run(
    scores: Scores, clock: Clock, database_url: Any
) -> None:
    items = [(await scores.desk.push(SCORED, payout(f"A-{number}")))["id"] for number in range(3)]
    clock.advance(DAY)
    with psycopg.connect(database_url("jobs_owner")) as working:
        working.execute("select 1 from jobs.items where id = %s for update", (items[0],))
        assert await scores.turn() == 2
        assert await scores.turn() == 0
    assert scores.row(items[0])["rank"] == -10
    assert await scores.turn() == 1


@pytest.mark.parametrize("seen", [{"money_version": 2}, {"scored_at": None}, {"id": UUID(int=1)}])
async def test_only_what_is_still_as_it_was_read_is_written(scores: Scores, clock: Clock, seen: dict[str, Any]) -> None:
    item = (await scores.desk.push(SCORED))["id"]
    clock.advance(DAY)
    before = scores.row(item)
    lease, taken = scores.runs.claim(scores.runs.due())
    key = RunLease(occurrence=taken.id, holder=lease.holder, fence=taken.fence)
    async with scores.runs.database.transaction("acme") as transaction:
        read, standing = await read_and_scored(transaction)
        stale = replace(read, **seen)
        nothing, one = rows.Written(scored=0, placed=0), rows.Written(scored=1, placed=1)
        assert await rows.rescore_under_run(transaction, key, [(stale, standing)]) == nothing
        assert await rows.rescore_under_run(transaction, key, [(read, standing)]) == one
    assert scores.row(item)["rank"] == before["rank"] - 2


async def test_an_input_that_changed_after_it_was_read_keeps_the_score_of_its_change(
    scores: Scores, clock: Clock
) -> None:
    item = (await scores.desk.push(SCORED, payout("A-1")))["id"]
    clock.advance(DAY)
    lease, taken = scores.runs.claim(scores.runs.due())
    key = RunLease(occurrence=taken.id, holder=lease.holder, fence=taken.fence)
    async with scores.runs.database.transaction("acme") as transaction:
        standing = await read_and_scored(transaction)
    await scores.desk.change("A-1", 1, minor=500_000)
    changed = scores.row(item)
    assert changed["score"] == 62
    async with scores.runs.database.transaction("acme") as transaction:
        assert await rows.rescore_under_run(transaction, key, [standing]) == rows.Written(scored=0, placed=0)
    assert scores.row(item) == changed


async def test_a_closed_item_keeps_the_score_it_was_closed_with(scores: Scores, clock: Clock) -> None:
    item = await scores.desk.push(SCORED)
    held = (await scores.desk.claim("m.ito", item["id"])).body["item"]
    await scores.desk.act("m.ito", held, "reject", reason="not ours")
    before = scores.row(item["id"])
    assert before["state"] == ItemState.REJECTED
    clock.advance(DAY)
    assert await scores.turn() == 0
    assert scores.row(item["id"]) == before


@pytest.mark.requirement("restrict-completion-by-fencing-value")
@pytest.mark.parametrize("lost", ["lapsed", "an old fence", "another holder's", "another tenant's"])
async def test_a_run_that_lost_its_lease_writes_no_score(scores: Scores, clock: Clock, lost: str) -> None:
    """The statement itself compares: in a transaction that was opened in good faith, too."""
    item = (await scores.desk.push(SCORED))["id"]
    clock.advance(DAY)
    before = scores.row(item)
    occurrence = scores.runs.due(tenant="globex" if lost == "another tenant's" else "acme")
    lease, taken = scores.runs.claim(occurrence)
    if lost == "lapsed":
        clock.advance(LEASE + 1)
    key = RunLease(
        occurrence=taken.id,
        holder=SECOND if lost == "another holder's" else lease.holder,
        fence=taken.fence - (lost == "an old fence"),
    )
    async with scores.runs.database.transaction("acme") as transaction:
        standing = await read_and_scored(transaction)
        assert await rows.rescore_under_run(transaction, key, [standing]) == rows.Written(scored=0, placed=0)
    assert scores.row(item) == before


@pytest.mark.requirement("restrict-completion-by-fencing-value")
async def test_a_run_that_was_frozen_between_reading_and_writing_is_refused(
    scores: Scores, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    item = (await scores.desk.push(SCORED))["id"]
    clock.advance(DAY)
    before, true_compute = scores.row(item), score_batches.compute
    occurrence = scores.runs.due()

    def freezes(*values: Any) -> Any:
        clock.advance(LEASE + 1)
        return true_compute(*values)

    monkeypatch.setattr(run_scores, "compute", freezes)
    lease, taken = scores.runs.claim(occurrence)
    with pytest.raises(RunLost):
        await scores.runs.runner().run(lease, taken)
    assert (scores.row(item), scores.runs.refusals()) == (before, [("batch", 1)])
    monkeypatch.setattr(run_scores, "compute", true_compute)
    ending: Ending = await scores.runs.attempt(occurrence, holder=SECOND)
    assert (ending.state, ending.counts.done) == (OccurrenceState.COMPLETED, 1)


async def test_a_rule_that_raises_parks_its_items_and_is_logged_once_a_run(scores: Scores, clock: Clock) -> None:
    for number in range(5):
        await scores.desk.push(SCORED, payout(f"A-{number}"))

    def broken(*_: object) -> Any:
        raise KeyError("secret /path of the application")

    clock.advance(DAY)
    runner = scores.runs.runner()
    (rule,) = application.rules
    other = Application("t", application.records)
    other.rule(rule, version=application.rules[rule].version)(broken)
    runner.application.rules.update(other.rules)
    lease, taken = scores.runs.claim(scores.runs.due())
    ending = await runner.run(lease, taken)
    assert (ending.state, ending.counts.done) == (OccurrenceState.COMPLETED, 5)
    logged = [(each["event"], each["rule"], each["faults"]) for each in scores.runs.logs]
    assert logged == [("rule-failed", "t.urgency", 5)]
    parked = scores.runs.rows("select distinct score, score_failure, rank < -1000000 from jobs.items")
    assert parked == [(None, "t.urgency went wrong (KeyError)", True)]


async def test_the_counts_of_a_run_move_with_its_scores(scores: Scores, clock: Clock) -> None:
    for number in range(5):
        await scores.desk.push(SCORED, payout(f"A-{number}"))
    clock.advance(DAY)
    occurrence = scores.runs.due()
    lease, taken = scores.runs.claim(occurrence)
    await scores.runs.runner().run(lease, taken)  # never settled
    assert scores.runs.rows("select done from jobs.occurrences where id = %s", occurrence) == [(5,)]
