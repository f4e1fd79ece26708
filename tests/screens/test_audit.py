"""The place of the audit trail and one entry of it: who did what and why, a filter, before beside after with what changed
marked, its seal, a file that is an entry itself; empty, refused and failing are sentences."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from jobconsole.app import Console
from jobconsole.client.fake import FakeService
from jobconsole.present.audit import ALL, AuditFilter
from jobconsole.screens.audit import AuditScreen
from jobconsole.screens.audit_entry import AuditEntryScreen
from jobconsole.screens.lines_form import LinesForm
from jobconsole.screens.told_rows import BARREN
from tests.hostile import HOSTILE
from tests.screens.acting_stage import flat, said
from tests.screens.idle import idle, until
from tests.screens.stage import START, also, console, ready

AUDITOR = "a.nagy"
REPLAYED: dict[str, Any] = {
    "occurrence": "statements.nightly@2026-03-01T01:30:00Z",
    "schedule": "statements.nightly",
    "reason": "The bank sent the file late",
    "before": {"state": "dead-letter", "version": 7, "replays": 0},
    "after": {"state": "scheduled", "version": 8, "replays": 0},
}


def files(folder: Path) -> list[Path]:
    """What was written there."""
    return list(folder.glob("*"))


def trailed() -> FakeService:
    """A service in which something was done, refused, and done by itself."""
    fake = FakeService(start=START)
    for number in range(40):
        fake.trail.add("m.ito", "claim", f"item-{number}", queue="payments.payouts")
    fake.trail.add(None, "claim-lapsed", "item-3", queue="payments.payouts")
    fake.trail.seal()
    fake.trail.add("k.rao", "confirm-plan", "p", outcome="refused", sentence="The digest is another one.")
    fake.trail.add("o.lind", "replay-occurrence", "0192", **REPLAYED)
    return fake


@asynccontextmanager
async def on_audit(
    fake: FakeService, *, size: tuple[int, int] = (80, 24), person: str = AUDITOR
) -> AsyncIterator[tuple[Console, AuditScreen, Pilot[None]]]:
    """The console at the audit trail."""
    app = console(fake, person=person)
    async with app.run_test(size=size) as pilot:
        await ready(app)
        await pilot.press("8")
        await until(app, lambda: isinstance(app.screen, AuditScreen) and app.screen.told_at, "the trail")
        await idle(app)
        screen = app.screen
        assert isinstance(screen, AuditScreen)
        yield app, screen, pilot


async def filled(app: Console, pilot: Pilot[None], **typed: str) -> None:
    """Fills the form in and enters it."""
    await pilot.press("/")
    await until(app, lambda: isinstance(app.screen, LinesForm), "the form")
    for entry in app.screen.query("LineEntry"):
        if entry.name in typed:
            entry.value = typed[entry.name]  # type: ignore[attr-defined]  # an entry has one
    await pilot.press("enter")
    await pilot.pause()


@pytest.mark.requirement("MONEY-31")
@pytest.mark.parametrize("size", [(80, 24), *also((140, 40), (60, 15))])
async def test_the_newest_stands_first_with_who_what_how_and_why(size: tuple[int, int]) -> None:
    async with on_audit(trailed(), size=size) as (app, screen, pilot):
        shown = flat(app)
        assert "Audit trail" in shown
        assert "o.lind replay-occurrence ✓ done" in shown
        assert "k.rao confirm-plan ✗ refused" in shown
        assert [each.action for each in screen.rows.rows[:3]] == ["replay-occurrence", "confirm-plan", "claim-lapsed"]
        if size[1] > 20:
            await said(app, "Olle Lind (o.lind)")
            assert "The bank sent the file late" in flat(app)
        await pilot.press("end")
        await idle(app)
        assert screen.selected() is not None


@pytest.mark.requirement("MONEY-33")
async def test_a_filter_is_typed_named_and_taken_away(tmp_path: Path) -> None:
    async with on_audit(trailed()) as (app, screen, pilot):
        await filled(app, pilot, person="k.rao", outcome="refused")
        await until(app, lambda: len(screen.rows) == 1, "the filtered trail")
        assert screen.asked == AuditFilter(person="k.rao", outcome="refused")
        assert "by k.rao · refused · 1 entry" in flat(app)
        await filled(app, pilot, person="nobody", outcome="")
        await said(app, "No entry is all of that.")
        await pilot.press("backspace")
        await until(app, lambda: screen.asked == ALL and len(screen.rows) > 3, "everything again")
        await filled(app, pilot, since="whenever")
        await said(app, "since:")
        assert isinstance(app.screen, LinesForm)
        await pilot.press("escape")
        assert screen.asked == ALL


async def test_a_search_that_finds_nothing_says_how_far_it_looked_and_goes_on_at_a_key() -> None:
    fake = trailed()
    fake.trail.looked = 4
    async with on_audit(fake) as (app, screen, pilot):
        await filled(app, pilot, subject="item-9", person="m.ito")  # the 34th of 43 entries, the newest first
        await said(app, "No entry back to ")
        assert screen.paged.pages == BARREN
        assert int(screen.paged.next or 0) < 33
        while not len(screen.rows):
            await pilot.press("end")
            await idle(app)
        assert [each.subject for each in screen.rows.rows] == ["item-9"]
        assert "1 read, there is more" in flat(app)


@pytest.mark.requirement("MONEY-31")
@pytest.mark.parametrize("size", [(80, 24), *also((140, 40))])
async def test_one_entry_has_before_beside_after_and_its_seal(size: tuple[int, int]) -> None:
    fake = trailed()
    async with on_audit(fake, size=size) as (app, _, pilot):
        await pilot.press("enter")
        await until(app, lambda: isinstance(app.screen, AuditEntryScreen) and app.screen.detail, "the entry")
        await idle(app)
        shown = flat(app)
        assert "≠ state dead-letter" in shown
        assert "≠ state scheduled" in shown
        assert "≠ version 7" in shown
        assert "≠ replays" not in shown
        assert "◌ not sealed yet" in shown
        assert "FAKE (for an engineer)" in shown
        fake.trail.seal()
        await pilot.press("r")
        await said(app, "✓ sealed")
        assert "at place 43" in flat(app)
        await pilot.press("backspace")
        assert isinstance(app.screen, AuditScreen)


@pytest.mark.requirement("MONEY-28")
async def test_what_is_shown_is_written_to_a_new_file_and_that_is_an_entry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with on_audit(trailed()) as (app, screen, pilot):
        await filled(app, pilot, person="k.rao")
        await until(app, lambda: len(screen.rows) == 1, "the filtered trail")
        await pilot.press("x")
        await until(app, lambda: files(tmp_path), "the file")
        await idle(app)
        (file,) = files(tmp_path)
        assert file.stat().st_mode & 0o777 == 0o600
        assert "confirm-plan" in file.read_text()
        assert "replay-occurrence" not in file.read_text()
        await pilot.press("backspace")
        await until(app, lambda: len(screen.rows) > 3 and screen.rows.rows[0].action == "export-audit", "its entry")


@pytest.mark.parametrize("person", ["m.ito", "o.lind"])
async def test_who_may_not_read_it_is_told_what_is_missing_and_asks_nothing(person: str) -> None:
    fake = trailed()
    async with on_audit(fake, person=person) as (app, screen, pilot):
        await said(app, "Only who audits reads the trail. That needs audit.read (auditor).")
        await pilot.press("/")
        await idle(app)
        assert app.screen is screen
        assert not [each for each in fake.requests if each.url.path.startswith("/v1/audit")]


async def test_an_empty_trail_and_one_that_cannot_be_read_are_sentences() -> None:
    fake = FakeService(start=START)
    async with on_audit(fake) as (app, screen, pilot):
        await said(app, "Nothing was written into the audit trail yet.")
        fake.trail.add("m.ito", "claim", "x")
        await pilot.press("r")
        await until(app, lambda: len(screen.rows) == 1, "the first entry")
        fake.away = True
        await pilot.press("r")
        await until(app, lambda: screen.failure, "the failure")
        await said(app, "What is shown is as of")
        assert len(screen.rows) == 1


@pytest.mark.parametrize("text", [*HOSTILE[:1], *also(*HOSTILE[1:])])
async def test_hostile_text_is_shown_and_does_nothing(text: Any) -> None:
    fake = FakeService(start=START)
    fake.trail.add("m.ito", text, text, outcome=text, reason=text, before={text: text}, after={text: "x"})
    async with on_audit(fake) as (app, _, pilot):
        await pilot.press("enter")
        await until(app, lambda: isinstance(app.screen, AuditEntryScreen) and app.screen.detail, "the entry")
        await idle(app)
        assert "\x1b" not in flat(app)
        assert "before" in flat(app)
