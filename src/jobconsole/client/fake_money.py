"""Owns the fake service's switch that stops money, what was released, and payouts that nobody knows the outcome of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta

from jobconsole.client.fake_codes import FakeCodes
from jobconsole.client.fake_plan import FakePlan, sums
from jobcontract.errors import ErrorCode, Refusal
from jobcontract.plans import Money, Released, StartMoney, Stop, StopMoney
from jobcontract.session import Person
from jobcontract.states import Turn

DAY = timedelta(days=1)


class FakeMoney:
    """The switch of one tenant. `on_change` hears of each throw."""

    def __init__(self, now: Callable[[], datetime], codes: FakeCodes) -> None:
        self._now = now
        self._codes = codes
        self.stop: Stop | None = None
        self.version = 1
        self.on_change: Callable[[], None] = lambda: None

    @property
    def stopped(self) -> bool:
        """Whether money is stopped."""
        return self.stop is not None

    def throw(self, person: Person, order: StopMoney) -> None:
        """Stop all money. A second stop leaves the first one's word."""
        if self.stop is None:
            self._set(Stop(at=self._now(), by=person, reason=order.reason))

    def start(self, person: Person, order: StartMoney) -> None:
        """Let it move again; where it moves, no code is judged."""
        if self.stop is None:
            return
        if self.stop.by == person:
            raise Refusal(ErrorCode.PERMISSION_MISSING, "You stopped it: another person starts it again.")
        verdict = self._codes.judge(person.id, order.code.get_secret_value())
        if verdict is not None:
            raise verdict
        self._set(None)

    def shown(self, plans: list[FakePlan], uncertain: int) -> Money:
        """The switch, and what each person released."""
        released = sorted(self._released(plans), key=lambda each: (each.person.id, each.currency))
        return Money(stopped=self.stop, released=tuple(released), uncertain=uncertain, as_of=self._now())

    def _set(self, stop: Stop | None) -> None:
        self.stop = stop
        self.version += 1
        self.on_change()

    def _released(self, plans: list[FakePlan]) -> Iterator[Released]:
        now = self._now()
        for owner in {plan.owner.id: plan.owner for plan in plans}.values():
            mine = [plan for plan in plans if plan.owner == owner and plan.confirmed_at is not None]
            recent = [plan for plan in mine if plan.confirmed_at is not None and now - plan.confirmed_at < DAY]
            counted = sums(row for plan in recent for row in plan.rows)
            today = {
                total.currency: total
                for total in sums(
                    row
                    for plan in mine
                    for row in plan.rows
                    if row.turn is Turn.DONE and row.ended_at is not None and row.ended_at.date() == now.date()
                )
            }
            for total in counted:
                done = today.get(total.currency)
                yield Released(
                    person=owner,
                    currency=total.currency,
                    exponent=total.exponent,
                    today_count=done.out_count if done else 0,
                    today_minor=done.out_minor if done else 0,
                    day_count=total.out_count,
                    day_minor=total.out_minor,
                    day_most_minor=10**12,
                    day_most_count=100_000,
                )
