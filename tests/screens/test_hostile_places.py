"""Whatever a person, a tenant, a deployment, a profile, an address or a refusal is called, every place and every dialog
of the shell shows it as it is and obeys none of it (TUI-01). The queue's own rows and dialogs: `test_queues_hostile`."""

from __future__ import annotations

import json
from dataclasses import replace

import httpx
import pytest

from jobconsole.app import Console
from jobconsole.client.fake import FakeService
from jobconsole.places import PLACES, Place
from jobconsole.present.text import line
from jobconsole.screens.choose import ChooseScreen
from jobconsole.screens.cover import CoverScreen
from jobconsole.screens.sign_in import SignInScreen
from jobcontract import routes
from tests.hostile import HOSTILE, harmless
from tests.screens.idle import idle, lines, until
from tests.screens.shell_stage import make, running

SIZE = (100, 40)
BEGINNING = 12
"""Characters of a text that must be on screen; the rest may be cut off or on the next line."""


def shows(app: Console, text: str, where: str) -> None:
    """`text` is on screen as data, and nothing on it can do anything."""
    painted = lines(app)
    harmful = [row for row in painted if not harmless(row)]
    assert not harmful, f"{where} was fed {text!r} and paints {harmful}"
    assert line(text)[:BEGINNING].strip() in "\n".join(painted), f"{where} does not show {text!r}"
    assert app.is_running, f"{where} obeyed {text!r}"


def rename(app: Console, text: str) -> None:
    """Lets who is signed in, where and as what be called `text`."""
    connection = app.connection
    assert connection is not None
    person = connection.session.person.model_copy(update={"name": text, "id": f"p {text}"})
    here = connection.role.model_copy(update={"name": text, "permissions": (f"may {text}",)})
    there = here.model_copy(update={"tenant": f"t {text}"})
    update = {"person": person, "tenants": (here, there), "deployment": f"d {text}"}
    connection.session = connection.session.model_copy(update=update)
    connection.role = here
    app.settings = replace(app.settings, profile=f"f {text}")


@pytest.mark.requirement("TUI-01")
@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.id)
async def test_every_place_shows_hostile_names_and_sentences_as_they_are(place: Place) -> None:
    async with running(app := make(FakeService(), places=PLACES), size=SIZE) as pilot:
        await pilot.press(place.key)
        await until(app, lambda: place.id == app.place_screen.PLACE, place.title)
        for text in HOSTILE:
            rename(app, text)
            app.tick()
            app.place_screen.say(text, error=True)
            await idle(app)
            shows(app, text, place.title)


@pytest.mark.requirement("TUI-01")
async def test_who_is_signed_in_and_where_is_shown_in_full_whatever_it_is_called() -> None:
    async with running(app := make(FakeService(), places=PLACES), size=(140, 60)) as pilot:
        await pilot.press("2")
        for text in (text for text in HOSTILE if len(text) < 100):
            rename(app, text)
            app.tick()
            await idle(app)
            for said in (f"p {text}", f"t {text}", f"d {text}", f"may {text}"):
                shows(app, said[:BEGINNING], "the place of the session")


@pytest.mark.requirement("TUI-01")
async def test_the_choice_of_tenants_shows_hostile_names_as_they_are() -> None:
    async with running(app := make(FakeService()), size=SIZE) as pilot:
        for text in HOSTILE[::2]:  # the list of choices is that of the palette: half of them is enough here
            rename(app, text)
            await pilot.press("T")
            assert isinstance(app.screen, ChooseScreen), f"no choice of tenants with {text!r}"
            await idle(app)
            shows(app, text, "the choice of tenants")
            app.screen.dismiss(None)


@pytest.mark.requirement("TUI-01")
@pytest.mark.parametrize("kind", [SignInScreen, CoverScreen])
async def test_asking_for_a_token_shows_hostile_profiles_addresses_and_refusals_as_they_are(
    kind: type[SignInScreen],
) -> None:
    fake, refusals = FakeService(), [""]

    async def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path != routes.ME.path or not refusals[0]:
            return await fake.handle(request)
        app.settings = replace(app.settings, profile=refusals[0], url=refusals[0])  # the next question is made of these
        body = {
            "type": "about:blank",
            "title": "No",
            "status": 503,
            "code": "database-away",
            "detail": f"⟨{refusals[0]}",
            "reference": "R",
        }
        return httpx.Response(403, content=json.dumps(body), headers={"Content-Type": routes.PROBLEM_TYPE})

    app = make(fake, transport=httpx.MockTransport(answer))
    async with running(app, size=SIZE) as pilot:
        plain = app.settings
        if kind is CoverScreen:
            await pilot.press("ctrl+l")
        else:
            app.entrance.sign_out("Over.")
            await pilot.press("L")
        await asked(app, kind, None)
        for text in HOSTILE[:: 3 if kind is CoverScreen else 1]:  # the cover is the same question under other words
            app.settings, refusals[0] = plain, text or "-"
            before = app.screen
            assert isinstance(before, kind)
            before.entry.value = "jc_m.ito"
            await before.entry.action_submit()
            await asked(app, kind, before)
            shows(app, text, kind.HEADING)
            if "\ud800" not in text:  # a lone surrogate is no JSON, and so no refusal
                shows(app, f"⟨{text}"[:BEGINNING], f"a refusal under {kind.HEADING}")


async def asked(app: Console, kind: type[SignInScreen], before: SignInScreen | None) -> SignInScreen:
    """The next question for a token, once it is in front and painted."""
    await until(app, lambda: type(app.screen) is kind and app.screen is not before, kind.HEADING)
    await idle(app)
    screen = app.screen
    assert isinstance(screen, kind)
    return screen
