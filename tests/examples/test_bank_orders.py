"""What the bank takes for an order, and the sentence where it does not."""

from __future__ import annotations

import pytest

from examples.payments.bank.orders import MessageRefused, parse, read_order
from tests.examples.bank import ACCOUNT, an_order


@pytest.mark.requirement("MONEY-01")
@pytest.mark.parametrize(
    ("minor", "currency", "exponent"),
    [(3_702, "JPY", 0), (1_234, "KWD", 3), (-154_522, "GBP", 2), (2**63 - 1, "CLF", 4)],
)
def test_minor_units_travel_as_they_are(minor: int, currency: str, exponent: int) -> None:
    order = an_order(minor=minor, currency=currency)
    message = order.message()
    assert (message["minor"], message["exponent"]) == (minor, exponent)
    assert read_order(message) == order


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"minor": 1.5}, "`minor` is a whole number, like 123450."),
        ({"minor": 3702.0}, "`minor` is a whole number, like 123450."),
        ({"minor": True}, "`minor` is a whole number, like 123450."),
        ({"minor": "100"}, "`minor` is a whole number, like 123450."),
        ({"minor": 0}, "The amount is zero: there is nothing to pay."),
        ({"minor": 2**63}, "The amount cannot be taken: the amount is larger than can be kept."),
        (
            {"currency": "GBX"},
            "The amount cannot be taken: 'GBX' is not a currency of ISO 4217 (three capital letters).",
        ),
        ({"currency": None}, "`currency` is a code of ISO 4217, like GBP."),
        (
            {"currency": "JPY"},
            "`exponent` of JPY is 0: the amount may mean another sum, nothing is booked.",
        ),
        ({"exponent": True}, "`exponent` is a whole number, like 123450."),
        ({"account": "1234"}, "`account` is 8 to 64 letters and digits."),
        ({"account": f"{ACCOUNT} "}, "`account` has letters A to Z and digits alone, no blanks and no dashes."),
        ({"payee": "\u2800"}, "`payee` is a text of 1 to 200 characters that shows something."),
        ({"payee": "a\x00"}, "`payee` is a text of 1 to 200 characters that shows something."),
        ({"reference": "a\ud800"}, "`reference` is a text of 1 to 200 characters that shows something."),
        ({"key": "a/../b"}, "`key` has no control characters, and no `.` or `..` between slashes."),
        ({"key": "k" * 401}, "`key` is a text of 1 to 400 characters that shows something."),
        (
            {"amount": 1},
            "An order has no member 'amount'; it has key, minor, currency, exponent, account, payee, reference.",
        ),
    ],
)
def test_a_wrong_order_is_named(wrong: dict[str, object], sentence: str) -> None:
    with pytest.raises(MessageRefused) as refused:
        read_order(an_order().message() | wrong)
    assert str(refused.value) == sentence


def test_a_missing_member_is_named() -> None:
    message = an_order().message()
    del message["payee"]
    with pytest.raises(MessageRefused, match=r"^An order needs the member 'payee'\.$"):
        read_order(message)
    with pytest.raises(MessageRefused, match=r"^An order is a JSON object\.$"):
        read_order([])


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b'{"minor": NaN}', b"[" * 100_000, b"9" * 5_000])
def test_what_is_no_json_is_refused(body: bytes) -> None:
    with pytest.raises(MessageRefused, match=r"^The body is not JSON in UTF-8\.$"):
        parse(body)


def test_a_member_that_stands_twice_is_refused() -> None:
    with pytest.raises(MessageRefused, match="stands twice"):
        parse(b'{"minor": 1, "minor": 100}')


def test_an_order_that_is_printed_hides_the_account() -> None:
    assert ACCOUNT not in repr(an_order())
