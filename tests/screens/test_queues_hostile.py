"""Every text that the service sends is data on every queue screen and dialog: shown, never obeyed (TUI-01)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import httpx
import pytest
from textual.pilot import Pilot
from textual.widgets import Select

from jobconsole.app import Console
from jobconsole.client.fake import FakeService
from jobconsole.present.text import line
from jobconsole.screens.act_form import ActForm
from jobconsole.screens.queues import QueuesScreen
from jobconsole.widgets.form import Prose
from jobcontract.items import ActRecord, ClaimRecord, Payee
from jobcontract.session import Person
from jobcontract.states import ClaimEnding, OutcomeKind
from tests.hostile import CONTROLS, HOSTILE, INVISIBLE, MARKUP, harmless
from tests.screens.idle import lines, screen_text, until
from tests.screens.stage import PAYOUTS, START, also, dialog, item_screen, on_stage

WITHOUT_LONE = tuple(text for text in HOSTILE if "\ud800" not in text)
"""A lone surrogate cannot be sent as JSON in UTF-8; the painted filter is tested with it elsewhere."""


ALONE = (*MARKUP, *CONTROLS[:-1], *INVISIBLE)
"""The list shows each by itself; an item's screen and dialogs get three in one text, an app start being slow."""


def storable(text: str) -> str:
    """As the service would keep it: names are never empty and hold no NUL."""
    return text.replace("\x00", "\x01")[:200] or "-"


def poisoned(texts: Sequence[str]) -> tuple[FakeService, list[str]]:
    """A service in which every text of every item is hostile."""
    fake = FakeService(start=START)
    keys = []
    for number, raw in enumerate(texts):
        text = storable(raw)
        key = fake.queues.add(PAYOUTS, text, days_old=90 - number, minor=100 + number)
        row, person = fake.queues.items[key], Person(id=f"p{number} {text}", name=text)
        row.payee = Payee(id=text, name=text, account_last4=text[:4])
        row.title, row.key = f"t {text}", f"k {text}"
        row.inputs = {f"in {text}": text}
        if number % 2:
            row.holder, row.taken_at, row.expires_at, row.fence = person, START, START + timedelta(hours=1), 1
        row.claims = [
            ClaimRecord(
                fence=1,
                holder=person,
                taken_at=START,
                expires_at=START,
                renewals=0,
                ended_at=START,
                ending=ClaimEnding.BROKEN,
                ended_by=person,
                reason=text,
            )
        ]
        row.acts = [
            ActRecord(
                at=START,
                person=person,
                use_case=f"payments.{text}",
                outcome=OutcomeKind.DONE,
                sentence=text,
                inputs={text: text},
                money_version=1,
            )
        ]
        keys.append(key)
    return fake, keys


def squeezed(text: str) -> str:
    """Without blanks: a long text is wrapped."""
    return "".join(text.split())


def safe(app: Console) -> None:
    painted = lines(app)
    assert all(harmless(text) for text in painted), [text for text in painted if not harmless(text)]


@pytest.mark.requirement("TUI-01")
@pytest.mark.parametrize("size", [(80, 24), *also((140, 40))])
async def test_hostile_texts_are_shown_as_they_are_in_list_and_detail(size: tuple[int, int]) -> None:
    fake, keys = poisoned(WITHOUT_LONE if size == (80, 24) else WITHOUT_LONE[::3])
    async with on_stage(fake, size=size) as (app, screen, pilot):
        for key in keys:
            assert screen.table.move_to(key)
            await pilot.pause()
            safe(app)
            payee = fake.queues.items[key].payee
            assert payee is not None
            assert line(payee.name)[:10].strip() in screen_text(app)


@pytest.mark.requirement("TUI-01")
@pytest.mark.parametrize("text", [" ".join(ALONE[at : at + 3]) for at in range(0, len(ALONE), 3)])
async def test_hostile_texts_are_shown_as_they_are_on_an_items_screen_and_in_its_dialogs(text: str) -> None:
    fake, keys = poisoned([text, text])
    async with on_stage(fake, size=(100, 50)) as (app, screen, pilot):
        await pilot.press("down", "enter")
        await item_screen(app)
        safe(app)
        shown = line(storable(text))
        assert squeezed(f"“{shown}”") in squeezed(screen_text(app))
        await pilot.press("B")
        form = await dialog(app)
        safe(app)
        assert squeezed(shown[:20]) in squeezed(screen_text(app))
        form.query_one(Prose).text = text
        form.fault(text)
        await pilot.pause()
        safe(app)
        await pilot.press("escape", "q")
        await until(app, lambda: isinstance(app.screen, QueuesScreen), "the list")
        screen.say(text, error=True)
        await pilot.pause()
        safe(app)
        assert screen.table.cursor_key == keys[1]


async def click_everywhere(app: Console, pilot: Pilot[None]) -> None:
    for y, text in enumerate(lines(app)):
        at = text.find("go")
        if at >= 0:
            await pilot.click(offset=(at, y))


@pytest.mark.requirement("TUI-01")
async def test_a_link_in_a_name_does_nothing_when_clicked() -> None:
    fake, _ = poisoned(["[@click=app.quit]go[/]", "[@click=screen.run_command('item.claim')]go[/]"])
    async with on_stage(fake) as (app, _, pilot):
        await click_everywhere(app, pilot)
        await pilot.press("enter")
        await item_screen(app)
        await click_everywhere(app, pilot)
        assert app.is_running
        assert app.return_code in (None, 0)
        assert not [request for request in fake.requests if request.method == "POST"]


@pytest.mark.requirement("TUI-01")
async def test_hostile_refusals_and_colleagues_are_shown_as_they_are() -> None:
    fake, keys = poisoned(["plain", "plain"])
    row = fake.queues.items[keys[0]]
    row.holder, row.taken_at, row.expires_at = None, None, None
    problem = {
        "type": "about:blank",
        "title": "No",
        "status": 409,
        "code": "version-changed",
        "detail": "[@click=app.quit]no[/] \x1b]52;c;ZXZpbA==\x07 [/nope]",
        "reference": "\x1b[2J[red]R1",
        "changes": [{"field": "[/x]", "before": "\x1b[31mold", "after": "\u202enew"}],
    }
    people = {"colleagues": [{"id": "k.rao", "name": "[/x] \x1b[31m\u202eKiran", "role": "finance"}]}

    async def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/v1/colleagues":
            return httpx.Response(200, json=people)
        if "/acts/" in request.url.path:
            return httpx.Response(409, json=problem, headers={"Content-Type": "application/problem+json"})
        return await fake.handle(request)

    async with on_stage(fake, transport=httpx.MockTransport(answer)) as (app, _, pilot):
        await pilot.press("c")
        await until(app, lambda: "◆ me" in screen_text(app), "the claim")
        await pilot.press("h")
        form = await dialog(app)
        form.query_one(Prose).text = "reason"
        form.query_one(Select).expanded = True
        await pilot.pause()
        safe(app)
        assert "[/x] ␛[31m" in screen_text(app)
        form.query_one(Select).expanded = False
        form.query_one(Select).value = "k.rao"
        form.act_button.press()
        await until(app, lambda: "[@click=app.quit]no[/]" in screen_text(app), "the refusal")
        safe(app)
        assert "[/x]" in screen_text(app)
        assert "␛[31mold" in screen_text(app)
        assert isinstance(app.screen, ActForm)
