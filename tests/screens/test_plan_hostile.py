"""Every text of a plan is data: payee, title, key, warning, exclusion and reason are shown and never obeyed (TUI-01)."""

from __future__ import annotations

import pytest

from jobconsole.client.fake import FakeService
from jobconsole.present.text import line
from jobcontract.items import Payee
from jobcontract.session import Person
from jobcontract.states import Warned
from tests.hostile import CONTROLS, INVISIBLE, MARKUP, harmless
from tests.screens.idle import lines, screen_text, until
from tests.screens.plan_stage import confirm_dialog, on_plan, the_plan
from tests.screens.stage import PAYOUTS, START, hold

TEXTS = [text.replace("\x00", "\x01") for text in (*MARKUP, *CONTROLS[:-1], *INVISIBLE)]
BEGINNING = 10
"""Characters of a text that are on the screen at this width."""


def poisoned() -> tuple[FakeService, list[str]]:
    fake = FakeService(start=START)
    ids = []
    for number, text in enumerate(TEXTS):
        key = fake.queues.add(PAYOUTS, text, minor=1000 - number)
        row = fake.queues.items[key]
        row.payee = Payee(id=f"id {text}", name=text, account_last4=text[:4])
        row.title, row.key, row.inputs = f"t {text}", f"k {text}", {f"in {text}": text}
        ids.append(key)
    hold(fake, ids[-1], Person(id=f"p {TEXTS[0]}", name=TEXTS[1]), seconds=1800)
    return fake, ids


@pytest.mark.requirement("TUI-01")
async def test_rows_warnings_and_exclusions_show_hostile_texts_as_they_are() -> None:
    fake, ids = poisoned()
    async with on_plan(fake, size=(140, 60)) as (app, screen, pilot):
        for key, text in zip(ids[:-1], TEXTS, strict=False):
            fake.bulk.warn(the_plan(fake), key, Warned.LOOK_ALIKE, f"w {text}")
        await until(app, lambda: sum(each.sentence.startswith("w ") for each in screen.warned.warnings) > 20, "them")
        for number, text in enumerate(TEXTS[:-1], 1):
            screen.item_table.move_to(str(number))
            await until(app, lambda t=text: f"w {line(t)}"[:BEGINNING] in screen_text(app), f"the row of {text!r}")  # type: ignore[misc]  # mypy infers no lambda with a default
            painted = lines(app)
            assert all(map(harmless, painted)), text
            assert line(text)[:BEGINNING].strip() in "\n".join(painted)
        await pilot.press("tab")
        await until(app, lambda: screen.list == "excluded", "the exclusions")
        assert all(map(harmless, lines(app)))
        assert f"held by p {TEXTS[0]}" in screen_text(app)
        assert app.is_running


@pytest.mark.requirement("TUI-01")
@pytest.mark.parametrize(
    "text", ["[@click=app.quit]go[/]", "clear \x1b[2J\x1b[H home", "right \u202eoverride\u202c left"]
)
async def test_the_dialog_that_confirms_shows_hostile_texts_as_they_are(text: str) -> None:
    fake, ids = poisoned()
    row = fake.queues.items[ids[0]]
    row.payee = Payee(id="s-1", name=text, account_last4="4471")
    async with on_plan(fake, ids[:1]) as (app, screen, pilot):
        screen.plan = screen.plan.model_copy(update={"use_case_title": f"R {text}", "name": f"n {text}"})
        await pilot.press("C")
        await confirm_dialog(app)
        painted = lines(app)
        assert all(map(harmless, painted))
        for shown in (f"R {line(text)}", f"n {line(text)}", f"…4471  {line(text)}"):
            assert shown[:BEGINNING] in "\n".join(painted)
