"""Owns what tests of claims and acts do with a dialog and look for on the screen."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import httpx
from textual.widgets import Button

from jobconsole.app import Console
from jobconsole.client.fake import FakeService
from jobconsole.client.wiring import Times
from jobconsole.screens.act_form import ActForm
from jobconsole.widgets.form import Prose
from tests.screens.idle import screen_text, until
from tests.screens.stage import START, scene


def service() -> tuple[FakeService, list[str]]:
    fake = FakeService(start=START)
    return fake, scene(fake)


def posts(fake: FakeService) -> list[httpx.Request]:
    return [request for request in fake.requests if request.method == "POST"]


def flat(app: Console) -> str:
    """The screen without its line breaks and frames."""
    return " ".join(screen_text(app).replace("│", " ").split())


async def closed(app: Console) -> None:
    await until(app, lambda: not isinstance(app.screen, ActForm), "the end of the dialog")


async def said(app: Console, words: str) -> None:
    await until(app, lambda: words in flat(app), f'the words "{words}"')


def type_reason(form: ActForm[Any], text: str) -> None:
    form.query_one(Prose).text = text


def press(form: ActForm[Any], which: str) -> None:
    form.query_one(f"#{which}", Button).press()


def hasty(app: Console) -> Times:
    return replace(app.service.times, deadline=0.5, first_pause=0.01, longest_pause=0.02)
