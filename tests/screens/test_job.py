"""The screen of one background job: where it stands, the ladder of its steps, a history that is read on, lineage, notices,
inputs that stay masked until a reason was given and are forgotten when the screen is left."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, timedelta

import pytest

from jobconsole.app import Console
from jobconsole.client.fake_job_examples import many_events
from jobconsole.present.columns import plain
from jobconsole.present.job_history import MASK
from jobconsole.present.job_lines import bar_line
from jobconsole.present.schedules import At
from jobconsole.screens.help import HelpScreen
from jobconsole.screens.job import REVEALED, JobScreen
from jobconsole.screens.job_parts import Part
from jobconsole.screens.job_summary import SummaryScreen
from jobcontract.job_states import JobEventKind, JobStatus
from tests.hostile import HOSTILE, harmless
from tests.screens.acting_stage import flat, said
from tests.screens.idle import idle, lines, until
from tests.screens.job_stage import furnished, on_jobs, opened
from tests.screens.money_stage import closed, give, order
from tests.screens.stage import also


async def show(app: Console, identifier: str, source: str = "here") -> JobScreen:
    """The screen of that job, in front and read."""
    app.push_screen(JobScreen(identifier, source))
    return await opened(app, identifier)


@pytest.mark.requirement("steps")
@pytest.mark.parametrize("size", [(80, 24), *also((140, 40), (60, 15))])
async def test_a_failure_is_told_with_its_steps_reference_and_what_can_be_done(size: tuple[int, int]) -> None:
    fake, found = furnished()
    async with on_jobs(fake, person="s.bell", size=size) as (app, _, pilot):
        screen = await show(app, found.failed[0].id)
        shown = flat(app)
        assert "✗ failed · Export of a month · February for C-1007" in shown
        assert "E-7A31 · c copies it" in shown
        assert screen.table(Part.STEPS).cursor_key == screen.parts.steps.rows[2].step, (
            "the cursor begins on what failed"
        )
        if size[1] > 20:
            assert "1 ✓ succeeded Check the month 1 of" in shown
            assert "each attempt ended so: 02:01:50, 02:02:50, 02:06:40" in shown
        seen = [screen.part]
        for _step in range(4):
            await pilot.press("tab")
            seen.append(screen.part)
        assert seen == [Part.STEPS, Part.HISTORY, Part.ABOUT, Part.NOTICES, Part.INPUTS], "what is empty is passed by"
        await pilot.press("shift+tab", "shift+tab")
        assert screen.part is Part.ABOUT
        await said(app, "C-1007")
        await pilot.press("X")
        await said(app, "Cancel the job …: it is settled: failed")
        await pilot.press("s")
        await until(app, lambda: isinstance(app.screen, SummaryScreen), "what the customer may be told")
        summary = app.screen
        assert isinstance(summary, SummaryScreen)
        await said(app, "It could not be completed, and ended on")
        assert (app.clipboard, "E-7A31" in app.clipboard) == (summary.copyable(), True)
        await pilot.press("enter")
        await until(app, lambda: app.screen is screen, "the job")
        await pilot.press("c")
        await until(app, lambda: app.clipboard == "E-7A31", "the reference")


async def test_a_running_job_is_followed_live_until_a_person_cancels_it() -> None:
    fake, found = furnished()
    async with on_jobs(fake) as (app, _, pilot):
        screen = await show(app, found.running.id)
        await said(app, "53 % step 2 of 3 · Archive them")
        fake.account.report(found.running, 90, "1,080 of 1,200 statements.")
        await said(app, "90 % · 1,080 of 1,200 statements.")
        assert "no news" not in flat(app)
        assert screen.parts.job is not None
        later = At(now=screen.parts.job.summary.activity_at + timedelta(seconds=90), zone=UTC)
        assert "no news for 1 min" in plain(bar_line(screen.parts.job, later, 78))
        await pilot.press("X")
        give(await order(app), reason="asked for twice")
        await closed(app)
        await said(app, '"asked for twice"')
        await said(app, "◌ cancelling")
        await pilot.press("X")
        await said(app, "Cancel the job …: it was asked to be cancelled already")
        fake.account.work()
        await until(app, lambda: screen.summary and screen.summary.status is JobStatus.CANCELLED, "the end of it")
        await said(app, "⊘ cancelled · Archive of statements")
        await said(app, "cancelled asked for by o.lind")


async def test_history_is_read_on_and_what_is_known_stays() -> None:
    fake, found = furnished()
    many_events(found.running, 120)
    async with on_jobs(fake) as (app, _, pilot):
        screen = await show(app, found.running.id)
        await pilot.press("tab")
        assert "[history 50+]" in flat(app)
        whole = len(found.running.events)
        await pilot.press("end")
        await until(app, lambda: len(screen.parts.history) == whole, "all of it")
        await idle(app)
        oldest = screen.table(Part.HISTORY).cursor_key
        assert oldest == "1"
        fake.account.report(found.running, 95, "nearly there")
        await until(app, lambda: len(screen.parts.history) == whole + 1, "the new line")
        assert screen.table(Part.HISTORY).cursor_key == oldest
        sequences = [event.sequence for event in screen.parts.history.rows]
        assert sequences == list(range(whole + 1, 0, -1)), "without holes"


async def test_inputs_are_offered_where_there_are_any() -> None:
    fake, found = furnished()
    async with on_jobs(fake) as (app, _, pilot):
        screen = await show(app, found.money.id)
        assert screen.parts.job is not None
        assert not screen.parts.job.inputs
        assert "reveal inputs" not in lines(app)[-1]
        await pilot.press("r")
        await said(app, "Reveal its inputs …: it has no inputs")
        await show(app, found.failed[0].id)
        assert "reveal inputs" in lines(app)[-1]


async def test_history_beside_the_steps_shows_the_newest_line_as_it_comes() -> None:
    fake, found = furnished()
    many_events(found.running, 40)
    async with on_jobs(fake, size=(140, 40)) as (app, _, pilot):
        screen = await show(app, found.running.id)
        history = screen.table(Part.HISTORY)
        for number in range(3):
            fake.account.report(found.running, 91 + number, f"at {number}")
            await said(app, f"at {number}")
        assert history.window[0] == history.cursor == 0, "the newest line is in sight"
        await pilot.press("tab", "down", "down")
        key = history.cursor_key
        fake.account.report(found.running, 95, "nearly there")
        await until(app, lambda: screen.parts.history.rows[0].sentence == "nearly there", "the new line")
        await idle(app)
        assert (history.cursor_key, history.cursor) == (key, 3), "whoever reads it stays where they are"


@pytest.mark.requirement("INV-10")
async def test_lineage_is_a_tree_and_enter_opens_a_relative() -> None:
    fake, found = furnished()
    async with on_jobs(fake) as (app, _, pilot):
        screen = await show(app, found.lineage[0].id)
        await said(app, "by a retry, which succeeded")
        while screen.part is not Part.LINEAGE:
            await pilot.press("tab")
        shown = flat(app)
        assert "✗ failed ◂ this one" in shown
        assert "└─ ✗ failed" in shown
        assert "└─ ✓ succeeded" in shown
        await pilot.press("down", "down", "enter")
        latest = await opened(app, found.lineage[2].id)
        await said(app, 'retry of the job asked for 1 d 4 h ago · why: "The directory is back."')
        await pilot.press("enter")
        await said(app, "Open what the row leads to: the row leads to no other job")
        assert app.screen is latest
        await pilot.press("backspace")
        await until(app, lambda: app.screen is screen, "the one before")


@pytest.mark.requirement("INV-11", "corrected reconciliation")
async def test_notices_say_what_became_of_them_and_what_they_correct() -> None:
    fake, found = furnished()
    async with on_jobs(fake) as (app, _, pilot):
        screen = await show(app, found.corrected.id)
        while screen.part is not Part.NOTICES:
            await pilot.press("tab")
        await said(app, "failed, not succeeded")
        await pilot.press("shift+tab", "shift+tab")
        await said(app, "[history 11]")
        await said(app, "≠ reconciled")
        await pilot.press("down")
        await said(app, "Success refused: step 3 (deliver) is still running.")


async def test_a_job_of_another_engine_is_read_and_never_acted_on() -> None:
    fake, found = furnished()
    async with on_jobs(fake) as (app, _, pilot):
        await show(app, found.foreign.id, "mailing")
        await said(app, "▲ A job of mailing (mailing): it is only read here, and acted on there.")
        for key, title in (("y", "Retry the job …"), ("A", "Resolve the failure …"), ("r", "Reveal its inputs …")):
            await pilot.press(key)
            await said(app, f"{title}: it is a job of mailing, where it is acted on")


@pytest.mark.requirement("INV-12")
@pytest.mark.parametrize("leaving", ["backspace", "question_mark", "r", "time"])
async def test_inputs_are_masked_until_a_reason_is_given_and_forgotten_again(leaving: str) -> None:
    fake, found = furnished()
    job = found.failed[0]
    async with on_jobs(fake) as (app, _, pilot):
        screen = await show(app, job.id)
        while screen.part is not Part.INPUTS:
            await pilot.press("tab")
        assert "auditors" not in flat(app)
        assert MASK in flat(app)
        await pilot.press("r")
        form = await order(app)
        give(form)
        await said(app, "needed")
        assert not [event for event in job.events if event.kind is JobEventKind.REVEALED]
        give(form, reason="the customer asks which store")
        await closed(app)
        await said(app, "auditors")
        assert [event.sentence for event in job.events if event.kind is JobEventKind.REVEALED] == [
            "Its inputs were looked at: the customer asks which store"
        ]
        await screen.reload()
        assert "auditors" in flat(app), "a look does not mask them"
        if leaving == "time":
            fake.advance((REVEALED + timedelta(seconds=1)).total_seconds())
            app.service.clock._learned = (fake.time, app.service.clock.monotonic(), 0.0)
            screen.tick_frame()
        else:
            await pilot.press(leaving)
        await until(app, lambda: not screen.parts.revealed, "that they are forgotten")
        if leaving == "question_mark":
            assert isinstance(app.screen, HelpScreen)
            await pilot.press("escape")
        await idle(app)
        assert "auditors" not in flat(app)
        assert all(given.value is None for given in screen.parts.inputs.rows)


@pytest.mark.requirement("TUI-01")
async def test_the_job_shows_hostile_texts_as_they_are() -> None:
    fake, found = furnished()
    job = found.failed[0]
    async with on_jobs(fake, size=(140, 40)) as (app, _, pilot):
        screen = await show(app, job.id)
        for text in HOSTILE[::5]:
            if not text or "\ud800" in text:
                continue
            cut = text[:60]
            job.put(subject=f"s {cut}", failure_summary=f"f {cut}", kind_label=f"k {cut}", customer=cut)
            job.steps[2] = job.steps[2].model_copy(update={"label": f"l {cut}", "sentence": cut, "reference": cut})
            job.events[-1] = job.events[-1].model_copy(update={"sentence": cut, "detail": {cut: [cut]}})
            job.inputs = {cut: cut}
            job.notices[0] = job.notices[0].model_copy(update={"result": cut})
            await screen.reload()
            await pilot.press("tab")
            await idle(app)
            _harmless(lines(app), text)
            assert app.screen is screen


def _harmless(painted: Sequence[str], text: str) -> None:
    assert all(map(harmless, painted)), (text, [each for each in painted if not harmless(each)])
