"""What-if: other inputs are typed, asked about, changed and asked again; nothing is ever saved."""

from __future__ import annotations

import json

import httpx
import pytest
from textual import events
from textual.widgets import Input

from jobconsole.app import Console
from jobconsole.present.text import line
from jobconsole.screens.queues import QueuesScreen
from jobconsole.screens.what_if import WhatIfScreen
from jobconsole.widgets.rule_form import RuleForm
from jobcontract.ids import storable
from jobcontract.items import Payee
from tests.hostile import HOSTILE, harmless
from tests.screens.acting_stage import flat, posts
from tests.screens.idle import idle, lines, screen_text, until
from tests.screens.scored_stage import scored_service
from tests.screens.stage import also, freeze, on_stage


async def opened(app: Console) -> WhatIfScreen:
    """The dialog, once it knows the rule."""
    await until(app, lambda: isinstance(app.screen, WhatIfScreen) and bool(app.screen.query("RuleField")), "the form")
    assert isinstance(app.screen, WhatIfScreen)
    await idle(app)
    return app.screen


def entries(dialog: WhatIfScreen) -> list[Input]:
    return list(dialog.query(Input))


async def said(app: Console, words: str) -> None:
    await until(app, lambda: words in flat(app), f'the words "{words}"')


async def unsaid(app: Console, words: str) -> None:
    await until(app, lambda: words not in flat(app), f'the end of "{words}"')


@pytest.mark.requirement("order-queue-items-by-score")
async def test_another_input_shows_score_and_place_before_and_after() -> None:
    fake, ids = scored_service()
    before = {key: (dict(row.inputs), row.money_version) for key, row in fake.queues.items.items()}
    async with on_stage(fake) as (app, screen, pilot):
        screen.table.move_to(ids[0])
        await pilot.press("W")
        dialog = await opened(app)
        assert dialog.item.id == ids[0]
        assert [entry.value for entry in entries(dialog)] == ["GBP 5,616.65", "12 days", "on file"]
        assert entries(dialog)[0].has_focus
        entries(dialog)[2].value = "none"
        await pilot.press("enter")
        await said(app, "from 2nd to 1st")
        text = flat(app)
        assert "invoice invoice on file 0 no invoice +20 +20" in text
        assert "score 56 76 +20" in text
        assert "before 72 GBP 90,126.13 …4471 Aspire Care Ltd" in text
        assert "Nothing is saved" in text
        assert [json.loads(request.content) for request in posts(fake)] == [{"inputs": {"invoice": "none"}}]
        entries(dialog)[0].value = "GBP 6000000"
        await pilot.press("enter")
        await said(app, "score 56 100 +44")
        await pilot.press("escape")
        await until(app, lambda: isinstance(app.screen, QueuesScreen), "the list")
    assert {key: (dict(row.inputs), row.money_version) for key, row in fake.queues.items.items()} == before
    assert not fake.audit


async def test_an_age_and_an_amount_of_another_currency_may_be_supposed() -> None:
    fake, _ = scored_service()
    async with on_stage(fake) as (app, _, pilot):
        await pilot.press("W")
        dialog = await opened(app)
        freeze(app)
        entries(dialog)[0].value = "jpy 1000000"
        entries(dialog)[1].value = "1 day old"
        await pilot.press("enter")
        await said(app, "JPY 1,000,000 +24")
        assert "1 day old +4" in flat(app)


UNREADABLE = (
    (0, "GBP 1.005", "GBP has 2 decimals"),
    (0, "lots", "lots is no amount"),
    (1, "yesterday", "yesterday is no age"),
    (1, "2031-01-01", "is still to come"),
    (2, "x" * 201, "It has 201 characters"),
)
"""Field, what is typed into it, what is said."""


async def test_what_cannot_be_read_is_said_beside_its_field_and_not_sent() -> None:
    fake, _ = scored_service()
    async with on_stage(fake) as (app, _, pilot):
        await pilot.press("W")
        dialog = await opened(app)
        for at, typed, words in UNREADABLE:
            entry, own = entries(dialog)[at], entries(dialog)[at].value
            entry.value = typed
            await pilot.press("enter")
            await said(app, words)
            assert entry.has_focus
            assert entry.value == typed
            entry.value = own
            await unsaid(app, words)
        assert not posts(fake)


async def test_a_refusal_of_the_service_stands_beside_the_field_that_it_names() -> None:
    fake, _ = scored_service()

    async def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/what-if"):
            detail = "`invoice` is one of: on-file, missing." if b"unheard" in request.content else "Not like that."
            problem = {"type": "x", "title": "No", "status": 422, "code": "invalid-request", "detail": detail}
            content = json.dumps({**problem, "reference": "R1"})
            return httpx.Response(422, content=content, headers={"Content-Type": "application/problem+json"})
        return await fake.handle(request)

    async with on_stage(fake, transport=httpx.MockTransport(answer)) as (app, _, pilot):
        await pilot.press("W")
        dialog = await opened(app)
        entries(dialog)[2].value = "unheard"
        await pilot.press("enter")
        await said(app, "✗ `invoice` is one of")
        assert entries(dialog)[2].has_focus
        entries(dialog)[2].value = "other"
        await pilot.press("enter")
        await said(app, "Not like that. Reference R1.")
        assert "is one of" not in flat(app)


