"""Confirming a plan: the order in which it is refused, what it leaves, and that it happens once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.plans import PlanOrder
from jobcontract.states import PlanState, Role
from jobservice.rules.keys import Signature
from jobservice.usecases import plans as plan_making
from jobservice.usecases.actor import Actor
from tests.conftest import Clock
from tests.usecases.desk import SETTINGS, once, refused_with
from tests.usecases.money_desk import KEYS, WRONG, MoneyDesk

pytestmark = [
    pytest.mark.requirement("MONEY-13"),
    pytest.mark.requirement("confirm-bulk-money-actions-out-of-band"),
]
NOTHING = (0, 0, 0, 0, 0)
WAITING = "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"


@dataclass(slots=True)
class Attempt:
    """A confirmation to be made, with what is wrong about it."""

    desk: MoneyDesk
    plan: dict[str, Any]
    person: str = "m.ito"
    digest: str | None = None
    code: str = ""

    async def make(self) -> Any:
        return await self.desk.confirm(self.plan, person=self.person, digest=self.digest, code=self.code)


async def _not_the_owner(attempt: Attempt) -> None:
    attempt.person = "k.rao"


async def _expired(attempt: Attempt) -> None:
    attempt.desk.people.connection.execute("update jobs.plans set valid_until = jobs.now()")


async def _another_digest(attempt: Attempt) -> None:
    attempt.digest = "0" * 64


async def _changed(attempt: Attempt) -> None:
    await attempt.desk.change("K-1", 1, queue="t.payouts", minor=999, inputs={"invoice": "INV-1"})


async def _unanswered(attempt: Attempt) -> None:
    attempt.desk.people.connection.execute(
        "insert into jobs.plan_warnings (plan, item, tenant, kind, place, sentence, amount_rank, must_answer)"
        " select plan, item, tenant, 'negative', 1, 'Odd.', 0, true from jobs.plan_items where number = 1"
    )


async def _past_a_limit(attempt: Attempt) -> None:
    attempt.desk = attempt.desk.with_limits(item={"GBP": 1})


async def _stopped(attempt: Attempt) -> None:
    await attempt.desk.stop()


async def _locked(attempt: Attempt) -> None:
    attempt.desk.people.connection.execute("update jobs.codes set locked_until = jobs.now() + interval '1 minute'")


async def _wrong_code(attempt: Attempt) -> None:
    attempt.code = WRONG


FAULTS: tuple[tuple[ErrorCode, Callable[[Attempt], Awaitable[None]]], ...] = (
    (ErrorCode.PERMISSION_MISSING, _not_the_owner),
    (ErrorCode.PLAN_STATE, _expired),
    (ErrorCode.PLAN_DIGEST, _another_digest),
    (ErrorCode.PLAN_CHANGED, _changed),
    (ErrorCode.PLAN_UNANSWERED, _unanswered),
    (ErrorCode.LIMIT_EXCEEDED, _past_a_limit),
    (ErrorCode.MONEY_STOPPED, _stopped),
    (ErrorCode.CODE_LOCKED, _locked),
    (ErrorCode.CODE_WRONG, _wrong_code),
)
UNJUDGED = {ErrorCode.PERMISSION_MISSING, ErrorCode.PLAN_STATE}


@pytest.mark.parametrize("first", range(len(FAULTS)), ids=[kind.code for kind, _ in FAULTS])
async def test_of_all_that_is_wrong_the_first_is_named_and_nothing_moves(money: MoneyDesk, first: int) -> None:
    attempt = Attempt(money, await money.plan(await money.pushed(2)))
    kind = FAULTS[first][0]
    for _, fault in FAULTS[first:]:
        await fault(attempt)
    await refused_with(kind, attempt.make())
    assert money.moved() == NOTHING
    counted = money.rows("select count(*) from jobs.code_failures")
    assert counted == [(0 if kind in UNJUDGED else 1,)], "a code is judged only where its person may confirm the plan"


@pytest.mark.parametrize("fault", [_changed, _past_a_limit, _stopped, _another_digest])
async def test_a_refused_plan_does_not_tell_whether_the_code_was_right(
    money: MoneyDesk, fault: Callable[[Attempt], Awaitable[None]]
) -> None:
    attempt = Attempt(money, await money.plan(await money.pushed(1)))
    await fault(attempt)
    said = []
    for attempt.code in (WRONG, money.code(), money.code()):
        with pytest.raises(Refusal) as caught:
            await attempt.make()
        said.append((caught.value.kind, caught.value.detail, dict(caught.value.extra)))
    assert said[0] == said[1] == said[2]
    assert money.spent() > 0, "a right code is spent, even where the act is refused"


@pytest.mark.requirement("MONEY-18", "MONEY-10", "MONEY-19")
async def test_a_confirmed_plan_holds_its_items_counts_what_goes_out_and_is_signed(money: MoneyDesk) -> None:
    items = [*await money.pushed(2, minor=1_500), *await money.pushed(1, minor=-400)]
    before = money.rows("select id::text, fence from jobs.items order by id")
    plan = await money.plan(items)
    body = (await money.confirm(plan)).body
    assert (body["state"], body["armed_until"], body["count"]) == ("applying", None, 3)
    assert [(each["turn"], each["count"]) for each in body["account"]] == [("not-started", 3)]
    row = money.rows(
        "select confirmed_at, apply_until, signing_key, signature, digest, version from jobs.plans where id = %s",
        plan["id"],
    )[0]
    assert row[1] - row[0] == timedelta(seconds=money.service.records.settings.plan_window)
    signature = Signature(key_id=row[2], signature=bytes(row[3]))
    assert KEYS.public().verify(plan["id"], bytes(row[4]), signature)
    assert body["version"] == row[5] > plan["version"]
    held = money.rows("select id::text, held, plan::text, holder, expires_at, fence from jobs.items order by id")
    assert [(each[0], *each[1:5]) for each in held] == [(item, True, plan["id"], "m.ito", row[1]) for item, _ in before]
    assert [each[5] for each in held] == [fence + 2 for _, fence in before], "claimed by the plan, then held by it"
    assert money.rows("select fence from jobs.plan_items order by item") == [(each[5],) for each in held]
    assert money.rows("select person, currency, gross_minor, count, at = %s, single from jobs.outgoings", row[0]) == [
        ("m.ito", "GBP", 3_000, 2, True, False)
    ]


@pytest.mark.requirement("MONEY-14")
async def test_the_person_is_told_outside_the_console(money: MoneyDesk) -> None:
    plan = await money.plan([*await money.pushed(1, minor=1_500), *await money.pushed(1, minor=-400)])
    await money.confirm(plan)
    ((person, kind, subject, text, about),) = money.rows("select person, kind, subject, text, about from jobs.notices")
    assert (person, kind, about) == ("m.ito", "plan-confirmed", plan["id"])
    assert subject == f"You confirmed {plan['name']}: 2 items, GBP 15.00"
    assert "GBP 15.00 to A Supplier Ltd" in text
    assert "jobconsole money stop" in text
    assert "6819" not in text, "no part of an account leaves by mail"


@pytest.mark.requirement("MONEY-31")
async def test_the_trail_says_what_was_confirmed_and_never_the_code(money: MoneyDesk) -> None:
    plan = await money.plan(await money.pushed(2))
    code = money.code()
    await money.confirm(plan, code=code)
    ((detail,),) = money.rows("select detail from jobs.audit where action = 'confirm-plan' and outcome = 'done'")
    assert (detail["count"], detail["code"], detail["digest"]) == (2, "totp", money.digest(plan)[:16])
    assert detail["totals"][0]["out_minor"] == 2_000
    kept = money.rows("select detail::text from jobs.audit") + money.rows(
        "select answer::text from jobs.idempotency_keys"
    )
    assert not [text for (text,) in kept if code in text]
    topics = {tuple(row) for row in money.rows("select topic, ref from jobs.hints")}
    assert {("plan", plan["id"]), ("items", "t.payouts")} <= topics


@pytest.mark.requirement("MONEY-14")
async def test_from_a_stated_gross_on_the_plan_is_armed_before_it_starts(money: MoneyDesk) -> None:
    armed = money.with_command(armed_above={"GBP": 2_000}, armed_seconds=600.0)
    body = (await armed.confirm(await armed.plan(await armed.pushed(2)))).body
    assert body["state"] == "armed"
    ((waits,),) = money.rows("select armed_until - confirmed_at from jobs.plans")
    assert waits == timedelta(seconds=600)


@pytest.mark.requirement("HTTP-03", "MONEY-32")
async def test_the_same_key_again_gives_the_first_answer_and_burns_no_code(money: MoneyDesk, clock: Clock) -> None:
    plan, request = await money.plan(await money.pushed(1)), once()
    first = await money.confirm(plan, request=request)
    spent = money.spent()
    clock.advance(60)
    again = await money.confirm(plan, request=request)
    assert (again.replayed, again.body) == (True, first.body)
    assert money.spent() == spent


@pytest.mark.requirement("OTP-01", "MONEY-14")
async def test_a_code_confirms_one_plan(money: MoneyDesk) -> None:
    one, two = await money.plan(await money.pushed(1)), await money.plan(await money.pushed(1))
    code = money.code()
    await money.confirm(one, code=code)
    await refused_with(ErrorCode.CODE_USED, money.confirm(two, code=code))
    assert money.moved()[0] == 1


@pytest.mark.requirement("MONEY-14")
async def test_a_code_of_before_the_plan_was_frozen_is_refused_and_spent(money: MoneyDesk, clock: Clock) -> None:
    clock.advance(30 - money.now().timestamp() % 30)  # to the beginning of a step
    code = money.code()
    clock.advance(30)
    refusal = await refused_with(ErrorCode.CODE_USED, money.confirm(await money.plan(await money.pushed(1)), code=code))
    assert refusal.detail == "That code is older than what it should confirm. Wait for the next one."
    assert money.spent() > 0
    assert money.moved() == NOTHING


async def test_an_item_that_changed_is_told_before_and_now(money: MoneyDesk) -> None:
    plan = await money.plan(await money.pushed(3))
    await money.change("K-2", 1, queue="t.payouts", minor=1_200, inputs={"invoice": "INV-1"})
    refusal = await refused_with(ErrorCode.PLAN_CHANGED, money.confirm(plan))
    assert refusal.extra["count"] == 1
    told: Any = refusal.extra["changes"]
    (change,) = told
    assert (change["field"], change["before"], change["after"]) == ("amount", "GBP 10.00", "GBP 12.00")
    assert "amount: GBP 10.00 → GBP 12.00" in refusal.detail


@pytest.mark.requirement("MONEY-18")
async def test_an_item_that_a_colleague_took_over_is_told(money: MoneyDesk) -> None:
    (item,) = await money.pushed(1)
    plan = await money.plan([item])
    ((fence,),) = money.rows("select fence from jobs.items")
    await money.take_from("k.rao", item, fence)
    refusal = await refused_with(ErrorCode.PLAN_CHANGED, money.confirm(plan))
    assert "claim: the plan's → held by Kiran Rao" in refusal.detail


@pytest.mark.requirement("MONEY-12")
@pytest.mark.parametrize(
    ("column", "words"), [("pushed_by", "pushed by"), ("payment_changed_by", "payment changed by")]
)
async def test_who_pushed_or_changed_a_payment_does_not_confirm_it(money: MoneyDesk, column: str, words: str) -> None:
    plan = await money.plan(await money.pushed(1))
    money.people.connection.execute(f"update jobs.items set {column} = 'm.ito'")
    refusal = await refused_with(ErrorCode.PLAN_CHANGED, money.confirm(plan))
    assert f"{words}: another person → the plan's owner" in refusal.detail


@pytest.mark.requirement("MONEY-12")
async def test_a_pusher_who_is_finance_later_releases_nothing_that_they_pushed(money: MoneyDesk) -> None:
    (item,) = await money.pushed(1)
    later = Actor(person="p.push", tenant="acme", role=Role.FINANCE)
    refusal = await refused_with(ErrorCode.PLAN_EMPTY, _plan_as(money, later, item))
    assert refusal.extra["excluded"] == [{"reason": "pushed-by-owner", "count": 1}]


async def _plan_as(money: MoneyDesk, actor: Actor, item: str) -> Any:
    order = PlanOrder(command="t.release-many", items=(item,))
    return await plan_making.make(money.service, actor, "t.payouts", order, once())


@pytest.mark.requirement("MONEY-2")
async def test_the_setting_frees_single_releases_up_to_a_count_and_a_gross(money: MoneyDesk) -> None:
    one, two, both = await money.pushed(1), await money.pushed(1), await money.pushed(2)
    plans = [await money.plan(one), await money.plan(two), await money.plan(both)]
    await refused_with(ErrorCode.CODE_WRONG, money.confirm(plans[0], code=None))
    assert money.moved() == NOTHING, "it ships as zero"
    free = money.with_command(free_count=1, free_gross={"GBP": 10_000})
    await refused_with(ErrorCode.CODE_WRONG, free.confirm(plans[2], code=None))
    assert (await free.confirm(plans[0], code=None)).body["state"] == "applying"
    assert money.rows("select single, count from jobs.outgoings") == [(True, 1)]
    await refused_with(ErrorCode.CODE_WRONG, free.confirm(plans[1], code=None))
    ((text,),) = money.rows("select text from jobs.notices")
    assert "no code" in text


@pytest.mark.requirement("MONEY-10")
async def test_what_went_out_in_24_hours_counts_plans_and_singles_together(money: MoneyDesk, clock: Clock) -> None:
    tight = money.with_limits(person={"GBP": 2_500})
    await tight.confirm(await tight.plan(await tight.pushed(2)))
    clock.advance(60)
    refusal = await refused_with(ErrorCode.LIMIT_EXCEEDED, tight.confirm(await tight.plan(await tight.pushed(1))))
    assert refusal.detail.startswith(
        "You released GBP 20.00 in the last 24 hours; with this plan it would be GBP 30.00"
    )
    assert (refusal.extra["limit"], refusal.extra["used"], refusal.extra["most"]) == ("person", 2_000, 2_500)
    clock.advance(86_400 + SETTINGS.plan_window)  # nothing of them can have left later
    assert (await tight.confirm(await tight.plan(await tight.pushed(1)))).body["state"] == "applying"


@pytest.mark.requirement("MONEY-10")
async def test_two_people_cannot_pass_the_limit_of_an_account_together(money: MoneyDesk) -> None:
    tight = money.with_limits(account={"GBP": 1_500})
    plans = {person: await tight.plan(await tight.pushed(1), person) for person in ("m.ito", "k.rao")}
    ended = await asyncio.gather(
        *(tight.confirm(plan, person=person) for person, plan in plans.items()), return_exceptions=True
    )
    refusals = [each for each in ended if isinstance(each, Refusal)]
    assert [refusal.kind for refusal in refusals] == [ErrorCode.LIMIT_EXCEEDED]
    assert money.rows("select sum(gross_minor)::int from jobs.outgoings") == [(1_000,)]


@pytest.mark.requirement("BULK-04", "MONEY-13")
@pytest.mark.parametrize("keys", ["equal", "different"])
async def test_of_many_confirmations_at_once_one_is_carried_out(money: MoneyDesk, keys: str) -> None:
    plan, code, request = await money.plan(await money.pushed(3)), money.code(), once()
    ended = await asyncio.gather(
        *(money.confirm(plan, code=code, request=request if keys == "equal" else None) for _ in range(12)),
        return_exceptions=True,
    )
    done = [each for each in ended if not isinstance(each, BaseException)]
    assert [each.body["state"] for each in done if not each.replayed] == ["applying"]
    assert all(each.body["id"] == plan["id"] for each in done)
    expected = {ErrorCode.PLAN_STATE, ErrorCode.CODE_USED, ErrorCode.CODE_LOCKED, ErrorCode.IDEMPOTENCY_RUNNING}
    others = [each for each in ended if isinstance(each, BaseException)]
    assert {each.kind for each in others if isinstance(each, Refusal)} <= expected
    assert all(isinstance(each, Refusal) for each in others), others
    assert money.moved() == (1, 3, 1, 0, 0)
    assert money.rows("select sum(gross_minor)::int, sum(count)::int from jobs.outgoings") == [(3_000, 3)]


@pytest.mark.requirement("BULK-04")
async def test_one_code_confirms_one_of_several_plans_at_once(money: MoneyDesk) -> None:
    plans = [await money.plan(await money.pushed(2)) for _ in range(3)]
    code = money.code()
    ended = await asyncio.gather(
        *(money.confirm(plan, code=code) for plan in plans for _ in range(3)), return_exceptions=True
    )
    assert len([each for each in ended if not isinstance(each, BaseException)]) == 1
    assert money.moved()[:2] == (1, 2)


async def test_a_plan_of_another_state_says_which_and_what_it_is(money: MoneyDesk, clock: Clock) -> None:
    plan = await money.confirmed()
    clock.advance(30)
    refusal = await refused_with(ErrorCode.PLAN_STATE, money.confirm(plan))
    assert refusal.extra == {"plan": plan["id"], "name": plan["name"], "state": PlanState.APPLYING}
    assert refusal.detail == f"Plan {plan['name']} is confirmed already, and is being applied."


@pytest.mark.requirement("MONEY-30")
async def test_items_are_compared_after_the_wait_for_their_locks(money: MoneyDesk, database_url: Any) -> None:
    plan = await money.plan(await money.pushed(2))
    with psycopg.connect(database_url("jobs_owner")) as other:
        other.execute("update jobs.items set amount_minor = 1, money_version = 2 where business_key = 'K-1'")
        confirming = asyncio.create_task(money.confirm(plan))
        while not money.rows(WAITING):  # noqa: ASYNC110 - what is waited for is seen in the database alone
            await asyncio.sleep(0.01)
        other.commit()
    refusal = await refused_with(ErrorCode.PLAN_CHANGED, confirming)
    assert "GBP 10.00 → GBP 0.01" in refusal.detail


async def test_a_foreign_plan_is_unknown(money: MoneyDesk) -> None:
    plan = await money.plan(await money.pushed(1))
    await refused_with(ErrorCode.NOT_FOUND, money.confirm(plan, person="g.fin"))
