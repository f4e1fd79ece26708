"""Owns the form of calculation-rule records: typed inputs with their sources, thresholds per currency, refresh, words.

Never computes a score: that is the function which the application registers under the same id and version.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from jobcontract.ids import NAME_MAX, REASON_MAX
from jobcontract.money import Money
from jobcontract.states import RuleInputType
from jobservice.records.amounts import is_currency, read_amount
from jobservice.records.forms import Form
from jobservice.records.inputs import is_input_name
from jobservice.records.kind import Kind
from jobservice.records.settings import whole_value
from jobservice.rules.scores import Rule, RuleInput
from jobservice.rules.settings import SettingType

INPUTS_MOST = 6
"""Most inputs of a rule: all of them have to fit into one line of a row."""
FORMULA_MOST = REASON_MAX
VERSION_MOST = 1_000_000
REFRESH_LEAST, REFRESH_MOST = 10, 86_400
"""Seconds."""
UNIT_MOST = 20
DECLARED = "input."
"""What a source begins with that is a declared input of the queue's items."""
_SOURCES = {RuleInputType.MONEY: "amount", RuleInputType.AGE: "created"}
"""The only source that an input of that type can have; every other type reads a declared input."""


class AgeUnit(StrEnum):
    """What an age is told in."""

    DAYS = "days"
    HOURS = "hours"


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleRecord:
    """A rule record as written, and the line of its version."""

    rule: Rule
    version_line: int


def _read(form: Form, identifier: str) -> RuleRecord | None:
    title = form.text("title", most=NAME_MAX)
    version = form.count("version", least=1, most=VERSION_MOST)
    formula = form.text("formula", most=FORMULA_MOST)
    inputs = _inputs(form)
    types = {each.type for each in inputs or ()}
    thresholds = _thresholds(form, of_money=inputs is None or RuleInputType.MONEY in types)
    refresh = _refresh(form, None if inputs is None else RuleInputType.AGE in types)
    form.finish()
    if title is None or version is None or formula is None or inputs is None or thresholds is None:
        return None
    if refresh is None and (RuleInputType.AGE in types or "refresh" in form):
        return None
    rule = Rule(
        id=identifier,
        title=title,
        version=version,
        formula=formula,
        inputs=inputs,
        refresh_seconds=refresh,
        thresholds=thresholds,
    )
    return RuleRecord(rule=rule, version_line=form.line_of("version"))


def _inputs(form: Form) -> tuple[RuleInput, ...] | None:
    """At least one input, in the order of the file, which is the order of the parts that people see."""
    inputs = form.form("inputs")
    if inputs is None:
        return None
    if not 1 <= len(inputs.names) <= INPUTS_MOST:
        sentence = f"`inputs`: a rule has 1 to {INPUTS_MOST} inputs, which all fit into one line of a row."
        form.found("field-invalid", form.line_of("inputs"), sentence)
        return None
    read = [_input(inputs, name, line) for name, line in inputs.names]
    return None if None in read else tuple(each for each in read if each is not None)


def _input(inputs: Form, name: str, line: int) -> RuleInput | None:
    form = inputs.form(name)
    if not _named(inputs, name, line, "an input") or form is None:
        return None
    kind = form.choice("type", RuleInputType)
    title = form.text("title", most=NAME_MAX)
    source = form.written("source")
    unit, fits = _unit(form, name, kind)
    form.finish()
    if kind is None or title is None or source is None or not fits or not _source_fits(form, name, kind, source):
        return None
    return RuleInput(name=name, type=kind, title=title, source=source, unit=unit)


def _named(form: Form, name: str, line: int, what: str) -> bool:
    if is_input_name(name):
        return True
    form.found("field-invalid", line, f"{name[:40]!r} cannot name {what}: small letters, digits, single underscores.")
    return False


def _source_fits(form: Form, name: str, kind: RuleInputType, source: str) -> bool:
    only = _SOURCES.get(kind)
    if source == only or (only is None and source.startswith(DECLARED) and is_input_name(source[len(DECLARED) :])):
        return True
    wanted = f"`{only}`" if only else f"`{DECLARED}NAME`, an input that the items of its queue declare"
    sentence = f"`inputs.{name}.source`: {source[:40]!r} gives no input of type {kind}; its source is {wanted}."
    form.found("field-invalid", form.line_of("source"), sentence)
    return False


