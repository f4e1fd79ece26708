"""The clock simulator: the form with the record's own values, both courses, what differs; nothing is ever saved."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from jobconsole.app import Console
from jobconsole.present.simulation import FATES, Unfit, became_text, command_text, prefilled, read_form, wall_of
from jobconsole.screens.simulator import SimulatorScreen
from jobconsole.screens.simulator_form import SimulatorForm
from jobconsole.widgets.line_entry import LineEntry
from jobcontract.operating import Fate
from jobcontract.simulation import SimulatedInstant
from jobcontract.states import ClockChange, MisfirePolicy, Repeated
from tests.present.scheduled import AT, NOW, schedule, wall
from tests.screens.act_stage import BY_HAND, HOURLY, acting, staged
from tests.screens.acting_stage import flat, said
from tests.screens.idle import idle, until
from tests.screens.stage import also

pytestmark = pytest.mark.requirement("define-business-local-clock-behavior")


async def opened(app: Console) -> SimulatorForm:
    """The form, once it is in front."""
    await until(app, lambda: isinstance(app.screen, SimulatorForm) and app.screen.query(LineEntry), "the form")
    assert isinstance(app.screen, SimulatorForm)
    return app.screen


def put(form: SimulatorForm, **typed: str) -> None:
    """Types into the fields by name."""
    for entry in form.query(LineEntry):
        entry.value = typed.get(str(entry.name), entry.value)


def shown_fault(form: SimulatorForm) -> str:
    """What the form says is wrong."""
    return str(form.query_one("#fault").render())


@pytest.mark.parametrize("size", [(80, 24), (140, 40), *also((60, 16))])
async def test_both_courses_are_shown_and_nothing_is_saved(size: tuple[int, int]) -> None:
    fake = staged()
    before = dict(fake.jobs.schedules)
    async with acting(fake, size=size) as (app, screen, pilot):
        screen.query_one("#schedules").move_to(HOURLY)  # type: ignore[attr-defined]  # the place's table
        await pilot.press("m")
        form = await opened(app)
        assert (
            form.typed() | {"since": "2026-10-23", "until": "2026-10-26", "every": "1h", "misfire": "once"}
            == form.typed()
        )
        assert "Nothing is saved" in flat(app)
        put(
            form,
            since="2026-10-24 09:00",
            until="2026-10-24 15:00",
            down="2026-10-24 10:00..2026-10-24 12:00",
            every="2h",
        )
        await pilot.press("enter")
        await until(app, lambda: isinstance(app.screen, SimulatorScreen) and app.screen.simulated, "the courses")
        simulator = app.screen
        assert isinstance(simulator, SimulatorScreen)
        await idle(app)
        told = flat(app)
        assert "Nothing is saved: the service computes it and forgets it." in told
        assert "‖ down 2026-10-24 09:00Z to 2026-10-24 11:00Z (2 h)" in told
        assert "✓ fires 4 – skipped 2" in told
        assert "[by the record] every 3600 s" in told
        assert ("by the edit every 7200 s" in told) == (size[0] == 140), "side by side where there is room"
        if size[1] > 20:
            assert "≠ – skipped 2026-10-24 09:00Z" in told
        await pilot.press("tab")
        await said(app, "[by the edit] every 7200 s")
        assert "✓ fires 2 – skipped 1" in flat(app)
        assert simulator.copyable() == (
            "jobconsole schedules simulate statements.hourly --down 2026-10-24T09:00:00Z..2026-10-24T11:00:00Z"
            " --from 2026-10-24T08:00:00Z --to 2026-10-24T14:00:00Z --every 2h"
        )
        await pilot.press("enter")
        again = await opened(app)
        assert again.typed()["every"] == "2h", "what was typed stays"
        put(again, every="never")
        await pilot.press("enter")
        await until(
            app, lambda: "every: never is no length of time: type 90s, 15m, 24h." in shown_fault(again), "the fault"
        )
        assert again.focused is not None
        assert again.focused.name == "every"
        assert fake.jobs.schedules == before
        assert not any(each.method == "POST" and not each.url.path.endswith("/simulate") for each in fake.requests)


async def test_a_manual_schedule_has_nothing_to_simulate() -> None:
    async with acting(staged()) as (app, screen, pilot):
        screen.query_one("#schedules").move_to(BY_HAND)  # type: ignore[attr-defined]  # the place's table
        await pilot.press("m")
        await said(app, "A person starts it: it has no rhythm to simulate.")


def test_only_what_differs_from_the_record_is_an_edit() -> None:
    record = schedule()
    first = prefilled(record, AT)
    assert (first["cron"], first["zone"], first["misfire"], first["misfire_after"]) == (
        "30 1 * * *",
        "Europe/London",
        "once",
        "10m",
    )
    assert read_form(first, first, AT).edit is None
    order = read_form({**first, "repeated": "both", "misfire": "each-interval", "newest": "3"}, first, AT)
    assert order.edit is not None
    assert (order.edit.repeated, order.edit.misfire, order.edit.newest, order.edit.cron) == (
        Repeated.BOTH,
        MisfirePolicy.EACH_INTERVAL,
        3,
        None,
    )
    command = command_text(record.id, order, {"profile": "prod"})
    assert command.endswith("--repeated both --misfire each-interval --newest 3 --profile prod")


@pytest.mark.parametrize(
    ("field", "text", "says"),
    [
        ("since", "2026-10-25 25:00", "is not a time of day"),
        ("until", "2026-10-22", "It ends before it begins"),
        ("until", "2046-10-22", "At most 3,700 days"),
        ("down", "yesterday", "yesterday is no stretch: type A..B"),
        ("down", "+2h..+1h", "ends before it begins"),
        ("repeated", "twice", "twice is none of: first, second, both."),
        ("misfire_after", "0m", "0m is no length of time"),
        ("newest", "10001", "A whole number from 1 to 10,000."),
    ],
)
def test_what_cannot_be_read_is_said_at_its_field(field: str, text: str, says: str) -> None:
    first = prefilled(schedule(), AT)
    with pytest.raises(Unfit) as unfit:
        read_form({**first, field: text}, first, AT)
    assert unfit.value.field == field
    assert says in str(unfit.value)


def test_gaps_and_repeats_are_marked_by_sign_and_word_and_every_fate_has_its_own() -> None:
    assert set(FATES) == set(Fate)
    words = [word for word, _ in FATES.values()]
    assert len(set(words)) == len(words)
    left = instant(wall(25), fate=Fate.REPEAT_LEFT, clock=ClockChange.SECOND, abbreviation="GMT")
    assert (FATES[left.fate][0], wall_of(left, "Europe/London")) == ("▲ repeat, left", "Sun 01:30 GMT")
    assert became_text(left) == "the second of two"
    merged = instant(wall(25), fate=Fate.MERGED, merged_into=NOW + timedelta(hours=1))
    assert became_text(merged) == "as 2026-10-24 23:00Z"


def instant(local: datetime | None, **more: object) -> SimulatedInstant:
    """One instant of a course."""
    known: dict[str, object] = {
        "at": NOW,
        "last_at": NOW,
        "count": 1,
        "local": local,
        "offset": 0,
        "abbreviation": "BST",
        "clock": None,
        "fate": Fate.FIRES,
        "runs_at": None,
        "merged_into": None,
        "words": "",
    }
    return SimulatedInstant.model_validate({**known, **more})
