"""Single acts of the fake service mean what those of the real one mean: both run every test."""

from __future__ import annotations

from datetime import timedelta

import pytest

from jobconsole.client import acts, occurrences, schedules
from jobconsole.client.audit import audit
from jobconsole.client.queues import new_key
from jobconsole.client.workers import workers
from jobcontract.occurrence_names import occurrence_name
from jobcontract.states import DeadCause, OccurrenceOrigin, OccurrenceState, OutcomeKind, ScheduleStanding
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

SCHEDULED, PROCESSING = OccurrenceState.SCHEDULED, OccurrenceState.PROCESSING
COMPLETED, DEAD = OccurrenceState.COMPLETED, OccurrenceState.DEAD_LETTER
DONE, REFUSED, FAILED, UNCERTAIN = OutcomeKind.DONE, OutcomeKind.REFUSED, OutcomeKind.FAILED, OutcomeKind.UNCERTAIN
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
NOWHERE = "00000000-0000-4000-8000-000000000000"

pytestmark = pytest.mark.requirement("provide-operational-recovery-procedures")


@pytest.fixture(params=["fake", "real"])
def stage(request: pytest.FixtureRequest) -> ScheduleStage:
    """The service under comparison; the real one only where it is asked for, it needs a database."""
    if request.param == "fake":
        return FakeScheduleStage()
    return real_schedule_stage(request.getfixturevalue("database"), request.getfixturevalue("people"))


@pytest.mark.requirement("audit-manual-replay")
async def test_what_has_ended_runs_again_with_what_is_not_done(stage: ScheduleStage) -> None:
    now, service, key = stage.now, stage.sign_in(OPERATOR), new_key()
    identifier = stage.plan(MINUTELY, now - HOUR, DEAD, attempts=3)
    stage.items(identifier, DONE, FAILED, REFUSED, UNCERTAIN, None)
    seen = (await occurrences.occurrence(service, identifier)).occurrence.version
    name = occurrence_name(MINUTELY, now - HOUR)
    stale = acts.replay_occurrence(service, name, "the bank was down", new_key(), seen + 1)
    assert (await refused(stale)).code == "version-changed"
    told = (await acts.replay_occurrence(service, name, "the bank was down", key, seen)).occurrence
    again = (await acts.replay_occurrence(service, name, "the bank was down", key, seen)).occurrence
    assert again == told
    assert (told.id, told.state, told.attempts, told.replays) == (identifier, SCHEDULED, 0, 1)
    assert (told.cause, told.ended_at, told.started_at, told.lease) == (None, None, None, None)
    assert (told.items.done, told.items.refused, told.items.failed, told.items.unfinished) == (1, 0, 0, 4)
    detail = await occurrences.occurrence(service, identifier)
    (replay,) = detail.replays
    assert (replay.replay, replay.person.name, replay.reason, replay.recovery) == (
        1,
        "Olle Lind",
        "the bank was down",
        None,
    )
    assert (replay.state_before, replay.cause_before, replay.attempts_before, replay.not_done) == (
        DEAD,
        DeadCause.FAILED,
        3,
        4,
    )
    assert sorted(str(each.outcome) for each in detail.items) == ["None", "None", "None", "None", "done"]
    for state in (SCHEDULED, PROCESSING):
        waiting = stage.plan(HOURLY, now - (HOUR if state is PROCESSING else MINUTE), state)
        call = acts.replay_occurrence(service, waiting, "x", new_key())
        assert (await refused(call)).code == "occurrence-not-ended"
    entries = (await audit(stage.sign_in(AUDITOR))).entries
    assert ("replay-occurrence", "done") in {(each.action, each.outcome) for each in entries}


async def test_a_dead_letter_is_put_away_once(stage: ScheduleStage) -> None:
    now, service = stage.now, stage.sign_in(OPERATOR)
    identifier = stage.plan(MINUTELY, now - HOUR, DEAD)
    told = (await acts.discard_occurrence(service, identifier, "sent by hand", new_key())).occurrence
    assert (told.state, told.cause, told.discard_reason) == (DEAD, DeadCause.FAILED, "sent by hand")
    assert (told.discarded_by and told.discarded_by.name) == "Olle Lind"
    call = acts.discard_occurrence(service, identifier, "sent by hand", new_key())
    refusal = await refused(call)
    assert (refusal.code, "was discarded by Olle Lind" in refusal.sentence) == ("not-dead-letter", True)
    again = (await acts.replay_occurrence(service, identifier, "after all", new_key())).occurrence
    assert (again.discarded_at, again.discarded_by, again.discard_reason) == (None, None, None)
    completed = stage.plan(MINUTELY, now - 2 * HOUR, COMPLETED)
    call = acts.discard_occurrence(service, completed, "x", new_key())
    assert (await refused(call)).code == "not-dead-letter"


