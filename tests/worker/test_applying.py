"""Applying a confirmed plan: each item's turn once, every outcome with all that follows, an account that adds up."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from jobcontract.states import ItemState
from jobservice.application import Call, Outcome, OutwardOrder, WorkItem, done, failed, refused, retry
from tests.conftest import Clock
from tests.usecases.desk import UNCERTAIN
from tests.worker.plans_stage import SECOND, Stage, does_not_know, hangs_on, loses_after, loses_before

pytestmark = pytest.mark.requirement("confirm-bulk-money-actions-out-of-band")

ENDED = "select outcome, count(*) from jobs.audit where action = 't.release' group by 1 order by 1"


@pytest.mark.requirement("MONEY-1", "MONEY-4", "MONEY-18")
async def test_every_item_is_released_once_under_its_own_key(stage: Stage) -> None:
    plan = await stage.desk.confirmed(3)
    version = stage.item(plan)["money_version"]
    lease = await stage.apply()
    assert lease.over
    assert stage.turns(plan) == ["done"] * 3
    item, turn = stage.item(plan), stage.turn(plan)
    assert sorted(stage.bank.calls) == sorted(f"jc-{stage.item(plan, each)['id']}" for each in (1, 2, 3))
    assert (item["state"], item["money_version"], item["changed_by"]) == ("released", version + 1, "m.ito")
    assert [item[name] for name in ("holder", "taken_at", "expires_at", "plan", "plan_name")] == [None] * 5
    assert not item["held"]
    assert item["closed_at"] is not None
    assert (turn["reference"], turn["outward_key"], turn["attempts"]) == ("B-1", f"jc-{item['id']}", 1)
    assert stage.rows(
        "select person, said_by, amount_minor, currency, outward_key, reference from jobs.releases where item = %s",
        item["id"],
    ) == [("m.ito", None, 1_000, "GBP", f"jc-{item['id']}", "B-1")]
    kept = "select state, changed_by from jobs.item_versions where item = %s order by money_version desc limit 1"
    assert stage.rows(kept, item["id"]) == [("released", "m.ito")]
    assert stage.rows(ENDED) == [("done", 3)]


@pytest.mark.requirement("MONEY-4")
async def test_a_plan_ends_with_its_account(stage: Stage) -> None:
    plan = await stage.desk.confirmed(2)
    await stage.apply()
    ended = stage.plan(plan)
    assert (ended["state"], ended["holder"], ended["expires_at"]) == ("done", None, None)
    assert None not in (ended["started_at"], ended["ended_at"], ended["accounted_at"])
    assert stage.counted(plan) == [("GBP", 2_000, 2)]
    notice = "select person, subject, text from jobs.notices where kind = 'plan-done'"
    ((person, subject, text),) = stage.rows(notice)
    assert (person, subject) == ("m.ito", f"Plan {plan['name']} is done")
    assert "Planned: 2 items, GBP 20.00 out\nDone: 2 items, GBP 20.00 out" in text
    assert await stage.take() is None, "nothing is left to do for it"
    told = "select count(*) > 0 from jobs.hints where topic = %s and ref = %s"
    assert stage.rows(told, "plan", plan) == [(True,)]


async def says_refused(order: OutwardOrder) -> Outcome:
    return refused("The account is closed.")


async def says_failed(order: OutwardOrder) -> Outcome:
    return failed("Not understood.")


async def says_later(order: OutwardOrder) -> Outcome:
    return retry("Busy.", after_seconds=1)


@pytest.mark.requirement("MONEY-3", "MONEY-4", "MONEY-5")
async def test_each_outcome_leaves_item_account_and_sums_as_it_says(stage: Stage) -> None:
    plan = await stage.desk.confirmed(6)
    odd = (says_refused, says_failed, loses_after(stage.bank), loses_before, does_not_know)
    stage.bank.odd = {stage.key(plan, number): behave for number, behave in enumerate(odd, start=1)}
    await stage.apply()
    assert stage.turns(plan) == ["refused", "failed", "done", "uncertain", "uncertain", "done"]
    assert stage.plan(plan)["state"] == "done"
    assert len(stage.bank.calls) == len(set(stage.bank.calls)) == 6, "no machine calls a second time"
    assert stage.counted(plan) == [("GBP", 4_000, 4)], "what went out, or may have"
    for number in (1, 2):
        item = stage.item(plan, number)
        assert (item["state"], item["holder"], item["plan"], item["held"]) == ("open", None, None, False)
        assert item["money_version"] == stage.turn(plan, number)["money_version"]
    assert stage.turn(plan, 1)["sentence"] == "The account is closed."
    for number in (4, 5):
        item = stage.item(plan, number)
        assert (item["state"], item["holder"], item["held"]) == ("open", "m.ito", True)
        assert item["expires_at"].startswith("9999-12-31")
        assert stage.turn(plan, number)["reference"] == f"jc-{item['id']}"
    ((text,),) = stage.rows("select text from jobs.notices where kind = 'plan-done'")
    assert [line.partition(":")[0] for line in text.splitlines()[1:]] == [
        "Planned",
        "Done",
        "Refused",
        "Failed",
        "Uncertain",
    ]


@pytest.mark.requirement("MONEY-5")
async def test_an_uncertain_payout_gets_one_review_item(stage: Stage) -> None:
    plan = await stage.desk.confirmed(1)
    stage.bank.odd = {stage.key(plan): loses_before}
    stage.bank.answers = False
    await stage.apply()
    assert stage.turns(plan) == ["uncertain"]
    assert len(stage.bank.questions) == 3, "asked a few times"
    review = (
        "select queue, business_key, amount_minor, payee_id, about::text, pushed_by from jobs.items where about = %s"
    )
    item = stage.item(plan)
    assert stage.rows(review, item["id"]) == [(UNCERTAIN, None, 1_000, "sup-1", item["id"], "service")]
    assert (
        len(
            stage.rows(
                "select 1 from jobs.item_versions as v join jobs.items as i on v.item = i.id and about = %s", item["id"]
            )
        )
        == 1
    )


@pytest.mark.requirement("MONEY-4")
async def test_a_retry_waits_its_time_and_is_capped(stage: Stage, clock: Clock) -> None:
    records = stage.desk.service.records
    stage.records = replace(records, settings=replace(records.settings, plan_attempts=2))
    plan = await stage.desk.confirmed(1)
    stage.bank.odd = {stage.key(plan): says_later}
    lease = await stage.take()
    assert lease is not None
    lease.stopping = lambda: stage.turns(plan) == ["waiting"]
    await stage.carry(lease)
    item, turn = stage.item(plan), stage.turn(plan)
    assert (turn["attempts"], turn["sentence"], turn["ended_at"]) == (1, "Busy.", None)
    assert (item["held"], item["expires_at"]) == (True, stage.plan(plan)["apply_until"]), (
        "held to the end of the window"
    )
    clock.advance(2)
    await stage.apply(SECOND)
    assert stage.turns(plan) == ["failed"]
    assert stage.turn(plan)["sentence"] == "Given up after 2 attempts: Busy."
    assert stage.item(plan)["holder"] is None
    assert stage.plan(plan)["state"] == "done"


@pytest.mark.requirement("MONEY-3")
async def test_a_call_that_hangs_is_asked_about_and_never_repeated(stage: Stage) -> None:
    plan = await stage.desk.confirmed(2)
    made = asyncio.Event()
    stage.bank.odd = {stage.key(plan): hangs_on(made)}
    stage.send_seconds = 0.05
    await stage.apply()
    assert stage.turns(plan) == ["uncertain", "done"]
    assert len(stage.bank.calls) == 2


@pytest.mark.requirement("MONEY-1")
@pytest.mark.parametrize("how", ["raises", "closes", "hangs", "nothing"])
async def test_a_plain_half_that_misbehaves_has_failed_and_nothing_goes_out(stage: Stage, how: str) -> None:
    async def careless(call: Call, item: WorkItem) -> Outcome:
        if how == "raises":
            raise ZeroDivisionError("secret /path")
        if how == "closes":
            await call.close(ItemState.RESOLVED)
        if how == "hangs":
            await asyncio.Event().wait()
        return None  # type: ignore[return-value]  # what a careless application does

    stage.release = careless
    plan = await stage.desk.confirmed(1)
    await stage.apply()
    assert stage.turns(plan) == ["failed"]
    assert stage.bank.calls == []
    assert stage.item(plan)["state"] == "open"
    assert "secret" not in stage.turn(plan)["sentence"]


@pytest.mark.requirement("MONEY-3")
async def test_a_use_case_without_an_outside_half_takes_one_transaction(stage: Stage) -> None:
    seen: list[Any] = []

    async def plain(call: Call, item: WorkItem) -> Outcome:
        seen.append((call.person, item.payment.money.minor if item.payment else None))
        return done("Written.")

    stage.release, stage.outward = plain, False
    plan = await stage.desk.confirmed(2)
    await stage.apply()
    assert stage.turns(plan) == ["done", "done"]
    assert seen == [("m.ito", 1_000)] * 2
    xids = "select count(distinct t.xmin::text) from jobs.plan_items as t where t.plan = %s and t.sent_at is null"
    assert stage.rows(xids, plan) == [(2,)]
    assert stage.rows("select count(*) from jobs.releases where plan = %s", plan) == [(2,)]
