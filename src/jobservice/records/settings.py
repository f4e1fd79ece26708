"""Owns the form of setting records and of their values: ISO 8601 durations, counts, sizes in bytes."""

from __future__ import annotations

import re
from dataclasses import dataclass

from jobcontract.ids import REASON_MAX
from jobservice.records.forms import Form
from jobservice.records.kind import Kind
from jobservice.rules.settings import SettingType

_DURATION = re.compile(
    r"P(?=\d|T\d)(?:(?P<days>\d{1,5})D)?(?:T(?=\d)(?:(?P<hours>\d{1,6})H)?(?:(?P<minutes>\d{1,7})M)?(?:(?P<seconds>\d{1,9})S)?)?",
    re.ASCII,
)
_WHOLE = re.compile(r"0|[1-9][0-9]{0,17}", re.ASCII)
_FORMS = {
    SettingType.DURATION: "a duration such as PT1H, PT90S or P7D",
    SettingType.COUNT: "a whole number",
    SettingType.SIZE: "a whole number of bytes",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingRecord:
    """A setting record as written; `value` in seconds, as a count, or in bytes, and the line where it stands."""

    type: SettingType
    value: int
    purpose: str
    type_line: int
    value_line: int


def setting_value(text: str, kind: SettingType) -> int:
    """Read a value of that type; ValueError with the end of a sentence where it has another form."""
    if kind is SettingType.DURATION:
        found = _DURATION.fullmatch(text)
        if found is not None:
            days, hours, minutes, seconds = (int(found[part] or 0) for part in ("days", "hours", "minutes", "seconds"))
            return ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    elif _WHOLE.fullmatch(text):
        return int(text)
    raise ValueError(f"{text[:40]!r} is not {_FORMS[kind]}")


def _read(form: Form, _identifier: str) -> SettingRecord | None:
    kind = form.choice("type", SettingType)
    written = form.written("value")
    purpose = form.text("purpose", most=REASON_MAX)
    form.finish()
    if kind is None or written is None or purpose is None:
        return None
    try:
        value = setting_value(written, kind)
    except ValueError as error:
        form.found("field-invalid", form.line_of("value"), f"`value`: {error}.")
        return None
    return SettingRecord(
        type=kind, value=value, purpose=purpose, type_line=form.line_of("type"), value_line=form.line_of("value")
    )


SETTING = Kind(word="setting", read=_read)
