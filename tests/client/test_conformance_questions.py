"""What is asked before acting: why something does not run, a simulation, runbooks. The fake service lists the same members
and causes as the real one, and refuses the same: both run every test."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from jobconsole.client import acts, simulation, why
from jobconsole.client.queues import new_key
from jobconsole.client.runbooks import runbooks
from jobcontract.occurrence_names import occurrence_name
from jobcontract.operating import Fate, WhyKind
from jobcontract.simulation import DAYS_MOST, Down, Edit
from jobcontract.states import OccurrenceState
from jobcontract.why import Why
from tests.client.schedule_stage import (
    BY_HAND,
    HOURLY,
    MINUTELY,
    FakeScheduleStage,
    ScheduleStage,
    real_schedule_stage,
)
from tests.client.stage import AUDITOR, FIRST, OPERATOR, PUSHER
from tests.client.test_conformance_schedules import refused

DEAD = OccurrenceState.DEAD_LETTER
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)

pytestmark = pytest.mark.requirement("provide-operational-recovery-procedures")


@pytest.fixture(params=["fake", "real"])
def stage(request: pytest.FixtureRequest) -> ScheduleStage:
    """The service under comparison; the real one only where it is asked for, it needs a database."""
    if request.param == "fake":
        return FakeScheduleStage()
    return real_schedule_stage(request.getfixturevalue("database"), request.getfixturevalue("people"))


def applying(answer: Why) -> list[WhyKind]:
    """The causes that apply; every other one is listed behind them as checked."""
    assert {each.kind for each in answer.causes} == set(WhyKind)
    order = [(not each.applies, list(WhyKind).index(each.kind)) for each in answer.causes]
    assert order == sorted(order)
    assert all(each.sentence.endswith(".") for each in answer.causes)
    found = [each for each in answer.causes if each.applies]
    assert [each.remedy for each in answer.causes if not each.applies and each.remedy] == []
    if found:
        assert answer.sentence == found[0].sentence
    return [each.kind for each in found]


async def test_every_cause_is_listed_and_those_that_apply_are_the_same(stage: ScheduleStage) -> None:
    now, service = stage.now, stage.sign_in(OPERATOR)
    waits, later = stage.plan(MINUTELY, now - MINUTE), stage.plan(HOURLY, now + HOUR)
    ended = stage.plan(MINUTELY, now - HOUR, DEAD)
    asked = await why.schedule_why(service, MINUTELY)
    name = occurrence_name(MINUTELY, now - MINUTE)
    assert (asked.subject, asked.schedule, asked.occurrence) == (MINUTELY, MINUTELY, name)
    assert applying(asked) == [WhyKind.NO_WORKER]
    assert applying(await why.schedule_why(service, BY_HAND)) == [WhyKind.MANUAL]
    stage.worker("a7")
    named = await why.occurrence_why(service, name)
    assert (named.subject, named.occurrence, applying(named)) == (name, name, [])
    by_id = await why.occurrence_why(service, waits)
    assert (by_id.subject, by_id.occurrence) == (waits, name)
    assert applying(await why.occurrence_why(service, later)) == [WhyKind.NOT_DUE]
    await acts.disable_schedule(service, MINUTELY, "broken", new_key())
    off = await why.schedule_why(service, MINUTELY)
    assert applying(off) == [WhyKind.DISABLED]
    assert ("Olle Lind" in off.sentence, "broken" in off.sentence) == (True, True)
    assert off.causes[0].remedy
    assert off.causes[0].evidence
    assert applying(await why.occurrence_why(service, ended)) == [WhyKind.ENDED]


async def test_why_of_what_is_not_there_and_of_who_may_not_ask(stage: ScheduleStage) -> None:
    service, pusher = stage.sign_in(AUDITOR), stage.sign_in(PUSHER)
    for call in (why.schedule_why(service, "t.never"), why.occurrence_why(service, "t.never@2026-01-01T00:00:00Z")):
        assert (await refused(call)).code == "not-found"
    for call in (why.schedule_why(pusher, MINUTELY), why.occurrence_why(pusher, "x")):
        assert (await refused(call)).code == "permission-missing"


async def test_a_simulation_has_the_same_shape_and_refusals(stage: ScheduleStage) -> None:
    service, since = stage.sign_in(AUDITOR), stage.now.replace(minute=0, second=0) + HOUR
    until = since + 6 * HOUR
    plain = await simulation.simulate(service, HOURLY, since, until)
    assert (plain.schedule, plain.zone, plain.since, plain.until) == (HOURLY, "UTC", since, until)
    assert (plain.edited, plain.differs, plain.words) == (None, (), "")
    assert [(each.fate, each.count) for each in plain.current.counts] == [(Fate.FIRES, 6)]
    assert (sum(each.count for each in plain.current.instants), plain.current.whole) == (6, True)
    down = [Down(since=since + MINUTE, until=since + 3 * HOUR)]
    edit = Edit(every=1_800)
    both = await simulation.simulate(service, HOURLY, since, until, down, edit)
    assert {each.fate: each.count for each in both.current.counts} == {Fate.FIRES: 4, Fate.SKIPPED: 2}
    assert both.edited is not None
    assert sum(each.count for each in both.edited.counts) == 12
    assert (bool(both.differs), bool(both.words)) == (True, True)
    await refusals(stage, since)


async def refusals(stage: ScheduleStage, since: datetime) -> None:
    """What cannot be simulated."""
    service, until = stage.sign_in(AUDITOR), since + HOUR
    outside, backwards = Down(since=since - HOUR, until=since), Down(since=until, until=since)
    both = Edit(every=60, cron="0 1 * * *")
    for call, code in (
        (simulation.simulate(service, BY_HAND, since, until), "schedule-unfit"),
        (simulation.simulate(service, "t.never", since, until), "not-found"),
        (simulation.simulate(service, HOURLY, until, since), "invalid-request"),
        (simulation.simulate(service, HOURLY, since, since + (DAYS_MOST + 1) * DAY), "invalid-request"),
        (simulation.simulate(service, HOURLY, since, until, [outside]), "invalid-request"),
        (simulation.simulate(service, HOURLY, since, until, [backwards]), "invalid-request"),
        (simulation.simulate(service, HOURLY, since, until, edit=both), "invalid-request"),
        (simulation.simulate(stage.sign_in(PUSHER), HOURLY, since, until), "permission-missing"),
    ):
        assert (await refused(call)).code == code


async def test_runbooks_tell_what_was_done_by_whom_and_why(stage: ScheduleStage) -> None:
    service = stage.sign_in(OPERATOR)
    identifier = stage.plan(HOURLY, stage.now - HOUR, DEAD)
    stage.plan(MINUTELY, stage.now - HOUR, DEAD)
    assert (await runbooks(service, HOURLY)).transcript == ()
    await acts.replay_occurrence(service, identifier, "the bank was down", new_key())
    await acts.disable_schedule(service, HOURLY, "broken", new_key())
    await refused(acts.disable_schedule(service, HOURLY, "again", new_key()))
    await acts.disable_schedule(service, MINUTELY, "of another one", new_key())
    found = await runbooks(service, HOURLY)
    assert found.schedule == HOURLY
    acted = [(each.action, each.outcome, each.person and each.person.id) for each in found.transcript]
    assert acted == [
        ("disable-schedule", "refused", "o.lind"),
        ("disable-schedule", "done", "o.lind"),
        ("replay-occurrence", "done", "o.lind"),
    ]
    assert [each.sentence for each in found.transcript[1:]] == ["broken", "the bank was down"]
    assert found.transcript[0].sentence
    assert (await runbooks(stage.sign_in(FIRST), HOURLY)).transcript == found.transcript
    assert (await refused(runbooks(service, "t.never"))).code == "not-found"
    assert (await refused(runbooks(stage.sign_in(PUSHER), HOURLY))).code == "permission-missing"
