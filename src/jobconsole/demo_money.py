"""Owns the second act of the headless walk: many payouts released at once, with everything that may go wrong on the way.

Each outcome is compared with what it must be, at the end to the cent and with the bank's own ledger. Uses the functions
of `client/` that screens and twins use; what happens around the console is `demo_backstage`'s.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from pydantic import SecretStr

from jobconsole.client import money, plans
from jobconsole.client import queues as client
from jobconsole.client.errors import ServiceRefused
from jobconsole.client.plan_reading import PlanReading
from jobconsole.client.plans import Confirming
from jobconsole.client.service import Service
from jobconsole.demo_backstage import Backstage
from jobconsole.demo_desk import FIRST, OPERATOR, QUEUE, SECOND, TRIES, Desk, Differs, held, must, refused
from jobcontract.errors import ErrorCode
from jobcontract.items import Item
from jobcontract.money import CurrencyTotal, Money, show, totals
from jobcontract.plans import Plan
from jobcontract.states import Exclusion, ItemState, PlanState, Turn

COMMAND = "payments.release-many"
UNCERTAIN = "payments.uncertain"
JOINED = "n.ode"
"""Fed payouts by hand before they joined finance."""
PATIENCE = 120.0
"""Seconds that a plan may take, the lease of a Worker that was killed included."""
LOST, REFUSED, CHANGED = "Walk Lost Letters", "Walk Closed Account", "Walk Changing Minds"
PAYOUTS: Sequence[tuple[str, int, str]] = (
    ("Walk Aspire Care", 4_126_13, "GBP"),
    ("Walk Booker Food", 642_45, "GBP"),
    ("Walk Premier Plant", -545_22, "GBP"),
    (REFUSED, 300_00, "GBP"),
    (LOST, 815_50, "GBP"),
    (CHANGED, 99_99, "GBP"),
    ("Walk Nordic Timber", 1_220_50, "USD"),
    ("Walk Fleurs de Lys", 18_40, "EUR"),
    ("Walk Sakura Paper", 1_234, "JPY"),
    ("Walk Gulf Dates", 1_234, "KWD"),
)
"""Payee, minor units, currency of the payouts that the feed pushes for the walk."""


@dataclass(slots=True, kw_only=True)
class Till:
    """What this act remembers from step to step."""

    backstage: Backstage
    joined: Service
    """Signed in as the clerk who fed payouts before."""
    items: dict[str, str] = field(default_factory=dict)
    """Payee to item."""
    plan: Plan | None = None
    code: SecretStr | None = field(default=None, repr=False)
    not_paid: set[str] = field(default_factory=set)
    """Items of which a person said that they were not paid."""

    def made(self) -> Plan:
        """The plan that this act is about."""
        if self.plan is None:
            raise Differs("there is no plan")
        return self.plan


def till(desk: Desk) -> Till:
    """What this act remembers; Differs where the walk has no bank beside it."""
    if not isinstance(desk.till, Till):
        raise Differs("this walk has no bank beside it")
    return desk.till


async def make_plan(desk: Desk) -> str:
    """Ten payouts in five currencies are frozen: count, totals and rows are what was asked for."""
    own, service = till(desk), desk.people[FIRST]
    for number, (payee, minor, currency) in enumerate(PAYOUTS, start=1):
        own.items[payee] = await own.backstage.push(f"walk/{number}", payee, minor, currency)
    plan = await plans.make(service, QUEUE, COMMAND, client.new_key(), items=list(own.items.values()))
    must(plan.count == len(PAYOUTS), f"{plan.count} of {len(PAYOUTS)} are in it")
    wanted = totals(Money(minor=minor, currency=currency) for _, minor, currency in PAYOUTS)
    told = {(each.currency, each.out_minor, each.back_minor, each.net_minor) for each in plan.totals}
    must(
        told == {(sum_.currency, sum_.out_minor, sum_.back_minor, sum_.out_minor - sum_.back_minor) for sum_ in wanted},
        "the totals are not those of the payouts",
    )
    plan = await _answered(service, plan)
    reading = PlanReading(service, plan)
    await reading.run()
    must(reading.checked == plan.count, f"{reading.checked} rows were read")
    taken = await client.item(service, own.items[LOST])
    must(taken.item.plan is not None and taken.item.plan.id == plan.id, "the item does not name its plan")
    own.plan = plan
    return "\n".join((f"plan {plan.name}, {plan.count} payouts, {plan.warnings} warnings", *map(_written, wanted)))


async def wrong_code(desk: Desk) -> str:
    """A code that the phone does not show releases nothing, and counts."""
    before = await money.code_standing(desk.people[FIRST])
    sentence = await _refused_confirm(desk, SecretStr("000000"), ErrorCode.CODE_WRONG)
    after = await money.code_standing(desk.people[FIRST])
    must(after.tries_left == before.tries_left - 1, f"{after.tries_left} tries are left")
    return sentence


async def changed_item(desk: Desk) -> str:
    """An amount changes after the preview: nothing is released, and the change is named; taken out, the plan is as shown."""
    own, service = till(desk), desk.people[FIRST]
    plan, item = own.made(), own.items[CHANGED]
    number = next(place for place, row in enumerate(PAYOUTS, start=1) if row[0] == CHANGED)
    now = (await client.item(service, item)).item
    await own.backstage.change(f"walk/{number}", now.money_version, CHANGED, 999_999, "GBP")
    try:
        await _confirming(service, plan, SecretStr("000000"))
    except ServiceRefused as refusal:
        must(refusal.kind is ErrorCode.PLAN_CHANGED, f"refused as {refusal.code}: {refusal.sentence}")
        told = str(refusal.problem.model_extra)
        must("9,999.99" in told and "99.99" in told, f"the change is not named: {told[:200]}")
    else:
        raise Differs("a changed payout was confirmed")
    own.plan = await _answered(service, await plans.take_out(service, plan.id, [item], client.new_key()))
    must(own.plan.count == plan.count - 1 and own.plan.name == plan.name, "it was not taken out of the same plan")
    return "GBP 99.99 became GBP 9,999.99: refused, and taken out"


async def right_code(desk: Desk) -> str:
    """The code from the phone confirms exactly what was read; pressed twice it is one confirmation."""
    own, service = till(desk), desk.people[FIRST]
    await own.backstage.script(
        [
            {"match": {"payee": REFUSED}, "do": "refuse", "reason": "the account is closed"},
            {"match": {"key": f"jc-{own.items[LOST]}"}, "do": "silent"},
            {"match": {"payee": LOST}, "do": "lose-after"},
            {"match": {}, "do": "slow", "seconds": 2.0},
        ]
    )
    plan, own.code = own.made(), await own.backstage.code(desk.name(FIRST))
    reading = PlanReading(service, plan)
    confirming = Confirming(plan, await reading.run())
    first, second = await asyncio.gather(confirming.confirm(service, own.code), confirming.confirm(service, own.code))
    must(first == second, "two presses were two confirmations")
    must(first.state.confirmed or first.state is PlanState.DONE, f"it is {first.state}")
    own.plan = first
    return f"plan {plan.name} is {first.state}; the second press gave the same answer"


async def kill_worker(desk: Desk) -> str:
    """The Worker is killed in the middle; another goes on by itself, and every payout has one outcome."""
    own, service = till(desk), desk.people[FIRST]
    await _until(service, own.made().id, lambda plan: _count(plan, Turn.RUNNING) + _ended(plan) > 0)
    process = own.backstage.kill_worker()
    plan = await _until(service, own.made().id, lambda plan: not plan.state.live)
    must(plan.state is PlanState.DONE, f"it is {plan.state}: {plan.reason}")
    must(_ended(plan) == plan.count, f"{_ended(plan)} of {plan.count} have an outcome")
    must(_count(plan, Turn.UNCERTAIN) >= 1, "the lost answer is not uncertain")
    own.plan = plan
    told = ", ".join(f"{each.turn} {each.count}" for each in plan.account)
    return f"Worker {process} was killed; {told}"


async def used_code(desk: Desk) -> str:
    """The same code confirms nothing a second time."""
    own, service = till(desk), desk.people[FIRST]
    payee, minor, currency = "Walk Once More", 12_34, "GBP"
    own.items[payee] = await own.backstage.push("walk/again", payee, minor, currency)
    plan = await plans.make(service, QUEUE, COMMAND, client.new_key(), items=[own.items[payee]])
    own.plan, before = await _answered(service, plan), own.plan
    if own.code is None:
        raise Differs("no code was used yet")
    try:
        return await _refused_confirm(desk, own.code, ErrorCode.CODE_USED)
    finally:
        await plans.drop(service, plan.id, client.new_key())
        own.plan = before


async def own_item(desk: Desk) -> str:
    """Who pushed a payout does not release it, whatever they became since."""
    own = till(desk)
    plan = await plans.make(own.joined, QUEUE, COMMAND, client.new_key(), filter="")
    left_out = {each.reason: each.count for each in plan.excluded}
    rows = [row async for row in plans.every_exclusion(own.joined, plan.id)]
    await plans.drop(own.joined, plan.id, client.new_key())
    must(left_out.get(Exclusion.PUSHED_BY_OWNER, 0) > 0, f"nothing of their own is left out: {left_out}")
    sentence = next(row.sentence for row in rows if row.reason is Exclusion.PUSHED_BY_OWNER)
    return f"{left_out[Exclusion.PUSHED_BY_OWNER]} of {JOINED} left out of {plan.count + sum(left_out.values()):,}: {sentence}"


async def was_paid(desk: Desk) -> str:
    """A person looks into the bank's ledger, and says of each payout without an answer whether it was paid."""
    own, service = till(desk), desk.people[SECOND]
    ledger = await own.backstage.ledger()
    waiting = [row async for row in client.all_items(service, UNCERTAIN)]
    must(len(waiting) == _count(own.made(), Turn.UNCERTAIN), f"{len(waiting)} wait for a person")
    paid = [review for review in waiting if f"jc-{review.about}" in ledger]
    for review in waiting:
        if review in paid:
            await _settle(desk, review, str(ledger[f"jc-{review.about}"]["booking"]), None)
        else:  # refused by the bank while the Worker was dead, or the Worker died before its order left
            await _settle(desk, review, None, await own.backstage.code(desk.name(SECOND)))
            own.not_paid.add(str(review.about))
    plan = await _until(service, own.made().id, lambda plan: _count(plan, Turn.UNCERTAIN) == 0)
    own.plan = plan
    return f"{len(paid)} were paid, {len(waiting) - len(paid)} not, says {desk.name(SECOND)}; {_count(plan, Turn.DONE)} done"


