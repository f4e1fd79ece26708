"""The state machine of jobs: which transitions there are, progress, waits, who may cancel, retry, resolve, causes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobcontract.errors import ErrorCode
from jobcontract.job_states import Carrier, JobResolution, JobStatus, StepStatus
from jobcontract.states import Moves, OutcomeKind
from jobservice.application import Outcome, Patience, done, failed, retry
from jobservice.rules import jobs as rules
from jobservice.rules.claims import Allowed, Denied
from jobservice.rules.job_kinds import plan_apply
from jobservice.rules.job_states import Again, CancelAsked, Ended, Held, JobState, Lost, Passed, StepState, Wait

PATIENCE = Patience(attempts=3, first_wait=1.0, longest_wait=60.0)


def step(position: int, status: StepStatus = StepStatus.QUEUED, **more: object) -> StepState:
    values = {
        "position": position,
        "step": f"s{position}",
        "label": f"Step {position}",
        "use_case": "t.s",
        "undo": None,
        "moves": Moves.NOTHING,
        "weight": 1,
        "status": status,
        "attempts": 0 if status is StepStatus.QUEUED else 1,
        "handed_back": 0,
        "progress": 0,
        "sent": False,
    }
    return StepState(**{**values, **more})  # type: ignore[arg-type]  # every field is there, by name


def job(*steps: StepState, status: JobStatus = JobStatus.RUNNING, **more: object) -> JobState:
    values = {
        "status": status,
        "progress": 0,
        "moves": Moves.NOTHING,
        "carrier": Carrier.ENGINE,
        "steps": steps,
        "cancel_asked": False,
        "cancel_asked_by": None,
        "cancel_reason": None,
        "resolution": None,
    }
    return JobState(**{**values, **more})  # type: ignore[arg-type]  # every field is there, by name


STEPS = st.builds(
    step,
    st.just(1),
    st.sampled_from(StepStatus),
    attempts=st.integers(1, 5),
    progress=st.integers(0, 100),
    weight=st.integers(1, 9),
    sent=st.booleans(),
    wait_seconds=st.floats(0, 10),
)
WHOLE = st.lists(STEPS, min_size=1, max_size=5).map(
    lambda steps: tuple(replace(each, position=place) for place, each in enumerate(steps, 1))
)
JOBS = st.builds(
    lambda steps, status, asked, progress: job(
        *steps, status=status, cancel_asked=asked, cancel_reason="No", progress=progress
    ),
    WHOLE,
    st.sampled_from(JobStatus),
    st.booleans(),
    st.integers(0, 100),
)
OUTCOMES = st.builds(
    Outcome,
    kind=st.sampled_from(OutcomeKind),
    sentence=st.text(max_size=30),
    after_seconds=st.none() | st.floats(allow_nan=True, allow_infinity=True),
)


@pytest.mark.requirement("INV-03")
@given(before=JOBS, outcome=OUTCOMES, most=st.integers(1, 5), held=st.none() | st.just("Stopped."), wanted=st.data())
def test_no_decision_leaves_the_state_machine(
    before: JobState, outcome: Outcome, most: int, held: str | None, wanted: st.DataObject
) -> None:
    position = wanted.draw(st.integers(1, len(before.steps)))
    at = before.at(position)
    begin = rules.decide_begin(before, position, attempts_most=most, held=held)
    report = rules.decide_report(before, position, outcome, patience=replace(PATIENCE, attempts=most), jitter=0.5)
    settled = rules.decide_settle(before, wanted.draw(st.sampled_from([each for each in JobStatus if each.final])))
    if before.status.final:
        assert isinstance(begin, Ended)
        assert isinstance(report, Ended)
        assert isinstance(settled, Ended)
        return
    if isinstance(begin, rules.Begin):
        assert StepStatus.RUNNING in rules.STEP_MOVES[at.status]
        assert (held is None and not before.cancel_asked and at.counted < most) or at.unanswered
        assert at.counted < most + rules.ASKS_MORE
        assert all(each.status is StepStatus.SUCCEEDED for each in before.steps[: position - 1])
    if isinstance(begin, rules.Fail):
        assert at.counted >= most
    if isinstance(report, Again):
        assert at.counted < most
        assert 0 <= report.seconds <= PATIENCE.longest_wait
    if isinstance(report, rules.Succeed | rules.Fail | Again):
        assert at.status is StepStatus.RUNNING
        assert not before.cancel_asked or at.sent  # only what happened outside is written over a cancellation
    assert isinstance(settled, rules.Settling)
    assert settled.status in rules.JOB_MOVES[before.status] | {JobStatus.SUCCEEDED}
    if settled.status is JobStatus.SUCCEEDED:
        assert all(each.status is StepStatus.SUCCEEDED for each in before.steps)
    if settled.status is JobStatus.CANCELLED:
        assert before.cancel_asked
        assert not any(each.unanswered for each in before.steps)


@pytest.mark.requirement("INV-04")
@given(steps=WHOLE, before=st.integers(0, 99))
def test_progress_never_falls_and_is_whole_only_at_success(steps: tuple[StepState, ...], before: int) -> None:
    progress = rules.progress_of(steps, before=before)
    assert before <= progress <= 99
    further = tuple(replace(each, status=StepStatus.SUCCEEDED) for each in steps)
    assert rules.progress_of(further, before=before) >= progress


def test_progress_is_by_weight_and_floored() -> None:
    steps = (step(1, StepStatus.SUCCEEDED), step(2, StepStatus.RUNNING, progress=50), step(3, weight=4))
    assert rules.progress_of(steps) == 25
    assert rules.progress_of((step(1, StepStatus.SUCCEEDED), step(2), step(3))) == 33


@pytest.mark.requirement("RETRY-04")
@given(attempts=st.integers(1, 10_000), asked=st.none() | st.floats(), jitter=st.floats(0, 1))
def test_a_wait_is_from_now_to_the_longest(attempts: int, asked: float | None, jitter: float) -> None:
    seconds = rules.retry_wait(PATIENCE, attempts, asked=asked, jitter=jitter)
    assert 0 <= seconds <= PATIENCE.longest_wait


def test_waits_double_from_the_first_and_jitter_takes_up_to_half() -> None:
    waits = [rules.retry_wait(PATIENCE, attempts, asked=None, jitter=0.0) for attempts in (1, 2, 3, 7, 99)]
    assert waits == [1.0, 2.0, 4.0, 60.0, 60.0]
    assert rules.retry_wait(PATIENCE, 3, asked=None, jitter=1.0) == 2.0


@pytest.mark.requirement("INV-07")
@pytest.mark.parametrize(
    ("status", "words"),
    [
        (StepStatus.RUNNING, "success refused: step 2 (s2) is still running"),
        (StepStatus.RETRYING, "success refused: step 2 (s2) is still to be tried again"),
        (StepStatus.QUEUED, "success refused: step 2 (s2) was never begun"),
        (StepStatus.FAILED, "success refused: step 2 (s2) failed"),
    ],
)
def test_success_is_refused_naming_the_step(status: StepStatus, words: str) -> None:
    found = job(step(1, StepStatus.SUCCEEDED), step(2, status))
    assert rules.decide_settle(found, JobStatus.SUCCEEDED) == rules.Settling(status=JobStatus.FAILED, refused=words)


@pytest.mark.requirement("INV-07")
def test_a_step_at_work_refuses_a_success_before_one_that_ended() -> None:
    settled = rules.decide_settle(job(step(1, StepStatus.FAILED), step(2, StepStatus.RUNNING)), JobStatus.SUCCEEDED)
    assert isinstance(settled, rules.Settling)
    assert settled.refused == "success refused: step 2 (s2) is still running"


@pytest.mark.requirement("SAGA-03")
def test_of_what_was_sent_a_cancellation_takes_nothing_but_what_may_be_tried_again() -> None:
    sent = job(step(1, StepStatus.RUNNING, sent=True), cancel_asked=True, cancel_reason="No")
    unsent = job(step(1, StepStatus.RUNNING), cancel_asked=True, cancel_reason="No")
    kept: dict[OutcomeKind, type[object]] = {OutcomeKind.DONE: rules.Succeed, OutcomeKind.UNCERTAIN: rules.Fail}
    for kind in OutcomeKind:
        outcome = Outcome(kind=kind, sentence="So.")
        assert isinstance(
            rules.decide_report(sent, 1, outcome, patience=PATIENCE, jitter=0), kept.get(kind, rules.GiveUp)
        )
        assert isinstance(rules.decide_report(unsent, 1, outcome, patience=PATIENCE, jitter=0), CancelAsked)


def test_what_begins_a_step_in_which_order() -> None:
    def begin(found: JobState, held: str | None = None) -> object:
        return rules.decide_begin(found, 1, attempts_most=2, held=held)

    waiting = step(1, StepStatus.RETRYING, wait_seconds=5.0)
    assert begin(job(waiting)) == Wait(seconds=5.0)
    assert begin(job(waiting, cancel_asked=True, cancel_reason="No")) == CancelAsked(person=None, reason="No")
    assert begin(job(step(1)), "Stopped.") == Held(sentence="Stopped.")
    assert begin(job(step(1, StepStatus.SUCCEEDED), cancel_asked=True)) == Passed()
    assert isinstance(begin(job(step(1, StepStatus.FAILED))), Lost)
    assert begin(job(step(1, StepStatus.RUNNING))) == rules.Begin(
        step=step(1, StepStatus.RUNNING), attempt=2, lost=True
    )
    given_back = step(1, StepStatus.RETRYING, attempts=9, handed_back=8)
    assert isinstance(begin(job(given_back)), rules.Begin)
    worn = step(1, StepStatus.RUNNING, attempts=2)
    assert isinstance(begin(job(worn)), rules.Fail)
    sent = replace(worn, sent=True)
    asks = rules.Begin(step=sent, attempt=3, lost=True)
    assert begin(job(sent, cancel_asked=True, cancel_reason="No"), "Stopped.") == asks
    killed = begin(job(replace(sent, attempts=2 + rules.ASKS_MORE)))
    assert isinstance(killed, rules.Fail)
    assert killed.uncertain
    assert "nobody knows whether it happened outside" in killed.sentence


@pytest.mark.requirement("INV-10")
def test_what_a_person_may_do() -> None:
    kind = replace(plan_apply(), retryable=True, moves=Moves.NOTHING)
    failed_job = job(step(1, StepStatus.FAILED), status=JobStatus.FAILED)

    def denied(found: object) -> ErrorCode:
        assert isinstance(found, Denied)
        return found.kind

    again = rules.decide_retry
    assert again(failed_job, kind, reason="Again", allow_money=False) == Allowed()
    assert denied(again(failed_job, None, reason="Again", allow_money=False)) is ErrorCode.JOB_NOT_RETRYABLE
    assert denied(again(failed_job, kind, reason=" ", allow_money=False)) is ErrorCode.INVALID_REQUEST
    money = replace(kind, moves=Moves.MONEY)
    assert denied(again(failed_job, money, reason="Again", allow_money=False)) is ErrorCode.NEEDS_PLAN
    assert again(failed_job, money, reason="Again", allow_money=True) == Allowed()
    once_money = replace(failed_job, moves=Moves.MONEY)  # whatever the record says by now
    assert denied(again(once_money, kind, reason="Again", allow_money=False)) is ErrorCode.NEEDS_PLAN
    carried = replace(failed_job, carrier=Carrier.PLAN)
    assert denied(again(carried, kind, reason="Again", allow_money=True)) is ErrorCode.JOB_CARRIED
    assert denied(rules.decide_cancel(carried)) is ErrorCode.JOB_CARRIED
    assert denied(rules.decide_cancel(failed_job)) is ErrorCode.JOB_SETTLED
    assert rules.decide_resolve(failed_job) == Allowed()
    resolved = replace(failed_job, resolution=JobResolution.RETRIED)
    assert denied(rules.decide_resolve(resolved)) is ErrorCode.JOB_RESOLVED


@given(text=st.text(max_size=400))
def test_a_cause_has_no_digit_and_is_short(text: str) -> None:
    cause = rules.cause_text(text)
    assert 0 < len(cause) <= rules.CAUSE_MOST
    assert not any(sign.isdecimal() for sign in cause)
    assert rules.cause_text(cause) == cause


def test_what_fails_alike_reads_alike() -> None:
    first = "The bank answered 503 for payout 7f3a-99 of a.b@example.org (attempt 3 of 3)."
    second = "The bank answered 500 for payout 12 of c.d@example.org (attempt 1 of 5)."
    assert (
        rules.cause_text(first) == rules.cause_text(second) == "The bank answered # for payout # of # (attempt # of #."
    )


def test_a_sentence_that_cannot_be_kept_is_replaced_and_a_long_one_keeps_its_end() -> None:
    running = job(step(1, StepStatus.RUNNING, attempts=3))
    for outcome in (failed("x" * 5_000), retry("\x00", after_seconds=1)):
        decided = rules.decide_report(running, 1, outcome, patience=PATIENCE, jitter=0)
        assert isinstance(decided, rules.Fail)
        assert len(decided.sentence) <= rules.SENTENCE_MOST
        assert decided.sentence.endswith(" It was tried 3 times.")
        assert "\x00" not in decided.sentence
    assert isinstance(rules.decide_report(running, 1, done(""), patience=PATIENCE, jitter=0), rules.Succeed)
