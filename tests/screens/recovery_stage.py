"""Owns what tests of recoveries, alarms, stops and the overview put on the stage: a night that went wrong in the fake
service, and the dialogs of these places."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any, TypeVar

from textual.pilot import Pilot
from textual.widgets import Button, Input

from jobconsole.app import Console
from jobconsole.client.fake import FakeService
from jobconsole.client.fake_recovery import FakeRecovery
from jobconsole.screens.dialog import ActingDialog
from jobconsole.screens.recovery_form import RecoveryForm
from jobconsole.widgets.form import Prose
from jobcontract.operating import AlarmKind, AlarmTold, StopScope
from jobcontract.recoveries import RecoveryMoney
from jobcontract.session import Person
from jobcontract.states import Moves, OccurrenceState, OutcomeKind
from tests.screens.idle import idle, settled, until
from tests.screens.stage import START, console, ready, scene

OLLE = Person(id="o.lind", name="Olle Lind")
D = TypeVar("D", bound=ActingDialog[Any])
ERROR = "2 of 120 items failed: the mail server refused the address."


def night(*, money: bool = False) -> FakeService:
    """Two schedules of which seven occurrences became dead letters since midnight; `money`: one of them moves it."""
    fake = FakeService(start=START)
    scene(fake)
    for name in ("statements.nightly", "payouts.bank-opens"):
        fake.jobs.add(name, every=3600)
    for hour in range(14):
        at, name = START - timedelta(minutes=30 * hour + 5), ("statements.nightly", "payouts.bank-opens")[hour % 2]
        state = OccurrenceState.DEAD_LETTER if hour % 2 == 0 or hour == 3 else OccurrenceState.COMPLETED
        dead = state is OccurrenceState.DEAD_LETTER
        key = fake.jobs.plan(name, at, state, ended_at=at + timedelta(seconds=30), error=ERROR if dead else None)
        if dead:
            fake.jobs.put_items(key, OutcomeKind.FAILED, OutcomeKind.FAILED, *[OutcomeKind.DONE] * 20, None)
    if money:
        row = fake.jobs.schedules["payouts.bank-opens"]
        fake.jobs.schedules[row.id] = row.model_copy(update={"moves": Moves.MONEY})
        fake.recoveries.money = (RecoveryMoney(currency="GBP", exponent=2, out_minor=1_894_245, count=38),)
    return fake


def troubled() -> FakeService:
    """The same night with alarms and a stop."""
    fake = night()
    fake.stops.put(StopScope.QUEUE, "payments.payouts", OLLE, "drill")
    early = START - timedelta(minutes=12)
    missing = "Worker 3f2c on a7 was not heard of for 4 min."
    fake.alarms.add(AlarmKind.WORKER_MISSING, "a7", missing, opened_at=early, told=AlarmTold.SENT, told_at=START)
    fake.alarms.add(
        AlarmKind.LATE,
        "statements.nightly",
        "Late by 12 min.",
        opened_at=early,
        told=AlarmTold.GIVEN_UP,
        told_words="the receiver answered 503",
    )
    return fake


@asynccontextmanager
async def at_place(
    fake: FakeService, key: str, *, person: str = "o.lind", size: tuple[int, int] = (80, 24)
) -> AsyncIterator[tuple[Console, Pilot[None]]]:
    """The console at the place with that key, read."""
    app = console(fake, person=person)
    async with app.run_test(size=size) as pilot:
        if person != "i.feed":
            await ready(app)
        await pilot.press(key)
        await idle(app)
        yield app, pilot


async def dialog(app: Console, kind: type[D]) -> D:
    """The dialog of that kind, once it is in front and takes keys."""
    await until(app, lambda: isinstance(app.screen, kind), kind.__name__)
    await settled(app)
    assert isinstance(app.screen, kind)
    return app.screen


def type_into(form: RecoveryForm, **texts: str) -> None:
    """Types into the fields with these ids; `reason` into the reason."""
    for name, text in texts.items():
        if name == "reason":
            form.query_one(Prose).text = text
        else:
            form.query_one(f"#{name}", Input).value = text


def press(form: ActingDialog[Any], button: str = "act") -> None:
    """Presses a button of the dialog."""
    form.query_one(f"#{button}", Button).press()


def made(fake: FakeService) -> FakeRecovery:
    """The recovery that was made last."""
    return list(fake.recoveries.all.values())[-1]
