"""Owns the form of job-kind records: the steps of a kind of background job, version by version, and what it declares.

What the records say of one another is compared elsewhere (`job_kind_fit.py`). How often a step is tried and how long it may
take is code; a record that says so is a finding (requirement keep-engine-retry-configuration-in-implementation).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from jobcontract.ids import KEY_MAX, NAME_MAX, REASON_MAX
from jobcontract.states import Moves
from jobservice.records.forms import Form
from jobservice.records.inputs import read_inputs
from jobservice.records.kind import Kind, Reference
from jobservice.records.yaml import Scalar, Sequence
from jobservice.rules.queues import DeclaredInput

STEPS_MOST = 50
VERSIONS_MOST = 100
VERSION_MOST = 1_000_000
WEIGHT_MOST = 1_000
_KNOB = re.compile(
    r"retr(?!yable$)|attempt|back.?off|time.?out|time.?limit|bound|deadline|delay|interval|patience|wait|lease|duration",
    re.ASCII | re.IGNORECASE,
)
_SECRET = re.compile(
    r"\b(?:pass(?:word|wd|phrase|code)|secret|(?<!page )token|credential|bearer|jwt|cookie|iban|bic|cv[vc]|pin|[th]?otp"
    r"|(?:api|access|private|signing|encryption|ssh) key|(?:account|card) (?:number|no)|sort code|pan)s?\b",
    re.ASCII | re.IGNORECASE,
)


class _Mode(StrEnum):
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedStep:
    """One step as written."""

    step: str
    line: int
    label: str
    use_case: Reference
    weight: int


@dataclass(frozen=True, slots=True, kw_only=True)
class JobKindRecord:
    """A job-kind record as written, and the lines of what is compared with other records."""

    label: str
    moves: Moves
    moves_line: int
    retryable: bool
    submitted_by: Reference | None
    failure_effect: Reference | None
    no_effect: str | None
    """Why there is none; None where there is one."""
    inputs: tuple[DeclaredInput, ...]
    inputs_line: int
    versions: tuple[tuple[int, tuple[StatedStep, ...]], ...]
    """Rising."""


def _read(form: Form, _identifier: str) -> JobKindRecord | None:
    refuse_knobs(form)
    label = form.text("label", most=NAME_MAX)
    moves = form.choice("moves", Moves, unstated="moves-unstated")
    retryable = form.boolean("retryable")
    submitted_by = form.slug("submittedBy", required=False)
    effect = _effect(form)
    inputs = _inputs(form)
    versions = _versions(form)
    form.finish()
    if label is None or moves is None or retryable is None or (submitted_by is None and "submittedBy" in form):
        return None
    if effect is None or inputs is None or versions is None:
        return None
    return JobKindRecord(
        label=label,
        moves=moves,
        moves_line=form.line_of("moves"),
        retryable=retryable,
        submitted_by=None if submitted_by is None else Reference(id=submitted_by, line=form.line_of("submittedBy")),
        failure_effect=effect[0],
        no_effect=effect[1],
        inputs=inputs,
        inputs_line=form.line_of("inputs"),
        versions=versions,
    )


def refuse_knobs(form: Form) -> None:
    """A finding for each field that would say how often or how long something is tried."""
    for name, line in form.names:
        if _KNOB.search(name):
            form.node(name, required=False)
            sentence = (
                f"`{form.named(name)}` is for code: the application says how often and how long it is tried, where it "
                "registers the step (`Patience`); leave it out."
            )
            form.found("engine-knob-in-record", line, sentence)


def _effect(form: Form) -> tuple[Reference | None, str | None] | None:
    """The use case of a failure, or why nothing is to be done; None after a finding."""
    wanted = "name the use case that runs when a job of this kind failed, or say {mode: none, reason: WHY} (INV-08)"
    node = form.node("failureEffect", required=True, missing="failure-effect-unstated", form=wanted)
    if node is None:
        return None
    if isinstance(node, Scalar):
        named = form.slug("failureEffect")
        return None if named is None else (Reference(id=named, line=form.line_of("failureEffect")), None)
    stated = form.form("failureEffect")
    if stated is None:
        return None
    mode, reason = stated.choice("mode", _Mode), stated.text("reason", most=REASON_MAX)
    stated.finish()
    return None if mode is None or reason is None else (None, reason)


def _inputs(form: Form) -> tuple[DeclaredInput, ...] | None:
    """Its inputs, each short and none of a secret; None after a finding."""
    inputs = read_inputs(form, "inputs", longest=KEY_MAX)
    secret = [each for each in inputs or () if _SECRET.search(f"{each.name.replace('_', ' ')}, {each.title}")]
    stated = form.form("inputs", required=False) if secret else None
    for each in secret:
        sentence = (
            f"`inputs.{each.name}` seems to be a secret or an account, and inputs of jobs are kept and shown; give the "
            "job an id by which its step asks for it (INV-09)."
        )
        form.found("input-secret", form.line if stated is None else stated.line_of(each.name), sentence)
    return None if secret else inputs


def _versions(form: Form) -> tuple[tuple[int, tuple[StatedStep, ...]], ...] | None:
    """The versions by rising numbers; None after a finding."""
    node = form.node("versions", required=True)
    if node is None:
        return None
    if not isinstance(node, Sequence) or not 1 <= len(node.items) <= VERSIONS_MOST:
        form.invalid("versions", "is a list of versions, one `- version: 1` with its `steps` each")
        return None
    read: list[tuple[int, tuple[StatedStep, ...]] | None] = []
    before = 0
    stated = form.forms("versions", node)
    for each in stated:
        refuse_knobs(each)
        number = each.count("version", least=1, most=VERSION_MOST)
        steps = _steps(each)
        each.finish()
        if number is not None and number <= before:
            sentence = f"Version {number} stands behind version {before}: versions rise, the newest is the last."
            each.found("steps-unfit", each.line_of("version"), sentence)
            number = None
        before = number or before
        read.append(None if number is None or steps is None else (number, steps))
    whole = tuple(each for each in read if each is not None)
    return whole if len(whole) == len(node.items) else None


def _steps(version: Form) -> tuple[StatedStep, ...] | None:
    node = version.node("steps", required=True, missing="steps-unfit", form="a version has one step at the least")
    if node is None:
        return None
    if not isinstance(node, Sequence) or not 1 <= len(node.items) <= STEPS_MOST:
        sentence = f"`{version.named('steps')}` is a list of 1 to {STEPS_MOST} steps."
        version.found("steps-unfit", version.line_of("steps"), sentence)
        return None
    read = [_step(each) for each in version.forms("steps", node)]
    found: dict[str, StatedStep] = {}
    for step in read:
        if step is not None and step.step in found:
            sentence = f"Step {step.step} stands on line {found[step.step].line} already; a step is once in a version."
            version.found("steps-unfit", step.line, sentence)
        elif step is not None:
            found[step.step] = step
    return tuple(found.values()) if len(found) == len(node.items) else None


def _step(form: Form) -> StatedStep | None:
    refuse_knobs(form)
    step, label, use_case = form.slug("step"), form.text("label", most=NAME_MAX), form.slug("useCase")
    weight = form.count("weight", least=1, most=WEIGHT_MOST, required=False)
    form.finish()
    if step is None or label is None or use_case is None or (weight is None and "weight" in form):
        return None
    reference = Reference(id=use_case, line=form.line_of("useCase"))
    return StatedStep(step=step, line=form.line_of("step"), label=label, use_case=reference, weight=weight or 1)


JOB_KIND = Kind(word="job-kind", read=_read)
