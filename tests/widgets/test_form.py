"""Tests of the form made from declared inputs: what is read, what is wrong and where it is said."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.widgets import Checkbox, Input, Select, Static

from jobconsole.widgets.form import Field, Form, Prose
from jobcontract.queues import UseCaseInput
from jobcontract.states import InputType

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def declared(name: str, kind: InputType, *, required: bool = True, most: int | None = None) -> UseCaseInput:
    return UseCaseInput(name=name, type=kind, title=name.capitalize(), required=required, most=most)


class FormApp(App[None]):
    """A form and nothing else."""

    def __init__(self, inputs: Sequence[UseCaseInput], people: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self.form = Form(inputs, zone=ZoneInfo("Europe/Paris"), people=people)

    def compose(self) -> ComposeResult:
        yield self.form


@asynccontextmanager
async def form_of(
    *inputs: UseCaseInput, people: Sequence[tuple[str, str]] = ()
) -> AsyncIterator[tuple[Form, Pilot[None]]]:
    app = FormApp(inputs, people)
    async with app.run_test(size=(80, 24)) as pilot:
        app.form.at(NOW)
        yield app.form, pilot


def under(form: Form, number: int = 0) -> str:
    shown = list(form.query(Field))[number].query_one(".under", Static)
    return str(shown.content) if shown.display else ""


async def test_every_type_has_its_field_and_its_value() -> None:
    inputs = (
        declared("reason", InputType.TEXT, most=20),
        declared("until", InputType.INSTANT),
        declared("attempts", InputType.INTEGER),
        declared("urgent", InputType.BOOLEAN),
        declared("colleague", InputType.PERSON),
    )
    async with form_of(*inputs, people=[("k.rao", "Kiran [/] Rao")]) as (form, pilot):
        form.query_one(Prose).text = "  double  "
        until, attempts = form.query(Input)
        until.value, attempts.value = "tomorrow 9:00", "-3"
        form.query_one(Checkbox).value = True
        form.query_one(Select).value = "k.rao"
        await pilot.pause()
        assert form.read(NOW) == {
            "reason": "double",
            "until": "2026-03-03T08:00:00Z",
            "attempts": -3,
            "urgent": True,
            "colleague": "k.rao",
        }


async def test_what_may_stay_empty_is_left_out() -> None:
    inputs = [declared(kind.value, kind, required=False) for kind in InputType]
    async with form_of(*inputs) as (form, _):
        assert form.read(NOW) == {"boolean": False}


@pytest.mark.parametrize(
    ("kind", "typed", "words"),
    [
        (InputType.TEXT, "", "Field is needed."),
        (InputType.TEXT, "x" * 12, "2 characters too many: at most 10."),
        (InputType.TEXT, "a\x00b", "cannot be kept"),
        (InputType.TEXT, "\u200b \u2800", "Nobody would see anything of it"),
        (InputType.INSTANT, "", "Field needs a time, like tomorrow 9:00."),
        (InputType.INSTANT, "2026-03-29 02:30", "does not exist in Europe/Paris"),
        (InputType.INSTANT, "someday", "is not a time"),
        (InputType.INSTANT, "yesterday", "That is in the past"),
        (InputType.INTEGER, "9" * 30, "too large"),
        (InputType.INTEGER, "", "Field is needed."),
        (InputType.PERSON, "", "Field is needed."),
    ],
)
async def test_a_fault_stands_under_its_field_and_nothing_typed_is_lost(
    kind: InputType, typed: str, words: str
) -> None:
    async with form_of(declared("field", kind, most=10 if kind is InputType.TEXT else None)) as (form, pilot):
        if kind is InputType.TEXT:
            form.query_one(Prose).text = typed
        elif kind is not InputType.PERSON:
            form.query_one(Input).value = typed
        await pilot.pause()
        assert form.read(NOW) is None
        assert words in under(form)
        kept = form.query_one(Prose).text if kind is InputType.TEXT else typed
        assert kept == typed


async def test_the_first_fault_has_the_keyboard() -> None:
    inputs = [
        declared("reason", InputType.TEXT),
        declared("until", InputType.INSTANT),
        declared("note", InputType.TEXT),
    ]
    async with form_of(*inputs) as (form, pilot):
        next(iter(form.query(Prose))).text = "given"
        await pilot.pause()
        assert form.read(NOW) is None
        await pilot.pause()
        assert pilot.app.focused is form.query_one(Input)
        assert under(form, 0) == ""
        assert under(form, 2) == "Note is needed."


async def test_the_counter_counts_and_the_instant_shows_what_it_means() -> None:
    inputs = [declared("reason", InputType.TEXT, most=500), declared("until", InputType.INSTANT)]
    async with form_of(*inputs) as (form, pilot):
        form.query_one(Prose).focus()
        await pilot.press(*"late")
        assert str(form.query_one(".count", Static).content) == "4 of 500"
        assert "(Europe/Paris)" in under(form, 1)
        await pilot.press("tab")
        await pilot.press(*"+2d")
        await pilot.pause()
        assert under(form, 1) == "= Wed 2026-03-04 10:00 CET (09:00:00Z), in 2 d"


async def test_a_paste_is_text_and_enter_in_one_line_goes_on() -> None:
    inputs = [declared("until", InputType.INSTANT), declared("reason", InputType.TEXT)]
    async with form_of(*inputs) as (form, pilot):
        form.query_one(Input).focus()
        await pilot.press("enter")
        assert pilot.app.focused is form.query_one(Prose)
        form.query_one(Prose).insert("first\nsecond\x1b[2J")
        values: Mapping[str, object] | None = None
        form.query_one(Input).value = "+1d"
        await pilot.pause()
        values = form.read(NOW)
        assert values is not None
        assert values["reason"] == "first\nsecond\x1b[2J"


async def test_a_person_field_without_colleagues_says_so() -> None:
    async with form_of(declared("colleague", InputType.PERSON)) as (form, _):
        assert under(form) == "There is no colleague who could take it."