async def stop_and_start(desk: Desk) -> str:
    """An operator stops all money without a code; then nothing is confirmed until another person's code starts it."""
    own, service = till(desk), desk.people[FIRST]
    stopped = await money.stop_money(desk.people[OPERATOR], "drill", client.new_key())
    must(stopped.stopped is not None, "money is not stopped")
    plan = await plans.make(service, QUEUE, COMMAND, client.new_key(), items=[own.items["Walk Once More"]])
    own.plan, before = await _answered(service, plan), own.plan
    try:
        sentence = await _refused_confirm(desk, own.code or SecretStr("000000"), ErrorCode.MONEY_STOPPED)
    finally:
        await plans.drop(service, plan.id, client.new_key())
        own.plan = before
    code = await own.backstage.code(JOINED)
    started = await money.start_money(own.joined, "the drill is over", code, client.new_key())
    must(started.stopped is None, "money is still stopped")
    return f"{sentence}\nstarted again by {JOINED}"


async def adds_up(desk: Desk) -> str:
    """What the plan says is done, what is marked released, and what the bank booked are the same, to the cent."""
    own, service = till(desk), desk.people[FIRST]
    plan, ledger = own.made(), await own.backstage.ledger()
    released: list[Item] = []
    for payee, item in own.items.items():
        now = (await client.item(service, item)).item
        if now.state is ItemState.RELEASED:
            released.append(now)
        else:
            expected = payee in (REFUSED, CHANGED, "Walk Once More") or item in own.not_paid
            must(expected, f"{payee} is {now.state}")
    theirs = totals(
        Money(minor=booking["minor"], currency=booking["currency"])
        for key, booking in ledger.items()
        if key.removeprefix("jc-") in own.items.values()
    )
    ours = totals(Money(minor=row.amount.minor, currency=row.amount.currency) for row in released if row.amount)
    must(ours == theirs, f"the bank booked {theirs}, released is {ours}")
    done = {
        (sum_.currency, sum_.out_minor, sum_.back_minor)
        for entry in plan.account
        if entry.turn is Turn.DONE
        for sum_ in entry.totals
    }
    must(done == {(sum_.currency, sum_.out_minor, sum_.back_minor) for sum_ in ours}, "the plan's account is another")
    return "\n".join((f"{len(released)} released, {len(ledger)} in the bank's ledger", *map(_written, ours)))


