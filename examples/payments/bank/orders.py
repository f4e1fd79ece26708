"""Owns the message that orders a payment: what it must hold, and the sentence that says what is wrong with it.

Both ends read it here, the program that pays and the bank. Pure: never sends, never books.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from jobcontract.ids import ACCOUNT_LEAST, NAME_MAX, addressable, storable, visible
from jobcontract.money import Money, MoneyError, exponent

KEY_MOST = 400
"""Most characters of an outward key."""
ACCOUNT_MOST = 64
REFERENCE_MOST = 200
"""Most characters of what the payee reads beside the amount."""
MEMBERS = ("key", "minor", "currency", "exponent", "account", "payee", "reference")
"""The members of an order, every one needed."""


class MessageRefused(Exception):
    """A message of which nothing is taken; the text is the sentence that says what is wrong with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PaymentOrder:
    """One payment that the bank is to make; a credit (negative amount) is money that comes back."""

    key: str
    """The outward key: the bank books once for each."""
    money: Money
    account: str = field(repr=False)
    """Destination account; left out of what is printed."""
    payee: str
    reference: str

    def message(self) -> dict[str, object]:
        """The order as it is sent and kept: minor units as they are, with the currency's exponent (MONEY-01)."""
        return {
            "key": self.key,
            "minor": self.money.minor,
            "currency": self.money.currency,
            "exponent": exponent(self.money.currency),
            "account": self.account,
            "payee": self.payee,
            "reference": self.reference,
        }


def parse(content: bytes) -> object:
    """The JSON value of a body; MessageRefused where it is none or where a member stands twice in one object."""
    try:
        return json.loads(content.decode("utf-8"), object_pairs_hook=_members, parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise MessageRefused("The body is not JSON in UTF-8.") from None


def read_order(message: object) -> PaymentOrder:
    """The order in a message; MessageRefused names the first member that is wrong, never an account."""
    members = members_of(message, needed=MEMBERS, what="An order")
    return PaymentOrder(
        key=key_of(members["key"]),
        money=money_of(members),
        account=account_of(members["account"]),
        payee=text_of(members["payee"], "payee", most=NAME_MAX),
        reference=text_of(members["reference"], "reference", most=REFERENCE_MOST),
    )


def members_of(message: object, *, needed: Sequence[str], what: str, may: Sequence[str] = ()) -> Mapping[str, object]:
    """The members of an object that has all of `needed` and, besides, only some of `may`; else MessageRefused."""
    if not isinstance(message, dict):
        raise MessageRefused(f"{what} is a JSON object.")
    for name in needed:
        if name not in message:
            raise MessageRefused(f"{what} needs the member {name!r}.")
    for name in message:
        if name not in needed and name not in may:
            raise MessageRefused(f"{what} has no member {str(name)[:40]!r}; it has {', '.join((*needed, *may))}.")
    return message


def text_of(value: object, name: str, *, most: int) -> str:
    """A text that a person can see, of at most `most` characters; else MessageRefused."""
    if not isinstance(value, str) or len(value) > most or not storable(value) or not visible(value):
        raise MessageRefused(f"`{name}` is a text of 1 to {most} characters that shows something.")
    return value


def whole_of(value: object, name: str) -> int:
    """A whole number, not `1.0` and not `true`; else MessageRefused."""
    if type(value) is not int:
        raise MessageRefused(f"`{name}` is a whole number, like 123450.")
    return value


def account_of(value: object) -> str:
    """An account by its form; else MessageRefused, which does not repeat it."""
    if not isinstance(value, str) or not (ACCOUNT_LEAST <= len(value) <= ACCOUNT_MOST):
        raise MessageRefused(f"`account` is {ACCOUNT_LEAST} to {ACCOUNT_MOST} letters and digits.")
    if not (value.isascii() and value.isalnum()):
        raise MessageRefused("`account` has letters A to Z and digits alone, no blanks and no dashes.")
    return value


def key_of(value: object) -> str:
    """A key that can stand in an address; else MessageRefused."""
    key = text_of(value, "key", most=KEY_MOST)
    if not addressable(key):
        raise MessageRefused("`key` has no control characters, and no `.` or `..` between slashes.")
    return key


def money_of(members: Mapping[str, object]) -> Money:
    """An amount of `minor`, `currency` and `exponent`, not zero; else MessageRefused."""
    minor = whole_of(members["minor"], "minor")
    currency = members["currency"]
    if not isinstance(currency, str):
        raise MessageRefused("`currency` is a code of ISO 4217, like GBP.")
    try:
        money = Money(minor=minor, currency=currency)
        decimals = exponent(currency)
    except MoneyError as error:
        raise MessageRefused(f"The amount cannot be taken: {error}.") from None
    if whole_of(members["exponent"], "exponent") != decimals:
        raise MessageRefused(
            f"`exponent` of {currency} is {decimals}: the amount may mean another sum, nothing is booked."
        )
    if minor == 0:
        raise MessageRefused("The amount is zero: there is nothing to pay.")
    return money


def _members(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise MessageRefused("A member stands twice in one object; nobody can say which one counts.")
    return members


def _no_number(name: str) -> object:
    raise ValueError(f"{name} is no number of JSON")
