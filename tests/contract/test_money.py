"""Amounts are exact in every currency: read, shown, totalled, and never through a float."""

from __future__ import annotations

import ast
import re
from collections import Counter
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobcontract.money import (
    AMOUNT_MAX,
    EXPONENTS,
    MINUS,
    Money,
    MoneyError,
    digits,
    exponent,
    parse_amount,
    show,
    totals,
    typed_amount,
)
from tests.architecture.tree import ROOT, parsed, python_files

CURRENCIES = st.sampled_from(sorted(EXPONENTS))
AMOUNTS = st.integers(-AMOUNT_MAX, AMOUNT_MAX)
MONEY = st.builds(Money, minor=AMOUNTS, currency=CURRENCIES)


@given(MONEY)
def test_what_is_shown_is_read_back_to_the_same_minor_units(money: Money) -> None:
    assert parse_amount(digits(money), money.currency) == money


@given(MONEY)
def test_what_is_shown_is_the_amount_by_decimal_arithmetic(money: Money) -> None:
    shown = Decimal(digits(money).replace(",", "").replace(MINUS, "-"))
    assert shown == Decimal(money.minor).scaleb(-EXPONENTS[money.currency])
    assert -shown.as_tuple().exponent == EXPONENTS[money.currency]  # type: ignore[operator]  # finite, so a number


@given(MONEY)
def test_a_credit_is_marked_before_the_currency_and_digits_come_in_groups_of_three(money: Money) -> None:
    form = rf"{MINUS if money.minor < 0 else ''}{money.currency} \d{{1,3}}(,\d{{3}})*(\.\d{{{EXPONENTS[money.currency]}}})?"
    assert re.fullmatch(form, show(money))
    assert money.credit is (money.minor < 0)


@given(currency=CURRENCIES, whole=st.integers(0, 10**12), part=st.text("0123456789", min_size=1, max_size=8))
def test_decimals_past_the_currency_s_own_are_taken_only_when_they_are_zeros(
    currency: str, whole: int, part: str
) -> None:
    text = f"{whole}.{part}"
    exact = Decimal(text).scaleb(EXPONENTS[currency])
    if exact == exact.to_integral_value():
        assert parse_amount(text, currency).minor == int(exact)
    else:
        with pytest.raises(MoneyError, match="not rounded"):
            parse_amount(text, currency)


@pytest.mark.parametrize(
    ("text", "currency"), [("1.000", "EUR"), ("-12.000", "GBP"), ("5.000", "JPY"), (" 1.000 ", "USD")]
)
def test_what_a_person_types_is_not_taken_for_a_thousandth_of_what_they_mean(text: str, currency: str) -> None:
    with pytest.raises(MoneyError, match="write it so"):
        typed_amount(text, currency)


@pytest.mark.parametrize(
    ("text", "currency"),
    [("1,000.000", "EUR"), ("1.00", "EUR"), ("1.0000", "EUR"), ("1.000", "KWD"), ("1,000", "EUR"), ("1.0", "JPY")],
)
def test_what_can_mean_one_amount_alone_is_read_as_everywhere_else(text: str, currency: str) -> None:
    assert typed_amount(text, currency) == parse_amount(text, currency)


@pytest.mark.requirement("MONEY-01")
def test_yen_have_no_decimals() -> None:
    with pytest.raises(MoneyError, match=r"JPY has 0 decimals; '1234\.50' has more and is not rounded"):
        parse_amount("1234.50", "JPY")
    yen = parse_amount("1234.00", "JPY")
    assert (yen.minor, show(yen)) == (1234, "JPY 1,234")
    total = totals([yen] * 3)[0]
    assert show(Money(minor=total.out_minor, currency=total.currency)) == "JPY 3,702"


