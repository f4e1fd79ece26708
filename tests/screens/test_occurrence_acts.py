"""Replaying and discarding one occurrence; the lease timeline with every holder, late writes that were refused, and replays;
draining a Worker and letting it take work again."""

from __future__ import annotations

import pytest

from jobconsole.screens.order_form import OrderForm
from jobconsole.widgets.form import Prose
from jobcontract.states import AttemptEnding, DeadCause, OccurrenceState, WorkerStanding
from tests.present.scheduled import LATE, NOW, attempt
from tests.screens.act_stage import (
    DEAD,
    DONE,
    HOUR,
    HOURLY,
    MONEY,
    REASON,
    RUNS,
    acting,
    asked_of,
    dead,
    faults,
    order,
    send,
    staged,
)
from tests.screens.acting_stage import flat, said
from tests.screens.idle import idle, until
from tests.screens.schedule_stage import listed, opened
from tests.screens.stage import also

REPLAYS = pytest.mark.requirement("audit-manual-replay")


@REPLAYS
@pytest.mark.parametrize("size", [(80, 24), *also((140, 40))])
async def test_a_replay_runs_again_what_is_not_done_and_parts_the_timeline_with_who_and_why(
    size: tuple[int, int],
) -> None:
    fake = staged()
    found = dead(fake)
    fake.jobs.refused[found] = [LATE]
    async with acting(fake, size=size) as (app, screen, pilot):
        screen.query_one("#schedules").move_to(HOURLY)  # type: ignore[attr-defined]  # the place's table
        await pilot.press("i")
        await listed(app)
        await idle(app)
        await pilot.press("enter")
        shown = await opened(app)
        await pilot.press("y")
        form = await order(app)
        assert "3 items run again; 2 done stay done." in asked_of(form)
        assert str(form.act_button.label) == "Replay the occurrence"
        name = fake.jobs.occurrences[found].name
        form.query_one(Prose).text = REASON
        await until(app, lambda: REASON in (form.copyable() or ""), "the command")
        assert form.copyable() == f"jobconsole occurrences replay {name} --reason '{REASON}'"
        await send(app, form)
        await said(app, f"{name} runs again: replay 1.")
        row = fake.jobs.occurrences[found]
        assert (row.state, row.attempts, row.replays, row.error) == (OccurrenceState.SCHEDULED, 0, 1, None)
        fake.jobs.change(found, state=DEAD, ended_at=NOW + HOUR, attempts=1, cause=DeadCause.FAILED)
        again = attempt(1, AttemptEnding.FAILED, fence=4, ended_at=NOW + HOUR, replay=1)
        fake.jobs.attempts[found].append(again)
        await until(app, lambda: shown.tried.attempts == 4, "the attempt of the replay")
        await pilot.press("tab")
        await idle(app)
        told = flat(app)
        assert "[4 attempts, 1 late write]" in told
        order_of = [
            told.index(words) for words in ("1 ✗ failed 4", "↻ replay 1", f'replayed by o.lind 22:00Z: "{REASON}"')
        ]
        assert order_of == sorted(order_of)
        assert "! late, refused 2" in told
        assert told.index("3 ✗ failed 3") < told.index("2 ◌ to be retried 2") < told.index("1 ◌ to be retried 1")
        await pilot.press("home", "down")
        await said(app, "Before: ✗ dead letter, its attempts are used up")
        assert "3 items ran again." in flat(app)


@REPLAYS
@pytest.mark.parametrize("key", ["y", "K"])
async def test_one_that_changed_meanwhile_is_refused_and_cannot_be_sent_again_from_that_dialog(key: str) -> None:
    fake = staged()
    found = dead(fake)
    async with acting(fake) as (app, screen, pilot):
        screen.query_one("#schedules").move_to(HOURLY)  # type: ignore[attr-defined]  # the place's table
        await pilot.press("i")
        await listed(app)
        await idle(app)
        await pilot.press(key)
        form = await order(app)
        row = fake.jobs.occurrences[found]
        fake.jobs.occurrences[found] = row.model_copy(update={"version": row.version + 1})
        await send(app, form)
        assert "changed since you looked: it is dead-letter by now." in faults(form)
        assert form.act_button.disabled
        await pilot.press("escape")
        await until(app, lambda: not isinstance(app.screen, OrderForm), "the list")
        await idle(app)
        if key == "y":
            return
        await pilot.press("K")
        form = await order(app)
        assert "3 items of it stay undone." in asked_of(form) or "It is discarded" in asked_of(form)
        await send(app, form, "the customer left")
        await said(app, 'discarded by o.lind: "the customer left"')
        assert fake.jobs.occurrences[found].discard_reason == "the customer left"
        await pilot.press("K")
        await said(app, "it was discarded already")


@REPLAYS
@pytest.mark.parametrize(
    ("schedule", "state", "key", "person", "why"),
    [
        (HOURLY, RUNS, "y", "o.lind", "it has not ended: processing"),
        (HOURLY, DONE, "K", "o.lind", "it is no dead letter: completed"),
        (HOURLY, DEAD, "y", "m.ito", "That needs occurrence.replay (operator)."),
        (HOURLY, DEAD, "K", "a.nagy", "That needs occurrence.discard (operator)."),
        (MONEY, DEAD, "y", "o.lind", "it moves money: only a confirmed recovery replays that"),
    ],
)
async def test_what_may_not_be_replayed_or_put_away_says_why(
    schedule: str, state: OccurrenceState, key: str, person: str, why: str
) -> None:
    fake = staged()
    fake.jobs.plan(schedule, NOW - HOUR, state)
    async with acting(fake, person=person) as (app, screen, pilot):
        screen.query_one("#schedules").move_to(schedule)  # type: ignore[attr-defined]  # the place's table
        await pilot.press("i")
        await listed(app)
        await idle(app)
        await pilot.press(key)
        await said(app, why)
        assert not isinstance(app.screen, OrderForm)


@pytest.mark.requirement("provide-operational-recovery-procedures")
async def test_a_worker_is_drained_with_a_reason_that_everybody_sees_unless_it_is_the_last_one() -> None:
    fake = staged()
    async with acting(fake, key="6") as (app, _, pilot):
        await pilot.press("home", "D")
        form = await order(app)
        assert "ends what it has without a limit of time" in asked_of(form)
        await send(app, form, "kernel patch")
        await said(app, "takes nothing new, asked by o.lind")
        assert '"kernel patch"' in flat(app)
        assert fake.jobs.workers[0].standing is WorkerStanding.DRAINING
        await pilot.press("D")
        await said(app, "it was asked to take nothing new already")
        await pilot.press("down", "D")
        form = await order(app)
        await send(app, form, "this one, too")
        assert "is the last one that takes work: start another one first." in faults(form)
        await pilot.press("escape")
        await until(app, lambda: not isinstance(app.screen, OrderForm), "the list")
        await pilot.press("end", "D")
        await said(app, "it has stopped")
        await pilot.press("home", "E")
        form = await order(app)
        assert '"kernel patch"' in asked_of(form)
        await send(app, form)
        await said(app, "takes work again.")
        assert fake.jobs.workers[0].drain_asked_at is None
