"""Why, simulator and overview headless: the answers of the wire, plain lines, what was typed wrongly said before it is sent."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest

from jobcontract.overview import Overview
from jobcontract.simulation import Simulation
from jobcontract.states import OccurrenceState
from jobcontract.why import Why
from tests.cli.twins import Typed

DUE = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
STRETCH = ("--from", "2026-03-02 09:00", "--to", "2026-03-02T18:00Z")


@pytest.fixture
def planned(typed: Typed) -> Typed:
    """An hourly schedule with an occurrence that waits, and a manual one."""
    (typed.folder / "config.toml").write_text('zone = "Europe/Paris"\n')
    jobs = typed.fake.jobs
    jobs.add("statements.hourly", every=3600, title="Hourly statements")
    jobs.add("accounts.close", every=None)
    jobs.plan("statements.hourly", DUE - timedelta(hours=1), OccurrenceState.COMPLETED, attempts=1)
    return typed


@pytest.mark.requirement("provide-operational-recovery-procedures")
def test_why_is_asked_of_a_schedule_and_of_an_occurrence_by_name(planned: Typed) -> None:
    answer = Why.model_validate(planned.json("schedules", "why", "statements.hourly"))
    assert answer.schedule == "statements.hourly"
    text = planned("schedules", "why", "statements.hourly").stdout
    assert answer.sentence in text
    assert "Checked, and not the cause:" in text
    name = "statements.hourly@2026-03-02T07:00:00Z"
    assert Why.model_validate(planned.json("occurrences", "why", name)).occurrence == name
    odd = planned("occurrences", "why", "statements.hourly@soon")
    assert (odd.exit_code, "names no" in " ".join(odd.stderr.split())) == (2, True)


@pytest.mark.requirement("define-misfire-recovery")
def test_a_simulation_takes_downtimes_and_an_edit_in_the_profiles_zone(planned: Typed) -> None:
    words = ("--down", "2026-03-02 10:00..2026-03-02 12:00", "--down", "2026-03-02T13:00Z..2026-03-02T14:30Z")
    answer = Simulation.model_validate(
        planned.json("schedules", "simulate", "statements.hourly", *STRETCH, *words, "--misfire", "once")
    )
    assert (answer.since, answer.until) == (DUE, datetime(2026, 3, 2, 18, tzinfo=UTC))
    assert answer.edited is not None
    text = planned("schedules", "simulate", "statements.hourly", *STRETCH, *words, "--misfire", "once").stdout
    assert "as it is" in text
    assert "edited" in text
    assert "2026-03-02 18:00:00Z (Mon 2026-03-02 19:00 CET), not included" in text
    plain = planned.json("schedules", "simulate", "statements.hourly", *STRETCH)
    assert plain["edited"] is None


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--down", "2026-03-02 10:00"), "is no stretch of time; say from when to when"),
        (("--down", "soon..2026-03-02 12:00"), "--down: Soon is not a time"),
        (("--every", "soon"), "is no length of time; say 90s, 15m, 24h"),
        (("--misfire", "never"), "is not one of 'skip', 'once', 'each-interval'"),
        (("--newest", "0"), "0 is not in the range"),
    ],
)
def test_what_is_typed_wrongly_is_said_before_it_is_sent(planned: Typed, words: tuple[str, ...], says: str) -> None:
    refused = planned("schedules", "simulate", "statements.hourly", *STRETCH, *words)
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert says in " ".join(refused.stderr.split())


@pytest.mark.requirement("provide-operational-recovery-procedures")
def test_the_overview_is_one_answer(planned: Typed) -> None:
    answer = Overview.model_validate(planned.json("overview"))
    text = planned("overview").stdout
    assert answer.late is not None
    assert re.search(rf"late schedules +{answer.late}\n", text)
    assert re.search(r"completed by hour( \d+| +\d+)+", text)
    assert planned("overview", person="nobody").exit_code != 0
