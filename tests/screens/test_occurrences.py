"""The screens of occurrences: four states, pages, attempts with refused late writes, items with how each ended, cancelling
with a reason; whatever the service sends is shown and never obeyed (TUI-01)."""

from __future__ import annotations

import functools
from datetime import timedelta
from typing import Any

import pytest

from jobconsole.app import Console
from jobconsole.present.text import line
from jobconsole.screens.occurrence import OccurrenceScreen
from jobconsole.screens.occurrence_cancel import CANCELLING
from jobconsole.screens.schedules import SchedulesScreen
from jobcontract.schedules import Disabled
from jobcontract.session import Person
from jobcontract.states import AttemptEnding, OccurrenceState, OutcomeKind, ScheduleStanding, WorkerStanding
from tests.hostile import HOSTILE, harmless
from tests.present.scheduled import (
    BACK,
    ITEMS,
    LATE,
    LEASE,
    NOW,
    RHYTHM,
    RUNNING,
    SKIPPED,
    attempt,
    detail,
    item,
    occurrence,
    schedule,
    whole,
    worker,
)
from tests.screens.acting_stage import flat, said
from tests.screens.idle import idle, lines, until
from tests.screens.money_stage import closed, give, order, told
from tests.screens.schedule_stage import Stage, listed, on_schedules, opened
from tests.screens.stage import also

DONE: dict[str, Any] = {"state": OccurrenceState.COMPLETED, "cause": None, "error": None, "attempts": 1}


def staged(count: int = 120) -> Stage:
    """A schedule with so many occurrences: the newest runs, every tenth one is a dead letter."""
    stage = Stage()
    stage.board.schedules = [schedule()]
    stage.board.occurrences = [
        occurrence(
            number,
            name=f"statements.nightly@{NOW - timedelta(days=number):%Y-%m-%dT00:30:00Z}",
            scheduled_at=NOW - timedelta(days=number),
            **(RUNNING if number == 0 else {} if number % 10 == 0 else DONE),
        )
        for number in range(count)
    ]
    return stage


def _asks_for(app: Console, name: str) -> bool:
    return isinstance(app.screen, OccurrenceScreen) and app.screen.name_asked == name


async def test_an_occurrence_is_opened_by_its_name_from_every_screen_of_the_place() -> None:
    stage = staged(5)
    names = [each.name for each in stage.board.occurrences]
    async with on_schedules(stage) as (app, _, pilot):
        await pilot.press("enter")
        await listed(app)
        for name in names[2:4]:
            await pilot.press("colon", *name, "enter")
            await until(app, functools.partial(_asks_for, app, name), "that occurrence")
        await pilot.press("colon", *"nowhere", "enter")
        await said(app, "There is no place, queue or command nowhere.")


@pytest.mark.requirement("persist-occurrence-state")
async def test_occurrences_come_in_pages_by_state_and_the_cursor_stays_on_its_own() -> None:
    stage = staged()
    async with on_schedules(stage) as (app, _, pilot):
        await pilot.press("enter")
        screen = await listed(app)
        assert "Occurrences of statements.nightly · 50 rows, more follow" in flat(app)
        assert "◆ processing 2026-10-24 22:00Z 2 of 3 1 of 120 failed" in flat(app)
        await pilot.press("end")
        await until(app, lambda: len(screen.rows) == 120, "every page")
        await idle(app)
        assert screen.table.cursor == 119
        key = screen.table.cursor_key
        stage.board.occurrences.insert(0, occurrence(500, scheduled_at=NOW + timedelta(days=1), **DONE))
        stage.told("statements.nightly")
        await until(app, lambda: len(screen.rows) == 121, "the new one")
        assert (screen.table.cursor_key, screen.table.cursor) == (key, 120)
        await pilot.press("v")
        await said(app, "No occurrence of statements.nightly is scheduled. v shows the next state.")
        await pilot.press("v", "v")
        await until(app, lambda: len(screen.rows) == 11, "the dead letters")
        assert {each.state for each in screen.rows.rows} == {OccurrenceState.DEAD_LETTER}
        asked = stage.asked.count("occurrences")
        stage.told("another.schedule")
        await idle(app)
        assert stage.asked.count("occurrences") == asked, "a hint of another schedule is none of its business"
        behind = stage.asked.count("schedules")
        await pilot.press("backspace")
        await until(app, lambda: stage.asked.count("schedules") > behind, "a look at what was missed")
        assert behind == 1, "a place that is not in front asks nothing"


