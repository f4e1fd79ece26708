"""From files to payouts: forms, dates, amounts, encodings, and a tally in which every row is counted once."""

from __future__ import annotations

import csv
from datetime import date, timedelta
from decimal import Decimal
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples.payments.forms import FORMS, DateForm, read_date, recognise
from examples.payments.payees import account, payee_id, tidy
from examples.payments.payouts import PayoutFile, read_payouts
from examples.payments.register import Invoice, read_register
from examples.payments.seeding import PUBLISHED, SAMPLE, SAMPLE_TENANTS
from examples.payments.table import FileRefused
from examples.payments.tally import FileTally, Source, take
from jobcontract.money import EXPONENTS, show

YESTERDAY = date(2026, 3, 9)
published = pytest.mark.skipif(
    not PUBLISHED.is_dir(), reason="the published files (../shared/data) are not beside this repository"
)


@cache
def sample(name: str) -> PayoutFile:
    """One file of the sample."""
    return read_payouts(name, (SAMPLE / name).read_bytes())


@pytest.mark.parametrize(
    ("text", "form"),
    [("24/12/2010", DateForm.SLASHES), ("24-Dec-2010", DateForm.NAMED_MONTH), ("2010-12-24", DateForm.ISO)],
)
def test_one_date_in_three_forms(text: str, form: DateForm) -> None:
    assert read_date(f" {text} ", form) == date(2010, 12, 24)
    for other in set(DateForm) - {form}:
        with pytest.raises(ValueError, match="is not written like"):
            read_date(text, other)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("31/02/2011", DateForm.SLASHES),
        ("31-Nov-2012", DateForm.NAMED_MONTH),
        ("12/24/2010", DateForm.SLASHES),
        ("01-Mai-2012", DateForm.NAMED_MONTH),
        ("0000-01-01", DateForm.ISO),
    ],
)
def test_a_day_that_the_calendar_does_not_have_is_no_date(text: str, form: DateForm) -> None:
    with pytest.raises(ValueError, match="is not in the calendar"):
        read_date(text, form)


@given(st.dates())
def test_every_day_is_read_back_from_its_iso_form(day: date) -> None:
    assert read_date(day.isoformat(), DateForm.ISO) == day


def test_each_form_is_recognised_by_its_columns_in_any_order() -> None:
    for form in FORMS:
        assert recognise(("one more", *reversed(form.columns))) is form


def test_a_header_of_no_form_is_refused_with_the_column_that_it_lacks() -> None:
    with pytest.raises(FileRefused, match="no column 'NetAmount'; the nearest is 'NettAmount'"):
        read_payouts("x.csv", (SAMPLE / "leeds-2012-11.csv").read_bytes().replace(b" NetAmount ", b"NettAmount"))


ODDITIES = "made-up-oddities.csv"


def test_the_sample_is_about_600_rows_of_every_kind_of_mess() -> None:
    files = {name: sample(name) for name in SAMPLE_TENANTS}
    assert 550 <= sum(file.rows for file in files.values()) <= 700
    assert len({(SAMPLE / name).read_bytes().split(b"\n")[0] for name in files}) == 6
    assert {file.encoding for file in files.values()} == {"utf-8", "windows-1252"}
    reasons = " ".join(row.why for file in files.values() for row in file.unreadable)
    for why in (
        "is not an amount",
        "is not rounded",
        "is not a currency",
        "is not in the calendar",
        "is not written like",
        "payee's name is missing",
        "the amount is zero",
        "transaction number is missing",
        "fields, the header has",
    ):
        assert why in reasons
    assert sum(file.empty for file in files.values()) > 20
    assert {name for name, file in files.items() if not any(payout.money.credit for payout in file.payouts)} == {
        ODDITIES
    }
    assert {payout.money.currency for payout in files["currencies.csv"].payouts} == {"GBP", "USD", "EUR", "JPY", "KWD"}


@pytest.mark.requirement("MONEY-01")
def test_yen_with_a_half_are_unreadable_and_yen_with_zeros_are_taken() -> None:
    file = sample("currencies.csv")
    assert [row.line for row in file.unreadable if "JPY has 0 decimals" in row.why] == [4]
    yen = next(payout for payout in file.payouts if payout.number == "FX-0001")
    assert (yen.money.minor, show(yen.money)) == (1234, "JPY 1,234")


def test_amounts_of_the_files_keep_their_digits_by_decimal_arithmetic() -> None:
    for name in SAMPLE_TENANTS:
        file = sample(name)
        rows = list(csv.reader((SAMPLE / name).read_bytes().decode(file.encoding).splitlines()))
        column = recognise(tuple(cell.strip() for cell in rows[0])).amount
        at = [cell.strip() for cell in rows[0]].index(column)
        for payout in file.payouts:
            written = Decimal(rows[payout.line - 1][at].strip().replace(",", ""))
            assert payout.money.minor == written.scaleb(EXPONENTS[payout.money.currency])


def tallies(names: dict[str, str]) -> tuple[FileTally, ...]:
    """The tallies of sample files, each for its tenant."""
    sources = [Source(tenant=tenant, file=sample(name), capped=False) for name, tenant in names.items()]
    taken, found = take(sources, YESTERDAY, None)
    assert len(taken) == sum(tally.taken for tally in found)
    return found