async def test_nothing_changed_is_said_and_a_service_that_is_away_loses_nothing() -> None:
    fake, _ = scored_service()
    async with on_stage(fake) as (app, _, pilot):
        await pilot.press("W")
        dialog = await opened(app)
        await pilot.press("enter")
        await said(app, "change something first")
        entries(dialog)[2].value = "none"
        fake.status = 500
        await pilot.press("enter")
        await said(app, "answered 500")
        assert entries(dialog)[2].value == "none"
        fake.status = None
        await pilot.press("enter")
        await said(app, "no invoice +20")
        assert "answered 500" not in flat(app)


async def test_a_profile_that_only_looks_may_ask() -> None:
    fake, _ = scored_service()
    async with on_stage(fake, options={"read_only": True}) as (app, _, pilot):
        await pilot.press("W")
        dialog = await opened(app)
        entries(dialog)[2].value = "none"
        await pilot.press("enter")
        await said(app, "no invoice +20")


@pytest.mark.parametrize("size", [(40, 10), *also((140, 40))])
async def test_form_keys_and_answer_are_within_reach_at_every_size(size: tuple[int, int]) -> None:
    fake, ids = scored_service()
    async with on_stage(fake, size=size) as (app, screen, pilot):
        screen.table.move_to(ids[0])
        await pilot.press("W")
        dialog = await opened(app)
        entries(dialog)[2].value = "none"
        await pilot.press("enter")
        await until(app, lambda: "as it is" in screen_text(app), "the answer, scrolled into sight")
        await pilot.pause()
        assert "Nothing is saved" in screen_text(app)
        await pilot.press("pagedown", "pagedown", "pagedown", "pagedown")
        await pilot.pause()
        assert "Nothing is saved" in screen_text(app)
        assert "Aspire Care Ltd" in flat(app).partition("before 72 GBP 90,126.13 …4471")[2]


@pytest.mark.requirement("TUI-01")
async def test_hostile_inputs_vocabulary_and_answers_are_shown_as_they_are() -> None:
    fake, ids = scored_service()
    async with on_stage(fake) as (app, screen, pilot):
        texts = [text for text in HOSTILE if text and storable(text)]
        fake.queues.items[ids[2]].inputs = {"invoice": texts[0]}
        fake.queues.items[ids[2]].payee = Payee(id="s-1", name=texts[1], account_last4="4471")
        screen.table.move_to(ids[2])
        await pilot.press("W")
        dialog = await opened(app)
        form = dialog.query_one(RuleForm)
        assert form.read(dialog._supposing()) == {}  # what was not touched is not sent
        for at in range(0, len(texts), 4):
            amount, age, fault, offered = (texts[at : at + 4] * 4)[:4]
            form.offer({"input.invoice": [offered]})
            form.blame("amount", amount)
            form.blame("created", age)
            dialog.fault(fault)
            entries(dialog)[2].value = offered
            await pilot.pause()
            painted = lines(app)
            assert all(harmless(row) for row in painted), texts[at : at + 4]
            for text in (amount, age, fault, offered):
                assert line(text)[:8].strip() in "\n".join(painted)


async def test_keys_that_a_slow_link_brings_in_one_piece_reach_the_field_they_were_meant_for() -> None:
    fake, _ = scored_service()
    async with on_stage(fake) as (app, _, pilot):
        await pilot.press("W")
        dialog = await opened(app)
        for key in ("ctrl+u", "5", "tab", "9", "backspace", "8", "d", "shift+tab", "1"):
            app.post_message(events.Key(key, key if len(key) == 1 else None))
        await until(app, lambda: entries(dialog)[0].value.endswith("1"), "the last key")
        await pilot.pause()
        assert [entry.value for entry in entries(dialog)[:2]] == ["1", "8d"]  # what has the focus anew is selected


async def test_it_completes_to_what_other_items_have() -> None:
    fake, ids = scored_service()
    async with on_stage(fake) as (app, screen, pilot):
        screen.table.move_to(ids[0])
        await pilot.press("W")
        dialog = await opened(app)
        await said(app, "like on file, none")
        await pilot.press("tab", "tab", "n")
        await until(app, lambda: entries(dialog)[2]._suggestion == "none", "the suggestion")
        await pilot.press("right", "enter")
        await until(app, lambda: entries(dialog)[2].value == "none", "the completion")
