"""The preview of a plan: every row with its amount first, totals always in sight, nothing confirmed that was not read and
shown, warnings answered in place."""

from __future__ import annotations

import re
import stat
from datetime import timedelta
from pathlib import Path

import httpx
import pytest
from textual.message import Message

from jobconsole.app import Console
from jobconsole.screens.dialog import Ask
from jobconsole.screens.plan_keep import KeepDialog
from jobconsole.widgets.form import Prose
from jobcontract.plans import TakeOut
from jobcontract.states import Exclusion, PlanState, Warned
from tests.screens.acting_stage import flat, said
from tests.screens.idle import idle, lines, screen_text, settled, until
from tests.screens.plan_stage import back_in_queue, on_plan, preview, service, the_plan
from tests.screens.stage import KIRAN, also, freeze, hold, queue_screen

PREVIEW = "show-a-preview-before-bulk-money-actions"


@pytest.mark.requirement(PREVIEW, "MONEY-10")
@pytest.mark.parametrize("size", [(80, 24), *also((140, 40), (60, 15))])
async def test_it_shows_totals_and_every_row_with_the_amount_before_the_name(size: tuple[int, int]) -> None:
    fake, _ = service()
    async with on_plan(fake, size=size) as (app, screen, pilot):
        told = flat(app)
        assert "GBP out 115,907.73 (9) back 1,545.22 (1) net 114,362.51" in told
        assert "12 items" in told
        seen: set[str] = set()
        for _ in range(12):
            seen |= {row for row in lines(app) if "…" in row and re.search(r"[A-Z]{3} [\d,.]+ +…\w{4}", row)}
            await pilot.press("down")
            await pilot.pause()
        for name, amount in (("Booker", "GBP 5,616.65"), ("Premier", "−GBP 1,545.22"), ("Gulf", "KWD 1,250.500")):
            assert [row for row in seen if row.find(amount) >= 0 and row.find(amount) < row.find(name)], (name, amount)
        assert screen.items.painted == 12


@pytest.mark.requirement("TUI-04")
async def test_it_says_how_many_rows_were_on_the_screen_so_far() -> None:
    fake, _ = service()
    async with on_plan(fake, size=(80, 24)) as (app, screen, pilot):
        first = screen.items.painted
        assert 0 < first < 12
        await said(app, f"{first} of 12 on screen so far")
        await pilot.press("end")
        await until(app, lambda: screen.items.painted == 12, "the rest")
        await said(app, "12 of 12 on screen so far")


@pytest.mark.requirement("MONEY-9")
async def test_confirming_waits_until_every_row_was_checked() -> None:
    fake, ids = service()
    held_back = {"on": True}

    async def handle(request: httpx.Request) -> httpx.Response:
        if held_back["on"] and request.url.path.endswith("/items") and "/plans/" in request.url.path:
            return httpx.Response(503)
        return await fake.handle(request)

    async with on_plan(fake, ids[:3], transport=httpx.MockTransport(handle)) as (app, screen, pilot):
        assert screen.digest is None
        await pilot.press("C")
        await said(app, "Confirm with a code …:")
        assert screen.failure
        await pilot.press(*"203146")  # a code, typed without looking: its digits are keys of places, too
        await said(app, "The digits went nowhere. No code is asked for:")
        assert screen.is_current
        await pilot.press("s", "2")
        await until(app, lambda: app.screen is not screen, "the place of the key, once another key came between")
        await pilot.press("backspace")
        await until(app, lambda: app.screen is screen, "the plan")
        held_back["on"] = False
        screen.read_soon()
        await until(app, lambda: screen.digest is not None, "the digest")
        assert "checked" not in flat(app)


@pytest.mark.requirement("MONEY-9", PREVIEW)
async def test_rows_that_do_not_add_up_are_said_and_cannot_be_confirmed() -> None:
    fake, ids = service()

    async def handle(request: httpx.Request) -> httpx.Response:
        answer = await fake.handle(request)
        if request.url.path.endswith("/items") and "/plans/" in request.url.path:
            return httpx.Response(200, content=answer.content.replace(b'"minor":561665', b'"minor":561666'))
        return answer

    async with on_plan(fake, ids[:3], transport=httpx.MockTransport(handle)) as (app, screen, pilot):
        await said(app, "must not be confirmed")
        assert screen.digest is None
        await pilot.press("C")
        await said(app, "Confirm with a code …:")
        assert app.screen is screen