@pytest.mark.requirement("run-manual-jobs-under-their-guard")
async def test_a_manual_schedule_runs_now_once_a_key_where_its_guard_allows_it(stage: ScheduleStage) -> None:
    service, key = stage.sign_in(OPERATOR), new_key()
    first = (await acts.run_schedule(service, BY_HAND, "a customer waits", key)).occurrence
    again = (await acts.run_schedule(service, BY_HAND, "a customer waits", key)).occurrence
    assert again.id == first.id
    assert (first.schedule, first.origin, first.state) == (BY_HAND, OccurrenceOrigin.MANUAL, SCHEDULED)
    assert (await refused(acts.run_schedule(service, HOURLY, "x", new_key()))).code == "schedule-unfit"
    assert (await refused(acts.run_schedule(service, "t.never", "x", new_key()))).code == "not-found"
    stage.close(BY_HAND)
    assert (await refused(acts.run_schedule(service, BY_HAND, "x", new_key()))).code == "guard-refused"
    await acts.disable_schedule(service, BY_HAND, "broken", new_key())
    refusal = await refused(acts.run_schedule(service, BY_HAND, "x", new_key()))
    assert (refusal.code, refusal.sentence) == (
        "schedule-disabled",
        f"{BY_HAND} is disabled by Olle Lind: broken. Enable it first.",
    )


async def test_a_schedule_is_switched_off_for_longer_and_on_again(stage: ScheduleStage) -> None:
    now, service = stage.now, stage.sign_in(OPERATOR)
    before = await acts.enabling(service, HOURLY)
    assert (before.disabled, before.since, before.runs, before.skips) == (False, None, (), ())
    off = (await acts.disable_schedule(service, HOURLY, "bank is down", new_key(), now + HOUR)).schedule
    assert off.standing is ScheduleStanding.DISABLED
    assert off.disabled is not None
    assert (off.disabled.until, off.disabled.by.name, off.disabled.reason) == (now + HOUR, "Olle Lind", "bank is down")
    for until in (now + HOUR, now + MINUTE):
        call = acts.disable_schedule(service, HOURLY, "again", new_key(), until)
        refusal = await refused(call)
        assert (refusal.code, "Olle Lind until" in refusal.sentence) == ("schedule-disabled", True)
    longer = (await acts.disable_schedule(service, HOURLY, "for good", new_key())).schedule
    assert longer.disabled is not None
    assert (longer.disabled.until, longer.disabled.at) == (None, off.disabled.at)
    for until in (now - HOUR, now + timedelta(days=400)):
        call = acts.disable_schedule(service, MINUTELY, "x", new_key(), until)
        assert (await refused(call)).code == "invalid-request"
    found = await acts.enabling(stage.sign_in(AUDITOR), HOURLY)
    assert (found.disabled, found.since) == (True, off.disabled.at)
    on = (await acts.enable_schedule(service, HOURLY, "it is back", new_key())).schedule
    assert on.disabled is None
    assert (await schedules.schedule(service, HOURLY)).schedule.disabled is None
    assert (await refused(acts.enable_schedule(service, HOURLY, "x", new_key()))).code == "schedule-not-disabled"
    disabled = stage.plan(MINUTELY, now - HOUR, DEAD)
    await acts.disable_schedule(service, MINUTELY, "broken", new_key())
    assert (await refused(acts.replay_occurrence(service, disabled, "x", new_key()))).code == "schedule-disabled"


async def test_a_worker_drains_and_takes_again_and_the_last_one_does_not(stage: ScheduleStage) -> None:
    service = stage.sign_in(OPERATOR)
    first, second = stage.worker("a7"), stage.worker("b2")
    told = (await acts.drain_worker(service, first, "new kernel", new_key())).worker
    assert (told.incarnation, told.drain_reason) == (first, "new kernel")
    assert (told.drain_asked_by and told.drain_asked_by.name) == "Olle Lind"
    again = (await acts.drain_worker(service, first, "me too", new_key())).worker
    assert (again.drain_asked_at, again.drain_reason) == (told.drain_asked_at, "new kernel")
    assert (await refused(acts.drain_worker(service, second, "x", new_key()))).code == "worker-last"
    assert {each.host for each in (await workers(service)).workers if each.drain_asked_at is not None} == {"a7"}
    back = (await acts.undrain_worker(service, first, "kernel is there", new_key())).worker
    assert (back.drain_asked_at, back.drain_asked_by, back.drain_reason) == (None, None, None)
    await acts.drain_worker(service, second, "x", new_key())
    for call in (acts.drain_worker, acts.undrain_worker):
        assert (await refused(call(service, NOWHERE, "x", new_key()))).code == "not-found"


async def test_who_may_act(stage: ScheduleStage) -> None:
    worker, identifier = stage.worker("a7"), stage.plan(MINUTELY, stage.now - HOUR, DEAD)
    stage.worker("b2")
    for part in (FIRST, AUDITOR, PUSHER):
        service = stage.sign_in(part)
        for call in (
            acts.run_schedule(service, BY_HAND, "x", new_key()),
            acts.disable_schedule(service, HOURLY, "x", new_key()),
            acts.enable_schedule(service, HOURLY, "x", new_key()),
            acts.replay_occurrence(service, identifier, "x", new_key()),
            acts.discard_occurrence(service, identifier, "x", new_key()),
            acts.drain_worker(service, worker, "x", new_key()),
            acts.undrain_worker(service, worker, "x", new_key()),
        ):
            assert (await refused(call)).code == "permission-missing", part
    assert (await refused(acts.enabling(stage.sign_in(PUSHER), HOURLY))).code == "permission-missing"
