"""The place of background jobs: failures that nobody resolved first, views, a filter that the service judges, rows that
stay where they are by their key, sources that were not reached, acts through dialogs, recoveries of many."""

from __future__ import annotations

import time

import pytest
from textual.widgets import Input

from jobconsole.client import jobs as client
from jobconsole.client import recoveries
from jobconsole.client.queues import new_key
from jobconsole.screens import jobs as place
from jobconsole.screens.choose import ChooseScreen
from jobconsole.screens.job_submit import SubmitForm
from jobconsole.screens.jobs import JobsScreen
from jobconsole.screens.jobs_listing import key_of
from jobconsole.screens.recovery_form import RecoveryForm
from jobconsole.screens.recovery_progress import RecoveryProgress
from jobcontract.events import Hint, Topic
from jobcontract.job_states import JobResolution, JobStatus
from jobcontract.jobs import Jobs
from jobcontract.operating import RecoveryAct
from jobcontract.recoveries import RecoveryOrder
from tests.hostile import HOSTILE, harmless
from tests.screens.acting_stage import flat, posts, said
from tests.screens.idle import idle, lines, until
from tests.screens.job_stage import furnished, listed, on_jobs, opened
from tests.screens.money_stage import closed, give, order, told
from tests.screens.recovery_stage import dialog, made, press, type_into
from tests.screens.stage import also, console


@pytest.mark.parametrize("size", [(80, 24), *also((140, 40), (60, 15))])
async def test_support_meets_unresolved_failures_first_and_what_was_not_reached(size: tuple[int, int]) -> None:
    fake, found = furnished()
    app = console(fake, person="s.bell")
    async with app.run_test(size=size) as pilot:
        screen = await listed(app)  # whoever may read no queue begins here
        assert {job.id for job in screen.listed()} == {
            job.id for job in (*found.failed, found.money, found.hostile, found.foreign)
        }
        shown = flat(app)
        assert "Unresolved failures · 6 unresolved here" in shown
        assert "7 read, 1 of them elsewhere" in shown
        assert "▲ Without archive: The database of archive cannot" in shown
        await pilot.press("v")
        await said(app, "Jobs under way")
        await until(
            app, lambda: {job.status for job in screen.listed()} == {JobStatus.PENDING, JobStatus.RUNNING}, "them"
        )
        await said(app, "◌ cancelling")
        await pilot.press("v")
        await until(app, lambda: len(screen.listed()) > 20, "all of them")
        await pilot.press("enter")
        assert (await opened(app)).identifier == screen.listed()[0].id


async def test_rows_follow_hints_and_the_cursor_stays_on_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    fake, found = furnished()
    async with on_jobs(fake) as (app, screen, pilot):
        await pilot.press("down", "down", "down")
        key = screen.table.cursor_key
        new = fake.account.add("payments.export", subject="fresh", ago=0)
        fake.account.fail(new, "The store is full.", "E-0001")
        await until(app, lambda: screen.rows.index(f"here {new.id}") == 0, "the new failure")
        assert (screen.table.cursor_key, screen.table.cursor) == (key, 4)
        await said(app, "7 unresolved here")
        found.failed[0].put(resolution=JobResolution.RESOLVED)
        fake.account.changed(found.failed[0])
        await until(app, lambda: screen.rows.index(f"here {found.failed[0].id}") is None, "that it left")
        looks = 0
        page = client.jobs

        async def counted(*given: object, **named: object) -> Jobs:
            nonlocal looks
            looks += 1
            return await page(*given, **named)  # type: ignore[arg-type]  # as they came

        monkeypatch.setattr(client, "jobs", counted)
        monkeypatch.setattr(place, "PAUSE_SECONDS", 0.2)
        began = time.monotonic()
        hint = Hint(topic=Topic.JOB, tenant="leeds", queue="a.b", id="any", version=1)
        for _ in range(100):
            screen.changed([hint])
            await pilot.pause()
        await idle(app)
        assert 0 < looks <= (time.monotonic() - began) / 0.2 + 2, (
            "a storm of hints is a look now and then, not one each"
        )


async def test_a_filter_is_judged_completed_counted_and_given_back() -> None:
    fake, _ = furnished()
    async with on_jobs(fake) as (app, screen, pilot):
        await pilot.press("slash", *"statsu:failed", "enter")
        await said(app, "There is no field statsu.")
        assert (screen.filter_text, screen.filter_line.typing) == ("", True), (
            "it is not in force, and what was typed stays"
        )
        screen.filter_line.entry.value = ""
        await pilot.press("s", "c", "tab", *"C-1042", "enter")
        await until(app, lambda: len(screen.listed()) == 2 and screen.counted == screen.wanted, "what it finds")
        await said(app, "/ scope:C-1042")
        await said(app, "at least 2 match")
        await pilot.press("slash", *" age:3d", "enter")
        await said(app, "An age is compared")
        assert screen.filter_text == "scope:C-1042"
        await pilot.press("escape", "backslash")
        await until(app, lambda: len(screen.listed()) == 7, "all of the view")
        await pilot.press("vertical_line")
        await until(app, lambda: len(screen.listed()) == 2, "those of the filter before")


