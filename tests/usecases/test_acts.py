"""Acts as people meet them: the three claim modes, versions, outcomes, what an act leaves behind."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from structlog.testing import capture_logs

from jobcontract.errors import ErrorCode
from jobcontract.items import Acted, ActOrder, ChangedItem, NewAmount, NewPayee
from jobcontract.states import ItemState, OutcomeKind
from jobservice.usecases import acts, items
from tests.usecases.desk import DISPUTES, NOTES, PAYOUTS, Desk, in_days, once, payout, refused_with


async def claimed(desk: Desk, person: str = "m.ito", queue: str = PAYOUTS) -> dict[str, Any]:
    item = await desk.push(queue)
    return dict((await desk.claim(person, item["id"])).body["item"])


@pytest.mark.requirement("state-the-claim-mode")
async def test_required_only_the_live_holder_acts(desk: Desk, clock: Any) -> None:
    free = await desk.push()
    refusal = await refused_with(ErrorCode.CLAIM_REQUIRED, desk.act("m.ito", free, "reject", reason="no"))
    assert "Claim the item first" in refusal.detail
    held = (await desk.claim("m.ito", free["id"])).body["item"]
    refusal = await refused_with(ErrorCode.CLAIM_HELD, desk.act("k.rao", held, "reject", reason="no"))
    assert "Mina Ito" in refusal.detail
    clock.advance(61)
    await refused_with(ErrorCode.CLAIM_LOST, desk.act("m.ito", held, "reject", reason="no"))
    assert (await desk.detail(free["id"])).item.state is ItemState.OPEN
    assert (await desk.detail(free["id"])).acts == ()


@pytest.mark.requirement("state-the-claim-mode")
async def test_optional_anybody_acts_on_a_free_item_and_nobody_on_a_colleagues(desk: Desk, clock: Any) -> None:
    free = await desk.push(DISPUTES)
    await desk.act("m.ito", free, "note", text="looked")
    held = (await desk.claim("m.ito", free["id"])).body["item"]
    refusal = await refused_with(ErrorCode.CLAIM_HELD, desk.act("k.rao", held, "reject", reason="no"))
    assert "Mina Ito" in refusal.detail
    order = ActOrder(money_version=1, inputs={"text": "without saying which claim"})
    await refused_with(
        ErrorCode.CLAIM_REQUIRED, acts.act(desk.service, desk.actor("m.ito"), free["id"], "t.note", order, once())
    )
    await desk.act("m.ito", held, "note", text="mine")
    clock.advance(61)
    await refused_with(ErrorCode.CLAIM_LOST, desk.act("m.ito", held, "note", text="late"))
    await desk.act("k.rao", held, "reject", reason="lapsed, so free")
    detail = await desk.detail(free["id"])
    assert (detail.item.state, detail.claims[0].ending) == (ItemState.REJECTED, "lapsed")


@pytest.mark.requirement("state-the-claim-mode")
async def test_disabled_acts_race_and_the_first_wins_by_version(desk: Desk) -> None:
    item = await desk.push(NOTES)
    answers = await asyncio.gather(
        *(desk.act(person, item, "reject", reason=person) for person in ("m.ito", "k.rao") * 4), return_exceptions=True
    )
    won = [each for each in answers if not isinstance(each, BaseException)]
    lost = [each for each in answers if isinstance(each, BaseException)]
    assert len(won) == 1
    assert {getattr(each, "kind", each) for each in lost} == {ErrorCode.VERSION_CHANGED}
    assert {"field": "state", "before": "open", "after": "rejected"} in lost[0].extra["changes"]  # type: ignore[attr-defined]  # a Refusal, as said above
    assert len((await desk.detail(item["id"])).acts) == 1


async def test_an_act_that_closes_ends_the_claim_and_keeps_who_and_why(desk: Desk) -> None:
    item = await claimed(desk)
    acted = Acted.model_validate((await desk.act("m.ito", item, "reject", reason="Paid twice")).body)
    assert (acted.outcome, acted.sentence) == (OutcomeKind.DONE, "Rejected: Paid twice")
    assert (acted.item.state, acted.item.holder, acted.item.money_version) == (ItemState.REJECTED, None, 2)
    detail = await desk.detail(item["id"])
    (act,) = detail.acts
    assert (act.person.name, act.use_case, act.inputs, act.money_version) == (
        "Mina Ito",
        "t.reject",
        {"reason": "Paid twice"},
        2,
    )
    assert (detail.claims[0].ending, detail.claims[0].ended_by.id) == ("acted", "m.ito")
    row = desk.people.connection.execute(
        "select detail, reference from jobs.audit where action = 't.reject'"
    ).fetchone()
    assert (row[0]["reason"], row[1]) == ("Paid twice", "test")
    closed = acted.item.model_dump(mode="json")
    await refused_with(ErrorCode.ITEM_CLOSED, desk.claim("k.rao", item["id"]))
    await refused_with(ErrorCode.CLAIM_REQUIRED, desk.act("k.rao", closed, "note", text="late"))


async def test_a_closed_item_takes_no_further_act(desk: Desk) -> None:
    item = await desk.push(NOTES)
    closed = (await desk.act("m.ito", item, "reject", reason="no")).body["item"]
    refusal = await refused_with(ErrorCode.ITEM_CLOSED, desk.act("m.ito", closed, "note", text="late"))
    assert "rejected" in refusal.detail


async def test_setting_aside_ends_the_claim_and_the_item_comes_back_by_itself(desk: Desk, clock: Any) -> None:
    item = await claimed(desk)
    now = (await desk.detail(item["id"])).as_of
    acted = Acted.model_validate(
        (await desk.act("m.ito", item, "set-aside", until=in_days(2, now), reason="waits for an invoice")).body
    )
    assert (acted.item.state, acted.item.holder) == (ItemState.SET_ASIDE, None)
    unfit = await refused_with(ErrorCode.CLAIM_LOST, desk.act("m.ito", item, "ask-evidence", question="which invoice?"))
    assert "free again" in unfit.detail
    again = (await desk.claim("m.ito", item["id"])).body["item"]
    assert again["state"] == "set-aside"
    refusal = await refused_with(
        ErrorCode.USE_CASE_UNFIT, desk.act("m.ito", again, "ask-evidence", question="which invoice?")
    )
    assert "set-aside" in refusal.detail
    clock.advance(2 * 86_400 + 1)
    assert (await desk.detail(item["id"])).item.state is ItemState.OPEN


@pytest.mark.requirement("MONEY-7")
async def test_a_note_changes_no_version_and_keeps_the_claim(desk: Desk) -> None:
    item = await claimed(desk)
    acted = Acted.model_validate((await desk.act("m.ito", item, "note", text="rang them")).body)
    assert (acted.item.money_version, acted.item.state) == (1, ItemState.OPEN)
    assert acted.item.holder is not None


async def test_handing_over_gives_a_colleague_the_claim_under_a_raised_fence(desk: Desk) -> None:
    item = await claimed(desk)
    acted = Acted.model_validate(
        (await desk.act("m.ito", item, "hand-over", colleague="k.rao", reason="knows them")).body
    )
    assert acted.item.holder is not None
    assert (acted.item.holder.id, acted.item.fence, acted.item.money_version) == ("k.rao", 2, 1)
    newer, older = (await desk.detail(item["id"])).claims
    assert (newer.holder.id, newer.ending, older.ending, older.ended_by.id) == ("k.rao", None, "handed-over", "m.ito")
    await refused_with(ErrorCode.CLAIM_LOST, desk.act("m.ito", item, "note", text="late"))


@pytest.mark.parametrize(
    ("colleague", "why"),
    [
        ("m.ito", "That is you"),
        ("o.lind", "has no queue.claim"),
        ("g.fin", "not an active person of acme"),
        ("nobody", "not an active person of acme"),
        ("x.gone", "not an active person of acme"),
        ("n.arrow", "does not see this item"),
        ("clerk-full", "may hold 3"),
    ],
)
async def test_an_unfit_colleague_is_refused_with_the_reason(desk: Desk, colleague: str, why: str) -> None:
    desk.people.add("x.gone", "acme", "finance")
    desk.people.connection.execute("update jobs.people set active = false where id = 'x.gone'")
    desk.people.add("n.arrow", "acme", "finance", customers=["elsewhere"])
    desk.people.add("clerk-full", "acme", "finance")
    for _ in range(3):
        await claimed(desk, "clerk-full")
    item = await claimed(desk)
    refusal = await refused_with(
        ErrorCode.COLLEAGUE_UNFIT, desk.act("m.ito", item, "hand-over", colleague=colleague, reason="please")
    )
    assert why in refusal.detail
    detail = await desk.detail(item["id"])
    assert (detail.item.holder.id, detail.item.fence) == ("m.ito", 1)


async def test_a_function_stopped_while_it_waits_for_the_database_leaves_the_act_usable(
    desk: Desk, server: Any, database_name: str
) -> None:
    item = await claimed(desk)
    with server.superuser(database_name) as other, other.transaction():
        other.execute("select pg_advisory_xact_lock(hashtextextended(jsonb_build_array('acme', 'k.rao')::text, 6))")
        acted = Acted.model_validate(
            (await desk.act("m.ito", item, "hand-over", colleague="k.rao", reason="please")).body
        )
    assert (acted.outcome, acted.item.fence) == (OutcomeKind.FAILED, 1)
    assert "longer than 0.3 s" in acted.sentence
    assert (await desk.detail(item["id"])).acts[0].outcome is OutcomeKind.FAILED


async def test_handing_over_in_a_queue_without_claims_is_refused(desk: Desk) -> None:
    item = await desk.push(NOTES)
    await refused_with(
        ErrorCode.CLAIMS_DISABLED, desk.act("m.ito", item, "hand-over", colleague="k.rao", reason="please")
    )


@pytest.mark.requirement("MONEY-01")
async def test_a_stale_act_says_what_changed_with_money_by_its_own_decimals(desk: Desk) -> None:
    pushed = await desk.push(DISPUTES, payout("Y-1", 1_234, "JPY"))
    await items.change_item(
        desk.service,
        desk.actor("p.push"),
        DISPUTES,
        "Y-1",
        ChangedItem(
            money_version=1,
            title="Payout Y-1",
            amount=NewAmount(minor=1_500, currency="KWD"),
            payee=NewPayee(id="sup-1", name="A Supplier Ltd", account="DE00NWBK60161331926819"),
        ),
    )
    refusal = await refused_with(ErrorCode.VERSION_CHANGED, desk.act("m.ito", pushed, "reject", reason="no"))
    assert refusal.extra["changes"] == [
        {"field": "amount", "before": "JPY 1,234", "after": "KWD 1.500"},
        {"field": "account", "before": "…6819", "after": "…6819 (another account)"},
    ]
    assert "NWBK" not in str(refusal.extra) + refusal.detail


async def test_money_moves_only_by_plan(desk: Desk) -> None:
    item = await claimed(desk)
    refusal = await refused_with(ErrorCode.NEEDS_PLAN, desk.act("m.ito", item, "release"))
    assert "plan" in refusal.detail


async def test_wrong_inputs_are_all_named(desk: Desk) -> None:
    item = await claimed(desk)
    refusal = await refused_with(
        ErrorCode.INVALID_REQUEST, desk.act("m.ito", item, "set-aside", until="tomorrow", rason="typo")
    )
    for part in ("`rason` is not an input", "`until` is an instant", "`reason` (Reason) is required"):
        assert part in refusal.detail
    await refused_with(ErrorCode.NOT_FOUND, desk.act("m.ito", item, "fly"))


@pytest.mark.parametrize(
    ("how", "outcome", "sentence"),
    [
        ("refused", OutcomeKind.REFUSED, "The rules say no."),
        ("retry", OutcomeKind.RETRY, "Not now."),
        ("uncertain", OutcomeKind.UNCERTAIN, "Nobody knows."),
        ("raises", OutcomeKind.FAILED, "Odd went wrong in the application; nothing of it was done."),
        ("nothing", OutcomeKind.FAILED, "Odd went wrong in the application; nothing of it was done."),
        ("twice", OutcomeKind.FAILED, "Odd went wrong in the application; nothing of it was done."),
        ("hangs", OutcomeKind.FAILED, "It took longer than 0.3 s and was stopped; nothing of it was done."),
    ],
)
async def test_an_outcome_other_than_done_is_kept_without_its_effects(
    desk: Desk, how: str, outcome: OutcomeKind, sentence: str
) -> None:
    item = await claimed(desk)
    request = once("/act")
    with capture_logs() as logs:
        acted = Acted.model_validate((await desk.act("m.ito", item, "odd", how=how, request=request)).body)
    assert (acted.outcome, acted.sentence) == (outcome, sentence)
    assert (acted.item.state, acted.item.money_version) == (ItemState.OPEN, 1)
    assert acted.item.holder is not None, "the claim goes on"
    detail = await desk.detail(item["id"])
    assert [(each.outcome, each.sentence) for each in detail.acts] == [(outcome, sentence)]
    assert ("m.ito", "t.odd", outcome.value) in desk.audited()
    assert (await desk.act("m.ito", item, "odd", how=how, request=request)).replayed
    if how in ("raises", "nothing", "twice"):
        assert [each["reference"] for each in logs if each["event"] == "use-case-failed"] == ["test"]


async def test_a_refused_act_leaves_its_audit_row_and_nothing_else(desk: Desk) -> None:
    item = await desk.push()
    await refused_with(ErrorCode.PERMISSION_MISSING, desk.act("s.audit", item, "reject", reason="no"))
    await refused_with(ErrorCode.NOT_FOUND, desk.act("g.fin", item, "reject", reason="no"))
    assert desk.audited()[-2:] == [("s.audit", "t.reject", "refused"), ("g.fin", "t.reject", "refused")]
    counts = desk.people.connection.execute(
        "select (select count(*) from jobs.acts), (select row_version from jobs.items)"
    ).fetchone()
    assert counts == (0, 1)


@pytest.mark.requirement("HTTP-03")
async def test_the_same_act_sent_twice_at_once_is_one_act(desk: Desk) -> None:
    item = await claimed(desk)
    request = once("/act")
    answers = await asyncio.gather(
        *(desk.act("m.ito", item, "note", text="once", request=request) for _ in range(6)), return_exceptions=True
    )
    for each in answers:
        assert not isinstance(each, BaseException) or getattr(each, "kind", each) is ErrorCode.IDEMPOTENCY_RUNNING
    assert (await desk.act("m.ito", item, "note", text="once", request=request)).replayed
    assert len((await desk.detail(item["id"])).acts) == 1
