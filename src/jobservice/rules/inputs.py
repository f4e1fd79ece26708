"""Owns checking given inputs against declared ones, for pushed items and for acts alike.

Pure: says everything that is wrong at once, changes nothing, knows nobody (whether a person exists is asked elsewhere).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from jobcontract.ids import NOTE_MAX, is_slug, storable
from jobcontract.states import InputType
from jobservice.rules.queues import DeclaredInput

InputValue = str | int | bool
"""A value as it is kept: instants as RFC 3339 text in UTC."""

INTEGER_MAX = 2**63 - 1
YEARS = range(1900, 2201)
"""Years in which an instant of this system may lie."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedInputs:
    """What was given, as kept and as a use case takes it; `faults` are sentences, empty where all is well."""

    kept: Mapping[str, InputValue] = field(default_factory=dict)
    """To be stored: only inputs that were given."""
    taken: Mapping[str, InputValue | datetime | None] = field(default_factory=dict)
    """For the use case's function: every declared name, instants as UTC datetimes, None where nothing was given."""
    persons: tuple[str, ...] = ()
    """Ids given for inputs of type person."""
    faults: tuple[str, ...] = ()


def check_inputs(declared: Sequence[DeclaredInput], given: Mapping[str, object]) -> CheckedInputs:
    """Compare `given` with `declared`: names, presence, types, lengths."""
    names = [each.name for each in declared]
    faults = [
        f"`{name[:80]}` is not an input here; there is {', '.join(names) or 'none'}."
        for name in given
        if name not in names
    ]
    kept: dict[str, InputValue] = {}
    taken: dict[str, InputValue | datetime | None] = dict.fromkeys(names)
    for each in declared:
        value = given.get(each.name)
        if value is None or (isinstance(value, str) and not value.strip()):
            faults += [f"`{each.name}` ({each.title}) is required."] if each.required else []
            continue
        found = list(_faults(each, value))
        faults += found
        if not found and isinstance(value, str | int):
            taken[each.name] = instant(value) if each.type is InputType.INSTANT and isinstance(value, str) else value
            kept[each.name] = _kept(taken[each.name], value)
    persons = tuple(str(kept[each.name]) for each in declared if each.type is InputType.PERSON and each.name in kept)
    return CheckedInputs(kept=kept, taken=taken, persons=persons, faults=tuple(faults))


def instant(text: str) -> datetime | None:
    """The UTC instant that RFC 3339 `text` with an offset names, within `YEARS`; None where it is none."""
    try:
        parsed = datetime.fromisoformat(text)
        moment = parsed.astimezone(UTC) if parsed.tzinfo is not None and "T" in text.upper() else None
    except (ValueError, OverflowError):
        return None
    return moment if moment is not None and moment.year in YEARS else None


def _kept(taken: InputValue | datetime | None, given: InputValue) -> InputValue:
    return taken.isoformat().replace("+00:00", "Z") if isinstance(taken, datetime) else given


def _faults(declared: DeclaredInput, value: object) -> Iterator[str]:
    name = declared.name
    if declared.type is InputType.BOOLEAN:
        if type(value) is not bool:
            yield f"`{name}` is true or false."
    elif declared.type is InputType.INTEGER:
        if type(value) is not int or abs(value) > INTEGER_MAX:
            yield f"`{name}` is a whole number of at most 63 bits."
    elif not isinstance(value, str) or not storable(value):
        yield f"`{name}` is text, without NUL or lone surrogates."
    else:
        yield from _text_faults(declared, value)


def _text_faults(declared: DeclaredInput, value: str) -> Iterator[str]:
    name, most = declared.name, declared.most or NOTE_MAX
    if declared.type is InputType.INSTANT:
        if instant(value) is None:
            yield f"`{name}` is an instant with an offset, like 2026-03-01T09:00:00Z, from {YEARS[0]} to {YEARS[-1]}."
    elif declared.type is InputType.PERSON:
        if not is_slug(value):
            yield f"`{name}` is the id of a person, like m.ito."
    elif len(value) > most:
        yield f"`{name}` has {len(value)} characters; at most {most} are allowed."