@pytest.mark.parametrize(
    ("text", "currency", "shown"),
    [
        ("1234.5", "GBP", "GBP 1,234.50"),
        (" 5,616.65 ", "GBP", "GBP 5,616.65"),
        ("-1,545.22 ", "GBP", f"{MINUS}GBP 1,545.22"),
        ("\N{MINUS SIGN}0.750", "KWD", f"{MINUS}KWD 0.750"),
        ("1,234.567", "KWD", "KWD 1,234.567"),
        ("0.0001", "UYW", "UYW 0.0001"),
        ("+7", "EUR", "EUR 7.00"),
        ("\N{NO-BREAK SPACE}12.00\N{NO-BREAK SPACE}", "EUR", "EUR 12.00"),
        ("-0.00", "EUR", "EUR 0.00"),
    ],
)
def test_amounts_as_the_files_write_them(text: str, currency: str, shown: str) -> None:
    assert show(parse_amount(text, currency)) == shown


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "1.234,50",
        "1,23.45",
        "1,2345",
        "n/a",
        "1e3",
        "0x10",
        "--1",
        "1.",
        ".5",
        "1 234",
        "£1",
        "١٢",
        "NaN",
        "1\n2",
    ],
)
def test_anything_else_is_no_amount(text: str) -> None:
    with pytest.raises(MoneyError, match="is not an amount"):
        parse_amount(text, "GBP")


@pytest.mark.parametrize("currency", ["", "gbp", "GB", "XXX", "XAU", "USDT", "£"])
def test_only_iso_4217_currencies_are_known(currency: str) -> None:
    with pytest.raises(MoneyError, match="is not a currency"):
        exponent(currency)
    with pytest.raises(MoneyError, match="is not a currency"):
        Money(minor=1, currency=currency)


@pytest.mark.parametrize("minor", [1.0, True, "1", None, Decimal(1)])
def test_minor_units_are_whole_numbers_and_nothing_else(minor: object) -> None:
    with pytest.raises(MoneyError, match="whole number of minor units"):
        Money(minor=minor, currency="GBP")  # type: ignore[arg-type]  # the point


def test_an_amount_that_the_database_cannot_keep_is_refused() -> None:
    assert Money(minor=-AMOUNT_MAX, currency="GBP").minor == -AMOUNT_MAX
    for minor in (AMOUNT_MAX + 1, -AMOUNT_MAX - 1):
        with pytest.raises(MoneyError, match="larger than can be kept"):
            Money(minor=minor, currency="GBP")


@given(st.lists(MONEY, max_size=30))
def test_totals_are_by_currency_and_never_net(amounts: list[Money]) -> None:
    found = {total.currency: total for total in totals(amounts)}
    often = Counter(money.currency for money in amounts)
    assert list(found) == sorted(often, key=lambda currency: (-often[currency], currency))
    for currency, total in found.items():
        own = [money.minor for money in amounts if money.currency == currency]
        assert (total.out_minor, total.back_minor) == (
            sum(minor for minor in own if minor >= 0),
            -sum(minor for minor in own if minor < 0),
        )
        assert total.out_count + total.back_count == len(own)


def _mentions_money(node: ast.AST) -> bool:
    words = (getattr(inner, "id", None) or getattr(inner, "attr", None) or "" for inner in ast.walk(node))
    return any(re.search(r"minor|amount|money(?!_version)", word) for word in words)


def _floating(node: ast.AST) -> bool:
    """Whether the node makes a number that is not exact: float(), round(), a true division, a literal with a point."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in ("float", "round")
    if isinstance(node, ast.BinOp | ast.AugAssign):
        return isinstance(node.op, ast.Div)
    return isinstance(node, ast.Constant) and isinstance(node.value, float)


@pytest.mark.xdist_group("tree")  # each file is parsed once
def test_nothing_inexact_stands_where_money_is_handled() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in python_files("src", "examples")
        for statement in ast.walk(parsed(path))
        if isinstance(statement, ast.stmt) and not hasattr(statement, "body") and _mentions_money(statement)
        for node in ast.walk(statement)
        if isinstance(node, ast.expr | ast.AugAssign) and _floating(node)
    ]
    assert found == []


def test_the_module_of_money_knows_no_inexact_number_at_all() -> None:
    tree = parsed(ROOT / "src" / "jobcontract" / "money.py")
    assert [node for node in ast.walk(tree) if _floating(node)] == []
    assert {"float", "Decimal", "round"}.isdisjoint({node.id for node in ast.walk(tree) if isinstance(node, ast.Name)})
