"""Owns comparing records with what an application registered, use cases above all. Never calls a function of it."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, get_type_hints

from jobcontract.states import InputType
from jobservice.application import Application, UseCaseFunction
from jobservice.records.findings import Finding
from jobservice.records.forms import nearest
from jobservice.records.kind import Written
from jobservice.records.registered_rules import compare_rule, unrecorded, unrecorded_rules
from jobservice.records.registered_selections import compare_selections, unrecorded_selections
from jobservice.records.registered_steps import compare_kinds, compare_step, steps_named, unrecorded_steps
from jobservice.rules.job_kinds import StepUseCase
from jobservice.rules.queues import DeclaredInput, UseCase
from jobservice.rules.schedules import JobUseCase

_TYPES: Mapping[InputType, type] = {
    InputType.TEXT: str,
    InputType.INSTANT: datetime,
    InputType.PERSON: str,
    InputType.BOOLEAN: bool,
    InputType.INTEGER: int,
}
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def compare_registered(
    records: Sequence[Written], application: Application, *, whole: bool = True
) -> tuple[Finding, ...]:
    """What the records and the registered functions of `application` do not agree on.

    `whole` = every file gave a record; else a record that seems to be missing may stand in one that did not.
    """
    use_cases = {each.id: each for each in records if each.kind == "use-case"}
    rules = {each.id: each for each in records if each.kind == "rule"}
    jobs = tuple(each for each in records if each.kind == "job")
    kinds = [each for each in records if each.kind == "job-kind"]
    steps = steps_named(kinds)
    compared = [_finding(each, application, step=each.id in steps) for each in use_cases.values()]
    findings = [finding for finding in compared if finding is not None]
    for rule in rules.values():
        findings += compare_rule(rule, application)
    findings += compare_selections(jobs, application)
    findings += compare_kinds(use_cases, kinds, application)
    if whole:
        findings += [
            unrecorded("use-case", name, function, use_cases)
            for name, function in application.use_cases.items()
            if name not in use_cases
        ]
        findings += unrecorded_rules(application, rules)
        findings += unrecorded_selections(application, jobs)
        findings += unrecorded_steps(application, use_cases)
        findings += [
            unrecorded("use-case", name, type(outward).send, use_cases)
            for name, outward in application.outwards.items()
            if name not in use_cases
        ]
    return tuple(findings)


def _finding(record: Written, application: Application, *, step: bool) -> Finding | None:
    function = application.use_cases.get(record.id)
    registered = record.id in application.steps or record.id in application.failure_effects
    if isinstance(record.content, StepUseCase) or (record.content is None and function is None and registered):
        return compare_step(record, application, named=step)
    if function is None:
        hint = nearest(record.id, application.use_cases) or " Register a function under this id."
        sentence = f"The application {application.name} registers no use case {record.id}.{hint}"
        return Finding(file=record.file, line=record.line, code="use-case-unregistered", sentence=sentence)
    if not isinstance(record.content, UseCase | JobUseCase):
        return None
    problem = _problem(function, record.content.inputs if isinstance(record.content, UseCase) else ())
    if problem is None:
        return None
    sentence = f"The function registered as {record.id} {problem}."
    return Finding(file=record.file, line=record.line, code="use-case-signature", sentence=sentence)


def _problem(function: UseCaseFunction, inputs: tuple[DeclaredInput, ...]) -> str | None:
    """The end of a sentence that says how the signature differs from `async def f(call, item, *, inputs)`."""
    if not inspect.iscoroutinefunction(function):
        return "is not an `async def` function"
    parameters = list(inspect.signature(function).parameters.values())
    first = [each for each in parameters if each.kind in _POSITIONAL]
    rest = [each for each in parameters if each.kind not in _POSITIONAL]
    if len(first) != 2 or any(each.kind is not inspect.Parameter.KEYWORD_ONLY for each in rest):
        return "does not take `call, item` and then its inputs as keywords after `*`"
    taken, declared = {each.name for each in rest}, {each.name for each in inputs}
    if declared - taken:
        return f"does not take the declared input {', '.join(sorted(declared - taken))}"
    if taken - declared:
        return f"takes {', '.join(sorted(taken - declared))}, which its record does not declare"
    return _types(function, inputs)


def _types(function: UseCaseFunction, inputs: tuple[DeclaredInput, ...]) -> str | None:
    try:
        hints = get_type_hints(function)
    except (NameError, TypeError, AttributeError, SyntaxError):
        return "has annotations that cannot be resolved at run time; import their types at the top of the module"
    for each in inputs:
        wanted: Any = _TYPES[each.type] if each.required else _TYPES[each.type] | None
        if hints.get(each.name) != wanted:
            shown = _TYPES[each.type].__name__ + ("" if each.required else " | None")
            return f"takes {each.name} as something else than {shown}, which its record declares"
    return None
