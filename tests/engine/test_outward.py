"""A step that acts outside: called once, asked about by its key, and what is known of it is written whatever else holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from jobservice.application import Outcome, done, refused, retry, uncertain
from jobservice.application_jobs import StepOrder
from jobservice.engine import outward
from jobservice.usecases.job_acts import JobOrder, Retried, retry_in
from tests.engine.stage import EngineStage, nothing


class Bank:
    """An outward step: answers what a test says, or breaks off."""

    def __init__(self, *, answers: Outcome | None, knows: Outcome | None) -> None:
        self.answers, self.knows = answers, knows
        self.sent: list[str] = []
        self.asked: list[str] = []

    async def send(self, order: StepOrder) -> Outcome:
        """Make the call."""
        self.sent.append(order.key)
        if self.answers is None:
            raise ConnectionError("broke off")
        return self.answers

    async def look_up(self, key: str) -> Outcome | None:
        """What became of it."""
        self.asked.append(key)
        return self.knows


@pytest.mark.parametrize(
    ("answers", "knows", "status", "asked"),
    [
        (done("Taken.", reference="B-1"), None, "succeeded", 0),
        (None, done("Taken.", reference="B-1"), "succeeded", 1),
        (None, None, "failed", 3),
        (
            None,
            retry("Ask me later.", after_seconds=0),
            "failed",
            1,
        ),  # no answer to the question: nothing is sent again
        (uncertain("No idea.", reference="B-1"), done("Taken.", reference="B-1"), "succeeded", 1),
        (refused("No such account."), None, "failed", 0),
    ],
)
async def test_an_outward_step_calls_once_and_asks_what_became_of_it(
    stage: EngineStage,
    monkeypatch: pytest.MonkeyPatch,
    answers: Outcome | None,
    knows: Outcome | None,
    status: str,
    asked: int,
) -> None:
    monkeypatch.setattr(outward, "PAUSES", (0.0, 0.0))
    bank = Bank(answers=answers, knows=knows)
    stage.kind("t.file", file=bank)
    async with stage.working():
        job = await stage.submit("t.file")
        assert await stage.settled(job) == status
    assert len(bank.sent) == 1
    assert len(bank.asked) == asked
    if status == "failed" and answers is None:
        assert "A person has to look" in stage.row(job)["failure_summary"]
        assert stage.step_row(job)["attempts"] == 1


@pytest.mark.requirement("MONEY-3")
@pytest.mark.parametrize(
    ("knows", "sent"), [(done("Taken.", reference="B-1"), 1), (refused("No such account."), 2), (None, 2)]
)
async def test_a_retry_asks_what_became_of_the_job_before_it_and_sends_only_what_was_not_taken(
    stage: EngineStage, monkeypatch: pytest.MonkeyPatch, knows: Outcome | None, sent: int
) -> None:
    monkeypatch.setattr(outward, "PAUSES", (0.0, 0.0))
    bank = Bank(answers=None, knows=None)
    stage.kind("t.file", file=bank)
    async with stage.working():
        job = await stage.submit("t.file")
        assert await stage.settled(job) == "failed"  # nobody knows
        bank.asked, bank.knows, bank.answers = [], knows, done("Taken.", reference="B-1")
        async with stage.database.transaction("acme") as transaction:
            order = JobOrder(job=job, person="s.bell", reason="The bank says what it has")
            again = await retry_in(transaction, stage.records, order)
        assert isinstance(again, Retried)
        assert await stage.settled(again.job) == "succeeded"
    assert (len(bank.sent), len(set(bank.sent + bank.asked)), len(bank.asked)) == (sent, 1, 1)
    assert stage.step_row(again.job)["reference"] == "B-1"


async def test_what_the_outside_world_did_not_take_is_sent_again_once_it_was_asked(stage: EngineStage) -> None:
    """It said itself that it took nothing: that is an outcome, and nothing of it is in doubt."""

    class Busy(Bank):
        async def send(self, order: StepOrder) -> Outcome:
            self.sent.append(order.key)
            return done("Taken.", reference="B-2") if len(self.sent) > 1 else retry("Busy.", after_seconds=0)

    bank = Busy(answers=None, knows=None)
    stage.kind("t.file", file=bank)
    async with stage.working():
        job = await stage.submit("t.file")
        assert await stage.settled(job) == "succeeded"
    assert (len(bank.sent), len(bank.asked)) == (2, 1)
    step = stage.step_row(job)
    assert (step["attempts"], step["reference"], step["sent_at"] is not None) == (2, "B-2", True)


def sent_by_a_dead_worker(stage: EngineStage, job: str, *, attempts: int = 1) -> None:
    """As if its Worker had been killed between *sent* and the outcome of the first step."""
    stage.superuser.execute(
        "update jobs.jobs set status = 'running', started_at = jobs.now(), version = version + 1 where id = %s", (job,)
    )
    stage.superuser.execute(
        "update jobs.job_steps set status = 'running', attempts = %s, started_at = jobs.now(), sent_at = jobs.now() "
        "where job = %s and position = 1",
        (attempts, job),
    )


@pytest.mark.requirement("SAGA-03", "RETRY-01")
@pytest.mark.parametrize(
    ("knows", "attempts", "held", "ends"),
    [
        (done("Taken.", reference="B-7"), 1, None, ("succeeded", "succeeded", "succeeded")),
        (done("Taken.", reference="B-7"), 3, None, ("succeeded", "succeeded", "succeeded")),
        (done("Taken.", reference="B-7"), 3, "cancel", ("cancelled", "succeeded", "cancelled")),
        (None, 1, "cancel", ("failed", "failed", "cancelled")),
        (refused("No such account."), 1, "cancel", ("cancelled", "cancelled", "cancelled")),
        (refused("No such account."), 1, "stop", ("failed", "failed", "cancelled")),
    ],
)
async def test_what_was_sent_before_its_worker_was_lost_is_asked_about_and_never_sent_again(
    stage: EngineStage,
    monkeypatch: pytest.MonkeyPatch,
    knows: Outcome | None,
    attempts: int,
    held: str | None,
    ends: tuple[str, str, str],
) -> None:
    """Whatever is asked of the job meanwhile, and however often it was tried: only the outside world knows."""
    monkeypatch.setattr(outward, "PAUSES", (0.0, 0.0))
    bank = Bank(answers=done("Taken."), knows=knows)
    stage.kind("t.file", file=bank, after=nothing)
    job = await stage.submit("t.file")
    sent_by_a_dead_worker(stage, job, attempts=attempts)
    if held == "cancel":
        await stage.cancel(job)
    elif held == "stop":
        stage.stop("t.file")
    async with stage.working():
        assert await stage.settled(job) == ends[0]
    steps: list[Mapping[str, Any]] = [stage.step_row(job, position) for position in (1, 2)]
    assert tuple(each["status"] for each in steps) == ends[1:]
    assert (bank.sent, len(bank.asked)) == ([], 3 if knows is None else 1)
    assert steps[0]["attempts"] == attempts + 1
    if ends[1] == "cancelled":
        assert steps[0]["sentence"] == "No such account."
    if knows is None:
        assert "A person has to look" in stage.row(job)["failure_summary"]
        assert steps[0]["reference"] == f"jc-{job}-file"
    elif ends[1] == "succeeded":
        assert steps[0]["reference"] == "B-7"


@pytest.mark.parametrize("gone", [True, False])
async def test_what_was_sent_and_cannot_be_asked_about_any_more_is_a_persons_to_look_at(
    stage: EngineStage, gone: bool
) -> None:
    """The release that took it up has no such step, or one that acts no longer outside."""
    stage.kind("t.file", file=nothing)
    if gone:
        del stage.steps["t.file"]
    job = await stage.submit("t.file")
    sent_by_a_dead_worker(stage, job)
    async with stage.working():
        assert await stage.settled(job) == "failed"
    assert "does not know how to ask" in stage.row(job)["failure_summary"]
    assert stage.step_row(job)["reference"] == f"jc-{job}-file"