async def _answered(service: Service, plan: Plan) -> Plan:
    """The plan with every warning that must be answered kept in, with a reason."""
    async for warning in plans.every_warning(service, plan.id):
        if warning.must_answer and warning.answer is None:
            plan = await plans.keep_in(service, plan.id, warning.id, "looked at for the walk", client.new_key())
    return plan


async def _settle(desk: Desk, review: Item, booking: str | None, code: SecretStr | None) -> None:
    """The second clerk claims a review item and says what the bank's ledger says; again where the claim lapsed."""
    service = desk.people[SECOND]
    for _ in range(TRIES):
        taken = held(await client.claim(service, review.id, client.new_key()), desk.name(SECOND))
        try:
            if booking is not None:
                await money.was_paid(service, review.id, taken.fence, booking, "seen in the ledger", client.new_key())
            elif code is not None:
                await money.was_not_paid(service, review.id, taken.fence, "not in the ledger", code, client.new_key())
            return
        except ServiceRefused as refusal:
            if refusal.kind is not ErrorCode.CLAIM_LOST:
                raise
    raise Differs(f"this machine is too slow: {TRIES} claims lapsed before they could be used")


async def _confirming(service: Service, plan: Plan, code: SecretStr) -> Plan:
    reading = PlanReading(service, plan)
    return await Confirming(plan, await reading.run()).confirm(service, code)


