"""Owns the invoice register of the example: for which transaction numbers an invoice is on file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from examples.payments.table import read_table

_NUMBER = re.compile(r"(?P<series>[A-Z0-9]+)-(?P<number>\d{1,9})", re.ASCII)


class Invoice(StrEnum):
    """Whether the invoice of a payout is on file: the input that decides most about it."""

    ON_FILE = "on-file"
    MISSING = "missing"


@dataclass(frozen=True, slots=True, kw_only=True)
class InvoiceRegister:
    """Ranges of transaction numbers, by series (`1012-00042` is number 42 of series 1012), ends included."""

    ranges: Mapping[str, tuple[range, ...]]

    def invoice(self, transaction: str) -> Invoice:
        """Whether the invoice of a transaction is on file."""
        found = _NUMBER.fullmatch(transaction)
        if found is None:
            return Invoice.MISSING
        number = int(found["number"])
        held = any(number in numbers for numbers in self.ranges.get(found["series"], ()))
        return Invoice.ON_FILE if held else Invoice.MISSING


def read_register(content: bytes) -> InvoiceRegister:
    """Read `series,first,last` rows; ValueError or FileRefused where the register is not in order."""
    table = read_table(content, "utf-8")
    if table.unreadable:
        raise ValueError(f"line {table.unreadable[0].line} of the invoice register {table.unreadable[0].why}")
    ranges: dict[str, tuple[range, ...]] = {}
    for row in table.rows:
        series = row.fields["series"]
        held = range(int(row.fields["first"]), int(row.fields["last"]) + 1)
        ranges[series] = (*ranges.get(series, ()), held)
    return InvoiceRegister(ranges=ranges)
