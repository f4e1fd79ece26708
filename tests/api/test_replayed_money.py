"""A morning whose payouts found the bank closed, replayed over HTTP to its end: people confirm, the Worker's duties carry
the recoveries out, and the payout is applied by the plan that holds it."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import Any
from uuid import UUID

import pytest

from jobcontract.states import OccurrenceState
from jobservice.application import Outcome, OutwardOrder, retry
from jobservice.store.database import Database
from jobservice.store.occurrence_leases import Runnable
from jobservice.worker.recovering import Recovering
from jobservice.worker.recovery_proof import RecoveryProof
from jobservice.worker.run_confirmed import proof_by
from tests.api.conftest import Api, MakeApp, key_header, problem_of
from tests.conftest import Clock, People
from tests.occurrence_rows import Holder, completed
from tests.usecases.money_desk import KEYS
from tests.usecases.recovery_desk import MONEY, NIGHTLY, SINCE, UNTIL, RecoveryDesk, recovery_desk
from tests.worker.plans_stage import SECOND, Stage
from tests.worker.runs_stage import RunStage

STRETCH = {"act": "replay", "reason": "The bank was away", "since": SINCE.isoformat(), "until": UNTIL.isoformat()}


async def says_closed(order: OutwardOrder) -> Outcome:
    """The bank has not opened yet."""
    return retry("Closed.", after_seconds=3_600.0)


async def waiting(stage: Stage) -> dict[str, Any]:
    """A confirmed plan whose payout waits for an hour."""
    plan = await stage.desk.confirmed(1)
    stage.bank.odd = {stage.key(plan): says_closed}
    lease = await stage.take()
    assert lease is not None
    lease.stopping = lambda: stage.turns(plan) == ["waiting"]
    await stage.carry(lease)
    stage.bank.odd.clear()
    assert (stage.turns(plan), stage.bank.booked) == (["waiting"], {})
    return plan


async def ordered(api: Api, person: str, path: str, body: dict[str, Any]) -> Any:
    """An acting request of its own."""
    return await (await api.of(person)).post(path, json=body, headers=key_header())


async def confirmed(api: Api, desk: RecoveryDesk, person: str, code: str | None) -> dict[str, Any]:
    """A recovery of the stretch that its person confirmed."""
    made = (await ordered(api, person, "/v1/recoveries", STRETCH)).json()["recovery"]
    path, body = f"/v1/recoveries/{made['id']}/confirm", {"digest": desk.digest(made)}
    if code is not None:
        problem_of(await ordered(api, person, path, body), 409, "code-wrong")
        body["code"] = code
    answer = await ordered(api, person, path, body)
    assert answer.json()["recovery"]["state"] == "applying", answer.text
    return dict(made)


@pytest.mark.requirement("MONEY-1", "MONEY-19", "audit-manual-replay", "provide-operational-recovery-procedures")
async def test_a_stretch_is_replayed_by_both_to_its_end_and_its_payout_paid_by_its_plan(
    make_app: MakeApp,
    database: Database,
    worker_database: Database,
    people: People,
    clock: Clock,
    stack: AsyncExitStack,
) -> None:
    desk = recovery_desk(database, people)
    desk.planned()
    api = Api(app=make_app(service=desk.service), people=people, stack=stack)
    stage = Stage(desk=desk.money, database=worker_database)
    plan, money, plain = await waiting(stage), desk.dead(MONEY, done=0, failed=0), desk.dead()
    clock.advance(60)  # the phone shows another code
    theirs = await confirmed(api, desk, "o.lind", None)
    mine = await confirmed(api, desk, "m.ito", desk.money.code())
    assert (theirs["left_out"], theirs["count"]) == ([{"reason": "money", "count": 1}], 1)
    assert (mine["left_out"], mine["count"]) == ([{"reason": "in-recovery", "count": 1}], 1)
    assert (mine["confirm_by"], theirs["confirm_by"]) == ("totp", None)

    duty = Recovering(records=desk.service.records, deployment="test", proof=RecoveryProof(KEYS.public))
    assert await stage.run_duty(duty) == {"begun": 2}
    holder = Holder(database=worker_database, runnable=Runnable(everywhere=(NIGHTLY,)))
    await holder.settle(*[completed(each) for each in await holder.take(most=5)])
    runs = RunStage(people=people, database=worker_database, schedule=desk.service.records.schedules[MONEY])
    lease, taken = runs.claim(UUID(money))
    runner = runs.runner()
    runner.proof = proof_by(RecoveryProof(KEYS.public))
    ending = await runner.run(lease, taken)
    runs.settle(taken.id, ending)
    assert (ending.state, ending.counts.done, stage.bank.booked) == (OccurrenceState.COMPLETED, 1, {})

    await stage.apply(SECOND)  # an hour before the bank would have been asked again
    assert (stage.turns(plan), stage.plan(plan)["state"], len(stage.bank.booked)) == (["done"], "done", 1)
    assert await stage.run_duty(duty) == {"settled": 2, "finished": 2}
    for person, recovery, occurrence in (("o.lind", theirs, plain), ("m.ito", mine, money)):
        shown = (await (await api.of(person)).get(f"/v1/recoveries/{recovery['id']}")).json()["recovery"]
        assert (shown["state"], [(each["turn"], each["count"]) for each in shown["account"]]) == ("done", [("done", 1)])
        assert desk.rows(
            "select person, recovery::text from jobs.occurrence_replays where occurrence = %s", occurrence
        ) == [(person, recovery["id"])]
