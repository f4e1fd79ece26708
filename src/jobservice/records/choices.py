"""Owns what a record says in place of a list: some names, or that it means all of them. Knows no kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from jobservice.records.forms import Form
from jobservice.records.yaml import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """The names that a field lists; None: it says that it means all."""

    names: frozenset[str] | None


def names_or_all(form: Form, field: str, word: type[StrEnum], *, missing: str, wanted: str) -> Named | None:
    """A list of ids, or `{mode: WORD}` with the one word of `word`; None after a finding, `missing` where nothing is said."""
    node = form.node(field, required=True, missing=missing, form=wanted)
    if node is None:
        return None
    if isinstance(node, Mapping):
        stated = form.form(field)
        mode = None if stated is None else stated.choice("mode", word)
        if stated is not None:
            stated.finish()
        return None if mode is None else Named(names=None)
    before: Sequence[tuple[str, int]] | None = form.slugs(field)
    if before is None:
        return None
    if not before:
        form.invalid(field, f"names nothing; {wanted}")
        return None
    return Named(names=frozenset(name for name, _ in before))
