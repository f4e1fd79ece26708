"""Owns comparing rule records with the functions that an application registered. Never calls one."""

from __future__ import annotations

import inspect
from collections.abc import Mapping

from jobservice.application import Application
from jobservice.records.findings import Finding
from jobservice.records.forms import nearest
from jobservice.records.kind import Written
from jobservice.records.rules import RuleRecord


def compare_rule(record: Written, application: Application) -> tuple[Finding, ...]:
    """What a rule record and the function registered under its id do not agree on."""
    registered = application.rules.get(record.id)
    if registered is None:
        hint = nearest(record.id, application.rules) or " Register a function under this id."
        sentence = f"The application {application.name} registers no rule {record.id}.{hint}"
        return (Finding(file=record.file, line=record.line, code="rule-unregistered", sentence=sentence),)
    found: list[Finding] = []
    problem = _problem(registered.function)
    if problem is not None:
        sentence = f"The function registered as {record.id} {problem}."
        found.append(Finding(file=record.file, line=record.line, code="rule-signature", sentence=sentence))
    if isinstance(record.content, RuleRecord) and record.content.rule.version != registered.version:
        sentence = (
            f"{record.id} is registered as version {registered.version}, and its record states "
            f"{record.content.rule.version}; bring both to the same one."
        )
        line = record.content.version_line
        found.append(Finding(file=record.file, line=line, code="rule-version", sentence=sentence))
    return tuple(found)


def unrecorded_rules(application: Application, written: Mapping[str, Written]) -> tuple[Finding, ...]:
    """The registered rules without a record, each at its function."""
    return tuple(
        unrecorded("rule", name, registered.function, written)
        for name, registered in application.rules.items()
        if name not in written
    )


def unrecorded(kind: str, name: str, function: object, written: Mapping[str, Written]) -> Finding:
    """The finding of something registered that no record of that kind describes."""
    code = getattr(function, "__code__", None)
    file, line = (code.co_filename, code.co_firstlineno) if code is not None else (repr(function), 1)
    sentence = f"{name} is registered, but no {kind} record is {name}.{nearest(name, written)}"
    return Finding(file=file, line=line, code="behavior-unrecorded", sentence=sentence)


def _problem(function: object) -> str | None:
    """The end of a sentence that says why it cannot be called as `def f(inputs, now) -> Score`."""
    if not callable(function):
        return "cannot be called; register a function `def score(inputs, now) -> Score`"
    bodies = (function, type(function).__call__)
    if any(inspect.iscoroutinefunction(each) or inspect.isasyncgenfunction(each) for each in bodies):
        return "is an `async def`; a rule decides by its inputs alone and waits for nothing, so make it a plain `def`"
    if any(inspect.isgeneratorfunction(each) for each in bodies):
        return "yields; a rule returns one Score"
    try:
        inspect.signature(function).bind(object(), object())
    except (TypeError, ValueError):
        return "cannot be called with `(inputs, now)` alone"
    return None