def test_every_row_of_the_sample_is_counted_once() -> None:
    found = tallies(SAMPLE_TENANTS)
    assert [tally.duplicates for tally in found] == [0, 1, 2, 1, 1, 0]
    for tally in found:
        counted = tally.taken + tally.empty + tally.duplicates + tally.left_out + len(tally.unreadable)
        assert counted == tally.rows


def test_a_tally_that_does_not_add_up_cannot_be_made() -> None:
    with pytest.raises(ValueError, match="9 rows accounted for, 10 read"):
        FileTally(
            tenant="leeds",
            name="x.csv",
            encoding="utf-8",
            rows=10,
            taken=9,
            empty=0,
            duplicates=0,
            left_out=0,
            unreadable=(),
            moved=timedelta(0),
        )


def test_the_newest_date_of_each_file_becomes_yesterday_and_distances_stay() -> None:
    for name in SAMPLE_TENANTS:
        file = sample(name)
        taken, (tally,) = take([Source(tenant="leeds", file=file, capped=False)], YESTERDAY, None)
        assert max(each.created for each in taken) == YESTERDAY
        assert {each.created - each.payout.paid for each in taken} == {tally.moved}
        assert f"dates moved by {tally.moved.days:,} days" in str(tally)


def test_the_same_file_for_another_tenant_is_no_duplicate_and_for_the_same_tenant_wholly() -> None:
    file = sample("leeds-2012-11.csv")
    sources = [Source(tenant=tenant, file=file, capped=False) for tenant in ("leeds", "york", "leeds")]
    _, (first, second, third) = take(sources, YESTERDAY, None)
    assert (first.taken, first.duplicates) == (second.taken, second.duplicates)
    assert (third.taken, third.duplicates) == (0, first.taken + first.duplicates)


def test_a_cap_takes_the_newest_of_the_capped_files_and_counts_what_it_leaves() -> None:
    names = {"leeds-2010-12.csv": "leeds", "leeds-2012-11.csv": "leeds", "currencies.csv": "leeds"}
    capped = ("leeds-2010-12.csv", "leeds-2012-11.csv")
    sources = [Source(tenant="leeds", file=sample(name), capped=name in capped) for name in names]
    everything, _ = take(sources, YESTERDAY, None)
    taken, found = take(sources, YESTERDAY, 50)
    assert sum(tally.taken for tally in found[:2]) == 50
    assert found[2].left_out == 0
    kept = {each.payout.key for each in taken}
    oldest = min(each.created for each in taken if each.payout.file in capped)
    left = [each for each in everything if each.payout.key not in kept]
    assert len(left) == sum(tally.left_out for tally in found)
    assert all(each.created <= oldest for each in left)


def test_payees_are_the_same_whatever_the_case_and_blanks_and_accounts_are_valid_but_nobody_s() -> None:
    assert payee_id("Hall Plant Hire Limited\xa0\xa0") == payee_id(" HALL  plant hire limited")
    assert tidy("Penna Plc\xa0") == "Penna Plc"
    assert account("Penna Plc") != account("Hall Plant Hire Limited")
    iban = account("Penna Plc")
    assert (len(iban), iban[:2], iban[4:8], iban.isalnum()) == (22, "XJ", "DEMO", True)
    assert int("".join(str(int(character, 36)) for character in iban[4:] + iban[:4])) % 97 == 1


def test_the_register_says_which_invoices_are_on_file() -> None:
    register = read_register(b"series,first,last\n1012,10,20\n1012,30,30\n")
    numbers = ("1012-00009", "1012-00010", "1012-00020", "1012-00021", "1012-00030", "1106-00010", "odd")
    on_file = [number for number in numbers if register.invoice(number) is Invoice.ON_FILE]
    assert on_file == ["1012-00010", "1012-00020", "1012-00030"]
    with pytest.raises(ValueError, match="line 3 of the invoice register has 2 fields"):
        read_register(b"series,first,last\n1012,10,20\n1012,30\n")


@cache
def published_file(path: Path) -> PayoutFile:
    """One of the published files."""
    return read_payouts(path.name, path.read_bytes())


@published
@pytest.mark.parametrize(
    ("name", "encoding", "rows", "payouts", "empty", "zero"),
    [
        ("leeds-2010-12.csv", "utf-8", 10_306, 10_303, 3, 0),
        ("leeds-2011-06.csv", "utf-8", 11_707, 9_485, 2_222, 0),
        ("leeds-2012-11.csv", "utf-8", 10_050, 10_050, 0, 0),
        ("leeds-2020-06.csv", "windows-1252", 16_177, 16_174, 1, 2),
    ],
)
def test_the_published_files_are_read_whole(
    name: str, encoding: str, rows: int, payouts: int, empty: int, zero: int
) -> None:
    file = published_file(PUBLISHED / name)
    assert (file.encoding, file.rows, len(file.payouts), file.empty) == (encoding, rows, payouts, empty)
    assert [row.why for row in file.unreadable] == ["the amount is zero: there is nothing to pay"] * zero


@published
def test_no_two_payees_of_the_published_files_share_an_id_or_an_account() -> None:
    names = {
        tidy(payout.payee).casefold()
        for path in sorted(PUBLISHED.glob("leeds-*.csv"))
        for payout in published_file(path).payouts
    }
    assert len({payee_id(name) for name in names}) == len({account(name) for name in names}) == len(names)
