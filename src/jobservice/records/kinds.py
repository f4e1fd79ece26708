"""Owns the closed list of record kinds that the service knows. A new kind is one file and one line here."""

from __future__ import annotations

from jobservice.records.bulk_commands import BULK_COMMAND
from jobservice.records.job_kinds import JOB_KIND
from jobservice.records.jobs import JOB
from jobservice.records.kind import Kind
from jobservice.records.queues import QUEUE
from jobservice.records.rules import RULE
from jobservice.records.runbooks import RUNBOOK
from jobservice.records.settings import SETTING
from jobservice.records.use_cases import USE_CASE

KINDS: tuple[Kind, ...] = (
    BULK_COMMAND,
    JOB,
    JOB_KIND,
    QUEUE,
    RULE,
    RUNBOOK,
    SETTING,
    USE_CASE,
)
