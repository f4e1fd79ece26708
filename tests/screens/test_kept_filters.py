"""Saved filters on the queue screen: named, listed, put in force, deleted; names are data (TUI-01)."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from jobconsole.app import Console
from jobconsole.kept_filters import KeptFilter, KeptFilters
from jobconsole.paths import filters_file
from jobconsole.screens import queues_fetching, queues_filter
from jobconsole.screens.kept_filters import FilterNameScreen, KeptFiltersScreen
from tests.screens.acting_stage import service
from tests.screens.filter_stage import GBP, enter, in_force, rows
from tests.screens.idle import idle, screen_text, until
from tests.screens.stage import DISPUTES, PAYOUTS, on_stage

CASES = Path(__file__).parents[3] / "shared" / "cases" / "tui-01-names.json"


@pytest.fixture(autouse=True)
def _own_folder_no_pauses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setattr(queues_filter, "COUNT_SECONDS", 0.0)
    monkeypatch.setattr(queues_fetching, "PAUSE_SECONDS", 0.0)


def shows(app: Console, text: str) -> bool:
    return text in screen_text(app)


async def test_saved_filters_are_named_listed_put_in_force_and_deleted() -> None:
    fake, _ = service()
    async with on_stage(fake) as (app, screen, pilot):
        await pilot.press("F")
        assert "no filter is in force" in screen_text(app)
        await enter(app, screen, GBP)
        await in_force(app, screen, GBP)
        await pilot.press("F")
        await until(app, lambda: isinstance(app.screen, FilterNameScreen), "the dialog")
        await pilot.press("enter")
        await until(app, lambda: "needs a name" in screen_text(app), "what is missing")
        await pilot.press(*"big", "enter")
        await until(app, lambda: "Saved as big" in screen_text(app), "the end")
        kept = KeptFilters(filters_file("default"))
        assert kept.read() == (KeptFilter(queue=PAYOUTS, name="big", text=GBP),)
        kept.save(KeptFilter(queue=DISPUTES, name="other", text="holder:me"))
        kept.save(KeptFilter(queue=PAYOUTS, name="worn", text="age:3d"))
        await pilot.press("\\")
        await in_force(app, screen, "")
        await pilot.press("f")
        await until(app, lambda: isinstance(app.screen, KeptFiltersScreen), "the list")
        shown = screen_text(app)
        assert GBP in shown
        assert "(Supplier disputes)" in shown
        assert "An age is compared" in shown
        await pilot.press("enter")
        await in_force(app, screen, GBP)
        await pilot.press("f")
        await until(app, lambda: isinstance(app.screen, KeptFiltersScreen), "the list")
        await pilot.press("ctrl+d")
        await until(app, lambda: len(kept.read()) == 2, "the end of it")
        await until(app, lambda: isinstance(app.screen, KeptFiltersScreen), "the rest")
        await pilot.press("escape")
        await until(app, lambda: f"Deleted big: {GBP}" in screen_text(app), "what was deleted")


async def test_a_file_of_saved_filters_that_is_not_ours_is_said_and_the_name_is_not_lost() -> None:
    fake, _ = service()
    async with on_stage(fake) as (app, screen, pilot):
        file = filters_file("default")
        file.parent.mkdir(parents=True)
        file.write_text("{")
        await pilot.press("f")
        await until(app, lambda: "is no JSON" in screen_text(app), "why")
        await enter(app, screen, "holder:free")
        await in_force(app, screen, "holder:free")
        await pilot.press("F")
        await until(app, lambda: isinstance(app.screen, FilterNameScreen), "the dialog")
        await pilot.press(*"mine", "enter")
        await until(app, lambda: "is no JSON" in screen_text(app), "why")
        assert isinstance(app.screen, FilterNameScreen)
        assert app.screen.entry.value == "mine"
        assert file.read_text() == "{"


@pytest.mark.requirement("TUI-01")
async def test_the_names_of_the_case_are_typed_filtered_by_and_saved_as_they_are() -> None:
    if not CASES.exists():
        pytest.skip(f"the case's names are not here: {CASES.name}")
    fake, _ = service()
    for number, text in enumerate(json.loads(CASES.read_text("utf-8"))):
        key = fake.queues.add(PAYOUTS, text, days_old=30 + number, minor=100)
        KeptFilters(filters_file("default")).save(KeptFilter(queue=PAYOUTS, name=text, text=f'"{text}"'))
        assert fake.queues.items[key].title == text
    async with on_stage(fake) as (app, screen, pilot):
        for text in json.loads(CASES.read_text("utf-8")):
            screen.run_command("filter.edit")
            screen.filter_line.entry.value = ""
            screen.filter_line.entry.insert_text_at_cursor(text)
            await until(app, partial(shows, app, f"/ {text}"), "the text")
            screen.filter_line.entry.value = f'"{text}"'
            await screen.filter_line.entry.action_submit()
            await in_force(app, screen, f'"{text}"')
            await until(app, partial(shows, app, f'/ "{text}"'), "the filter in force")
            assert [row.title for row in (screen.listing.item(key) for key in rows(screen)) if row] == [text]
        await pilot.press("f")
        await until(app, lambda: isinstance(app.screen, KeptFiltersScreen), "the list")
        assert [text for text in json.loads(CASES.read_text("utf-8")) if text not in screen_text(app)] == []
        await pilot.press("enter")
        await idle(app)
        assert app.return_code is None
