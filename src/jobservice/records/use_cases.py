"""Owns the form of use-case records: what may be run on an item, with which inputs, and whether money moves."""

from __future__ import annotations

from enum import StrEnum

from jobcontract.ids import NAME_MAX, REASON_MAX
from jobcontract.states import InputType, ItemState, Moves
from jobservice.records.forms import Form
from jobservice.records.inputs import read_inputs
from jobservice.records.kind import Kind
from jobservice.rules.queues import DeclaredInput, UseCase

VERSION_MOST = 1_000_000


class _Target(StrEnum):
    """What the audit row of a use case is about."""

    ITEM = "item"


class _ReasonMode(StrEnum):
    """Whether the audit row carries the person's own reason."""

    INPUT = "input"
    NONE = "none"


def _read(form: Form, identifier: str) -> UseCase | None:
    title = form.text("title", most=NAME_MAX)
    moves = form.choice("moves", Moves, unstated="moves-unstated")
    states = _states(form)
    inputs = read_inputs(form, "inputs")
    version = form.count("version", least=1, most=VERSION_MOST, required=False)
    audited, reason = _audit(form, inputs or ())
    form.finish()
    if title is None or moves is None or states is None or inputs is None or not audited:
        return None
    if version is None and "version" in form:
        return None
    return UseCase(
        id=identifier,
        title=title,
        moves=moves,
        states=states,
        inputs=inputs,
        version=version or 1,
        audit_reason=reason,
    )


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
