"""The records floor: declarative YAML records, their check, and the record set that a process works by.

Reads files, never a database; decides nothing about items. Forms and codes: `docs/records.md`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from jobservice.application import Application
from jobservice.records.assembly import Assembly, RecordSet
from jobservice.records.findings import CODES, Finding
from jobservice.records.folder import digest, read_folder
from jobservice.records.reading import read_records
from jobservice.records.registration import compare_registered

__all__ = ["CODES", "Finding", "RecordSet", "Report", "check", "load", "report"]

_NO_OVERRIDES: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What `jobservice check` prints, and its exit code: 1 where there is a finding."""

    lines: tuple[str, ...]
    exit_code: int


def load(folder: Path, *, overrides: Mapping[str, str] = _NO_OVERRIDES) -> tuple[RecordSet | None, tuple[Finding, ...]]:
    """The records of `folder`, and what is wrong with them; no set where there is any finding.

    `overrides` are settings of this process alone, written as in their records (`claims.lease` -> `PT2S`).
    """
    records, findings, _ = _load(folder, overrides, None)
    return records, findings


def check(
    application: Application, *, overrides: Mapping[str, str] = _NO_OVERRIDES
) -> tuple[RecordSet | None, tuple[Finding, ...]]:
    """The records of an application, compared with what it registered; no set where there is any finding."""
    records, findings, _ = _load(application.records, overrides, application)
    return records, findings


def report(folder: Path, application: Application | None = None) -> Report:
    """The lines that show the findings of `folder`, compared with `application` where one is given."""
    _, findings, count = _load(folder, _NO_OVERRIDES, application)
    if findings:
        return Report(lines=tuple(map(str, findings)), exit_code=1)
    against = f", as {application.name} registers them" if application is not None else ""
    return Report(lines=(f"{count} records, no findings{against}.",), exit_code=0)


def _load(
    folder: Path, overrides: Mapping[str, str], application: Application | None
) -> tuple[RecordSet | None, tuple[Finding, ...], int]:
    """The set or None, the findings in the order of files and lines, and how many files were read."""
    files, outside = read_folder(folder)
    written, wrong = read_records(files)
    whole = len(written) == len(files) and not outside
    assembly = Assembly(written, str(folder), overrides, whole=whole)
    queues, use_cases, settings = assembly.queues(), assembly.use_cases(), assembly.settings()
    rules, bulk = assembly.rules(), assembly.bulk()
    schedules, job_use_cases, runbooks = assembly.schedules(), assembly.job_use_cases(), assembly.runbooks()
    job_kinds = assembly.job_kinds(None if application is None else application.name)
    findings = [*outside, *wrong]
    if files:
        findings += assembly.findings
    if application is not None:
        findings += compare_registered(written, application, whole=whole)
    if findings or settings is None:
        return None, tuple(sorted(findings)), len(files)
    records = RecordSet(
        queues=queues,
        use_cases=use_cases,
        rules=rules,
        bulk=bulk,
        schedules=schedules,
        job_use_cases=job_use_cases,
        runbooks=runbooks,
        job_kinds=job_kinds,
        step_use_cases=assembly.step_use_cases(),
        settings=settings,
        digest=digest(files),
    )
    return records, (), len(files)
