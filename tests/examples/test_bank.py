"""The bank over HTTP: a payment is booked once for its key, looked up by it, and the ledger adds up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest

from examples.payments.bank.server import BankServer, NoListener
from examples.payments.bank.teller import Teller
from tests.examples.bank import ACCOUNT, NOW, RunningBank, an_order, bank_on_a_thread


@pytest.fixture
def bank(tmp_path: Path) -> Iterator[RunningBank]:
    """A bank with an empty ledger."""
    with bank_on_a_thread(tmp_path / "ledger.jsonl") as running:
        yield running


def test_a_payment_is_booked_and_its_repetition_answered_alike(bank: RunningBank) -> None:
    first, again = bank.pay(), bank.pay()
    told = {"booking": "BK-000001", "booked_at": NOW.isoformat(), "key": "leeds/1"}
    assert (first.status_code, first.json()) == (201, {**told, "repeated": False})
    assert (again.status_code, again.json()) == (200, {**told, "repeated": True})
    assert bank.booked == ["leeds/1"]


@pytest.mark.parametrize(
    "other",
    [{"minor": 154_523}, {"account": f"{ACCOUNT}5"}, {"payee": "Acme"}, {"currency": "EUR"}, {"reference": "other"}],
)
def test_a_key_with_other_content_books_nothing(bank: RunningBank, other: dict[str, object]) -> None:
    bank.pay()
    answer = bank.pay(None, **other)
    assert answer.status_code == 409
    assert answer.json() == {
        "error": "A payment with other content was booked under this key; nothing was booked now.",
        "booking": "BK-000001",
        "booked_at": NOW.isoformat(),
        "key": "leeds/1",
        "repeated": True,
    }
    assert [booking["minor"] for booking in bank.ledger()["bookings"]] == [154_522]


@pytest.mark.requirement("BULK-04")
def test_twenty_equal_requests_at_once_book_once(bank: RunningBank) -> None:
    def pay(number: int) -> httpx.Response:
        return bank.pay()

    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(pay, range(20)))
    assert Counter(answer.status_code for answer in answers) == {201: 1, 200: 19}
    assert {answer.json()["booking"] for answer in answers} == {"BK-000001"}
    ledger = bank.ledger()
    assert len(ledger["bookings"]) == 1
    assert ledger["deliveries"] == {"leeds/1": 20}


def test_different_requests_at_once_are_each_booked(bank: RunningBank) -> None:
    def pay(number: int) -> str:
        return str(bank.pay(an_order(f"k{number}")).json()["booking"])

    with ThreadPoolExecutor(10) as pool:
        booked = list(pool.map(pay, range(40)))
    assert sorted(booked) == [f"BK-{number:06d}" for number in range(1, 41)]


@pytest.mark.requirement("MONEY-01", "MONEY-03")
def test_the_ledger_tells_totals_per_currency_and_never_nets(bank: RunningBank) -> None:
    for number in range(3):
        bank.pay(an_order(f"yen{number}", 1_234, "JPY"))
    bank.pay(an_order("pounds", 1_840_000, "GBP"))
    bank.pay(an_order("credit", -154_522, "GBP"))
    bank.pay(an_order("dinars", 1_234, "KWD"))
    ledger = bank.ledger()
    assert ledger["totals"] == [
        {"currency": "JPY", "out_minor": 3_702, "out_count": 3, "back_minor": 0, "back_count": 0},
        {"currency": "GBP", "out_minor": 1_840_000, "out_count": 1, "back_minor": 154_522, "back_count": 1},
        {"currency": "KWD", "out_minor": 1_234, "out_count": 1, "back_minor": 0, "back_count": 0},
    ]
    credit = ledger["bookings"][4]
    assert (credit["key"], credit["minor"], credit["booking"]) == ("credit", -154_522, "BK-000005")
    assert ledger["refusals"] == []


@pytest.mark.parametrize("key", ["leeds/S-1/0042 a?b#c%2F", "株式会社", "a//b"])
def test_a_payment_is_looked_up_by_its_key(bank: RunningBank, key: str) -> None:
    address = f"/payments/{quote(key, safe='')}"
    never = bank.http.get(address)
    assert (never.status_code, never.json()) == (404, {"unknown": True})
    booked = bank.pay(an_order(key)).json()
    known = bank.http.get(address)
    assert (known.status_code, known.json()) == (200, booked | {"repeated": True})


def test_a_wrong_order_is_422_with_a_sentence(bank: RunningBank) -> None:
    answer = bank.pay(None, exponent=3)
    assert answer.status_code == 422
    assert answer.json()["error"].startswith("`exponent` of GBP is 2")
    json_type = {"Content-Type": "application/json"}
    torn = bank.http.post("/payments", content=b'{"key"', headers=json_type)
    assert (torn.status_code, torn.json()) == (422, {"error": "The body is not JSON in UTF-8."})
    assert bank.booked == []


def test_what_is_no_request_of_the_bank_is_said(bank: RunningBank) -> None:
    other = bank.http.post("/payments", content=b"{}", headers={"Content-Type": "text/plain"})
    assert (other.status_code, other.json()["error"][:17]) == (415, "The body is JSON:")
    large = HTTPConnection(bank.url.removeprefix("http://"))
    large.request("POST", "/payments", headers={"Content-Type": "application/json", "Content-Length": "1000001"})
    assert large.getresponse().status == 413
    large.close()
    chunks = bank.http.post("/payments", content=iter([b"{}"]), headers={"Content-Type": "application/json"})
    assert chunks.status_code == 411
    for method in ("GET", "POST", "DELETE"):
        nowhere = bank.http.request(method, "/money", json={})
        assert nowhere.status_code == 404
        assert nowhere.json()["error"].startswith(f"The bank has no {method} /money; it has POST /payments")


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "localhost", ""])  # noqa: S104  # refused here
def test_the_bank_listens_on_loopback_alone(host: str) -> None:
    with pytest.raises(NoListener, match=r"like 127\.0\.0\.1\.$"):
        BankServer(host, 0, Teller.__new__(Teller))


def test_a_taken_port_is_said(bank: RunningBank) -> None:
    port = httpx.URL(bank.url).port
    assert port is not None
    with pytest.raises(NoListener, match=rf"cannot listen on 127\.0\.0\.1, port {port}: Address already in use"):
        BankServer("127.0.0.1", port, Teller.__new__(Teller))


LINE = {"key": "leeds/1", "minor": 154_522, "currency": "GBP", "exponent": 2}


@pytest.mark.parametrize(
    ("message", "why"),
    [
        ({"key": "f"}, "A file needs the member 'lines'."),
        ({"key": "f", "lines": []}, "`lines` is a list of 1 to 100,000 payments."),
        ({"key": "f", "lines": [LINE, LINE]}, "Line 2: names a payment that an earlier line names."),
        ({"key": "f", "lines": [{**LINE, "exponent": 3}]}, "Line 1: `exponent` of GBP is 2"),
        ({"key": "f", "lines": [{**LINE, "account": ACCOUNT}]}, "Line 1: A line has no member 'account'"),
        ({"key": "\n", "lines": [LINE]}, "`key` is a text of 1 to 400 characters that shows something."),
    ],
)
def test_a_file_that_is_wrong_is_not_taken(bank: RunningBank, message: object, why: str) -> None:
    answer = bank.http.post("/files", json=message)
    assert answer.status_code == 422
    assert answer.json()["error"].startswith(why)
    assert bank.http.get("/files/f").json() == {"unknown": True}


def test_a_file_is_answered_alike_however_often_it_comes_and_other_content_is_told(bank: RunningBank) -> None:
    bank.pay()
    told = {"settlement": "ST-000001", "key": "f", "lines": 1, "acknowledged": True}
    answers = [bank.http.post("/files", json={"key": "f", "lines": [LINE]}) for _ in range(2)]
    assert [(each.status_code, each.json()["repeated"]) for each in answers] == [(201, False), (200, True)]
    assert bank.http.get("/files/f").json() == {**told, "repeated": True}
    other = bank.http.post("/files", json={"key": "f", "lines": [{**LINE, "key": "leeds/2"}]})
    assert (other.status_code, other.json()["settlement"]) == (409, "ST-000001")
