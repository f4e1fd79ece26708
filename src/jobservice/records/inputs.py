"""Owns the form of declared inputs, the same for use cases and for the items of a queue."""

from __future__ import annotations

import keyword
import re

from jobcontract.ids import NAME_MAX, NOTE_MAX
from jobcontract.states import InputType
from jobservice.records.forms import Form
from jobservice.rules.queues import DeclaredInput

_NAME = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*", re.ASCII)
_TAKEN = frozenset({"call", "item"})
"""Names of the parameters that every use case has already."""


def is_input_name(name: str) -> bool:
    """Whether `name` can name an input, whoever declares it: small letters, digits, single underscores."""
    return len(name) <= NAME_MAX and _NAME.fullmatch(name) is not None


def read_inputs(form: Form, field: str, *, longest: int = NOTE_MAX) -> tuple[DeclaredInput, ...] | None:
    """The inputs under `field`, in the order of the file; none where the field is not there, None after a finding.

    `longest` = what the most of a text may be.
    """
    inputs = form.form(field, required=False)
    if inputs is None:
        return None if field in form else ()
    read = [_read_input(inputs, name, line, longest) for name, line in inputs.names]
    return None if None in read else tuple(each for each in read if each is not None)


def _read_input(inputs: Form, name: str, line: int, longest: int) -> DeclaredInput | None:
    form = inputs.form(name)
    if not is_input_name(name) or keyword.iskeyword(name) or name in _TAKEN:
        sentence = f"{name[:40]!r} cannot name an input: small letters, digits, single underscores; no word of Python."
        inputs.found("field-invalid", line, sentence)
        form = None
    if form is None:
        return None
    kind = form.choice("type", InputType)
    title = form.text("title", most=NAME_MAX)
    required = form.boolean("required")
    most = form.count("most", least=1, most=longest, required=kind is InputType.TEXT)
    form.finish()
    if "most" in form and kind not in (None, InputType.TEXT):
        form.found("field-invalid", form.line_of("most"), f"`{name}.most` bounds a text only, not type {kind}.")
        return None
    if kind is None or title is None or required is None or (kind is InputType.TEXT and most is None):
        return None
    return DeclaredInput(name=name, type=kind, title=title, required=required, most=most)
