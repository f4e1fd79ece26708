"""Plans, codes and the money switch of the fake service mean what those of the real one mean: both run every test."""

from __future__ import annotations

from collections.abc import Awaitable

import pytest
from pydantic import SecretStr

from jobconsole.client import money, plans, queues
from jobconsole.client.errors import ServiceRefused
from jobconsole.client.plan_reading import PlanReading
from jobconsole.client.queues import new_key
from jobconsole.client.service import Service
from jobcontract.items import ActOrder
from jobcontract.plans import Plan
from jobcontract.states import Exclusion, ItemState, PlanSort, PlanState, Turn
from tests.client.stage import AUDITOR, FIRST, OPERATOR, SECOND, Stage

PAYOUTS, DISPUTES, COMMAND = "payments.payouts", "payments.disputes", "payments.release-many"
NOWHERE = "00000000-0000-4000-8000-000000000000"
WRONG = SecretStr("000000")
PREVIEW = pytest.mark.requirement("show-a-preview-before-bulk-money-actions", "MONEY-6")
CONFIRMING = pytest.mark.requirement("confirm-bulk-money-actions-out-of-band", "MONEY-13")


async def four(stage: Stage) -> list[str]:
    """Four payouts: two of pounds that go out, a credit, one of yen."""
    return [
        await stage.add(PAYOUTS, "Aspire Care", minor=9_000, days_old=9),
        await stage.add(PAYOUTS, "Booker Food", minor=5_616, days_old=7),
        await stage.add(PAYOUTS, "Plant Hire", minor=-1_545, days_old=5),
        await stage.add(PAYOUTS, "Kyoto Tea", minor=500, days_old=2, currency="JPY"),
    ]


async def made(service: Service, items: list[str] | None = None) -> Plan:
    """A plan of these items, or of all that wait."""
    filter_text = "" if items is None else None
    return await plans.make(service, PAYOUTS, COMMAND, new_key(), items=items, filter=filter_text)


async def confirmed(stage: Stage, service: Service, plan: Plan) -> Plan:
    """The plan, read to its digest and confirmed by its owner."""
    digest = await PlanReading(service, plan).run()
    return await plans.confirm(service, plan.id, digest, stage.code(FIRST), new_key())


async def refusal(call: Awaitable[object]) -> ServiceRefused:
    """With what the call is refused."""
    with pytest.raises(ServiceRefused) as caught:
        await call
    assert caught.value.sentence
    return caught.value


async def refused(call: Awaitable[object]) -> str:
    """The code with which the call is refused."""
    return (await refusal(call)).code


@PREVIEW
async def test_a_plan_holds_what_is_free_and_says_what_it_leaves_out(stage: Stage) -> None:
    ids = await four(stage)
    service, other = stage.sign_in(FIRST), stage.sign_in(SECOND)
    held = await stage.add(PAYOUTS, "Held", minor=1, days_old=1)
    await queues.claim(other, held, new_key())
    mine = await queues.claim(service, ids[0], new_key())
    assert mine.item is not None
    plan = await made(service, [*ids, held, NOWHERE])
    assert (plan.state, plan.edition, plan.count, plan.payees, plan.owner.id) == (PlanState.OPEN, 1, 4, 4, "m.ito")
    assert (plan.command, plan.queue, plan.filter, plan.to_answer, plan.account) == (COMMAND, PAYOUTS, None, 0, ())
    totals = [
        (row.currency, row.exponent, row.out_minor, row.out_count, row.back_minor, row.back_count, row.net_minor)
        for row in plan.totals
    ]
    assert totals == [("GBP", 2, 14_616, 2, 1_545, 1, 13_071), ("JPY", 0, 500, 1, 0, 0, 500)]
    assert [(row.amount.minor, row.payee.name) for row in plan.largest] == [(9_000, "Aspire Care"), (500, "Kyoto Tea")]
    assert [(row.reason, row.count) for row in plan.excluded] == [(Exclusion.UNKNOWN, 1), (Exclusion.HELD, 1)]
    out = (await plans.exclusions(service, plan.id)).items
    assert [(row.item, row.reason, row.amount and row.amount.minor) for row in out] == [
        (NOWHERE, Exclusion.UNKNOWN, None),
        (held, Exclusion.HELD, 1),
    ]
    assert (out[1].who and out[1].who.id) == "k.rao"
    item = (await queues.item(other, ids[0])).item
    assert (item.plan and (item.plan.name, item.plan.held), item.holder and item.holder.id) == (
        (plan.name, False),
        "m.ito",
    )
    assert item.fence > mine.item.fence
    assert await refused(queues.claim(other, ids[1], new_key())) == "claim-held"
    assert await refused(queues.release_claim(service, ids[0], item.fence, new_key())) == "in-plan"
    again = await refusal(made(service, [ids[0]]))
    assert again.code == "plan-empty"
    assert again.extra["excluded"] == [{"reason": "in-plan", "count": 1}]


