"""Owns reading amounts of money out of records: currencies of ISO 4217, amounts between quotes, exact, never rounded."""

from __future__ import annotations

from jobcontract.money import EXPONENTS, Money, MoneyError, typed_amount
from jobservice.records.forms import Form

AMOUNT_MOST = 40
"""Most characters of an amount."""


def is_currency(form: Form, field: str, currency: str, line: int) -> bool:
    """Whether ISO 4217 lists it; a finding where it does not. `field` is what the sentence says it stands in."""
    if currency in EXPONENTS:
        return True
    known = currency.upper() in EXPONENTS
    hint = f" Did you mean `{currency.upper()}`?" if known else " It is three capital letters, such as EUR."
    form.found("field-invalid", line, f"`{field}`: {currency[:40]!r} is not a currency of ISO 4217.{hint}")
    return False


def read_amount(form: Form, name: str, line: int, field: str, currency: str) -> Money | None:
    """The amount that stands under `name`; None after a finding."""
    text = form.text(name, most=AMOUNT_MOST)
    if text is None:
        return None
    try:
        return typed_amount(text, currency)
    except MoneyError as error:
        form.found("field-invalid", line, f"`{field}`: {error}.")
        return None
