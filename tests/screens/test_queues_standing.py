"""The detail beside the list says why its row stands where it stands, at once and without asking."""

from __future__ import annotations

import pytest

from jobconsole.app import Console
from tests.screens.acting_stage import flat
from tests.screens.idle import lines, screen_text, until
from tests.screens.scored_stage import scored_service
from tests.screens.stage import MIKA, PAYOUTS, hold, on_stage


def pane(app: Console) -> list[str]:
    """The title and the lines of the detail under the list."""
    painted = [row.strip() for row in lines(app)]
    at = max(number for number, row in enumerate(painted) if row.startswith("─ "))
    return [row.rstrip(" ▁▂▃▄▅▆▇█") for row in painted[at:-1]]


@pytest.mark.requirement("show-the-score-beside-each-item", "order-queue-items-by-score")
async def test_why_the_row_stands_here_and_who_holds_it_are_in_sight_at_80x24() -> None:
    fake, ids = scored_service()
    hold(fake, ids[2], MIKA, seconds=2467)
    async with on_stage(fake) as (app, screen, pilot):
        assert screen.table.cursor_key == ids[2]
        title, *rows = pane(app)
        assert title.startswith("─ 72, why first · payout.release-score v3 · scored ")
        assert [row.split()[0] for row in rows] == ["amount", "age", "invoice", "above", "holder", "state"]
        assert rows[3] == "above the next by 16: amount +24, age −8, invoice 0"
        assert "◆ you" in rows[4]
        asked = len(fake.requests)
        await pilot.press("down")
        assert pane(app)[0].startswith("─ 56, why 2nd")
        assert "below the one above by 16: amount −24, age +8, invoice 0" in pane(app)
        assert not [request for request in fake.requests[asked:] if "explanation" in request.url.path]


async def test_unfolded_it_is_laid_out_at_once() -> None:
    fake, _ = scored_service()
    async with on_stage(fake) as (app, _, pilot):
        whole = pane(app)[1:]
        await pilot.press("d", "d")
        await until(app, lambda: "why first" in screen_text(app), "the detail")
        assert pane(app)[1:] == whole


@pytest.mark.requirement("order-queue-items-by-score")
async def test_what_could_not_be_scored_stands_first_and_says_so() -> None:
    fake, _ = scored_service()
    fake.queues.add(PAYOUTS, "Gold Ltd", minor=100, currency="CHF")
    async with on_stage(fake) as (app, screen, pilot):
        await pilot.press("home")
        await until(app, lambda: "could not be scored, why first" in pane(app)[0], "the parked item")
        assert "stands first until it can be scored" in pane(app)
        assert "states no thresholds for CHF" in flat(app)
        assert screen.situation().rule == "payout.release-score"


@pytest.mark.requirement("show-the-score-beside-each-item")
async def test_beside_a_wide_list_it_says_the_same() -> None:
    fake, _ = scored_service()
    async with on_stage(fake, size=(140, 40)) as (app, _, _pilot):
        text = screen_text(app)
        assert "72, why first" in text
        assert "above the next by 16" in text
        assert "rule     payout.release-score v3" in text


@pytest.mark.requirement("order-unscored-queues-by-age")
async def test_without_a_rule_it_says_that_the_oldest_is_first() -> None:
    fake, ids = scored_service()
    bare = fake.queues.queue(PAYOUTS).model_copy(update={"id": "payments.plain", "score": None})
    fake.queues.queues = (bare,)
    for key in ids:
        fake.queues.items[key].queue = bare
    async with on_stage(fake) as (app, screen, _pilot):
        assert screen.table.cursor_key == ids[0]
        assert "order    no rule: the oldest is first · 3 days older than the next" in pane(app)


async def test_a_filter_counts_the_places_of_what_matches_only() -> None:
    fake, ids = scored_service()
    async with on_stage(fake) as (app, screen, pilot):
        await pilot.press("slash", *"booker", "enter")
        await until(app, lambda: len(screen.listing) == 1 and screen.table.cursor_key == ids[0], "the filtered list")
        await until(app, lambda: "56, why first of what matches" in pane(app)[0], "the place")