@PREVIEW
async def test_rows_are_listed_searched_and_add_up_to_a_digest(stage: Stage) -> None:
    await four(stage)
    service, auditor = stage.sign_in(FIRST), stage.sign_in(AUDITOR)
    plan = await made(service)
    assert (plan.count, plan.filter) == (4, "")
    first = await plans.items(auditor, plan.id, limit=3)
    rest = await plans.items(auditor, plan.id, limit=3, cursor=first.next)
    rows = [*first.items, *rest.items]
    assert ([row.number for row in rows], rest.next, first.matching) == ([1, 2, 3, 4], None, 4)
    assert [row.item for row in rows] == sorted(row.item for row in rows)
    assert {(row.turn, row.attempts, row.ended_at, len(row.account_mark)) for row in rows} == {
        (Turn.NOT_STARTED, 0, None, 64)
    }
    found = await plans.items(auditor, plan.id, search="care aspire")
    assert ([row.title for row in found.items], found.matching) == (["Aspire Care"], 1)
    amounts = [row.amount.minor for row in (await plans.items(auditor, plan.id, sort=PlanSort.AMOUNT)).items]
    assert amounts == [9_000, 5_616, -1_545, 500]
    names = [row.payee.name for row in (await plans.items(auditor, plan.id, sort=PlanSort.PAYEE)).items]
    assert names == sorted(names)
    assert (await plans.items(auditor, plan.id, turn=Turn.DONE)).items == ()
    digests = {await PlanReading(who, plan, page=2).run() for who in (service, auditor)}
    assert len(digests) == 1
    warnings = [row async for row in plans.every_warning(auditor, plan.id)]
    assert len(warnings) == plan.warnings > 0
    assert {row.must_answer for row in warnings} == {False}
    file = (await plans.export(auditor, plan.id)).decode("utf-8-sig").splitlines()
    assert len(file) == 5
    assert file[0].split(",")[5:] == [
        *("amount", "currency", "payee", "payee id", "account", "warnings"),
        *("turn", "attempts", "sentence", "reference", "ended"),
    ]
    assert await refused(plans.items(auditor, plan.id, cursor="nonsense")) == "cursor-invalid"


@PREVIEW
async def test_making_is_refused_in_words(stage: Stage) -> None:
    ids = await four(stage)
    service = stage.sign_in(FIRST)
    for part in (AUDITOR, OPERATOR):
        assert await refused(made(stage.sign_in(part), ids)) == "permission-missing", part
    assert await refused(plans.make(service, PAYOUTS, "payments.none", new_key(), items=ids)) == "not-found"
    assert await refused(plans.make(service, DISPUTES, COMMAND, new_key(), items=ids)) == "not-found"
    assert await refused(plans.make(service, PAYOUTS, COMMAND, new_key(), filter="surprise:1")) == "filter-invalid"
    assert await refused(plans.make(service, PAYOUTS, COMMAND, new_key(), filter="currency:EUR")) == "plan-empty"
    assert await refused(plans.plan(service, NOWHERE)) == "not-found"
    key = new_key()
    one = await plans.make(service, PAYOUTS, COMMAND, key, items=ids[:1])
    assert (await plans.make(service, PAYOUTS, COMMAND, key, items=ids[:1])).id == one.id
    assert await refused(plans.make(service, PAYOUTS, COMMAND, key, items=ids[1:])) == "idempotency-key-reused"
    for item in ids[1:3]:
        await made(service, [item])
    assert await refused(made(service, ids[3:])) == "plans-max"
    listed = await plans.plans(service, mine=True, live=True)
    assert (len(listed.plans), listed.plans[-1].id) == (3, one.id)
    assert (await plans.plans(stage.sign_in(SECOND), mine=True)).plans == ()
    assert (await plans.find(service, one.name)).id == (await plans.find(service, one.id)).id == one.id