@pytest.mark.requirement(
    "run-one-command-per-item-in-selection", "store-execution-leases", "prevent-duplicate-completion"
)
@pytest.mark.parametrize("size", [(80, 24), *also((140, 40), (60, 15))])
async def test_one_occurrence_with_its_lease_attempts_late_writes_and_items(size: tuple[int, int]) -> None:
    stage = staged(3)
    stage.board.whole = whole(occurrence(**RUNNING))
    outcomes = [OutcomeKind.FAILED] * 2 + [None] * 3 + [OutcomeKind.DONE] * 115
    stage.board.items = [
        item(at, outcome, sentence="No address." if at < 3 else None) for at, outcome in enumerate(outcomes, 1)
    ]
    async with on_schedules(stage, size=size) as (app, _, pilot):
        await pilot.press("enter")
        await listed(app)
        await pilot.press("enter")
        screen = await opened(app)
        roomy = size[1] > 20
        shown = flat(app)
        assert "◆ processing · statements.nightly@2026-10-24T00:30:00Z" in shown
        assert "Worker 3f2c19aa on a7 · fence 5 · taken" in shown
        assert "✗ failed 1 c-4401" in shown
        if roomy:
            for words in (
                "2 ◆ holds it now 5 3f2c19aa a7",
                "! late, refused 2 77e0c1d1 b2",
                "1 ✗ Worker lost 2 77e0c1d1",
            ):
                assert words in shown, words
            assert "✗ failed · c-4401 · Customer 1 · 1 attempt" in shown
        await pilot.press("end")
        await until(app, lambda: len(screen.items) == 120 and screen.items_table.cursor == 119, "every item")
        await pilot.press("tab", "down")
        await idle(app)
        assert screen.list == "attempts"
        if roomy:
            assert "It changed nothing: the lease was not its any more." in flat(app)
        await pilot.press("up")
        assert screen.attempts_table.cursor_key == "fence 5"
        stage.board.whole = whole(
            occurrence(), attempts=(attempt(4, AttemptEnding.FAILED), *stage.board.whole.attempts)
        )
        stage.told("statements.nightly")
        await said(app, "✗ dead letter · statements.nightly@2026-10-24T00:30:00Z")
        await said(app, "its attempts are used up")
        assert screen.attempts_table.cursor_key == "fence 5", "the attempt that ran is the one that ended"
        assert len(screen.items) == 120, "what is in sight was read again, and the cursor's row with it"


@pytest.mark.requirement("observe-job-cancellation")
async def test_cancelling_says_what_it_does_takes_a_reason_and_is_never_one_key() -> None:
    stage = staged(1)
    stage.board.whole = whole(occurrence(**RUNNING))
    async with on_schedules(stage) as (app, screen, pilot):
        assert isinstance(screen, SchedulesScreen)
        await pilot.press(":", *"statements.nightly@2026-10-24T00:30:00Z", "enter")
        await opened(app)
        await pilot.press("X")
        form = await order(app)
        assert "It runs on a7: its Worker stops it within a second." in told(form)
        assert (str(form.act_button.label), str(form.cancel_button.label)) == (
            "Cancel the occurrence",
            "Leave it as it is",
        )
        give(form)
        await until(app, lambda: "needed" in flat(app), "what is missing")
        assert stage.reasons == []
        give(form, reason="bank down")
        await closed(app)
        await said(app, "cancelling asked for by o.lind")
        await said(app, ": bank down")
        assert stage.reasons == ["bank down"]
        await pilot.press("X")
        await said(app, "Cancel the occurrence …: it was asked to be cancelled already")


