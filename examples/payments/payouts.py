"""Owns turning a published file into payouts: pure, from bytes to values; every row ends in exactly one count."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from examples.payments.forms import Form, read_date, recognise
from examples.payments.payees import payee_id, tidy
from examples.payments.table import FileRefused, Row, Unreadable, read_table
from jobcontract.ids import KEY_MAX, NAME_MAX
from jobcontract.money import Money, MoneyError, parse_amount

ENCODINGS = ("utf-8", "windows-1252")
"""Tried in this order: one of the published files is not UTF-8."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Payout:
    """One payment of a published file. `key` is the business key: payee id and transaction number."""

    key: str
    number: str
    paid: date
    money: Money
    payee: str
    account_of: str
    """The name that its account is made from: the payee's, but for rows that are odd on purpose."""
    purpose: str
    department: str
    file: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PayoutFile:
    """A file read: `rows` = payouts + empty + unreadable."""

    name: str
    encoding: str
    rows: int
    payouts: tuple[Payout, ...]
    empty: int
    unreadable: tuple[Unreadable, ...]


def read_payouts(name: str, content: bytes) -> PayoutFile:
    """Read one file of any known form; FileRefused where nothing of it can be taken."""
    encoding = _encoding(content)
    table = read_table(content, encoding)
    try:
        form = recognise(table.columns)
    except ValueError as error:
        raise FileRefused(str(error)) from None
    payouts: list[Payout] = []
    unreadable = list(table.unreadable)
    for row in table.rows:
        try:
            payouts.append(_payout(name, row, form))
        except ValueError as error:
            unreadable.append(Unreadable(line=row.line, why=str(error)))
    return PayoutFile(
        name=name,
        encoding=encoding,
        rows=len(table.rows) + table.empty + len(table.unreadable),
        payouts=tuple(payouts),
        empty=table.empty,
        unreadable=tuple(sorted(unreadable, key=lambda row: row.line)),
    )


def _encoding(content: bytes) -> str:
    try:
        content.decode(ENCODINGS[0])
    except UnicodeDecodeError:
        return ENCODINGS[1]
    return ENCODINGS[0]


def _payout(name: str, row: Row, form: Form) -> Payout:
    """ValueError (MoneyError is one) with the end of a sentence where a field cannot be read."""
    fields = row.fields
    payee, number = tidy(fields[form.payee]), tidy(fields[form.number])
    if not payee or len(payee) > NAME_MAX:
        raise ValueError("the payee's name is missing" if not payee else "the payee's name is too long")
    if not number or len(number) > KEY_MAX // 2:
        raise ValueError("the transaction number is missing" if not number else "the transaction number is too long")
    currency = "GBP" if form.currency is None else fields[form.currency].strip()
    try:
        money = parse_amount(fields[form.amount], currency)
    except MoneyError as error:
        raise ValueError(f"the amount cannot be taken: {error}") from None
    if money.minor == 0:
        raise ValueError("the amount is zero: there is nothing to pay")
    return Payout(
        key=f"{payee_id(payee)}/{number}",
        number=number,
        paid=read_date(fields[form.date], form.dates),
        money=money,
        payee=payee,
        account_of=payee if form.account is None else tidy(fields[form.account]) or payee,
        purpose=tidy(fields[form.purpose]),
        department=tidy(fields[form.department]),
        file=name,
        line=row.line,
    )
