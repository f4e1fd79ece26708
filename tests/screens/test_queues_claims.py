"""Tests of claims from the screen: taking, keeping, giving back, breaking, and answers that got lost."""

from __future__ import annotations

import pytest

from tests.screens.acting_stage import closed, flat, hasty, posts, press, said, service, type_reason
from tests.screens.idle import until
from tests.screens.stage import KIRAN, MIKA, dialog, hold, item_screen, on_stage, row_comes


async def test_claiming_renewing_and_releasing_a_claim_take_one_key_each() -> None:
    fake, ids = service()
    async with on_stage(fake) as (app, screen, pilot):
        await pilot.press("c")
        await row_comes(app, screen, ids[0], "◆ me")
        await said(app, "You hold Booker Food Services for")
        fake.advance(600)
        await pilot.press("R")
        await said(app, "Renewed: ")
        assert fake.queues.items[ids[0]].claims[-1].renewals == 1
        await pilot.press("u")
        await row_comes(app, screen, ids[0], "○ free")
        await said(app, "Your claim is released; the item is free.")
        assert [request.url.path.rpartition("/")[2] for request in posts(fake)] == [
            "claim",
            "renew-claim",
            "release-claim",
        ]


async def test_a_refused_claim_names_the_holder_and_the_row_shows_them() -> None:
    fake, ids = service()
    async with on_stage(fake) as (app, screen, pilot):
        await pilot.press("p")
        hold(fake, ids[0], KIRAN)
        await pilot.press("c")
        await said(app, "Claim: It is held by Kiran Rao until 2026-03-02 10:00:00 UTC.")
        await row_comes(app, screen, ids[0], "◆ k.rao")
        await pilot.press("c")
        assert "k.rao holds it; B breaks a colleague's claim" in flat(app)


async def test_claim_next_takes_the_oldest_free_item_and_goes_there() -> None:
    fake, ids = service()
    hold(fake, ids[0], KIRAN)
    async with on_stage(fake) as (app, screen, pilot):
        await pilot.press("end", "n")
        await row_comes(app, screen, ids[1], "◆ me")
        await until(app, lambda: screen.table.cursor_key == ids[1], "the cursor on it")


async def test_claim_next_says_where_nothing_is_free() -> None:
    fake, ids = service()
    for key in ids:
        hold(fake, key, KIRAN)
    async with on_stage(fake) as (app, _, pilot):
        await pilot.press("n")
        await said(app, "Nothing is free in Supplier payouts.")


async def test_breaking_a_claim_wants_a_reason_and_both_see_it() -> None:
    fake, ids = service()
    hold(fake, ids[0], KIRAN)
    async with on_stage(fake) as (app, screen, pilot):
        await pilot.press("B")
        form = await dialog(app)
        assert "Break the claim of Kiran Rao (k.rao)" in flat(app)
        assert app.focused is not form.act_button
        press(form, "act")
        await said(app, "Reason, which you both see is needed.")
        assert not posts(fake)
        type_reason(form, "on holiday until Monday")
        press(form, "act")
        await closed(app)
        await row_comes(app, screen, ids[0], "◆ me")
        assert fake.queues.items[ids[0]].claims[0].reason == "on holiday until Monday"
        await pilot.press("enter")
        await item_screen(app)
        await said(app, "broken by m.ito · “on holiday until Monday”")


@pytest.mark.requirement("HTTP-03")
async def test_a_claim_whose_answer_got_lost_is_unknown_then_looked_up_and_happens_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fake, ids = service()
    async with on_stage(fake) as (app, screen, pilot):
        app.service.times = hasty(app)
        fake.lost = 4
        told: list[str] = []
        monkeypatch.setattr(screen, "say", lambda sentence, **_: told.append(sentence))
        await pilot.press("c")
        await row_comes(app, screen, ids[0], "◆ me")
        await until(app, lambda: "You hold" in told[-1], "the end")
        assert told[0] == "Claim: unknown, checking …"
        assert len(fake.queues.items[ids[0]].claims) == 1
        assert len({request.headers["Idempotency-Key"] for request in posts(fake)}) == 1


async def test_claims_held_are_known_when_one_leaves() -> None:
    fake, ids = service()
    hold(fake, ids[0], MIKA)
    async with on_stage(fake) as (app, _, pilot):
        await pilot.press("ctrl+q")
        await said(app, "Leave while you hold 1 claim?")
