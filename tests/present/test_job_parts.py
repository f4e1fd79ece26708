"""How one background job is told: attempts that ended alike once, why the next step does not begin, what became of what is
done when a job failed; the console and its twins say it in the same words."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from jobconsole.client.fake import FakeService
from jobconsole.client.fake_job import FakeJob
from jobconsole.client.fake_job_examples import furnish
from jobconsole.client.jobs import job as read
from jobconsole.present.columns import plain
from jobconsole.present.job_history import lineage_columns
from jobconsole.present.job_ladder import step_lines
from jobconsole.present.job_lines import about_lines, standing_lines
from jobconsole.present.jobs import RESOLUTIONS
from jobconsole.present.plain_jobs import job_lines
from jobconsole.present.schedules import At
from jobcontract.job_states import FailureEffectState, JobEventKind, JobResolution, StepStatus
from jobcontract.jobs import Job, JobEvent, JobStep
from jobcontract.states import Moves

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
AT = At(now=NOW, zone=UTC)
KEYS = {"reference": "c", "follow": "enter"}
BUSY = "The bank is busy; it took nothing."
FAILED = JobStep(
    position=3,
    step="submit",
    label="Give it to the bank",
    use_case="payments.submit-file",
    moves=Moves.MONEY,
    status=StepStatus.FAILED,
    attempts=3,
    attempts_most=5,
    progress=0,
    started_at=NOW - timedelta(seconds=4),
    settled_at=NOW,
    next_attempt_at=None,
    sentence=f"{BUSY} It was tried 3 times.",
    failure_reference="ca8058d3",
    reference=None,
)


def ended(second: int, kind: JobEventKind, sentence: str) -> JobEvent:
    return JobEvent(
        sequence=second,
        at=NOW + timedelta(seconds=second),
        kind=kind,
        step="submit",
        status=None,
        progress=None,
        sentence=sentence,
        person=None,
        detail={},
    )


async def detail(fake: FakeService, job: FakeJob) -> Job:
    return await read(fake.service("o.lind"), job.id)


def test_attempts_that_ended_alike_are_said_once_with_their_times() -> None:
    events = [
        ended(3, JobEventKind.STEP_FAILED, f"{BUSY} It was tried 3 times."),
        ended(2, JobEventKind.STEP_RETRYING, BUSY),
        ended(1, JobEventKind.STEP_RETRYING, BUSY),
    ]
    told = [plain(line) for line in step_lines(FAILED, events, AT)]
    assert told[-1] == "each attempt ended so: 09:00:01, 09:00:02, 09:00:03"
    assert sum(BUSY in line for line in told) == 1
    events[1] = ended(2, JobEventKind.STEP_RETRYING, "It cannot be reached.")
    told = [plain(line) for line in step_lines(FAILED, events, AT)]
    assert told[-1] == "09:00:02  It cannot be reached."


async def test_what_does_not_begin_says_why_at_the_top() -> None:
    fake = FakeService(start=NOW)
    job = await detail(fake, furnish(fake.account).pending)
    held = "Held still. Job kind payments.archive-statements is stopped since 08:57 UTC, by Olle Lind: the archive is full."
    first = job.steps[0].model_copy(update={"sentence": held})
    told = [
        plain(line) for line in standing_lines(job.model_copy(update={"steps": (first, *job.steps[1:])}), AT, 78, KEYS)
    ]
    assert "waiting for " in told[0]
    assert told[1] == f"not begun  {held}"
    runs = first.model_copy(update={"status": StepStatus.RUNNING})
    going = job.model_copy(update={"steps": (runs, first, *job.steps[1:])})
    assert not any("not begun" in plain(line) for line in standing_lines(going, AT, 78, KEYS)), "one before it runs"


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (FailureEffectState.DUE, "to be done"),
        (FailureEffectState.DONE, "done"),
        (FailureEffectState.FAILED, "given up: a person has to do it"),
    ],
)
async def test_screen_and_twin_say_the_same_of_what_is_done_on_failure(state: FailureEffectState, words: str) -> None:
    fake = FakeService(start=NOW)
    job = await detail(fake, furnish(fake.account).failed[0])
    job = job.model_copy(update={"failure_effect": "Say what is left", "failure_effect_state": state})
    assert f"on failure Say what is left · {words}" in {plain(line) for line in about_lines(job, AT)}
    assert any(line.split(None, 2)[2:] == [f"Say what is left · {words}"] for line in job_lines(job, UTC))


async def test_screen_and_twin_say_the_same_of_what_a_retry_mended() -> None:
    fake = FakeService(start=NOW)
    job = await detail(fake, furnish(fake.account).lineage[0])
    assert RESOLUTIONS[JobResolution.RETRIED] == "mended by a retry"
    assert any(plain(line).startswith("mended     by a retry, ") for line in standing_lines(job, AT, 78, KEYS))
    told = job_lines(job, UTC)
    assert any("failed, mended by a retry" in line for line in told)
    assert any("mended by its retry " in line for line in told)


def test_the_lineage_says_asked_for_and_by_as_every_other_list_of_jobs() -> None:
    assert [column.label for column in lineage_columns()] == ["job", "asked for", "by", "why"]