async def test_what_cannot_be_read_is_said_with_what_to_do_next() -> None:
    fake, _ = furnished()
    fake.account.jobs.clear()
    async with on_jobs(fake) as (app, screen, pilot):
        await said(app, "No failure waits for anybody. v shows the jobs under way, then all of them.")
        fake.account.exact = False
        screen.refresh_all()
        await said(app, "about 0 unresolved here, ")
        await pilot.press("v", "v")
        await said(app, "There is no job that you may see.")
        screen.put_in_force("status:failed")
        await said(app, "The filter finds no job; \\ clears it, v shows the next view.")


@pytest.mark.requirement("cancellation")
async def test_acts_go_through_dialogs_and_no_key_alone_does_anything() -> None:
    fake, found = furnished()
    async with on_jobs(fake, person="s.bell") as (app, screen, pilot):
        screen.table.move_to(key_of(found.failed[0].summary))
        await pilot.press("y")
        form = await order(app)
        assert (str(form.act_button.label), str(form.cancel_button.label)) == ("Retry the job", "Leave it as it is")
        assert "A new job is made of it, with the same inputs." in told(form)
        give(form)
        await said(app, "needed")
        assert not posts(fake)
        give(form, reason="the store has room")
        await closed(app)
        retry = fake.account.jobs["here", found.failed[0].summary.retried_by or ""]
        assert (retry.reason, retry.summary.retry_of) == ("the store has room", found.failed[0].id)
        await said(app, "Retried: a new job was made of it; v shows it under way.")
        await said(app, "↻ retried · Deliver it")
        screen.table.move_to(key_of(found.failed[1].summary))
        await pilot.press("A")
        form = await order(app)
        form.query_one("#reference", Input).value = "OPS-1"
        give(form, reason="the store is being made larger")
        await closed(app)
        assert found.failed[1].resolved is not None
        assert (found.failed[1].resolved.ticket, found.failed[1].resolved.resolution) == (
            "OPS-1",
            JobResolution.ACKNOWLEDGED,
        )
        await until(app, lambda: screen.rows.find(key_of(found.failed[1].summary)) is None, "that it left the view")
        await pilot.press("v")
        await until(app, lambda: screen.rows.find(key_of(found.pending.summary)) is not None, "what is under way")
        screen.table.move_to(key_of(found.pending.summary))
        await pilot.press("X")
        give(await order(app), reason="asked for twice")
        await closed(app)
        assert found.pending.summary.status is JobStatus.CANCELLED


async def test_what_may_not_be_done_is_said_before_any_dialog() -> None:
    fake, found = furnished()
    async with on_jobs(fake, person="s.bell") as (app, screen, pilot):
        screen.table.move_to(key_of(found.foreign.summary))
        await pilot.press("y")
        await said(app, "Retry the job …: it is a job of mailing, where it is acted on")
        screen.table.move_to(key_of(found.money.summary))
        await pilot.press("y")
        await said(app, "It moves money: its retry is a recovery, confirmed with a code by finance.")
        screen.table.move_to(key_of(found.failed[0].summary))
        await pilot.press("X")
        await said(app, "Cancel the job …: it is settled: failed")
        assert app.screen is screen
        assert not posts(fake)


async def test_finance_is_led_from_a_job_that_moves_money_to_its_recovery() -> None:
    fake, found = furnished()
    async with on_jobs(fake, person="m.ito") as (app, screen, pilot):
        screen.table.move_to(key_of(found.money.summary))
        await pilot.press("y")
        form = await dialog(app, RecoveryForm)
        assert "It moves money: its retry is a recovery that finance" in flat(app)
        type_into(form, reason="the bank is open again")
        press(form)
        await said(app, "confirming takes the six digits from your phone")
        await said(app, "✗ failed Bank file of lark-42 ¤")