@PREVIEW
async def test_taking_out_freezes_anew_and_dropping_gives_back(stage: Stage) -> None:
    ids = await four(stage)
    service, other = stage.sign_in(FIRST), stage.sign_in(SECOND)
    plan = await made(service, ids)
    before = await PlanReading(service, plan).run()
    stage.advance(1)
    assert await refused(plans.take_out(other, plan.id, ids[:1], new_key())) == "permission-missing"
    assert await refused(plans.take_out(service, plan.id, [NOWHERE], new_key())) == "not-found"
    assert await refused(plans.take_out(service, plan.id, ids, new_key())) == "plan-empty"
    left = await plans.take_out(service, plan.id, ids[:1], new_key())
    assert (left.name, left.edition, left.count) == (plan.name, plan.edition + 1, 3)
    assert left.frozen_at > plan.frozen_at
    assert left.expires_at > plan.expires_at
    assert [(row.reason, row.count) for row in left.excluded] == [(Exclusion.TAKEN_OUT, 1)]
    assert await PlanReading(service, left).run() != before
    assert await refused(plans.confirm(service, plan.id, before, stage.code(FIRST), new_key())) == "plan-digest"
    assert (await queues.claim(other, ids[0], new_key())).item is not None
    warning = (await plans.warnings(service, plan.id)).warnings[0]
    assert await refused(plans.keep_in(service, plan.id, NOWHERE, "known", new_key())) == "not-found"
    await plans.keep_in(service, plan.id, warning.id, "known for years", new_key())
    answered = {row.id: row.answer for row in (await plans.warnings(service, plan.id)).warnings}
    assert answered[warning.id] == "known for years"
    assert await refused(plans.drop(other, plan.id, new_key())) == "permission-missing"
    assert (await plans.drop(service, plan.id, new_key())).state is PlanState.DROPPED
    assert await refused(plans.drop(service, plan.id, new_key())) == "plan-state"
    item = (await queues.item(service, ids[1])).item
    assert (item.plan, item.holder) == (None, None)


@PREVIEW
async def test_a_plan_that_nobody_confirms_in_time_gives_back_what_it_took(stage: Stage) -> None:
    ids = await four(stage)
    service = stage.sign_in(FIRST)
    plan = await made(service, ids)
    digest = await PlanReading(service, plan).run()
    stage.advance(901)
    assert await refused(plans.confirm(service, plan.id, digest, stage.code(FIRST), new_key())) == "plan-state"
    item = (await queues.item(service, ids[0])).item
    assert (item.plan, item.holder) == (None, None)
    assert (await made(stage.sign_in(SECOND), ids)).count == 4


@CONFIRMING
async def test_confirming_takes_the_owner_the_digest_and_a_code_that_is_right_once(stage: Stage) -> None:
    ids = await four(stage)
    service, other = stage.sign_in(FIRST), stage.sign_in(SECOND)
    plan = await made(service, ids[:2])
    digest = await PlanReading(service, plan).run()
    assert (await money.code_standing(service)).tries_left == 5
    for part in (AUDITOR, OPERATOR, SECOND):
        call = plans.confirm(stage.sign_in(part), plan.id, digest, stage.code(FIRST), new_key())
        assert await refused(call) == "permission-missing", part
    wrong = await refusal(plans.confirm(service, plan.id, digest, WRONG, new_key()))
    assert (wrong.code, wrong.extra["tries_left"], wrong.extra["locked_until"]) == ("code-wrong", 4, None)
    assert await refused(plans.confirm(service, plan.id, digest, None, new_key())) == "code-wrong"
    assert await refused(plans.confirm(service, plan.id, digest, SecretStr("12345"), new_key())) == "invalid-request"
    assert (await money.code_standing(service)).tries_left == 4
    code, key = stage.code(FIRST), new_key()
    done = await plans.confirm(service, plan.id, digest, code, key)
    assert (done.state, done.edition, done.confirmed_at is not None) == (PlanState.APPLYING, plan.edition, True)
    assert [(row.turn, row.count) for row in done.account] == [(Turn.NOT_STARTED, 2)]
    assert (await plans.confirm(service, plan.id, digest, WRONG, key)).confirmed_at == done.confirmed_at
    assert (await money.code_standing(service)).tries_left == 5
    assert await refused(plans.confirm(service, plan.id, digest, stage.code(FIRST), new_key())) == "plan-state"
    second = await made(service, ids[2:])
    used = plans.confirm(service, second.id, await PlanReading(service, second).run(), code, new_key())
    assert await refused(used) == "code-used"
    held = (await queues.item(service, ids[0])).item
    assert (held.plan and held.plan.held, held.holder and held.holder.id) == (True, "m.ito")
    assert await refused(queues.claim(other, ids[0], new_key())) == "in-plan"
    assert await refused(queues.break_claim(other, ids[0], held.fence, "mine", new_key())) == "in-plan"
    assert await refused(queues.release_claim(service, ids[0], held.fence, new_key())) == "in-plan"
    assert await refused(plans.take_out(service, plan.id, ids[:1], new_key())) == "plan-state"
    assert (await refusal(made(other, ids[:2]))).extra["excluded"] == [{"reason": "in-plan", "count": 2}]
    reading = PlanReading(service, done)
    assert await reading.run() == digest


