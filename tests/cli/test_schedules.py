"""Schedules, occurrences and Workers headless: the answers of the wire, plain lines in UTC and one's own zone, clear refusals."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest

from jobcontract.occurrences import OccurrenceChanged, OccurrenceDetail, OccurrenceItems, Occurrences
from jobcontract.schedules import NextInstants, ScheduleDetail, Schedules
from jobcontract.states import AttemptEnding, OccurrenceState, OutcomeKind, WorkerStanding
from jobcontract.workers import Workers
from tests.cli.twins import Typed
from tests.present.scheduled import LATE, LEASE, SKIPPED, attempt, worker

DUE = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
NAME = "statements.hourly@2026-03-02T08:00:00Z"


@pytest.fixture
def planned(typed: Typed) -> Typed:
    """An hourly schedule with an occurrence that runs, one that is done, and a manual one; two Workers."""
    (typed.folder / "config.toml").write_text('zone = "Europe/Paris"\n')
    jobs = typed.fake.jobs
    jobs.add("statements.hourly", every=3600, title="Hourly statements")
    jobs.add("accounts.close", every=None)
    runs = jobs.plan("statements.hourly", DUE, OccurrenceState.PROCESSING, attempts=2)
    jobs.lease(runs, LEASE)
    jobs.put_items(runs, *[OutcomeKind.DONE] * 60, OutcomeKind.FAILED, None)
    jobs.attempts[runs] = [attempt(1, AttemptEnding.LOST, error="Worker was lost.")]
    jobs.refused[runs] = [LATE]
    jobs.plan("statements.hourly", DUE - timedelta(hours=1), OccurrenceState.COMPLETED, attempts=1)
    jobs.skipped["statements.hourly"] = [SKIPPED]
    jobs.workers += [worker(1, WorkerStanding.LIVE), worker(2, WorkerStanding.STOPPED)]
    return typed


@pytest.mark.requirement("carry-the-schedule-on-the-job-record", "define-misfire-recovery")
def test_schedules_tell_rhythm_state_and_the_next_five_in_utc_and_in_the_profiles_zone(planned: Typed) -> None:
    lines = planned("schedules").stdout.splitlines()
    assert lines[0] == "2 schedules"
    row = next(line for line in lines if line.startswith("statements.hourly"))
    assert re.search(r"running +every 3600 s .* 2026-03-02 10:00:00Z +Mon 2026-03-02 11:00 CET +✓◆", row)
    assert any(re.match(r"accounts\.close +manual +started by a person", line) for line in lines)
    text = planned("schedules", "show", "statements.hourly").stdout
    assert re.search(r"2026-03-02 10:00:00Z +Mon 2026-03-02 11:00 CET", text)
    assert "2026-03-02 14:00:00Z" in text
    assert re.search(r"2026-10-21 20:00Z +2026-10-21 21:00Z +4 +misfire-once", text)
    shown = Schedules.model_validate(planned.json("schedules", "list"))
    assert [each.id for each in shown.schedules] == ["accounts.close", "statements.hourly"]
    ScheduleDetail.model_validate(planned.json("schedules", "show", "statements.hourly"))
    first = planned.json("schedules", "list", "--limit", "1")
    rest = planned.json("schedules", "list", "--cursor", first["next"])
    assert [first["schedules"][0]["id"], rest["schedules"][0]["id"]] == ["accounts.close", "statements.hourly"]
    assert len(planned.json("schedules", "list", "--limit", "1", "--all")["schedules"]) == 2


def test_next_takes_after_in_the_profiles_zone_and_a_count(planned: Typed) -> None:
    answer = NextInstants.model_validate(
        planned.json("schedules", "next", "statements.hourly", "--after", "2026-03-29 01:30", "--count", "2")
    )
    assert [f"{each.at:%d %H:%M}" for each in answer.instants] == ["29 01:00", "29 02:00"]
    text = planned("schedules", "next", "statements.hourly", "--after", "2026-03-29T00:30:00Z").stdout
    assert "after     2026-03-29 00:30:00Z (Sun 2026-03-29 01:30 CET)" in text
    assert re.search(r"2026-03-29 01:00:00Z +Sun 2026-03-29 03:00 CEST", text)
    assert "A person starts it" in planned("schedules", "next", "accounts.close").stdout
    for words, says in (
        (
            ("--after", "2026-03-29 02:30"),
            "--after: 2026-03-29 02:30 does not exist in Europe/Paris: the clocks go forward",
        ),
        (("--after", "soon"), "--after: Soon is not a time; try"),
        (("--count", "101"), "101 is not in the range 1<=x<=100"),
        (("--after", "2400-01-01"), "A look ahead begins from 1900 to 2200."),
    ):
        refused = planned("schedules", "next", "statements.hourly", *words)
        assert refused.exit_code in (1, 2), words
        assert refused.stdout == ""
        assert says in " ".join(refused.stderr.split()), words
    unknown = planned("schedules", "show", "statements.nightly")
    assert (unknown.exit_code, "Schedules: accounts.close, statements.hourly" in unknown.stderr) == (1, True)


@pytest.mark.requirement("persist-occurrence-state", "derive-stable-occurrence-identity")
def test_occurrences_are_listed_by_schedule_state_and_time_and_shown_by_name_or_id(planned: Typed) -> None:
    lines = planned("occurrences").stdout.splitlines()
    assert [line.split()[0] for line in lines[1:]] == [NAME, NAME.replace("08:00", "07:00")]
    assert re.search(r"Z +processing +Mon 2026-03-02 09:00 CET +2 of 3", lines[1])
    states = ("--state", "completed", "--state", "dead-letter")
    found = Occurrences.model_validate(planned.json("occurrences", "list", "--schedule", "statements.hourly", *states))
    assert [each.state for each in found.occurrences] == [OccurrenceState.COMPLETED]
    until = planned.json("occurrences", "list", "--since", "2026-03-02 07:59", "--until", "2026-03-02T08:00:00Z")
    assert [each["name"] for each in until["occurrences"]] == [NAME.replace("08:00", "07:00")]
    assert planned("occurrences", "list", "--state", "dead-letter").stdout == "No occurrence is like that.\n"
    shown = OccurrenceDetail.model_validate(planned.json("occurrences", "show", NAME))
    assert planned.json("occurrences", "show", shown.occurrence.id) == planned.json("occurrences", "show", NAME)
    for words, says in (
        (
            ("show", "statements.hourly"),
            "statements.hourly names no occurrence: it takes an id, or SCHEDULE@INSTANT like",
        ),
        (("show", "statements.hourly@2026-03-02T09:00:00Z"), "There is no occurrence"),
        (("list", "--state", "lost"), "'lost' is not one of 'scheduled', 'processing', 'completed', 'dead-letter'"),
        (("list", "--schedule", "statements.nightly"), "There is no schedule 'statements.nightly'. Schedules:"),
        (
            ("list", "--since", "2026-03-02 09:00", "--until", "2026-03-02 08:59"),
            "--since 2026-03-02 08:00:00Z is later than --until 2026-03-02 07:59:00Z: nothing is scheduled in between.",
        ),
        (("list", "--since", "2026-02-30"), "--since: There is no 2026-02-30 in the calendar."),
        (
            ("show", "statements.hourly@2026-03-02T09:00"),
            "names no instant: after the @ it takes a whole one with Z or an offset",
        ),
        (("cancel", NAME, "--reason", "  "), "it has 0 characters besides blanks; it must have 1 to 500."),
        (("cancel", NAME, "--reason", "x" * 501), "it has 501 characters besides blanks; it must have 1 to 500."),
    ):
        refused = planned("occurrences", *words)
        assert refused.exit_code in (1, 2), words
        assert says in " ".join(refused.stderr.replace("│", "").split()), words


@pytest.mark.requirement("run-one-command-per-item-in-selection", "prevent-duplicate-completion")
def test_an_occurrence_shows_lease_attempts_late_writes_and_items_what_failed_first(planned: Typed) -> None:
    text = planned("occurrences", "show", NAME).stdout
    assert "lease       Worker 3f2c19aa-1111-7000-8000-000000000001 on a7, fence 5, taken" in text
    assert re.search(r"1 +lost +2 +77e0c1d1-1111-7000-8000-000000000001 +b2 +.* Worker was lost\.", text)
    assert re.search(
        r"2 +77e0c1d1-.* +b2 +2026-10-24 21:40:00Z \(Sat 2026-10-24 23:40 CEST\) +It wanted to write", text
    )
    assert re.search(r"^ +61 +\S+ +.* failed", text, re.MULTILINE)
    assert "There are more items: jobconsole occurrences show" in text
    every = OccurrenceItems.model_validate(planned.json("occurrences", "show", NAME, "--items"))
    assert ([each.number for each in every.items[:3]], len(every.items), every.next) == ([61, 62, 1], 62, None)
    assert planned("occurrences", "show", NAME, "--items").stdout.count("\n") == 63


@pytest.mark.requirement("observe-job-cancellation")
def test_cancelling_takes_a_reason_and_the_permission_and_is_one_order(planned: Typed) -> None:
    nobody = planned("occurrences", "cancel", NAME, "--reason", "bank down", person="m.ito")
    assert (nobody.exit_code, "That needs occurrence.cancel (operator)." in nobody.stderr) == (1, True)
    assert planned("occurrences", "cancel", NAME, person="o.lind").exit_code == 2
    words = ("occurrences", "cancel", NAME, "--reason", "bank down")
    first = OccurrenceChanged.model_validate(planned.json(*words, "--key", "k1", person="o.lind"))
    again = OccurrenceChanged.model_validate(planned.json(*words, "--key", "k1", person="o.lind"))
    assert first == again
    assert first.occurrence.cancel_reason == "bank down"
    text = planned(*words, "--key", "k1", person="o.lind").stdout
    assert "It runs on a7: its Worker stops it within a second." in text
    assert "by o.lind (Olle Lind), 2026-03-02 09:00:00Z (Mon 2026-03-02 10:00 CET): bank down" in text
    ended = planned("occurrences", "cancel", NAME.replace("08:00", "07:00"), "--reason", "late", person="o.lind")
    assert (ended.exit_code, "refused (occurrence-ended)" in ended.stderr) == (1, True)


def test_workers_tell_standing_beat_and_slots(planned: Typed) -> None:
    text = planned("workers").stdout
    assert re.search(r"3f2c19a1-1111-7000-8000-000000000001 +a1 +live +3 +16 +2026-10-24 21:00:00Z", text)
    assert "stopped" in text
    assert len(Workers.model_validate(planned.json("workers", "list")).workers) == 2
    planned.fake.jobs.workers.clear()
    assert planned("workers", "list").stdout == "No Worker lives, and none stopped within the last day.\n"
