"""Ending an uncertain payout: the claim, whose code, what is kept for the Worker, and that it happens once."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.items import ActOrder
from jobservice.usecases import acts
from tests.conftest import Clock
from tests.usecases.desk import once, refused_with
from tests.usecases.money_desk import WRONG, MoneyDesk

pytestmark = pytest.mark.requirement("MONEY-5")
EVIDENCE = "select item::text, source, person, outcome, reference, sentence from jobs.plan_evidence"


async def test_was_paid_keeps_what_the_person_says_and_resolves_the_review(money: MoneyDesk) -> None:
    plan = await money.confirmed()
    payout, review = await money.review(plan)
    body = (await money.was_paid(review)).body
    assert (body["item"], body["turn"]) == (payout, "done")
    assert body["sentence"] == (
        "Kiran Rao said that it was paid: It is on the statement. The service writes it down within moments."
    )
    assert money.rows(EVIDENCE) == [
        (payout, "person", "k.rao", "done", "BANK-7", "Kiran Rao said that it was paid: It is on the statement")
    ]
    stands = money.rows("select state, holder, closed_at is not null from jobs.items where id = %s", review["id"])
    assert stands == [("resolved", None, True)]
    assert money.rows("select turn from jobs.plan_items where number = 1") == [("uncertain",)], "the Worker writes it"
    assert money.rows("select ending from jobs.claims where item = %s", review["id"]) == [("acted",)]
    assert ("k.rao", "was-paid", "done") in money.audited()
    history = (await money.detail(review["id"])).acts
    assert [(each.use_case, each.inputs["reference"]) for each in history] == [("was-paid", "BANK-7")]


async def test_was_not_paid_takes_the_code_of_another_person_than_the_owner(money: MoneyDesk) -> None:
    plan = await money.confirmed()
    payout, review = await money.review(plan)
    await refused_with(ErrorCode.CODE_WRONG, money.was_not_paid(review, code=WRONG))
    assert money.rows(EVIDENCE) == []
    assert (await money.was_not_paid(review)).body["turn"] == "failed"
    assert [row[:5] for row in money.rows(EVIDENCE)] == [(payout, "person", "k.rao", "failed", None)]


async def test_the_owner_does_not_say_that_it_was_not_paid_and_no_code_is_judged(money: MoneyDesk) -> None:
    _, review = await money.review(await money.confirmed(), "m.ito")
    await refused_with(ErrorCode.PERMISSION_MISSING, money.was_not_paid(review, "m.ito", WRONG))
    assert money.rows("select count(*) from jobs.code_failures") == [(0,)]
    assert (await money.was_paid(review, "m.ito")).body["turn"] == "done"


@pytest.mark.parametrize("end", ["was_paid", "was_not_paid"])
async def test_only_the_holder_of_the_review_item_answers(money: MoneyDesk, clock: Clock, end: str) -> None:
    _, review = await money.review(await money.confirmed(), "k.rao")
    answer = getattr(money, end)
    refusal = await refused_with(ErrorCode.CLAIM_LOST, answer({**review, "fence": review["fence"] + 1}))
    assert "Claim 2 has ended" in refusal.detail
    await refused_with(
        ErrorCode.PERMISSION_MISSING, answer(review, "o.lind", *([WRONG] if end == "was_not_paid" else []))
    )
    clock.advance(3_600)
    await refused_with(ErrorCode.CLAIM_LOST, answer(review))
    assert money.rows(EVIDENCE) == []


async def test_a_payout_is_answered_for_once(money: MoneyDesk) -> None:
    _, review = await money.review(await money.confirmed())
    ended = await asyncio.gather(*(money.was_paid(review) for _ in range(5)), return_exceptions=True)
    kinds = [each.kind for each in ended if isinstance(each, Refusal)]
    assert kinds == [ErrorCode.ITEM_CLOSED] * 4
    await refused_with(ErrorCode.ITEM_CLOSED, money.was_not_paid(review, code=WRONG))
    assert len(money.rows(EVIDENCE)) == 1
    assert money.rows("select count(*) from jobs.code_failures") == [(0,)]


async def test_what_the_worker_settled_meanwhile_is_not_answered(money: MoneyDesk) -> None:
    _, review = await money.review(await money.confirmed())
    money.people.connection.execute("update jobs.plan_items set turn = 'done' where turn = 'uncertain'")
    refusal = await refused_with(ErrorCode.USE_CASE_UNFIT, money.was_paid(review))
    assert refusal.detail == "The payout is not uncertain any more: its turn is done."


async def test_an_item_that_asks_about_no_payout_is_not_ended_so(money: MoneyDesk) -> None:
    item = await money.push()
    claimed: dict[str, Any] = dict((await money.claim("k.rao", item["id"])).body["item"])
    await refused_with(ErrorCode.USE_CASE_UNFIT, money.was_paid(claimed))
    await refused_with(ErrorCode.NOT_FOUND, money.was_paid(claimed, "g.fin"))


async def test_a_review_item_is_neither_planned_nor_released(money: MoneyDesk) -> None:
    plan = await money.confirmed()
    payout, review = await money.review(plan)
    refusal = await refused_with(ErrorCode.PLAN_EMPTY, money.plan([review["id"], payout], "k.rao"))
    reasons: Any = refusal.extra["excluded"]
    assert {each["reason"] for each in reasons} == {"unknown", "in-plan"}
    order = ActOrder(money_version=review["money_version"], fence=review["fence"])
    await refused_with(
        ErrorCode.NEEDS_PLAN, acts.act(money.service, money.actor("k.rao"), review["id"], "t.release", order, once())
    )


@pytest.mark.parametrize(("verb", "inputs"), [("reject", {"reason": "Tidied away"}), ("odd", {"how": "closes"})])
async def test_no_other_act_closes_the_question_whether_it_was_paid(
    money: MoneyDesk, verb: str, inputs: dict[str, Any]
) -> None:
    _, review = await money.review(await money.confirmed())
    refusal = await refused_with(ErrorCode.USE_CASE_UNFIT, money.act("k.rao", review, verb, **inputs))
    assert "only the answer, was paid or was not paid, closes it" in refusal.detail
    assert money.rows("select state, holder from jobs.items where id = %s", review["id"]) == [("open", "k.rao")]
    assert ("k.rao", f"t.{verb}", "refused") in money.audited()
    await money.act("k.rao", review, "note", text="Asked the bank")
    assert (await money.was_paid(review)).body["turn"] == "done"