@pytest.mark.requirement("INV-10")
async def test_many_are_retried_by_a_recovery_of_what_is_marked_or_listed() -> None:
    fake, found = furnished()
    async with on_jobs(fake, person="s.bell") as (app, screen, pilot):
        screen.put_in_force("scope:C-1042")
        await until(app, lambda: len(screen.listed()) == 2, "those of the customer")
        await pilot.press("P")
        form = await dialog(app, RecoveryForm)
        await said(app, "is:unresolved scope:C-1042")
        assert "jobconsole recoveries retry --filter 'is:unresolved scope:C-1042'" in flat(app)
        type_into(form, reason="the store has room")
        press(form)
        await said(app, "Retry 2 jobs of Export of a month")
        await said(app, "✓ every row was checked")
        assert made(fake).order.job_filter == "is:unresolved scope:C-1042"
        await pilot.press("enter")
        assert (await opened(app)).identifier in {job.id for job in found.failed}
        await pilot.press("backspace", "backspace")
        await until(app, lambda: app.screen is screen, "the list")
        screen.put_in_force("")
        await until(app, lambda: len(screen.listed()) == 7, "the whole view")
        await pilot.press("home", "space", "space", "space")
        await said(app, "3 marked")
        await pilot.press("P")
        form = await dialog(app, RecoveryForm)
        assert "2 marked jobs: Export of a month" in flat(app)
        assert "1 of other engines are left out." in flat(app)
        await pilot.press("escape", "K")
        await said(app, "All that are marked are settled: there is nothing to cancel.")
        await pilot.press("U", "K")
        await said(app, "All that are listed are settled: v shows what is under way.")
        await pilot.press("v")
        await said(app, "Jobs under way")
        await until(app, lambda: screen.selected(), "the rows")
        await pilot.press("P")
        await said(app, "What is under way is not retried: v shows other jobs.")
        await pilot.press("K")
        await dialog(app, RecoveryForm)
        assert "status:pending,running" in flat(app)


async def test_what_had_moved_on_since_a_recovery_was_frozen_is_told_as_it_is_applied() -> None:
    fake, found = furnished()
    service, jobs = fake.service("o.lind"), tuple(job.id for job in found.failed)
    frozen = await recoveries.make(service, RecoveryOrder(act=RecoveryAct.RETRY, reason="again", jobs=jobs), new_key())
    await client.retry_job(fake.service("s.bell"), jobs[0], "first", new_key())
    await recoveries.confirm(service, frozen.id, await recoveries.digest_of(service, frozen), None, new_key())
    async with on_jobs(fake) as (app, _, pilot):
        await pilot.press("9", "enter")
        await until(app, lambda: isinstance(app.screen, RecoveryProgress), "how far it is")
        while fake.recoveries.step(made(fake)):
            pass
        await said(app, "✓ Every row had its turn")
        await said(app, "▲ 1 of 4 had been retried meanwhile.")


async def test_a_job_is_submitted_by_its_kind_with_what_that_declares() -> None:
    fake, _ = furnished()
    async with on_jobs(fake, person="o.lind") as (app, screen, pilot):
        await pilot.press("v")
        await said(app, "Jobs under way")
        await pilot.press("N")
        await until(app, lambda: isinstance(app.screen, ChooseScreen), "the kinds")
        await said(app, "it moves money: a…")
        await pilot.press(*"bank-file")
        await said(app, "Bank file: it moves money: a confirmed plan")
        await pilot.press(*["backspace"] * len("bank-file"), *"workspace.activate", "enter")
        form = await dialog(app, SubmitForm)
        press(form)
        await said(app, "is needed.")
        assert not posts(fake)
        form.query_one("#workspace", Input).value = "W-9"
        form.query_one("#identity", Input).value = "signup-9"
        for field in form.query("Field"):
            for entry in field.query("Prose"):
                entry.text = "L-9"  # type: ignore[attr-defined]  # a text area
            for entry in field.query(Input):
                entry.value = "3"
        assert form.copyable() == (
            "jobconsole jobs submit workspace.activate --identity signup-9 --workspace W-9 --input licence=L-9 --input seats=3"
        )
        press(form)
        await until(app, lambda: app.screen is screen, "the end of the dialog")
        await said(app, "Submitted: Activation of a workspace")
        job = next(job for job in fake.account.jobs.values() if job.summary.submission_identity == "signup-9")
        await until(app, lambda: screen.table.cursor_key == key_of(job.summary), "the cursor on it")
        assert job.inputs == {"licence": "L-9", "seats": 3}


@pytest.mark.requirement("TUI-01")
async def test_the_list_shows_hostile_texts_as_they_are() -> None:
    fake, found = furnished()
    async with on_jobs(fake, size=(140, 40)) as (app, screen, _):
        for text in HOSTILE[::2]:
            if not text or "\ud800" in text:
                continue
            cut = text[:60]
            found.failed[0].put(
                subject=f"s {cut}", failure_summary=f"f {cut}", kind_label=f"k {cut}", customer=f"c {cut}"
            )
            await screen.reload()
            screen.table.move_to(key_of(found.failed[0].summary))
            await idle(app)
            painted = lines(app)
            assert all(map(harmless, painted)), (text, [each for each in painted if not harmless(each)])
            assert isinstance(app.screen, JobsScreen)
            assert len(screen.listed()) == 7
