"""Owns comparing what jobs run with what an application registered: steps and failure effects. Never calls one."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence

from jobservice.application import Application
from jobservice.records.findings import Finding
from jobservice.records.forms import nearest
from jobservice.records.job_kinds import JobKindRecord
from jobservice.records.kind import Reference, Written
from jobservice.records.registered_rules import unrecorded


def compare_step(record: Written, application: Application, *, named: bool) -> Finding | None:
    """What a use-case record of background jobs and what is registered under its id do not agree on.

    `named` = a kind has it for a step: that nothing is registered is found there.
    """
    step, effect = application.steps.get(record.id), application.failure_effects.get(record.id)
    if step is None and effect is None:
        if named:
            return None
        known = (*application.steps, *application.failure_effects)
        hint = nearest(record.id, known) or " Register one under this id."
        sentence = f"The application {application.name} registers no step or failure effect {record.id}.{hint}"
        return Finding(file=record.file, line=record.line, code="use-case-unregistered", sentence=sentence)
    problem = None if step is None else _step_problem(step.function)
    if problem is None and effect is not None and not _takes_one(effect):
        problem = "is not `async def` with the failed job as its one parameter"
    if problem is None:
        return None
    sentence = f"What is registered as {record.id} {problem}."
    return Finding(file=record.file, line=record.line, code="use-case-signature", sentence=sentence)


def compare_kinds(records: Mapping[str, Written], kinds: Sequence[Written], application: Application) -> list[Finding]:
    """The steps of kinds for which nothing is registered (requirement reject-unmapped-engine-steps), and their failure
    effects that are steps."""
    found: list[Finding] = []
    for kind in kinds:
        if not isinstance(kind.content, JobKindRecord):
            continue
        for reference, as_step in _named(kind.content):
            registered = application.steps if as_step else application.failure_effects
            neither = reference.id not in application.steps and reference.id not in application.failure_effects
            if reference.id in registered or reference.id not in records or (neither and not as_step):
                continue
            what, code = ("step", "behavior-unrecorded") if as_step else ("failure effect", "use-case-unregistered")
            hint = nearest(reference.id, registered)
            sentence = f"The application {application.name} registers no {what} {reference.id}.{hint}"
            found.append(Finding(file=kind.file, line=reference.line, code=code, sentence=sentence))
    return found


def unrecorded_steps(application: Application, use_cases: Mapping[str, Written]) -> list[Finding]:
    """The registered steps and failure effects without a record, each at its function."""
    steps = {
        name: registered.function if inspect.isfunction(registered.function) else type(registered.function).send  # type: ignore[union-attr]  # what is no function is an OutwardStep
        for name, registered in application.steps.items()
    }
    return [
        unrecorded("use-case", name, function, use_cases)
        for name, function in {**steps, **application.failure_effects}.items()
        if name not in use_cases
    ]


def steps_named(kinds: Sequence[Written]) -> frozenset[str]:
    """The use cases that kinds have for steps."""
    contents = [kind.content for kind in kinds if isinstance(kind.content, JobKindRecord)]
    return frozenset(reference.id for content in contents for reference, as_step in _named(content) if as_step)


def _named(content: JobKindRecord) -> Iterator[tuple[Reference, bool]]:
    """Each use case that a kind names, and whether as a step."""
    if content.failure_effect is not None:
        yield content.failure_effect, False
    for _, steps in content.versions:
        for step in steps:
            yield step.use_case, True


def _step_problem(function: object) -> str | None:
    send, look_up = getattr(function, "send", None), getattr(function, "look_up", None)
    if send is None and look_up is None:
        return None if _takes_one(function) else "is not `async def` with the call as its one parameter"
    if not _takes_one(send) or not _takes_one(look_up):
        return "acts outside, and has not both `async def send(order)` and `async def look_up(key)`"
    return None


def _takes_one(function: object) -> bool:
    if not callable(function) or not inspect.iscoroutinefunction(function):
        return False
    try:
        inspect.signature(function).bind(object())
    except TypeError:
        return False
    return True
