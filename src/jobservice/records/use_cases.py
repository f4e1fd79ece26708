"""Owns the form of use-case records: what may be run on an item, with which inputs, and whether money moves.

What the audit is about tells the three shapes apart: an item, on which a person runs it; an occurrence, whose schedule
does; a background job, of which it is a step or what is done when it failed.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from jobcontract.ids import NAME_MAX, REASON_MAX
from jobcontract.states import InputType, ItemState, Moves
from jobservice.records.forms import Form
from jobservice.records.inputs import read_inputs
from jobservice.records.job_kinds import refuse_knobs
from jobservice.records.kind import Kind
from jobservice.records.yaml import Mapping, Scalar
from jobservice.rules.job_kinds import StepUseCase
from jobservice.rules.queues import DeclaredInput, UseCase
from jobservice.rules.schedules import JobUseCase

VERSION_MOST = 1_000_000


class _Target(StrEnum):
    """What the audit row of a use case is about."""

    ITEM = "item"
    OCCURRENCE = "occurrence"
    """A run of a schedule: the use case is one of jobs, and nobody runs it on an item of a queue."""
    JOB = "job"
    """A background job: the use case is one of its steps, or what is done when it failed."""


class _ReasonMode(StrEnum):
    """Whether the audit row carries the person's own reason."""

    INPUT = "input"
    NONE = "none"


def _read(form: Form, identifier: str) -> UseCase | JobUseCase | StepUseCase | None:
    title = form.text("title", most=NAME_MAX)
    moves = form.choice("moves", Moves, unstated="moves-unstated")
    version = form.count("version", least=1, most=VERSION_MOST, required=False)
    if title is None or moves is None or (version is None and "version" in form):
        whole = None
    else:
        whole = _Whole(id=identifier, title=title, moves=moves, version=version or 1)
    if _is_of(form, _Target.JOB):
        return _of_background(form, whole)
    return _of_jobs(form, whole) if _is_of(form, _Target.OCCURRENCE) else _of_items(form, whole)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Whole:
    """What all shapes have."""

    id: str
    title: str
    moves: Moves
    version: int


def _is_of(form: Form, target: _Target) -> bool:
    """Whether `audit.target` says this; what is wrong there is found where the fields are read."""
    audit = form.node("audit", required=False)
    targets = [value for key, value in audit.entries if key.text == "target"] if isinstance(audit, Mapping) else []
    return any(isinstance(each, Scalar) and each.text == target for each in targets)


def _of_items(form: Form, whole: _Whole | None) -> UseCase | None:
    states = _states(form)
    inputs = read_inputs(form, "inputs")
    audited, reason = _audit(form, inputs or ())
    form.finish()
    if whole is None or states is None or inputs is None or not audited:
        return None
    return UseCase(
        id=whole.id,
        title=whole.title,
        moves=whole.moves,
        states=states,
        inputs=inputs,
        version=whole.version,
        audit_reason=reason,
    )


def _of_jobs(form: Form, whole: _Whole | None) -> JobUseCase | None:
    """A use case of jobs: nobody gives it inputs, and what it runs on has no states."""
    for name, why in (("states", "a run's item has none"), ("inputs", "a schedule gives none")):
        if form.node(name, required=False) is not None:
            form.invalid(name, f"belongs to a use case of items: {why}; leave it out")
            whole = None
    batch = False if form.node("batch", required=False) is None else form.boolean("batch")
    audited, _ = _audit(form, ())
    form.finish()
    if whole is None or batch is None or not audited:
        return None
    return JobUseCase(id=whole.id, title=whole.title, moves=whole.moves, version=whole.version, batch=batch)


def _of_background(form: Form, whole: _Whole | None) -> StepUseCase | None:
    """A use case of background jobs: the kind declares the inputs, code says how often it is tried."""
    refuse_knobs(form)
    for name, why in (("states", "a job is no item"), ("inputs", "the kind of job declares them")):
        if form.node(name, required=False) is not None:
            form.invalid(name, f"belongs to a use case of items: {why}; leave it out")
            whole = None
    audited, _ = _audit(form, ())
    form.finish()
    if whole is None or not audited:
        return None
    return StepUseCase(id=whole.id, title=whole.title, moves=whole.moves, version=whole.version)


def _states(form: Form) -> frozenset[ItemState] | None:
    states = form.choices("states", ItemState)
    closed = sorted(state for state in states or () if state.closed)
    if closed:
        sentence = f"`states`: no act changes an item that is {' or '.join(closed)}; leave that out."
        form.found("field-invalid", form.line_of("states"), sentence)
        return None
    return states


def _audit(form: Form, inputs: tuple[DeclaredInput, ...]) -> tuple[bool, str | None]:
    """Whether `audit` could be read, and the input that it names as the reason."""
    audit = form.form("audit")
    if audit is None:
        return False, None
    target = audit.choice("target", _Target)
    reason = audit.form("reason")
    audit.finish()
    if target is None or reason is None:
        return False, None
    mode = reason.choice("mode", _ReasonMode)
    named: str | None = None
    if mode is _ReasonMode.INPUT:
        named = _reason_input(reason, inputs)
    elif mode is _ReasonMode.NONE:
        reason.text("reason", most=REASON_MAX)
    else:
        return False, None
    reason.finish()
    return mode is _ReasonMode.NONE or named is not None, named


def _reason_input(reason: Form, inputs: tuple[DeclaredInput, ...]) -> str | None:
    """The required text input that the reason names."""
    named = reason.written("input")
    if named is None:
        return None
    if any(each.name == named and each.type is InputType.TEXT and each.required for each in inputs):
        return named
    sentence = f"`audit.reason.input`: {named[:40]!r} is not a required text input of this use case."
    reason.found("field-invalid", reason.line_of("input"), sentence)
    return None


USE_CASE = Kind(word="use-case", read=_read)
