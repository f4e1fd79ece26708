"""Owns the forms in which the published files come: column names, date form and encoding differ from file to file.

A form is recognised by its header; the closed list stands at the end.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from difflib import get_close_matches
from enum import Enum


class DateForm(Enum):
    """How a file writes its dates, by the pattern of one."""

    SLASHES = re.compile(r"(?P<day>\d{2})/(?P<month>\d{2})/(?P<year>\d{4})", re.ASCII)
    """24/12/2010: the day first."""
    NAMED_MONTH = re.compile(r"(?P<day>\d{2})-(?P<month>[A-Z][a-z]{2})-(?P<year>\d{4})", re.ASCII)
    """13-Nov-2012, in English whatever the machine speaks."""
    ISO = re.compile(r"(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})", re.ASCII)


_MONTHS: Mapping[str, int] = {
    name: number
    for number, name in enumerate("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(), 1)  # noqa: SIM905  # reads as a calendar
}
_EXAMPLES = {DateForm.SLASHES: "24/12/2010", DateForm.NAMED_MONTH: "13-Nov-2012", DateForm.ISO: "2020-06-24"}


def read_date(text: str, form: DateForm) -> date:
    """Read a date in that form alone; ValueError with the end of a sentence where it is none."""
    found = form.value.fullmatch(text.strip())
    if found is not None:
        month = found["month"]
        number = int(month) if month.isdecimal() else _MONTHS.get(month, 0)
        try:
            return date(int(found["year"]), number, int(found["day"]))
        except ValueError:
            raise ValueError(f"the date {text.strip()[:40]!r} is not in the calendar") from None
    raise ValueError(f"the date {text.strip()[:40]!r} is not written like {_EXAMPLES[form]}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """One form of file: the columns that are read, by what they mean."""

    name: str
    date: str
    number: str
    amount: str
    payee: str
    purpose: str
    department: str
    dates: DateForm
    currency: str | None = None
    """The column of the currency; None = every amount is in GBP."""
    account: str | None = None
    """The column with the name that the account is made from; None, or nothing in it = the payee's own."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that a file of this form must have."""
        named = (self.date, self.number, self.amount, self.payee, self.purpose, self.department)
        return (*named, *(column for column in (self.currency, self.account) if column is not None))


FORMS: tuple[Form, ...] = (
    Form(
        name="spaced",
        date="Date paid",
        number="Transaction number",
        amount="Net amount",
        payee="Supplier name",
        purpose="Detailed expenditure type",
        department="Service label",
        dates=DateForm.SLASHES,
    ),
    Form(
        name="joined",
        date="DatePaid",
        number="TransactionNumber",
        amount="NetAmount",
        payee="SupplierName",
        purpose="DetailedExpenditureType",
        department="ServiceLabel",
        dates=DateForm.NAMED_MONTH,
    ),
    Form(
        name="beneficiary",
        date="Payment Date",
        number="Transaction Number",
        amount="Amount",
        payee="Beneficiary Name",
        purpose="Purpose",
        department="Organisational Unit",
        dates=DateForm.SLASHES,
    ),
    Form(
        name="oddities",
        date="date",
        number="transaction",
        amount="amount",
        payee="payee",
        purpose="purpose",
        department="department",
        dates=DateForm.ISO,
        currency="currency",
        account="account of",
    ),
    Form(
        name="currencies",
        date="date",
        number="transaction",
        amount="amount",
        payee="payee",
        purpose="purpose",
        department="department",
        dates=DateForm.ISO,
        currency="currency",
    ),
)


def recognise(columns: tuple[str, ...]) -> Form:
    """The form whose columns are all there, in any order; ValueError that names what the nearest form misses."""
    for form in FORMS:
        if set(form.columns) <= set(columns):
            return form
    nearest = max(FORMS, key=lambda form: len(set(form.columns) & set(columns)))
    missing = next(name for name in nearest.columns if name not in columns)
    close = get_close_matches(missing, columns, n=1)
    hint = f"; the nearest is {close[0]!r}" if close else ""
    raise ValueError(f"The header has no column {missing!r}{hint}.")
