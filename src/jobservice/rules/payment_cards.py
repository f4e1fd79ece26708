"""Owns telling the number of a payment card from other numbers (ISO/IEC 7812: who issues, how long, a check digit).

Pure. One in ten numbers has a check digit that is right by chance, so the beginning, the length and the groups have to be
those of a card too, and what says that it is something else is believed: a sign before it, letters that it hangs on, a valid
account number (ISO 13616), a valid article or shipment number (GS1).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_ISSUED = re.compile(
    r"4(?:[0-24-8]\d{11}|\d{15}|\d{18})"  # Visa; 13 digits that begin with 43 or 49 are phones, cards so short are long gone
    r"|(?:5[1-5]\d\d|222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12}"  # Mastercard
    r"|3[47]\d{13}"  # American Express
    r"|(?:30[0-5]|3095|36\d|3[89]\d)\d{11,16}"  # Diners Club
    r"|(?:6011|64[4-9]\d|65\d\d)\d{12,15}"  # Discover
    r"|35(?:2[89]|[3-8]\d)\d{12,15}"  # JCB
    r"|(?:62|81)\d{14,17}"  # UnionPay
    r"|(?:50|5[6-8]|6[0-9])\d{14,17}"  # Maestro and those of single countries
    r"|220[0-4]\d{12,15}|9792\d{12}",  # Mir, Troy
    re.ASCII,
)
_GROUPED = r"(?:\d{4}([ -])\d{4}\1\d{4}\1\d{1,4}(?:\1\d{1,3})?|\d{4}([ -])\d{6}\2\d{4,5}|\d{6}([ -])\d{13})"
_NUMBER = re.compile(
    rf"(?<!\d)(?<!\d[.,])(?:\d{{13,19}}|{_GROUPED})(?![A-Za-z_]|[.,]?\d)(?!(?:[ -]\d{{4}}){{2}})", re.ASCII
)
_HANGS = re.compile(r"(?:\+|[A-Za-z_][-_/#]?|\d-)\Z", re.ASCII)
"""Before the number of something else: `+49…`, `INV-…`, `cus_…`."""
_CARD_WORD = re.compile(
    r"(?:card|pan|cc|visa|master ?card|amex|maestro|discover|karte|carte)[-_/#]?\Z", re.ASCII | re.IGNORECASE
)
_ACCOUNT = re.compile(r"(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}(?![A-Za-z0-9])", re.ASCII)
_GS1_LENGTHS = frozenset({13, 14, 18})


def card_in(text: str) -> bool:
    """Whether a text holds the number of a payment card, whole, or in the groups that are on cards."""
    return any(_issued(digits) for digits in _numbers(_without_accounts(text)))


def _numbers(text: str) -> Iterator[str]:
    """The digits of each number that may be one of a card and hangs on nothing that says otherwise; of groups also without the
    last, which may be when it expires."""
    for found in _NUMBER.finditer(text):
        before = text[max(0, found.start() - 12) : found.start()]
        if not _HANGS.search(before) or _CARD_WORD.search(before):
            groups = re.split("[ -]", found[0])
            yield "".join(groups)
            yield "".join(groups[:-1])


def _issued(digits: str) -> bool:
    if not (13 <= len(digits) <= 19 and _ISSUED.fullmatch(digits) and _luhn(digits)):
        return False
    return not (len(digits) in _GS1_LENGTHS and _weighted_by_three(digits))


def _luhn(digits: str) -> bool:
    """Whether the last digit is the check digit of ISO/IEC 7812-1, annex B."""
    doubled = (int(digit) * (1 + place % 2) for place, digit in enumerate(reversed(digits)))
    return sum(value - 9 if value > 9 else value for value in doubled) % 10 == 0


def _weighted_by_three(digits: str) -> bool:
    """Whether the last digit is the check digit of GS1's numbers."""
    return sum(int(digit) * (1 + place % 2 * 2) for place, digit in enumerate(reversed(digits))) % 10 == 0


def _without_accounts(text: str) -> str:
    """The text without its valid international account numbers, whose groups of digits are no cards."""
    return _ACCOUNT.sub(lambda found: " " if _account(found[0].replace(" ", "")) else found[0], text)


def _account(iban: str) -> bool:
    return int("".join(str(int(sign, 36)) for sign in iban[4:] + iban[:4])) % 97 == 1