@CONFIRMING
async def test_what_changed_meanwhile_is_named_before_and_after(stage: Stage) -> None:
    ids = await four(stage)
    service, other = stage.sign_in(FIRST), stage.sign_in(SECOND)
    plan = await made(service, ids[:3])
    digest = await PlanReading(service, plan).run()
    number = {row.item: row.number for row in (await plans.items(service, plan.id)).items}
    item = (await queues.item(service, ids[0])).item
    order = ActOrder(money_version=item.money_version, fence=item.fence, inputs={"reason": "paid by hand"})
    await queues.act(service, ids[0], "payments.reject", order, new_key())
    broken = (await queues.item(other, ids[1])).item
    await queues.break_claim(other, ids[1], broken.fence, "it is mine", new_key())
    refusal_ = await refusal(plans.confirm(service, plan.id, digest, stage.code(FIRST), new_key()))
    assert refusal_.code == "plan-changed"
    changed = refusal_.plan_changes
    assert {(row.item, row.number) for row in changed} == {(each, number[each]) for each in ids[:2]}
    claim = next(row for row in changed if row.item == ids[1])
    assert (claim.field, claim.before) == ("claim", "the plan's")
    assert "held by" in claim.after
    assert (await plans.plan(service, plan.id)).state is PlanState.OPEN


@CONFIRMING
async def test_five_wrong_codes_lock_and_a_right_one_is_then_refused(stage: Stage) -> None:
    ids = await four(stage)
    service = stage.sign_in(FIRST)
    plan = await made(service, ids)
    digest = await PlanReading(service, plan).run()
    left = []
    for _ in range(5):
        wrong = await refusal(plans.confirm(service, plan.id, digest, WRONG, new_key()))
        left.append((wrong.code, wrong.extra["tries_left"]))
    assert left == [("code-wrong", tries) for tries in (4, 3, 2, 1, 0)]
    standing = await money.code_standing(service)
    assert (standing.tries_left, standing.locked_until is not None, standing.locked_for_good) == (0, True, False)
    locked = await refusal(plans.confirm(service, plan.id, digest, stage.code(FIRST), new_key()))
    assert (locked.code, locked.extra["locked_until"] is not None) == ("code-locked", True)
    assert (await money.code_standing(stage.sign_in(SECOND))).tries_left == 5
    assert await refused(money.code_standing(stage.sign_in(OPERATOR))) == "permission-missing"


