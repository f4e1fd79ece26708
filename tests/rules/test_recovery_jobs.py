"""Recoveries of jobs in words: why one is left out, what was asked for, what had drifted by its turn. Pure."""

from __future__ import annotations

import shlex
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobcontract.job_states import JobResolution, JobStatus
from jobcontract.operating import LeftOut, RecoveryAct
from jobcontract.permissions import Permission
from jobcontract.recoveries import RecoveryOrder
from jobcontract.states import Moves, Role, Turn
from jobservice.rules import recoveries
from jobservice.rules import recovery_jobs as rules
from jobservice.rules.recovery_jobs import Drift, JobNow, LeftJob

AT = datetime(2026, 12, 1, 9, tzinfo=UTC)
JOB, OTHER = "0190d0c0-0000-7000-8000-000000000001", "0190d0c0-0000-7000-8000-000000000002"
REASONS = [
    each
    for each in LeftOut
    if rules.left_words(each) is not None
    or each in (LeftOut.UNKNOWN, LeftOut.MONEY, LeftOut.PERMISSION, LeftOut.IN_RECOVERY)
]


def job(status: JobStatus, **changes: object) -> JobNow:
    known = {"id": JOB, "status": status, "resolved_at": None, "resolved_by": None, "newest": JOB}
    return JobNow(**{"newest_status": status, **known, **changes})  # type: ignore[arg-type]  # a table of changes


@pytest.mark.parametrize("act", sorted(rules.JOB_ACTS))
@pytest.mark.parametrize("reason", REASONS)
def test_every_reason_has_a_sentence_and_a_word(reason: LeftOut, act: RecoveryAct) -> None:
    left = LeftJob(
        kind="a.b", reason=reason, status=JobStatus.FAILED, by="Kiran", why="Noise.", newest=OTHER, recovery="lark-42"
    )
    sentence = rules.left_job_sentence(left, act)
    assert sentence.endswith(".")
    assert not any(part in sentence for part in ("..", "{", "None"))
    assert recoveries.nothing_left({reason: 7}, act).startswith("Nothing can go into the recovery: 7 ")


def test_who_may_is_said() -> None:
    def told(reason: LeftOut, act: RecoveryAct) -> str:
        return rules.left_job_sentence(LeftJob(kind="a.b", reason=reason), act)

    assert told(LeftOut.MONEY, RecoveryAct.RETRY) == (
        "a.b moves money: a person with payout.release (finance) retries it, with the code from their phone."
    )
    assert told(LeftOut.PERMISSION, RecoveryAct.RETRY) == (
        "a.b moves no money: a person with job.retry (operator or support) retries it."
    )
    acknowledged = LeftJob(
        kind="a.b", reason=LeftOut.RESOLVED, resolution=JobResolution.ACKNOWLEDGED, by="Sue Bell", why="See T-7."
    )
    assert rules.left_job_sentence(acknowledged, RecoveryAct.RETRY) == (
        "It was acknowledged by Sue Bell: See T-7. Name it by itself to retry it all the same."
    )


@pytest.mark.requirement("MONEY-1", "INV-10")
def test_only_finance_retries_what_moves_money_and_never_anything_else() -> None:
    """Written from the papers, not from the table that the service decides by."""
    may = {
        RecoveryAct.RETRY: {Role.OPERATOR, Role.SUPPORT, Role.FINANCE},
        RecoveryAct.CANCEL: {Role.OPERATOR, Role.SUPPORT},
    }
    for act, roles in may.items():
        assert {role for role in Role if recoveries.may_retry_or_cancel(role, act)} == roles
        assert recoveries.permission_for(act, Moves.MONEY) is Permission.PAYOUT_RELEASE


