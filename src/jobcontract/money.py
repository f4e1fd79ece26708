"""Owns amounts of money: integer minor units, the ISO 4217 currency with its own exponent, parsing and showing them.

Never uses a float, never a locale, never rounds. Sign, digits and grouping are written the same way everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain

MINUS = "\N{MINUS SIGN}"
AMOUNT_MAX = 2**63 - 1
"""Largest amount of minor units either way (PostgreSQL bigint)."""

_BY_EXPONENT: Mapping[int, str] = {
    0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF",
    2: (
        "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE "
        "CHF CHW CNY COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD "
        "HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP "
        "MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD "
        "SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS "
        "VED VES WST XAD XCD XCG YER ZAR ZMW ZWG"
    ),
    3: "BHD IQD JOD KWD LYD OMR TND",
    4: "CLF UYW",
}
EXPONENTS: Mapping[str, int] = dict(
    chain.from_iterable(((code, exponent) for code in codes.split()) for exponent, codes in _BY_EXPONENT.items())
)
"""ISO 4217 list one: currency code to the number of decimals of its minor unit (funds codes without one left out)."""

_THOUSANDS = 3
"""How many digits stand after a mark that groups thousands."""
_AMOUNT = re.compile(r"(?P<sign>[-+\N{MINUS SIGN}]?)(?P<whole>\d{1,3}(?:,\d{3})+|\d+)(?:\.(?P<part>\d+))?", re.ASCII)


class MoneyError(ValueError):
    """An amount or currency that cannot be accepted; the message says what and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Money:
    """An amount of one currency: `minor` in its minor units (negative = a credit), `currency` an ISO 4217 code."""

    minor: int
    currency: str

    def __post_init__(self) -> None:
        if type(self.minor) is not int:
            raise MoneyError(f"an amount is a whole number of minor units, not {type(self.minor).__name__}")
        if abs(self.minor) > AMOUNT_MAX:
            raise MoneyError("the amount is larger than can be kept")
        exponent(self.currency)

    @property
    def credit(self) -> bool:
        """Whether the money comes back."""
        return self.minor < 0

    def __str__(self) -> str:
        return show(self)


def exponent(currency: str) -> int:
    """How many decimals the minor unit of `currency` has; MoneyError where ISO 4217 does not list the code."""
    try:
        return EXPONENTS[currency]
    except KeyError:
        raise MoneyError(f"{currency!r} is not a currency of ISO 4217 (three capital letters)") from None


def is_amount(text: str) -> bool:
    """Whether `text` has the form of an amount (`1,234.50`, `-7`), whatever its currency."""
    return _AMOUNT.fullmatch(text) is not None


def parse_amount(text: str, currency: str) -> Money:
    """Read `1,234.50`, `-7`, ` 765.00 ` exactly; MoneyError where a digit would be lost.

    Decimals past the currency's own are accepted only when they are zeros: `1234.00` JPY is 1234, `1234.50` JPY is
    refused (case MONEY-01).
    """
    found = _AMOUNT.fullmatch(text.strip())
    if found is None:
        raise MoneyError(f"{text.strip()[:40]!r} is not an amount like 1,234.50")
    decimals = exponent(currency)
    part = found["part"] or ""
    if part[decimals:].strip("0"):
        raise MoneyError(f"{currency} has {decimals} decimals; {text.strip()[:40]!r} has more and is not rounded")
    minor = int(found["whole"].replace(",", "") + part[:decimals].ljust(decimals, "0"))
    return Money(minor=minor if found["sign"] in ("", "+") else -minor, currency=currency)


def typed_amount(text: str, currency: str) -> Money:
    """What a person typed, read as `parse_amount` does; MoneyError also for `1.000` EUR: elsewhere that is a thousand."""
    money = parse_amount(text, currency)
    whole, _, part = text.strip().partition(".")
    if len(part) == _THOUSANDS != exponent(currency) and "," not in whole:
        raise MoneyError(f"{text.strip()!r} may be {whole},{part} or {digits(money)}: write it so")
    return money


def digits(money: Money) -> str:
    """The amount without its currency: `1,234.50`, a true minus sign before a credit."""
    return sum_digits(money.minor, money.currency)


def sum_digits(minor: int, currency: str) -> str:
    """Minor units as `digits` writes them, of any size: a sum of amounts may be larger than an amount can be."""
    decimals = exponent(currency)
    whole, part = divmod(abs(minor), 10**decimals)
    sign = MINUS if minor < 0 else ""
    return f"{sign}{whole:,}" + (f".{part:0{decimals}d}" if decimals else "")


def show(money: Money) -> str:
    """The amount as a person reads it: sign, currency, digits (`−GBP 1,545.22`)."""
    sign = MINUS if money.credit else ""
    return f"{sign}{money.currency} {digits(money).removeprefix(MINUS)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrencyTotal:
    """What goes out and what comes back in one currency, in minor units, each with its count; never netted away."""

    currency: str
    out_minor: int
    out_count: int
    back_minor: int
    back_count: int


def totals(amounts: Iterable[Money]) -> tuple[CurrencyTotal, ...]:
    """One total per currency, that of most amounts first, then by code; no addition across currencies (MONEY-03)."""
    sums: dict[str, list[int]] = {}
    for money in amounts:
        row = sums.setdefault(money.currency, [0, 0, 0, 0])
        at = 2 if money.credit else 0
        row[at] += abs(money.minor)
        row[at + 1] += 1
    return tuple(
        CurrencyTotal(currency=code, out_minor=row[0], out_count=row[1], back_minor=row[2], back_count=row[3])
        for code, row in sorted(sums.items(), key=lambda sum_: (-sum_[1][1] - sum_[1][3], sum_[0]))
    )