@pytest.mark.requirement("confirm-bulk-money-actions-out-of-band", "MONEY-20")
async def test_pausing_takes_a_reason_resuming_a_code_and_aborting_gives_back(stage: Stage) -> None:
    ids = await four(stage)
    service, watcher = stage.sign_in(FIRST), stage.sign_in(OPERATOR)
    plan = await made(service, ids)
    assert await refused(plans.pause(watcher, plan.id, "odd", new_key())) == "plan-state"
    assert await refused(plans.abort(watcher, plan.id, "odd", new_key())) == "plan-state"
    await confirmed(stage, service, plan)
    assert await refused(plans.pause(stage.sign_in(AUDITOR), plan.id, "odd", new_key())) == "permission-missing"
    paused = await plans.pause(watcher, plan.id, "an odd amount", new_key())
    assert (paused.state, paused.reason, paused.ended_by and paused.ended_by.id) == (
        PlanState.PAUSED,
        "an odd amount",
        "o.lind",
    )
    assert (await plans.pause(service, plan.id, "me too", new_key())).reason == "an odd amount"
    assert await refused(plans.resume(watcher, plan.id, stage.code(FIRST), new_key())) == "permission-missing"
    assert await refused(plans.resume(service, plan.id, WRONG, new_key())) == "code-wrong"
    resumed = await plans.resume(stage.sign_in(SECOND), plan.id, stage.code(SECOND), new_key())
    assert resumed.state is PlanState.APPLYING
    assert await refused(plans.resume(service, plan.id, stage.code(FIRST), new_key())) == "plan-state"
    aborted = await plans.abort(watcher, plan.id, "the wrong month", new_key())
    assert (aborted.state, aborted.reason) == (PlanState.ABORTED, "the wrong month")
    assert (await plans.abort(service, plan.id, "again", new_key())).reason == "the wrong month"
    item = (await queues.item(service, ids[0])).item
    assert (item.state, item.plan, item.holder) == (ItemState.OPEN, None, None)


@pytest.mark.requirement("confirm-bulk-money-actions-out-of-band", "MONEY-20")
async def test_money_is_stopped_by_those_who_watch_and_started_by_another_person(stage: Stage) -> None:
    ids = await four(stage)
    service, watcher, auditor = stage.sign_in(FIRST), stage.sign_in(OPERATOR), stage.sign_in(AUDITOR)
    plan = await made(service, ids)
    digest = await PlanReading(service, plan).run()
    assert ((await money.money(auditor)).stopped, (await money.money(auditor)).uncertain) == (None, 0)
    assert await refused(money.stop_money(auditor, "odd", new_key())) == "permission-missing"
    stopped = (await money.stop_money(watcher, "a strange account", new_key())).stopped
    assert stopped is not None
    assert (stopped.reason, stopped.by and stopped.by.id) == ("a strange account", "o.lind")
    again = (await money.stop_money(service, "me too", new_key())).stopped
    assert (again and again.reason) == "a strange account"
    assert await refused(plans.confirm(service, plan.id, digest, stage.code(FIRST), new_key())) == "money-stopped"
    assert await refused(money.start_money(watcher, "fine", stage.code(FIRST), new_key())) == "permission-missing"
    assert await refused(money.start_money(service, "fine", WRONG, new_key())) == "code-wrong"
    assert (await money.start_money(service, "fine", stage.code(FIRST), new_key())).stopped is None
    assert (await money.start_money(service, "fine", WRONG, new_key())).stopped is None
    await money.stop_money(service, "once more", new_key())
    assert await refused(money.start_money(service, "fine", stage.code(FIRST), new_key())) == "permission-missing"
    other = stage.sign_in(SECOND)
    assert (await money.start_money(other, "fine", stage.code(SECOND), new_key())).stopped is None
    await confirmed(stage, service, plan)
    sums = {row.currency: (row.day_count, row.day_minor) for row in (await money.money(auditor)).released}
    assert sums == {"GBP": (2, 14_616), "JPY": (1, 500)}


@pytest.mark.requirement("MONEY-5")
async def test_only_an_uncertain_payout_is_ended_by_a_person(stage: Stage) -> None:
    ids = await four(stage)
    service = stage.sign_in(FIRST)
    item = (await queues.claim(service, ids[0], new_key())).item
    assert item is not None
    paid = money.was_paid(service, ids[0], item.fence, "B-1", "seen at the bank", new_key())
    assert await refused(paid) == "use-case-unfit"
    not_paid = money.was_not_paid(service, ids[0], item.fence, "nothing there", stage.code(FIRST), new_key())
    assert await refused(not_paid) == "use-case-unfit"
    watcher = stage.sign_in(OPERATOR)
    denied = money.was_paid(watcher, ids[0], item.fence, "B-1", "seen at the bank", new_key())
    assert await refused(denied) == "permission-missing"
