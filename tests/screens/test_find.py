"""Finding: what a text leads to over every noun that one may read; one thing alone opens at once, each thing opens where it
belongs, and where nothing is found it is said where was looked."""

from __future__ import annotations

import pytest
from textual import events

from jobconsole.client import recoveries
from jobconsole.client.queues import new_key
from jobconsole.places import PLACES, first_of
from jobconsole.screens.find import FindScreen
from jobconsole.screens.find_opening import _OPENS
from jobconsole.screens.go_to import MOST, GoToScreen
from jobconsole.screens.item import ItemScreen
from jobconsole.screens.job import JobScreen
from jobconsole.screens.jobs import JobsScreen
from jobconsole.screens.occurrence import OccurrenceScreen
from jobconsole.screens.recovery import RecoveryScreen
from jobconsole.screens.schedules import SchedulesScreen
from jobconsole.screens.workers import WorkersScreen
from jobcontract.job_states import FoundNoun
from jobcontract.jobs import Finding, Found
from jobcontract.operating import RecoveryAct
from jobcontract.permissions import GRANTS
from jobcontract.recoveries import RecoveryOrder
from jobcontract.states import Role
from tests.hostile import HOSTILE, harmless
from tests.screens.acting_stage import flat, said
from tests.screens.idle import idle, lines, until
from tests.screens.job_stage import furnished, listed, on_jobs, opened


async def test_one_thing_opens_at_once_and_several_are_listed_with_what_was_met() -> None:
    fake, found = furnished()
    async with on_jobs(fake, person="s.bell") as (app, _, pilot):
        await pilot.press("colon", *"find e-7a31", "enter")  # as it was read out
        assert (await opened(app, found.failed[0].id)).summary
        await pilot.press("backspace")
        await said(app, 'Find "e-7a31" · 1 found')
        screen = app.screen
        assert isinstance(screen, FindScreen)
        await screen.reload()
        await idle(app)
        assert app.screen is screen, "coming back to what was found does not open it again"
        await pilot.press("slash")
        await until(app, lambda: isinstance(app.screen, GoToScreen), "the question")
        await pilot.press(*"lark-42", "enter")
        await said(app, 'Find "lark-42" · 2 found')
        await said(app, "job Apply of a plan: Plan lark-42 succeeded")
        await said(app, "met by its")
        await pilot.press("down", "enter")
        assert (await opened(app)).identifier in {found.money.id, found.apply.id}
        await pilot.press("J")  # the place itself, from whatever was opened from it
        await listed(app)
        assert len(app.screen_stack) == 1


async def test_find_is_asked_for_everywhere_and_says_where_it_looked() -> None:
    fake, _ = furnished()
    async with on_jobs(fake, person="s.bell") as (app, screen, pilot):
        await pilot.press("2", "ctrl+f")
        await until(app, lambda: isinstance(app.screen, GoToScreen), "the question")
        await pilot.press("x", "enter")
        await said(app, "Type at least 2 characters")
        await pilot.press(*"-none", "enter")
        await said(app, 'Nothing that you may see is called "x-none".')
        await said(app, "It was looked for in jobs, recoveries, people.")
        await pilot.press("backspace", "J")
        await until(app, lambda: app.screen is screen, "the jobs")
        await pilot.press("colon", *"qqzzxx", "enter")
        await said(app, "There is no place, queue or command qqzzxx. :find qqzzxx looks it up")


async def test_a_paste_is_text_of_one_line_and_what_was_cut_is_said() -> None:
    fake, _ = furnished()
    async with on_jobs(fake, person="s.bell") as (app, _, pilot):
        await pilot.press("ctrl+f")
        await until(app, lambda: isinstance(app.screen, GoToScreen), "the question")
        dialog = app.screen
        assert isinstance(dialog, GoToScreen)
        dialog.entry.post_message(events.Paste("E-\x1b[31m7A31\x07\x00\nbelow " + "x" * 700))
        await until(app, lambda: dialog.entry.value, "what was pasted")
        assert dialog.entry.value.startswith("E-[31m7A31 below xxx"), "nothing of it steers, and no line is lost"
        assert len(dialog.entry.value) == MOST
        await said(app, f"At most {MOST} characters: the rest was left out.")
        dialog.entry.value = ""
        dialog.entry.post_message(events.Paste("  e-7a31\n"))
        await until(app, lambda: dialog.entry.value == "e-7a31", "the reference alone")
        assert "left out" not in flat(app), "what was said of another text no longer holds"
        await pilot.press("enter")
        await opened(app)


