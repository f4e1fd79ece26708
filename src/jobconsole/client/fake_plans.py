"""Owns the making, changing and confirming of plans in the fake service. Follows the meaning of the real one
(`tests/client/test_conformance_plans.py`); what the Worker does is `fake_bulk`'s.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

from jobconsole.client.fake_asked import TENANT
from jobconsole.client.fake_codes import FakeCodes
from jobconsole.client.fake_plan import FakePlan, frozen, sums
from jobconsole.client.fake_queues import FakeItem, FakeQueues
from jobconsole.client.fake_warnings import found_in
from jobcontract.errors import ErrorCode, Refusal
from jobcontract.items import PlanRef
from jobcontract.plans import Confirm, ExcludedItem, KeepIn, PlanChange, PlanOrder, TakeOut
from jobcontract.session import Person
from jobcontract.states import Exclusion, ItemState, PlanState, Turn

WORDS = ("lark", "wren", "finch", "heron", "otter", "badger")
FOR_EVER = timedelta(days=365 * 100)


@dataclass(slots=True, kw_only=True)
class FakeRules:
    """What the records and settings of the real service say. A test may change any of it."""

    most: int = 50_000
    open_most: int = 3
    expiry: timedelta = timedelta(minutes=15)
    window: timedelta = timedelta(hours=4)
    armed: timedelta = timedelta(0)
    """How long a confirmed plan waits before it starts."""
    answer_above: Mapping[str, int] = field(default_factory=dict)
    """From this amount on (minor units) warnings must be answered."""
    plan_most: Mapping[str, int] = field(
        default_factory=lambda: dict.fromkeys(("EUR", "GBP", "JPY", "KWD", "USD"), 10**12)
    )
    """What one plan may send out, by currency; a currency that is not named has no limits."""


class FakePlans:
    """The plans of the tenant. `on_change` hears of each change of one."""

    def __init__(self, queues: FakeQueues, codes: FakeCodes, stopped: Callable[[], bool]) -> None:
        self.queues = queues
        self.codes = codes
        self.rules = FakeRules()
        self.all: dict[str, FakePlan] = {}
        self.on_change: Callable[[FakePlan], None] = lambda _plan: None
        self._stopped = stopped

    def find(self, identifier: str) -> FakePlan:
        """The plan by id, as it stands now; Refusal NOT_FOUND."""
        if identifier not in self.all:
            raise Refusal(ErrorCode.NOT_FOUND, f"There is no plan {identifier[:80]} that you may see.")
        self.refresh()
        return self.all[identifier]

    def refresh(self) -> None:
        """What time alone does to plans."""
        now = self.queues.now()
        for plan in self.all.values():
            if plan.state is PlanState.OPEN and now >= plan.expires_at:
                self.end(plan, PlanState.EXPIRED, None, "It was not confirmed in time.")
            elif plan.state.confirmed and plan.apply_until is not None and now >= plan.apply_until:
                self.end(plan, PlanState.LAPSED, None, "Its time to apply ended.")
            elif plan.state is PlanState.ARMED and plan.armed_until is not None and now >= plan.armed_until:
                plan.state, plan.started_at = PlanState.APPLYING, now
                self.changed(plan)

    def make(self, owner: Person, queue: str, order: PlanOrder, matching: Callable[[str], Iterable[str]]) -> FakePlan:
        """Freeze a set; `matching` gives the ids that match a filter."""
        self.refresh()
        found = self.queues.queue(queue)
        command = next((each for each in found.bulk if each.id == order.command), None)
        if command is None:
            raise Refusal(ErrorCode.NOT_FOUND, f"{found.title} has no bulk command {order.command[:80]}.")
        ids = list(dict.fromkeys(order.items if order.items is not None else matching(order.filter or "")))
        if len(ids) > self.rules.most:
            raise Refusal(ErrorCode.PLAN_TOO_LARGE, f"A plan has at most {self.rules.most:,} items; these are more.")
        mine = sum(plan.owner == owner and plan.state is PlanState.OPEN for plan in self.all.values())
        if mine >= self.rules.open_most:
            raise Refusal(ErrorCode.PLANS_MAX, f"You have {mine} open plans: confirm or drop one first.")
        excluded = {item: out for item in ids if (out := self._excluded(item, queue, owner)) is not None}
        rows = frozen(self.queues.items[item] for item in ids if item not in excluded)
        if not rows:
            counts = Counter(each.reason for each in excluded.values())
            told = [{"reason": reason.value, "count": counts[reason]} for reason in Exclusion if counts[reason]]
            raise Refusal(ErrorCode.PLAN_EMPTY, "Nothing can go into the plan: every item is excluded.", excluded=told)
        number, now = len(self.all), self.queues.now()
        plan = FakePlan(
            id=str(UUID(int=(15 << 120) + number)),
            name=f"{WORDS[number % len(WORDS)]}-{42 + number}",
            tenant=TENANT,
            queue=found,
            command=command,
            owner=owner,
            filter=order.filter,
            frozen_at=now,
            expires_at=now + self.rules.expiry,
            rows=rows,
            excluded=list(excluded.values()),
        )
        plan.warnings = found_in(plan, self.rules.answer_above)
        self.all[plan.id] = plan
        for row in rows:
            self._take(row.row, plan, held=False)
        self.changed(plan)
        return plan

    def take_out(self, plan: FakePlan, person: Person, order: TakeOut) -> None:
        """Items leave, and the plan is frozen anew."""
        self._own(plan, person)
        gone = set(order.items)
        unknown = gone - {each.row.id for each in plan.rows}
        if unknown:
            raise Refusal(ErrorCode.NOT_FOUND, f"{min(unknown)} is not in {plan.name}.")
        if len(gone) == len(plan.rows):
            raise Refusal(ErrorCode.PLAN_EMPTY, "Nothing would be left in the plan: drop it instead.")
        answers = {(warning.item, warning.kind): warning.answer for warning in plan.warnings}
        for each in plan.rows:
            if each.row.id in gone:
                plan.excluded.append(_out(each.row, Exclusion.TAKEN_OUT, person, "You took it out."))
                self._let_go(each.row, plan)
        plan.rows = frozen(each.row for each in plan.rows if each.row.id not in gone)
        plan.edition += 1
        plan.frozen_at = self.queues.now()
        plan.expires_at = plan.frozen_at + self.rules.expiry
        for each in plan.rows:
            each.row.expires_at = plan.expires_at
        plan.warnings = [
            warning.model_copy(update={"answer": answers.get((warning.item, warning.kind))})
            for warning in found_in(plan, self.rules.answer_above)
        ]
        self.changed(plan)

    def keep_in(self, plan: FakePlan, person: Person, order: KeepIn) -> None:
        """Answer a warning."""
        self._own(plan, person)
        for at, warning in enumerate(plan.warnings):
            if warning.id == order.warning:
                plan.warnings[at] = warning.model_copy(update={"answer": order.reason})
                self.changed(plan)
                return
        raise Refusal(ErrorCode.NOT_FOUND, f"{plan.name} has no such warning.")

    def drop(self, plan: FakePlan, person: Person) -> None:
        """Give it up."""
        self._own(plan, person)
        self.end(plan, PlanState.DROPPED, person, "Its owner dropped it.")

    def confirm(self, plan: FakePlan, person: Person, order: Confirm) -> None:
        """Confirm it. The code is judged first, and named last (MONEY.md 13)."""
        self._own(plan, person)
        verdict = self._judge(plan, person, order)
        if order.digest != plan.digest(self.queues.now()):
            raise Refusal(ErrorCode.PLAN_DIGEST, "What you looked at is not what the plan holds. Read it again.")
        changes = [change.model_dump(mode="json") for change in self._changes(plan)]
        if changes:
            raise Refusal(ErrorCode.PLAN_CHANGED, "Items changed since the plan was frozen.", changes=changes)
        if any(warning.must_answer and warning.answer is None for warning in plan.warnings):
            raise Refusal(ErrorCode.PLAN_UNANSWERED, "Warnings wait for an answer: take out, or keep with a reason.")
        for total in sums(plan.rows):
            if total.out_minor > self.rules.plan_most[total.currency]:
                raise Refusal(ErrorCode.LIMIT_EXCEEDED, f"The plan sends out more {total.currency} than one plan may.")
        if self._stopped():
            raise Refusal(ErrorCode.MONEY_STOPPED, "Money is stopped.")
        if verdict is not None:
            raise verdict
        now = self.queues.now()
        plan.confirmed_at, plan.apply_until = now, now + self.rules.window
        armed = bool(self.rules.armed)
        plan.state = PlanState.ARMED if armed else PlanState.APPLYING
        plan.armed_until = now + self.rules.armed if armed else None
        plan.started_at = None if armed else now
        for each in plan.rows:
            self._take(each.row, plan, held=True)
        self.changed(plan)

    def _judge(self, plan: FakePlan, person: Person, order: Confirm) -> Refusal | None:
        if order.code is not None:
            return self.codes.judge(person.id, order.code.get_secret_value())
        sentence = f"Plan {plan.name} takes the six digits from your phone; none came. Nothing was counted."
        return Refusal(ErrorCode.CODE_WRONG, sentence)

    def end(self, plan: FakePlan, state: PlanState, by: Person | None, reason: str | None) -> None:
        """End it, and give back what had no turn."""
        plan.state, plan.ended_by, plan.reason, plan.ended_at = state, by, reason, self.queues.now()
        for each in plan.rows:
            if each.turn in (Turn.NOT_STARTED, Turn.WAITING):
                self._let_go(each.row, plan)
        self.changed(plan)

    def changed(self, plan: FakePlan) -> None:
        """Raise the version and tell who listens."""
        plan.version += 1
        self.on_change(plan)

    def let_go(self, row: FakeItem, plan: FakePlan) -> None:
        """End the plan's hold on an item."""
        self._let_go(row, plan)

    def _own(self, plan: FakePlan, person: Person) -> None:
        if plan.owner != person:
            raise Refusal(ErrorCode.PERMISSION_MISSING, f"Only its owner, {plan.owner.name}, may do that.")
        if plan.state is not PlanState.OPEN:
            raise Refusal(ErrorCode.PLAN_STATE, f"{plan.name} is {plan.state}.", state=plan.state.value)

    def _take(self, row: FakeItem, plan: FakePlan, *, held: bool) -> None:
        until = plan.apply_until if held else plan.expires_at
        row.fence += 1
        row.holder, row.taken_at, row.expires_at = plan.owner, self.queues.now(), until
        row.plan = PlanRef(id=plan.id, name=plan.name, held=held)
        self.queues.changed(row)

    def _let_go(self, row: FakeItem, plan: FakePlan) -> None:
        if row.plan is not None and row.plan.id == plan.id:
            row.holder = row.taken_at = row.expires_at = row.plan = None
            self.queues.changed(row)

    def _changes(self, plan: FakePlan) -> Iterator[PlanChange]:
        for each in plan.rows:
            fields = (
                ("version", str(each.money_version), str(each.row.money_version)),
                ("claim", "the plan's", self._claim(each.row, plan)),
            )
            for name, before, after in fields:
                if before != after:
                    yield PlanChange(
                        number=each.number, item=each.row.id, title=each.title, field=name, before=before, after=after
                    )

    def _claim(self, row: FakeItem, plan: FakePlan) -> str:
        found, holder = self.queues.plan(row), self.queues.holder(row)
        if found is not None and found.id == plan.id:
            return "the plan's"
        return "free" if holder is None else f"held by {holder.name}"

    def _excluded(self, item: str, queue: str, owner: Person) -> ExcludedItem | None:
        """Why an item cannot go in; None where it can."""
        row = self.queues.items.get(item)
        if row is None or row.queue.id != queue:
            return ExcludedItem(
                item=item,
                title=None,
                amount=None,
                payee=None,
                reason=Exclusion.UNKNOWN,
                who=None,
                sentence="No item of the queue has that id.",
            )
        state, holder, plan = self.queues.state(row), self.queues.holder(row), self.queues.plan(row)
        if state.closed:
            return _out(row, Exclusion.CLOSED, None, f"It is {state}.")
        if plan is not None:
            return _out(row, Exclusion.IN_PLAN, self.all[plan.id].owner, f"It is in the plan {plan.name}.")
        if state is not ItemState.OPEN:
            return _out(row, Exclusion.STATE_UNFIT, None, f"It is {state}.")
        if holder is not None and holder != owner:
            return _out(row, Exclusion.HELD, holder, f"{holder.name} holds it.")
        if row.pushed_by == owner.id:
            return _out(row, Exclusion.PUSHED_BY_OWNER, owner, "You pushed it yourself.")
        if row.changed_by == owner.id:
            return _out(row, Exclusion.CHANGED_BY_OWNER, owner, "You changed its amount, payee or account last.")
        if row.amount is None or row.amount.currency not in self.rules.plan_most:
            return _out(row, Exclusion.CURRENCY_WITHOUT_LIMITS, None, "Its currency has no limits.")
        return None


def _out(row: FakeItem, reason: Exclusion, who: Person | None, sentence: str) -> ExcludedItem:
    return ExcludedItem(
        item=row.id, title=row.title, amount=row.amount, payee=row.payee, reason=reason, who=who, sentence=sentence
    )


def listed(plans: Sequence[FakePlan]) -> list[FakePlan]:
    """Plans, oldest first, as the listing has them: live ones before ended ones, newest first, at most a hundred."""
    return sorted(reversed(plans), key=lambda plan: not plan.state.live)[:100]
