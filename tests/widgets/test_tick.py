"""The box of yes and no: what it holds is read from its signs, not from its colour."""

from __future__ import annotations

from textual.app import App, ComposeResult

from jobconsole.screens.recovery_form import SKIPPED
from jobconsole.widgets.tick import Tick


class Boxed(App[None]):
    """One box."""

    def compose(self) -> ComposeResult:
        """The box."""
        yield Tick(SKIPPED[False], compact=True)


async def test_only_a_box_that_is_set_is_crossed() -> None:
    async with Boxed().run_test() as pilot:
        box = pilot.app.query_one(Tick)
        seen = [str(box.render())[:3]]
        for _ in range(2):
            await pilot.press("space")
            seen.append(str(box.render())[:3])
        assert seen == ["▐ ▌", "▐X▌", "▐ ▌"]