@pytest.mark.requirement("MONEY-11")
async def test_warnings_come_first_and_are_answered_in_place() -> None:
    fake, ids = service(GBP=500_000)
    async with on_plan(fake, ids[:3]) as (app, screen, pilot):
        assert screen.list == "warnings"
        await until(app, lambda: "2 to answer" in flat(app), "what waits")
        await pilot.press("C")
        await said(app, "2 warnings wait for an answer")
        await pilot.press("a")
        await until(app, lambda: isinstance(app.screen, KeepDialog), "the answer's dialog")
        await settled(app)
        app.screen.query_one(Prose).text = "called the supplier"
        await pilot.press("tab", "tab", "enter")
        await until(app, lambda: app.screen is screen and screen.plan.to_answer == 1, "the first answer")
        assert next(each for each in the_plan(fake).warnings if each.answer).answer == "called the supplier"
        waiting = [each.item for each in the_plan(fake).warnings if each.must_answer and each.answer is None]
        await until(app, lambda: len(screen.warned) == 3, "the warnings again")
        screen.warning_table.move_to(next(each.id for each in screen.warned.warnings if each.item == waiting[0]))
        await pilot.press("t")
        await until(app, lambda: screen.plan.count == 2 and screen.digest is not None, "the plan frozen anew")
        await until(app, lambda: screen.plan.to_answer == 0, "nothing waits")
        assert waiting[0] not in {row.row.id for row in the_plan(fake).rows}
        assert "Taken out: " in screen.notices.sentence


async def test_enter_on_a_warning_goes_to_its_row() -> None:
    fake, ids = service()
    async with on_plan(fake) as (app, screen, pilot):
        plan = the_plan(fake)
        fake.bulk.warn(plan, ids[10], Warned.ACCOUNT_CHANGED, "Its account changed 1 h ago by n.ode.")
        await until(app, lambda: any("n.ode" in each.sentence for each in screen.warned.warnings), "the warning")
        await pilot.press("tab")
        await until(app, lambda: screen.list == "warnings", "the warnings")
        screen.warning_table.move_to(next(each.id for each in screen.warned.warnings if "n.ode" in each.sentence))
        await pilot.press("enter")
        await until(app, lambda: screen.list == "items" and screen.item_table.cursor_key == "11", "the row")
        await said(app, "Its account changed 1 h ago by n.ode.")


@pytest.mark.requirement("MONEY-6", PREVIEW)
async def test_the_second_list_says_what_is_excluded_and_why() -> None:
    fake, ids = service()
    hold(fake, ids[4], KIRAN, seconds=1800)
    async with on_plan(fake) as (app, screen, pilot):
        await pilot.press("tab")
        await until(app, lambda: screen.list == "excluded", "the exclusions")
        told = flat(app)
        assert "GBP 765.00 …5518 Morrison Utility Services held by k.rao" in told
        assert "Kiran Rao holds it." in told
        assert screen.plan.excluded[0].reason is Exclusion.HELD


async def test_sorting_and_searching_keep_to_the_rows_of_the_plan() -> None:
    fake, _ = service()
    async with on_plan(fake) as (app, screen, pilot):
        await pilot.press("s")
        assert [screen.items.read(screen.items.key(at)).payee_name for at in (0, 1)] == [  # type: ignore[union-attr]  # the row is there
            "Aspire Care Ltd",
            "Leeds Federated Housing",
        ]
        await pilot.press("s")
        assert screen.items.read(screen.items.key(0)).payee_name == "Aspire Care Ltd"  # type: ignore[union-attr]  # the row is there
        await pilot.press("/", *"kirk", "enter")
        await until(app, lambda: len(screen.items) == 1, "what matches")
        await said(app, "1 match “kirk”")
        await pilot.press("q")
        assert len(screen.items) == 12
        assert app.screen is screen


async def test_export_writes_a_new_file_that_only_the_person_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    fake, ids = service()
    async with on_plan(fake, ids[:2]) as (app, screen, pilot):
        name = screen.plan.name
        for file in (tmp_path / f"plan-{name}.csv", tmp_path / f"plan-{name}-2.csv"):
            await pilot.press("x")
            await until(app, file.exists, "the file")
            await until(app, lambda f=file: str(f.name) in flat(app).replace(" ", ""), "its name")  # type: ignore[misc]  # mypy infers no lambda with a default
            assert stat.S_IMODE(file.stat().st_mode) == 0o600
            assert b"Booker Food Services" in file.read_bytes()


