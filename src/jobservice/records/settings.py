"""Owns the form of setting records and of their values: ISO 8601 durations, counts, sizes in bytes, amounts of money."""

from __future__ import annotations

import re
from dataclasses import dataclass

from jobcontract.ids import REASON_MAX
from jobcontract.money import MoneyError, typed_amount
from jobservice.records.amounts import is_currency, read_amount
from jobservice.records.forms import Form
from jobservice.records.kind import Kind
from jobservice.records.yaml import Mapping
from jobservice.rules.bulk import Amounts
from jobservice.rules.settings import SettingType

SettingValue = int | Amounts
"""Seconds, a count, bytes; or minor units by currency."""

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
    """A setting record as written: its value, and the lines where type and value stand."""

    type: SettingType
    value: SettingValue
    purpose: str
    type_line: int
    value_line: int


def whole_value(text: str, kind: SettingType) -> int:
    """Read a duration, count or size; ValueError with the end of a sentence where it has another form."""
    if kind is SettingType.DURATION:
        found = _DURATION.fullmatch(text)
        if found is not None:
            days, hours, minutes, seconds = (int(found[part] or 0) for part in ("days", "hours", "minutes", "seconds"))
            return ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    elif _WHOLE.fullmatch(text):
        return int(text)
    raise ValueError(f"{text[:40]!r} is not {_FORMS[kind]}")


def setting_value(text: str, kind: SettingType) -> SettingValue:
    """Read a value as `--set` gives it (amounts: `GBP=100.00;JPY=5`); ValueError with the end of a sentence."""
    return _amounts_of(text) if kind is SettingType.AMOUNTS else whole_value(text, kind)


def _amounts_of(text: str) -> Amounts:
    amounts: dict[str, int] = {}
    for part in text.split(";"):
        currency, equals, amount = part.partition("=")
        if not equals:
            raise ValueError(f"{text[:40]!r} is not an amount for each currency, such as GBP=100.00;JPY=5")
        if currency in amounts:
            raise ValueError(f"{currency} stands there twice")
        try:
            money = typed_amount(amount, currency)
        except MoneyError as error:
            raise ValueError(str(error)) from None
        if money.credit:
            raise ValueError(f"{money} is less than nothing")
        amounts[currency] = money.minor
    return amounts


def _read(form: Form, _identifier: str) -> SettingRecord | None:
    kind = form.choice("type", SettingType)
    value = _value(form, kind)
    purpose = form.text("purpose", most=REASON_MAX)
    form.finish()
    if kind is None or value is None or purpose is None:
        return None
    return SettingRecord(
        type=kind, value=value, purpose=purpose, type_line=form.line_of("type"), value_line=form.line_of("value")
    )


def _value(form: Form, kind: SettingType | None) -> SettingValue | None:
    if kind is SettingType.AMOUNTS:
        return _amounts(form)
    written = form.written("value")
    if written is None or kind is None:
        return None
    try:
        return whole_value(written, kind)
    except ValueError as error:
        form.found("field-invalid", form.line_of("value"), f"`value`: {error}.")
        return None


def _amounts(form: Form) -> Amounts | None:
    """An amount of at least zero for each currency that is named."""
    node = form.node("value", required=True)
    if node is None:
        return None
    if not isinstance(node, Mapping) or not node.entries:
        sentence = '`value` states an amount for each currency, such as {GBP: "1,000.00", JPY: "200,000"}.'
        form.found("field-invalid", form.line_of("value"), sentence)
        return None
    stated = form.form("value")
    if stated is None:
        return None
    read = {currency: _amount(stated, currency, line) for currency, line in stated.names}
    amounts = {currency: minor for currency, minor in read.items() if minor is not None}
    return amounts if len(amounts) == len(read) else None


def _amount(form: Form, currency: str, line: int) -> int | None:
    if not is_currency(form, "value", currency, line):
        return None
    money = read_amount(form, currency, line, f"value.{currency}", currency)
    if money is not None and money.credit:
        form.found("field-invalid", line, f"`value.{currency}`: {money} is less than nothing.")
        return None
    return None if money is None else money.minor


SETTING = Kind(word="setting", read=_read)
