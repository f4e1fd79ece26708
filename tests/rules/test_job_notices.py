"""The words of a requester's letter: what happened, what was left, what to quote; and when there is none."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobcontract.job_states import JobStatus, StepStatus
from jobservice.rules.job_notices import Told, ToldStep, why_not, words

pytestmark = pytest.mark.requirement("INV-11")

FAILED = Told(
    job="0192",
    tenant="acme",
    kind="Bank file",
    subject="lark-42",
    status=JobStatus.FAILED,
    requested_at=datetime(2026, 11, 30, 8, 0, tzinfo=UTC),
    settled_at=datetime(2026, 11, 30, 8, 5, tzinfo=UTC),
    steps=(ToldStep(label="Collect", status=StepStatus.SUCCEEDED), ToldStep(label="Submit", status=StepStatus.FAILED)),
    summary="Submit: the bank is closed.",
    reference="9f31c0aa",
)


def test_a_failure_says_what_happened_what_is_left_and_what_to_quote() -> None:
    letter = words(FAILED)
    assert letter.subject == "Bank file: lark-42 failed"
    assert letter.text.splitlines() == [
        "Bank file: lark-42, which you asked for in acme at 2026-11-30 08:00:00 UTC, failed at 2026-11-30 08:05:00 UTC.",
        "What happened: Submit: the bank is closed.",
        "Done before that: Collect.",
        "Left to do: Submit.",
        "Reference, to give to whoever helps you: 9f31c0aa",
        "The job: 0192. To look at it: jobconsole jobs show 0192",
    ]


def test_a_correction_says_so_first() -> None:
    letter = words(replace(FAILED, corrects=JobStatus.SUCCEEDED))
    assert letter.subject == "Correction: Bank file: lark-42 failed"
    assert letter.text.startswith("You were told before that it succeeded. That did not hold; this does.\n")


@given(st.text(), st.text(), st.text(), st.sampled_from([JobStatus.SUCCEEDED, JobStatus.FAILED, JobStatus.CANCELLED]))
def test_what_people_wrote_adds_no_line_and_no_header(subject: str, summary: str, by: str, status: JobStatus) -> None:
    told = replace(FAILED, status=status, subject=subject, summary=summary, cancelled_by=by, cancel_reason=summary)
    letter = words(told)
    plain = words(replace(told, subject="s", summary="s", cancelled_by="s", cancel_reason="s"))
    assert letter.subject.isprintable()
    assert letter.text.count("\n") == plain.text.count("\n")
    assert all(line.isprintable() for line in letter.text.split("\n"))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, None),
        ({"active": False}, "may not sign in"),
        ({"member": False}, "not of this tenant"),
        ({"contact": " "}, "No address"),
        ({"outcome": JobStatus.CANCELLED, "cancelled_by": "m.ito"}, "cancelled it"),
        ({"outcome": JobStatus.CANCELLED, "cancelled_by": "k.rao"}, None),
        ({"outcome": JobStatus.SUCCEEDED, "cancelled_by": "m.ito"}, None),  # it had succeeded before
    ],
)
def test_who_is_not_told_and_why(changed: dict[str, object], said: str | None) -> None:
    facts = {
        "active": True,
        "member": True,
        "contact": "m@example.org",
        "outcome": JobStatus.FAILED,
        "requester": "m.ito",
        "cancelled_by": None,
    }
    reason = why_not(**{**facts, **changed})  # type: ignore[arg-type]  # the table above has the types
    assert reason is None if said is None else said in (reason or "")
