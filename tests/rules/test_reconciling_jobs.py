"""Verdicts of the reconciler: every state of account and engine has one, success is kept only where every step says the
same, and what is under way is left alone."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobcontract.job_states import FINAL_STATUSES, Carrier, JobStatus, StepStatus
from jobcontract.states import Moves
from jobservice.rules.job_states import JobState, StepState
from jobservice.rules.reconciling_jobs import (
    GRACE_SECONDS,
    Orchestration,
    Verdict,
    VerdictKind,
    orchestration_of,
    verdict,
)

pytestmark = pytest.mark.requirement("INV-07")

DONE, RUNNING, QUEUED = StepStatus.SUCCEEDED, StepStatus.RUNNING, StepStatus.QUEUED


def a_step(position: int, status: StepStatus, *, sent: bool = False) -> StepState:
    """A step named like `s4`."""
    return StepState(
        position=position,
        step=f"s{position}",
        label=f"Step {position}",
        use_case="u",
        undo=None,
        moves=Moves.NOTHING,
        weight=1,
        status=status,
        attempts=0 if status is QUEUED else 1,
        handed_back=0,
        progress=0,
        sent=sent,
    )


def a_job(
    *steps: StepStatus, status: JobStatus = JobStatus.RUNNING, cancel_asked: bool = False, sent: int = 0
) -> JobState:
    """A job of the engine's with these steps; `sent`: the position of one that acted outside."""
    return JobState(
        status=status,
        progress=0,
        moves=Moves.NOTHING,
        carrier=Carrier.ENGINE,
        steps=tuple(a_step(number, each, sent=number == sent) for number, each in enumerate(steps, 1)),
        cancel_asked=cancel_asked,
        cancel_asked_by=None,
        cancel_reason=None,
        resolution=None,
    )


def judged(job: JobState, orchestration: Orchestration, *, quiet: float = 60.0, taken_up: int = 1) -> Verdict:
    """The verdict on a job that showed no life for a minute."""
    return verdict(job, orchestration, quiet=quiet, taken_up=taken_up)


