"""Owns checking the inputs of a job: declared fields only, and nothing that looks like a credential (requirement INV-09).
Pure. Never repeats a value in what it says.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from jobservice.rules.credentials import CARD, DRAWN, credential_in
from jobservice.rules.inputs import InputValue, check_inputs
from jobservice.rules.job_kinds import KindInput
from jobservice.rules.queues import DeclaredInput

NAME_SHOWN = 80
_DIGEST = re.compile(r"\b(?:digest|checksum|hash|fingerprint|commit|etag|md5|sha-?\d+)\b", re.ASCII | re.IGNORECASE)
"""In the name or title of an input that is declared to hold a digest."""
_SAYS = {
    CARD: "Give the name of it. A number of something else says of what, like `INV-` before it.",
    DRAWN: "Give the name of it. A digest says so, like `sha256:` before it.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedInputs:
    """Inputs as they are kept; `faults` are sentences, empty where all is well."""

    kept: Mapping[str, InputValue]
    faults: tuple[str, ...]


def judge_inputs(declared: Sequence[KindInput], given: Mapping[str, object]) -> JudgedInputs:
    """Compare what was given with what the kind declares: names, presence, types, lengths, no credentials. Everything that
    is wrong is said at once."""
    fields = [
        DeclaredInput(name=each.name, type=each.type, title=each.label, required=each.required, most=each.most)
        for each in declared
    ]
    names = [each.name for each in declared]
    checked = check_inputs(fields, {name: value for name, value in given.items() if name in names})
    faults = [*_unknown(names, given), *checked.faults]
    digests = {each.name for each in declared if _DIGEST.search(f"{each.name.replace('_', ' ')}, {each.label}")}
    for name, value in given.items():
        if (found := _credential(value, digest=name in digests)) is not None:
            shown = f"`{name}`" if name in names else "An input"
            say = _SAYS.get(found, "Give the name of it.")
            faults.append(f"{shown} looks like it holds {found}: inputs of a job carry no secrets. {say}")
    return JudgedInputs(kept=checked.kept, faults=tuple(faults))


def _credential(value: object, *, digest: bool) -> str | None:
    """What a value looks like that inputs do not carry; a whole number may be that of a card."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    return credential_in(str(value), drawn=not digest)


def _unknown(names: Sequence[str], given: Mapping[str, object]) -> Iterator[str]:
    known = ", ".join(names) or "none"
    for name in given:
        if name in names:
            continue
        if credential_in(name) is not None:
            yield f"An input's name looks like a credential; the kind declares {known}."
            continue
        close = difflib.get_close_matches(name[:NAME_SHOWN], names, n=1)
        hint = f"Did you mean `{close[0]}`?" if close else f"It declares {known}."
        yield f"`{name[:NAME_SHOWN]}` is not declared by the kind. {hint}"