def _unit(form: Form, name: str, kind: RuleInputType | None) -> tuple[str | None, bool]:
    """The unit, and whether it fits: needed for an age, optional for an integer, refused for any other type."""
    if kind is RuleInputType.AGE:
        unit = form.choice("unit", AgeUnit)
        return unit, unit is not None
    words = form.text("unit", most=UNIT_MOST, required=False)
    if words is None or kind in (None, RuleInputType.INTEGER):
        return words, words is not None or "unit" not in form
    why = "an amount has its currency" if kind is RuleInputType.MONEY else "only an age or an integer has one"
    form.found("field-invalid", form.line_of("unit"), f"`inputs.{name}.unit`: leave it out for type {kind}; {why}.")
    return None, False


def _refresh(form: Form, aged: bool | None) -> int | None:
    """Seconds; needed where an input is an age, refused where none is. `aged` is None where that is not known."""
    if aged is not True:
        if form.node("refresh", required=False) is not None and aged is False:
            sentence = "`refresh`: no input of this rule is an age, so time changes no score; leave it out."
            form.found("field-invalid", form.line_of("refresh"), sentence)
        return None
    if "refresh" not in form:
        form.node("refresh", required=True, form="an age changes with time: say how often, such as PT5M")
        return None
    written = form.written("refresh")
    if written is None:
        return None
    try:
        seconds = whole_value(written, SettingType.DURATION)
    except ValueError as error:
        form.found("field-invalid", form.line_of("refresh"), f"`refresh`: {error}.")
        return None
    if REFRESH_LEAST <= seconds <= REFRESH_MOST:
        return seconds
    sentence = f"`refresh`: {written} is not from PT{REFRESH_LEAST}S to P1D."
    form.found("field-invalid", form.line_of("refresh"), sentence)
    return None


def _thresholds(form: Form, *, of_money: bool) -> Mapping[str, Mapping[str, Money]] | None:
    """Amounts by currency and name; empty where the rule compares none, None after a finding."""
    if "thresholds" in form and not of_money:
        form.node("thresholds", required=False)
        sentence = "`thresholds`: no input of this rule is of type money, so nothing is compared; leave them out."
        form.found("field-invalid", form.line_of("thresholds"), sentence)
        return None
    currencies = form.form("thresholds", required=False)
    if currencies is None:
        return None if "thresholds" in form else {}
    if not currencies.names:
        sentence = "`thresholds`: name a currency at least, or leave the field out."
        form.found("field-invalid", form.line_of("thresholds"), sentence)
        return None
    read = {currency: _amounts(currencies, currency, line) for currency, line in currencies.names}
    found = {currency: amounts for currency, amounts in read.items() if amounts is not None}
    return found if len(found) == len(read) and _alike(currencies, found) else None


def _amounts(currencies: Form, currency: str, line: int) -> Mapping[str, Money] | None:
    form = currencies.form(currency)
    if not is_currency(currencies, "thresholds", currency, line) or form is None:
        return None
    if not form.names:
        currencies.found("field-invalid", line, f"`thresholds.{currency}` names no amount.")
        return None
    read = {
        name: read_amount(form, name, name_line, f"thresholds.{currency}.{name}", currency)
        if _named(form, name, name_line, "a threshold")
        else None
        for name, name_line in form.names
    }
    amounts = {name: amount for name, amount in read.items() if amount is not None}
    return amounts if len(amounts) == len(read) else None


def _alike(currencies: Form, found: Mapping[str, Mapping[str, Money]]) -> bool:
    """Whether every currency has the names of the first one: a rule asks for them whatever the item's currency is."""
    first = next(iter(found))
    wanted = found[first]
    odd = [currency for currency, amounts in found.items() if set(amounts) != set(wanted)]
    for currency in odd:
        missing, more = sorted(set(wanted) - set(found[currency])), sorted(set(found[currency]) - set(wanted))
        said = [f"has no {', '.join(missing)}"] if missing else []
        said += [f"has {', '.join(more)} besides"] if more else []
        sentence = f"`thresholds.{currency}` {' and '.join(said)}, unlike {first}; every currency has the same names."
        currencies.found("field-invalid", currencies.line_of(currency), sentence)
    return not odd


RULE = Kind(word="rule", read=_read)
