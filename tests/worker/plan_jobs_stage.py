"""Owns the stage of plans that submit a job when they end: a bulk command that names a kind, and jobs as the tables have
them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from jobcontract.states import Moves
from jobservice.records import RecordSet
from jobservice.rules.job_kinds import PLAN_APPLY, JobKind, StepDefinition
from tests.usecases.desk import BULK, RECORDS, RELEASE_MANY
from tests.worker.plans_stage import Stage

FILE = "t.file"
KIND = JobKind(
    id=FILE,
    label="Bank file",
    application="payments",
    family="payments",
    moves=Moves.MONEY,
    retryable=True,
    failure_effect=None,
    no_effect="The bank is asked by hand.",
    inputs=(),
    versions={1: (StepDefinition(step="send", label="Send", use_case="t.send", moves=Moves.MONEY),)},
    submitted_by=RELEASE_MANY,
)
FILING: RecordSet = replace(
    RECORDS, job_kinds={**RECORDS.job_kinds, FILE: KIND}, bulk={RELEASE_MANY: replace(BULK, submits=FILE)}
)
"""Records whose plans submit a bank file."""


def filing(stage: Stage) -> Stage:
    """The stage with those records."""
    return replace(stage, records=FILING)


def jobs_of(stage: Stage, kind: str = PLAN_APPLY) -> list[dict[str, Any]]:
    """The jobs of a kind, the oldest first."""
    return [
        dict(row[0]) for row in stage.rows("select to_jsonb(j) from jobs.jobs as j where kind = %s order by id", kind)
    ]


def lines_of(stage: Stage, job: dict[str, Any]) -> list[tuple[str, str]]:
    """Kind and sentence of each line of a job's history."""
    return [
        (row[0], row[1])
        for row in stage.rows("select kind, sentence from jobs.job_events where job = %s order by sequence", job)
    ]
