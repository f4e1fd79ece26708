"""Each way in which the bank can be told to behave badly, and the sentence where a rule is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from examples.payments.bank.ledger import Booking
from examples.payments.bank.orders import MessageRefused
from examples.payments.bank.script import Script, read_rules
from examples.payments.bank.teller import Teller
from tests.examples.bank import ACCOUNT, RunningBank, a_ledger, an_order, bank_on_a_thread


@pytest.fixture
def bank(tmp_path: Path) -> Iterator[RunningBank]:
    """A bank with an empty ledger and no script."""
    with bank_on_a_thread(tmp_path / "ledger.jsonl") as running:
        yield running


def test_refuse_is_for_good(bank: RunningBank, tmp_path: Path) -> None:
    bank.script({"match": {"account": ACCOUNT}, "do": "refuse", "reason": "Account closed."})
    answer = bank.pay()
    assert (answer.status_code, answer.json()["refused"]) == (402, "Account closed.")
    bank.http.delete("/script")
    again = bank.pay()
    assert (again.status_code, again.json()["repeated"]) == (402, True)
    known = bank.http.get("/payments/leeds%2F1")
    assert (known.status_code, known.json()["refused"]) == (200, "Account closed.")
    assert bank.booked == []
    assert [refusal["key"] for refusal in bank.ledger()["refusals"]] == ["leeds/1"]


def test_lost_before_booking_books_nothing(bank: RunningBank) -> None:
    bank.script({"do": "lose-before", "times": 1})
    with pytest.raises(httpx.RemoteProtocolError):
        bank.pay()
    assert bank.http.get("/payments/leeds%2F1").status_code == 404
    assert bank.booked == []
    assert bank.pay().status_code == 201


def test_lost_after_booking_has_booked(bank: RunningBank) -> None:
    bank.script({"do": "lose-after", "times": 1})
    with pytest.raises(httpx.RemoteProtocolError):
        bank.pay()
    assert bank.http.get("/payments/leeds%2F1").json()["booking"] == "BK-000001"
    assert (bank.pay().status_code, bank.booked) == (200, ["leeds/1"])


@pytest.mark.parametrize(("rule", "after"), [({"seconds": 7}, "7"), ({}, "1"), ({"seconds": 0}, "0")])
def test_busy_says_when_and_books_nothing(bank: RunningBank, rule: dict[str, object], after: str) -> None:
    bank.script({"do": "busy", "times": 2, **rule})
    for _ in range(2):
        answer = bank.pay()
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, after)
    assert bank.booked == []
    assert bank.pay().status_code == 201


@pytest.mark.requirement("BULK-04")
def test_a_request_delivered_twice_is_booked_once(bank: RunningBank) -> None:
    bank.script({"do": "twice"})
    answer = bank.pay()
    assert (answer.status_code, answer.json()["repeated"]) == (201, False)
    ledger = bank.ledger()
    assert [booking["booking"] for booking in ledger["bookings"]] == ["BK-000001"]
    assert ledger["deliveries"] == {"leeds/1": 2}


def test_slow_waits_and_goes_on_with_the_rules_below(bank: RunningBank) -> None:
    bank.script({"do": "slow", "seconds": 0.01}, {"do": "slow", "seconds": 0}, {"do": "busy"}, {"do": "refuse"})
    assert bank.pay().status_code == 503
    assert bank.http.get("/script").json()["applied"] == [1, 1, 1, 0]


def test_a_slow_bank_that_is_ended_books_nothing(tmp_path: Path) -> None:
    ledger = a_ledger(tmp_path / "ledger.jsonl")
    teller = Teller(ledger, Script(read_rules([{"do": "slow", "seconds": 3_600}])))
    teller.stopping.set()
    assert teller.pay(an_order().message()) is None
    assert ledger.entries() == ()
    ledger.close()


def test_silent_is_for_look_ups_alone(bank: RunningBank) -> None:
    bank.script({"match": {"key": "leeds/1"}, "do": "silent", "times": 1}, {"do": "busy"})
    assert bank.pay().status_code == 503
    assert bank.http.get("/payments/other").status_code == 404
    with pytest.raises(httpx.RemoteProtocolError):
        bank.http.get("/payments/leeds%2F1")
    assert bank.http.get("/payments/leeds%2F1").status_code == 404


@pytest.mark.parametrize(
    "match",
    [
        {"key": "leeds/1"},
        {"account": ACCOUNT},
        {"minor": 154_522},
        {"currency": "GBP"},
        {"payee": "Acme Roofing"},
        {"key": "leeds/1", "currency": "GBP"},
    ],
)
def test_a_rule_meets_what_it_names(bank: RunningBank, match: dict[str, object]) -> None:
    bank.script({"match": match, "do": "busy"})
    assert bank.pay(an_order("other", 1, "EUR", account="XJ00DEMO0", payee="Other")).status_code == 201
    assert bank.pay().status_code == 503


def test_a_key_that_is_booked_is_not_refused_any_more(bank: RunningBank) -> None:
    bank.pay()
    bank.script({"do": "refuse"})
    assert bank.pay().status_code == 200


def test_the_script_is_shown_replaced_and_cleared(bank: RunningBank) -> None:
    rule = {"match": {"minor": 1}, "do": "slow", "seconds": 2.5, "times": 3}
    bank.script(rule)
    assert bank.http.get("/script").json() == {"rules": [rule], "applied": [0]}
    wrong = bank.http.post("/script", json=[{"do": "busy"}, {"do": "explode"}])
    assert wrong.status_code == 422
    assert bank.http.get("/script").json()["rules"] == [rule]
    assert bank.http.delete("/script").json() == {"rules": [], "applied": []}


@pytest.mark.parametrize(
    ("rule", "sentence"),
    [
        ({"do": "explode"}, "`do` is one of slow, refuse, lose-before, lose-after, busy, twice, silent, late."),
        ({"do": ["busy"]}, "`do` is one of slow, refuse, lose-before, lose-after, busy, twice, silent, late."),
        ({}, "A rule needs the member 'do'."),
        ({"do": "slow"}, "`seconds` of `slow` is a number."),
        ({"do": "slow", "seconds": True}, "`seconds` of `slow` is a number."),
        ({"do": "slow", "seconds": 3_601}, "`seconds` is 0 to 3,600."),
        ({"do": "busy", "seconds": 1.5}, "`seconds` of `busy` is a whole number."),
        ({"do": "twice", "seconds": 1}, "`seconds` belongs to `slow`, `busy` and `late` alone."),
        ({"do": "busy", "reason": "no"}, "`reason` belongs to `refuse` alone."),
        ({"do": "refuse", "reason": ""}, "`reason` is a text of 1 to 500 characters that shows something."),
        ({"do": "busy", "times": 0}, "`times` is 1 or more; leave it out for every request."),
        ({"do": "busy", "match": {"minor": "1"}}, "`minor` is a whole number, like 123450."),
        (
            {"do": "busy", "match": {"amount": 1}},
            "`match` has no member 'amount'; it has key, account, minor, currency, payee.",
        ),
        (
            {"do": "silent", "match": {"account": ACCOUNT}},
            "`match` of `silent`, which knows the key alone, has no member 'account'; it has key.",
        ),
        ({"do": "late", "seconds": 1}, "`late` is of a file: say `of: file`."),
        ({"do": "busy", "of": "files"}, "`of` is one of payment, file."),
        (
            {"do": "busy", "of": "file", "match": {"account": ACCOUNT}},
            "`match` of a file, which knows the key alone, has no member 'account'; it has key.",
        ),
        ("busy", "A rule is a JSON object."),
    ],
)
def test_a_wrong_rule_is_named(rule: object, sentence: str) -> None:
    with pytest.raises(MessageRefused) as refused:
        read_rules([{"do": "busy"}, rule])
    assert str(refused.value) == f"Rule 2: {sentence}"


def test_a_ledger_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    ledger = a_ledger(tmp_path / "ledger.jsonl")
    teller = Teller(ledger, Script())
    assert isinstance(ledger.book(an_order("a"))[0], Booking)
    ledger.close()
    answer = teller.pay(an_order("b").message())
    assert answer is not None
    assert (answer.status, answer.body) == (
        500,
        {"error": "The ledger takes nothing more until the bank is started again."},
    )