async def _refused_confirm(desk: Desk, code: SecretStr, kind: ErrorCode) -> str:
    return await refused(_confirming(desk.people[FIRST], till(desk).made(), code), kind)


async def _until(service: Service, plan: str, true: Callable[[Plan], bool]) -> Plan:
    """The plan once `true` of it; Differs where that takes too long."""
    loop = asyncio.get_running_loop()
    end = loop.time() + PATIENCE
    while True:
        now = await plans.plan(service, plan)
        if true(now):
            return now
        must(loop.time() < end, f"plan {now.name} is still {now.state} after {PATIENCE:g} s: {now.account}")
        await asyncio.sleep(0.1)


def _count(plan: Plan, turn: Turn) -> int:
    return sum(entry.count for entry in plan.account if entry.turn is turn)


def _ended(plan: Plan) -> int:
    return sum(entry.count for entry in plan.account if entry.turn.ended)


def _written(sum_: CurrencyTotal) -> str:
    back = f" · back {show(Money(minor=sum_.back_minor, currency=sum_.currency))} ({sum_.back_count})"
    out = f"out {show(Money(minor=sum_.out_minor, currency=sum_.currency))} ({sum_.out_count})"
    return out + (back if sum_.back_count else "")


STEPS: Sequence[tuple[str, Callable[[Desk], Awaitable[str]]]] = (
    ("plan ten payouts", make_plan),
    ("a wrong code", wrong_code),
    ("a payout changes after the preview", changed_item),
    ("the right code, pressed twice", right_code),
    ("the same code again", used_code),
    ("the Worker is killed in the middle", kill_worker),
    ("payouts that the clerk pushed", own_item),
    ("the lost answer: was it paid?", was_paid),
    ("money is stopped and started", stop_and_start),
    ("everything adds up to the cent", adds_up),
)
"""This act, in order."""
