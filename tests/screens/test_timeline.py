"""The timeline of an incident: asked for from where the incident is seen, told in order, by kind, and written as Markdown."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from textual.pilot import Pilot

from jobconsole.app import Console
from jobconsole.client.fake import FakeService
from jobconsole.screens.lines_form import LinesForm
from jobconsole.screens.timeline import TimelineScreen
from jobcontract.operating import TimelineKind
from tests.screens.acting_stage import flat, said
from tests.screens.idle import idle, until
from tests.screens.stage import START, also, console, ready

pytestmark = pytest.mark.requirement("provide-operational-recovery-procedures")
HOUR = timedelta(hours=1)
NIGHT = (
    (TimelineKind.WORKER, "Worker 3f2c on a7", "Gave its last sign of life; it never said that it stops.", 8, None),
    (TimelineKind.ALARM, "statements.nightly", "Alarm late: Late by 4 min.", 7.5, None),
    (TimelineKind.OCCURRENCE, "statements.nightly@2026-03-02T01:30:00Z", "Dead letter: | *no* file", 7, None),
    (TimelineKind.SCHEDULE, "statements.nightly", "Olle Lind disabled it: Wrong file", 6, "o.lind"),
    (TimelineKind.RECOVERY, "fern-7", "Olle Lind made it: The night", 2, "o.lind"),
)


def files(folder: Path) -> list[Path]:
    """What was written there."""
    return list(folder.glob("*"))


def night() -> FakeService:
    """A service that had a bad night."""
    fake = FakeService(start=START)
    fake.jobs.add("statements.nightly", every=3_600)
    for kind, subject, sentence, hours, person in NIGHT:
        fake.trail.happened(kind, subject, sentence, START - hours * HOUR, person=person)
    fake.trail.happened(TimelineKind.ACT, "old", "Long ago.", START - 40 * HOUR)
    return fake


@asynccontextmanager
async def on_timeline(
    fake: FakeService, *, size: tuple[int, int] = (80, 24), place: str = "5", person: str = "o.lind"
) -> AsyncIterator[tuple[Console, TimelineScreen, Pilot[None]]]:
    """The timeline of the last twelve hours, asked for from a place."""
    app = console(fake, person=person)
    async with app.run_test(size=size) as pilot:
        await ready(app)
        await pilot.press(place)
        await idle(app)
        await pilot.press("T")
        await until(app, lambda: isinstance(app.screen, LinesForm), "the form")
        await pilot.press("enter")
        await until(app, lambda: isinstance(app.screen, TimelineScreen) and app.screen.told_at, "the timeline")
        await idle(app)
        screen = app.screen
        assert isinstance(screen, TimelineScreen)
        yield app, screen, pilot


@pytest.mark.parametrize("given", [((80, 24), "5"), *also(((140, 40), "7"), ((60, 15), "0"))])
async def test_it_tells_the_last_twelve_hours_in_order_from_any_place_of_an_incident(
    given: tuple[tuple[int, int], str],
) -> None:
    size, place = given
    async with on_timeline(night(), size=size, place=place) as (app, screen, pilot):
        assert [entry.subject for _, entry in screen.rows.rows] == [subject for _, subject, *_ in NIGHT]
        shown = flat(app)
        assert "12 h from" in shown
        assert "◆ worker" in shown
        await pilot.press("down", "down")
        if size[1] > 20:
            await said(app, "Dead letter: | *no* file")
        await pilot.press("backspace")
        assert not isinstance(app.screen, TimelineScreen)


async def test_another_stretch_and_each_kind_alone() -> None:
    async with on_timeline(night()) as (app, screen, pilot):
        await pilot.press("/")
        await until(app, lambda: isinstance(app.screen, LinesForm), "the form")
        for entry in app.screen.query("LineEntry"):
            entry.value = {"from": "-2d", "to": "-30h", "kinds": ""}[str(entry.name)]  # type: ignore[attr-defined]  # it has one
        await pilot.press("enter")
        await until(app, lambda: [each.subject for _, each in screen.rows.rows] == ["old"], "the other stretch")
        await pilot.press("/")
        await until(app, lambda: isinstance(app.screen, LinesForm), "the form")
        for entry in app.screen.query("LineEntry"):
            entry.value = {"from": "-12h", "to": "", "kinds": "alarm, wrong"}[str(entry.name)]  # type: ignore[attr-defined]  # it has one
        await pilot.press("enter")
        await said(app, "only: wrong is no kind.")
        await pilot.press(*"alarm", "enter")  # the field was selected whole
        await until(app, lambda: len(screen.rows) == 1, "alarms alone")
        assert "alarm only" in flat(app)
        await pilot.press("v")
        await until(app, lambda: screen.stretch and screen.stretch.kinds == (TimelineKind.PLAN,), "the next kind")
        await said(app, "Nothing happened then that is told of.")


async def test_it_is_written_as_markdown_in_which_texts_are_only_texts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with on_timeline(night()) as (app, _, pilot):
        await pilot.press("x")
        await until(app, lambda: files(tmp_path), "the file")
        await idle(app)
        (file,) = files(tmp_path)
        assert file.name == "timeline-20260301-2100z-20260302-0900z.md"
        assert file.stat().st_mode & 0o777 == 0o600
        text = file.read_text()
        assert text.startswith("# Timeline of leeds\n")
        assert re.search(
            r"^Made by o\.lind at 2026-03-02 09:00:\d\dZ\. Times are in UTC and in Europe/London\.$", text, re.MULTILINE
        )
        assert r"Dead letter: \| \*no\* file |" in text
        assert app.clipboard == text


async def test_leaving_the_form_leaves_an_empty_timeline_that_says_how_to_ask() -> None:
    app = console(night(), person="o.lind")
    async with app.run_test(size=(80, 24)) as pilot:
        await ready(app)
        await pilot.press("5")
        await idle(app)
        await pilot.press("T")
        await until(app, lambda: isinstance(app.screen, LinesForm), "the form")
        await pilot.press("escape")
        await said(app, "No stretch of time was chosen: / asks for one.")
        await pilot.press("x")
        await idle(app)
