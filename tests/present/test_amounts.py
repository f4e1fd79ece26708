"""Tests of amounts, accounts and totals as they are written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobconsole.present.amounts import account_text, amount_piece, amount_text, doubtful, total_text, totals_text
from jobconsole.present.columns import Tone, width_of
from jobcontract.items import Amount, Payee
from jobcontract.money import EXPONENTS
from tests.present.samples import amount, total


@pytest.mark.requirement("MONEY-01")
@pytest.mark.parametrize(
    ("minor", "currency", "text"),
    [
        (9012613, "GBP", "GBP 90,126.13"),
        (-154522, "GBP", "−GBP 1,545.22"),
        (3702, "JPY", "JPY 3,702"),
        (1250500, "KWD", "KWD 1,250.500"),
        (5, "CLF", "CLF 0.0005"),
    ],
)
def test_each_currency_has_its_own_decimals(minor: int, currency: str, text: str) -> None:
    assert amount_text(amount(minor, currency)) == text


def test_a_credit_has_a_tone_besides_its_sign() -> None:
    assert amount_piece(amount(-1)).tone is Tone.CREDIT
    assert amount_piece(amount(1)).tone is Tone.STRONG
    assert amount_piece(None).text == "–"


@pytest.mark.requirement("MONEY-01")
def test_decimals_in_doubt_are_not_written_as_sure() -> None:
    wrong = Amount(minor=1234, currency="JPY", exponent=2)
    assert amount_text(wrong) == "JPY?1,234"
    assert "2 decimals for JPY, this console 0" in (doubtful("JPY", 2) or "")
    assert amount_text(Amount(minor=-7, currency="XQQ", exponent=2)) == "−XQQ?7"
    assert amount_piece(wrong).tone is Tone.BAD


@given(st.integers(-(2**63) + 1, 2**63 - 1), st.sampled_from(sorted(EXPONENTS)), st.integers(0, 5))
def test_no_amount_is_wider_than_thirty_cells(minor: int, currency: str, exponent: int) -> None:
    assert width_of(amount_text(Amount(minor=minor, currency=currency, exponent=exponent))) <= 30


def test_only_the_last_four_of_an_account_are_written() -> None:
    assert account_text(Payee(id="s", name="n", account_last4="4471")) == "…4471"
    assert account_text(Payee(id="s", name="n", account_last4="12345678")) == "…5678"
    assert account_text(Payee(id="s", name="n", account_last4="\x1b[31m")) == "…[31m"
    assert account_text(None) == ""


def test_totals_keep_out_and_back_apart_and_currencies_too() -> None:
    assert total_text(total("GBP", 231844017, 910233)) == "GBP out 2,318,440.17 back 9,102.33"
    assert total_text(total("JPY", 3702)) == "JPY out 3,702"
    assert total_text(total("GBP", 0, 500)) == "GBP back 5.00"


@pytest.mark.requirement("MONEY-01")
def test_a_sum_past_what_one_amount_can_be_is_written_whole() -> None:
    most = 2**63 - 1
    assert total_text(total("GBP", 2 * most, 2 * most)) == (
        "GBP out 184,467,440,737,095,516.14 back 184,467,440,737,095,516.14"
    )
    assert total_text(total("JPY", most + 1)) == "JPY out 9,223,372,036,854,775,808"


@given(
    st.lists(
        st.tuples(st.sampled_from(sorted(EXPONENTS)), st.integers(1, 10**14)), max_size=6, unique_by=lambda t: t[0]
    ),
    st.integers(0, 200),
)
def test_a_total_is_shown_whole_or_counted(sums: list[tuple[str, int]], width: int) -> None:
    listed = [total(currency, minor) for currency, minor in sums]
    text = totals_text(listed, width)
    assert width_of(text) <= width
    shown = [part for part in text.split(" · ") if part and not part.startswith("+") and " out " in part]
    assert shown == [total_text(found) for found in listed[: len(shown)]]
    if text and len(shown) < len(listed):
        assert f"+{len(listed) - len(shown)}" in text or f"{len(listed)} currenc" in text


def test_the_rest_is_counted_shortly_before_a_total_gives_way() -> None:
    listed = [total("GBP", 7_927_861_224), total("EUR", 2_103_130), total("JPY", 5)]
    assert totals_text(listed, 33) == "GBP out 79,278,612.24 · +2 more"
    assert totals_text(listed, 30) == "GBP out 79,278,612.24 · +2"
    assert totals_text(listed, 25) == "3 currencies"