async def test_each_noun_opens_where_it_belongs() -> None:
    fake, found = furnished()
    fake.jobs.add("statements.nightly", every=3600)
    item = next(iter(fake.queues.items))
    fake.recoveries.all.clear()
    made = await recoveries.make(
        fake.service("o.lind"),
        RecoveryOrder(act=RecoveryAct.RETRY, reason="again", jobs=(found.failed[0].id,)),
        new_key(),
    )
    nouns: dict[FoundNoun, tuple[str, type]] = {
        FoundNoun.JOB: (found.running.id, JobScreen),
        FoundNoun.ITEM: (item, ItemScreen),
        FoundNoun.RECOVERY: (made.id, RecoveryScreen),
        FoundNoun.SCHEDULE: ("statements.nightly", SchedulesScreen),
        FoundNoun.OCCURRENCE: ("statements.nightly@2026-03-02T01:30:00Z", OccurrenceScreen),
        FoundNoun.PERSON: ("m.ito", JobsScreen),
        FoundNoun.WORKER: ("4a1f0c52", WorkersScreen),
    }
    assert set(_OPENS) == set(FoundNoun)
    async with on_jobs(fake) as (app, screen, pilot):
        for noun, (identifier, kind) in nouns.items():
            one = Found(
                noun=noun, id=identifier, title="t", matched="id", state=None, at=None, queue="payments.payouts"
            )
            await _OPENS[noun](screen, one)
            await until(app, lambda kind=kind: isinstance(app.screen, kind) and app.screen is not screen, noun)  # type: ignore[misc]  # bound now
            if noun is FoundNoun.PERSON:
                assert isinstance(app.screen, JobsScreen)
                assert {job.requester.id for job in (await listed(app)).listed() if job.requester} == {"m.ito"}
            await pilot.press("backspace")
            await until(app, lambda: app.screen is screen, "the way back")


@pytest.mark.parametrize("role", [role for role in Role if role is not Role.PUSHER])
def test_a_person_begins_where_they_may_look(role: Role) -> None:
    place = first_of(PLACES, GRANTS[role])
    assert place.id == ("jobs" if role is Role.SUPPORT else "queues")


@pytest.mark.requirement("TUI-01")
async def test_what_was_found_shows_hostile_texts_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    fake, _ = furnished()
    texts = [text[:60] for text in HOSTILE if text and "\ud800" not in text]

    def told(text: str) -> Finding:
        two = [
            Found(noun=noun, id=f"i {text}", title=f"t {text}", matched=f"m {text}", state=text, at=None, queue=text)
            for noun in (FoundNoun.JOB, FoundNoun.ITEM)
        ]
        return Finding(text=text, found=tuple(two), more=True, looked=tuple(FoundNoun), now=fake.time)

    async def find(_: object, text: str) -> Finding:
        return told(text)

    monkeypatch.setattr("jobconsole.client.finding.find", find)
    async with on_jobs(fake, size=(140, 40)) as (app, _, _pilot):
        app.push_screen(FindScreen("ab"))
        await until(app, lambda: isinstance(app.screen, FindScreen) and app.screen.finding, "what was found")
        screen = app.screen
        assert isinstance(screen, FindScreen)
        for text in texts:
            screen.text = text
            await screen.reload()
            await idle(app)
            painted = lines(app)
            assert all(map(harmless, painted)), (text, [each for each in painted if not harmless(each)])
            assert len(screen.rows) == 2
