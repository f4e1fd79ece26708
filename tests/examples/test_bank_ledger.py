"""The bank's ledger: one line a booking, on the disk before it is told, read back whole or refused."""

from __future__ import annotations

import json
import os
import stat
from datetime import timedelta
from pathlib import Path

import pytest

from examples.payments.bank.files import FileLine, FileOrder, FileRefused, Settlement
from examples.payments.bank.ledger import Booking, FileKeyTaken, KeyTaken, LedgerRefused, Refused
from tests.examples.bank import NOW, a_ledger, an_order


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the ledger is."""
    return tmp_path / "ledger.jsonl"


def test_a_ledger_is_read_back_as_it_was_written(path: Path) -> None:
    ledger = a_ledger(path)
    first, _ = ledger.book(an_order("a"))
    second, _ = ledger.refuse(an_order("b", 7, "KWD"), "Account closed.")
    third, _ = ledger.book(an_order("c", -3_702, "JPY", payee="Zoë 株式会社"))
    ledger.close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [json.loads(line) for line in path.read_bytes().splitlines()][2] == third.message()
    again = a_ledger(path)
    assert again.entries() == (first, second, third)
    assert again.dropped is None
    assert again.book(an_order("d"))[0] == Booking(order=an_order("d"), reference="BK-000003", at=NOW)
    again.close()


def test_under_a_refused_key_other_content_is_looked_at_anew_and_a_booking_ends_that(path: Path) -> None:
    ledger = a_ledger(path)
    ledger.refuse(an_order("a"), "Account closed.")
    second, repeated = ledger.refuse(an_order("a", 2), "Closed, too.")
    assert (repeated, ledger.find("a")) == (False, second)
    booked, repeated = ledger.book(an_order("a", 3))
    assert (repeated, ledger.find("a")) == (False, booked)
    for other in (an_order("a"), an_order("a", 2), an_order("a", 4)):
        with pytest.raises(KeyTaken):
            ledger.book(other)
        with pytest.raises(KeyTaken):
            ledger.refuse(other, "No.")
    ledger.close()
    again = a_ledger(path)
    assert [entry.order.money.minor for entry in again.entries()] == [154_522, 2, 3]
    assert again.book(an_order("a", 3)) == (booked, True)
    again.close()


def test_a_key_keeps_its_first_entry(path: Path) -> None:
    ledger = a_ledger(path)
    booked, repeated = ledger.book(an_order("a"))
    assert not repeated
    assert ledger.book(an_order("a")) == (booked, True)
    assert ledger.refuse(an_order("a"), "Too late.") == (booked, True)
    with pytest.raises(KeyTaken) as taken:
        ledger.book(an_order("a", 1))
    assert taken.value.entry == booked
    refusal, _ = ledger.refuse(an_order("b"), "No.")
    assert ledger.book(an_order("b")) == (refusal, True)
    assert isinstance(refusal, Refused)
    assert len(path.read_bytes().splitlines()) == 2
    ledger.close()


def test_a_torn_last_line_is_dropped_and_said(path: Path) -> None:
    ledger = a_ledger(path)
    ledger.book(an_order("a"))
    ledger.book(an_order("b"))
    ledger.close()
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    path.chmod(0o644)
    again = a_ledger(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert again.dropped is not None
    assert f"{path} ended inside line 2; its" in again.dropped
    assert again.find("b") is None
    again.book(an_order("b"))
    again.close()
    assert path.read_bytes() == whole


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda lines: [lines[0][:20] + b"\n", *lines[1:]], "Line 1 of the ledger {path} cannot be read: The body"),
        (lambda lines: [*lines, lines[0]], "Line 3 of the ledger {path} has a key that an earlier line has."),
        (lambda lines: lines[1:], "Line 1 of the ledger {path} is not the next booking: a line is missing."),
        (
            lambda lines: [lines[0].replace(b"2026-03-10T", b"yesterday"), *lines[1:]],
            "Line 1 of the ledger {path} cannot be read: `booked_at` is not an instant.",
        ),
    ],
)
def test_a_ledger_that_was_changed_is_refused(path: Path, change: object, sentence: str) -> None:
    ledger = a_ledger(path)
    ledger.book(an_order("a"))
    ledger.book(an_order("b"))
    ledger.close()
    assert callable(change)
    changed = b"".join(change(path.read_bytes().splitlines(keepends=True)))
    path.write_bytes(changed)
    with pytest.raises(LedgerRefused) as refused:
        a_ledger(path)
    assert str(refused.value).startswith(sentence.format(path=path))
    assert path.read_bytes() == changed


def test_a_ledger_has_one_bank(path: Path) -> None:
    ledger = a_ledger(path)
    with pytest.raises(LedgerRefused, match="Another bank writes the ledger"):
        a_ledger(path)
    ledger.close()
    a_ledger(path).close()


def test_a_ledger_is_a_plain_file_that_can_be_opened(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    for wrong in (tmp_path, tmp_path / "link", tmp_path / "none" / "ledger"):
        with pytest.raises(LedgerRefused, match=f"^The ledger {wrong} cannot be opened"):
            a_ledger(wrong)


@pytest.mark.parametrize("call", ["fsync", "write"])
def test_what_the_disk_did_not_take_is_told_to_nobody(path: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    ledger = a_ledger(path)
    ledger.book(an_order("a"))

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, call, full)
    with pytest.raises(LedgerRefused, match="No space left on device"):
        ledger.book(an_order("b"))
    monkeypatch.undo()
    for key in ("b", "c"):
        with pytest.raises(LedgerRefused, match="until the bank is started again"):
            ledger.book(an_order(key))
    assert ledger.find("a") is not None
    ledger.close()


def test_a_line_is_on_the_disk_before_it_is_told(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = a_ledger(path)
    flushed: list[int] = []
    flush = os.fsync

    def watched(file: int) -> None:
        flush(file)
        flushed.append(path.stat().st_size)

    monkeypatch.setattr(os, "fsync", watched)
    for number in range(3):
        ledger.book(an_order(str(number)))
        assert flushed[-1] == path.stat().st_size
        assert len(flushed) == number + 1
    ledger.close()


def a_file(key: str = "f", *keys: str) -> FileOrder:
    """A file of payments as `an_order` makes them."""
    return FileOrder(key=key, lines=tuple(FileLine(key=each, money=an_order().money) for each in keys or ("a", "b")))


def test_files_are_read_back_and_settle_each_booking_once(path: Path) -> None:
    ledger = a_ledger(path)
    refused, _ = ledger.settle(a_file())
    assert (type(refused), ledger.find_file("f")) == (FileRefused, refused)
    for key in ("a", "b", "c"):
        ledger.book(an_order(key))
    settled, repeated = ledger.settle(a_file(), late=60)
    assert (repeated, settled) == (
        False,
        Settlement(order=a_file(), reference="ST-000001", at=NOW, acknowledged_at=NOW + timedelta(seconds=60)),
    )
    assert ledger.settle(a_file()) == ledger.refuse_file(a_file(), "No.") == (settled, True)
    for other in (a_file("f", "a"), a_file("f", "b", "a")):
        with pytest.raises(FileKeyTaken):
            ledger.settle(other)
        with pytest.raises(FileKeyTaken):
            ledger.refuse_file(other, "No.")
    ledger.close()
    again = a_ledger(path)
    assert again.files() == (settled,)
    twice, _ = again.settle(a_file("g", "c", "b"))
    assert isinstance(twice, FileRefused)
    assert twice.reason == "Line 2: booking BK-000002 was settled by ST-000001."
    third, _ = again.settle(a_file("h", "c"))
    assert isinstance(third, Settlement)
    assert third.reference == "ST-000002"
    again.close()


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (2, "the next settlement of what was booked"),  # its bookings are not there
        (4, "a file that an earlier line settled"),
    ],
)
def test_a_ledger_whose_files_do_not_add_up_is_refused(path: Path, line: int, why: str) -> None:
    ledger = a_ledger(path)
    for key in ("a", "b"):
        ledger.book(an_order(key))
    ledger.settle(a_file())
    ledger.close()
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([lines[0], lines[2]] if line == 2 else [*lines, lines[2]]))
    with pytest.raises(LedgerRefused, match=f"Line {line} .* {why}"):
        a_ledger(path)
