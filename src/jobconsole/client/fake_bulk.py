"""Owns bulk work of the fake service as a whole: its routes, and the Worker that a test moves by hand.

plan = fake.bulk.plans.all[identifier]            # the plan in memory; `fake.bulk.plans.rules` = limits, times
fake.bulk.step(plan)                              # one item has its turn and is done
fake.bulk.step(plan, Turn.UNCERTAIN)              # or ends otherwise
fake.bulk.run_out(plan, {item: Turn.REFUSED})     # every item that is left
fake.bulk.codes.fresh("m.ito"); fake.bulk.money.stop; fake.bulk.warn(plan, item, Warned.ACCOUNT_CHANGED, "...")
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from jobconsole.client import fake_plan_pages
from jobconsole.client.fake_asked import Asked, Handler
from jobconsole.client.fake_codes import FakeCodes
from jobconsole.client.fake_listing import FakeListing
from jobconsole.client.fake_money import FakeMoney
from jobconsole.client.fake_plan import FakePlan, FakeRow
from jobconsole.client.fake_plans import FOR_EVER, FakePlans, listed
from jobconsole.client.fake_queues import FakeItem, FakeQueues
from jobconsole.client.fake_records import UNCERTAIN
from jobconsole.client.fake_warnings import place
from jobcontract.errors import ErrorCode, Refusal
from jobcontract.events import Topic
from jobcontract.items import PlanRef, TurnRecord
from jobcontract.plans import (
    AbortPlan,
    Confirm,
    ExclusionPage,
    KeepIn,
    Money,
    PausePlan,
    Plan,
    PlanItemPage,
    PlanOrder,
    Plans,
    PlanWarning,
    ResumePlan,
    Settled,
    StartMoney,
    StopMoney,
    TakeOut,
    WarningPage,
    WasNotPaid,
    WasPaid,
)
from jobcontract.session import Person
from jobcontract.states import ItemState, PlanState, Turn, Warned
from jobcontract.wire import Wire

SENTENCES: Mapping[Turn, str] = {
    Turn.DONE: "Paid.",
    Turn.REFUSED: "The bank refused it.",
    Turn.FAILED: "It failed.",
    Turn.UNCERTAIN: "Nobody knows whether it went out.",
    Turn.WAITING: "To be tried again.",
}
Publish = Callable[[Topic, str, str, int], None]
W = TypeVar("W", bound=Wire)


class FakeBulk:
    """Plans, codes and money over a FakeQueues."""

    def __init__(self, queues: FakeQueues, listing: FakeListing, publish: Publish) -> None:
        self._queues = queues
        self._listing = listing
        self.refuse_held: Callable[[str, str], None] = lambda _queue, _command: None
        """Told of a queue and a command before a plan is made, confirmed or resumed; raises where a stop holds it."""
        self.codes = FakeCodes(queues.now)
        self.money = FakeMoney(queues.now, self.codes)
        self.plans = FakePlans(queues, self.codes, lambda: self.money.stopped)
        self.plans.on_change = lambda plan: publish(Topic.PLAN, plan.queue.id, plan.id, plan.version)
        self.money.on_change = lambda: publish(Topic.MONEY, "money", "money", self.money.version)

    def warn(self, plan: FakePlan, item: str, kind: Warned, sentence: str, *, must_answer: bool = False) -> PlanWarning:
        """Find something odd about a row; it stands where its kind and amount put it."""
        row = self._row(plan, item)
        warning = PlanWarning(
            id=f"w-{row.number}-{kind.value}-{len(plan.warnings)}",
            number=row.number,
            item=item,
            kind=kind,
            sentence=sentence,
            amount=row.amount,
            payee=row.payee,
            must_answer=must_answer,
            answer=None,
        )
        plan.warnings = sorted([*plan.warnings, warning], key=place)
        self.plans.changed(plan)
        return warning

    def step(self, plan: FakePlan, turn: Turn = Turn.DONE, *, item: str | None = None) -> bool:
        """Give the next item (or that one) its turn; False where the plan lets none begin or none is left."""
        self.plans.refresh()
        if plan.state is not PlanState.APPLYING or self.money.stopped:
            return False
        waiting = [row for row in plan.rows if not row.turn.ended and item in (None, row.row.id)]
        if not waiting:
            return False
        self._turn(plan, waiting[0], turn)
        if all(row.turn.ended for row in plan.rows):
            self.plans.end(plan, PlanState.DONE, None, None)
        else:
            self.plans.changed(plan)
        return True

    def run_out(self, plan: FakePlan, otherwise: Mapping[str, Turn] | None = None) -> None:
        """Give every item that is left its turn: done, or as `otherwise` says."""
        ends = otherwise or {}
        for row in list(plan.rows):
            if not row.turn.ended:
                self.step(plan, ends.get(row.row.id, Turn.DONE), item=row.row.id)

    def handlers(self) -> Mapping[str, Handler]:
        """The routes of bulk work."""
        return {
            "make-plan": self._make,
            "plans": self._list,
            "plan": lambda asked: self._shown(self._plan(asked)),
            "plan-items": self._items,
            "plan-exclusions": self._exclusions,
            "plan-warnings": self._warnings,
            "take-out-plan": lambda asked: self._do(asked, self.plans.take_out, TakeOut),
            "keep-in-plan": lambda asked: self._do(asked, self.plans.keep_in, KeepIn),
            "drop-plan": self._drop,
            "confirm-plan": self._confirm,
            "pause-plan": self._pause,
            "resume-plan": self._resume,
            "abort-plan": self._abort,
            "code-standing": lambda asked: self.codes.standing(asked.person.id),
            "money": lambda _: self._money(),
            "stop-money": self._stop,
            "start-money": self._start,
            "was-paid": self._was_paid,
            "was-not-paid": self._was_not_paid,
        }

    def export(self, asked: Asked) -> bytes:
        """The rows as a file."""
        return fake_plan_pages.export(self._plan(asked))

    def _make(self, asked: Asked) -> Plan:
        order = PlanOrder.model_validate_json(asked.request.content)

        def matching(text: str) -> Sequence[str]:
            return [row.id for row in self._listing.rows(asked.listing(text))]

        self.refuse_held(asked.parts["queue"], order.command)
        return self._shown(self.plans.make(asked.person, asked.parts["queue"], order, matching))

    def _list(self, asked: Asked) -> Plans:
        self.plans.refresh()
        now = self._queues.now()
        found = [
            plan
            for plan in self.plans.all.values()
            if (plan.owner == asked.person or "owner" not in asked.query)
            and (plan.state.live or "state" not in asked.query)
        ]
        return Plans(plans=tuple(plan.shown(now) for plan in listed(found)), as_of=now)

    def _plan(self, asked: Asked) -> FakePlan:
        return self.plans.find(asked.parts["plan"])

    def _shown(self, plan: FakePlan) -> Plan:
        return plan.shown(self._queues.now())

    def _do(self, asked: Asked, deed: Callable[[FakePlan, Person, W], None], order: type[W]) -> Plan:
        plan = self._plan(asked)
        deed(plan, asked.person, order.model_validate_json(asked.request.content))
        return self._shown(plan)

    def _items(self, asked: Asked) -> PlanItemPage:
        return fake_plan_pages.items(self._plan(asked), asked.query, asked.limit(), self._queues.now())

    def _exclusions(self, asked: Asked) -> ExclusionPage:
        return fake_plan_pages.exclusions(self._plan(asked), asked.query, asked.limit(), self._queues.now())

    def _warnings(self, asked: Asked) -> WarningPage:
        return fake_plan_pages.warnings(self._plan(asked), asked.query, asked.limit(), self._queues.now())

    def _drop(self, asked: Asked) -> Plan:
        plan = self._plan(asked)
        self.plans.drop(plan, asked.person)
        return self._shown(plan)

    def _confirm(self, asked: Asked) -> Plan:
        plan = self._plan(asked)
        self.refuse_held(plan.queue.id, plan.command.id)
        return self._do(asked, self.plans.confirm, Confirm)

    def _pause(self, asked: Asked) -> Plan:
        plan = self._plan(asked)
        order = PausePlan.model_validate_json(asked.request.content)
        if plan.state is PlanState.PAUSED:
            return self._shown(plan)
        if not plan.state.confirmed:
            raise wrong_state(plan)
        plan.state, plan.reason, plan.ended_by = PlanState.PAUSED, order.reason, asked.person
        self.plans.changed(plan)
        return self._shown(plan)

    def _resume(self, asked: Asked) -> Plan:
        plan = self._plan(asked)
        order = ResumePlan.model_validate_json(asked.request.content)
        if plan.state is not PlanState.PAUSED:
            raise wrong_state(plan)
        verdict = self.codes.judge(asked.person.id, order.code.get_secret_value())
        if self.money.stopped:
            raise Refusal(ErrorCode.MONEY_STOPPED, "Money is stopped.")
        self.refuse_held("", plan.command.id)
        if verdict is not None:
            raise verdict
        waits = plan.armed_until is not None and plan.armed_until > self._queues.now()
        plan.state = PlanState.ARMED if waits else PlanState.APPLYING
        plan.reason = plan.ended_by = None
        self.plans.changed(plan)
        return self._shown(plan)

    def _abort(self, asked: Asked) -> Plan:
        plan = self._plan(asked)
        order = AbortPlan.model_validate_json(asked.request.content)
        if plan.state is PlanState.ABORTED:
            return self._shown(plan)
        if not plan.state.confirmed:
            raise wrong_state(plan)
        self.plans.end(plan, PlanState.ABORTED, asked.person, order.reason)
        return self._shown(plan)

    def _money(self) -> Money:
        waiting = sum(row.about is not None and not row.state.closed for row in self._queues.items.values())
        return self.money.shown(list(self.plans.all.values()), waiting)

    def _stop(self, asked: Asked) -> Money:
        self.money.throw(asked.person, StopMoney.model_validate_json(asked.request.content))
        return self._money()

    def _start(self, asked: Asked) -> Money:
        self.money.start(asked.person, StartMoney.model_validate_json(asked.request.content))
        return self._money()

    def _was_paid(self, asked: Asked) -> Settled:
        order = WasPaid.model_validate_json(asked.request.content)
        review, plan, row = self._uncertain(asked, order.fence)
        row.reference = order.reference
        return self._settle(asked.person, review, plan, row, Turn.DONE)

    def _was_not_paid(self, asked: Asked) -> Settled:
        order = WasNotPaid.model_validate_json(asked.request.content)
        review, plan, row = self._uncertain(asked, order.fence)
        if plan.owner == asked.person:
            raise Refusal(ErrorCode.PERMISSION_MISSING, "The plan is yours: another person says that it was not paid.")
        verdict = self.codes.judge(asked.person.id, order.code.get_secret_value())
        if verdict is not None:
            raise verdict
        return self._settle(asked.person, review, plan, row, Turn.FAILED)

    def _uncertain(self, asked: Asked, fence: int) -> tuple[FakeItem, FakePlan, FakeRow]:
        """The review item, the plan and the row that it asks about."""
        review = self._queues.find(asked.parts["item"])
        payout = self._queues.items.get(review.about or "")
        if payout is None:
            raise Refusal(ErrorCode.USE_CASE_UNFIT, "It is no payout that nobody knows the outcome of.")
        if review.state.closed:
            raise Refusal(ErrorCode.ITEM_CLOSED, f"The item is {review.state}.")
        self._queues.hold(review, asked.person, fence)
        plan = next(plan for plan in self.plans.all.values() if payout.plan and plan.id == payout.plan.id)
        return review, plan, self._row(plan, payout.id)

    def _settle(self, person: Person, review: FakeItem, plan: FakePlan, row: FakeRow, turn: Turn) -> Settled:
        self._queues.close(review, ItemState.RESOLVED, person)
        row.turn, row.sentence = turn, f"{person.name} says that it {'was' if turn is Turn.DONE else 'was not'} paid."
        self._ended(plan, row)
        self.plans.changed(plan)
        return Settled(item=row.row.id, turn=turn, sentence=row.sentence, as_of=self._queues.now())

    def _turn(self, plan: FakePlan, row: FakeRow, turn: Turn) -> None:
        row.attempts += 1
        row.turn, row.sentence = turn, SENTENCES.get(turn)
        if turn is Turn.DONE:
            row.reference = f"B-{row.number}"
        if turn.ended:
            self._ended(plan, row)

    def _ended(self, plan: FakePlan, row: FakeRow) -> None:
        """What the end of a turn does to its item."""
        now = self._queues.now()
        row.ended_at = now
        row.row.turns.append(self._record(plan, row))
        if row.turn is Turn.UNCERTAIN:
            row.row.expires_at = now + FOR_EVER
            self._ask(row)
            return
        self.plans.let_go(row.row, plan)
        if row.turn is Turn.DONE:
            row.row.money_version += 1
            self._queues.close(row.row, ItemState.RELEASED, None)

    def _record(self, plan: FakePlan, row: FakeRow) -> TurnRecord:
        return TurnRecord(
            plan=PlanRef(id=plan.id, name=plan.name, held=plan.state.confirmed),
            owner=plan.owner,
            turn=row.turn,
            sentence=row.sentence,
            reference=row.reference,
            outward_key=f"jc-{row.row.id}",
            sent_at=row.ended_at,
            ended_at=row.ended_at,
        )

    def _ask(self, row: FakeRow) -> None:
        """Put the review item in that asks a person."""
        identifier = self._queues.add(UNCERTAIN.id, row.title, minor=row.amount.minor, currency=row.amount.currency)
        review = self._queues.items[identifier]
        review.key, review.payee, review.about = None, row.payee, row.row.id

    def _row(self, plan: FakePlan, item: str) -> FakeRow:
        found = plan.row(item)
        if found is None:
            raise KeyError(f"{item} is not in {plan.name}")
        return found


def wrong_state(plan: FakePlan) -> Refusal:
    """The refusal of what cannot be done to a plan as it stands."""
    return Refusal(ErrorCode.PLAN_STATE, f"{plan.name} is {plan.state}.", state=plan.state.value)
