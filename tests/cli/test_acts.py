"""An operator's acts headless: each takes a reason, says what became of it, prints the wire's answer, and refuses clearly."""

from __future__ import annotations

import pytest

from jobcontract.acts import Enabling, ScheduleChanged, WorkerChanged
from jobcontract.occurrences import OccurrenceChanged
from jobcontract.runbooks import Runbooks
from jobcontract.states import OccurrenceState, WorkerStanding
from tests.cli.twins import Typed
from tests.present.scheduled import NOW
from tests.screens.act_stage import BY_HAND, HOURLY, REASON, dead, staged

WHY = ("--reason", REASON)
OPERATOR = "o.lind"


@pytest.fixture
def acting(typed: Typed) -> tuple[Typed, str]:
    """The command line in front of the stage of acts, and the name of a dead letter."""
    fake = staged()
    found = dead(fake)
    (typed.folder / "config.toml").write_text('zone = "Europe/Paris"\n')
    return Typed(fake=fake, patch=typed.patch, folder=typed.folder), fake.jobs.occurrences[found].name


@pytest.mark.requirement("provide-operational-recovery-procedures", "run-manual-jobs-under-their-guard")
def test_schedules_are_run_disabled_and_enabled_and_what_is_made_up_is_said_before(acting: tuple[Typed, str]) -> None:
    typed, _ = acting
    made = OccurrenceChanged.model_validate(typed.json("schedules", "run", BY_HAND, *WHY, person=OPERATOR))
    assert made.occurrence.schedule == BY_HAND
    until = ("--until", "2026-10-25 06:00")
    off = ScheduleChanged.model_validate(typed.json("schedules", "disable", HOURLY, *WHY, *until, person=OPERATOR))
    assert off.schedule.disabled is not None
    assert off.schedule.disabled.until is not None
    assert f"{off.schedule.disabled.until:%H:%M}" == "05:00", "typed in the profile's zone"
    typed.fake.advance(3.5 * 3_600)
    looked = typed("schedules", "enable", HOURLY, "--dry-run", person=OPERATOR).stdout
    assert "Makes up for 1 and skips 2." in looked
    assert "by o.lind (Olle Lind)" in looked
    assert f": {REASON}" in looked
    assert "until     2026-10-25 05:00" in looked
    Enabling.model_validate(typed.json("schedules", "enable", HOURLY, "--dry-run", person=OPERATOR))
    assert typed.fake.jobs.schedules[HOURLY].disabled is not None, "looking changes nothing"
    unsaid = typed("schedules", "enable", HOURLY, person=OPERATOR)
    assert (unsaid.exit_code, unsaid.stdout) == (2, "")
    assert "Say why with --reason, or look first with --dry-run." in unsaid.stderr
    on = typed("schedules", "enable", HOURLY, *WHY, person=OPERATOR)
    assert on.exit_code == 0
    assert typed.fake.jobs.schedules[HOURLY].disabled is None


@pytest.mark.requirement("audit-manual-replay")
def test_an_occurrence_is_replayed_once_a_key_and_put_away(acting: tuple[Typed, str]) -> None:
    typed, name = acting
    stale = typed("occurrences", "replay", name, *WHY, "--version", "99", person=OPERATOR)
    assert (stale.exit_code, "refused (version-changed)" in stale.stderr) == (1, True)
    again = ("occurrences", "replay", name, *WHY, "--key", "k1")
    first = OccurrenceChanged.model_validate(typed.json(*again, person=OPERATOR)).occurrence
    second = OccurrenceChanged.model_validate(typed.json(*again, person=OPERATOR)).occurrence
    assert (first.state, first.replays, second.version) == (OccurrenceState.SCHEDULED, 1, first.version)
    text = typed("occurrences", "show", name, person=OPERATOR).stdout
    assert REASON in text
    assert "dead-letter" in text
    running = typed("occurrences", "discard", name, *WHY, person=OPERATOR)
    assert (running.exit_code, "only a dead letter is discarded" in running.stderr) == (1, True)
    other = typed.fake.jobs.occurrences[dead(typed.fake, 9)].name
    told = typed("occurrences", "discard", other, *WHY, person=OPERATOR)
    assert told.exit_code == 0
    assert "It is discarded: it counts and alarms no more." in told.stdout
    assert f"by o.lind (Olle Lind), {NOW:%Y-%m-%d}" in told.stdout


@pytest.mark.requirement("provide-operational-recovery-procedures")
def test_a_worker_is_named_by_how_it_begins_and_runbooks_are_told_with_what_was_done(acting: tuple[Typed, str]) -> None:
    typed, name = acting
    first = typed.fake.jobs.workers[0].incarnation
    several = typed("workers", "drain", "3f2c19a", *WHY, person=OPERATOR)
    assert (several.exit_code, "3 Workers begin with 3f2c19a" in several.stderr) == (1, True)
    drained = WorkerChanged.model_validate(typed.json("workers", "drain", first, *WHY, person=OPERATOR)).worker
    assert (drained.standing, drained.drain_reason) == (WorkerStanding.DRAINING, REASON)
    assert REASON in typed("workers", person=OPERATOR).stdout
    last = typed("workers", "drain", "3f2c19a2", *WHY, person=OPERATOR)
    assert (last.exit_code, "refused (worker-last)" in last.stderr) == (1, True)
    assert typed("workers", "undrain", first, *WHY, person=OPERATOR).exit_code == 0
    typed("occurrences", "replay", name, *WHY, person=OPERATOR)
    told = typed("schedules", "runbook", HOURLY, person=OPERATOR).stdout
    for words in (
        "inspect: Look at its runs",
        "  1. Look at statements.hourly.",
        "replay-occurrence",
        "who may  occurrence.replay (operator)",
    ):
        assert words in told, told
    Runbooks.model_validate(typed.json("schedules", "runbook", HOURLY, person=OPERATOR))


@pytest.mark.parametrize(
    "words",
    [
        ("schedules", "run", BY_HAND),
        ("schedules", "disable", HOURLY),
        ("occurrences", "replay", "{name}"),
        ("occurrences", "discard", "{name}"),
    ],
)
def test_without_a_reason_or_the_permission_nothing_is_done(acting: tuple[Typed, str], words: tuple[str, ...]) -> None:
    typed, name = acting
    named = [word.format(name=name) for word in words]
    assert typed(*named, person=OPERATOR).exit_code == 2
    refused = typed(*named, *WHY, person="a.nagy")
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert "refused (permission-missing)" in refused.stderr
    assert [each.outcome for each in typed.fake.audit] in ([], ["refused"])
