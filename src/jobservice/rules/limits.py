"""Owns whether a plan keeps within the limits of its command: by currency, and only what goes out (MONEY.md 10).

Pure: sums in, the first limit that it breaks out. Never nets, never adds across currencies; an account is never told
whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from jobcontract.money import EXPONENTS, sum_digits
from jobservice.rules.bulk import BulkCommand, Limits

DAY = "in the last 24 hours"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sum:
    """What goes out: minor units of one currency, and how many items."""

    minor: int
    count: int

    def __add__(self, other: Sum) -> Sum:
        return Sum(minor=self.minor + other.minor, count=self.count + other.count)


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountSum:
    """What a plan sends to one destination account, beside what went there in the 24 hours before."""

    last4: str
    used: Sum
    planned: Sum


@dataclass(frozen=True, slots=True, kw_only=True)
class Going:
    """What a plan sends out in one currency, beside what its owner sent in the 24 hours before.

    `accounts`: at least the one that would have most money, and the one that would have most items.
    """

    currency: str
    planned: Sum
    largest: int
    """The largest item, in minor units."""
    used: Sum
    accounts: tuple[AccountSum, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Exceeded:
    """The limit that would be broken: which, in which currency, what is used, what would be, what may be."""

    limit: str
    """`currency`, `item`, `plan`, `person`, `person-count`, `account` or `account-count`."""
    currency: str
    used: int
    would_be: int
    most: int
    sentence: str

    def members(self) -> Mapping[str, object]:
        """As members of a problem."""
        return {
            "limit": self.limit,
            "currency": self.currency,
            "used": self.used,
            "would_be": self.would_be,
            "most": self.most,
        }


def exceeded(limits: Limits, going: Iterable[Going]) -> Exceeded | None:
    """The first limit that is broken: currencies by code; item, plan, person, account; None where none is.

    A sum that is exactly the limit is within it. A currency without limits is refused.
    """
    for each in sorted(going, key=lambda one: one.currency):
        found = _of_currency(limits, each)
        if found is not None:
            return found
    return None


def _of_currency(limits: Limits, going: Going) -> Exceeded | None:
    currency = going.currency
    if currency not in limits.currencies:
        return Exceeded(
            limit="currency",
            currency=currency,
            used=0,
            would_be=going.planned.minor,
            most=0,
            sentence=f"There is no limit for {currency}, so nothing may go out in it.",
        )
    return (
        _item(limits, going)
        or _plan(limits, going)
        or _person(limits, going)
        or next(filter(None, (_account(limits, currency, account) for account in going.accounts)), None)
    )


def _item(limits: Limits, going: Going) -> Exceeded | None:
    most = limits.item[going.currency]
    if going.largest <= most:
        return None
    words = f"The largest item is {amount(going.largest, going.currency)}; one item may be"
    return _broken("item", going.currency, 0, going.largest, most, words)


def _plan(limits: Limits, going: Going) -> Exceeded | None:
    most, planned = limits.plan[going.currency], going.planned.minor
    if planned <= most:
        return None
    words = f"The plan sends out {amount(planned, going.currency)}; one plan may send"
    return _broken("plan", going.currency, 0, planned, most, words)


def _person(limits: Limits, going: Going) -> Exceeded | None:
    return _rolling(
        "person",
        going.currency,
        going.used,
        going.planned,
        Sum(minor=limits.person[going.currency], count=limits.person_count),
        ("You released", "a person may release"),
    )


def _account(limits: Limits, currency: str, account: AccountSum) -> Exceeded | None:
    return _rolling(
        "account",
        currency,
        account.used,
        account.planned,
        Sum(minor=limits.account[currency], count=limits.account_count),
        (f"To the account …{account.last4} there went", "one account may get"),
    )


def _rolling(limit: str, currency: str, used: Sum, planned: Sum, most: Sum, words: tuple[str, str]) -> Exceeded | None:
    """The gross first, then the count."""
    begins, may = words
    would_be = used + planned
    if would_be.minor > most.minor:
        told = f"{begins} {amount(used.minor, currency)} {DAY}; with this plan it would be "
        told += f"{amount(would_be.minor, currency)}, and {may}"
        return _broken(limit, currency, used.minor, would_be.minor, most.minor, told)
    if would_be.count > most.count:
        told = f"{begins} {used.count:,} items of {currency} {DAY}; with this plan it would be {would_be.count:,}, "
        return Exceeded(
            limit=f"{limit}-count",
            currency=currency,
            used=used.count,
            would_be=would_be.count,
            most=most.count,
            sentence=f"{told}and {may} {most.count:,} at most.",
        )
    return None


def _broken(limit: str, currency: str, used: int, would_be: int, most: int, words: str) -> Exceeded:
    return Exceeded(
        limit=limit,
        currency=currency,
        used=used,
        would_be=would_be,
        most=most,
        sentence=f"{words} {amount(most, currency)} at most.",
    )


def amount(minor: int, currency: str) -> str:
    """A sum of what goes out as a person reads it; of a currency that ISO 4217 does not list, in minor units."""
    if currency not in EXPONENTS:
        return f"{currency} {minor:,} minor units"
    return f"{currency} {sum_digits(minor, currency)}"


def is_free(command: BulkCommand, going: Going, freed: Sum) -> bool:
    """Whether a plan of one item needs no code: the setting frees so many, and so much, a person in 24 hours.

    `freed`: what was freed in the 24 hours before, of the currency (MONEY.md 2). The setting ships as zero.
    """
    would_be = freed + going.planned
    return would_be.count <= command.free_count and would_be.minor <= command.free_gross.get(going.currency, 0)


def day_most(commands: Iterable[BulkCommand], currency: str) -> Sum | None:
    """What a person may release of `currency` in 24 hours by any command: the least where several say so; None where
    none has limits for it."""
    said = [command.limits for command in commands if currency in command.limits.currencies]
    if not said:
        return None
    return Sum(minor=min(limits.person[currency] for limits in said), count=min(limits.person_count for limits in said))
