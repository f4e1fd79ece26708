"""The example's bank file through all of it: plan, Worker, engine, bank; refused once, and retried by a recovery with a code."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from examples.payments import application as example
from examples.payments import bank_files
from examples.payments.bank.outward import BankOutward, Way
from examples.payments.items import NOTES
from jobcontract.operating import RecoveryAct
from jobcontract.recoveries import RecoveryOrder
from jobservice import records
from jobservice.application import Application
from jobservice.store import duties
from jobservice.store.database import Transaction
from jobservice.usecases import recoveries
from jobservice.worker.failure_effects import FailureEffects
from jobservice.worker.fenced import FencedDuty, give_back, take
from jobservice.worker.job_proof import proven_job
from jobservice.worker.recovering import Recovering
from jobservice.worker.recovery_proof import RecoveryProof
from tests.conftest import People
from tests.engine.stage import EngineStage
from tests.examples.bank import RunningBank, bank_on_a_thread
from tests.usecases.desk import BULK, RECORDS, RELEASE_MANY, Desk, once
from tests.usecases.money_desk import KEYS, MoneyDesk, money_desk
from tests.usecases.recovery_desk import RecoveryDesk
from tests.usecases.schedule_desk import ScheduleDesk
from tests.worker.plans_stage import Stage

FILE = "payments.bank-file"
pytestmark = pytest.mark.requirement("MONEY-1", "MONEY-3", "MONEY-19", "INV-08", "INV-10")


@dataclass
class Whole:
    """People, a bank, and Workers that apply plans, carry jobs and run duties."""

    plans: Stage
    engine: EngineStage
    bank: RunningBank
    application: Application

    async def duty(self, duty: FencedDuty) -> None:
        """One run of a duty."""
        async with self.plans.database.transaction(None) as transaction:
            await duties.add_duty(transaction, duty.name)
        lease = await take(self.plans.database, duty, uuid4(), woken=True)
        assert lease is not None
        await duty.run_once(lease)
        await give_back(lease, whole=True)

    @property
    def recoveries(self) -> RecoveryDesk:
        """Where people confirm recoveries."""
        service, people = replace(self.plans.desk.service, records=self.engine.records), self.plans.desk.people
        money = MoneyDesk(service, people, self.plans.desk.numbers)
        return RecoveryDesk(money, ScheduleDesk(Desk(service, people), people.connection))

    def files(self) -> list[str | None]:
        """How each file of the bank stands."""
        return [file.get("settlement") for file in self.bank.ledger()["files"]]

    def jobs(self) -> list[dict[str, Any]]:
        """The bank files, the oldest first."""
        return self.engine.rows("select * from jobs.jobs where kind = %s order by id", FILE)


@pytest.fixture
async def whole(stage: EngineStage, people: People, tmp_path: Path) -> AsyncIterator[Whole]:
    """The desk's payouts with the example's bank file behind them."""
    known, findings = records.check(example)
    assert known is not None, findings
    together = replace(
        RECORDS,
        queues={**RECORDS.queues, NOTES: known.queues[NOTES]},
        job_kinds=known.job_kinds,
        bulk={RELEASE_MANY: replace(BULK, submits=FILE)},
    )
    with bank_on_a_thread(tmp_path / "ledger.jsonl") as bank:
        way, outward = Way(bank.url, timeout_seconds=5), BankOutward(bank.url, timeout_seconds=5)
        application = Application("payments", tmp_path)
        bank_files.register(application, way)
        stage.records, stage.steps = together, application.steps

        recoveries = RecoveryProof(KEYS.public)

        async def proof(transaction: Transaction, family: str, job: str) -> str | None:
            return await proven_job(transaction, family=family, job=job, records=together, proof=recoveries)

        stage.proof = proof
        desk = money_desk(stage.database, people)
        plans = Stage(desk=desk, database=stage.worker_database, records=together)
        plans.bank = outward  # type: ignore[assignment]  # the bank itself, in place of one in memory
        yield Whole(plans, stage, bank, application)
        await way.close()
        await outward.close()


async def test_a_plans_file_is_refused_once_retried_with_a_code_and_settled_once(whole: Whole) -> None:
    whole.bank.script({"do": "refuse", "of": "file", "reason": "Past the cut-off.", "times": 1})
    plan = await whole.plans.desk.confirmed(3)
    await whole.plans.apply()
    (job,) = whole.jobs()
    async with whole.engine.working():
        assert await whole.engine.settled(str(job["id"])) == "failed"
        (job,) = whole.jobs()
        assert job["failure_summary"] == (
            "Give it to the bank: The bank refused the file: Past the cut-off. Nothing of it is settled."
        )
        await whole.duty(FailureEffects(records=whole.engine.records, application=whole.application))
        notes = "select title, payload ->> 'left' as left from jobs.items where queue = %s order by id"
        ((note),) = whole.engine.rows(notes, NOTES)
        assert note["title"] == f"Bank file of plan {plan['name']} failed"
        desk = whole.recoveries
        order = RecoveryOrder(act=RecoveryAct.RETRY, reason="It is tomorrow", jobs=(str(job["id"]),))
        made = (await recoveries.make(desk.service, desk.actor("m.ito"), order, once())).body["recovery"]
        await desk.confirm(dict(made), "m.ito", code=desk.money.code(steps=1))
        await whole.duty(Recovering(records=whole.engine.records, deployment="test", proof=RecoveryProof(KEYS.public)))
        first, retry = whole.jobs()
        assert (retry["retry_of"], str(retry["plan"]), str(retry["recovery"])) == (first["id"], plan["id"], made["id"])
        assert await whole.engine.settled(str(retry["id"])) == "succeeded"
    assert whole.files() == ["ST-000001"]
    (first, _) = whole.jobs()
    assert (first["resolution"], first["resolved_job"]) == ("retried", retry["id"])
    keys = whole.engine.rows("select outward_key from jobs.job_steps where step = 'submit' and outward_key is not null")
    assert len({each["outward_key"] for each in keys}) == 1
    assert len(whole.engine.rows(notes, NOTES)) == 2, "what failed, and what was settled"


async def test_a_file_whose_worker_was_lost_with_its_answer_is_settled_once(whole: Whole) -> None:
    """The bank has the file and the Worker never heard: whoever takes the job asks, and sends nothing again."""
    whole.bank.script({"do": "lose-after", "of": "file", "times": 1})
    await whole.plans.desk.confirmed(2)
    await whole.plans.apply()
    (job,) = whole.jobs()
    async with whole.engine.working():
        assert await whole.engine.settled(str(job["id"])) == "succeeded"
    assert whole.files() == ["ST-000001"]
    sent = whole.bank.ledger()["deliveries"]
    assert [count for key, count in sent.items() if key.endswith("-submit")] == [1]


async def test_a_bank_file_without_a_plan_that_is_believed_moves_nothing(whole: Whole) -> None:
    plan = await whole.plans.desk.confirmed(2)
    await whole.plans.apply()
    (job,) = whole.jobs()
    whole.plans.change("update jobs.plan_items set amount_minor = amount_minor + 1 where plan = %s", plan)
    async with whole.engine.working():
        assert await whole.engine.settled(str(job["id"])) == "failed"
    (job,) = whole.jobs()
    assert "is not believed" in job["failure_summary"]
    assert whole.files() == []