@pytest.mark.requirement("observe-job-cancellation")
@pytest.mark.parametrize("listing", [True, False], ids=["in-the-list", "in-its-own-screen"])
async def test_that_a_worker_is_about_to_end_it_is_said_only_until_it_did(listing: bool) -> None:
    stage = staged(1)
    stage.board.occurrences = [occurrence(**RUNNING)]
    stage.board.whole = whole(occurrence(**RUNNING))
    async with on_schedules(stage) as (app, _, pilot):
        await pilot.press("enter")
        await listed(app)
        if not listing:
            await pilot.press("enter")
            await opened(app)
        await pilot.press("X")
        give(await order(app), reason="bank down")
        await closed(app)
        await said(app, CANCELLING)
        over = occurrence(cause="cancelled", cancel_asked_at=NOW)
        stage.board.occurrences, stage.board.whole = [over], whole(over)
        stage.told("statements.nightly")
        await said(app, "✗ dead letter")
        await idle(app)
        assert CANCELLING not in flat(app)


@pytest.mark.requirement("observe-job-cancellation")
async def test_who_may_not_cancel_is_told_whom_to_ask() -> None:
    stage = staged(1)
    async with on_schedules(stage, person="m.ito") as (app, _, pilot):
        await pilot.press("enter")
        await listed(app)
        await pilot.press("X")
        await said(app, "That needs occurrence.cancel (operator). Ask an administrator of leeds")
        assert stage.reasons == []


def fill(stage: Stage, text: str) -> None:
    """Lets everything that the service says be `text`."""
    person, board = Person(id=f"p {text}", name=text), stage.board
    off = Disabled(at=NOW, until=None, by=person, reason=f"o {text}")
    rhythm = RHYTHM.model_copy(update={"words": f"r {text}", "reason": text, "zone": text})
    shown = schedule(
        standing=ScheduleStanding.PARKED,
        standing_words=f"w {text}",
        title=text,
        rhythm=rhythm,
        disabled=off,
        selection=text,
        lock=text,
        cursor=text,
        position=text,
    )
    planned = BACK[0].model_copy(update={"words": f"c {text}", "abbreviation": text})
    skipped = SKIPPED.model_copy(update={"cause": f"s {text}", "zone": text})
    board.schedules = [shown]
    board.details = {shown.id: detail(shown, next=(planned,), next_words=text, skipped=(skipped,))}
    lease = LEASE.model_copy(update={"host": f"h {text}", "worker": text})
    running = occurrence(**{**RUNNING, "lease": lease, "error": f"e {text}", "zone": text, "name": f"n {text}"})
    asked = running.model_copy(update={"cancel_asked_at": NOW, "cancelled_by": person, "cancel_reason": text})
    board.occurrences = [asked]
    board.whole = whole(
        asked,
        attempts=(attempt(2, AttemptEnding.FAILED, host=text, worker=text, error=text),),
        refused=(LATE.model_copy(update={"host": text, "worker": text, "what": text}),),
        items=(ITEMS[0].model_copy(update={"key": text, "label": text, "sentence": f"i {text}"}),),
    )
    board.workers = [worker(1, WorkerStanding.SILENT, host=f"h {text}", version=text)]


@pytest.mark.requirement("TUI-01")
async def test_every_screen_of_schedules_shows_hostile_texts_as_they_are() -> None:
    stage = staged(1)
    async with on_schedules(stage, size=(140, 40)) as (app, _, pilot):
        await pilot.press("enter")
        await listed(app)
        await pilot.press("enter")
        await opened(app)
        for raw in (text[:60] for text in HOSTILE if text and "\ud800" not in text):
            fill(stage, raw)
            await shows(app, raw, f"e {raw}", f"i {raw}", f"h {raw}")
            await pilot.press("tab")
            await shows(app, raw)
            await pilot.press("tab")
        for key, keys, starts in (("backspace", "", "n"), ("backspace", "", "wrcso"), ("6", "", "h")):
            await pilot.press(key, *keys)
            for raw in (text[:60] for text in HOSTILE[::3] if text and "\ud800" not in text):
                fill(stage, raw)
                await shows(app, raw, *(f"{start} {raw}" for start in starts))


async def shows(app: Console, raw: str, *sent: str) -> None:
    """The screen in front, read again, shows what was sent as data."""
    screen = app.place_screen
    await screen.reload()
    await idle(app)
    painted = lines(app)
    assert all(map(harmless, painted)), (raw, [each for each in painted if not harmless(each)])
    shown = "".join("".join(painted).replace("│", "").split())
    for text in sent:
        assert "".join(line(text)[:8].split()) in shown, (screen.PLACE, text)
    assert isinstance(screen, OccurrenceScreen) or screen.PLACE != "occurrence"
