"""The places of schedules and Workers: what needs a look is marked, the next five in UTC and on the zone's clock, what was
skipped; rows follow hints and the cursor stays; empty, refused and failing are sentences; one tenant at a time."""

from __future__ import annotations

from datetime import timedelta

import pytest

from jobconsole.screens.choose import ChooseScreen
from jobconsole.screens.schedules import SchedulesScreen
from jobconsole.screens.workers import WorkersScreen
from jobcontract.states import ScheduleStanding, WorkerStanding
from tests.present.scheduled import NOW, occurrence, schedule, worker
from tests.screens.acting_stage import flat, said
from tests.screens.idle import idle, lines, until
from tests.screens.schedule_stage import OTHER, Stage, believable, listed, on_schedules
from tests.screens.stage import also

NEXT = (
    "2026-10-25 00:30Z Sun 01:30 BST in 2 h",
    "– 2026-10-25 01:30Z Sun 01:30 GMT ▲ 01:30 comes twice that night:",
    "2026-10-28 01:30Z Wed 01:30 GMT in 3 d",
)
ROWS = (
    ("activations.hourly every hour", "● on time"),
    ("invoices.import", "✗ parked"),
    ("payouts.rescore every minute", "▲ late"),
    ("settlement.close", "◌ retrying"),
    ("statements.nightly daily at 01:30", "● on time"),
)


@pytest.mark.requirement(
    "carry-the-schedule-on-the-job-record", "define-business-local-clock-behavior", "define-misfire-recovery", "TIME-01"
)
@pytest.mark.parametrize("size", [(80, 24), *also((140, 40), (60, 15))])
async def test_every_schedule_with_what_needs_a_look_and_its_next_five_and_what_was_skipped(
    size: tuple[int, int],
) -> None:
    stage = Stage()
    stage.board.schedules = believable()
    async with on_schedules(stage, size=size) as (app, screen, pilot):
        shown = flat(app)
        assert "Schedules 5 · 1 late · 1 parked" in shown
        if size[1] > 20:
            rows = [" ".join(row.split()) for row in lines(app)]
            assert all(any(words in row and state in row for row in rows) for words, state in ROWS), shown
        await pilot.press("u")
        await said(app, "✗ Cannot be computed: Europe/Lundon is no time zone.")
        await pilot.press("end")
        await until(app, lambda: screen.detail and screen.detail.schedule.id == "statements.nightly", "the detail")
        await pilot.press("d")
        await idle(app)
        assert screen.has_class("-tall")
        assert screen.focused is screen.pane
        assert "▸ statements.nightly" in flat(app) or size[0] == 140
        for words in NEXT if size[1] > 20 else NEXT[:1]:
            assert " ".join(words.split()) in flat(app), words
        await pilot.press("end")
        await idle(app)
        shown = flat(app)
        both = ("that the clock leaves out runs at the end", "that comes twice runs at the first of the two (first)")
        skipped = ("4 from 2026-10-21 20:00Z to 21:00Z · Missed by more than 10 min", "2026-10-21 22:00Z · decided 3 d")
        assert size[1] < 20 or all(words in shown for words in both), shown
        assert size[1] < 20 or all(words in shown for words in skipped), shown
        await pilot.press("backspace")
        assert not screen.has_class("-tall")
        await pilot.press("enter")
        assert (await listed(app)).schedule == "statements.nightly"


async def test_a_screen_with_room_shows_all_thirty_outcomes_in_the_list() -> None:
    stage = Stage()
    stage.board.schedules = believable()
    async with on_schedules(stage, size=(200, 50)) as (app, _, __):
        assert "every hour" in flat(app)
        row = next(line for line in lines(app) if "statements.nightly" in line)
        assert "✓" * 24 + "✗△✓✓✓✓" in row


async def test_rows_follow_hints_and_the_cursor_stays_on_its_schedule() -> None:
    stage = Stage()
    stage.board.schedules = believable()
    async with on_schedules(stage) as (app, screen, pilot):
        await pilot.press("end")
        await until(app, lambda: screen.detail and screen.detail.schedule.id == "statements.nightly", "the detail")
        late = schedule(standing=ScheduleStanding.LATE, standing_words="Late by 9 s.")
        stage.board.schedules = [schedule("a.first"), *stage.board.schedules[:-1], late]
        stage.told("statements.nightly")
        await said(app, "▲ Late by 9 s.")
        assert "Schedules 6 · 2 late" in flat(app)
        assert (screen.table.cursor_key, screen.table.cursor) == ("statements.nightly", 5)
        stage.board.schedules = [
            late.model_copy(update={"next_at": NOW + timedelta(seconds=90), "standing_words": "Soon."})
        ]
        stage.told()
        await said(app, "▲ Soon.")
        before = len(stage.asked)
        stage.fake.advance(80)
        app.service.clock._learned = (stage.fake.time, app.service.clock.monotonic(), 0.0)
        app.tick()
        left = ("in 10 s", "in 9 s", "in 8 s")  # as slow as the machine is
        await until(app, lambda: any(words in flat(app) for words in left), "the countdown")
        assert len(stage.asked) == before, "a countdown asks nobody"