@pytest.mark.requirement("MONEY-6")
async def test_dropping_asks_and_gives_the_claims_back_and_going_back_does_not() -> None:
    fake, ids = service()
    async with on_plan(fake, ids[:2]) as (app, _, pilot):
        await pilot.press("q")
        queue = await back_in_queue(app)
        assert the_plan(fake).state is PlanState.OPEN
        queue.table.clear_marks()
        await pilot.press("P")
        await preview(app)
        await pilot.press("X")
        await until(app, lambda: isinstance(app.screen, Ask), "the question")
        await settled(app)
        await pilot.press("tab", "enter")
        await until(app, lambda: the_plan(fake).state is PlanState.DROPPED, "the end of the plan")
        await said(app, "You gave this plan up")
        assert fake.queues.items[ids[0]].plan is None


@pytest.mark.requirement("MONEY-6")
async def test_an_expired_plan_says_so_and_n_makes_a_new_one_of_the_same_set() -> None:
    fake, ids = service()
    async with on_plan(fake, ids[:2]) as (app, screen, pilot):
        old = the_plan(fake)
        fake.advance(901)
        screen.refresh_all()
        await said(app, "This plan expired, and its items are free again, at 09:15")
        await pilot.press("C")
        await said(app, "the plan is expired")
        await pilot.press("n")
        await until(app, lambda: the_plan(fake) is not old, "the new plan")
        await until(app, lambda: screen.plan.id == the_plan(fake).id and screen.digest is not None, "its rows")
        assert screen.plan.count == 2


@pytest.mark.requirement("MONEY-6")
async def test_n_asks_before_it_gives_up_a_plan_that_can_still_be_confirmed() -> None:
    fake, ids = service()
    async with on_plan(fake, ids[:2]) as (app, screen, pilot):
        old = the_plan(fake)
        await pilot.press("n")
        await until(app, lambda: isinstance(app.screen, Ask) and app.screen.counts(Message().time), "the question")
        await pilot.press("enter")
        await until(app, lambda: app.screen is screen, "the plan")
        assert (the_plan(fake), old.state) == (old, PlanState.OPEN)
        await pilot.press("n")
        await until(app, lambda: isinstance(app.screen, Ask) and app.screen.counts(Message().time), "the question")
        await pilot.press("tab", "enter")
        await until(app, lambda: the_plan(fake) is not old, "the new plan")


async def test_a_change_from_elsewhere_is_shown() -> None:
    fake, ids = service()
    async with on_plan(fake, ids[:3]) as (app, screen, _):
        plan = the_plan(fake)
        fake.bulk.plans.take_out(plan, plan.owner, TakeOut(items=(ids[0],)))
        await until(app, lambda: screen.plan.count == 2 and screen.digest is not None, "the plan frozen anew")


async def test_the_time_left_ticks_and_warns_at_its_end() -> None:
    fake, ids = service()
    async with on_plan(fake, ids[:2]) as (app, screen, _):
        freeze(app, screen.plan.expires_at - timedelta(seconds=581))
        screen.tick()
        assert "valid 9:41" in flat(app)
        freeze(app, screen.plan.expires_at - timedelta(seconds=59))
        screen.tick()
        assert "▲ 0:59 left" in flat(app)


@pytest.mark.requirement("MONEY-24")
async def test_a_colleagues_plan_can_be_looked_at_and_not_changed() -> None:
    fake, ids = service()
    async with on_plan(fake, ids[:2]) as (app, screen, pilot):
        screen.plan = screen.plan.model_copy(update={"owner": KIRAN})
        for key, title in (("C", "Confirm with a code …"), ("t", "Take the item out"), ("X", "Drop the plan …")):
            await pilot.press(key)
            await said(app, f"{title}: it is k.rao's plan")


@pytest.mark.requirement("TUI-04")
async def test_below_the_least_size_nothing_is_cut_and_nothing_can_be_confirmed() -> None:
    fake, ids = service()
    async with on_plan(fake, ids[:2]) as (app, screen, pilot):
        await pilot.resize_terminal(39, 9)
        await until(app, lambda: "This window is 39x9" in flat(app), "the sentence")
        await pilot.press("C")
        await idle(app)
        assert "Type the six digits" not in screen_text(app)
        await pilot.resize_terminal(80, 24)
        await until(app, lambda: app.screen is screen, "the preview")


async def test_rows_of_the_queue_say_which_plan_has_them() -> None:
    fake, ids = service()
    async with on_plan(fake, ids[:2]) as (app, screen, pilot):
        await pilot.press("q")
        await back_in_queue(app)
        await until(app, lambda: shown_state(app, ids[0]) == f"◆ in plan {screen.plan.name}", "an open plan")
        await pilot.press("u")
        await said(app, "it is in your plan lark-42: take it out there, or drop the plan")


def shown_state(app: Console, key: str) -> str:
    """What the row of an item says of its holder."""
    listing = queue_screen(app).listing
    at = listing.index(key)
    return listing.row(at, {}).cells["state"].text if at is not None else ""
