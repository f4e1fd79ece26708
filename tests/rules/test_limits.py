"""Limits by currency: what goes out, at the limit and one minor unit past it; which of several is told first."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jobcontract.states import ConfirmMethod
from jobservice.rules.bulk import BulkCommand, Limits
from jobservice.rules.limits import AccountSum, Going, Sum, day_most, exceeded, is_free

pytestmark = pytest.mark.requirement("MONEY-10")

LIMITS = Limits(
    item={"GBP": 1_000, "JPY": 50},
    plan={"GBP": 3_000, "JPY": 500},
    person={"GBP": 5_000, "JPY": 900},
    account={"GBP": 2_000, "JPY": 400},
    person_count=10,
    account_count=4,
)
NOTHING = Sum(minor=0, count=0)


def account(planned: int = 1_000, items: int = 2, *, used: Sum = NOTHING) -> AccountSum:
    return AccountSum(last4="1234", used=used, planned=Sum(minor=planned, count=items))


AT_THE_LIMITS = Going(
    currency="GBP",
    planned=Sum(minor=3_000, count=6),
    largest=1_000,
    used=Sum(minor=2_000, count=4),
    accounts=(account(used=Sum(minor=1_000, count=2)),),
)


def test_exactly_the_limit_is_within_it() -> None:
    assert exceeded(LIMITS, [AT_THE_LIMITS]) is None


@pytest.mark.parametrize(
    ("change", "limit", "figures", "words"),
    [
        ({"currency": "EUR"}, "currency", (0, 3_000, 0), "There is no limit for EUR"),
        ({"largest": 1_001}, "item", (0, 1_001, 1_000), "GBP 10.01; one item may be GBP 10.00 at most."),
        ({"planned": Sum(minor=3_001, count=6)}, "plan", (0, 3_001, 3_000), "one plan may send GBP 30.00 at most."),
        (
            {"used": Sum(minor=2_001, count=4)},
            "person",
            (2_001, 5_001, 5_000),
            "You released GBP 20.01 in the last 24 hours; with this plan it would be GBP 50.01, and a person may "
            "release GBP 50.00 at most.",
        ),
        ({"used": Sum(minor=2_000, count=5)}, "person-count", (5, 11, 10), "it would be 11, and a person may"),
        (
            {"accounts": (account(), account(1_001, used=Sum(minor=1_000, count=1)))},
            "account",
            (1_000, 2_001, 2_000),
            "To the account …1234 there went GBP 10.00",
        ),
        ({"accounts": (account(10, 5),)}, "account-count", (0, 5, 4), "one account may get 4 at most."),
    ],
)
def test_one_past_a_limit_names_it_with_its_figures(
    change: dict[str, object], limit: str, figures: tuple[int, int, int], words: str
) -> None:
    found = exceeded(LIMITS, [replace(AT_THE_LIMITS, **change)])  # type: ignore[arg-type]  # fields of the class
    assert found is not None
    assert (found.limit, (found.used, found.would_be, found.most)) == (limit, figures)
    assert words in found.sentence
    assert found.members()["limit"] == limit


def test_currencies_are_told_by_code_and_never_added_up() -> None:
    yen = replace(AT_THE_LIMITS, currency="JPY", largest=51, planned=Sum(minor=51, count=1), used=NOTHING)
    pounds = replace(AT_THE_LIMITS, largest=1_001)
    found = exceeded(LIMITS, [yen, pounds])
    assert found is not None
    assert found.currency == "GBP"
    found = exceeded(LIMITS, [yen, AT_THE_LIMITS])
    assert found is not None
    assert found.sentence == "The largest item is JPY 51; one item may be JPY 50 at most."


def command(**more: object) -> BulkCommand:
    values: dict[str, object] = {
        "id": "t.many",
        "title": "Many",
        "queue": "t.q",
        "use_case": "t.u",
        "confirm_by": ConfirmMethod.TOTP,
        "limits": LIMITS,
        "uncertain": "t.uncertain",
    }
    return BulkCommand(**{**values, **more})  # type: ignore[arg-type]  # fields of the class


@pytest.mark.requirement("MONEY-2")
@pytest.mark.parametrize(
    ("count", "gross", "freed", "free"),
    [
        (0, {}, NOTHING, False),
        (2, {"GBP": 500}, NOTHING, True),
        (2, {"GBP": 500}, Sum(minor=400, count=1), True),
        (2, {"GBP": 500}, Sum(minor=401, count=1), False),
        (2, {"GBP": 500}, Sum(minor=0, count=2), False),
        (2, {"EUR": 500}, NOTHING, False),
    ],
)
def test_a_single_is_free_within_count_and_gross_and_never_as_shipped(
    count: int, gross: dict[str, int], freed: Sum, free: bool
) -> None:
    one = replace(AT_THE_LIMITS, planned=Sum(minor=100, count=1))
    assert is_free(command(free_count=count, free_gross=gross), one, freed) is free


def test_the_least_of_several_commands_is_what_a_person_may() -> None:
    tight = command(limits=replace(LIMITS, person={"GBP": 7}, item={"GBP": 7}, person_count=3))
    assert day_most([command(), tight], "GBP") == Sum(minor=7, count=3)
    assert day_most([command(), tight], "JPY") == Sum(minor=900, count=10)
    assert day_most([command()], "EUR") is None
