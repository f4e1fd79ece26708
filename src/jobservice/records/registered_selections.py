"""Owns comparing the selections that job records name with the functions that an application registered. Calls none."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence

from jobservice.application import Application
from jobservice.records.findings import Finding
from jobservice.records.forms import nearest
from jobservice.records.jobs import JobRecord
from jobservice.records.kind import Written
from jobservice.rules.schedules import Registered

_TAKEN = 3
"""`selecting, after, limit`."""


def compare_selections(jobs: Sequence[Written], application: Application) -> tuple[Finding, ...]:
    """What job records and the registered selections do not agree on, each at the record's `selection`."""
    found: list[Finding] = []
    for record, content, selection in _named(jobs):
        problem = _problem(application, selection)
        if problem is not None:
            code, sentence = problem
            found.append(Finding(file=record.file, line=content.selection_line, code=code, sentence=sentence))
    return tuple(found)


def unrecorded_selections(application: Application, jobs: Sequence[Written]) -> tuple[Finding, ...]:
    """The registered selections that no job names, each at its function; none while a job could not be read."""
    if any(job.content is None for job in jobs):
        return ()
    named = {selection for _, _, selection in _named(jobs)}
    found: list[Finding] = []
    for name, function in application.selections.items():
        if name not in named:
            code = getattr(function, "__code__", None)
            file, line = (code.co_filename, code.co_firstlineno) if code is not None else (repr(function), 1)
            sentence = f"The selection {name} is registered, but no job record selects by it.{nearest(name, named)}"
            found.append(Finding(file=file, line=line, code="behavior-unrecorded", sentence=sentence))
    return tuple(found)


def _named(jobs: Sequence[Written]) -> Iterator[tuple[Written, JobRecord, str]]:
    """Each job that could be read and names a registered selection, and the id that it names."""
    for record in jobs:
        if isinstance(record.content, JobRecord) and isinstance(record.content.selection, Registered):
            yield record, record.content, record.content.selection.id


def _problem(application: Application, name: str) -> tuple[str, str] | None:
    """Code and sentence of what is wrong with a selection that a record names."""
    function = application.selections.get(name)
    if function is None:
        hint = nearest(name, application.selections) or " Register a function under this id."
        return "selection-unregistered", f"The application {application.name} registers no selection {name}.{hint}"
    if not inspect.iscoroutinefunction(function):
        why = "is not an `async def` function that returns its items"
        return "selection-signature", f"The selection registered as {name} {why}."
    try:
        inspect.signature(function).bind(*range(_TAKEN))
    except TypeError:
        why = "cannot be called with `(selecting, after, limit)`"
        return "selection-signature", f"The selection registered as {name} {why}."
    return None