async def test_what_should_have_run_is_asked_about_though_nobody_tells() -> None:
    stage = Stage()
    stage.board.schedules = [schedule(next_at=NOW + timedelta(seconds=30))]
    async with on_schedules(stage) as (app, _, _pilot):
        late = schedule(standing=ScheduleStanding.LATE, standing_words="Late by 20 s.")
        stage.board.schedules = [late]
        stage.fake.advance(50)
        app.service.clock._learned = (stage.fake.time, app.service.clock.monotonic(), 0.0)
        for _ in range(SchedulesScreen.EVERY):
            app.tick()
        await said(app, "▲ Late by 20 s.")


@pytest.mark.requirement("treat-unavailable-schedule-stores-as-outages")
async def test_a_store_that_is_away_is_said_rows_stay_marked_and_it_comes_back_by_itself() -> None:
    stage = Stage()
    stage.board.schedules = believable()
    async with on_schedules(stage, size=(120, 30)) as (app, screen, _):
        assert not screen.table.has_class("-stale")
        stage.status = 503
        stage.told()
        said_so = "✗ The database cannot be reached; nothing was done. What is shown is as of 2026-10-24 22:00:0"
        await said(app, said_so)
        assert screen.table.has_class("-stale")
        assert "payouts.rescore" in flat(app)
        assert "It is tried again every 10 s." in flat(app)
        stage.status = None
        for _ in range(screen.EVERY):  # no hint comes: it looks by itself
            screen.tick()
        await until(app, lambda: not screen.failure, "the store")
        await idle(app)
        assert not screen.table.has_class("-stale")
        assert said_so not in flat(app)
        stage.fake.away = True
        stage.fake.close_streams()
        await until(app, lambda: not app.link.connected, "the end of the link")
        app.tick()
        assert screen.table.has_class("-stale")


async def test_nothing_there_and_not_permitted_are_sentences() -> None:
    stage = Stage()
    stage.status = 403
    async with on_schedules(stage) as (app, _, pilot):
        await said(app, "✗ That needs schedule.read (finance or operator or auditor).")
        await pilot.press("6")
        await until(app, lambda: isinstance(app.screen, WorkersScreen), "the Workers")
        await said(app, "✗ That needs schedule.read")
        stage.status = None
        await pilot.press("r")
        await said(app, "No Worker lives, and none stopped within the last day: nothing of any schedule runs")
        await pilot.press("5", "r")
        await said(app, "No job of the records runs by a schedule here.")


@pytest.mark.requirement("scope-occurrences-and-leases-by-tenant")
async def test_another_tenant_shows_its_own_schedules_occurrences_and_workers_only() -> None:
    stage = Stage()
    stage.board.schedules, stage.board.workers = [schedule("leeds.only")], [worker(1, WorkerStanding.LIVE)]
    other = stage.boards[OTHER]
    other.schedules = [schedule("york.only", tenant=OTHER)]
    other.occurrences = [occurrence(1, schedule="york.only", name="york.only@2026-10-24T00:30:00Z", tenant=OTHER)]
    async with on_schedules(stage) as (app, _, pilot):
        assert "leeds.only" in flat(app)
        await pilot.press("colon", *"tenant.switch", "enter")
        await until(app, lambda: isinstance(app.screen, ChooseScreen), "the choice")
        await pilot.press(*"york", "enter")
        await until(app, lambda: isinstance(app.screen, SchedulesScreen) and app.tenant == OTHER, "the other tenant")
        await said(app, "york.only")
        assert "leeds.only" not in flat(app)
        await pilot.press("i")
        await listed(app)
        await said(app, "york.only@2026-10-24T00:30:00Z")
        await pilot.press("6")
        await said(app, "No Worker lives")


async def test_workers_are_looked_at_again_by_themselves_and_a_silent_one_is_said() -> None:
    stage = Stage()
    stage.board.workers = [worker(1, WorkerStanding.LIVE), worker(2, WorkerStanding.DRAINING)]
    async with on_schedules(stage, key="6") as (app, _, _pilot):
        shown = flat(app)
        assert "Workers · 1 live · 1 draining · 6 of 16 slots used here" in shown
        assert "● live a1 3f2c19a1 3 of 16 4 s ago 1 h" in shown
        silent = worker(1, WorkerStanding.SILENT, beat_at=NOW - timedelta(minutes=2))
        stage.board.workers = [silent]
        for _ in range(WorkersScreen.EVERY):
            app.tick()
        await said(app, "✗ Worker 3f2c19a1 on a1 was not heard of for 2 min: another one takes over what it holds")
        assert "✗ silent a1" in flat(app)
        assert "✗ No Worker is live: what is due waits until one is started, or heard of again." in flat(app)