def test_the_words_and_the_command_say_what_was_asked_for() -> None:
    def order(**given: object) -> RecoveryOrder:
        return RecoveryOrder.model_validate({"act": "retry", "reason": "It's back", **given})

    named = order(jobs=[f"job-{number}" for number in range(5)])
    assert recoveries.order_words(named) == "retry jobs job-0, job-1, job-2 and 2 more"
    assert recoveries.order_words(order(jobs=["x"])) == "retry job x"
    found = order(act="cancel", job_filter='kind:a.b error:"account closed"')
    assert recoveries.order_words(found) == "cancel the jobs that 'kind:a.b error:\"account closed\"' finds"
    assert recoveries.order_words(order(job_filter=" ")) == "retry every job"
    assert shlex.split(recoveries.order_command(order(jobs=["a", "b"]))) == [
        *("jobconsole", "recoveries", "retry", "--job", "a", "--job", "b", "--reason", "It's back")
    ]
    assert shlex.split(recoveries.order_command(found))[2:] == [
        *("cancel", "--filter", 'kind:a.b error:"account closed"', "--reason", "It's back")
    ]


@pytest.mark.requirement("INV-03")
def test_what_settled_before_its_turn_is_told_and_not_done() -> None:
    for status in JobStatus:
        end = rules.drifted(RecoveryAct.CANCEL, job(status), AT)
        assert (end is None) == (status in (JobStatus.PENDING, JobStatus.RUNNING))
        if end is not None:
            assert (end.turn, end.drift) == (Turn.REFUSED, Drift.SETTLED)
    cancelled = rules.drifted(RecoveryAct.CANCEL, job(JobStatus.CANCELLED), AT)
    assert cancelled is not None
    assert cancelled.sentence == "It had been cancelled meanwhile."
    gone = rules.drifted(RecoveryAct.RETRY, None, AT)
    assert gone is not None
    assert (gone.turn, gone.drift) == (Turn.REFUSED, Drift.REMOVED)


@pytest.mark.requirement("INV-10")
def test_what_was_retried_or_resolved_meanwhile_is_not_retried_again() -> None:
    retried = rules.drifted(
        RecoveryAct.RETRY, job(JobStatus.FAILED, newest=OTHER, newest_status=JobStatus.CANCELLED), AT
    )
    assert retried is not None
    assert (retried.sentence, retried.drift) == (
        f"It had been retried meanwhile: {OTHER} was cancelled.",
        Drift.RETRIED,
    )
    second = timedelta(seconds=1)
    for resolved_at, drift in ((AT - second, None), (AT + second, Drift.RESOLVED)):
        end = rules.drifted(
            RecoveryAct.RETRY, job(JobStatus.FAILED, resolved_at=resolved_at, resolved_by="Sue Bell"), AT
        )
        assert (None if end is None else end.drift) is drift


def test_a_cancellation_ends_as_its_job_did() -> None:
    assert rules.cancelled_end(JobStatus.RUNNING) is None
    ends = {status: rules.cancelled_end(status) for status in (None, *JobStatus) if status is not JobStatus.RUNNING}
    turns = {status: None if end is None else (end.turn, end.drift) for status, end in ends.items()}
    assert turns == {
        None: (Turn.FAILED, None),
        JobStatus.PENDING: None,
        JobStatus.SUCCEEDED: (Turn.REFUSED, Drift.SETTLED),
        JobStatus.FAILED: (Turn.REFUSED, Drift.SETTLED),
        JobStatus.CANCELLED: (Turn.DONE, None),
    }


@given(st.lists(st.sampled_from(Drift)))
def test_every_job_that_drifted_is_counted_once_in_the_sentence(found: list[Drift]) -> None:
    counts = rules.merged(rules.merged({}, found[:3]), found[3:])
    assert sum(counts.values()) == len(found)
    sentence = rules.drift_sentence(counts, 412)
    assert (sentence is None) == (not found)
    if sentence is not None:
        numbers = [int(part.split()[0].replace(",", "")) for part in sentence.split(", ")]
        assert sum(numbers) == len(found)


def test_the_sentence_of_the_drift() -> None:
    assert rules.drift_sentence({"settled": 3}, 412) == "3 of 412 had settled meanwhile."
    assert rules.drift_sentence({"removed": 1, "settled": 1_203}, 50_000) == (
        "1,203 of 50,000 had settled meanwhile, 1 had been removed meanwhile."
    )
