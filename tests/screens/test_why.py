"""*Why is it not running?*: a sentence, the evidence, the key of what to do, what was checked; it looks again by hints."""

from __future__ import annotations

import pytest

from jobconsole.present.columns import plain
from jobconsole.present.why import KINDS, why_lines
from jobconsole.screens.order_form import OrderForm
from jobconsole.screens.why import WhyScreen
from jobcontract.operating import WhyKind
from jobcontract.why import Cause, Evidence, Why
from tests.present.scheduled import AT, NOW
from tests.screens.act_stage import HOUR, HOURLY, acting, dead, order, send, staged
from tests.screens.acting_stage import flat, said
from tests.screens.idle import idle, until
from tests.screens.schedule_stage import listed

LEASE = Evidence(label="lease", value="Worker 3f2c19aa on a7, fence 5, renewed 3 times", at=NOW + HOUR)


def why(*applying: WhyKind, sentence: str = "Waits: another one holds its lock.") -> Why:
    """An answer in which these causes apply, and all others were checked."""
    causes = [
        Cause(
            kind=kind,
            applies=kind in applying,
            sentence=f"about {kind}",
            evidence=(LEASE,) if kind in applying else (),
            remedy="Do what helps." if kind in applying else None,
        )
        for kind in sorted(WhyKind, key=lambda kind: kind not in applying)
    ]
    return Why(subject=HOURLY, schedule=HOURLY, occurrence=None, sentence=sentence, causes=tuple(causes), now=NOW)


def test_every_cause_has_words_and_each_that_was_checked_is_listed() -> None:
    assert set(KINDS) == set(WhyKind)
    told = [plain(line) for line in why_lines(why(WhyKind.LOCK_HELD, WhyKind.BACKING_OFF), AT, {})]
    assert told[0] == "Waits: another one holds its lock."
    assert f"Checked, and not the cause ({len(WhyKind) - 2}):" in told
    assert told.index("▲ another one holds its lock: about lock-held") < told.index(
        "▲ waits for its next attempt: about backing-off"
    )
    assert (
        "  lease       Worker 3f2c19aa on a7, fence 5, renewed 3 times · Sun 2026-10-25 00:00 BST (2026-10-24 23:00:00Z), in 1 h"
        in told
    )
    assert "  what to do  Do what helps. 6 shows the Workers." in told
    assert "  · About no-worker" in told
    checked = Cause(kind=WhyKind.MANUAL, applies=False, sentence="Checked: it is planned.", evidence=(), remedy=None)
    only = why().model_copy(update={"causes": (checked,)})
    assert plain(why_lines(only, AT, {})[-1]) == "  · It is planned."


def test_a_cause_that_says_its_own_words_says_them_once() -> None:
    due = Cause(
        kind=WhyKind.NOT_DUE, applies=True, sentence="It is not due yet: it runs at 09:00.", evidence=(), remedy=None
    )
    told = why().model_copy(update={"causes": (due,)})
    assert "● It is not due yet: it runs at 09:00." in [plain(line) for line in why_lines(told, AT, {})]


@pytest.mark.requirement("provide-operational-recovery-procedures")
async def test_a_disabled_schedule_says_so_names_the_key_and_the_key_enables_it() -> None:
    fake = staged()
    async with acting(fake) as (app, screen, pilot):
        screen.query_one("#schedules").move_to(HOURLY)  # type: ignore[attr-defined]  # the place's table
        await pilot.press("D")
        await send(app, await order(app), "bank down")
        await until(app, lambda: app.screen is screen, "the place")
        await idle(app)
        await pilot.press("w")
        await until(app, lambda: isinstance(app.screen, WhyScreen) and app.screen.why, "the answer")
        await said(app, "It is disabled by Olle Lind: bank down.")
        told = flat(app)
        assert "Enable it once the cause is gone. E enables it." in told
        assert "Checked, and not the cause" in told
        await pilot.press("E")
        await send(app, await order(app))
        await until(app, lambda: isinstance(app.screen, WhyScreen), "the screen")
        await said(app, "not due yet")
        await until(app, lambda: "E enables it" not in flat(app), "the answer without it")


async def test_an_occurrence_is_asked_about_and_the_answer_follows_hints() -> None:
    fake = staged()
    found = dead(fake)
    async with acting(fake) as (app, screen, pilot):
        screen.query_one("#schedules").move_to(HOURLY)  # type: ignore[attr-defined]  # the place's table
        await pilot.press("i")
        await listed(app)
        await idle(app)
        await pilot.press("w")
        await said(app, "It has ended.")
        assert "y replays it." in flat(app)
        fake.questions.whys[found] = why(WhyKind.WORKERS_FULL, sentence="Every slot of both Workers is taken.")
        fake.jobs.changed(HOURLY)
        await said(app, "Every slot of both Workers is taken.")
        fake.questions.whys[found] = why(WhyKind.TENANT_STOPPED, sentence="All work of leeds is stopped.")
        fake.jobs.changed(HOURLY)
        await said(app, "All work of leeds is stopped.")
        assert "Do what helps. = shows the stops." in flat(app)
        await pilot.press("y")
        form = await order(app)
        assert isinstance(form, OrderForm)
        await pilot.press("escape")
        fake.status = 503
        await pilot.press("r")
        await said(app, "✗ ")
        assert "All work of leeds is stopped." in flat(app), "what was known stays, marked"
