"""Owns what tests of an operator's acts put on the stage: the fake service with an hourly schedule, a manual one and one that
moves money, occurrences of each state, three Workers; the console at a place of it. Everything is as of `NOW`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

from textual.message import Message
from textual.pilot import Pilot
from textual.widgets import Button

from jobconsole.app import Console
from jobconsole.client.fake import FakeService
from jobconsole.screens.order_form import OrderForm
from jobconsole.screens.watching import WatchingScreen
from jobconsole.widgets.form import Prose
from jobcontract.schedules import RunGuard
from jobcontract.states import AttemptEnding, MisfirePolicy, Moves, OccurrenceState, OutcomeKind, WorkerStanding
from tests.present.scheduled import NOW, attempt, worker
from tests.screens.idle import idle, until
from tests.screens.stage import console, freeze, ready

HOURLY, BY_HAND, MONEY = "statements.hourly", "accounts.close", "releases.bank-opens"
DEAD, DONE, RUNS, WAITS = (
    OccurrenceState.DEAD_LETTER,
    OccurrenceState.COMPLETED,
    OccurrenceState.PROCESSING,
    OccurrenceState.SCHEDULED,
)
HOUR = timedelta(hours=1)
REASON = "the bank is back"


def staged() -> FakeService:
    """The service: of the hourly schedule one dead letter, then one that is done, then one that runs."""
    fake = FakeService(start=NOW)
    jobs = fake.jobs
    hourly = jobs.add(HOURLY, every=3_600, title="Hourly statements")
    assert hourly.misfire is not None
    once = hourly.misfire.model_copy(update={"policy": MisfirePolicy.ONCE, "words": "The latest missed one runs."})
    jobs.schedules[HOURLY] = hourly.model_copy(update={"misfire": once})
    by_hand = jobs.add(BY_HAND, every=None, title="Close accounts")
    guard = RunGuard(permission="schedule.run", windows="Mon to Fri 08:00 to 18:00 UTC", where=("night", "day"))
    jobs.schedules[BY_HAND] = by_hand.model_copy(update={"guard": guard})
    money = jobs.add(MONEY, every=86_400, title="Release what the bank holds")
    jobs.schedules[MONEY] = money.model_copy(update={"moves": Moves.MONEY})
    jobs.workers += [worker(1, WorkerStanding.LIVE), worker(2, WorkerStanding.LIVE), worker(3, WorkerStanding.STOPPED)]
    return fake


def dead(fake: FakeService, hours: int = 3, schedule: str = HOURLY) -> str:
    """A dead letter of so many hours ago: two of its five items are done; its id."""
    error = "2 of 5 items failed: the mail server refused the address."
    made = fake.jobs.plan(
        schedule, NOW - hours * HOUR, DEAD, attempts=3, error=error, started_at=NOW - hours * HOUR, ended_at=NOW - HOUR
    )
    fake.jobs.put_items(made, OutcomeKind.DONE, OutcomeKind.DONE, OutcomeKind.FAILED, OutcomeKind.FAILED, None)
    fake.jobs.attempts[made] = [
        attempt(number, AttemptEnding.FAILED if number == 3 else AttemptEnding.RETRY, fence=number)
        for number in (1, 2, 3)
    ]
    return made


@asynccontextmanager
async def acting(
    fake: FakeService, *, key: str = "5", size: tuple[int, int] = (80, 24), person: str = "o.lind", still: bool = False
) -> AsyncIterator[tuple[Console, WatchingScreen, Pilot[None]]]:
    """The console at the place with that key, everything read; `still`: its time stands."""
    app = console(fake, person=person)
    async with app.run_test(size=size) as pilot:
        await ready(app)
        if still:
            freeze(app, NOW)
        await pilot.press(key)
        await until(app, lambda: app.place_screen.PLACE in ("schedules", "workers"), "the place")
        await idle(app)
        screen = app.place_screen
        assert isinstance(screen, WatchingScreen)
        yield app, screen, pilot


async def order(app: Console) -> OrderForm[object]:
    """The dialog of an act, once it is in front and takes keys."""
    await until(
        app, lambda: isinstance(app.screen, OrderForm) and app.screen.counts(Message().time), "the dialog of an act"
    )
    assert isinstance(app.screen, OrderForm)
    return app.screen


async def send(app: Console, form: OrderForm[object], reason: str = REASON) -> None:
    """Gives the reason, presses the acting button, and waits until it is done or refused."""
    form.query_one(Prose).text = reason
    form.query_one("#act", Button).press()
    await until(app, lambda: app.screen is not form or (not form.busy and faults(form)), "the answer to the act")


def asked_of(form: OrderForm[object]) -> str:
    """What the dialog says that the act does, without its line breaks."""
    return " ".join(str(form.about.content).split())


def faults(form: OrderForm[object]) -> str:
    """What the dialog says is wrong: in its line of faults, or under a field."""
    said = [str(each.render()) for each in form.query("#fault, .under.-fault") if each.display]
    return " ".join(" ".join(said).split())