CASES = {
    "success-while-running": (
        a_job(DONE, DONE, DONE, RUNNING, QUEUED),
        Orchestration.SUCCEEDED,
        VerdictKind.FAIL,
        "Success refused: step 4 (s4) is still running; the engine says that its run succeeded. Settled as failed.",
    ),
    "success-while-retrying": (
        a_job(QUEUED, StepStatus.RETRYING),
        Orchestration.SUCCEEDED,
        VerdictKind.FAIL,
        "Success refused: step 2 (s2) is still to be tried again; the engine says that its run succeeded. Settled as failed.",
    ),
    "success-that-stands": (
        a_job(DONE, DONE),
        Orchestration.SUCCEEDED,
        VerdictKind.SUCCEED,
        "Every step succeeded; the engine says that its run succeeded. Settled as succeeded.",
    ),
    "never-handed-over": (
        a_job(QUEUED, status=JobStatus.PENDING),
        Orchestration.ABSENT,
        VerdictKind.HAND_OVER,
        "The engine had no run of it, and nothing of it was begun: handed over again.",
    ),
    "gone-in-the-middle": (
        a_job(DONE, RUNNING, sent=2),
        Orchestration.ABSENT,
        VerdictKind.FAIL,
        "Its run is gone: step 2 (s2) is still running. Whether what step 2 (s2) sent has arrived is not known; the engine "
        "has no run of it. Settled as failed.",
    ),
    "error": (
        a_job(DONE, StepStatus.FAILED),
        Orchestration.ERROR,
        VerdictKind.FAIL,
        "Its run ended with an error: step 2 (s2) failed; the engine says that its run ended with an error. Settled as "
        "failed.",
    ),
    "given-up": (
        a_job(RUNNING),
        Orchestration.EXCEEDED,
        VerdictKind.FAIL,
        "Its run was taken up 3 times and never came to its end: step 1 (s1) is still running; the engine has given its "
        "run up. Settled as failed.",
    ),
    "cancelled-by-a-person": (
        a_job(RUNNING, cancel_asked=True),
        Orchestration.CANCELLED,
        VerdictKind.CANCEL,
        "Cancelled, as a person asked; the engine says that its run was cancelled. Settled as cancelled.",
    ),
    "cancelled-by-nobody": (
        a_job(RUNNING),
        Orchestration.CANCELLED,
        VerdictKind.FAIL,
        "Its run was cancelled, and nobody had asked for that: step 1 (s1) is still running; the engine says that its run "
        "was cancelled. Settled as failed.",
    ),
    "cancelled-by-a-person-after-it-was-sent": (
        a_job(RUNNING, cancel_asked=True, sent=1),
        Orchestration.ABSENT,
        VerdictKind.FAIL,
        "Its run is gone: step 1 (s1) is still running. Whether what step 1 (s1) sent has arrived is not known; the engine "
        "has no run of it. Settled as failed.",
    ),
    "cancelled-and-an-earlier-step-was-sent": (
        a_job(DONE, RUNNING, cancel_asked=True, sent=1),
        Orchestration.ABSENT,
        VerdictKind.CANCEL,
        "Cancelled, as a person asked; the engine has no run of it. Settled as cancelled.",
    ),
    "to-be-cancelled-by-whoever-takes-it": (
        a_job(RUNNING, cancel_asked=True),
        Orchestration.WAITING,
        VerdictKind.LEAVE,
        "",
    ),
    "settled-and-still-live": (
        a_job(StepStatus.CANCELLED, status=JobStatus.CANCELLED, cancel_asked=True),
        Orchestration.WAITING,
        VerdictKind.END,
        "The engine would have gone on with it, although it had been cancelled: its run was ended.",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_verdict_explains_itself(case: str) -> None:
    job, orchestration, kind, sentence = CASES[case]
    found = judged(job, orchestration, taken_up=3)
    assert (found.kind, found.sentence) == (kind, sentence)


STEPS = st.lists(st.sampled_from(list(StepStatus)), max_size=4)


@given(
    steps=STEPS,
    status=st.sampled_from(list(JobStatus)),
    orchestration=st.sampled_from(list(Orchestration)),
    asked=st.booleans(),
    sent=st.integers(0, 4),
    quiet=st.sampled_from([0.0, GRACE_SECONDS - 0.1, GRACE_SECONDS, 3_600.0]),
)
def test_whatever_is_found_no_verdict_contradicts_the_account(
    steps: list[StepStatus],
    status: JobStatus,
    orchestration: Orchestration,
    asked: bool,
    sent: int,
    quiet: float,
) -> None:
    job = a_job(*steps, status=status, cancel_asked=asked, sent=sent)
    found = judged(job, orchestration, quiet=quiet)
    whole = bool(steps) and all(each is DONE for each in steps)
    assert judged(replace(job, carrier=Carrier.PLAN), orchestration).kind is VerdictKind.LEAVE
    if quiet < GRACE_SECONDS or (orchestration.live and status not in FINAL_STATUSES and not asked):
        assert found.kind is VerdictKind.LEAVE, "somebody may be at it"
        return
    if status in FINAL_STATUSES:
        assert found.kind is (VerdictKind.END if orchestration.live else VerdictKind.LEAVE)
    if found.kind is VerdictKind.SUCCEED:
        assert whole
    doubtful = any(number == sent and not each.final for number, each in enumerate(steps, 1))
    if found.kind is VerdictKind.CANCEL:
        assert asked
        assert status is JobStatus.PENDING or not (orchestration.live or doubtful), "its Worker knows what was sent"
    ended = orchestration in (Orchestration.ABSENT, Orchestration.CANCELLED)
    if asked and ended and status is JobStatus.RUNNING and not whole:
        assert found.kind is (VerdictKind.FAIL if doubtful else VerdictKind.CANCEL)
    if found.kind is VerdictKind.HAND_OVER:
        assert status is JobStatus.PENDING
        assert orchestration is Orchestration.ABSENT
    if not orchestration.live and status is JobStatus.RUNNING:
        assert found.kind in (VerdictKind.SUCCEED, VerdictKind.FAIL, VerdictKind.CANCEL), "nothing is left behind"
        assert (found.kind is VerdictKind.SUCCEED) >= (whole and not (asked and orchestration is Orchestration.ABSENT))
    assert (found.kind is VerdictKind.LEAVE) == (found.sentence == "")


def test_every_word_of_the_engine_has_a_meaning_and_an_unknown_one_touches_nothing() -> None:
    assert orchestration_of(None, alive=False) is Orchestration.ABSENT
    assert orchestration_of("PENDING", alive=True) is Orchestration.RUNNING
    assert orchestration_of("PENDING", alive=False) is Orchestration.ORPHANED
    assert orchestration_of("DELAYED", alive=False) is Orchestration.WAITING
    assert judged(a_job(RUNNING), orchestration_of("FORKED", alive=False)).kind is VerdictKind.LEAVE
