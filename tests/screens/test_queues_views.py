"""The views of a queue: what waits, what is set aside, what is closed, and what is said where there is nothing."""

from __future__ import annotations

from jobcontract.states import ItemView
from tests.screens.acting_stage import service
from tests.screens.idle import screen_text, until
from tests.screens.stage import KIRAN, act, on_stage


async def test_v_shows_what_is_set_aside_and_what_is_closed() -> None:
    fake, ids = service()
    act(fake, ids[0], "set-aside", KIRAN, until="2026-03-04T09:00:00Z", reason="bank holiday")
    act(fake, ids[1], "reject", KIRAN, reason="double")
    async with on_stage(fake) as (app, screen, pilot):
        assert len(screen.listing) == 10
        await pilot.press("v")
        await until(app, lambda: screen.view is ItemView.SET_ASIDE and len(screen.listing) == 1, "what is set aside")
        assert "‖ until 4 Mar 09:00" in screen_text(app)
        await pilot.press("v")
        await until(app, lambda: screen.view is ItemView.CLOSED and len(screen.listing) == 1, "what is closed")
        assert "✗ rejected" in screen_text(app)


async def test_an_empty_view_says_so_and_what_to_do() -> None:
    fake, _ = service()
    async with on_stage(fake) as (app, screen, pilot):
        await pilot.press("v")
        await until(app, lambda: screen.view is ItemView.SET_ASIDE and screen.listing.started, "the view")
        assert "Nothing is set aside in Supplier payouts." in screen_text(app)
        await pilot.press("c")
        assert "Claim: nothing is selected" in screen_text(app)
        keys = screen_text(app).splitlines()[-1]
        assert not {"open", "claim", "mark"} & set(keys.split()), "keys of an item where there is none"
        assert "go to" in keys
